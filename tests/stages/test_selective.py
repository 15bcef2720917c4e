"""Stages that `--only` and `--except` confine to some columns."""

import numpy as np
import pytest
from agreement import dense, make, sample

import filterkit
from filterkit import StageError, testing

NAN = np.nan
STAGES = [
    "standardize",
    "range",
    "impute",
    "binary",
    "l2",
    "onehot",
    "bns",
    "shape --cross-fit 3",
    "bins --method width",
    "select --by ig --top 1",
    "tfidf",
    "sklearn --class sklearn.preprocessing.MaxAbsScaler",
]


@pytest.mark.parametrize("text", STAGES)
@pytest.mark.parametrize("sparse", [False, True])
def test_chosen_columns_change_as_though_they_were_alone(text, sparse):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (40, 5)).astype(float)
    batch = make(X, rng.integers(0, 2, 40), sparse=sparse)
    out = filterkit.chain(f"{text} --only a1 --only 4").fit_transform(batch)[1]
    alone = filterkit.chain(f"remove --range 1,3,5 {text}").fit_transform(batch)[1]
    names = [a.name for a in out.schema.features]
    stay = [names.index(name) for name in ("a0", "a2", "a4")]
    np.testing.assert_array_equal(dense(out)[:, stay], X[:, [0, 2, 4]])
    others = [j for j in range(len(names)) if j not in stay]
    np.testing.assert_array_equal(dense(out)[:, others], dense(alone))
    assert [names[j] for j in others] == [a.name for a in alone.schema.features]
    assert out.sparse == (sparse and alone.sparse)
    assert names[0] == "a0" and names[-1] == "a4"  # columns that come out stand where those that went in stood


def test_a_confined_stage_is_saved_and_loaded(tmp_path):
    batch = sample("mixed")
    for text in ("standardize --only @numeric", "impute --except *", "onehot --only @nominal", "shape --except 1-2"):
        fitted = filterkit.chain(text).fit(batch)
        filterkit.save(fitted, tmp_path / "chain")
        loaded = filterkit.load(tmp_path / "chain")
        assert loaded.schema == fitted.schema
        assert testing.same(loaded.transform(batch), fitted.transform(batch))


def test_blocks_jobs_and_memory_do_not_matter():
    batch = sample("mixed")
    chain = filterkit.chain("impute --only @numeric shape --except 1-2 bns l2 --only 3-last")
    whole = chain.fit(batch).transform(batch)
    parts = [batch.rows(i, min(i + 3, len(batch))) for i in range(0, len(batch), 3)]
    for fitted in (chain.fit(iter(parts)), chain.fit(batch, jobs=2), chain.fit(batch, memory=1000)):
        assert testing.same(fitted.transform(batch), whole)


def test_an_error_of_a_confined_stage_names_its_row():
    batch = make([[1, 1], [1e200, 1], [1, 1]], [0, 1, 0])
    with pytest.raises(StageError, match=r"^bns: there is no class"):
        filterkit.chain("bns --only a1").fit(batch.replace(schema=filterkit.Schema("r", batch.schema.features), y=None))
    with pytest.raises(StageError, match=r"^onehot: --only: no attribute is named 'b'"):
        filterkit.chain("onehot --only b").fit(batch)


def test_a_name_that_clashes_with_an_unchanged_column_is_an_error():
    attributes = [filterkit.Attribute("a", "nominal", ("x", "y", "z")), filterkit.Attribute("a=y")]
    batch = filterkit.Batch(filterkit.Schema("r", attributes), np.zeros((1, 2)))
    with pytest.raises(StageError, match=r"^onehot: two attributes are named 'a=y'"):
        filterkit.chain("onehot --only a").fit(batch)
