"""What fitted estimators have learned, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from filterkit.plugin import LearnedTable, make_learned_table, quoted, visible

_MEMBERS = ("estimators_", "calibrated_classifiers_", "estimator_", "estimator", "best_estimator_", "final_estimator_")


def describe_estimator(
    estimator: Any, names: Sequence[str], classes: Sequence[str], top: int | None, of: str = ""
) -> Iterator[LearnedTable]:
    """Describe a fitted estimator by scikit-learn's names: arrays with a number for each feature, and for each class.

    A tree is described as text. Of an ensemble whose members have weights, or that has no such arrays, the members are
    described.

    Parameters
    ----------
    estimator : the estimator.
    names, classes : the names of the features, and of the classes by their numbers.
    top : the number of rows of a table, and of members; None for all.
    of : what the tables are of, "" if there is only one estimator; the beginning of their titles.
    """
    count, single, by_feature = len(classes), {}, {}
    is_tree = hasattr(estimator, "tree_")
    for key in dict.fromkeys([*vars(estimator), "coef_", *([] if is_tree else ["feature_importances_"])]):
        value: Any = getattr(estimator, key, None) if key.endswith("_") and not key.startswith("_") else None
        value = value.toarray() if hasattr(value, "toarray") else value
        if isinstance(value, np.ndarray) and value.dtype.kind in "fi" and value.shape[-1:] == (len(names),):
            by_feature[key] = value
        elif isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.shape in ((count,), (1,)):
            single[key] = value
    for size in (1, count):
        columns = {key: value for key, value in single.items() if len(value) == size}
        if columns:
            yield make_learned_table(of, classes[-size:], columns, top, of="class")
    for key, value in by_feature.items():
        rows = value.reshape(-1, len(names))
        for number, row in enumerate(rows[:top]):
            of_class = len(rows) in (1, count) and count
            whose = f"for {quoted(classes[number - len(rows)])}" if of_class else f"{number + 1} of {len(rows)}"
            title = f"{of} {whose}".strip() if value.ndim > 1 else of
            yield make_learned_table(title, names, {key: row}, top, ranked=True)
    if is_tree:
        from sklearn.tree import export_text

        known = getattr(estimator, "classes_", None)  # a list of arrays, if there are several labels
        known = [classes[int(code)] for code in known] if isinstance(known, np.ndarray) else None
        text = export_text(estimator, feature_names=list(map(visible, names)), class_names=known, max_depth=100)
        yield make_learned_table(of, text.splitlines(), {}, top, of="tree")
    members: Any = next((found for key in _MEMBERS if (found := getattr(estimator, key, None)) is not None), [])
    members = np.ravel(np.asarray(members, object))
    weights = getattr(estimator, "estimator_weights_", None)
    if by_feature and weights is None:
        return
    for number, member in enumerate(members[:top], 1):
        weight = "" if weights is None else f" of weight {weights[number - 1]:.4g}"
        yield from describe_estimator(member, names, classes, top, f"{of} member {number}{weight}".strip())
