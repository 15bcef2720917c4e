"""Describe what fitted estimators have learned, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from filterkit import Schema
from filterkit.plugin import LearnedTable, list_feature_names, make_learned_table, quoted, visible

_OF_CLASSES = ("intercept_", "class_prior_", "class_count_", "class_log_prior_", "priors_")
_OF_NEITHER = ("singular_", "alphas_", "Cs_", "train_score_")  # though there may be as many as features
_MEMBERS = ("estimators_", "calibrated_classifiers_", "estimator_", "estimator", "best_estimator_", "final_estimator_")


def describe_estimator(
    estimator: Any, incoming: Schema, classes: Sequence[str], top: int | None, prefix: str = ""
) -> Iterator[LearnedTable]:
    """Yield tables of what a fitted estimator has learned: its arrays with a number for each feature or each class.

    The columns of tables are named like the attributes of scikit-learn. A decision tree has a single table, the lines
    of its text. The members of an ensemble are described too if they have weights, or if the ensemble has no array with
    a number for each feature.

    Parameters
    ----------
    estimator : the fitted estimator.
    incoming : the schema whose features the estimator gets.
    classes : the names of the classes, whose indices are the numbers that the estimator predicts; empty for a
        transformer, and the name of the target for a regressor.
    top : the most rows of a table, and members of an ensemble; None for all.
    prefix : the beginning of the titles; "" if there is only one estimator.
    """
    names = list_feature_names(incoming)
    if hasattr(estimator, "tree_"):
        from sklearn.tree import export_text

        codes = getattr(estimator, "classes_", None)  # a list of arrays, if there are several labels
        known = [classes[int(code)] for code in codes] if isinstance(codes, np.ndarray) else None
        shown = list(map(visible, names))
        lines = export_text(estimator, feature_names=shown, class_names=known, max_depth=100).splitlines()
        yield make_learned_table(prefix, lines, {}, top, of="tree")
        return
    weights, is_read = getattr(estimator, "estimator_weights_", None), False
    for key in dict.fromkeys([*vars(estimator), "coef_", "feature_importances_"]):
        value: Any = getattr(estimator, key, None)
        value = value.toarray() if hasattr(value, "toarray") else value
        value = np.atleast_1d(value) if isinstance(value, np.floating) and key in _OF_CLASSES else value
        if (
            not key.endswith("_")
            or key.startswith("estimator")
            or not isinstance(value, np.ndarray)
            or value.dtype.kind != "f"
        ):
            continue
        if key in _OF_CLASSES and value.shape in ((len(classes),), (1,)) and classes:
            yield make_learned_table(prefix, classes[-len(value) :], {key: value}, top, of="class")
        elif key not in _OF_NEITHER and value.shape[-1:] == (len(names),):
            is_read, rows = True, value.reshape(-1, len(names))
            if value.ndim == 1:
                whose = [""]
            elif len(rows) > len(classes):
                whose = [f"{number} of {len(rows)}" for number in range(1, len(rows) + 1)]
            else:
                whose = [f"for {quoted(name)}" for name in classes[-len(rows) :]]
            for row, title in list(zip(rows, whose))[:top]:
                yield make_learned_table(f"{prefix} {title}".strip(), names, {key: row}, top, ranked=True)
    if is_read and weights is None:
        return
    members: Any = next((found for key in _MEMBERS if (found := getattr(estimator, key, None)) is not None), [])
    for number, member in enumerate(np.ravel(np.asarray(members, object))[:top]):
        weight = "" if weights is None else f" of weight {weights[number]:.4g}"
        yield from describe_estimator(member, incoming, classes, top, f"{prefix} member {number + 1}{weight}".strip())
