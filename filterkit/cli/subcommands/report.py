"""The subcommand ``report``."""

from __future__ import annotations

import click

from filterkit.cli.declared import declare_command_option, turn_into_command
from filterkit.cli.destinations import check_destinations, check_html_ending, make_destinations
from filterkit.cli.subcommands.results import (
    CommandThatExplainsMeasures,
    ResultsOptions,
    choose_measures,
    print_results,
    write_report_page,
)
from filterkit.errors import UsageError
from filterkit.evaluation.plots import check_plot_options, write_figure


class ReportOptions(ResultsOptions):
    """The options of ``report``."""

    by_class: bool = declare_command_option(
        "Show precision, recall and F1 of each class, and the confusion matrix. Needs results of evaluate --by-class."
    )
    output: str | None = declare_command_option(
        "Write a page for the browser with all tables and figures.", "-o --output", metavar="FILE.html"
    )


@turn_into_command("report", ReportOptions, CommandThatExplainsMeasures)
@click.argument("paths", metavar="RESULTS...", nargs=-1, required=True)
def show_report(paths: tuple[str, ...], options: ReportOptions) -> None:
    """Show the results of evaluations.

    RESULTS are files that "filterkit evaluate -o" wrote. Several are shown together; results of other seeds count as
    further folds. In the figure near-best, chains that are called METHOD/VARIANT are variants of one method.

    \b
        filterkit report results.csv -o report.html
        filterkit report results.csv --figure ranks --plot ranks.pdf
    """
    from filterkit.evaluation.results import read_results_files

    check_destinations(make_destinations({"-o": options.output, "--plot": options.plot}), paths, ())
    if options.output is not None:
        check_html_ending("report", options.output)
        if options.as_json and options.output == "-":
            raise UsageError("report: --json and -o - both write to standard output; leave one out")
    check_plot_options(options.plot, options.figure)
    results = read_results_files(paths)
    if options.by_class and all(row.confusion is None for row in results.rows):
        raise UsageError("--by-class: the results have no counts of classes; run evaluate again with --by-class and -o")
    measures = choose_measures(results, options.shown)
    if options.output is not None:
        write_report_page(results, measures, options.output, [("results", ", ".join(paths))])
    if options.plot is not None:
        write_figure(options.figure or "curves", results, measures, options.plot)
    if options.output != "-":  # where the page goes instead of the tables
        print_results(results, measures, options.by_class, options.as_json)
