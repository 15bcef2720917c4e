"""Formats of two functions."""

import pickle
from io import BytesIO

import numpy as np
import pytest
from cases import view
from content import open_reader

from filterkit import Attribute, Batch, FilterkitError, Format, Schema
from filterkit.data.batch import concatenate
from filterkit.formats.output import OutputForm, RowWriter

SCHEMA = Schema("numbers", [Attribute("a"), Attribute("class", "nominal", ("x", "y"))], 1)


def read(path, class_, positive):
    """Yield a batch for each line of numbers; the class is y for those above 0."""
    schema = SCHEMA.replace(class_index=None) if class_ == "none" else SCHEMA.replace(positive=positive)
    with open(path, encoding="ascii") as lines:
        for line in lines:
            numbers = np.array([[float(word)] for word in line.split()])
            y = (numbers[:, 0] > 0).astype(np.int32)
            yield Batch(schema, np.c_[numbers, y]) if class_ == "none" else Batch(schema, numbers, y)


NUMBERS = Format("Numbers", (".numbers",), read)


def test_a_pattern_reads_several_files_as_one_input(tmp_path):
    (tmp_path / "1.numbers").write_text("1 -2\n3\n")
    (tmp_path / "2.numbers").write_text("-4 5\n")
    with open_reader(NUMBERS, str(tmp_path / "*.numbers"), positive="y") as reader:
        batches = list(reader.batches())
    assert [batch.start for batch in batches] == [0, 2, 3] and reader.count == 5 and reader.schema.positive == "y"
    assert view(concatenate(batches, reader.schema)) == {"a": [1, -2, 3, -4, 5], "class": ["y", "x", "y", "x", "y"]}


def test_labels_are_split_from_attributes_that_have_no_class(tmp_path):
    (tmp_path / "1.numbers").write_text("1 -2\n")
    with open_reader(NUMBERS, str(tmp_path / "1.numbers"), labels=1) as reader:
        (batch,) = reader.batches()
    assert reader.schema.labels == (1,) and batch.y.tolist() == [[1], [0]] and batch.X.tolist() == [[1], [-2]]


def test_a_format_can_be_pickled():
    again = pickle.loads(pickle.dumps(NUMBERS))
    assert (again.name, again.endings, again.read) == ("Numbers", (".numbers",), read)
    assert again.is_read() and not again.is_written()


def test_a_format_without_a_function_that_reads_is_only_written():
    with pytest.raises(FilterkitError, match=r"^a\.numbers: Numbers is only written, not read; name another file"):
        open_reader(Format("Numbers", (".numbers",), write=print), "a.numbers")


def test_weights_that_a_format_loses_are_told(capsys):
    form = Format("Light", (".light",), write=lambda batches, out: [*batches], losses=("weights",))
    batch = Batch(SCHEMA, np.ones((1, 1)), np.zeros(1, np.int32), np.full(1, 2.0))
    RowWriter(OutputForm(form, SCHEMA, False)).write(BytesIO(), lambda function: map(function, [batch]))
    assert "warning: the weights of rows are not written; write ARFF to keep them" in capsys.readouterr().err
