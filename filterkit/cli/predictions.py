"""Predictions of rows: how many are right, counted while they are written, and tables of them (``--predictions``)."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import numpy as np

from filterkit.chains.rows import PiecesFunction, Rows
from filterkit.data.batch import Batch, itself
from filterkit.data.schema import Attribute, Schema
from filterkit.engines.engine import Done
from filterkit.errors import visible
from filterkit.evaluation.confusion import PredictionCounts, list_confusion_matrices
from filterkit.evaluation.measures import sum_error_terms
from filterkit.files.output import open_output
from filterkit.formats.output import BatchMap
from filterkit.messages import write_message
from filterkit.stages.learner import FittedLearner

T = TypeVar("T")
MARK = "+"  # of an error, as in Weka


class PredictionCountingRows:
    """Rows with the predictions of a learner. Mapping over them counts their true and predicted classes.

    For numbers, the errors are summed instead. Memory does not grow with the number of rows.

    Parameters
    ----------
    rows : the transformed rows; they can be mapped over once.
    learner : the fitted learner, which is the last stage of the chain; also an attribute.

    Attributes
    ----------
    convert : a function of a batch, picklable. `map` calls it with each batch that has been counted, and passes on the
        batch that it returns. By default, that is the batch itself.
    """

    def __init__(self, rows: Rows, learner: FittedLearner) -> None:
        self._rows, self.learner = rows, learner
        self.convert: Callable[[Batch], Batch] = itself
        self._counts: dict[str, PredictionCounts] = {}
        self._errors: Any = 0.0  # of predicted numbers, as `sum_error_terms` gives them

    def map(self, function: Callable[[Batch], T], last: bool = False) -> Iterator[T]:
        """Yield ``function(convert(batch))`` for every batch, and count its predictions.

        `last` is as for `Rows.map`.
        """
        return self._add_counts_and_yield_results(
            self._rows.map(partial(_call_and_count_outcomes, function, self.learner, self.convert), last)
        )

    def map_batches_in_pieces(self, function: PiecesFunction[T], done: Done) -> Iterator[T]:
        """Yield ``function(pieces)`` for every batch, as `Rows.map_batches_in_pieces` does, and count its predictions.

        `done` must be empty, because all rows are counted, and `convert` must not be set.
        """
        assert not done and self.convert is itself  # tables of predictions are made of whole batches
        return self._add_counts_and_yield_results(
            self._rows.map_batches_in_pieces(partial(_call_and_count_outcomes, function, self.learner, itself), done)
        )

    def _add_counts_and_yield_results(self, results: Iterator[tuple[T, list[Any]]]) -> Iterator[T]:
        """Yield the results, and add up the counts or sums of errors that come with each."""
        for result, counted in results:
            for found in counted:
                if isinstance(found, list):
                    for name, values, cells in found:
                        self._counts.setdefault(name, PredictionCounts()).add_cells(values, cells)
                else:
                    self._errors = self._errors + found
            yield result

    def print_prediction_counts(self, input_name: str) -> None:
        """Print on standard error how many predictions of each target are right or, of numbers, the errors.

        Call it when all rows have been mapped over. Print nothing if no row with a weight has a true value. Up to 20
        classes also get their rates and the confusion matrix. `input_name` is for the messages.
        """
        from filterkit.cli.subcommands.results import (
            MOST_SHOWN,
            compute_rates_by_class,
            tabulate_class_rates,
            tabulate_error_measures,
        )

        if np.any(self._errors):
            write_message(f"filterkit: {input_name}: errors of the predictions of {self._errors[0, 0]:g} rows")
            for line in tabulate_error_measures(self.learner.tasks.names, self._errors):
                write_message(line)
        for target, counts in self._counts.items():
            whole = sum(counts.weights.values())
            right = sum(weight for (true, predicted), weight in counts.weights.items() if true == predicted)
            what = f"the predictions of '{target}'" if target else "the predictions"
            write_message(f"filterkit: {input_name}: {right / whole:.3f} of {what} are right ({right:g} of {whole:g})")
            if len(counts.true_or_predicted_values) <= MOST_SHOWN:
                for line in tabulate_class_rates(target or "class", compute_rates_by_class(counts)):
                    write_message(line)


def _call_and_count_outcomes(
    function: Callable[[Any], T],
    learner: FittedLearner,
    convert: Callable[[Batch], Batch],
    rows: Batch | Iterator[Batch],
) -> tuple[T, list[Any]]:
    """Count the predictions in rows, call a function with the rows, and return its result and a list of counts.

    `rows` are a batch, which `convert` changes after it has been counted, or an iterator of pieces of a batch, which
    are passed on as they are. The list has an entry for each batch or piece that the function took: what
    `list_confusion_matrices` or, if a number is predicted, `sum_error_terms` returns.
    """
    found: list[Any] = []

    def count_and_return_batch(batch: Batch) -> Batch:
        outcome = learner.read_outcome_from_transformed(batch)
        numeric = outcome.is_numeric
        found.append(sum_error_terms(outcome) if numeric else list_confusion_matrices(learner, outcome, batch.schema))
        return batch

    return function(
        convert(count_and_return_batch(rows)) if isinstance(rows, Batch) else map(count_and_return_batch, rows)
    ), found


def make_predictions_schema(learner: FittedLearner) -> Schema:
    """Make the schema of predictions: the row number, from 1, the true and predicted values, the error, and the scores.

    The error is a mark: "+" if a predicted value is wrong, missing otherwise. Of a predicted number, it is the number
    minus the true one. Each of several targets has columns of its own, such as ``actual@size``, but they share one
    mark.
    """
    schema, several = learner.schema, len(learner.schema.targets) > 1
    truths = [schema.attributes[place] for place in schema.targets]
    pairs = [
        each._replace(name=f"{what}@{truth.name}" if several else what, weight=1.0)
        for truth, predicted in zip(truths, learner.added)
        for what, each in (("actual", truth), ("predicted", predicted))
    ]
    errors = [Attribute("error", "nominal", (MARK,))]
    if learner.tasks.is_numeric:
        errors = [Attribute(f"error@{truth.name}" if several else "error") for truth in truths]
    return Schema("predictions", [Attribute("row"), *pairs, *errors, *learner.added[len(truths) :]])


def make_predictions_batch(schema: Schema, learner: FittedLearner, errors_only: bool, batch: Batch) -> Batch:
    """Make a batch of predictions from a batch with the columns that a learner added.

    The `start` of the batch must be the number of its first row, from 0. `schema` is what `make_predictions_schema`
    returns. If `errors_only`, leave out rows that are predicted rightly, and those whose true class is missing.
    """
    codes, scores = learner.read_predictions_and_scores(batch)
    truth = np.array(batch.y, np.float64).reshape(codes.shape)
    if learner.tasks.is_numeric:
        errors = codes - truth
        wrong = (np.nan_to_num(errors) != 0).any(axis=1)
    else:
        truth[truth < 0] = np.nan
        differs = (truth == learner.tasks.codes[0]) != (codes == 1) if learner.predicts_rest else codes != truth
        wrong = differs.any(axis=1) & batch.class_known
        errors = np.where(wrong, 0.0, np.nan)[:, None]
    pairs = np.stack([truth, codes], axis=2).reshape(len(batch), 2 * codes.shape[1])
    number = batch.start + 1 + np.arange(len(batch))[:, None]
    table = np.hstack([number, pairs, errors, scores])
    return Batch(schema, table[wrong] if errors_only else table)


def print_predictions_and_count_rows(
    schema: Schema, rows: BatchMap, ignore_broken_pipe: bool, digits: int | None
) -> int:
    """Print predictions on standard output, in columns of fixed widths, and return the number of rows.

    `schema` is what `make_predictions_schema` returns, and `rows` maps a function over batches of this schema.
    `ignore_broken_pipe` is as for `open_output`. `digits` is the number of significant digits; None means 5.
    """
    digits, count = digits or 5, 0
    forms = []  # of each column its head, its values and a missing one, as texts, and how to print a number
    for a in schema.attributes:
        texts = list(map(visible, (a.name, *a.values, "" if a.name == "error" else "?")))
        width = max(digits + 4, *map(len, texts))
        forms.append(([f"{text:>{width}}" for text in texts], f"%{width}.{'0f' if a.name == 'row' else f'{digits}g'}"))
    with open_output("-", ignore_broken_pipe) as out:
        write = codecs.getwriter(sys.stdout.encoding)(out, "backslashreplace").write
        write("  ".join(texts[0] for texts, _ in forms) + "\n")
        for batch in rows(itself):
            columns = [
                np.array(texts[1:], object)[np.nan_to_num(values, nan=-1).astype(np.int64)]
                if a.values
                else np.where(np.isnan(values), texts[-1], np.char.mod(form, values))
                for values, a, (texts, form) in zip(batch.X.T, schema.attributes, forms)
            ]
            write("".join(f"{'  '.join(row).rstrip()}\n" for row in zip(*columns)))
            count += len(batch)
    return count
