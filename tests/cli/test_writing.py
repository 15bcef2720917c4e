"""Rows of an input on their way through a fitted chain."""

import numpy as np
import pytest
from content import open_reader

import filterkit
from filterkit.arff.form import Arff
from filterkit.chains import rows as chain_rows
from filterkit.cli.inputs import transform_new_rows
from filterkit.cli.options import FitOptions
from filterkit.data.alignment import Alignment
from filterkit.data.batch import concatenate, itself
from filterkit.engines.local import LocalEngine

PATH = "../sparse-counts-multiclass.arff"


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_chain_that_makes_many_values_of_each_gets_short_batches(jobs, monkeypatch):
    monkeypatch.setattr(chain_rows, "_MOST_VALUES", 40)
    fitted = filterkit.chain("shape l2").fit(filterkit.read(PATH))
    with open_reader(Arff(), PATH) as reader:
        alignment, options = Alignment(reader.schema, fitted.incoming), FitOptions(memory=1 << 30, progress=False)
        rows = transform_new_rows(reader, alignment, fitted, LocalEngine(jobs), options)
        batches = list(rows.map(itself, last=True))
    assert len(batches) > 5
    assert max(len(batch.csr.data) for batch in batches) < 80
    whole = fitted.transform(filterkit.read(PATH))
    found = concatenate(batches, fitted.schema)
    assert np.array_equal(found.csr.toarray(), whole.csr.toarray()) and np.array_equal(found.y, whole.y)
