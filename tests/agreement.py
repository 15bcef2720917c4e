"""How the tests hold filterkit's stages against the plain reference (`reference.py`), and on what data."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import reference
from hypothesis import strategies as st

import filterkit
from filterkit import Attribute, Batch, Schema

SAMPLES = Path(__file__).parents[1] / "arff_samples"
DATA = Path(__file__).parents[2] / "shared" / "data"


@cache
def sample(name, class_=None, positive=None):
    """One of `arff_samples/` as a batch."""
    return filterkit.read(SAMPLES / f"{name}.arff", class_=class_, positive=positive)


@cache
def shared(name, class_=None, positive=None):
    """A real data set as a batch; where the data is not at hand, the test is skipped."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"needs the data sets in {DATA}")
    return filterkit.read(path, class_=class_, positive=positive)


def find(name):
    """The path of a set; the test is skipped where it is not at hand."""
    paths = [DATA / f"weka/{name}.arff", DATA / f"uci/{name}.arff", SAMPLES / f"{name}.arff"]
    found = next((path for path in paths if path.exists()), None)
    return found or pytest.skip(f"needs the data sets in {DATA}")


def make(X, y, classes=("no", "yes"), *, weights=None, nominal=(), sparse=False, positive=None, zero=None):
    """A batch of the rows X with columns a0, a1, ...; `nominal` are the numbers of nominal ones.

    Without classes, y is a numeric class.
    """
    X = np.asarray(X, np.float64)
    values = tuple("abcdefghijklmnopqrstuvwxyz")
    attributes = [
        Attribute(f"a{j}", "nominal", values) if j in nominal else Attribute(f"a{j}") for j in range(X.shape[1])
    ]
    target = Attribute("class") if classes is None else Attribute("class", "nominal", tuple(classes))
    schema = Schema("made", [*attributes, target], X.shape[1], positive, sparse, zero)
    weights = None if weights is None else np.asarray(weights, np.float64)
    batch = Batch(schema, X, np.asarray(y, np.float64 if classes is None else np.int32).reshape(len(X)), weights)
    return sparsely(batch) if sparse else batch


def make_labels(X, Y, values=("0", "1")):
    """A batch of the rows X with columns a0, a1, ... and labels t0, t1, ..., whose codes are the columns of Y.

    With other values they are targets, numeric ones without any.
    """
    X, Y = np.asarray(X, np.float64), np.asarray(Y, np.int8 if values else np.float64)
    kind = ("nominal", tuple(values)) if values else ()
    targets = [Attribute(f"t{j}", *kind) for j in range(Y.shape[1])]
    features = [Attribute(f"a{j}") for j in range(X.shape[1])]
    places = range(len(features), len(features) + len(targets))
    return Batch(Schema("made", [*features, *targets], labels=tuple(places)), X, Y)


def sparsely(batch):
    """`batch` with a CSR matrix; the schema is to say so already, or says so from here on."""
    from scipy.sparse import csr_array

    X = csr_array(batch.X)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    schema = batch.schema if batch.schema.sparse else batch.schema.replace(sparse=True, zero=True)
    return batch.replace(schema=schema, X=X)


def cut(batch, size):
    """The rows in batches of `size`; no rows are one batch."""
    return [batch.rows(i, min(i + size, len(batch))) for i in range(0, len(batch), size)] or [batch]


def close(expected):
    """Equal but for rounding."""
    return pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


def scored(batch, text, **options):
    """The score that the scorer `text` leaves on each column."""
    fitted = filterkit.chain(f"{text} --score-only").fit(batch, **options)
    return [a.scores[-1][1] for a in fitted.schema.features]


def dense(batch):
    """The matrix of `batch` as an ndarray."""
    return batch.X.toarray() if batch.sparse else batch.X


def transformed(chain, batch):
    """The rows as a chain that is fitted on them puts them out when they come later."""
    return filterkit.chain(chain).fit(batch).transform(batch)


