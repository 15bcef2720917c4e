"""How well a chain that ends in a learner predicts the rows of ``--test``, counted while they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import numpy as np

from filterkit.chains.rows import PiecesFunction, Rows
from filterkit.data.batch import Batch
from filterkit.engines.engine import Done
from filterkit.evaluation.confusion import PredictionCounts, list_confusion_matrices
from filterkit.evaluation.regression import sum_errors
from filterkit.messages import say
from filterkit.stages.learner import FittedLearner

T = TypeVar("T")


class MeasuredRows:
    """Rows that come out of a learner. While they are mapped over, their true and predicted classes are counted.

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
        """Yield ``function(batch)`` for every batch, as `Rows.map` does, and count its predictions."""
        return self._collect_counts(self._rows.map(partial(_call_and_count, function, self.learner), last))

    def map_pieces(self, function: PiecesFunction[T], done: Done) -> Iterator[T]:
        """Yield ``function(pieces)`` for every batch, as `Rows.map_pieces` does, and count its predictions.

        No batch can be `done`, because all rows are counted.
        """
        assert not done
        return self._collect_counts(self._rows.map_pieces(partial(_call_and_count, function, self.learner), done))

    def _collect_counts(self, results: Iterator[tuple[T, list[Any]]]) -> Iterator[T]:
        """Yield the results, and add the counts or sums of errors that come with each."""
        for result, counted in results:
            for found in counted:
                if isinstance(found, list):
                    for name, values, cells in found:
                        self._counts.setdefault(name, PredictionCounts()).add(values, cells)
                else:
                    self._errors = found if self._errors is None else self._errors + found
            yield result

    def print_counts(self, name: str) -> None:
        """Print the counts on standard error, with the rates of each class unless there are very many.

        `name` is that of the input.
        """
        from filterkit.cli.subcommands.results import MOST_SHOWN, tabulate_confusion, tabulate_errors

        if self._errors is not None:
            say(f"filterkit: {name}: errors of the predictions of {self._errors[0, 0]:g} rows")
            for line in tabulate_errors(self.learner.tasks.names, self._errors):
                say(line)
        for target, counts in self._counts.items():
            whole = sum(counts.weights.values())
            right = sum(weight for (true, predicted), weight in counts.weights.items() if true == predicted)
            of = f" of '{target}'" if target else ""
            say(f"filterkit: {name}: {right / whole:.3f} of the predictions{of} are right ({right:g} of {whole:g})")
            if len(counts.true_or_predicted_values) <= MOST_SHOWN:
                for line in tabulate_confusion(target or "class", counts):
                    say(line)


def _count_outcomes(learner: FittedLearner, batch: Batch) -> list[Any] | np.ndarray:
    """Return the confusion in a batch that comes out of a learner or, of numbers, the sums of errors; [] without
    rows."""
    outcome = learner.read_outcome(batch)
    if outcome.is_numeric and len(outcome.truth):
        return sum_errors(outcome)
    return list_confusion_matrices(learner, outcome, batch.schema)


def _call_and_count(
    function: Callable[[Any], T], learner: FittedLearner, rows: Batch | Iterator[Batch]
) -> tuple[T, list[Any]]:
    """Call a function with a batch that comes out of a learner, or with its pieces; return the result and the counts.

    There is an entry of counts for each piece.
    """
    found: list[Any] = []

    def count(batch: Batch) -> Batch:
        found.append(_count_outcomes(learner, batch))
        return batch

    return function(count(rows) if isinstance(rows, Batch) else map(count, rows)), found
