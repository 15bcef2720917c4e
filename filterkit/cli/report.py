"""The subcommand ``report``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from filterkit.cli.options import CLASS, POSITIVE, SETTINGS, InputOptions
from filterkit.cli.places import Goal, check_goals, check_page
from filterkit.cli.printing import JSON, print_found
from filterkit.cli.results import (
    FIGURE,
    MEASURE,
    PLOT,
    CommandWithMeasures,
    percent,
    share_of,
    show,
    shown_measures,
    write_page,
)
from filterkit.cli.text_table import aligned
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
    like: str | None
    class_: str | None
    positive: str | None
    by_class: bool
    output: str | None
    as_json: bool
    plot: str | None
    figure: str | None


@click.command(cls=CommandWithMeasures, context_settings=SETTINGS)
@MEASURE
@click.option("--within", metavar="X%", help="Show how often each method comes within X % of the best.")
@click.option(
    "--like",
    metavar="DATA",
    help="Show which chains did best on the tasks whose numbers of rows, positive rows, columns and values other than "
    "zero are most like those of DATA.",
)
@CLASS
@POSITIVE
@click.option(
    "--by-class",
    is_flag=True,
    help="Show the rates of each class and the confusion matrix, from results of evaluate --by-class.",
)
@click.option(
    *("-o", "--output"),
    metavar="FILE.html",
    help="Write a page for the browser with all tables and figures. It needs no network.",
)
@JSON
@PLOT
@FIGURE
@click.argument("paths", metavar="RESULTS...", nargs=-1, required=True)
@click.pass_context
def report(context: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """Show what evaluations found, and which method to take.

    RESULTS are files that "filterkit evaluate -o" wrote. Several are shown together, those of other seeds as further
    folds.

    \b
        filterkit report results.csv -o report.html
        filterkit report results.csv --figure ranks --plot ranks.pdf
        filterkit report results.csv --like my.arff

    --within X% shows on which share of the tasks each method, in its best variant, comes within X % of the best of
    all methods, and which pair of methods does so most often (residual win analysis, Forman 2003). Chains named
    METHOD/VARIANT are variants of one method.

    --like DATA takes the 20 tasks whose training rows are most like those of DATA, each at the share at which they are
    most like them, and ranks the chains on these by the first measure. --class and --positive are for DATA.
    """
    from filterkit.evaluation.plots import plot
    from filterkit.evaluation.results import read_several

    options = ReportOptions(**given)
    _check(paths, options)
    results = read_several(paths)
    if options.by_class and all(row.confusion is None for row in results.rows):
        raise UsageError("--by-class: the results do not have the classes; evaluate again with --by-class and -o")
    measures = shown_measures(results, options.shown)
    within = None if options.within is None else share_of("--within", options.within)
    if within is not None:
        if not options.shown:
            measures = [name for name in measures if name != "cost"]
        if unfit := NOT_FROM_0_TO_1.intersection(measures):
            raise UsageError(f"--within: {min(unfit)} has no share of its best value; choose another --measure")
        if len(results.methods()) < 2:
            raise FilterkitError("--within: there must be at least two methods to compare")
    if options.output is not None:
        write_page(results, measures, options.output, [("results", ", ".join(paths))])
    if options.plot is not None:
        usual = "curves" if within is None else "near-best"
        plot(options.figure or usual, results, measures, options.plot)
    if options.output == "-":  # the page instead of the tables
        return
    if options.like is not None:
        from filterkit.cli.alike import compare_like

        about = InputOptions(class_=options.class_, positive=options.positive)
        compare_like(options.like, about, results, measures[0], context.obj, options.as_json)
        return
    if within is not None:
        _advise(results, measures, within, options.as_json)
        return
    show(results, measures, options.by_class, options.as_json)


def _check(paths: tuple[str, ...], options: ReportOptions) -> None:
    """Refuse options that contradict each other, and outputs that would be lost."""
    from filterkit.evaluation.plots import check_plot

    outputs = {"-o": options.output, "--plot": options.plot}
    check_goals([Goal(option, path) for option, path in outputs.items() if path is not None], paths, ())
    if options.output is not None:
        check_page("report", options.output)
    check_plot(options.plot, options.figure)
    if options.by_class and options.within is not None:
        raise UsageError("--by-class and --within cannot be combined; run report once with each")
    for flag, is_given in {"--by-class": options.by_class, "--within": options.within is not None}.items():
        if is_given and options.like is not None:
            raise UsageError(f"{flag} and --like cannot be combined; run report once with each")
    for flag, value in {"--class": options.class_, "--positive": options.positive}.items():
        if value is not None and options.like is None:
            raise UsageError(f"{flag} is for DATA, which --like names")


def _advise(results: Results, measures: list[str], tolerance: float, as_json: bool) -> None:
    """Print how often each method is near the best, and which pair to take."""
    from filterkit.evaluation.comparison import share_near_best

    methods = results.methods()
    values = [results.best_of_methods(measure) for measure in measures]
    tasks = f"{len(results.tasks)} task{'s' * (len(results.tasks) > 1)}"
    where = ", each trained on the share that is best for it" if len(results.shares) > 1 else ""
    shares = [share_near_best(each, tolerance).tolist() for each in values]
    found: dict[str, Any] = {
        "within": tolerance,
        "tasks": len(results.tasks),
        "near_best": [{"method": name} | dict(zip(measures, each)) for name, each in zip(methods, zip(*shares))],
        "best": [{"measure": m} | _best_methods(methods, each, tolerance) for m, each in zip(measures, values)],
    }

    def lines() -> Iterator[str]:
        yield f"Share of {tasks} on which a method is within {tolerance * 100:.3g}% of the best{where}"
        rows = [[each["method"], *(percent(each[measure]) for measure in measures)] for each in found["near_best"]]
        yield from aligned([["method", *measures], *rows], range(1))
        yield ""
        yield "The best method, the best to have beside it, and the best pair of all"
        keys = ("best", "with_a_second", "best_pair")
        rows = [[each["measure"], *(_in_words(each[key]) for key in keys)] for each in found["best"]]
        yield from aligned([["measure", *(key.replace("_", " ") for key in keys)], *rows], range(4))

    print_found(as_json, lambda: found, lines)


def _in_words(found: dict[str, Any] | None) -> str:
    """Methods and the share of tasks on which one of them is near the best, as text; None if a second adds nothing."""
    return "adds nothing" if found is None else f"{' + '.join(found['methods'])} {percent(found['share'])}"


def _best_methods(methods: list[str], values: np.ndarray, tolerance: float) -> dict[str, Any]:
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
    helps = beside[second] > share[leader]
    return {
        "best": {"methods": [methods[leader]], "share": float(share[leader])},
        "with_a_second": {"methods": [methods[leader], methods[second]], "share": float(beside[second])}
        if helps
        else None,
        "best_pair": {"methods": [methods[one], methods[other]], "share": float(together)},
    }
