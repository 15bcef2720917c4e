"""Values as 0 for absent and 1 for present."""

from __future__ import annotations

import numpy as np

from filterkit import Batch, RowStage, hookimpl
from filterkit.plugin import SelectiveStage


class Binary(SelectiveStage, RowStage):
    """Turn every non-zero value into 1, as Weka's NumericToBinary does.

        filterkit in.arff binary l2

    Missing values stay missing. Nominal columns stay as they are. The columns stay numeric.
    """

    name = "binary"
    group = "Encode values"

    def transform(self, batch: Batch) -> Batch:
        nominal = batch.schema.nominal
        if batch.sparse:
            X = batch.csr
            image = np.where(np.isnan(X.data), X.data, 1.0)
            if nominal.any():
                image = np.where(nominal[X.indices], X.data, image)
            return batch.replace(X=X._replace(data=image))
        image = np.where(np.isnan(batch.X), batch.X, (batch.X != 0).astype(np.float64))
        return batch.replace(X=np.where(nominal, batch.X, image))


@hookimpl
def filterkit_stages() -> list[type[RowStage]]:
    return [Binary]
