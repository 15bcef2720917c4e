"""filterkit: a streaming ARFF filter chain.

>>> import filterkit
>>> data = filterkit.read("arff_samples/iris.arff")
>>> chain = filterkit.chain("shape bns l2").fit(data)
>>> chain.transform(data).X.shape
(150, 12)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from filterkit.api import batches, chain, read, write
from filterkit.batch import Batch, concatenate
from filterkit.chain import Chain, FittedChain
from filterkit.columns import ColumnStage, State
from filterkit.contingency import ContingencyTable
from filterkit.csr import Csr
from filterkit.errors import ArffError, FilterkitError, PluginError, StageError, UsageError
from filterkit.hookspecs import hookimpl
from filterkit.ragged import Ragged
from filterkit.schema import Attribute, Schema
from filterkit.stage import Fitted, RowStage, Stage, option

if TYPE_CHECKING:
    from filterkit.interop import from_arrow, from_liac, from_pandas, to_arrow, to_liac, to_pandas

__version__ = "0.1.0"

__all__ = [
    "ArffError",
    "Attribute",
    "Batch",
    "Chain",
    "ColumnStage",
    "ContingencyTable",
    "Csr",
    "FilterkitError",
    "Fitted",
    "FittedChain",
    "PluginError",
    "Ragged",
    "RowStage",
    "Schema",
    "Stage",
    "StageError",
    "State",
    "UsageError",
    "batches",
    "chain",
    "concatenate",
    "from_arrow",
    "from_liac",
    "from_pandas",
    "hookimpl",
    "option",
    "read",
    "to_arrow",
    "to_liac",
    "to_pandas",
    "write",
]


def __getattr__(name: str) -> Any:
    """The functions of `filterkit.interop`, which the command line does without."""
    if name in ("from_arrow", "from_liac", "from_pandas", "to_arrow", "to_liac", "to_pandas"):
        from filterkit import interop

        return getattr(interop, name)
    raise AttributeError(f"module 'filterkit' has no attribute {name!r}")
