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
    from filterkit.chains.chain import Chain, FittedChain
    from filterkit.chains.reorder import take_rows
    from filterkit.chains.rows import Rows
    from filterkit.chains.saved import load, save
    from filterkit.counts.metric import Metric
    from filterkit.counts.table import ContingencyTable, of_any_class
    from filterkit.counts.tabulate import check_sum, check_weights
    from filterkit.counts.thresholds import COMBINATIONS, Thresholds, combined, one_against_rest, score_columns
    from filterkit.data.batch import Batch, concatenate
    from filterkit.data.csr import Csr
    from filterkit.data.interop import from_arrow, from_liac, from_pandas, to_arrow, to_liac, to_pandas
    from filterkit.data.ragged import Ragged
    from filterkit.data.schema import Attribute, Renewed, Schema
    from filterkit.engines.local import PAUSE, LocalEngine
    from filterkit.errors import ArffError, FilterkitError, PluginError, StageError, UsageError, suggestion
    from filterkit.evaluation.measures import Outcome, measures
    from filterkit.files.formats import Format
    from filterkit.logistic import Points, log_losses
    from filterkit.plugin.hookspecs import hookimpl
    from filterkit.plugin.registry import find_metric
    from filterkit.stages.base import Fitted, RowStage, Stage, TrainingStage
    from filterkit.stages.columns import ColumnStage, FittedColumns, Fold, State
    from filterkit.stages.interrupts import interruptible
    from filterkit.stages.learner import Learner
    from filterkit.stages.metric_scaling import Scaling, rescaled, scaling_state
    from filterkit.stages.models import LinearModel, Model, Tasks, Training, predicted
    from filterkit.stages.options import option

__version__ = "0.1.0"

# Where each public name is; it is imported when it is first asked for, because start-up counts.
_HOME = {
    "batches": "api",
    "chain": "api",
    "read": "api",
    "scores": "api",
    "tee": "api",
    "write": "api",
    "Batch": "data.batch",
    "concatenate": "data.batch",
    "Chain": "chains.chain",
    "FittedChain": "chains.chain",
    "ColumnStage": "stages.columns",
    "FittedColumns": "stages.columns",
    "Fold": "stages.columns",
    "State": "stages.columns",
    "ContingencyTable": "counts.table",
    "of_any_class": "counts.table",
    "check_sum": "counts.tabulate",
    "check_weights": "counts.tabulate",
    "Csr": "data.csr",
    "ArffError": "errors",
    "FilterkitError": "errors",
    "PluginError": "errors",
    "StageError": "errors",
    "UsageError": "errors",
    "suggestion": "errors",
    "hookimpl": "plugin.hookspecs",
    "from_arrow": "data.interop",
    "from_liac": "data.interop",
    "from_pandas": "data.interop",
    "to_arrow": "data.interop",
    "to_liac": "data.interop",
    "to_pandas": "data.interop",
    "interruptible": "stages.interrupts",
    "Learner": "stages.learner",
    "Points": "logistic",
    "Outcome": "evaluation.measures",
    "measures": "evaluation.measures",
    "LinearModel": "stages.models",
    "Model": "stages.models",
    "Tasks": "stages.models",
    "Training": "stages.models",
    "predicted": "stages.models",
    "log_losses": "logistic",
    "LocalEngine": "engines.local",
    "PAUSE": "engines.local",
    "Format": "files.formats",
    "Metric": "counts.metric",
    "find_metric": "plugin.registry",
    "Ragged": "data.ragged",
    "Scaling": "stages.metric_scaling",
    "take_rows": "chains.reorder",
    "Rows": "chains.rows",
    "rescaled": "stages.metric_scaling",
    "scaling_state": "stages.metric_scaling",
    "load": "chains.saved",
    "save": "chains.saved",
    "Attribute": "data.schema",
    "Renewed": "data.schema",
    "Schema": "data.schema",
    "Fitted": "stages.base",
    "RowStage": "stages.base",
    "Stage": "stages.base",
    "TrainingStage": "stages.base",
    "option": "stages.options",
    "COMBINATIONS": "counts.thresholds",
    "Thresholds": "counts.thresholds",
    "combined": "counts.thresholds",
    "one_against_rest": "counts.thresholds",
    "score_columns": "counts.thresholds",
}
__all__ = [
    "COMBINATIONS",
    "PAUSE",
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
