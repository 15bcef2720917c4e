"""The subcommand ``report``, and what ``evaluate`` says too: means, tests, plots and advice."""

from __future__ import annotations

from typing import Any

import click

from filterkit.cli.places import Goal, check_goals
from filterkit.cli.subcommand import ONCE, SETTINGS, parsed
from filterkit.cli.table import aligned
from filterkit.errors import FilterkitError, UsageError, quoted
from filterkit.evaluation.measures import MEANINGS, MEASURES

_SHOWN = ("accuracy", "precision", "recall", "f1", "auc")  # what a terminal is wide enough for
_PAIRS = 6  # up to so many pairs of chains are all tested, else each chain against the first

MEASURE = click.option(
    "--measure",
    "shown",
    metavar="NAME",
    multiple=True,
    type=click.Choice(MEASURES),
    help="Show this one; repeatable.",
)
PLOT = click.option(
    "--plot", metavar="FILE", **ONCE, help="Plot the measures, as .png, .svg or .pdf; needs matplotlib."
)
MEASURES_HELP = "\b\n" + "\n".join(f"    {name:<16} {text}" for name, text in MEANINGS.items())


@click.command(
    help=f"""Show results that ``filterkit evaluate -o`` wrote, of several files together, and give advice.

--within X% tells on which share of the tasks each method, in the best of its variants, comes within X % of the best
of all, and which pair of methods does so most often (residual win analysis, Forman 2003). Variants of a method have
names such as method/100 and method/500.

Measures:

{MEASURES_HELP}
""",
    context_settings=SETTINGS,
)
@MEASURE
@click.option("--within", metavar="X%", help="Tell how often each method is so near the best.")
@PLOT
@click.argument("paths", metavar="RESULTS...", nargs=-1, required=True)
def report_command(**_: Any) -> None:
    """Only parses."""


def report(words: list[str]) -> None:
    """Show results from files.

    Raises
    ------
    UsageError : unknown options.
    FilterkitError : a file cannot be read.
    """
    given = parsed(report_command, "report", words)
    from filterkit.evaluation.results import Results, read_results

    if given["plot"] is not None:
        from filterkit.evaluation.plots import check_plot

        check_goals([Goal("--plot", given["plot"])], given["paths"], ())
        check_plot(given["plot"])
    results = Results(row for path in given["paths"] for row in read_results(path))
    if given["within"] is None:
        plot(results, given)
        show(results, given)
        return
    _advise(results, given, share_of("--within", given["within"]))


def share_of(option: str, text: str) -> float:
    """The share that a text such as 10% or 0.1 says; a `UsageError` that names the option otherwise."""
    percent = text.strip().endswith("%")
    try:
        share = float(text.strip().removesuffix("%")) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1 or (share == 1 and not percent):  # who writes 1 may mean one percent
        raise UsageError(f"{option}: {quoted(text)} is no share such as 10% or 0.1")
    return share


def _measures(results: Any, given: dict[str, Any]) -> list[str]:
    """Which measures are shown: those asked for, or the usual ones, and micro F1 where it is none of them."""
    if given["shown"]:
        return list(given["shown"])
    told = all(row.values["micro_f1"] in (row.values["f1"], row.values["accuracy"]) for row in results.rows)
    return [*_SHOWN, *(() if told else ("micro_f1",))]


def _number(value: float, form: str) -> str:
    return "–" if value != value else format(value, form)


def plot(results: Any, given: dict[str, Any]) -> None:
    """Plot some `Results`, if the options `given` ask for it."""
    if given["plot"] is not None:
        from filterkit.evaluation.plots import plot_curves

        plot_curves(results, _measures(results, given), given["plot"])


def show(results: Any, given: dict[str, Any]) -> None:
    """Print the means and tests of some `Results`; `given` are the options."""
    measures = _measures(results, given)
    folds = f"{max(row.fold for row in results.rows) + 1} folds"
    over = f"{len(results.tasks)} tasks" if len(results.tasks) > 1 else folds
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
    click.echo("\n".join(aligned([["chain", "train", *measures], *rows], left=1)))
    chains = len(results.chains)
    pairs = [(i, j) for i in range(chains) for j in range(i + 1, chains)]
    if len(pairs) > _PAIRS:
        pairs = [(0, j) for j in range(1, chains)]
    if pairs:
        against = "; each chain against the first" if len(pairs) < chains * (chains - 1) // 2 else ""
        click.echo(f"\nThe second minus the first, with p of a paired t-test over {over}{against}")
        if over == folds:
            click.echo("(training parts overlap, so p is smaller than it should be)")
        rows = []
        for n, share in enumerate(results.shares):
            for i, j in pairs:
                tests = [results.paired(measure, j, i, n) for measure in measures]
                cells = [f"{_number(difference, '+.3f')} p={_number(p, '.2g')}" for difference, p in tests]
                rows.append([results.chains[i], results.chains[j], f"{share * 100:.3g}%", *cells])
        click.echo("\n".join(aligned([["first", "second", "train", *measures], *rows], left=2)))


def _advise(results: Any, given: dict[str, Any], tolerance: float) -> None:
    """Print how often each method is near the best, and the best pair; and plot."""
    from filterkit.evaluation.comparison import best_pair, residual_wins, share_near_best

    methods, measures = results.methods(), _measures(results, given)
    if len(methods) < 2:
        raise FilterkitError("--within: there must be at least two methods to compare")
    best = [results.best_of_methods(measure) for measure in measures]
    shares = [share_near_best(values, tolerance) for values in best]
    if given["plot"] is not None:
        from filterkit.evaluation.plots import plot_near_best

        plot_near_best(results, measures, given["plot"])
    tasks = f"{len(results.tasks)} task{'s' * (len(results.tasks) > 1)}"
    where = ", each trained on the share that is best for it" if len(results.shares) > 1 else ""
    click.echo(f"Share of {tasks} on which a method is within {tolerance * 100:.3g}% of the best{where}")
    rows = [[name, *(f"{s[i]:.1%}" for s in shares)] for i, name in enumerate(methods)]
    click.echo("\n".join(aligned([["method", *measures], *rows], left=1)))
    click.echo("\nThe best method, the best to have beside it, and the best pair of all")
    rows = []
    for measure, values, share in zip(measures, best, shares):
        leader = int(share.argmax())
        beside = residual_wins(values, tolerance, leader)
        beside[leader] = -1
        backup = int(beside.argmax())
        more = beside[backup] > share[leader]
        (one, other), together = best_pair(values, tolerance)
        rows.append(
            [
                measure,
                f"{methods[leader]} {share[leader]:.1%}",
                f"{methods[leader]} + {methods[backup]} {beside[backup]:.1%}" if more else "adds nothing",
                f"{methods[one]} + {methods[other]} {together:.1%}",
            ]
        )
    click.echo("\n".join(aligned([["measure", "best", "with a second", "best pair"], *rows], left=4)))
