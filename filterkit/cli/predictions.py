"""Predictions with the truth beside them, as tables of their own (``--predictions`` and ``--errors``)."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np

from filterkit.cli.measured import MeasuredRows
from filterkit.data.batch import Batch, itself
from filterkit.data.schema import Attribute, Schema
from filterkit.errors import visible
from filterkit.files.output import open_output
from filterkit.stages.learner import FittedLearner

T = TypeVar("T")
MARK = "+"  # of an error, as in Weka


class PredictedRows:
    """Rows that come out of a learner, as tables of their numbers from 1, true and predicted values, errors and scores.

    An error is a mark or, of numbers, what the predicted one is above the true one.

    Parameters
    ----------
    rows : the rows, whose batches say their numbers.
    errors_only : whether rows that are predicted rightly, or whose truth is not known, are left out.

    Attributes
    ----------
    schema : of the tables.
    """

    def __init__(self, rows: MeasuredRows, errors_only: bool) -> None:
        self._rows, self._errors_only = rows, errors_only
        learner = rows.learner
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
        self.schema = Schema("predictions", [Attribute("row"), *pairs, *errors, *learner.added[len(truths) :]])

    def map(self, function: Callable[[Batch], T], last: bool = False) -> Iterator[T]:
        """Implement `Rows.map`."""
        return self._rows.map(
            partial(_on_predictions, function, self.schema, self._rows.learner, self._errors_only), last
        )

    def all_read(self) -> bool:
        """Implement `Rows.all_read`."""
        return False  # as many rows as are written


def _on_predictions(
    function: Callable[[Batch], T], schema: Schema, learner: FittedLearner, errors_only: bool, batch: Batch
) -> T:
    """Apply a function to the predictions of a batch."""
    codes, scores = learner.read_predictions(batch)
    assert batch.y is not None
    truth = batch.y.reshape(codes.shape).astype(np.float64)
    if learner.tasks.is_numeric:
        errors = codes - truth
        wrong = (np.nan_to_num(errors) != 0).any(axis=1)
    else:
        truth[truth < 0] = np.nan
        differs = (truth == learner.tasks.codes[0]) != (codes == 1) if learner.predicts_rest else codes != truth
        wrong = differs.any(axis=1) & batch.class_known
        errors = np.where(wrong, 0.0, np.nan)[:, None]
    pairs = np.stack([truth, codes], axis=2).reshape(len(batch), 2 * codes.shape[1])
    number = np.arange(batch.start + 1, batch.start + len(batch) + 1)[:, None]
    table = np.hstack([number, pairs, errors, scores])
    return function(Batch(schema, table[wrong] if errors_only else table))


def print_predictions(rows: PredictedRows, onward: bool) -> int:
    """Print the rows as text in columns of fixed widths, and return how many there are.

    `onward` is as for `open_output`.
    """
    attributes, count = rows.schema.attributes, 0
    texts = [[a.name, *a.values, "" if a.name == "error" else "?"] for a in attributes]
    widths = [max(9, *(len(visible(each)) for each in some)) for some in texts]
    forms = [f"%{width}.{'0f' if a.name == 'row' else '5g'}" for a, width in zip(attributes, widths)]
    padded = [[f"{visible(each):>{width}}" for each in some] for some, width in zip(texts, widths)]
    with open_output("-", onward) as out:
        write = codecs.getwriter(sys.stdout.encoding)(out, "backslashreplace").write
        write("  ".join(some[0] for some in padded) + "\n")
        for batch in rows.map(itself, last=True):
            columns = [
                np.array(some[1:], object)[np.nan_to_num(values, nan=-1).astype(np.int64)]
                if attribute.values
                else np.where(np.isnan(values), some[-1], np.char.mod(form, values))
                for values, attribute, some, form in zip(batch.X.T, attributes, padded, forms)
            ]
            write("".join(f"{'  '.join(row).rstrip()}\n" for row in zip(*columns)))
            count += len(batch)
    return count
