"""What the subcommands ``evaluate`` and ``report`` share: means, tests and plots of `Results`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import numpy as np

from filterkit.cli.options import ONCE
from filterkit.cli.text_table import aligned
from filterkit.errors import UsageError, quoted
from filterkit.evaluation.measures import MEANINGS, MEASURES

if TYPE_CHECKING:
    from filterkit.evaluation.results import Results

_TESTED = [1.0]  # the share of the rows that are trained on where there is a test set; folds leave less
_SHOWN = ("accuracy", "precision", "recall", "f1", "auc")  # as many as fit on a terminal
_MOST_NAMED = 4  # positive classes in one line
_LEAST_TASKS = 6  # with five, even the most extreme ranks have p = 2 / 2⁵
MOST_SHOWN = 20  # classes in a table of how rows were predicted
_MOST_PAIRS = 6  # with more pairs of chains, each chain is compared with the first alone

MEASURE = click.option(
    "--measure",
    "shown",
    metavar="NAME",
    multiple=True,
    type=click.Choice(MEASURES),
    help="Show this measure. Repeatable.",
)
PLOT = click.option(
    "--plot", metavar="FILE", **ONCE, help="Plot the measures to a .png, .svg or .pdf file. Needs matplotlib."
)


class CommandWithMeasures(click.Command):
    """A command whose help explains the measures."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Measures"):
            formatter.write_dl(list(MEANINGS.items()))


