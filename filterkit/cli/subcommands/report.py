"""The subcommand ``report``."""

from __future__ import annotations

import click

from filterkit.cli.declared import make_command, option
from filterkit.cli.destinations import Destination, check_destinations, check_page
from filterkit.cli.subcommands.results import CommandWithMeasures, ResultsOptions, choose_measures, show, write_page
from filterkit.errors import UsageError


class ReportOptions(ResultsOptions):
    """The options of ``report``."""

    by_class: bool = option(
        default=False,
        help="Show precision, recall and F1 of each class, and the confusion matrix. Needs results of evaluate "
        "--by-class.",
    )
    output: str | None = option(
        "-o --output",
        metavar="FILE.html",
        help="Write a page for the browser with all tables and figures.",
    )


@make_command(ReportOptions, CommandWithMeasures)
@click.argument("paths", metavar="RESULTS...", nargs=-1, required=True)
def report(paths: tuple[str, ...], options: ReportOptions) -> None:
    """Show the results of evaluations.

    RESULTS are files that "filterkit evaluate -o" wrote. Several are shown together; results of other seeds count as
    further folds. In the figure near-best, chains that are called METHOD/VARIANT are variants of one method.

    \b
        filterkit report results.csv -o report.html
        filterkit report results.csv --figure ranks --plot ranks.pdf
    """
    from filterkit.evaluation import plots
    from filterkit.evaluation.results import read_results_files

    outputs = {"-o": options.output, "--plot": options.plot}
    check_destinations([Destination(option, path) for option, path in outputs.items() if path is not None], paths, ())
    if options.output is not None:
        check_page("report", options.output)
    plots.check_plot_options(options.plot, options.figure)
    results = read_results_files(paths)
    if options.by_class and all(row.confusion is None for row in results.rows):
        raise UsageError("--by-class: the results have no counts of classes; run evaluate again with --by-class and -o")
    measures = choose_measures(results, options.shown)
    if options.output is not None:
        write_page(results, measures, options.output, [("results", ", ".join(paths))])
    if options.plot is not None:
        plots.write_figure(options.figure or "curves", results, measures, options.plot)
    if options.output != "-":  # where the page goes instead of the tables
        show(results, measures, options.by_class, options.as_json)
