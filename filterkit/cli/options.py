"""The options of the command ``filterkit``, and those that several commands have, each declared once."""

from __future__ import annotations

import re
from typing import Any

import click

from filterkit.cli.declared import CommandOptions, option
from filterkit.engines.engine import Engine, count_available_cores
from filterkit.engines.local import LocalEngine
from filterkit.errors import quoted
from filterkit.messages import show_warnings
from filterkit.plugin.engines import make_engine
from filterkit.plugin.registry import Registry


class Size(click.ParamType):  # type: ignore[type-arg]  # older versions of click take no argument
    """An amount of memory such as 256MB, as a number of bytes."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        number, unit = re.split("([KMGT]?)I?B?$", value.strip().upper())[:2]
        try:
            size = int(float(number) * 1024 ** " KMGT".find(unit))  # without a unit it finds 0
        except (ValueError, OverflowError):
            size = 0
        if size <= 0:
            self.fail(f"{quoted(value)} is not a size such as 256MB", param, ctx)
        return size


class JsonOptions(CommandOptions):
    """The option of a command that prints a document."""

    as_json: bool = option("--json", default=False, help="Print one JSON document, with all digits.")


class InputOptions(CommandOptions):
    """The options about how inputs are read.

    `from_` is their format; the others are parameters of `filterkit.formats.reader.Reader`.
    """

    class_: str | None = option(
        "-c --class",
        metavar="ATTRIBUTE",
        section="Input",
        decides=True,
        help="The class attribute: its name, its number from 1, first, last or none.  [default: last, if nominal]",
    )
    labels: str | None = option(
        metavar="N|-N|NAMES|FILE.xml",
        section="Input",
        decides=True,
        help="The labels (or targets) of multi-label data: N for the last N attributes, -N for the first N, NAMES or "
        "patterns with commas between, or a label file of Mulan.  [default: as the relation name declares, such as "
        "'data: -C 3' of MEKA]",
    )
    positive: str | None = option(
        metavar="VALUE",
        section="Input",
        decides=True,
        help="The class value that is positive.  [default: the rarer of two]",
    )
    from_: str | None = option(
        metavar="FORMAT[:OPTIONS]",
        section="Input",
        decides=True,
        help='The format of the input, if the ending of its name does not tell it. "filterkit formats" lists all.',
    )
    encoding: str = option(
        default="utf-8",
        metavar="NAME",
        section="Input",
        decides=True,
        needs="textual",
        help="Encoding of the input.",
    )
    lenient: bool = option(
        default=False,
        section="Input",
        decides=True,
        needs="lenient",
        help="Also read lines that Weka refuses, if their meaning is clear: an empty field is a missing value, texts "
        "with blanks or apostrophes need no quotes, and header lines of KEEL are known. A warning counts the "
        "corrections.",
    )
    unseen: str = option(
        default="error",
        type=click.Choice(("error", "missing", "extend")),
        section="Input",
        decides=True,
        needs="lenient",
        help="What to do with a nominal value that is not declared, in the header or in the training data: fail, read "
        "it as missing, or add it to the header.",
    )
    complete: bool = option(
        default=False,
        section="Input",
        needs="lenient",
        help="Refuse an ARFF file without the last line that filterkit writes, the number of rows: it may be cut off.",
    )
    block_size: int | None = option(type=Size(), hidden=True)


def declare_jobs(workers: str) -> Any:
    """Declare ``--jobs``, the number of `workers` that share the work."""
    return option(
        metavar="N",
        type=click.IntRange(1, 1024),
        section="Work",
        help=f"Number of {workers}.  [default: one per core]",
    )


def declare_seed(users: str) -> Any:
    """Declare ``--seed`` for the random numbers of the named `users`."""
    return option(metavar="N", type=click.IntRange(0), section="Chain", help=f"Seed for {users}.")


def declare_trust() -> Any:
    """Declare ``--trust``, which lets a saved chain hold code of other packages."""
    return option(
        default=(),
        metavar="PACKAGE",
        section="Chain",
        help="Allow a saved chain to contain estimators of this package, not only of scikit-learn. Repeatable.",
    )


def declare_debug(help: str = "Show the traceback of an error.") -> Any:
    """Declare ``--debug``."""
    return option(default=False, help=help)


class WorkOptions(CommandOptions):
    """The options about where work runs, and whether it shows progress."""

    jobs: int | None = declare_jobs("threads")
    engine: str | None = option(
        metavar="ENGINE[:OPTIONS]",
        section="Work",
        help="Run on this engine: local (threads), processes, or one that a plugin offers.",
    )
    progress: bool | None = option(
        "--progress/--no-progress",
        section="Work",
        help="Show progress on standard error.  [default: only on a terminal]",
    )


class FitOptions(WorkOptions):
    """The options of commands that fit stages."""

    memory: int = option(
        default="1GB",
        type=Size(),
        section="Work",
        help="Memory for statistics that stages learn from, and for rows between passes. It is not a limit: the "
        "process takes more.",
    )
    seed: int | None = declare_seed("all stages that draw random numbers")


class Options(InputOptions, FitOptions, JsonOptions):
    """The options of the command ``filterkit``."""

    plugins: tuple[str, ...] = option(
        "--plugin", default=(), metavar="FILE", decides=True, help="Load a plugin from a Python file. Repeatable."
    )
    output: str = option(
        "-o --output",
        default="-",
        show_default=False,
        metavar="PATH",
        section="Output",
        help="Write to PATH instead of standard output. The file appears when it is complete. With a * in its name, "
        "such as 'out/part-*.arff', write several files, numbered; after an interruption, the same command writes "
        "those that are missing.",
    )
    to: str | None = option(
        metavar="FORMAT[:OPTIONS]",
        section="Output",
        decides=True,
        help="The format of the output.  [default: by the ending of PATH, or ARFF]",
    )
    sparse: bool | None = option(
        "--sparse/--dense",
        section="Output",
        decides=True,
        needs="has_both_forms",
        help="Write sparse or dense rows.  [default: as in INPUT]",
    )
    precision: int | None = option(
        metavar="N",
        type=click.IntRange(1, 17),
        section="Output",
        decides=True,
        needs="rounds",
        help="Write numbers with N significant digits.  [default: as many as are needed to read the same number again]",
    )
    chain: str | None = option(
        metavar="FILE", section="Chain", help="Read the stages from FILE, one per line; # starts a comment."
    )
    test: tuple[tuple[str, str], ...] = option(
        default=(),
        nargs=2,
        metavar="IN OUT",
        section="Chain",
        help="Also transform the rows of IN by the chain fitted on INPUT, and write them to OUT. Repeatable.",
    )
    predictions: bool = option(
        "-p --predictions",
        default=False,
        section="Chain",
        decides=True,
        help="For each row of --test, or of INPUT with --load, write the true and the predicted class instead of the "
        "row, with a mark where they differ. As OUT, - means standard output.",
    )
    errors: bool = option(
        default=False,
        section="Chain",
        decides=True,
        help="Like --predictions, but only for wrongly predicted rows.",
    )
    save: str | None = option(metavar="FILE", section="Chain", help="Save the fitted chain to FILE.")
    load: str | None = option(
        metavar="FILE",
        section="Chain",
        decides=True,
        help="Transform INPUT by the chain saved in FILE; give no stages.",
    )
    trust: tuple[str, ...] = declare_trust()
    rejects: str | None = option(
        metavar="FILE",
        section="Input",
        decides=True,
        needs="textual",
        help="Write unreadable rows to FILE, with line and reason, and go on.",
    )
    max_rejects: int | None = option(
        metavar="N",
        type=click.IntRange(0),
        section="Input",
        decides=True,
        help="Fail after more than N unreadable rows.",
    )
    defaults: str | None = option(
        metavar="FILE", help="Read defaults of options from this TOML file, instead of the usual one."
    )
    no_defaults: bool = option(default=False, help="Ignore the defaults file.")
    explain: bool = option(default=False, help="Show how the chain would be fitted, without reading or writing rows.")
    verbose: bool = option(
        "-v --verbose", default=False, help="Report on standard error what each stage did, and how long it took."
    )
    debug: bool = declare_debug()

    @property
    def writes_predictions(self) -> bool:
        """Whether predictions are written instead of rows."""
        return self.predictions or self.errors


def open_engine(known: Registry, options: WorkOptions) -> Engine:
    """Make the engine that ``--engine`` and ``--jobs`` choose.

    Raises
    ------
    UsageError : there is no engine of this name, or it does not know the options.
    """
    engine = make_engine(
        LocalEngine.name if options.engine is None else options.engine, options.jobs or count_available_cores(), known
    )
    engine.prepare(show_warnings)
    return engine
