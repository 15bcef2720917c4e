"""How well a chain that ends in a learner predicts the rows of ``--test``, counted while they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from filterkit.chains.rows import PiecesFunction, Rows
from filterkit.data.batch import Batch
from filterkit.engines.engine import Done
from filterkit.messages import say
from filterkit.stages.learner import FittedLearner

if TYPE_CHECKING:
    from filterkit.evaluation.confusion import PredictionCounts

T = TypeVar("T")


class MeasuredRows:
    """Rows that come out of a learner, which counts how many are predicted as what while they are mapped over.

    Only counts, or sums of errors, are held, so memory does not grow with the number of rows; ``evaluate --test`` has
    all measures.

    Parameters
    ----------
    rows : the rows, which can be mapped over once.
    learner : the last of the stages that they pass, which is an attribute, too.
    """

    def __init__(self, rows: Rows, learner: FittedLearner) -> None:
        self._rows, self.learner = rows, learner
        self._counts: dict[str, PredictionCounts] = {}
        self._errors: np.ndarray | None = None  # of predicted numbers, as `sum_errors` gives them

    def map(self, function: Callable[[Batch], T], last: bool = False) -> Iterator[T]:
        """Implement `Rows.map`."""
        for result, found in self._rows.map(partial(_apply_and_measure, function, self.learner), last):
            self._add(found)
            yield result

    def map_pieces(self, function: PiecesFunction[T], done: Done) -> Iterator[T]:
        """Implement `Rows.map_pieces`; nothing must be done, because all rows are counted."""
        assert not done
        for both in self._rows.map_pieces(partial(_apply_and_measure_pieces, function, self.learner), done):
            for found in both[1]:
                self._add(found)
            yield both[0]

    def _add(self, found: Any) -> None:
        """Add what `_measure` has found."""
        from filterkit.evaluation.confusion import PredictionCounts

        if isinstance(found, list):
            for name, values, cells in found:
                self._counts.setdefault(name, PredictionCounts()).add(values, cells)
        else:
            self._errors = found if self._errors is None else self._errors + found

    def print_counts(self, name: str) -> None:
        """Print the counts on standard error, with the rates of each class unless there are very many.

        `name` is that of the input.
        """
        from filterkit.cli.subcommands.results import MOST_SHOWN, format_confusion, format_errors

        if self._errors is not None:
            say(f"filterkit: {name}: errors of the predictions of {self._errors[0, 0]:g} rows")
            for line in format_errors(self.learner.tasks.names, self._errors):
                say(line)
        for target, counts in self._counts.items():
            whole = sum(counts.weights.values())
            right = sum(weight for (true, predicted), weight in counts.weights.items() if true == predicted)
            of = f" of '{target}'" if target else ""
            say(f"filterkit: {name}: {right / whole:.3f} of the predictions{of} are right ({right:g} of {whole:g})")
            if len(counts.occurring_values) <= MOST_SHOWN:
                for line in format_confusion(target or "class", counts):
                    say(line)


def measure_rows(rows: Rows) -> MeasuredRows | None:
    """Return rows that count how they are predicted; None if the last stage that they pass is not a learner."""
    last = rows.stages[-1] if rows.stages else None
    return MeasuredRows(rows, last) if isinstance(last, FittedLearner) else None


def _measure(learner: FittedLearner, batch: Batch) -> list[Any] | np.ndarray:
    """Return the confusion in a batch that comes out of a learner or, of numbers, the sums of errors; [] without
    rows."""
    from filterkit.evaluation.confusion import list_confusion_matrices
    from filterkit.evaluation.regression import sum_errors

    outcome = learner.read_outcome(batch)
    if outcome.is_numeric and len(outcome.truth):
        return sum_errors(outcome)
    return list_confusion_matrices(learner, outcome, batch.schema)


def _apply_and_measure(function: Callable[[Batch], T], learner: FittedLearner, batch: Batch) -> tuple[T, Any]:
    """Apply a function to a batch that comes out of a learner, and `_measure` the batch."""
    return function(batch), _measure(learner, batch)


def _apply_and_measure_pieces(
    function: PiecesFunction[T], learner: FittedLearner, pieces: Iterator[Batch]
) -> tuple[T, list[Any]]:
    """Apply a function to pieces that come out of a learner, and `_measure` each."""
    found: list[Any] = []

    def noted() -> Iterator[Batch]:
        for piece in pieces:
            found.append(_measure(learner, piece))
            yield piece

    return function(noted()), found