def feature_names(rows):
    """The names of the columns of X, of rows or of a fitted chain."""
    return [a.name for a in rows.schema.features]


def columns(batch, chosen):
    """`batch` with only some columns of X."""
    chosen = np.asarray(chosen)
    schema = batch.schema.with_features([batch.schema.features[j] for j in chosen], chosen)
    return batch.replace(schema=schema, X=batch.X[:, chosen])


def expected(text, batch, trained=None):
    """What the reference makes of `batch`: (schema's plan, scores, X). Only the first `trained` rows are fitted on."""
    schema, y = batch.schema, batch.y.tolist()
    if trained is not None:
        y[trained:] = [-1] * (len(y) - trained)
    plan, scores, X = reference.chain(
        text,
        dense(batch).tolist(),
        [a.kind for a in schema.features],
        y,
        list(schema.class_attribute.values),
        None if batch.weights is None else batch.weights.tolist(),
        schema.zero,
        schema.positive,
    )
    return plan, scores, np.array(X).reshape(len(batch), len(plan))


def assert_agrees(batch, text, trained=None, same_zeros=True):
    """Fit the chain `text` on the first `trained` rows (None: all), transform all, compare with the reference.

    Values agree to 1e-12; missing values, names and scores agree, and, unless weights are such
    that sums are rounded, exact zeros do in the rows fitted on. Between training values, interpolation is rounded.
    """
    fitted = filterkit.chain(text).fit(batch if trained is None else batch.rows(0, trained))
    out = fitted.transform(batch)
    assert out.schema == fitted.schema
    plan, scores, X = expected(text, batch, trained)
    features = batch.schema.features
    assert feature_names(out) == [features[j].name + suffix for j, suffix in plan]
    got = dense(out)
    assert got.shape == X.shape
    np.testing.assert_allclose(got, X, rtol=1e-12, atol=1e-12)
    if same_zeros:
        np.testing.assert_array_equal(got[:trained] == 0, X[:trained] == 0)
    if scores is not None:
        found = [dict(a.scores)["bns"] for a in out.schema.features]
        np.testing.assert_allclose(found, scores, rtol=1e-12, atol=1e-12)
    return out


# ---- what the stages are held against the reference on ---------------------------------------------

NUMBERS = [0.0, 1.0, 2.0, 3.0, 7.0, -1.0, -2.0, 0.5, -0.25, 1e-3, 0.1, 1 / 3, 1e6]
COUNTS = [0.0, 0.0, 1.0, 2.0]
CODES = [0.0, 1.0, 2.0]
WHOLE = [0.0, 1.0, 1.0, 2.0, 5.0]
QUARTERS = [0.0, 0.25, 0.5, 1.0, 1.75]
FRACTIONS = [0.0, 0.1, 1 / 3, 0.7, 1.0, 2.5]


@st.composite
def batches(draw, weights=(None, WHOLE, QUARTERS)):
    """Small batches of every kind; `weights` are lists to draw instance weights from, or None for none."""
    rows, width = draw(st.integers(0, 14)), draw(st.integers(1, 3))
    nominal = [j for j in range(width) if draw(st.integers(0, 3)) == 0]
    known = [CODES if j in nominal else draw(st.sampled_from([NUMBERS, COUNTS])) for j in range(width)]
    X = [[draw(st.sampled_from([*values, np.nan])) for values in known] for _ in range(rows)]
    classes = ["a", "b", "c", "d"][: draw(st.integers(1, 4))]
    y = [draw(st.integers(-1, len(classes) - 1)) for _ in range(rows)]
    chosen = draw(st.sampled_from(weights))
    return make(
        np.array(X).reshape(rows, width),
        y,
        classes,
        weights=None if chosen is None else [draw(st.sampled_from(chosen)) for _ in range(rows)],
        nominal=nominal,
        sparse=draw(st.booleans()),
        positive=draw(st.sampled_from([None, *classes])),
    )
