"""All rows at once: a warning where they are larger than the memory allows."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from command import run

from filterkit import Attribute, Batch, Schema
from filterkit.data.batch import same
from filterkit.stages.all_rows import MemoryWarning, all_rows


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_that_are_too_large_are_told(sparse):
    schema = Schema("r", [Attribute("a"), Attribute("b")], sparse=sparse)
    X = np.arange(1.0, 2001.0).reshape(-1, 2)
    batch = Batch(schema, sp.csr_array(X) if sparse else X)
    nbytes = 2000 * 12 + 1001 * 4 if sparse else 2000 * 8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = all_rows("s", [batch.rows(0, 300), batch.rows(300, 1000)], schema, nbytes)
    assert same(rows, batch)
    with pytest.warns(
        MemoryWarning, match=r"^s: it needs all rows at once \(1,000 rows, 1 MB\), which --memory does not"
    ):
        all_rows("s", [batch], schema, nbytes - 1)


@pytest.mark.parametrize("words", ["svm", "agree --chain svm"])
def test_stages_that_need_all_rows_say_so_in_one_line(words, tmp_path):
    rows = "".join(f"{i * 0.1},{i % 7},{'ny'[i % 3 == 0]}\n" for i in range(400))
    text = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c {n,y}\n@data\n" + rows
    (tmp_path / "in.arff").write_text(text)
    quiet = run("-o", "out.arff", "in.arff", *words.split(), cwd=tmp_path)
    assert (quiet.returncode, quiet.stderr) == (0, "")
    told = run("-o", "small.arff", "--memory", "4KB", "in.arff", *words.split(), cwd=tmp_path)
    name = words.partition(" ")[0]
    lines = told.stderr.splitlines()
    assert told.returncode == 0 and lines[0].startswith(
        f"filterkit: warning: {name}: it needs all rows at once (400 rows"
    )
    assert (tmp_path / "small.arff").read_text().splitlines()[1:] == (tmp_path / "out.arff").read_text().splitlines()[
        1:
    ]
