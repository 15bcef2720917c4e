"""filterkit: a streaming ARFF filter chain.

>>> import filterkit
>>> data = filterkit.read("arff_samples/iris.arff")
>>> chain = filterkit.chain("shape bns l2").fit(data)
>>> chain.transform(data).X.shape
(150, 12)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from filterkit.api import batches, chain, read, scores, tee, write
    from filterkit.batch import Batch, concatenate
    from filterkit.chains import Chain, FittedChain
    from filterkit.columns import ColumnStage, FittedColumns, Fold, State
    from filterkit.contingency import ContingencyTable, of_any_class
    from filterkit.counting import check_sum, check_weights
    from filterkit.csr import Csr
    from filterkit.engine.local import LocalEngine
    from filterkit.errors import ArffError, FilterkitError, PluginError, StageError, UsageError, suggestion
    from filterkit.formats import Format
    from filterkit.hookspecs import hookimpl
    from filterkit.interop import from_arrow, from_liac, from_pandas, to_arrow, to_liac, to_pandas
    from filterkit.interrupts import interruptible
    from filterkit.learner import Learner
    from filterkit.logistic import Points, log_losses
    from filterkit.measuring import Outcome, measures
    from filterkit.metric import Metric
    from filterkit.models import LinearModel, Model, Tasks, Training, predicted
    from filterkit.plugins import find_metric
    from filterkit.ragged import Ragged
    from filterkit.reorder import take_rows
    from filterkit.rows import Rows
    from filterkit.saved import load, save
    from filterkit.scaling import Scaling, rescaled, scaling_state
    from filterkit.schema import Attribute, Renewed, Schema
    from filterkit.shares import share
    from filterkit.stage import Fitted, RowStage, Stage, TrainingStage, option
    from filterkit.thresholds import COMBINATIONS, Thresholds, combined, one_against_rest, score_columns

__version__ = "0.1.0"

# Where each public name is; it is imported when it is first asked for, because start-up counts.
_HOME = {
    "batches": "api",
    "chain": "api",
    "read": "api",
    "scores": "api",
    "tee": "api",
    "write": "api",
    "Batch": "batch",
    "concatenate": "batch",
    "Chain": "chains",
    "FittedChain": "chains",
    "ColumnStage": "columns",
    "FittedColumns": "columns",
    "Fold": "columns",
    "State": "columns",
    "ContingencyTable": "contingency",
    "of_any_class": "contingency",
    "check_sum": "counting",
    "check_weights": "counting",
    "Csr": "csr",
    "ArffError": "errors",
    "FilterkitError": "errors",
    "PluginError": "errors",
    "StageError": "errors",
    "UsageError": "errors",
    "suggestion": "errors",
    "hookimpl": "hookspecs",
    "from_arrow": "interop",
    "from_liac": "interop",
    "from_pandas": "interop",
    "to_arrow": "interop",
    "to_liac": "interop",
    "to_pandas": "interop",
    "interruptible": "interrupts",
    "Learner": "learner",
    "Points": "logistic",
    "Outcome": "measuring",
    "measures": "measuring",
    "LinearModel": "models",
    "Model": "models",
    "Tasks": "models",
    "Training": "models",
    "predicted": "models",
    "log_losses": "logistic",
    "LocalEngine": "engine.local",
    "Format": "formats",
    "Metric": "metric",
    "find_metric": "plugins",
    "Ragged": "ragged",
    "Scaling": "scaling",
    "take_rows": "reorder",
    "Rows": "rows",
    "rescaled": "scaling",
    "scaling_state": "scaling",
    "load": "saved",
    "save": "saved",
    "Attribute": "schema",
    "Renewed": "schema",
    "Schema": "schema",
    "share": "shares",
    "Fitted": "stage",
    "RowStage": "stage",
    "Stage": "stage",
    "TrainingStage": "stage",
    "option": "stage",
    "COMBINATIONS": "thresholds",
    "Thresholds": "thresholds",
    "combined": "thresholds",
    "one_against_rest": "thresholds",
    "score_columns": "thresholds",
}
__all__ = [
    "COMBINATIONS",
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
    "FittedColumns",
    "Fold",
    "Format",
    "Learner",
    "LinearModel",
    "LocalEngine",
    "Metric",
    "Model",
    "Outcome",
    "PluginError",
    "Points",
    "Ragged",
    "Renewed",
    "RowStage",
    "Rows",
    "Scaling",
    "Schema",
    "Stage",
    "StageError",
    "State",
    "Tasks",
    "Thresholds",
    "Training",
    "TrainingStage",
    "UsageError",
    "batches",
    "chain",
    "check_sum",
    "check_weights",
    "combined",
    "concatenate",
    "find_metric",
    "from_arrow",
    "from_liac",
    "from_pandas",
    "hookimpl",
    "interruptible",
    "load",
    "log_losses",
    "measures",
    "of_any_class",
    "one_against_rest",
    "option",
    "predicted",
    "read",
    "rescaled",
    "save",
    "scaling_state",
    "score_columns",
    "scores",
    "share",
    "suggestion",
    "take_rows",
    "tee",
    "to_arrow",
    "to_liac",
    "to_pandas",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'filterkit' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"filterkit.{_HOME[name]}"), name)
    return value
