"""The functions of the Python interface: read, batches, write, chain, scores."""

import sys
from pathlib import Path

import numpy as np
import pytest
from command import run_python, stdout_of
from content import served

import filterkit
from filterkit import FilterkitError, UsageError, testing
from filterkit.chains.saved import summarize_saved_chain
from filterkit.evaluation.results import read_results_file
from filterkit.plugin.parsing import read_stages_file
from filterkit.plugin.registry import get_registry

SAMPLES = Path(__file__).parent.parent / "arff_samples"
IRIS = str(SAMPLES / "iris.arff")


def test_read_gives_matrix_class_weights_and_schema():
    data = filterkit.read(IRIS)
    assert (data.X.shape, data.X.dtype, data.X.flags.c_contiguous) == ((150, 4), np.float64, True)
    assert data.y.tolist() == [0] * 50 + [1] * 50 + [2] * 50
    assert data.weights is data.passthrough is None
    assert data.labels()[[0, 149]].tolist() == ["setosa", "virginica"]


def test_read_sparse_gives_csr():
    data = filterkit.read(str(SAMPLES / "fortunes.arff"))
    assert data.sparse
    assert data.X.has_canonical_format
    assert data.X.indices.dtype == np.int32
    assert data.X.nnz == (data.X.toarray() != 0).sum()


def test_batches_are_the_rows_of_read():
    parts = list(filterkit.batches(IRIS, block_size=500))
    assert len(parts) > 3
    assert [part.start for part in parts] == np.cumsum([0] + [len(part) for part in parts[:-1]]).tolist()
    assert testing.same(filterkit.plugin.concatenate(parts, parts[0].schema), filterkit.read(IRIS))


@pytest.mark.parametrize("name", ["mixed-sparse", "empty"])
def test_written_data_is_read_back(name, tmp_path):
    data = filterkit.read(str(SAMPLES / f"{name}.arff"))
    path = str(tmp_path / "out.arff.xz")
    filterkit.write(data, path, comments=["two\nlines"])
    assert testing.same(filterkit.read(path), data)
    filterkit.write(data, tmp_path / "x.arff", comments="one text")
    assert (tmp_path / "x.arff").read_text().startswith("% one text\n@relation")


def test_no_batches_cannot_be_written(tmp_path):
    with pytest.raises(FilterkitError, match="no batches to write"):
        filterkit.write([], tmp_path / "out.arff")


SENSELESS = {
    "jobs must be a whole number of at least 1, not '0'": lambda data: filterkit.chain("l2").fit(data, jobs=0),
    "jobs must be a whole number of at least 1, not '1.5'": lambda data: filterkit.chain("l2").fit(data, jobs=1.5),
    "memory must be a number of bytes of at least 0, not '-1'": lambda data: filterkit.chain("l2").fit(data, memory=-1),
    "memory must be a number .*, not '1g'": lambda data: filterkit.chain("l2").fit(data, memory="1g"),
    "memory must be a number .*, not 'inf'": lambda data: filterkit.chain("l2").fit(data, memory=float("inf")),
    "unseen must be error or missing, not 'z'": lambda data: filterkit.chain("").fit(data).transform(data, unseen="z"),
    "block_size must be a whole number .*, not '0'": lambda data: next(filterkit.batches(IRIS, block_size=0)),
    "block_size must be .*, not '1k'": lambda data: next(filterkit.batches(IRIS, block_size="1k")),
    "precision must be a whole number from 1 to 17, not '0'": lambda data: filterkit.write(data, "x.arff", precision=0),
    "precision must be a whole number .*, not 'True'": lambda data: filterkit.write(data, "x.arff", precision=True),
    "precision does not apply to Parquet": lambda data: filterkit.write(data, "x.parquet", precision=3),
    "batch 2 does not fit the first: attribute 1 is 'class'": lambda data: filterkit.chain("l2").fit([data, WINE]),
    "batch 2 does not fit the first: attribute 1": lambda data: filterkit.write(iter([data, WINE]), "x.arff"),
}
WINE = filterkit.read("arff_samples/wine.arff")


@pytest.mark.parametrize("message", SENSELESS)
def test_senseless_values_are_refused(message, monkeypatch, tmp_path):
    data = filterkit.read(IRIS)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FilterkitError, match=message):
        SENSELESS[message](data)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("thing", [None, 3, filterkit.chain("l2")])
