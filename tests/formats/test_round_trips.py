"""What formats have in common: numbers that go through libsvm, the conformance kit, and warnings of what is lost."""

import numpy as np
import pytest
from agreement import SAMPLES as SAMPLES_FOLDER
from agreement import sample
from cases import rows

import filterkit
from filterkit.plugin.registry import get_registry
from filterkit.testing import FORMAT_CHECKS
from filterkit.testing import sample as sample_of_kit

# What formats tell apart: kinds of attributes, forms of rows, where the class is, and what may be missing.
NAMES = ("all-kinds", "all-kinds-sparse", "dense-three-classes", "multi-label", "no-rows", "no-class", "no-features")


@pytest.mark.parametrize("word", ["csv", "jsonl", "parquet", "arrow", "libsvm", "text", "xrff"])
def test_a_format_conforms(word):
    for check in FORMAT_CHECKS:
        for name in NAMES:
            check(get_registry().formats[word](), sample_of_kit(name))


def test_every_format_is_in_the_table_of_the_page():
    page = (SAMPLES_FOLDER.parent / "docs/formats.md").read_text(encoding="utf-8")
    for word, kind in get_registry().formats.items():
        if word[0] not in "./" and isinstance(kind, type):
            row = next(line for line in page.splitlines() if f"| `{word}` |" in line)
            assert all(ending == "/" or f"`{ending}`" in row for ending in kind.endings)
            assert row.count("yes") == kind.is_read() + kind.is_written()


@pytest.mark.parametrize(("form", "title"), [("csv", "CSV"), ("jsonl", "JSON lines"), ("parquet", ""), ("xrff", "")])
def test_lost_weights_and_bags_are_warned_of_once(form, title, tmp_path, capsys):
    data = sample("mixed")
    attributes = [a._replace(weight=2.0) if i < 2 else a for i, a in enumerate(data.schema.attributes)]
    data = data.replace(schema=data.schema.replace(attributes=tuple(attributes)), weights=np.full(len(data), 2.0))
    filterkit.write([data, data], tmp_path / f"x.{form}")
    told = capsys.readouterr().err
    for message in (
        "the weights of rows are not written",
        f"{title} cannot hold the weights of attributes, as of 'amount', 'tiny ratio'; write ARFF to keep them\n",
        f"{title} cannot hold relational attributes, and has text for 'parts'; write ARFF instead\n",
    ):
        assert told.count(f"warning: {message}") == bool(title)
    assert title or not told
    if form == "csv":
        filterkit.write(data, tmp_path / "y.csv", format="csv:weights=w")
        assert "weights of rows" not in capsys.readouterr().err
        assert (filterkit.read(tmp_path / "y.csv", format="csv:weights=w").weights == 2).all()


def test_labels_that_are_lost_are_warned_of(sparse, tmp_path, capsys):
    columns = {"a": ["x", None], "b": ["0", "0"], "c": [1, 2], "class": ["p", "p"]}
    labels = {"a": ["x", "y", "z"], "b": ["0", "1"], "class": ["p", "n"]}
    data = rows(columns, labels=labels, sparse=sparse)
    for form, title in (("csv", "CSV"), ("jsonl", "JSON lines")):
        filterkit.write(data, tmp_path / f"x.{form}")
        said = capsys.readouterr().err
        assert f"warning: {title} holds only labels that rows have; 'y' of 'a' is lost, and so are 3 more\n" in said
        numbers = "labels that are numbers from numbers, as of 'b'; read it with --from csv:nominal=b\n"
        assert (numbers in said) == (form == "csv")
    filterkit.write(data, tmp_path / "x.parquet")
    every = rows({"a": ["x", "y", "z"], "b": ["0", "1", None], "class": ["p", "n", None]}, sparse=sparse)
    filterkit.write([every.rows(0, 1), every.rows(1, 3)], tmp_path / "x.jsonl")
    assert not capsys.readouterr().err
