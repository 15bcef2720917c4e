"""Metric: a score of how well a feature separates classes, computed from counts alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from filterkit.data.contract import check_returned_numbers, check_signature, make_contract_error
from filterkit.errors import FilterkitError, to_one_line

if TYPE_CHECKING:
    from filterkit.counts.table import ContingencyTable

Score = Callable[["np.ndarray", "np.ndarray", float, float], "np.ndarray"]


class ClassSums(NamedTuple):
    """The form of a metric for many classes as a sum over the classes, which takes less time than `Metric.classes`.

    Attributes
    ----------
    term : a pure function of ``counts, totals``, float64 (n,) each: the weight of the rows of one class in which a
        feature is present, and of all rows of the class, which is greater than 0. Returns float64 (n,).
    score : a pure function of ``sums, rows, totals``. `sums` are float64 (n,), the sums of `term` over all classes that
        have rows. `rows` are float64 (n,), the weights of the rows of any class in which each of n features is present.
        `totals` are float64 (classes,), the weights of all rows of each of these classes. Returns float64 (n,), the
        same as `Metric.classes` but for rounding.
    """

    term: Callable[[np.ndarray, np.ndarray], np.ndarray]
    score: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Metric:
    """A named score; the larger it is, the better the feature.

    A plugin offers metrics through the hook ``filterkit_metrics``. Each becomes a stage that scales by it, a value of
    ``select --by``, and a column of ``filterkit scores``.

    Attributes
    ----------
    name : one short word in lower case.
    score : a pure function of ``tp, fp, pos, neg``. `tp` and `fp` are float64 (n,), the weights of the positive and of
        the negative rows in which each of n features is present. `pos` and `neg` are the weights of all positive and
        all negative rows, both greater than 0. Returns float64 (n,), finite. Its docstring becomes the help of the
        stage.
    classes : for a metric with a form of its own for more than two classes, a pure function of ``counts, totals``.
        `counts` are float64 (n, classes), the weights of the rows of each class in which each feature is present.
        `totals` are float64 (classes,), the weights of all rows of each class, greater than 0. Returns float64 (n,),
        finite.
    needs_class : False if the score does not depend on the class. `score` is then called with all rows as positive
        ones, and with `fp` and `neg` 0.
    by_column : for a metric that does not look at data, a pure function of int64 (n,) column numbers and the seed,
        which is called instead of `score`. Returns float64 (n,), finite.
    class_sums : for a metric with `classes`, the same as a sum over the classes, if it is one. It saves time and memory
        where there are many classes.
    best_at_ends : a promise that saves time where there are many classes. It says that for given `tp`, `pos` and `neg`,
        no score inside a range of `fp` is larger than the larger one at the ends of the range. Only scores at `fp` = 0
        and `fp` = `neg` may break it. Leave it False if you are not sure; each threshold of a column is then scored
        for each class that has rows above it.
    bound : for a slow `score`, a pure function of ``tp_low, tp_high, fp_low, fp_high, pos, neg`` that saves time where
        a column has many thresholds. The first four are float64 (n,). It returns float64 (n,), no less than `score` is
        for any `tp` and `fp` in these ranges, ends included, and infinity where it has no bound. Leave room for what
        rounding adds to `score`.
    by_table : for a metric that looks at a column as a whole and not at its best threshold, a pure function of a
        `ContingencyTable`, which is called instead of `score`. Returns float64 (columns of the table,), finite; a
        score depends on no other column. Its docstring becomes the help of the stage. `score` is then the form of the
        metric for a feature that a row has or lacks, and only finds the threshold that ``filterkit scores`` shows.
    by_labels : for a metric that scores a nominal column by all its labels at once, and not by its best one, the same
        as `by_table` for a table of nominal columns alone. `score` then finds the label that ``filterkit scores``
        shows, and scores labels one by one where ``--alpha`` is given.
    slow : whether scoring takes longer than counting. Where there are very many thresholds, ``filterkit explore`` then
        leaves it out unless it is asked for.
    leads : whether ``filterkit explore`` shows it before other metrics unless it is told by which to rank.
    numeric_class : whether `by_table` also scores columns by a numeric class, as a table counts it; see
        `ContingencyTable.class_sums`.
    """

    name: str
    score: Score
    classes: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    needs_class: bool = True
    by_column: Callable[[np.ndarray, int], np.ndarray] | None = None
    class_sums: ClassSums | None = None
    best_at_ends: bool = False
    bound: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float, float], np.ndarray] | None = None
    by_table: Callable[[ContingencyTable], np.ndarray] | None = None
    by_labels: Callable[[ContingencyTable], np.ndarray] | None = None
    leads: bool = False
    slow: bool = False
    numeric_class: bool = False

    def __post_init__(self) -> None:
        """Raise PluginError, which says how to declare it, if a function of the metric does not take its arguments."""
        arguments = {
            "score": "tp, fp, pos, neg",
            "classes": "counts, totals",
            "bound": "tp_low, tp_high, fp_low, fp_high, pos, neg",
            "by_column": "columns, seed",
            "by_table": "table",
            "by_labels": "table",
            "term of class_sums": "counts, totals",
            "score of class_sums": "sums, rows, totals",
        }
        for what, names in arguments.items():
            field, _, owner = what.partition(" of ")  # a field of the metric, or of its `class_sums`
            function = getattr(getattr(self, owner) if owner else self, field, None)
            if callable(function):
                check_signature(f"the metric {self.name}: {what}", function, names)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function of the metric with `arguments`, and return what it returns, unchecked.

        A `FilterkitError` or `MemoryError` of the function is passed on. Raise PluginError for any other `Exception`.
        """
        try:
            return function(*arguments)
        except (FilterkitError, MemoryError):
            raise
        except Exception as error:
            fault = f"the metric fails with {type(error).__name__}: {to_one_line(error)}"
            raise make_contract_error(self, fault, error) from error

    def compute(self, field: str, shape: tuple[int, ...], *arguments: Any) -> np.ndarray:
        """Call a function of the metric as `call` does, and return its result, float64 of `shape`.

        `field` is the name of the attribute that is the function; for ``class_sums``, its `score` is called. Raise
        PluginError if the function fails, or returns something else.
        """
        function = getattr(self, field)
        found = self.call(function.score if field == "class_sums" else function, *arguments)
        return check_returned_numbers(
            found, shape, "the metric" if field == "score" else f"{field} of the metric", self
        )

    @property
    def compares_class_with_rest(self) -> bool:
        """Whether the metric needs the class and has no `by_table`, so that it scores each class against the rest."""
        return self.needs_class and self.by_table is None

    compares_classes = compares_class_with_rest  # its name in older plugins

    def help(self) -> str:
        """Return the docstring of `by_table` if there is one, else of `score`; "" if it has none."""
        return inspect.getdoc(self.by_table or self.score) or ""

    def summary(self) -> str:
        """Return the first line of `help`; `name` if there is no help."""
        return self.help().partition("\n")[0] or self.name
