"""The subcommand ``scores``: what metrics say of every feature, as a table to look at or a file."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

import click

from filterkit.arff.reader import Reader
from filterkit.cli.places import Goal, check_goals
from filterkit.cli.subcommand import ONCE, SETTINGS, parsed
from filterkit.cli.training import check_used, open_other, training_rows
from filterkit.counts.thresholds import COMBINATIONS
from filterkit.errors import UsageError, quoted
from filterkit.files.output import open_output
from filterkit.plugin.registry import registry

_NAME_WIDTH = 40  # of attributes, where the terminal does not say
_COUNTS = ("rank", "tp", "fp", "rows", "threshold")


def scores(words: list[str], options: dict[str, Any]) -> None:
    """Score the features of an input; `options` are those of the command line.

    Raises
    ------
    UsageError : unknown metrics or options.
    FilterkitError : the input or the output fails.
    """
    before = {"output": [options["output"]]} if "output" in options["given"] else {}
    _score(parsed(command, "scores", words, before), options)


@click.command(
    help="""Score every feature of INPUT by some metrics, the best by the first METRIC first.

\b
For each feature there are the threshold that is best by the first metric, the
positive and negative rows at or above it (tp, fp), their rates, and the scores.
Options of filterkit, such as --class and --positive, go before ``scores``.
``filterkit stages`` has the metrics.
""",
    context_settings=SETTINGS,
)
@click.option("-o", "--output", metavar="PATH", **ONCE, help="Write a file, .csv or .parquet, with all digits.")
@click.option("--csv", is_flag=True, help="Write CSV to standard output.")
@click.option("--top", metavar="N", type=click.IntRange(1), help="Only the N best.")
@click.option(
    "--alpha", metavar="X", type=click.FloatRange(0, 1), help="As for the metric's stage; see: filterkit stages METRIC."
)
@click.option(
    "--combine", type=click.Choice(COMBINATIONS), help="As for the metric's stage; see: filterkit stages METRIC."
)
@click.argument("path", metavar="INPUT")
@click.argument("metrics", metavar="METRIC...", nargs=-1, required=True)
def command(**_: Any) -> None:
    """Only parses."""


def _score(given: dict[str, Any], options: dict[str, Any]) -> None:
    from filterkit.chains.feature_scores import scores as score

    path = given["path"]
    if path in registry().metrics and not os.path.exists(path):
        raise UsageError(f"scores: no file {quoted(path)}, which is a metric; the input comes first")
    output = None if given["output"] == "-" else given["output"]
    ending = os.path.splitext(output)[1].lower() if output else ""
    if output and ending not in (".csv", ".parquet"):
        raise UsageError(f"scores: -o {output}: the name must end in .csv or .parquet")
    if output and given["csv"]:
        raise UsageError("scores: --csv is for standard output, and there is -o")
    check_goals([Goal("-o", output or "-")], [given["path"]], options["plugins"])
    check_used([given["path"]], options["formats"], {"--encoding": options["encoding"] != "utf-8"})
    names = ("class_", "positive", "encoding", "block_size", "labels")
    other = open_other(given["path"], options["formats"], *(options[name] for name in ("class_", "positive", "labels")))
    reader = other or Reader(given["path"], **{name: options[name] for name in names})
    with training_rows(reader, options["engine"], options["memory"], options["progress"]) as rows:
        table = score(
            rows,
            given["metrics"],
            alpha=given["alpha"],
            combine=given["combine"],
            seed=options["seed"] or 0,
            memory=options["memory"],
        )
    if given["top"] is not None:
        table = table.slice(0, min(given["top"], len(table)))
    if output or given["csv"]:
        _write(table, output or "-", ending)
    else:
        with open_output("-") as out:
            for line in text_lines(table, _name_width()):
                out.write(line.encode() + b"\n")


def _write(table: Any, path: str, ending: str) -> None:
    with open_output(path) as out:
        if ending == ".parquet":
            import pyarrow.parquet

            pyarrow.parquet.write_table(table, out)
        else:
            import pyarrow.csv

            pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(quoting_style="needed"))


def _name_width() -> int:
    """How wide a name may be: on a terminal, what is left beside about eight columns of numbers."""
    if sys.stdout is None or not sys.stdout.isatty():
        return _NAME_WIDTH
    return max(12, min(_NAME_WIDTH, shutil.get_terminal_size().columns // 3))


def text_lines(table: Any, name_width: int) -> list[str]:
    """A table as aligned lines: names left and cut to `name_width`, numbers right, with a head."""
    columns = []
    for name in table.column_names:
        values = table.column(name).to_pylist()
        if name in ("attribute", "class"):
            cells = ["" if v is None else _cut(v, name_width) for v in values]
            width = max(map(len, [name, *cells]))
            columns.append([cell.ljust(width) for cell in [name, *cells]])
        else:
            digits = _decimals(name, values)
            cells = ["" if v is None else f"{v:.{digits}f}" for v in values]
            width = max(map(len, [name, *cells]))
            columns.append([cell.rjust(width) for cell in [name, *cells]])
    return ["  ".join(row).rstrip() for row in zip(*columns)]


def _decimals(name: str, values: list[Any]) -> int:
    """How many decimals a column is shown with: none for whole numbers of rows, else about five digits."""
    present = [abs(v) for v in values if v is not None]
    if name in _COUNTS and all(v == int(v) for v in present):
        return 0
    whole = len(str(int(max(present, default=0))))
    return max(5 - whole, 0) if whole > 1 else 4


def _cut(text: str, width: int) -> str:
    text = "".join(c if c.isprintable() else "�" for c in text)
    return text if len(text) <= width else text[: width - 1] + "…"
