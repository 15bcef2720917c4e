"""The conformance kit: what every stage must hold to, for plugin authors and for filterkit itself.

    import pytest
    from filterkit.testing import CHECKS, SAMPLES, sample

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    @pytest.mark.parametrize("name", SAMPLES)
    def test_my_stage(check, name):
        check(MyStage(), sample(name))

A check raises an `AssertionError` whose message says how to repair the stage. A stage may refuse a sample
with a `StageError`; then it must do so always, and the check has nothing more to ask.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from filterkit.api import read
from filterkit.batch import Batch, concatenate, empty, others_table
from filterkit.chains import Chain, FittedChain
from filterkit.csr import Csr
from filterkit.errors import StageError
from filterkit.stage import Stage

SAMPLES: dict[str, str] = {
    "dense-two-classes": """@relation s
@attribute a numeric
@attribute b numeric
@attribute same numeric
@attribute class {no,yes}
@data
1,0.5,3,no
2,-0.5,3,no
2,0.25,3,yes
4,-1.5,3,yes
0,0,3,no
7,2.5,3,yes
1,-0.5,3,no
""",
    "dense-three-classes": """@relation s
@attribute class {x,y,z}
@attribute a numeric
@attribute b numeric
@data
x,1,10
y,2,20
z,3,10
x,1,30
y,5,20
z,3,0
""",
    "sparse-two-classes": """@relation s
@attribute u numeric
@attribute v numeric
@attribute w numeric
@attribute every numeric
@attribute never numeric
@attribute class {no,yes}
@data
{0 1,3 2}
{0 2,1 1,3 1,5 yes}
{3 4,5 yes}
{2 3,3 1}
{1 2,2 1,3 1,5 yes}
{0 1,3 3,5 ?}
""",
    "sparse-many-classes": """@relation s
@attribute u numeric
@attribute v numeric
@attribute w numeric
@attribute class {a,b,c,unused}
@data
{0 1,1 2}
{1 1,3 b}
{0 3,2 -1.5,3 c}
{2 1,3 b}
{}
{0 1,2 2,3 c}
""",
    "all-kinds": """@relation s
@attribute n numeric
@attribute c {red,'dark green',blue}
@attribute s string
@attribute d date yyyy-MM-dd
@attribute bag relational
  @attribute k numeric
@end bag
@attribute empty numeric
@attribute class {no,yes}
@data
1,red,'a text',2001-02-03,'1\\n2',?,no
?,'dark green',?,?,?,?,yes
3,?,b,2001-02-04,'3',?,yes,{2.5}
3,red,'c,d',2002-01-01,'',?,no,{0.1}
-2,blue,e,1999-12-31,'4',?,?,{3}
8,red,f,1970-01-01,'5',?,yes,{0}
""",
    "all-kinds-sparse": """@relation s
@attribute n numeric
@attribute c {red,green,blue}
@attribute s string
@attribute class {no,yes}
@data
{0 1,2 first}
{1 green,2 'a text',3 yes}
{0 ?,1 ?,2 ?},{2.5}
{0 4,2 b,3 yes},{0.1}
{}
""",
    "no-rows": """@relation s
@attribute a numeric
@attribute class {no,yes}
@data
""",
    "one-row": """@relation s
@attribute a numeric
@attribute b numeric
@attribute class {no,yes}
@data
1,0,yes
""",
    "one-class": """@relation s
@attribute a numeric
@attribute b {p,q}
@attribute class {no,yes}
@data
1,p,yes
2,q,yes
2,p,yes
""",
    "no-class": """@relation s
@attribute a numeric
@attribute b numeric
@data
1,2
3,4
0,-1
""",
    "no-features": """@relation s
@attribute s string
@attribute class {no,yes}
@data
x,yes
y,no
""",
}


def sample(name: str) -> Batch:
    """The sample of this name of `SAMPLES` as a batch."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name + ".arff")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SAMPLES[name])
        return read(path, class_="first" if name == "dense-three-classes" else None)


