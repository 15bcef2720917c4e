"""What the subcommands ``evaluate`` and ``report`` share: means, tests and plots of `Results`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from filterkit.cli.options import ONCE
from filterkit.cli.text_table import aligned
from filterkit.errors import UsageError, quoted
from filterkit.evaluation.measures import MEANINGS, MEASURES

if TYPE_CHECKING:
    from filterkit.evaluation.results import Results

_SHOWN = ("accuracy", "precision", "recall", "f1", "auc")  # as many as fit on a terminal
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
    """Print the means of some measures, and the differences between chains."""
    _show_means(results, measures)
    chains = len(results.chains)
    pairs = [(i, j) for i in range(chains) for j in range(i + 1, chains)]
    if len(pairs) > _MOST_PAIRS:
        pairs = [(0, j) for j in range(1, chains)]
    if pairs:
        _show_differences(results, measures, pairs)


def _show_means(results: Results, measures: list[str]) -> None:
    """Print the mean of each measure, for each chain and share of rows."""
    over, folds = _units(results), _folds(results)
    click.echo(f"Means over {over}{f' of {folds} each' if over != folds else ''} ± standard error over {over}")
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


def _show_differences(results: Results, measures: list[str], pairs: list[tuple[int, int]]) -> None:
    """Print the differences between pairs of chains, and how likely they are by chance."""
    over, chains = _units(results), len(results.chains)
    against = "; each chain against the first" if len(pairs) < chains * (chains - 1) // 2 else ""
    click.echo(f"\nThe second minus the first, with p of a paired t-test over {over}{against}")
    if over == _folds(results):
        click.echo("(training parts overlap, so p is smaller than it should be)")
    rows = []
    for n, share in enumerate(results.shares):
        for i, j in pairs:
            tests = [results.paired(measure, j, i, n) for measure in measures]
            cells = [f"{_number(difference, '+.3f')} p={_number(p, '.2g')}" for difference, p in tests]
            rows.append([results.chains[i], results.chains[j], f"{share * 100:.3g}%", *cells])
    print_table([["first", "second", "train", *measures], *rows], left=2)


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
