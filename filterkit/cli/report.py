"""The subcommand ``report``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from filterkit.cli.options import SETTINGS
from filterkit.cli.places import Goal, check_goals
from filterkit.cli.results import (
    MEASURE,
    PLOT,
    CommandWithMeasures,
    percent,
    print_table,
    share_of,
    show,
    show_classes,
    shown_measures,
)
from filterkit.errors import FilterkitError, UsageError
from filterkit.evaluation.measures import NOT_FROM_0_TO_1

if TYPE_CHECKING:
    import numpy as np

    from filterkit.evaluation.results import Results


@dataclass(frozen=True)
class ReportOptions:
    """The options of ``report``."""

    shown: tuple[str, ...]
    within: str | None
    by_class: bool
    plot: str | None


@click.command(cls=CommandWithMeasures, context_settings=SETTINGS)
@MEASURE
@click.option("--within", metavar="X%", help="Show how often each method comes within X % of the best.")
@click.option(
    "--by-class",
    is_flag=True,
    help="Show the rates of each class and the confusion matrix, from results of evaluate --by-class.",
)
@PLOT
@click.argument("paths", metavar="RESULTS...", nargs=-1, required=True)
def report(paths: tuple[str, ...], **given: Any) -> None:
    """Show what evaluations found, and which method to take.

    RESULTS are files that "filterkit evaluate -o" wrote. Several are shown together.

    --within X% shows on which share of the tasks each method, in its best variant, comes within X % of the best of
    all methods, and which pair of methods does so most often (residual win analysis, Forman 2003). Chains named
    METHOD/VARIANT are variants of one method.
    """
    from filterkit.evaluation import plots
    from filterkit.evaluation.results import Results, read_results

    options = ReportOptions(**given)
    if options.plot is not None:
        check_goals([Goal("--plot", options.plot)], paths, ())
        plots.check_plot(options.plot)
    results = Results(row for path in paths for row in read_results(path))
    if options.by_class and options.within is not None:
        raise UsageError("--by-class and --within cannot be combined; run report once with each")
    if options.by_class and all(row.confusion is None for row in results.rows):
        raise UsageError("--by-class: the results do not have the classes; evaluate again with --by-class and -o")
    measures = shown_measures(results, options.shown)
    if options.within is not None:
        if unfit := NOT_FROM_0_TO_1.intersection(measures):
            raise UsageError(f"--within: {min(unfit)} has no share of its best value; choose another --measure")
        _advise(results, measures, share_of("--within", options.within), options.plot)
        return
    if options.plot is not None:
        plots.plot_curves(results, measures, options.plot)
    show(results, measures)
    if options.by_class:
        show_classes(results)


def _advise(results: Results, measures: list[str], tolerance: float, plot: str | None) -> None:
    """Print how often each method is near the best, and which pair to take; plot it to the path `plot` if given."""
    from filterkit.evaluation.comparison import share_near_best
    from filterkit.evaluation.plots import plot_near_best

    methods = results.methods()
    if len(methods) < 2:
        raise FilterkitError("--within: there must be at least two methods to compare")
    values = [results.best_of_methods(measure) for measure in measures]
    if plot is not None:
        plot_near_best(results, measures, plot)
    tasks = f"{len(results.tasks)} task{'s' * (len(results.tasks) > 1)}"
    where = ", each trained on the share that is best for it" if len(results.shares) > 1 else ""
    click.echo(f"Share of {tasks} on which a method is within {tolerance * 100:.3g}% of the best{where}")
    shares = [share_near_best(each, tolerance) for each in values]
    rows = [[name, *(percent(share[i]) for share in shares)] for i, name in enumerate(methods)]
    print_table([["method", *measures], *rows], left=1)
    click.echo("\nThe best method, the best to have beside it, and the best pair of all")
    rows = [[measure, *_best_methods(methods, each, tolerance)] for measure, each in zip(measures, values)]
    print_table([["measure", "best", "with a second", "best pair"], *rows], left=4)


def _best_methods(methods: list[str], values: np.ndarray, tolerance: float) -> list[str]:
    """The method that is most often near the best, with the one that adds most to it, and the best pair.

    Parameters
    ----------
    methods : their names.
    values : float64 (tasks, methods), of one measure.
    tolerance : what is near the best, as a share of it.
    """
    from filterkit.evaluation.comparison import best_pair, residual_wins, share_near_best

    share = share_near_best(values, tolerance)
    leader = int(share.argmax())
    beside = residual_wins(values, tolerance, leader)
    beside[leader] = -1
    second = int(beside.argmax())
    (one, other), together = best_pair(values, tolerance)
    return [
        f"{methods[leader]} {percent(share[leader])}",
        f"{methods[leader]} + {methods[second]} {percent(beside[second])}"
        if beside[second] > share[leader]
        else "adds nothing",
        f"{methods[one]} + {methods[other]} {percent(together)}",
    ]
