"""Parts that Python writes, one for each batch."""

import json
import os

import numpy as np
import pytest

import filterkit
from filterkit import FilterkitError, UsageError

IRIS = "arff_samples/iris.arff"


def test_write_makes_a_part_of_each_batch(tmp_path):
    batch = filterkit.read(IRIS)
    batch = batch.take(np.arange(150) * 7 % 150)  # all labels are in the first part, as CSV needs
    for ending in ("arff", "csv.gz", "parquet"):
        path = tmp_path / f"part-*.{ending}"
        filterkit.write([batch.rows(0, 70), batch.rows(70, 150)], path)
        assert np.array_equal(filterkit.read(path).X, batch.X)
        about = json.loads((tmp_path / f"_part-list.{ending}.json").read_text())
        assert [part["rows"] for part in about["parts"]] == [70, 80]
    assert len(os.listdir(tmp_path)) == 9


def test_parts_that_are_there_are_not_replaced(tmp_path):
    batch = filterkit.read(IRIS)
    filterkit.write(batch, tmp_path / "part-*.arff")
    with pytest.raises(FilterkitError, match=r"_part-list.arff.json: this output exists already; remove this file and"):
        filterkit.write(batch, tmp_path / "part-*.arff")
    (tmp_path / "_part-list.arff.json").unlink()
    with pytest.raises(FilterkitError, match=r"part-00000.arff: no list says to which output this part belongs"):
        filterkit.write(batch, tmp_path / "part-*.arff")


def test_nothing_stays_if_a_batch_fails(tmp_path):
    def failing():
        yield filterkit.read(IRIS)
        raise KeyError

    with pytest.raises(KeyError):
        filterkit.write(failing(), tmp_path / "part-*.arff")
    assert os.listdir(tmp_path) == []


def test_a_stage_writes_no_parts():
    with pytest.raises(
        UsageError, match=r"write: 'part-\*.arff': with \* it names parts, which only -o and --test write"
    ):
        filterkit.chain("write part-*.arff")
