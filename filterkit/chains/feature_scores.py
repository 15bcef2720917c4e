"""Score features by several metrics, into one Arrow table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from filterkit.chains.budget import DEFAULT_MEMORY
from filterkit.chains.chain import Chain, open_training_rows, suggest_stages_in_errors
from filterkit.chains.column_fitting import fit_in_passes
from filterkit.chains.queries import run_passes
from filterkit.chains.rows import Rows
from filterkit.counts.best_tests import find_best_tests
from filterkit.counts.scoring import COMBINATIONS, score_columns
from filterkit.counts.table import ContingencyTable
from filterkit.counts.thresholds import Thresholds
from filterkit.data.arithmetic import Floats, Ints, divide_or_zero
from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.data.user_rows import Table
from filterkit.engines.local import LocalEngine
from filterkit.errors import StageError, UsageError, find_repeated, quoted
from filterkit.plugin.lookup import find_metric, find_stage
from filterkit.plugin.parsing import parse_stages
from filterkit.plugin.registry import get_registry
from filterkit.stages.base import State, check_class
from filterkit.stages.columns import ColumnStage
from filterkit.stages.metric_scaling import ScalingOptions

if TYPE_CHECKING:
    import pyarrow as pa


class _ColumnScorer(ColumnStage):
    """Scores every column by several metrics, and finds its best test: the threshold or label with the highest score.

    The first metric that needs a class decides which test is best, or else the first metric. With a numeric class, or
    without a metric, no tests are looked for. The fitted stage leaves values as they are; the scores are in its state.

    Parameters
    ----------
    names : the names of the metrics; may be empty.
    options : those of `score_columns` by name, for metrics that compare a class with the rest.
    seed : for metrics that work by chance.
    """

    name = "scores"
    numeric_class = True

    def __init__(self, names: list[str], options: dict[str, Any], seed: int) -> None:
        self._metrics = metrics = [find_metric(name) for name in names]
        self._options = options
        self._seed = seed
        self._main = next((metric for metric in metrics if metric.needs_class), next(iter(metrics), None))
        self.needs_class = any(metric.needs_class for metric in metrics)

    def __reduce__(self) -> tuple[Any, ...]:
        return _ColumnScorer, ([metric.name for metric in self._metrics], self._options, self._seed)

    def fit_columns(self, table: ContingencyTable) -> State:
        table.schema.need_columns(self.name)
        if not table.totals.any():
            known = "a known class and " if self.needs_class else ""
            raise StageError(self.name, f"there are no rows with {known}a weight above 0; add some")
        thresholds = Thresholds(table)
        state: State = {"varied": thresholds.varied}
        for metric in self._metrics:
            options = self._options if metric.compares_class_with_rest else {}
            state[metric.name] = score_columns(thresholds, metric, **options, seed=self._seed)
        if self._main is None or table.numeric_class:
            return state
        best = find_best_tests(thresholds, self._main, self._options.get("alpha"))
        return state | {f"best.{name}": values for name, values in best._asdict().items()}

    def apply(self, values: Floats, columns: Ints, state: State) -> Floats:
        return values.copy()


def scores(
    rows: Batch | Table | Iterable[Batch | Table] | Rows,
    metrics: str | Iterable[str],
    *,
    alpha: float | None = None,
    combine: str | None = None,
    seed: int = 0,
    jobs: int = 1,
    memory: int = DEFAULT_MEMORY,
) -> pa.Table:
    """Score every feature by several metrics, and return a table of the scores, the best features first.

    Parameters
    ----------
    rows : as for `Chain.fit`.
    metrics : a name, or several, each once: of metrics, or of stages that score columns by reading rows, such as
        relieff.
    alpha : from 0 to 1; scores of features that go with the positive class are multiplied by it, and others by
        1 - alpha. None: they stay as they are.
    combine : how the scores of several classes become one, ``max``, ``mean`` or ``weighted``. None: as the metric says.
    seed : for metrics and stages that work by chance.
    jobs, memory : as for `Chain.fit`.

    Returns
    -------
    A pyarrow table with a row for each feature. The score by the first name decides the order; ties are in the order of
    the attributes, and features that do not vary come last. The columns are, in this order:

    - ``rank``, from 1, and ``attribute``, the name of the feature;
    - those of the best test of the feature, which selects the rows at or above a threshold, or with a label:

      - ``class``, the class that the test separates best from the rest; only if a metric needs a class, there are more
        than two, and none is declared positive;
      - ``threshold``, null for a nominal feature;
      - ``label``, null for a numeric feature; only if there are nominal features;
      - ``tp`` and ``fp``, the weights of the selected rows of this class, or else of the positive class, and of the
        selected other rows;
      - ``tpr`` and ``fpr``, these weights divided by those of all rows of the class, and of all other rows;
      - ``rows``, the weight of the selected rows, which replaces ``tp`` to ``fpr`` if no metric needs a class;

    - one for each of `metrics`, the score.

    The best test is that by the first metric that needs a class, or else by the first metric. Its columns are null for
    a feature that does not vary. They are left out with a numeric class, or if `metrics` names only stages.

    Raises
    ------
    UsageError : there is no name, one is there twice, or one is unknown; or `alpha`, `combine`, `jobs` or `memory` has
        another value.
    StageError : there are no features, or no rows that count; there is no class, or a numeric one, and a metric needs
        another; or a stage cannot score the rows.
    FilterkitError : `rows` has no batch, or is something else.
    """
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    if not names:
        raise UsageError("scores: name at least one metric")
    twice = find_repeated(names)
    if twice is not None:
        raise UsageError(f"scores: {twice} is named twice; name it once")
    if alpha is not None and not 0 <= alpha <= 1:
        raise UsageError(f"scores: --alpha must be from 0 to 1, not {alpha}")
    if combine not in (None, *COMBINATIONS):
        raise UsageError(f"scores: --combine must be one of {', '.join(COMBINATIONS)}, not {quoted(str(combine))}")
    known = get_registry()
    by_rows = {name for name, each in known.stages.items() if issubclass(each, ScalingOptions)} - known.metrics.keys()
    scorers = [name for name in names if name in by_rows]
    stage = _ColumnScorer([n for n in names if n not in scorers], {"alpha": alpha, "combine": combine}, seed)
    with open_training_rows(rows, LocalEngine(jobs), jobs, memory) as training, suggest_stages_in_errors():
        for each in (stage, *(find_stage(known, name)() for name in names)):
            check_class(each, training.schema, in_chain=False)
        ((fitted,),) = run_passes(fit_in_passes([stage], training, memory))
        state = fitted.state
        for scorer in scorers:
            chain = Chain(parse_stages([scorer, "--score-only"], known, seed))
            scored = chain.fit(training, memory=memory).schema
            state[scorer] = np.array([dict(a.scores)[scorer] for a in scored.features])
    return _make_score_table(stage, state, training.schema, names)


def _make_score_table(stage: _ColumnScorer, state: State, schema: Schema, names: list[str]) -> pa.Table:
    import pyarrow as pa

    from filterkit.data import arrow

    order = np.lexsort((-state[names[0]], ~state["varied"]))
    constant = ~state["varied"][order]
    columns: dict[str, Any] = {
        "rank": arrow.make_number_array(np.arange(1, len(order) + 1)),
        "attribute": arrow.make_text_array([schema.features[i].name for i in order.tolist()]),
    }
    scores, target = {name: arrow.make_number_array(state[name][order]) for name in names}, schema.class_attribute
    if "best.task" not in state:
        return pa.table(columns | scores)
    if stage.needs_class and target is not None and schema.positive is None and len(target.values) > 2:
        chosen = zip(state["best.task"][order].tolist(), constant.tolist())
        columns["class"] = arrow.make_text_array([None if none else target.values[c] for c, none in chosen])
    threshold, nominal = state["best.threshold"][order], schema.nominal[order]
    columns["threshold"] = arrow.make_number_array(threshold, constant | nominal)
    if nominal.any():
        columns["label"] = arrow.make_text_array(
            [
                schema.features[feature].values[int(code)] if has_label else None
                for feature, code, has_label in zip(order.tolist(), threshold.tolist(), (nominal & ~constant).tolist())
            ]
        )
    tp, fp, pos, neg = (np.where(constant, 1.0, state[f"best.{name}"][order]) for name in ("tp", "fp", "pos", "neg"))
    counts = {"rows": tp}
    if stage.needs_class:
        counts = {"tp": tp, "fp": fp, "tpr": divide_or_zero(tp, pos), "fpr": divide_or_zero(fp, neg)}
    return pa.table(
        columns | {name: arrow.make_number_array(count, constant) for name, count in counts.items()} | scores
    )
