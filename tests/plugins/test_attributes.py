"""`remove`, `keep`, `rename`, `reorder`, `class` and `id`."""

import numpy as np
import pytest
from agreement import dense, sample
from command import run as run_command
from weka import arff_of, declarations_and_rows, weka_filter

import filterkit
from filterkit import Attribute, Batch, Schema, StageError, UsageError, testing


def run(text, batch):
    fitted = filterkit.chain(text).fit(batch)
    out = fitted.transform(batch)
    assert out.schema == fitted.schema
    place = [a.name for a in batch.schema.features]
    if "rename" not in text:
        chosen = [place.index(a.name) for a in out.schema.features]
        np.testing.assert_array_equal(dense(out), dense(batch)[:, chosen])
    assert (out.passthrough is None) == (not out.schema.passthrough)
    if out.passthrough is not None:
        assert out.passthrough.column_names == [a.name for a in out.schema.passthrough]
    return [a.name for a in out.schema.attributes]


@pytest.mark.parametrize("name", ["mixed", "mixed-sparse"])
def test_remove_and_keep_are_opposites(name):
    batch = sample(name)
    names = [a.name for a in batch.schema.attributes]
    target = batch.schema.class_attribute.name
    for options in (
        f"--attribute '{names[0]}'",
        "--range 2-3,last",
        "--range first,3",
        "--type string",
        "--type numeric",
        "--match '.*e.*'",
        f"--type date --attribute '{names[1]}' --range 1",
    ):
        removed, kept = run(f"remove {options}", batch), run(f"keep {options}", batch)
        assert target in removed and target in kept
        assert [n for n in names if n in removed or n in kept] == names
        assert set(removed) & set(kept) == {target}
        assert removed == [n for n in names if n in removed]


def test_attribute_numbers_count_all_attributes():
    assert run("remove --range 1,3-4", sample("iris")) == ["sepal width (cm)", "class"]
    assert run("keep --range 2", sample("iris")) == ["sepal width (cm)", "class"]
    assert run("keep --match 'petal.*'", sample("iris")) == ["petal length (cm)", "petal width (cm)", "class"]


def test_without_a_class_all_attributes_can_be_removed():
    batch = Batch(Schema("r", [Attribute("a"), Attribute("b")]), np.ones((2, 2)))
    assert run("remove --attribute a", batch) == ["b"]
    with pytest.raises(StageError, match=r"^remove: no attribute is left"):
        run("remove --range 1-last", batch)


@pytest.mark.parametrize("name", ["iris", "mixed", "fortunes"])
def test_rename_changes_the_names_of_attributes(name):
    batch = sample(name)
    names = run(r"rename --find '^(.)' --replace 'x_\1'", batch)
    assert names == [f"x_{a.name}" for a in batch.schema.attributes]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("remove", UsageError, "remove: say which, with --attribute, --match, --range or --type"),
        ("keep", UsageError, "keep: say which"),
        ("remove --match '('", UsageError, r"remove: --match '\('"),
        ("remove --range 3-1", UsageError, "--range: '3-1' is not a range"),
        ("remove --range 0", UsageError, "--range: '0' is not a range"),
        ("remove --range x", UsageError, "--range must be like 1-3,7,20-last, and 'x' is not"),
        ("remove --range 1-9", StageError, "remove: --range: '1-9' goes beyond the last attribute, 5"),
        ("remove --range 1-99999999999999999", StageError, "goes beyond the last attribute, 5"),
        (f"remove --range 1-{'9' * 5000}", UsageError, "--range must be like 1-3,7,20-last"),
        ("keep --attribute colour", StageError, "keep: there is no attribute 'colour'"),
        ("keep --attribute clas", StageError, "keep: there is no attribute 'clas'; did you mean 'class'"),
        ("keep --match zzz", StageError, "keep: --match: no attribute has a name that matches 'zzz'"),
        ("remove --match zzz", StageError, "remove: --match: no attribute has a name that matches 'zzz'"),
        ("keep --range 1 --type string", StageError, "keep: --type: there is no string attribute"),
        ("remove --type string", StageError, "remove: --type: there is no string attribute"),
        ("remove --type nominal", StageError, "remove: --type: 'nominal' selects only the class or labels, which stay"),
        ("remove --range 5", StageError, "remove: --range: '5' selects only the class or labels"),
        ("rename --find zzz", StageError, "rename: --find: no attribute has a match for 'zzz' in its name"),
        ("rename", UsageError, "rename: say what to look for"),
        ("rename --find '['", UsageError, r"rename: --find '\['"),
        ("rename --find '.*petal.*' --replace x", StageError, "rename: two attributes are named 'x'"),
        (r"rename --find a --replace '\3'", StageError, "rename: --replace"),
    ],
)
def test_mistakes_are_reported(text, error, message):
    with pytest.raises(error, match=message):
        run(text, sample("iris"))


