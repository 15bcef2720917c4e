"""Prints docs/advice.md, which chain to take first, from the results of the experiments.

python experiments/advice.py > docs/advice.md
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safeguards import FOLDS, FURTHER, MEANINGS, TEXT_CHAINS, UCI_CHAINS, chains, ways_to_decide

from filterkit.evaluation.comparison import (
    DIGITS,
    compute_mean_and_standard_error,
    compute_signed_rank_test,
    rank_methods_on_each_task,
)
from filterkit.evaluation.measure_names import LOSSES
from filterkit.evaluation.results import Results, average_axis_without_nan, read_results_file

RESULTS = Path(__file__).with_name("results")
KINDS = {
    "Tables of numbers and labels": ("UCI", UCI_CHAINS),
    "Counts of words": ("Text", TEXT_CHAINS),
}
ENDS = (0, 10, 30, 100, 1 << 40)  # of groups, by the number of positive rows
MEASURES = ("f1", "auc", "accuracy")
FEW = 8  # tasks; fewer make no line
SURE = 0.05
TIE = 0.0005  # differences below are none, as in the experiment
ADVICE = ("first on the other sets", "best in hindsight")

INTRODUCTION = """\
# Which chain to take first

`python experiments/advice.py` prints this page from the results of
[the experiment on safeguards](../experiments/safeguards.md).

