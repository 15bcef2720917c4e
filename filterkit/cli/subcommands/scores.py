"""The subcommand ``scores``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from filterkit.cli.declared import declare_command_option, turn_into_command
from filterkit.cli.destinations import Destination, check_destinations
from filterkit.cli.inputs import check_options_fit_formats, open_input, open_rows_for_fitting
from filterkit.cli.options import FitOptions, InputOptions, JsonOptions, declare_seed_option, open_engine
from filterkit.cli.shell.printing import find_terminal_width, format_table_lines, print_document, shorten_to_width
from filterkit.cli.shell.streams import send_prints_to_stderr
from filterkit.counts.scoring import COMBINATIONS
from filterkit.errors import UsageError, quoted, visible
from filterkit.files.output import open_output
from filterkit.plugin.formats import Formats
from filterkit.plugin.registry import Registry

if TYPE_CHECKING:
    import pyarrow as pa

_NAME_WIDTH = 40  # of attributes, unless the terminal is narrow
_NAMES = ("attribute", "class", "label")  # the columns of text
_COUNTS = ("rank", "tp", "fp", "rows", "threshold")


class ScoresOptions(JsonOptions, InputOptions, FitOptions):
    """The options of ``scores``."""

    output: str = declare_command_option(
        "Write the table with all digits to PATH, which ends in .csv or .parquet.",
        "-o --output",
        default="-",
        show_default=False,
        metavar="PATH",
    )
    csv: bool = declare_command_option("Write CSV to standard output.")
    top: int | None = declare_command_option("Show only the N best features.", minimum=1)
    alpha: float | None = declare_command_option(
        "Multiply the scores of features that are more frequent in positive rows by X, the others by 1 − X.",
        metavar="X",
        type=click.FLOAT,
    )
    combine: str | None = declare_command_option(
        "With more than two classes, score each class against the rest, and combine these scores in this way.  "
        "[default: max, unless the metric is defined for several classes]",
        type=click.Choice(COMBINATIONS),
    )
    seed: int | None = declare_seed_option("metrics that draw random numbers")


def _complete_scoring_stages(context: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """List the stages that score columns, except metrics, which completion adds for every METRIC."""
    from filterkit.stages.metric_scaling import ScalingOptions

    known: Registry = context.obj
    stages = {name: each for name, each in known.stages.items() if issubclass(each, ScalingOptions)}
    return [CompletionItem(name, help=each.summary()) for name, each in stages.items() if name not in known.metrics]


@turn_into_command("scores", ScoresOptions)
@click.argument("path", metavar="INPUT")
@click.argument("metrics", metavar="METRIC...", nargs=-1, required=True, shell_complete=_complete_scoring_stages)
@click.pass_obj
def show_scores(known: Registry, /, path: str, metrics: tuple[str, ...], options: ScoresOptions) -> None:
    """Score every feature of INPUT by one or several metrics.

    Features are sorted by the first METRIC. For each feature the table shows the threshold that is best by the first
    METRIC, or the label of a nominal feature, the numbers of positive and negative rows at or above the threshold or
    with the label (tp, fp), their rates, and the scores. With a numeric class it shows the scores alone.

    METRIC may also be a stage that scores columns from the rows; its options have their defaults. "filterkit stages"
    lists metrics and stages, and "filterkit stages METRIC" explains one.
    """
    formats = Formats(known.formats, options.from_)
    _check_options_and_outputs(path, options, known, formats)
    from filterkit.chains.feature_scores import scores

    with (
        send_prints_to_stderr(),
        open_engine(known, options) as engine,
        open_rows_for_fitting(open_input(path, options, formats), engine, options) as rows,
    ):
        table: pa.Table = scores(
            rows, metrics, alpha=options.alpha, combine=options.combine, seed=options.seed or 0, memory=options.memory
        )
    if options.top is not None:
        table = table.slice(0, options.top)
    if options.output == "-" and not options.csv:
        width = find_terminal_width()  # a third for names leaves room for about eight numbers
        name_width = _NAME_WIDTH if width is None else max(12, min(_NAME_WIDTH, width // 3))
        print_document(options.as_json, {"scores": table.to_pylist()}, lambda _: tabulate_scores(table, name_width))
        return
    with open_output(options.output) as out:
        if options.output.lower().endswith(".parquet"):
            import pyarrow.parquet

            pyarrow.parquet.write_table(table, out)
        else:
            import pyarrow.csv

            pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(quoting_style="needed"))


def _check_options_and_outputs(path: str, options: ScoresOptions, known: Registry, formats: Formats) -> None:
    """Raise UsageError if options contradict each other, or an output would be lost or overwrite an input."""
    if path in known.metrics and not os.path.exists(path):
        raise UsageError(f"scores: no file {quoted(path)}; this is a metric, and the input comes first")
    if options.output != "-" and not options.output.lower().endswith((".csv", ".parquet")):
        raise UsageError(f"scores: -o {options.output}: the name must end in .csv or .parquet")
    for flag, is_given in {"--csv": options.csv, "--json": options.as_json}.items():
        if options.output != "-" and is_given:
            raise UsageError(f"scores: {flag} applies to standard output; leave out -o")
    if options.csv and options.as_json:
        raise UsageError("scores: --csv cannot be combined with --json; leave one out")
    check_destinations([Destination("-o", options.output)], [path], known.files)
    check_options_fit_formats(options, [path], [formats.find_input_format(path)])


def tabulate_scores(table: pa.Table, name_width: int) -> list[str]:
    """Return the lines of a table of scores, the head first; texts are cut to `name_width` columns of a terminal."""
    columns = []
    for name, values in table.to_pydict().items():
        if name in _NAMES:
            cells = ["" if v is None else shorten_to_width(visible(v), name_width) for v in values]
        else:
            digits = _choose_n_decimals(name, values)
            cells = ["" if v is None else f"{v:.{digits}f}" for v in values]
        columns.append([name, *cells])
    left = {number for number, name in enumerate(table.column_names) if name in _NAMES}
    return format_table_lines(list(map(list, zip(*columns))), left)


def _choose_n_decimals(column_name: str, values: list[Any]) -> int:
    """Return the number of decimals for a column: 0 for whole counts, otherwise 4, or fewer if a value is at least 10.

    The largest value then has five digits in all, or more if five do not hold its whole part. Signs do not count, and
    None among the values is ignored.
    """
    present = [abs(v) for v in values if v is not None]
    if column_name in _COUNTS and all(v == int(v) for v in present):
        return 0
    whole = len(str(int(max(present, default=0))))
    return max(5 - whole, 0) if whole > 1 else 4
