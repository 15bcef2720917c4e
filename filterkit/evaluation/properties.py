"""Properties of training rows that may tell which chain suits them."""

from __future__ import annotations

import numpy as np

from filterkit.data.batch import Batch


def count_positives_columns_and_nonzeros(batch: Batch) -> tuple[int | None, int, float]:
    """Count three properties of training rows, whose class or labels are known.

    Returns
    -------
    positives : the number of rows of the positive class; without one, of the rarest class or label that has rows, 0 if
        none has. None for a numeric class.
    columns : the number of features.
    nonzeros : the mean number of values in a row that are not zero, 0 without rows. In dense rows all nominal values
        count.
    """
    schema, y, n_rows = batch.schema, batch.y, len(batch)
    if batch.sparse:
        nonzeros = int(np.count_nonzero(batch.csr.data))
    else:
        nonzeros = int(np.count_nonzero(batch.X[:, ~schema.nominal])) + int(np.count_nonzero(schema.nominal)) * n_rows
    positives = None
    if not schema.has_numeric_target:
        target = schema.class_attribute
        assert y is not None
        if target is None:
            values = schema.label_values
            counts = np.count_nonzero(y[:, values.labels] == values.codes, axis=0)
        else:
            counts = np.bincount(y, minlength=len(target.values))
            if schema.positive is not None:
                counts = counts[[target.values.index(schema.positive)]]
        positives = int(min(counts[counts > 0], default=0))
    return positives, schema.width, nonzeros / max(n_rows, 1)