def test_other_things_than_chains_are_refused(thing, tmp_path):
    with pytest.raises(TypeError, match=r"give a FittedChain, which Chain\.fit returns, not"):
        filterkit.save(thing, tmp_path / "my.chain")
    with pytest.raises(TypeError, match="give a chain as a text, not"):
        filterkit.chain(thing)
    with pytest.raises(TypeError, match="for a text, call filterkit"):
        filterkit.Chain("l2")
    with pytest.raises(TypeError, match="a chain has stages, not a str"):
        filterkit.Chain(["l2"])
    with pytest.raises(TypeError, match="a chain has stages, not the class L2; call it"):
        filterkit.Chain([type("L2", (filterkit.RowStage,), {"name": "l2"})])


def test_batches_may_differ_in_the_name_of_the_relation_and_in_form():
    data = filterkit.read(IRIS)
    other = data.in_form(True).replace(schema=data.schema.replace(relation="other", sparse=True))
    assert filterkit.chain("l2").fit_transform([data, other])[1].schema == data.schema


def test_a_url_is_read(tmp_path):
    assert testing.same(filterkit.read(f"file://{IRIS}"), filterkit.read(IRIS))
    with pytest.raises(FilterkitError, match="nowhere"):
        filterkit.read("nowhere://x.arff")


def test_files_may_be_named_by_paths_of_pathlib(tmp_path):
    data = filterkit.read(IRIS)
    assert testing.same(next(filterkit.batches(Path(IRIS))), data)
    (written,) = filterkit.Chain([Tee(tmp_path / "tee.arff")]).fit_transform(data)[1:]
    assert testing.same(written, data) and testing.same(filterkit.read(tmp_path / "tee.arff"), data)


class Tee(filterkit.TrainingStage):
    """Write the rows to a path of pathlib."""

    name = "tee"
    path: str = filterkit.option("", "Where.")

    def __init__(self, path):
        super().__init__(path=path)
        self._path = path

    def arrange(self, rows):
        yield from filterkit.plugin.tee(rows, self._path)


def test_an_open_file_is_refused(tmp_path):
    data = filterkit.read(IRIS)
    fitted = filterkit.chain("l2").fit(data)
    with open(tmp_path / "out", "wb") as file:
        for use in (
            lambda: filterkit.read(file),
            lambda: next(filterkit.batches(file)),
            lambda: filterkit.write(data, file),
            lambda: filterkit.save(fitted, file),
        ):
            with pytest.raises(TypeError, match=r"give the path of a file, not an open file .BufferedWriter"):
                use()
    for wrong in (None, 3, data):
        with pytest.raises(TypeError, match=r"give the path of a file, as a text or a pathlib.Path"):
            filterkit.read(wrong)


@pytest.fixture
def two_classes(tmp_path):
    """A file with two attributes that may be the class."""
    text = "@relation r\n@attribute a numeric\n@attribute c {0,1}\n@attribute d {0,1}\n@data\n"
    (tmp_path / "t.arff").write_text(text)
    return tmp_path / "t.arff"


@pytest.mark.parametrize("class_", [2, np.int64(2), "2", np.str_("2")])
@pytest.mark.parametrize("positive", [1, np.int64(1), "1", None])
def test_the_class_may_be_a_number(class_, positive, two_classes):
    data = filterkit.read(two_classes, class_=class_, positive=positive)
    assert data.schema.class_attribute.name == "c"
    assert data.schema.positive == (None if positive is None else "1")
    assert type(data.schema.positive) in (str, type(None))
    assert next(filterkit.batches(two_classes, class_, positive)).schema == data.schema
    table = filterkit.to_arrow(data)
    assert filterkit.from_arrow(table, class_=class_, positive=positive).schema.positive == data.schema.positive


@pytest.mark.parametrize("labels", [2, np.int64(2)])
def test_labels_may_be_a_number_of_numpy(labels, two_classes):
    data = filterkit.read(two_classes, labels=labels)
    assert data.schema.labels == (1, 2) and {type(place) for place in data.schema.labels} == {int}


USES = {
    "read": filterkit.read,
    "batches": lambda path: next(filterkit.batches(path)),
    "load": filterkit.load,
    "write": lambda path: filterkit.write(filterkit.read(IRIS), path / "out.arff"),
    "save": lambda path: filterkit.save(filterkit.chain("l2").fit(filterkit.read(IRIS)), path / "my.chain"),
    "results": lambda path: read_results_file(str(path)),
    "chain": lambda path: read_stages_file(str(path), get_registry()),
    "describe": lambda path: summarize_saved_chain(str(path)),
}


