"""`smote`: where the made rows lie, imbalanced-learn itself, and what is refused."""

import sys

import numpy as np
import pytest
from agreement import dense, make, sample

import filterkit
from filterkit import StageError, UsageError, testing

over_sampling = pytest.importorskip("imblearn.over_sampling")


def run(batch, chain="smote", **options):
    fitted, out = filterkit.chain(chain).fit_transform(batch, **options)
    data = batch if isinstance(batch, filterkit.Batch) else batch[0]
    assert testing.same(fitted.transform(data), data), "rows that come later stay as they are"
    return out


def test_made_rows_lie_between_rows_of_their_class():
    rng = np.random.default_rng(0)
    batch = make(rng.random((60, 3)), [0] * 40 + [1] * 15 + [2] * 5, "abc")
    out = run(batch)
    assert testing.same(out.rows(0, 60), batch)
    made = out.rows(60, len(out))
    assert np.bincount(made.y).tolist() == [0, 25, 35]
    for x, y in zip(made.X, made.y, strict=True):
        own = batch.X[batch.y == y]
        one, other = np.nonzero(~np.eye(len(own), dtype=bool))
        along = own[other] - own[one]
        share = ((x - own[one]) * along).sum(axis=1) / (along**2).sum(axis=1)
        off = np.abs(own[one] + share[:, None] * along - x).max(axis=1)
        assert ((off < 1e-9) & (share > -1e-9) & (share < 1 + 1e-9)).any()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("nominal", "sampler"),
    [
        ((), over_sampling.SMOTE(k_neighbors=3, random_state=4)),
        ((1,), over_sampling.SMOTENC([1], k_neighbors=3, random_state=4)),
        ((0, 1), over_sampling.SMOTEN(k_neighbors=3, random_state=4)),
    ],
)
def test_the_rows_are_those_of_imbalanced_learn(sparse, nominal, sampler):
    X = np.random.default_rng(1).integers(0, 4, (40, 2)).astype(float)
    batch = make(X, [0] * 30 + [1] * 10, nominal=nominal, sparse=sparse)
    out = run(batch, "smote --neighbors 3 --seed 4")
    assert out.sparse == sparse
    np.testing.assert_array_equal(out.y, [0] * 30 + [1] * 30)
    expected = sampler.fit_resample(batch.X if not all(batch.schema.nominal) else X, batch.y)[0]
    np.testing.assert_allclose(dense(out), expected if isinstance(expected, np.ndarray) else expected.toarray())


def test_blocks_jobs_and_seeds():
    batch = sample("breast-cancer")
    parts = [batch.rows(i, min(i + 50, len(batch))) for i in range(0, len(batch), 50)]
    whole = run(batch)
    for options in ({}, {"jobs": 2}, {"memory": 1000}):
        assert testing.same(filterkit.chain("smote").fit_transform(iter(parts), **options)[1], whole)
    assert not testing.same(run(batch, "smote --seed 1"), whole)


def test_classes_of_one_size_stay():
    batch = make([[1], [2], [3], [4]], [0, 0, 1, 1], "abc")
    assert testing.same(run(batch), batch)
    assert testing.same(run(batch.take(np.arange(2))), batch.take(np.arange(2)))


def test_few_rows_have_few_neighbors():
    assert np.bincount(run(make([[1], [2], [3], [9], [7]], [0, 0, 0, 1, 1])).y).tolist() == [3, 3]


def test_rows_without_a_class_stay_and_are_no_neighbors():
    batch = make([[1], [2], [3], [4], [8], [9], [1e9]], [0, 0, 0, 0, 1, 1, -1], weights=[2] * 7)
    out = run(batch)
    assert testing.same(out.rows(0, 7), batch)
    assert (out.X[7:] >= 8).all()
    assert (out.X[7:] <= 9).all()
    assert out.weights.tolist() == [2] * 7 + [1, 1]


def test_strings_and_dates_of_made_rows_are_missing():
    out = run(filterkit.chain("impute").fit_transform(sample("mixed"))[1])
    made = out.rows(len(sample("mixed")), len(out))
    assert len(made)
    assert all(column.null_count == len(made) for column in made.passthrough.columns)


@pytest.mark.parametrize(
    ("batch", "match"),
    [
        (make([[1], [2], [3]], [0, 0, 1]), "class 'yes' has 1 row, and there is nothing between"),
        (make([[1], [np.nan], [3], [4], [5]], [0, 0, 0, 1, 1]), "missing or infinite values; put impute before it"),
    ],
)
def test_what_cannot_be_made_is_refused(batch, match):
    with pytest.raises(StageError, match=match):
        run(batch)


def test_without_imbalanced_learn_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "imblearn.over_sampling", None)
    with pytest.raises(UsageError, match=r"smote needs the package imbalanced-learn: pip install 'arff-filterkit\[smo"):
        run(make([[1], [2], [3], [4], [5]], [0, 0, 0, 1, 1]))


def test_rows_of_several_nominal_and_numeric_attributes_are_made(tmp_path):
    rows = "".join(f"{number % 2 + 0},{'pq'[number % 2]},{number},{'xy'[number < 5]}\n" for number in range(20))
    path = tmp_path / "x.arff"
    declared = "@attribute a {0,1}\n@attribute b {p,q}\n@attribute n numeric\n@attribute c {x,y}\n"
    path.write_text(f"@relation r\n{declared}@data\n{rows}")
    out = run(filterkit.read(path))
    assert len(out) == 30
    assert set(out.X[20:, 0]) | set(out.X[20:, 1]) <= {0.0, 1.0}
    assert (out.X[20:, 2] <= 4).all()
