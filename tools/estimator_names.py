"""Print the table of plugins/scikit_learn/names.py for the scikit-learn that is installed."""

from __future__ import annotations

import itertools
import textwrap
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


def format_table(lines: list[str]) -> list[str]:
    """Return lines of kind, module and the names of its classes; a module with many classes has several lines."""
    table: list[str] = []
    for module, group in itertools.groupby(lines, lambda line: line.rpartition(".")[0]):
        names = " ".join(line.rpartition(".")[2] for line in group)
        table += [f"{module} {part}" for part in textwrap.wrap(names, 119 - len(module))]
    return table


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("\n".join(format_table(list_estimators())))
