"""Replace missing values by means and modes."""

from __future__ import annotations

import numpy as np

from filterkit import ColumnStage, Schema
from filterkit.plugin import Floats, Ints, Moments, State, offer


class Impute(ColumnStage):
    """Replace missing values by the mean or, in nominal columns, the mode, as Weka's ReplaceMissingValues does.

        filterkit arff_samples/mixed.arff impute --only amount

    Mean and mode are those of the training values, including zeros. Rows count by weight. Of equally frequent
    labels the first counts. In a column that is empty in training, missing values become 0 or the first label. The
    class stays as it is.
    """

    name = "impute"
    known_as = "fillna imputation"
    group = "Rescale and fill columns"
    needs_class = False
    learns_from = Moments
    fills_missing = True
    mends = "missing values"

    def fit_columns(self, moments: Moments) -> State:
        return {"fill": moments.typical_values()}

    def describe_columns(self, schema: Schema, state: State) -> State:
        pairs = zip(schema.features, state["fill"].tolist())
        return {"fill": [a.values[int(fill)] if a.values else fill for a, fill in pairs]}

    def apply(self, values: Floats, columns: Ints, state: State) -> Floats:
        return np.where(np.isnan(values), state["fill"][columns], values)


filterkit_stages = offer(Impute)
