"""The Python way in."""

import sys
from pathlib import Path

import numpy as np
import pytest

import filterkit
from filterkit import FilterkitError, UsageError, testing

SAMPLES = Path(__file__).parent.parent / "arff_samples"
IRIS = str(SAMPLES / "iris.arff")


def test_read_gives_the_parts():
    data = filterkit.read(IRIS)
    assert data.X.shape == (150, 4)
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous
    assert data.y.tolist() == [0] * 50 + [1] * 50 + [2] * 50
    assert data.weights is None
    assert data.others is None
    assert data.labels()[[0, 149]].tolist() == ["setosa", "virginica"]
    assert data.schema.class_attribute.values == ("setosa", "versicolor", "virginica")


def test_read_sparse_gives_csr():
    data = filterkit.read(str(SAMPLES / "fortunes.arff"))
    assert data.sparse
    assert data.X.has_canonical_format
    assert data.X.indices.dtype == np.int32
    assert data.X.nnz == (data.X.toarray() != 0).sum()


def test_batches_are_the_rows_of_read():
    parts = list(filterkit.batches(IRIS, block_size=500))
    assert len(parts) > 3
    assert [part.start for part in parts] == np.cumsum([0] + [len(part) for part in parts[:-1]]).tolist()
    assert testing.same(filterkit.concatenate(parts, parts[0].schema), filterkit.read(IRIS))


@pytest.mark.parametrize("name", ["iris", "fortunes", "mixed", "mixed-sparse", "empty", "one-row"])
def test_write_and_read_again(name, tmp_path):
    data = filterkit.read(str(SAMPLES / f"{name}.arff"))
    path = str(tmp_path / "out.arff.xz")
    filterkit.write(data, path, comments=["two\nlines"])
    assert testing.same(filterkit.read(path), data)


def test_write_a_stream(tmp_path):
    path = str(tmp_path / "out.arff")
    filterkit.write(filterkit.batches(IRIS, block_size=500), path)
    assert testing.same(filterkit.read(path), filterkit.read(IRIS))
    with pytest.raises(FilterkitError, match="no batch to write"):
        filterkit.write([], path)
    assert testing.same(filterkit.read(path), filterkit.read(IRIS))


def test_write_in_the_other_form(tmp_path):
    path = str(tmp_path / "out.arff")
    data = filterkit.read(IRIS)
    filterkit.write(data, path, sparse=True)
    sparse = filterkit.read(path)
    assert sparse.sparse
    assert (sparse.X.toarray() == data.X).all()


def test_a_chain_from_text():
    chain = filterkit.chain("shape --neighbors 3 bns l2")
    assert str(chain) == "shape --neighbors 3 bns l2"
    data = filterkit.read(IRIS)
    fitted = chain.fit(data)
    out = fitted.transform(data)
    assert out.schema is fitted.schema
    assert np.allclose(np.linalg.norm(out.X, axis=1), 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [("bsn", "did you mean 'bns'"), ("shape --neighbors x", "not a valid integer"), ("shape 3", "no stage '3'")],
)
def test_a_chain_that_cannot_be_understood(text, message):
    with pytest.raises(UsageError, match=message):
        filterkit.chain(text)


def test_fit_on_one_file_and_apply_to_another():
    data = filterkit.read(IRIS)
    train, test = data.rows(0, 140), data.rows(140, 150)
    fitted = filterkit.chain("shape bns l2").fit(train)
    whole = fitted.transform(data)
    assert testing.same(fitted.transform(test), whole.rows(140, 150))


def test_positive_makes_one_task_of_many_classes():
    data = filterkit.read(IRIS, positive="virginica")
    assert filterkit.chain("shape").fit(data).transform(data).X.shape == (150, 4)


@pytest.mark.parametrize("name", ["iris", "fortunes", "mixed"])
def test_fit_on_a_stream_is_fit_on_the_whole(name):
    path = str(SAMPLES / f"{name}.arff")
    data = filterkit.read(path)
    chain = filterkit.chain("shape bns l2")
    streamed = chain.fit(filterkit.batches(path, block_size=2000), memory=4000, jobs=2)
    assert testing.same(streamed.transform(data), chain.fit(data).transform(data))
    with pytest.raises(FilterkitError, match="no batch to fit on"):
        chain.fit(iter([]))


def test_rows_in_the_other_form_are_brought_to_the_form_fitted_on():
    data = filterkit.read(str(SAMPLES / "sparse-counts-multiclass.arff"))
    fitted = filterkit.chain("shape bns l2").fit(data)
    dense = data.in_form(False).replace(schema=data.schema.replace(sparse=False))
    assert not dense.sparse
    assert testing.same(fitted.transform(dense), fitted.transform(data))


def test_other_attributes_are_refused():
    fitted = filterkit.chain("l2").fit(filterkit.read(IRIS))
    with pytest.raises(FilterkitError, match="missing that the chain was fitted on"):
        fitted.transform(filterkit.read(str(SAMPLES / "wine.arff")))


def test_a_url_is_read(tmp_path):
    assert testing.same(filterkit.read(f"file://{IRIS}"), filterkit.read(IRIS))
    with pytest.raises(FilterkitError, match="nowhere"):
        filterkit.read("nowhere://x.arff")


def test_a_url_without_fsspec_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(FilterkitError, match=r"x\.arff: reading a URL .* fsspec: pip install 'arff-filterkit\[url\]'$"):
        filterkit.read("memory://x.arff")
