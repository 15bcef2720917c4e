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
from filterkit.formats.output import Mapping
from filterkit.stages.learner import FittedLearner

T = TypeVar("T")
MARK = "+"  # of an error, as in Weka


def make_predictions_schema(learner: FittedLearner) -> Schema:
    """Make the schema of a table of predictions: row numbers from 1, true and predicted values, errors and scores.

    An error is a mark or, of numbers, what the predicted one is above the true one.
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


def map_predictions(
    rows: MeasuredRows, schema: Schema, errors_only: bool, function: Callable[[Batch], T]
) -> Iterator[T]:
    """Yield what a function makes of each table of predictions.

    Parameters
    ----------
    rows : the rows, whose batches say their numbers.
    schema : of the tables.
    errors_only : whether rows that are predicted rightly, or whose truth is not known, are left out.
    function : is called in the engine with a table, as a batch.
    """
    return rows.map(partial(_call_on_predictions, function, schema, rows.learner, errors_only), last=True)


def _call_on_predictions(
    function: Callable[[Batch], T], schema: Schema, learner: FittedLearner, errors_only: bool, batch: Batch
) -> T:
    """Call a function with the table of predictions of a batch, see `map_predictions`."""
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


def print_predictions(schema: Schema, rows: Mapping, onward: bool) -> int:
    """Print a table of predictions as text in columns of fixed widths, and return how many rows there are.

    Parameters
    ----------
    schema : of the table.
    rows : maps a function over its batches.
    onward : as for `open_output`.
    """
    attributes, count = schema.attributes, 0
    texts = [[a.name, *a.values, "" if a.name == "error" else "?"] for a in attributes]
    widths = [max(9, *(len(visible(each)) for each in some)) for some in texts]
    forms = [f"%{width}.{'0f' if a.name == 'row' else '5g'}" for a, width in zip(attributes, widths)]
    padded = [[f"{visible(each):>{width}}" for each in some] for some, width in zip(texts, widths)]
    with open_output("-", onward) as out:
        write = codecs.getwriter(sys.stdout.encoding)(out, "backslashreplace").write
        write("  ".join(some[0] for some in padded) + "\n")
        for batch in rows(itself):
            columns = [
                np.array(some[1:], object)[np.nan_to_num(values, nan=-1).astype(np.int64)]
                if attribute.values
                else np.where(np.isnan(values), some[-1], np.char.mod(form, values))
                for values, attribute, some, form in zip(batch.X.T, attributes, padded, forms)
            ]
            write("".join(f"{'  '.join(row).rstrip()}\n" for row in zip(*columns)))
            count += len(batch)
    return count
