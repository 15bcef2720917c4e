"""Turn values into 0 for absent and 1 for present."""

from __future__ import annotations

import numpy as np

from filterkit import Batch, RowStage
from filterkit.plugin import SelectiveStage, map_numbers, offer


class Binary(SelectiveStage, RowStage):
    """Turn every non-zero value into 1, as Weka's NumericToBinary does.

        filterkit in.arff binary l2

    Missing values stay missing. Nominal columns stay as they are. The columns stay numeric.
    """

    name = "binary"
    group = "Encode values"

    def transform(self, batch: Batch) -> Batch:
        return map_numbers(batch, lambda values: (values != 0).astype(np.float64))


filterkit_stages = offer(Binary)
