"""How much of the time of an evaluation is scikit-learn's: one fold of the text comparison of seed 000.

    python -m benchmarks.fold TEXT-FOLDER [SET ...]

For each set all tasks with at least 50 positive rows, three chains (baseline, scaling, shaping), C from five values by
three inner folds, calibrated. Prints the time of the whole and the part spent inside scikit-learn, medians of nine
rounds, their ratio, the median too and from the least to the largest, and how long scikit-learn takes for the same
classifiers with its own linear kernel on sparse rows, without products made once.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import sklearn.linear_model
import sklearn.metrics.pairwise
import sklearn.svm

import filterkit
from filterkit.evaluation.folds import EvaluationDesign
from filterkit.evaluation.runner import Evaluator

LEARNER = "svm --c 0.01,0.1,1,10,100 --folds 3 --calibrate"
CHAINS = tuple((before, f"{before} {LEARNER}") for before in ("binary l2", "binary bns l2", "shape bns l2"))


_ROUNDS = 9


class Timed:
    """Adds up the time of some functions."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def wrap(self, owner: Any, name: str, instead: Callable[..., Any] | None = None) -> None:
        """Time ``owner.name``, or have `instead` do its work and time that."""
        function = instead or getattr(owner, name)

        def timed(*given: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*given, **named)
            finally:
                self.seconds += time.perf_counter() - began

        setattr(owner, name, timed)


def main(folder: str, *names: str) -> None:
    """Print one line for each set."""
    gc.freeze()  # as the command line does
    gc.set_threshold(100_000, 50, 100)
    inside = Timed()
    inside.wrap(sklearn.svm.SVC, "fit")
    inside.wrap(sklearn.metrics.pairwise, "linear_kernel")
    inside.wrap(sklearn.linear_model.LogisticRegression, "fit")
    for name in names or sorted(path.name.partition(".")[0] for path in Path(folder).glob("*.wc.arff.gz")):
        data = filterkit.read(str(Path(folder, f"{name}.wc.arff.gz")))
        evaluator = Evaluator([(name, data)], EvaluationDesign(CHAINS, one_against_rest=True, min_positives=50))
        parts = [part for part in evaluator.task_folds if part[2] == 0]
        evaluator.evaluate_task_fold(parts[0])  # what each process does once
        rounds = []
        for _ in range(_ROUNDS):
            inside.seconds, began = 0.0, time.perf_counter()
            for part in parts:
                evaluator.evaluate_task_fold(part)
            rounds.append((time.perf_counter() - began, inside.seconds))
        whole, shared = map(median, zip(*rounds, strict=True))
        ratios = sorted(a / b for a, b in rounds)
        alone = plain(evaluator, parts)
        print(
            f"{name:6} {len(parts):3} tasks: {whole:6.3f} s, {shared:6.3f} s of it in scikit-learn: "
            f"{median(ratios):.2f} x ({ratios[0]:.2f} to {ratios[-1]:.2f}); "
            f"scikit-learn's own linear kernel {alone:6.2f} s ({whole / alone:.2f} x)"
        )


def plain(evaluator: Evaluator, parts: list[tuple[str, str, int]]) -> float:
    """The time of the same classifiers, each on the rows themselves."""
    seconds = 0.0
    plugin: Any = sys.modules["filterkit_plugins.svm.hyperplanes"]
    solve = plugin.SvmSolver.fit_hyperplanes

    def on_rows(self: Any, positive: Any, costs: Sequence[float]) -> Any:
        nonlocal seconds
        began = time.perf_counter()
        models = [sklearn.svm.SVC(kernel="linear", C=cost).fit(self.X, positive) for cost in costs]
        seconds += time.perf_counter() - began
        return np.vstack([model.coef_.toarray() for model in models]).T, np.hstack([m.intercept_ for m in models])

    plugin.SvmSolver.fit_hyperplanes = on_rows
    try:
        for part in parts:
            evaluator.evaluate_task_fold(part)
    finally:
        plugin.SvmSolver.fit_hyperplanes = solve
    return seconds


if __name__ == "__main__":
    main(*sys.argv[1:])