@pytest.mark.parametrize("use", USES)
def test_a_missing_file_is_a_file_not_found_too(use, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing.*: No such file or directory") as caught:
        USES[use](tmp_path / "missing")
    assert isinstance(caught.value, FilterkitError) and isinstance(caught.value, UsageError) == (use == "chain")
    assert caught.value.errno == 2 and "missing" in caught.value.filename


@pytest.mark.parametrize("use", sorted(set(USES) - {"write", "save"}))
def test_a_folder_is_refused(use, tmp_path):
    with pytest.raises(IsADirectoryError, match="Is a directory") as caught:
        USES[use](tmp_path)
    assert isinstance(caught.value, FilterkitError)


def test_a_pattern_or_url_without_a_file_is_reported(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"x\*\.arff: no file matches this pattern") as caught:
        filterkit.read(tmp_path / "x*.arff")
    assert isinstance(caught.value, FilterkitError)
    with pytest.raises(FileNotFoundError, match=r"^memory://none.arff: No such file or directory$"):
        filterkit.read("memory://none.arff")


def test_an_input_that_goes_missing_is_not_blamed_on_the_output(tmp_path):
    for name in ("a1.arff", "a2.arff"):
        (tmp_path / name).write_bytes(Path(IRIS).read_bytes())
    stream = filterkit.batches(tmp_path / "a*.arff")

    def cut_short():
        yield next(stream)
        (tmp_path / "a2.arff").unlink()
        yield from stream

    with pytest.raises(FileNotFoundError, match=r"a2\.arff: No such file or directory"):
        filterkit.write(cut_short(), tmp_path / "out.arff")
    assert not (tmp_path / "out.arff").exists()


def test_without_fsspec_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(FilterkitError, match=r"x\.arff: reading a URL .* fsspec: pip install 'arff-filterkit\[url\]'$"):
        filterkit.read("memory://x.arff")


def test_every_format_is_read_from_a_web_server(tmp_path):
    data = filterkit.read(IRIS)
    names = ["i.arff", "i.csv", "i.tsv.gz", "i.jsonl", "i.parquet", "i.arrow", "i.libsvm", "i.xrff"]
    for name in names:
        filterkit.write(data, tmp_path / name)
    with served(tmp_path) as url:
        for name in names:
            found = filterkit.read(f"{url}/{name}")
            assert np.array_equal(found.in_form(False).X, data.X), name
        with pytest.raises(FileNotFoundError, match=r"none\.csv"):
            filterkit.read(f"{url}/none.csv")


HALVE = """
import filterkit
from filterkit.plugin import map_numbers


class Halve(filterkit.RowStage):
    \"\"\"Halve all numbers.\"\"\"

    name = "halve"

    def transform(self, batch):
        return map_numbers(batch, lambda values: values / 2)


@filterkit.hookimpl
def filterkit_stages():
    return [Halve]
"""

LOADS = """
import filterkit, sys
from filterkit import FilterkitError, PluginError

def refused(kind, function, *given):
    try:
        function(*given)
    except kind as error:
        print(type(error).__name__, error)

data = filterkit.read(sys.argv[1])
refused(FilterkitError, filterkit.chain, "halve l2")
refused(FilterkitError, filterkit.chain, "zzz")
refused(FileNotFoundError, filterkit.load_plugin, "none.py")
refused(PluginError, filterkit.load_plugin, "broken.py")
filterkit.load_plugin("my.py")
filterkit.load_plugin("my.py")
fitted = filterkit.chain("halve").fit(data)
filterkit.save(fitted, "my.chain")
assert (filterkit.load("my.chain").transform(data).X == data.X / 2).all()
refused(FilterkitError, filterkit.chain, "halvee")
"""


def test_a_plugin_file_is_loaded_in_python(tmp_path):
    (tmp_path / "my.py").write_text(HALVE)
    (tmp_path / "broken.py").write_text("import filterkit\nnothing\n")
    assert stdout_of(run_python(LOADS, IRIS, cwd=tmp_path)).splitlines() == [
        "UsageError no stage 'halve'; did you mean 'shape'?",
        "UsageError no stage 'zzz'; see: filterkit stages; if a plugin file offers it, load the file by "
        "filterkit.load_plugin",
        "FileNotFoundError load_plugin none.py: no such Python file; check the path",
        "PluginError load_plugin broken.py: NameError: name 'nothing' is not defined",
        "UsageError no stage 'halvee'; did you mean 'halve'?",
    ]