The constants of `beside` were chosen on some of these sets, so expect smaller gains on yours: the page of
[the experiments](../experiments/README.md#gains-on-sets-that-were-not-seen) has them on sets that had no part in it.

## In short

| data | what counts | take |
| --- | --- | --- |
| tables, a linear model | F of a class | `beside-threshold`; above 100 positive rows `beside` (sets not seen) |
| tables, a linear model | accuracy, AUC, or several classes at once | `beside`, or as good `beside-logistic` |
| tables, trees | any of these | `forest`, without `beside`, which costs it up to 0.04 of F; it ranks rows best |
| words | F of a class | `scaling-threshold`; above 30 positive rows `scaling` is about as good |
| words | accuracy, AUC, or several classes at once | `scaling` |

The threshold costs accuracy where few rows are positive: `beside-threshold` has 0.04 less than `beside` when 10 % of
the rows are trained on, and 0.01 less when 20 % are.

All chains begin with `impute`, so they run on missing values, too. `--threshold` is of one class: of several, name one
by `--positive`, or write `--calibrate` instead, which predicts them all.

## How to read the tables

A line is for so many positive rows to train on. Each task counts once in it, with its largest share of rows that has so
many. The first chain has the best mean rank over the tasks. ± is the standard error over tasks. *Gain* is that over
`baseline`, with p of Wilcoxon's signed-rank test, and on how many tasks the chain is better, equal and worse. *As good*
are chains that do not differ from the first at p < 0.05. Tasks of one data set share its rows, so p is too small.

The second table says what the advice is worth on data that it has not seen: each data set in turn takes the chain that
is first on the other sets. It has the mean gain over `baseline`, over tasks and shares of their rows.
"""
LEARNERS = """\
Other learners, the means on the same folds; the best of each line is bold.
"""


class Properties(NamedTuple):
    """Properties of training rows, see `filterkit.evaluation.properties.count_positives_columns_and_nonzeros`.

    Attributes
    ----------
    rows : how many there are.
    positives : the rows of the positive class; without one, of the rarest class or label that has rows. None for
        numbers.
    columns : the number of features.
    nonzeros : the mean number of values in a row that are not zero. Of dense rows all nominal values count.
    """

    rows: int
    positives: int | None
    columns: int
    nonzeros: float


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


def cases_of(results: Results) -> list[Case]:
    """All cases whose properties are known, in the order of the results."""
    tasks = {task: number for number, task in enumerate(results.tasks)}
    shares = {share: number for number, share in enumerate(results.shares)}
    found: dict[tuple[int, int], list[Properties]] = {}
    for row in results.rows:
        if row.train_positives is not None and row.columns is not None and row.nonzeros is not None:
            place = tasks[row.data, row.task], shares[row.share]
            properties = Properties(row.train_rows, row.train_positives, row.columns, row.nonzeros)
            found.setdefault(place, []).append(properties)
    return [Case(*place, Properties(*np.mean(several, axis=0).tolist())) for place, several in found.items()]


def rated(results: Results, cases: list[Case], measure: str) -> list[Rated]:
    """How each chain did on the cases on which all chains have a value, the best mean rank first.

    Chains without a value on any of the cases are left out.
    """
    cube = average_axis_without_nan(results.get_values_of_measure(measure), 1)
    values = np.array([cube[case.task, :, case.share] for case in cases]).reshape(len(cases), len(results.chains))
    there = np.flatnonzero(~np.isnan(values).all(axis=0))
    values = values[:, there]
    values = values[~np.isnan(values).any(axis=1)]
    if not values.size:
        return []
    gains = np.round(-values if measure in LOSSES else values, DIGITS)
    of_chains = rank_methods_on_each_task(gains).mean(axis=0)
    order = np.lexsort([-gains.mean(axis=0), of_chains])
    first = order[0]
    found = []
    for place in order:
        gap, p = compute_signed_rank_test(values[:, place], values[:, first]) if place != first else (np.nan, np.nan)
        differences = gains[:, place] - gains[:, first]
        signs = [int(np.count_nonzero(each)) for each in (differences > 0, differences == 0, differences < 0)]
        name, rank = results.chains[there[place]], float(of_chains[place])
        found.append(Rated(name, rank, *compute_mean_and_standard_error(values[:, place]), gap, p, *signs))
    return found


def groups(results: Results) -> Iterator[tuple[str, list[Case]]]:
    """The cases with so many positive rows, each task at its largest share."""
    cases = sorted(cases_of(results), key=lambda case: case.share)
    for low, high in pairwise(ENDS):
        found = {case.task: case for case in cases if low < case.properties.positives <= high}
        if len(found) >= FEW:
            yield f"{low + 1} to {high}" if high < ENDS[-1] else f"more than {low}", list(found.values())


def line(results: Results, title: str, cases: list[Case], measure: str, baseline: str) -> list[str]:
    """A row of the table."""
    found = rated(results, cases, measure)
    first = found[0]
    sets = {results.tasks[case.task][0] for case in cases}
    alike = [each.chain for each in found[1:] if each.p >= SURE]
    cells = [title, f"{len(cases)} of {len(sets)}", measure, f"`{first.chain}`"]
    return [*cells, f"{first.mean:.3f} ± {first.error:.3f}", gain(found, baseline), ", ".join(alike) or "none"]


def gain(found: list[Rated], baseline: str) -> str:
    """The first chain minus the baseline."""
    other = next(each for each in found if each.chain == baseline)
    if other is found[0]:
        return "it is the baseline"
    return f"{-other.gap:+.3f} (p {other.p:.1g}; {other.worse}, {other.equal}, {other.better})"


def worth(results: Results, measure: str) -> list[str]:
    """Return what each `ADVICE` gains over the baseline, the first chain, on data sets that it has not seen.

    For each: the mean over tasks and shares, and on what share of these cases it is worse than the baseline.
    """
    cube, cases, found = average_axis_without_nan(results.get_values_of_measure(measure), 1), cases_of(results), []
    values = {case: cube[case.task, :, case.share] for case in cases}
    of_chains = dict(zip(cases, rank_methods_on_each_task(np.array([*values.values()])), strict=True))
    for case in cases:
        others = [each for each in cases if results.tasks[each.task][0] != results.tasks[case.task][0]]
        taken = np.argmin(np.mean([of_chains[each] for each in others], axis=0))
        found.append(values[case][[taken, np.argmax(values[case])]] - values[case][0])
    gains = np.array(found)
    return [f"{gain:+.3f} ({worse:.0%} worse)" for gain, worse in zip(gains.mean(axis=0), (gains < -TIE).mean(axis=0))]


def read(kind: str, numbers: range) -> Results:
    """The results of the main table, and of the groups of these `numbers` of further chains, on ten folds."""
    paths = [RESULTS / f"safeguards-{kind.lower()}{ending}.csv.xz" for ending in ("", "-further")]
    rows = [row for path in paths if path.exists() for row in read_results_file(str(path))]
    if not paths[1].exists():
        return Results(rows)
    others = {name for number, group in enumerate(FURTHER[kind]) if number not in numbers for name in group.chains}
    return Results(row for row in rows if row.fold < FOLDS and row.chain not in others)


def learners(results: Results, names: list[str]) -> list[list[str]]:
    """The means of some chains by the number of positive rows; the largest is marked."""
    rows = []
    for title, cases in groups(results):
        for measure in MEASURES:
            found = {each.chain: each.mean for each in rated(results, cases, measure)}
            best = max(found[name] for name in names)
            cells = [f"**{found[n]:.3f}**" if found[n] == best else f"{found[n]:.3f}" for n in names]
            rows.append([title, str(len(cases)), measure, *cells])
    return rows


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def main() -> None:
    print(INTRODUCTION)
    heads = ["positive rows", "tasks, sets", "by", "first", "its mean", "gain", "as good"]
    for title, (kind, of) in KINDS.items():
        if not (RESULTS / f"safeguards-{kind.lower()}.csv.xz").exists():
            continue
        results = read(kind, range(1))
        baseline = results.chains[0]
        print(f"## {title}\n")
        rows = [line(results, *group, measure, baseline) for group in groups(results) for measure in MEASURES]
        print(table(heads, rows))
        print(table(["by", *ADVICE], [[measure, *worth(results, measure)] for measure in MEASURES]))
        named = dict(text.split(": ", 1) for text in [*chains(of), *ways_to_decide(of)])
        further = [name for name in results.chains if name not in named]
        if further and len(FURTHER[kind]) > 1:
            every = range(len(FURTHER[kind]))
            names = ["baseline", "beside", *(name for number in every for name in FURTHER[kind][number].chains)]
            print(LEARNERS)
            print(table(["positive rows", "tasks", "by", *names], learners(read(kind, every), names)))
            further = names[2:]
        texts = [text for group in FURTHER[kind] for text in chains(group.chains)]
        named |= dict(text.split(": ", 1) for text in texts if text.split(": ")[0] in further)
        shown = {name for row in rows for name in (row[3].strip("`"), *row[-1].split(", "))} | {baseline, *further}
        print(table(["chain", "what it is"], [[f"`{n}`", f"`{text}`"] for n, text in named.items() if n in shown]))
        print("Never first nor as good:\n")
        print("".join(f"- `{n}`: {MEANINGS[n]}\n" for n in named if n not in shown))


if __name__ == "__main__":
    main()
