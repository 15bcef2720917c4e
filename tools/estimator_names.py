"""Print the table of plugins/scikit_learn/names.py for the scikit-learn that is installed."""

from __future__ import annotations

import warnings

from sklearn.utils import all_estimators

KINDS = ("classifier", "regressor", "transformer")


def public_path(estimator: type) -> str:
    """Return the path by which the documentation of scikit-learn names a class."""
    parts = estimator.__module__.split(".")
    private = next((number for number, part in enumerate(parts) if part.startswith("_")), len(parts))
    return ".".join([*parts[:private], estimator.__name__])


def list_estimators() -> list[str]:
    """Return lines of kind and path, ordered by both; a class of several kinds is of the first of `KINDS`."""
    kinds: dict[str, str] = {}
    for kind in KINDS:
        for _, estimator in all_estimators(type_filter=kind):
            kinds.setdefault(public_path(estimator), kind)
    return [f"{kind} {path}" for path, kind in sorted(kinds.items(), key=lambda each: (KINDS.index(each[1]), each[0]))]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("\n".join(list_estimators()))
