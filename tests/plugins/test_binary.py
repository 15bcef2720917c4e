"""`binary`: presence and absence."""

import numpy as np
import pytest
from agreement import dense, make, sample, sparsely

import filterkit


@pytest.mark.parametrize("sparse", [False, True])
def test_non_zeros_become_1(sparse):
    batch = make([[2, 1, np.nan], [0, 3, 2]], [0, 1], nominal=[1], sparse=sparse)
    out = filterkit.chain("binary").fit(batch).transform(batch)
    assert out.sparse == sparse
    np.testing.assert_array_equal(dense(out), [[1, 1, np.nan], [0, 3, 1]])


def test_the_paper_setting_gives_the_same_columns_however_it_is_run():
    """`binary select --by bns --top 500 l2` is the setting of Forman 2003."""
    batch = sample("fortunes", positive="science")
    chain = filterkit.chain("binary select --by bns --top 500 l2")
    whole = chain.fit(batch)
    assert len(whole.schema.features) == 500
    parts = [batch.rows(i, min(i + 1, len(batch))) for i in range(len(batch))]
    for fitted in (chain.fit(iter(parts)), chain.fit(batch, jobs=2), chain.fit(batch, memory=200_000)):
        assert fitted.schema == whole.schema
    rows = dense(whole.transform(batch))
    lengths = np.sqrt((rows**2).sum(axis=1))
    assert ((abs(lengths - 1) < 1e-12) | (lengths == 0)).all()
    assert sparsely(batch.in_form(False)).X.nnz == batch.X.nnz
