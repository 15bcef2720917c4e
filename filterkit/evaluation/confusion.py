"""Confusion matrices: the weight of the rows of each class that were predicted as each class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from filterkit.data.schema import Schema
from filterkit.evaluation.measures import compute_confusion_matrices
from filterkit.stages.learner import REST, FittedLearner
from filterkit.stages.models import Outcome


def list_confusion_matrices(learner: FittedLearner, outcome: Outcome, schema: Schema) -> list[Any]:
    """Count how rows were predicted; return a list for the class, or one for each label or target.

    Each list is [name, values, cells]. The name is "" for the class. A class of two values has both as values. Others
    have all values of the class, only the positive one if there is one, or those of the label or target; and a last
    value that stands for the rest. A cell is [true, predicted, weight]: two indices of values, and the weight of these
    rows; cells of no rows are left out. The result is [] without rows. `learner` has predicted the rows of `schema`,
    and `outcome` has its predictions, which are not numbers, and the truth.
    """
    found: list[Any] = []
    tasks, target = learner.tasks, schema.class_attribute
    if not len(outcome.truth):
        return found
    ends = tasks.group_bounds
    for first, stop, matrix in zip(ends, ends[1:], compute_confusion_matrices(outcome), strict=False):
        group, names = "", tasks.names[first:stop]
        known = names if target is None or len(names) == 1 else target.values
        other = next(name for name in (REST, "other", f"({REST})") if name not in known)
        values = [*known, other]  # of a class all values of the header, whatever the training rows of this fold have
        if target is None:
            group = schema.label_attributes[schema.label_values.labels[tasks.codes[first]]].name
        elif len(target.values) == 2:
            values, other = [*target.values], target.values[1 - tasks.codes[first]]
        number = [values.index(name) for name in (*names, other)]
        cells = sorted([number[i], number[j], float(matrix[i, j])] for i, j in np.argwhere(matrix).tolist())
        found.append([group, values, cells])
    return found


@dataclass
class PredictionCounts:
    """Counts how the rows of each value of the class, of a label or of a target were predicted.

    Attributes
    ----------
    values : the values of all cells that were added, see `list_confusion_matrices`, in the order of their first
        appearance.
    weights : the weight of the rows by pair of the true and the predicted value, both texts; only pairs that occur.
    """

    values: list[str] = field(default_factory=list)
    weights: dict[tuple[str, str], float] = field(default_factory=dict)

    def add_cells(self, values: list[str], cells: list[list[Any]]) -> None:
        """Add further cells: the indices of the true and the predicted value in `values`, and the weight of rows."""
        self.values = list(dict.fromkeys([*self.values, *values]))
        for true, predicted, weight in cells:
            pair = (values[true], values[predicted])
            self.weights[pair] = self.weights.get(pair, 0.0) + weight

    @property
    def true_or_predicted_values(self) -> list[str]:
        """The values that a row has or was predicted to have, in the order of `values`."""
        occurring = {value for pair in self.weights for value in pair}
        return [value for value in self.values if value in occurring]

    @property
    def confusion_cells(self) -> list[tuple[int, int, float]]:
        """Each pair of a true and a predicted value, as indices in `true_or_predicted_values`, and its weight."""
        index = {value: number for number, value in enumerate(self.true_or_predicted_values)}
        return [(index[true], index[predicted], weight) for (true, predicted), weight in self.weights.items()]

    @property
    def confusion_matrix(self) -> np.ndarray:
        """The weights, float64 (true values, predicted values), in the order of `true_or_predicted_values`."""
        found = np.zeros((len(self.true_or_predicted_values),) * 2)
        for true, predicted, weight in self.confusion_cells:
            found[true, predicted] = weight
        return found
