"""Replace values by the local probability of the positive class: the stage `shape`."""

from __future__ import annotations

from typing import Any

import numpy as np

from filterkit import ColumnStage, Schema, option
from filterkit.plugin import (
    Attributes,
    ContingencyTable,
    FittedColumns,
    Floats,
    Fold,
    Ints,
    Ragged,
    State,
    Statistic,
    Texts,
    expand_ranges,
    sum_over_classes,
    warn_nothing_learned,
)

from .curves import shape_values
from .estimates import (
    compute_log_odds,
    estimate_local_probabilities,
    estimate_positive_shares,
    estimate_probabilities_at_zero,
    fit_monotone_curves,
    flag_knots,
    make_smoothing,
    parse_neighbor_count,
)
from .policies import flag_columns_to_shape


class Shape(ColumnStage):
    """Replace each value by the local probability of the positive class around it.

        filterkit --positive a in.arff shape bns l2

    If three of four training rows with values near 5 are positive, 5 becomes about 0.75. A linear classifier can then
    use columns whose large values do not simply mean more of the class, such as ages or temperatures.

    The window around a value v has all training rows equal to v, up to `--neighbors` rows with the next smaller values,
    and as many with the next larger ones. If the window cuts through a group of equal values, the group is weighted to
    fit. The estimate is p(v) = (positives + 1) / (rows + 2), counted in the window. Between training values, p is
    interpolated linearly; beyond them, it stays as at the last one (Forman, Scholz and Rajaram 2009, sections 3.2 and
    3.3).

    Where zero is special, as in sparse rows, zero has an estimate of its own and is in no window. p(0) is subtracted
    from all estimates, so zero stays zero and sparse rows stay sparse (section 3.5). If no training row has a zero,
    p(0) is the estimate of the training value nearest zero. Missing values and each nominal value have an estimate of
    their own. A missing or nominal value that training did not see gets the share of positives in all training rows. A
    column that is empty in training becomes 0.

    `--neighbors 5%` takes 5 % of all training rows, and at least one, on each side. With `--prior class`, estimates
    from few rows shrink to the share π of positives, (positives + 2π) / (rows + 2), instead of to 1/2. With
    `--strength M` the prior counts as M rows: (positives + M/2) / (rows + M), or (positives + Mπ) / (rows + M).

    `--method logodds` produces log p − log(1 − p) (section 3.3). `--method isotonic` produces the rising or falling
    function of the value that fits the share of positives best by squared error (pool adjacent violators). It uses
    neither windows nor a correction, but nominal values, zero and missing values are treated as above.

    `--center` produces log odds less those of the prior, so that a value that says nothing about the class becomes 0;
    with `--method lp` or `isotonic`, the estimate less the prior. Where zero is special, it makes log odds, too, and
    p(0) is what is subtracted. `--weight W` multiplies what comes out by W.

    `--beside` keeps each column, unchanged and under its name, and puts the shaped one after it, named
    ``attribute@class`` after the positive class. A linear classifier then loses little where shaping does not help.
    Put ``range`` or ``standardize`` before it to bring the kept columns to the scale of the others. Missing values of
    kept columns stay missing.

    With more than two classes and no ``--positive``, each column becomes one column for each class that has rows, named
    ``attribute@class``. If all rows are of one class, estimates are defined but say nothing. A scorer after it
    compares each class with the rest for every such column, which takes long with many classes; select columns first.

    The nearest relative among filters is Weka's ClassConditionalProbabilities, which knows no windows.

    Values that few rows have overfit small training sets (section 4.3). `--cross-fit K` splits the rows of each class
    into K folds and transforms each training row by what was learned from the other folds. Later rows, as with
    ``--test``, are transformed by what was learned from all training rows; so is the only row of a class.

    `--auto` leaves a numeric column unchanged unless its shaped values predict the class better than its own values do,
    and better than the shares of the classes, by two standard errors more than chance does. It compares the log losses
    of logistic regressions on this column alone, before and after shaping, on the held-out rows of K folds (5 without
    `--cross-fit`). Their values are standardised, missing ones replaced by the mean, and the penalty is scikit-learn's
    default. (Section 5 asks for such automated policies.)
    """

    name = "shape"
    group = "Shape values"
    fills_missing = True  # a missing value has a probability, too
    curve_name = "p(v)"

    method: str | None = option(
        None, "What a value becomes; by default lp, with --center logodds.", choices=("lp", "logodds", "isotonic")
    )
    neighbors: int | str = option(
        15, "Rows of the window on each side of a value, or a share of all rows such as 5%.", minimum=0
    )
    prior: str = option(
        "laplace",
        "Value that estimates from few rows shrink to: 1/2, or the share of positives.",
        choices=("laplace", "class"),
    )
    strength: float = option(2.0, "How many rows the prior counts as.", minimum=1e-9, maximum=1e9)
    center: bool = option(False, "Subtract the log odds of the prior.")
    weight: float = option(1.0, "Multiply shaped values by this.", minimum=1e-9, maximum=1e9)
    beside: bool = option(False, "Keep each column, and put the shaped one after it.")
    zero: bool | None = option(None, "Whether zero is special; by default it is for sparse input.")
    cross_fit: int | None = option(None, "Number of folds for cross-fitting training rows; by default none.", minimum=2)
    auto: bool = option(False, "Leave columns unchanged unless shaping makes them predict better.")
    seed: int = option(0, "Seed for drawing the folds.", minimum=0)

    def __post_init__(self) -> None:
        if isinstance(self.neighbors, str):
            parse_neighbor_count(self.neighbors, 0)  # refuses what is no share
        self._log_odds = self.method == "logodds" or (self.method is None and self.center)
        if self._log_odds:
            self.curve_name = "T(p(v))"

    def curve(self, values: Floats, columns: Ints, state: State) -> Floats:
        column, task = (each[columns] for each in self._find_source_columns_and_tasks(state))
        images = shape_values(values, column, task, state, self._log_odds) + state["base"][column, task]
        return np.where(task < 0, np.nan, images)

    def describe_columns(self, schema: Schema, state: State) -> State:
        """Return the points of each column's curve, and what a missing value becomes.

        ``value`` has the values or labels of the points, ``becomes`` what these become, and ``missing`` what a missing
        value becomes. If there are curves for several classes, the last two keys end in the class: ``becomes for a``.
        """
        knots, target, n_tasks = state["knots"], schema.class_attribute, state["unseen"].shape[1]
        column = np.repeat(np.arange(len(knots)), knots.lengths)
        points: list[list[Any]] = [each.tolist() for each in np.split(knots.values, knots.indptr[1:-1])]
        for number in np.flatnonzero(schema.nominal).tolist():
            points[number] = [schema.features[number].values[int(code)] for code in points[number]]
        found: State = {"value": points}
        classes = target.values if target is not None and len(target.values) == n_tasks else range(1, n_tasks + 1)
        for task, name in enumerate(classes):
            images = shape_values(knots.values, column, task, state, self._log_odds) * self.weight
            of = f" for {name}" if n_tasks > 1 else ""
            found[f"becomes{of}"] = Ragged(knots.indptr, images)
            found[f"missing{of}"] = state["missing"][:, task] * self.weight
        return found

    def folds(self) -> int:
        return self.cross_fit or (5 if self.auto else 0)

    def cross_fits(self) -> bool:
        return self.cross_fit is not None

    def output(self, schema: Schema) -> Schema:
        return schema if self.zero is None else schema.replace(zero=self.zero)

    def working_bytes(self, statistic: Statistic) -> int:
        # The table of the shaped values is larger, because each column becomes several.
        several = len(statistic.totals) if self._makes_column_per_class(statistic.schema) else 0
        return super().working_bytes(statistic) + statistic.nbytes * (several + self.beside)

    def fit_columns(self, table: ContingencyTable) -> State:
        table.schema.need_columns(self.name)
        special = self.output(table.schema).zero
        cells = table if special else table.with_zeros()
        tasks = table.tasks()
        smoothing = make_smoothing(table, tasks, self.neighbors, self.prior, self.strength)
        share = estimate_positive_shares(table.totals[None], tasks, smoothing)[0]
        estimates = estimate_local_probabilities(cells, tasks, smoothing)
        nominal = cells.nominal[cells.column_of_cell]
        if self.method == "isotonic":
            estimates = np.where(nominal[:, None], estimates, fit_monotone_curves(cells, tasks))
        missing = estimate_positive_shares(table.missing, tasks, smoothing)
        missing[sum_over_classes(table.missing) == 0] = share
        base = np.tile(self.center * smoothing.prior_positives / smoothing.prior_rows, (len(table), 1))
        if special:
            base = estimate_probabilities_at_zero(cells, tasks, smoothing, estimates, share)
        # From here on T(p) in place of p, except for estimates that are interpolated first.
        if self._log_odds:
            share, missing = compute_log_odds(share), compute_log_odds(missing)
            base = compute_log_odds(base) if special or self.center else base
        empty = (np.diff(cells.indptr) == 0) & ~(special & (sum_over_classes(table.zeros) > 0))
        missing[empty] = base[empty] = 0.0
        images = estimates if self._log_odds else estimates - base[cells.column_of_cell]
        kept = np.flatnonzero(flag_knots(images, cells.indptr) | nominal)
        indptr = np.searchsorted(kept, cells.indptr)
        return {
            "unchanged": np.zeros(len(table), bool),
            "knots": Ragged(indptr, cells.values[kept]),
            "images": Ragged(indptr * len(tasks), images[kept].ravel()),  # of each knot, one for each task
            "base": base,  # what is subtracted: T(p(0)) where zero is special, and that of the prior if centered
            "missing": missing - base,
            "unseen": np.where(table.nominal[:, None] & ~empty[:, None], share - base, 0.0),
            "nominal": table.nominal,
            "special": np.full(len(table), special),
        }

    def finish(self, schema: Schema, state: State, totals: Floats) -> FittedColumns:
        """Return the fitted stage, see `ColumnStage.finish`; warn if no training row has a known class."""
        if not totals.any() and not state["unchanged"].all():
            warn_nothing_learned(
                self.name, "no training row has a known class, so all values become 0; add some that have"
            )
        return super().finish(schema, state, totals)

    def compares_folds(self) -> bool:
        return self.auto

    def choose_columns(self, folds: list[Fold]) -> State:
        better = flag_columns_to_shape(folds, self._log_odds)
        return {"unchanged": folds[0].state["unchanged"] | ~(better | folds[0].training.nominal)}

    def output_columns(self, schema: Schema, state: State, totals: Floats) -> Ints | None:
        if state["unseen"].shape[1] and not self._makes_column_per_class(schema) and not self.beside:
            return None
        return self._find_source_columns_and_tasks(state)[0]

    def output_attributes(self, schema: Schema, state: State, columns: Ints, totals: Floats) -> Attributes:
        target, attributes = schema.class_attribute, Attributes.of(schema.features)
        if not self._makes_column_per_class(schema) and not self.beside:
            return attributes.as_numeric(~state["unchanged"][columns])
        assert target is not None
        suffixes = Texts.of(["", *(f"@{target.values[code]}" for code in schema.positive_classes(totals))])
        task = self._find_source_columns_and_tasks(state)[1]
        names = Texts.join_elements((attributes.names, columns), (suffixes, (task + 1).astype(np.int32)))
        return attributes.take(columns, names).as_numeric(task >= 0)

    def output_nominal(self, schema: Schema, state: State) -> np.ndarray:
        return np.asarray(schema.nominal & state["unchanged"])

    def _makes_column_per_class(self, schema: Schema) -> bool:
        target = schema.class_attribute
        return schema.positive is None and target is not None and len(target.values) > 2

    def apply(self, values: Floats, columns: Ints, state: State) -> Floats:
        tasks = state["unseen"].shape[1]
        if not self.beside and not state["unchanged"].any():
            column, task = (columns, 0) if tasks == 1 else np.divmod(columns, tasks)
            return shape_values(values, column, task, state, self._log_odds) * self.weight
        column, task = (each[columns] for each in self._find_source_columns_and_tasks(state))
        image, shaped = values.copy(), np.flatnonzero(task >= 0)
        images = shape_values(values[shaped], column[shaped], task[shaped], state, self._log_odds)
        image[shaped] = images * self.weight
        return image

    def _find_source_columns_and_tasks(self, state: State) -> tuple[Ints, Ints]:
        """Return the incoming column and the task of each outgoing column, int64 (outgoing columns,) each.

        The task is the index of the positive class of the curve; -1 if the column stays as it is.
        """
        unchanged = state["unchanged"]
        counts = np.where(unchanged, 1, state["unseen"].shape[1] + self.beside)
        column = np.repeat(np.arange(len(unchanged)), counts)
        return column, expand_ranges(np.where(unchanged | self.beside, -1, 0), counts)