# ---- order and numbers ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mixed", "mixed-sparse"])
@pytest.mark.parametrize(
    ("options", "expected"),
    [("--first 3", "3,1-2,4-last"), ("--last 1-2", "3-last,1-2"), ("--first last --first 2", "last,2,1,3-last")],
)
def test_attributes_move_as_in_weka(name, options, expected, weka36, arff_samples):
    path = arff_samples / f"{name}.arff"
    batch = filterkit.read(str(path))
    out = filterkit.chain(f"reorder {options}").fit_transform(batch)[1]
    count = len(batch.schema.attributes)
    if expected == "last,2,1,3-last":
        expected = f"last,2,1,3-{count - 1}"
    _, rows = weka_filter(weka36, "unsupervised.attribute.Reorder", ["-R", expected], path)
    if not batch.sparse:
        assert declarations_and_rows(arff_of(out))[1][0].split(",")[0] == rows[0].split(",")[0]
    order = [a.name for a in batch.schema.attributes]
    assert [a.name for a in out.schema.attributes] == [order[i] for i in numbers_of(expected, count)]
    np.testing.assert_array_equal(out.y, batch.y)
    assert testing.same(filterkit.chain(f"reorder {options}").fit(batch).transform(batch), out)


def numbers_of(ranges, count):
    """The positions that Weka's ranges mean, in their order."""
    found = []
    for part in ranges.replace("last", str(count)).split(","):
        low, _, high = part.partition("-")
        found += range(int(low) - 1, int(high or low))
    return found


def test_an_attribute_cannot_be_first_and_last():
    with pytest.raises(StageError, match="reorder: attribute 'n' cannot be first and last"):
        filterkit.chain("reorder --first n --last 1").fit(testing.sample("all-kinds"))
    with pytest.raises(UsageError, match="reorder: say which"):
        filterkit.chain("reorder")


@pytest.mark.parametrize("name", testing.SAMPLES)
def test_rows_are_numbered_as_they_come(name):
    batch = testing.sample(name)
    steps = [batch.rows(i, i + 1) for i in range(len(batch))] or [batch]
    for chain in ("id", "where 'not is_missing(ATT1)' id", "shuffle id"):
        out = filterkit.chain(chain).fit_transform(iter(steps))[1].in_form(False)
        assert out.schema.attributes[0].name == "ID"
        assert out.X[:, 0].tolist() == list(range(1, len(out) + 1))
    numbered = filterkit.chain("id shuffle --seed 3").fit_transform(batch)[1].in_form(False)
    assert sorted(numbered.X[:, 0].tolist()) == list(range(1, len(batch) + 1))


def test_a_number_needs_a_name_of_its_own():
    batch = testing.sample("dense-two-classes")
    with pytest.raises(StageError, match="id: two attributes are named 'a'; see --attribute"):
        filterkit.chain("id --attribute a").fit(batch)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("chain", ["id", "id standardize --only a"])
def test_rows_are_numbered_across_blocks_on_the_command_line(tmp_path, jobs, chain):
    path, later = tmp_path / "in.arff", tmp_path / "later.arff"
    path.write_text("@relation r\n@attribute a numeric\n@data\n" + "".join(f"{i}\n" for i in range(300)))
    how = ("--jobs", jobs, "--block-size", 100)
    made = run_command(*how, "--test", path, later, "-o", tmp_path / "out.arff", path, *chain.split())
    assert made.returncode == 0, made.stderr
    for out in (tmp_path / "out.arff", later):
        assert filterkit.read(out).X[:, 0].tolist() == list(range(1, 301))
    parts = run_command(*how, "-o", tmp_path / "p-*.csv", path, *chain.split())
    assert parts.returncode == 0, parts.stderr
    assert filterkit.read(tmp_path / "p-*.csv").X[:, 0].tolist() == list(range(1, 301))
