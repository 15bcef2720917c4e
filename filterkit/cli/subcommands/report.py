"""The subcommand ``report``."""

from __future__ import annotations

import click

from filterkit.cli.options import SETTINGS
from filterkit.cli.places import Goal, check_goals, check_page
from filterkit.cli.shell.printing import JSON
from filterkit.cli.subcommands.results import (
    FIGURE,
    MEASURE,
    PLOT,
    CommandWithMeasures,
    show,
    shown_measures,
    write_page,
)
from filterkit.errors import UsageError


@click.command(cls=CommandWithMeasures, context_settings=SETTINGS)
@MEASURE
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
def report(
    paths: tuple[str, ...],
    shown: tuple[str, ...],
    by_class: bool,
    output: str | None,
    as_json: bool,
    plot: str | None,
    figure: str | None,
) -> None:
    """Show what evaluations found.

    RESULTS are files that "filterkit evaluate -o" wrote. Several are shown together, those of other seeds as further
    folds. Chains named METHOD/VARIANT are variants of one method in the figure near-best.

    \b
        filterkit report results.csv -o report.html
        filterkit report results.csv --figure ranks --plot ranks.pdf
    """
    from filterkit.evaluation import plots
    from filterkit.evaluation.results import read_several

    outputs = {"-o": output, "--plot": plot}
    check_goals([Goal(option, path) for option, path in outputs.items() if path is not None], paths, ())
    if output is not None:
        check_page("report", output)
    plots.check_plot(plot, figure)
    results = read_several(paths)
    if by_class and all(row.confusion is None for row in results.rows):
        raise UsageError("--by-class: the results do not have the classes; evaluate again with --by-class and -o")
    measures = shown_measures(results, shown)
    if output is not None:
        write_page(results, measures, output, [("results", ", ".join(paths))])
    if plot is not None:
        plots.plot(figure or "curves", results, measures, plot)
    if output != "-":  # where the page goes instead of the tables
        show(results, measures, by_class, as_json)
