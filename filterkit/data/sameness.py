"""Whether two batches are the same, which is what most of the conformance kit asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from filterkit.data.batch import Batch


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
