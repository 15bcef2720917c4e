"""How well a chain that ends in a learner predicts the rows of ``--test``, counted while they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from filterkit.chains.rows import PiecesFunction, Rows
from filterkit.data.batch import Batch
from filterkit.engines.done import Done
from filterkit.messages import say
from filterkit.stages.learner import FittedLearner

if TYPE_CHECKING:
    from filterkit.evaluation.confusion import PredictionCounts

T = TypeVar("T")


class MeasuredRows:
    """Rows that come out of a learner, which counts how many are predicted as what while they are mapped over.

    Only counts are held, so memory does not grow with the number of rows; ``evaluate --test`` has all measures.

    Parameters
    ----------
    rows : the rows.
    learner : the last of the stages that they pass, which is an attribute, too.
    """

    def __init__(self, rows: Rows, learner: FittedLearner) -> None:
        self._rows, self.learner = rows, learner
        self._counts: dict[str, PredictionCounts] = {}

    def map(self, function: Callable[[Batch], T], last: bool = False) -> Iterator[T]:
        """See `Rows.map`."""
        from filterkit.evaluation.confusion import add_confusion

        self._counts = {}
        for result, found in self._rows.map(partial(_both, function, self.learner), last):
            add_confusion(self._counts, found)
            yield result

    def map_pieces(self, function: PiecesFunction[T], done: Done) -> Iterator[T]:
        """See `Rows.map_pieces`; nothing must be done, because all rows are counted."""
        assert not done
        from filterkit.evaluation.confusion import add_confusion

        self._counts = {}
        for both in self._rows.map_pieces(partial(_both_of_pieces, function, self.learner), done):
            for found in both[1]:
                add_confusion(self._counts, found)
            yield both[0]

    def all_read(self) -> bool:
        """See `Rows.all_read`."""
        return self._rows.all_read()

    def print_counts(self, name: str) -> None:
        """Print the counts on standard error, with the rates of each class unless there are very many.

        `name` is that of the input.
        """
        from filterkit.cli.results import MOST_SHOWN, confusion_table

        for target, counts in self._counts.items():
            whole = sum(counts.weights.values())
            right = sum(weight for (true, said), weight in counts.weights.items() if true == said)
            of = f" of '{target}'" if target else ""
            say(f"filterkit: {name}: {right / whole:.3f} of the predictions{of} are right ({right:g} of {whole:g})")
            if len(counts.names) <= MOST_SHOWN:
                for line in confusion_table(target or "class", counts):
                    say(line)


def measure_rows(rows: Rows) -> MeasuredRows | None:
    """Rows that count how they are predicted; None if the last stage that they pass is no learner."""
    last = rows.stages[-1] if rows.stages else None
    return MeasuredRows(rows, last) if isinstance(last, FittedLearner) else None


def _both(function: Callable[[Batch], T], learner: FittedLearner, batch: Batch) -> tuple[T, list[Any]]:
    """``function`` of a batch that comes out of a learner, and the confusion in it."""
    from filterkit.evaluation.confusion import list_confusion

    return function(batch), list_confusion(learner, learner.read_outcome(batch), batch.schema)


def _both_of_pieces(
    function: PiecesFunction[T], learner: FittedLearner, pieces: Iterator[Batch]
) -> tuple[T, list[list[Any]]]:
    """``function`` of pieces that come out of a learner, and the confusion in each."""
    from filterkit.evaluation.confusion import list_confusion

    found: list[list[Any]] = []

    def noted() -> Iterator[Batch]:
        for piece in pieces:
            found.append(list_confusion(learner, learner.read_outcome(piece), piece.schema))
            yield piece

    return function(noted()), found
