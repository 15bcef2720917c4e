"""All rows at once: a warning where they are larger than the memory allows."""

import os
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from agreement import SAMPLES
from command import run

from filterkit import Attribute, Batch, Schema
from filterkit.data.batch import same
from filterkit.stages.all_rows import MemoryWarning, join_all_rows


def test_rows_that_are_too_large_are_told(sparse):
    schema = Schema("r", [Attribute("a"), Attribute("b")], sparse=sparse)
    X = np.arange(1.0, 2001.0).reshape(-1, 2)
    batch = Batch(schema, sp.csr_array(X) if sparse else X)
    nbytes = 2000 * 12 + 1001 * 4 if sparse else 2000 * 8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = join_all_rows("s", [batch.rows(0, 300), batch.rows(300, 1000)], schema, nbytes)
    assert same(rows, batch)
    said = r"^s: it needs all rows at once \(1,000 rows, 1 MB\), which --memory does not"
    with pytest.warns(MemoryWarning, match=said):
        join_all_rows("s", [batch], schema, nbytes - 1)


def test_a_stage_that_needs_all_rows_says_so_in_one_line():
    done = run("-o", os.devnull, "--memory", "4KB", SAMPLES / "iris.arff", "svm")
    assert done.returncode == 0
    assert done.stderr.startswith("filterkit: warning: svm: it needs all rows at once (150 rows")
