"""Which chains did best on the tasks that are most like given rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from filterkit.evaluation.comparison import DIGITS, ranks, signed_rank, spread
from filterkit.evaluation.measures import LOSSES
from filterkit.evaluation.properties import Properties
from filterkit.evaluation.results import Results, mean

NEAREST = 20  # tasks; fewer would say little, and more are less alike


class Case(NamedTuple):
    """A task at one share of its rows.

    Attributes
    ----------
    task, share : their numbers in the results.
    properties : of the training rows, the mean over folds.
    """

    task: int
    share: int
    properties: Properties


class Rated(NamedTuple):
    """How a chain did on some cases.

    Attributes
    ----------
    chain : its name.
    rank : its mean rank among all chains, 1 being the best.
    mean, error : the mean of the measure over the cases, and its standard error.
    gap, p : the mean minus that of the first chain, and the p-value of Wilcoxon's signed-rank test over the cases; NaN
        for the first.
    better, equal, worse : on how many cases it is better than the first chain, equal to it, and worse.
    """

    chain: str
    rank: float
    mean: float
    error: float
    gap: float
    p: float
    better: int
    equal: int
    worse: int


def nearest(cases: Iterable[Case], like: Properties, count: int = NEAREST) -> list[Case]:
    """The cases most like some rows, the nearest first, each task once."""
    best: dict[int, tuple[float, Case]] = {}
    for case in cases:
        distance = like.distance(case.properties)
        if case.task not in best or distance < best[case.task][0]:
            best[case.task] = distance, case
    return [case for _, case in sorted(best.values(), key=lambda each: each[0])[:count]]


def cases_of(results: Results) -> list[Case]:
    """All cases whose properties are known, in the order of the results."""
    tasks = {task: number for number, task in enumerate(results.tasks)}
    shares = {share: number for number, share in enumerate(results.shares)}
    found: dict[tuple[int, int], list[Properties]] = {}
    for row in results.rows:
        if row.columns is not None and row.nonzeros is not None:
            place = tasks[row.data, row.task], shares[row.share]
            found.setdefault(place, []).append(Properties(row.train_rows, row.positives, row.columns, row.nonzeros))
    return [Case(*place, _mean_of(several)) for place, several in found.items()]


def _mean_of(several: list[Properties]) -> Properties:
    """Return the means; of positive rows there is none unless all have them."""
    columns = list(zip(*several))
    return Properties(*(None if None in column else float(np.mean(column)) for column in columns))  # type: ignore[arg-type]


def rated(results: Results, cases: list[Case], measure: str) -> list[Rated]:
    """How each chain did on the cases on which all chains have a value, the best mean rank first.

    Chains without a value on any of the cases are left out.
    """
    cube = mean(results.values(measure), 1)
    values = np.array([cube[case.task, :, case.share] for case in cases]).reshape(len(cases), len(results.chains))
    there = np.flatnonzero(~np.isnan(values).all(axis=0))
    values = values[:, there]
    values = values[~np.isnan(values).any(axis=1)]
    if not values.size:
        return []
    gains = np.round(-values if measure in LOSSES else values, DIGITS)
    of_chains = ranks(gains).mean(axis=0)
    order = np.lexsort([-gains.mean(axis=0), of_chains])
    first = order[0]
    found = []
    for place in order:
        gap, p = signed_rank(values[:, place], values[:, first]) if place != first else (np.nan, np.nan)
        differences = gains[:, place] - gains[:, first]
        signs = [int(np.count_nonzero(each)) for each in (differences > 0, differences == 0, differences < 0)]
        name, rank = results.chains[there[place]], float(of_chains[place])
        found.append(Rated(name, rank, *spread(values[:, place]), gap, p, *signs))
    return found
