"""Cases of chains: rows written as plain lists, a run that checks the whole contract, and plain lists that come out.

assert run("limit --max 2", {"a": [1, 5], "class": ["no", "yes"]}) == {"a": [1, 2], "class": ["no", "yes"]}
"""

import pickle
import tempfile

import numpy as np
import pyarrow as pa
from agreement import cut, make

import filterkit
from filterkit import Attribute, Batch, Schema
from filterkit.data.batch import concatenate, same


def rows(columns, *, class_="class", texts=(), sparse=False, positive=None, weights=None, labels=None, zero=None):
    """A batch of columns, given as lists by name, in their order; None is missing.

    A list of numbers is a numeric attribute. One of texts is a string attribute if `texts` names it, else a nominal one
    with its labels in the order in which they come, or with those that `labels` gives by its name. `class_` is the name
    of the class, which may be absent.
    """
    attributes, numbers, passed = [], [], []
    size = max(map(len, columns.values()), default=0)
    for name, values in columns.items():
        if name in texts:
            attributes.append(Attribute(name, "string"))
            passed.append(pa.array(values, pa.string()))
        elif name in (labels or {}) or any(isinstance(value, str) for value in values):
            known = tuple((labels or {}).get(name, dict.fromkeys(v for v in values if v is not None)))
            attributes.append(Attribute(name, "nominal", known))
            numbers.append((name, [np.nan if v is None else known.index(v) for v in values]))
        else:
            attributes.append(Attribute(name))
            numbers.append((name, [np.nan if v is None else v for v in values]))
    place = next((i for i, a in enumerate(attributes) if a.name == class_), None)
    schema = Schema("made", attributes, place, positive, sparse, zero)
    X = [values for name, values in numbers if name != class_]
    y = next((np.array(values, np.float64) for name, values in numbers if name == class_), None)
    if y is not None and schema.class_attribute.kind == "nominal":
        y = np.where(np.isnan(y), -1, y).astype(np.int32)
    batch = Batch(
        schema.replace(sparse=False),
        np.array(X, np.float64).reshape(len(X), size).T.copy(),
        y,
        None if weights is None else np.array(weights, np.float64),
        passthrough=pa.table(passed, [n for n in columns if n in texts]) if passed else None,
    )
    return batch.in_form(True).replace(schema=schema) if sparse else batch


def view(batch):
    """The attributes of a batch by name, each as a list of numbers, labels or texts; None is missing."""
    schema = batch.schema
    X = batch.X.toarray() if batch.sparse else batch.X
    found = {a.name: _values(a, X[:, j].tolist()) for j, a in enumerate(schema.features)}
    for attribute, column in zip(schema.passthrough, () if batch.passthrough is None else batch.passthrough.columns):
        found[attribute.name] = column.to_pylist()
    target = schema.class_attribute
    if target is not None and batch.y is not None:
        y = batch.y.tolist()
        found[target.name] = _values(target, [None if code == -1 else code for code in y]) if target.values else y
    return {a.name: found[a.name] for a in schema.attributes if a.name in found}


def _values(attribute, numbers):
    """Numbers as Python's, codes as labels; None where one is missing."""
    known = [None if value is None or value != value else value for value in numbers]
    return [v if v is None or attribute.kind != "nominal" else attribute.values[int(v)] for v in known]


def run(chain, data, **options):
    """The training rows that a chain puts out, as `view` gives them, after a check of the contract on them.

    `data` is a batch, or columns for `rows`, which takes the `options`.
    """
    return view(fit(chain, data if isinstance(data, Batch) else rows(data, **options))[1])


def fit(chain, batch):
    """The fitted chain and its training rows, after a check that what must not matter does not.

    These are: blocks of three rows, two threads and no memory; saving and loading; pickling; and, for later rows, that
    each comes alone. The batch that was given stays as it is.
    """
    before = pickle.loads(pickle.dumps(batch))
    fitted, out = filterkit.chain(chain).fit_transform(batch)
    assert out.schema == fitted.schema
    parts = cut(batch, 3)
    again, in_parts = filterkit.chain(chain).fit_transform(iter(parts), jobs=2, memory=0)
    assert same(in_parts, out), "blocks, threads and memory change the training rows"
    later = fitted.transform(batch)
    assert same(again.transform(batch), later), "blocks, threads and memory change what is learned"
    alone = [fitted.transform(batch.rows(i, i + 1)) for i in range(min(len(batch), 4))]
    if alone and not batch.schema.zero:
        assert same(concatenate(alone, fitted.schema), fitted.transform(batch.rows(0, len(alone)))), (
            "rows are not alone"
        )
    with tempfile.TemporaryDirectory() as folder:
        filterkit.save(fitted, f"{folder}/chain")
        assert same(filterkit.load(f"{folder}/chain").transform(batch), later), "saving changes what was learned"
    assert same(pickle.loads(pickle.dumps(fitted)).transform(batch), later), "pickling changes what was learned"
    assert same(batch, before), "the batch was changed"
    return fitted, out


def numbered(classes, labels="abcd", weights=None):
    """Rows whose only value is their number, of these classes, given as codes."""
    return make(np.arange(len(classes))[:, None], classes, labels, weights=weights)


def training_rows(chain, batch):
    """The training rows that a chain puts out, of which rows that come later all stay as they are."""
    fitted, out = filterkit.chain(chain).fit_transform(batch)
    assert same(fitted.transform(batch), batch), "rows that come later all stay"
    return out


def numbers(chain, batch):
    """The numbers of the `numbered` training rows that come out, in order."""
    return training_rows(chain, batch).X.ravel().astype(int).tolist()
