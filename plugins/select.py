"""Select the best columns by a score, limited by number, share, score or sparsity."""

from __future__ import annotations

import numpy as np

from filterkit import Attribute, ColumnStage, Schema, StageError, UsageError, option
from filterkit.plugin import (
    COMBINATIONS,
    ContingencyTable,
    Floats,
    Ints,
    State,
    Statistic,
    Thresholds,
    declare_alpha,
    find_metric,
    offer,
    one_against_rest,
    quoted,
    score_columns,
    scoring_bytes,
    suggestion,
    warn_nothing_learned,
)

_NEARLY = 1 + 1e-12  # allows for rounding: 29 rows are 0.29 of 100, although 0.29 * 100 is a little less than 29


class Select(ColumnStage):
    """Keep the best columns and drop the others, as Weka's AttributeSelection with a Ranker does.

        filterkit in.arff select --by bns --top 2 l2

    `--by METRIC` scores every column by how well it tells the classes apart, and ranks the columns by this score.
    Without it, the latest scores of the stages before count, such as those of ``bns``. `--top` and the other limits say
    how many columns to keep; a column must meet all of them, unless `--keep` names it. Columns that do not vary in
    training rank last, and of columns with equal scores the first attribute ranks first.

    A column is *in* a row if its value there is neither missing nor zero nor, in a nominal column, the first label.
    Rows count by weight. If `--by` names a metric that needs a class, rows without a class do not count.

    `--sparsity S` keeps as many columns from the top of the ranking as give a row at most S non-zero values on average
    (Brank and others 2002, section 2). With `--spread`, the classes take turns in their declared order, and each picks
    the best column left in its own ranking, which compares the class with the rest. Rows are not rescaled; put ``l2``
    after it for that.
    """

    name = "select"
    group = "Select attributes"
    scores_columns = True
    needs_class = numeric_class = False  # but as the metric of `by`

    top: int | None = option(None, "Keep the N best columns.", minimum=1)
    fraction: float | None = option(None, "Keep this share of all columns, rounded up.", minimum=0, maximum=1)
    min_score: float | None = option(None, "Keep columns with a score of at least X.")
    sparsity: float | None = option(None, "Keep at most X non-zero values per row, on average.", minimum=0)
    min_count: float | None = option(None, "Keep columns that are in at least X rows.", minimum=0)
    max_fraction: float | None = option(None, "Keep columns in at most this share of the rows.", minimum=0, maximum=1)
    by: str | None = option(None, "The metric to rank by.  [default: the latest score]", names="metric")
    keep: tuple[str, ...] = option((), "Keep this attribute whatever its score.", names="attribute")
    spread: bool = option(False, "Let the classes take turns.")
    alpha: float | None = declare_alpha()
    combine: str | None = option(None, "How scores of each class against the rest become one.", choices=COMBINATIONS)
    seed: int = option(0, "Seed for a random metric.", minimum=0)

    def __post_init__(self) -> None:
        if self.fraction == 0:
            raise UsageError("select: --fraction must be above 0")
        ranked = (self.top, self.fraction, self.min_score, self.sparsity)
        if all(limit is None for limit in (*ranked, self.min_count, self.max_fraction)):
            raise UsageError("select: say how many columns to keep, as with --top 500; see: filterkit stages select")
        try:
            by = None if self.by is None else find_metric(self.by)
        except UsageError as error:
            raise UsageError(f"select: --by: {error}") from None
        has_options_of_by = self.spread or self.alpha is not None or self.combine is not None
        if by is None and has_options_of_by:
            raise UsageError("select: --spread, --alpha and --combine need --by METRIC")
        if by is not None and has_options_of_by and not by.compares_class_with_rest:
            why = "looks at all classes at once" if by.needs_class else "ignores classes"
            raise UsageError(f"select: leave out --spread, --alpha and --combine, because {by.name} {why}")
        self._by = by
        if by is not None:
            self.needs_class, self.numeric_class = by.needs_class, by.numeric_class
        self._ranked = any(limit is not None for limit in ranked)

    def working_bytes(self, statistic: Statistic) -> int:
        return super().working_bytes(statistic) if self._by is None else scoring_bytes(statistic, self._by)

    def fit_columns(self, table: ContingencyTable) -> State:
        table.schema.need_columns(self.name)
        thresholds = Thresholds(table)
        state: State = {"rows": table.nonzero_rows, "varied": thresholds.varied}
        if self._by is not None:
            state["score"] = score_columns(thresholds, self._by, alpha=self.alpha, combine=self.combine, seed=self.seed)
            if self.spread:
                state["classes"] = one_against_rest(thresholds, self._by, self.alpha)[0]
        return state

    def most_columns(self, width: int | None) -> int | None:
        if width is not None:
            return min(self._count_allowed_columns(width) + len(self.keep), width)
        return None if self.top is None else self.top + len(self.keep)

    def output_columns(self, schema: Schema, state: State, totals: Floats) -> Ints:
        total = totals.sum()
        candidate = np.ones(schema.width, bool)
        if self.min_count is not None:
            candidate &= state["rows"] >= self.min_count
        if self.max_fraction is not None:
            candidate &= state["rows"] <= self.max_fraction * total * _NEARLY
        if self._ranked:
            metric, scores = (
                (self._by.name, state["score"]) if self._by is not None else self._get_latest_metric_and_scores(schema)
            )
            if self.min_score is not None:
                candidate &= scores >= self.min_score
            constant = ~state["varied"]
            ranking: Ints = np.lexsort((-scores, constant))
            if self.spread and state["classes"].shape[1] > 1:
                ranking = _merge_rankings_in_turns([np.lexsort((-each, constant)) for each in state["classes"].T])
            ranking = ranking[candidate[ranking]]
            order = ranking[: self._count_allowed_columns(schema.width)]
            if self.sparsity is not None and total > 0:
                order = order[np.cumsum(state["rows"][order]) <= self.sparsity * total * _NEARLY]
            self._warn_of_zero_ties(ranking, len(order), metric, scores, state)
            candidate = np.zeros(schema.width, bool)
            candidate[order] = True
        column_of = {a.name: i for i, a in enumerate(schema.features)}
        for name in self.keep:
            if name not in schema.names:
                hint = suggestion(name, list(column_of)) or "; filterkit info FILE lists them"
                raise StageError(self.name, f"--keep: no attribute {quoted(name)}{hint}")
            if name in column_of:
                candidate[column_of[name]] = True
        columns = np.flatnonzero(candidate)
        if schema.width and not len(columns):
            raise StageError(self.name, "no column meets all limits; loosen them, or name columns with --keep")
        return columns

    def output_attributes(self, schema: Schema, state: State, columns: Ints, totals: Floats) -> list[Attribute]:
        chosen = [schema.features[column] for column in columns.tolist()]
        if self._by is None:
            return chosen
        return [a.scored(self._by.name, score) for a, score in zip(chosen, state["score"][columns].tolist())]

    def _count_allowed_columns(self, n_columns: int) -> int:
        """Return how many of `n_columns` columns ``--top`` and ``--fraction`` allow; all without these options."""
        limit = n_columns if self.top is None else min(self.top, n_columns)
        return limit if self.fraction is None else min(limit, int(np.ceil(self.fraction * n_columns / _NEARLY)))

    def _warn_of_zero_ties(self, ranking: Ints, n_chosen: int, metric: str, scores: Floats, state: State) -> None:
        """Warn if only the order in the input decides which columns with the score 0 are among the `n_chosen` best.

        `ranking`, int64, has the indices of the columns that meet the other limits, the best first. `scores`, float64
        (columns,), are those by `metric`.
        """
        if not 0 < n_chosen < len(ranking) or scores[ranking[n_chosen - 1]] or scores[ranking[n_chosen]]:
            return
        alike = (scores[ranking] == 0) & (state["varied"][ranking] == state["varied"][ranking[n_chosen - 1]])
        if alike[n_chosen]:
            kept, tied = np.count_nonzero(alike[:n_chosen]), np.count_nonzero(alike)
            ties = f"{tied:,} columns have the score 0 by {metric}"
            warn_nothing_learned(self.name, f"{ties}, and the first {kept:,} of them in the input are kept; keep fewer")

    def _get_latest_metric_and_scores(self, schema: Schema) -> tuple[str, Floats]:
        """Return the metric that scored the columns last, and its scores, float64 (columns,); −∞ for a column without.

        The metric is "" if there are no columns. Raise a StageError if no column has a score.
        """
        if not schema.features:
            return "", np.empty(0)
        most = max((a.scores for a in schema.features), key=len)  # some columns may lack scores
        if not most:
            raise StageError(self.name, "no column has a score; say --by METRIC, or put a metric such as bns before it")
        latest = most[-1][0]
        return latest, np.array([dict(a.scores).get(latest, -np.inf) for a in schema.features])


def _merge_rankings_in_turns(rankings: list[Ints]) -> Ints:
    """Merge rankings of the same columns into one, to which each in turn adds its best column not yet there.

    A ranking is int64 (columns,): the indices of columns, the best first.
    """
    order: dict[int, None] = {}
    left = [iter(ranking.tolist()) for ranking in rankings]
    while len(order) < len(rankings[0]):
        for ranking in left:
            column = next((c for c in ranking if c not in order), None)
            if column is not None:
                order[column] = None
    return np.array(list(order), np.int64)


filterkit_stages = offer(Select)
