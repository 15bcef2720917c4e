"""What formats have in common: numbers that go through libsvm, the conformance kit, and warnings of what is lost."""

import os

import numpy as np
import pytest
from agreement import sample

import filterkit
from filterkit.plugin.registry import registry
from filterkit.testing import FORMAT_CHECKS, SAMPLES
from filterkit.testing import sample as sample_of_kit

FORMATS = {"arff": ".arff", "csv": ".csv", "tsv": ".tsv", "jsonl": ".jsonl", "parquet": ".parquet", "arrow": ".arrow"}
FORMATS |= {"xrff": ".xrff"}


@pytest.mark.parametrize("other", FORMATS)
@pytest.mark.parametrize("name", ["sparse-counts-multiclass", "breast-cancer"])
def test_numbers_go_through_libsvm(other, name, tmp_path):
    data = sample(name)
    data = data.take(np.arange(0, len(data), 1 + len(data) // 300))
    form = f"libsvm:features={data.schema.width}"
    place = tmp_path / f"x{FORMATS[other]}"
    filterkit.write(data, tmp_path / "x.libsvm")
    filterkit.write(filterkit.read(tmp_path / "x.libsvm", format=form), place)
    back = filterkit.read(place, class_="class")
    assert np.array_equal(back.in_form(False).X, data.in_form(False).X)
    labels = [str(code) for code in data.y] if back.schema.class_attribute.kind == "nominal" else data.y.tolist()
    if not all(value.isdigit() for value in data.schema.class_attribute.values):
        assert (back.labels().tolist() if isinstance(labels[0], str) else back.y.tolist()) == labels


@pytest.mark.parametrize("word", ["csv", "tsv", "jsonl", "parquet", "arrow", "libsvm", "text", "xrff"])
def test_a_format_conforms(word):
    for check in FORMAT_CHECKS:
        for name in SAMPLES:
            check(registry().formats[word](), sample_of_kit(name))


def test_every_format_is_in_the_table_of_the_page():
    page = open(os.path.join(os.path.dirname(__file__), "../../docs/formats.md"), encoding="utf-8").read()
    for word, kind in registry().formats.items():
        if word[0] not in "./" and isinstance(kind, type):
            row = next(line for line in page.splitlines() if f"| `{word}` |" in line)
            for ending in kind.endings:
                assert ending == "/" or f"`{ending}`" in row
            ways = [way for way, holds in (("yes", kind.is_read()), ("yes", kind.is_written())) if holds]
            assert row.count("yes") == len(ways)


def test_lost_weights_and_bags_are_warned_of_once(tmp_path, capsys):
    data = sample("mixed")
    attributes = [a._replace(weight=2.0) if i < 2 else a for i, a in enumerate(data.schema.attributes)]
    schema = data.schema.replace(attributes=tuple(attributes))
    data = data.replace(schema=schema, weights=np.full(len(data), 2.0))
    for form, title in (("csv", "CSV"), ("jsonl", "JSON lines")):
        filterkit.write([data, data], tmp_path / f"x.{form}")
        told = capsys.readouterr().err
        for message in (
            "the weights of rows are not written",
            f"{title} cannot hold the weights of attributes, as of 'amount' and 1 more\n",
            f"{title} cannot hold relational attributes; 'parts' is written as text\n",
        ):
            assert told.count(f"warning: {message}") == 1
    for form in ("parquet", "arrow", "xrff"):
        filterkit.write([data, data], tmp_path / f"x.{form}")
        assert not capsys.readouterr().err
    filterkit.write(data, tmp_path / "y.csv", format="csv:weights=w")
    assert "weights of rows" not in capsys.readouterr().err
    assert (filterkit.read(tmp_path / "y.csv", format="csv:weights=w").weights == 2).all()


@pytest.mark.parametrize("rows", ["x,0,1,p\n?,0,2,p\n", "{2 1}\n{0 ?,2 2}\n"])
def test_labels_that_are_lost_are_warned_of(rows, tmp_path, capsys):
    head = "@relation r\n@attribute a {x,y,z}\n@attribute b {0,1}\n@attribute c numeric\n@attribute class {p,n}\n"
    (tmp_path / "x.arff").write_text(f"{head}@data\n{rows}")
    data = filterkit.read(tmp_path / "x.arff")
    for form, title in (("csv", "CSV"), ("jsonl", "JSON lines")):
        filterkit.write(data, tmp_path / f"x.{form}")
        said = capsys.readouterr().err
        assert f"warning: {title} holds only labels that rows have; 'y' of 'a' is lost, and so are 3 more\n" in said
        numbers = "labels that are numbers from numbers, as of 'b'; read it with --from csv:nominal=b\n"
        assert (numbers in said) == (form == "csv")
    every = data.replace(X=np.array([[0, 0, 1], [1, 1, 2], [2, np.nan, 3]]), y=np.array([0, 1, -1], np.int32))
    every = every.replace(schema=data.schema.replace(sparse=False))
    filterkit.write([every.rows(0, 1), every.rows(1, 3)], tmp_path / "x.jsonl")
    filterkit.write(every, tmp_path / "x.parquet")
    assert not capsys.readouterr().err