def same(one: Batch, other: Batch) -> bool:
    """Whether two batches hold the same rows, to the last bit, in the same form."""
    if one.schema != other.schema or (one.sparse, len(one)) != (other.sparse, len(other)):
        return False
    pairs: list[tuple[Any, Any]] = []
    if one.sparse:
        pairs += zip(one.csr[:3], other.csr[:3])
    else:
        pairs.append((one.X, other.X))
    weights = [np.ones(len(b)) if b.weights is None else b.weights for b in (one, other)]
    pairs += [(one.y, other.y), (weights[0], weights[1])]
    if (one.others is None) != (other.others is None) or (
        one.others is not None and not one.others.equals(other.others)
    ):
        return False
    return all((a is None and b is None) or np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def fit(stage: Stage, data: Batch, step: int | None = None) -> FittedChain | None:
    """A chain of `stage` alone, fitted on `data` cut into batches of `step` rows; None if it refuses."""
    try:
        return Chain([stage]).fit(cut(data, step))
    except StageError:
        return None


def cut(data: Batch, step: int | None) -> list[Batch]:
    """`data` as batches of `step` rows, or as one."""
    if step is None or not len(data):
        return [data]
    return [data.rows(i, min(i + step, len(data))) for i in range(0, len(data), step)]


def check_blocks_do_not_matter(stage: Stage, data: Batch) -> None:
    """Fitting on the rows cut into any blocks, and transforming them so, gives what the whole gives."""
    whole = fit(stage, data)
    for step in (1, 3):
        fitted = fit(stage, data, step)
        assert (fitted is None) == (whole is None), (
            f"{stage.name} refuses these rows in one block or in blocks of {step}, but not in both: "
            "decide from the whole of the rows, not from one batch"
        )
        if whole is None or fitted is None:
            continue
        parts = concatenate([fitted.transform(part) for part in cut(data, step)], fitted.schema)
        assert same(parts, whole.transform(data)), (
            f"{stage.name} gives other values when the rows come in blocks of {step}: "
            "let nothing in transform depend on the other rows of the batch, and add up in fit without "
            "regard to how rows are grouped"
        )


def check_input_is_left_alone(stage: Stage, data: Batch) -> None:
    """Neither fitting nor transforming changes the batch passed in."""
    before = data.replace(
        X=data.X.copy(),
        y=None if data.y is None else data.y.copy(),
        weights=None if data.weights is None else data.weights.copy(),
    )
    fitted = fit(stage, data)
    assert same(before, data), f"{stage.name} changes its training rows: work on copies"
    if fitted is not None:
        fitted.transform(data)
        assert same(before, data), f"{stage.name} changes the batch it transforms: return a new one"


def check_fitting_again_is_the_same(stage: Stage, data: Batch) -> None:
    """Fitting twice, and transforming twice, gives the same bits."""
    one, other = fit(stage, data), fit(stage, data)
    if one is None or other is None:
        assert one is other, f"{stage.name} refuses these rows only sometimes"
        return
    first = one.transform(data)
    assert same(first, other.transform(data)), f"{stage.name} fits differently each time: seed what is random"
    assert same(first, one.transform(data)), f"{stage.name} changes itself in transform: it must be pure"


def check_zeros_stay_zeros(stage: Stage, data: Batch) -> None:
    """Where zero is special before and after the stage, a row of zeros stays a row of zeros, and sparse
    rows stay sparse. The zero of a nominal attribute is its first label, so these are left out."""
    numeric = np.flatnonzero(~data.schema.nominal)
    data = data.replace(
        schema=data.schema.with_features([data.schema.features[j] for j in numeric], numeric),
        X=data.X[:, numeric],
    )
    fitted = fit(stage, data)
    if fitted is None or not (data.schema.zero and fitted.schema.zero):
        return
    out = fitted.transform(data)
    assert out.sparse == data.sparse, f"{stage.name} makes sparse rows dense: keep X a CSR matrix"
    zeros = empty(data.schema)
    width = len(data.schema.features)
    zero: Any = np.zeros((1, width))
    if data.sparse:
        zero = Csr(np.empty(0), np.empty(0, np.int32), np.zeros(2, np.int32), width)
    row = zeros.replace(
        X=zero,
        y=None if data.y is None else data.y[:1] if len(data) else np.zeros(1, np.int32),
        others=others_table(data.schema, [[None] for _ in data.schema.others]),
    )
    image = fitted.transform(row).X
    assert not (image.data if row.sparse else image).any(), f"{stage.name} turns a zero into something else"


def check_schema_is_what_comes_out(stage: Stage, data: Batch) -> None:
    """The schema that the fitted stage declares is that of the batches it puts out."""
    fitted = fit(stage, data)
    if fitted is None:
        return
    out = fitted.transform(data)
    schema = fitted.schema
    assert out.schema == schema, f"{stage.name}: the batch's schema is not the one declared by the fitted stage"
    assert out.X.shape == (len(data), len(schema.features)), (
        f"{stage.name}: X has {out.X.shape[1]} columns and the schema {len(schema.features)} features"
    )
    assert out.X.dtype == np.float64, f"{stage.name}: X is {out.X.dtype}; make it float64"
    assert out.sparse == schema.sparse, f"{stage.name}: X is {'' if out.sparse else 'not '}sparse, unlike schema.sparse"
    assert (out.y is None) == (schema.class_attribute is None), f"{stage.name}: y and the class attribute disagree"
    if out.sparse:
        assert out.X.has_canonical_format, f"{stage.name}: X needs sorted indices without duplicates"
        assert (out.X.data != 0).all(), f"{stage.name}: X stores zeros; drop them"
    dense = out.X.toarray() if out.sparse else out.X
    for column, attribute in enumerate(schema.features):
        if attribute.kind == "nominal":
            codes = dense[:, column][~np.isnan(dense[:, column])]
            assert ((codes >= 0) & (codes < len(attribute.values)) & (codes == np.rint(codes))).all(), (
                f"{stage.name}: the nominal '{attribute.name}' has values that are no index of its labels"
            )
    riding = [] if out.others is None else out.others.column_names
    assert riding == [a.name for a in schema.others], f"{stage.name}: batch.others and schema.others disagree"
    assert out.others is None or out.others.num_rows == len(data), (
        f"{stage.name}: batch.others has another number of rows"
    )


CHECKS: list[Callable[[Stage, Batch], None]] = [
    check_blocks_do_not_matter,
    check_input_is_left_alone,
    check_fitting_again_is_the_same,
    check_zeros_stay_zeros,
    check_schema_is_what_comes_out,
]