def share_of(option: str, text: str) -> float:
    """The share that a text such as 10% or 0.1 stands for.

    Raises
    ------
    UsageError : it is no share from 0 to 1; names the option.
    """
    is_percent = text.strip().endswith("%")
    try:
        share = float(text.strip().removesuffix("%")) / (100 if is_percent else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1 or (share == 1 and not is_percent):  # 1 may be meant as one percent
        raise UsageError(f"{option}: {quoted(text)} is no share such as 10% or 0.1")
    return share


def shown_measures(results: Results, chosen: tuple[str, ...]) -> list[str]:
    """The measures to show: those chosen, otherwise the usual ones, with micro F1 unless it equals one of them."""
    if chosen:
        return list(chosen)
    is_new = any(row.values["micro_f1"] not in (row.values["f1"], row.values["accuracy"]) for row in results.rows)
    return [*_SHOWN, *(["micro_f1"] if is_new else [])]


def show(results: Results, measures: list[str]) -> None:
    """Print the means of some measures, the differences between chains, and their ranks."""
    _show_means(results, measures)
    chains = len(results.chains)
    pairs = [(i, j) for i in range(chains) for j in range(i + 1, chains)]
    if len(pairs) > _MOST_PAIRS:
        pairs = [(0, j) for j in range(1, chains)]
    if pairs and results.shares != _TESTED:
        _show_differences(results, measures, pairs)
    if chains > 2 and results.over_tasks:
        _show_ranks(results, measures)


def _show_means(results: Results, measures: list[str]) -> None:
    """Print the mean of each measure, for each chain and share of rows."""
    over, folds = _units(results), _folds(results)
    title = f"Means over {over}{f' of {folds} each' if over != folds else ''} ± standard error over {over}"
    click.echo("Measures on the test set" if results.shares == _TESTED else title)
    summaries = [results.summary(measure) for measure in measures]
    rows = [
        [
            name,
            f"{share * 100:.3g}%",
            *(f"{_number(s[c, n, 0], '.3f')} ±{_number(s[c, n, 1], '.3f')}" for s in summaries),
        ]
        for n, share in enumerate(results.shares)
        for c, name in enumerate(results.chains)
    ]
    print_table([["chain", "train", *measures], *rows], left=1)
    if positive := _positive(results):
        click.echo(positive)


def _positive(results: Results) -> str:
    """Which class is positive; empty if the results are of a version that did not write it."""
    values = {(row.data, row.task): row.positive for row in results.rows if row.split}
    if not values:
        return ""
    if len(set(values.values())) == 1:
        value = next(iter(values.values()))
        return f"(positive is {quoted(value)})" if value else "(each class or label in turn is positive)"
    texts = [f"{quoted(value) if value else 'each in turn'} in {data}" for (data, _), value in values.items()]
    texts = list(dict.fromkeys(texts))
    return f"(positive is {', '.join(texts[:_MOST_NAMED])}{', …' * (len(texts) > _MOST_NAMED)})"


def show_classes(results: Results) -> None:
    """Print, for each task, share and chain, precision, recall, F1, support and the confusion matrix of each class."""
    from filterkit.evaluation.runner import add_confusion

    sums: dict[tuple[str, str, float, str], dict[str, dict[tuple[str, str], float]]] = {}
    for row in results.rows:
        whole = sums.setdefault((row.data, row.task, row.share, row.chain), {})
        add_confusion(whole, row.confusion or [])
    where = "on the test set" if results.shares == _TESTED else "sums over folds"
    for (data, task, share, chain), groups in sums.items():
        click.echo(f"\n{data}, {task}, chain {quoted(chain)}, trained on {share * 100:.3g}%: {where}")
        for name, counts in groups.items():
            click.echo("\n".join(confusion_table(name or "class", counts)))


def confusion_table(title: str, counts: dict[tuple[str, str], float]) -> list[str]:
    """Lines with the rates of each class and, beside them, how the rows that are of it were predicted.

    `counts` has the weight of the rows of each true and predicted value. How rows were predicted is left out if there
    are more than `MOST_SHOWN` values.
    """
    names = sorted({name for pair in counts for name in pair})
    place = {name: i for i, name in enumerate(names)}
    true, guess, right = np.zeros((3, len(names)))
    for (of, said), count in counts.items():
        true[place[of]] += count
        guess[place[said]] += count
        right[place[of]] += count if of == said else 0
    rates = [
        np.divide(part, whole, out=np.full(len(names), np.nan), where=whole > 0)
        for part, whole in ((right, guess), (right, true), (2 * right, true + guess))
    ]
    shown = names if len(names) <= MOST_SHOWN else []  # a wider table could not be read
    rows = [
        [
            name,
            *(_number(rate[i], ".3f") for rate in rates),
            f"{true[i]:g}",
            *(f"{counts.get((name, said), 0.0):g}" for said in shown),
        ]
        for i, name in enumerate(names)
    ]
    head = [title, "precision", "recall", "f1", "support", *(f"as {name}" for name in shown)]
    return aligned([head, *rows], range(1))


def _show_differences(results: Results, measures: list[str], pairs: list[tuple[int, int]]) -> None:
    """Print the differences between pairs of chains, and how likely they are by chance."""
    from filterkit.evaluation.comparison import holm

    over, chains = _units(results), len(results.chains)
    test = "Wilcoxon's signed-rank test" if results.over_tasks else "the corrected resampled t-test"
    against = "; each chain against the first" if len(pairs) < chains * (chains - 1) // 2 else ""
    adjusted = f"; p adjusted for {len(pairs)} comparisons (Holm)" if len(pairs) > 1 else ""
    click.echo(f"\nThe second minus the first, with p of {test} over {over}{against}{adjusted}")
    if results.over_tasks and len(results.tasks) < _LEAST_TASKS:
        click.echo(f"(with fewer than {_LEAST_TASKS} tasks p is never below 0.05)")
    if len({data for data, _ in results.tasks}) < len(results.tasks):
        click.echo("(tasks of one data set share its rows, so p is smaller than it should be)")
    if results.unpaired():
        click.echo("(chains that were measured on different folds, as of different seeds, are not paired)")
    rows = []
    for n, share in enumerate(results.shares):
        columns = []
        for measure in measures:
            differences, p = np.array([results.paired(measure, j, i, n) for i, j in pairs]).T
            texts = zip(differences.tolist(), holm(p).tolist(), strict=True)
            columns.append([f"{_number(d, '+.3f')} p={_number(p, '.2g')}" for d, p in texts])
        for (i, j), cells in zip(pairs, zip(*columns, strict=True), strict=True):
            rows.append([results.chains[i], results.chains[j], f"{share * 100:.3g}%", *cells])
    print_table([["first", "second", "train", *measures], *rows], left=2)


def _show_ranks(results: Results, measures: list[str]) -> None:
    """Print the mean rank of each chain over tasks, with Friedman's test and Nemenyi's critical difference."""
    from filterkit.evaluation.comparison import critical_difference, friedman, ranks

    click.echo(
        "\nMean ranks over tasks, 1 the best, with p of Friedman's test; chains whose ranks differ by at least the"
    )
    click.echo("critical difference of Nemenyi's test are told apart at the level 0.05")
    rows = []
    for n, share in enumerate(results.shares):
        values = [results.ranked(measure, n) for measure in measures]
        found = [ranks(each).mean(axis=0).tolist() if len(each) else [np.nan] * each.shape[1] for each in values]
        shown = f"{share * 100:.3g}%"
        for name, means in zip(results.chains, zip(*found, strict=True), strict=True):
            rows.append([name, shown, *(_number(rank, ".2f") for rank in means)])
        rows.append(["Friedman's p", shown, *(_number(friedman(each), ".2g") for each in values)])
        limits = [critical_difference(each.shape[1], len(each)) if len(each) > 1 else np.nan for each in values]
        rows.append(["critical difference", shown, *(_number(limit, ".2f") for limit in limits)])
    print_table([["chain", "train", *measures], *rows], left=1)


def _folds(results: Results) -> str:
    return f"{max(row.fold for row in results.rows) + 1} folds"


def _units(results: Results) -> str:
    """The units of means and tests: tasks or, with a single task, its folds."""
    return f"{len(results.tasks)} tasks" if len(results.tasks) > 1 else _folds(results)


def _number(value: float, form: str) -> str:
    return "–" if value != value else format(value, form)


def percent(share: float) -> str:
    """A share as text."""
    return f"{share:.1%}"


def print_table(rows: list[list[str]], left: int) -> None:
    """Print rows, the first of which is the head. The first `left` columns are text."""
    click.echo("\n".join(aligned(rows, range(left))))
