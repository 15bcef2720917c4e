"""The options of the command ``filterkit``, and those that several commands have, each declared once."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import click

from filterkit.cli.declared import CommandOptions, declare_command_option
from filterkit.engines.engine import Engine, count_available_cores
from filterkit.engines.local import LocalEngine
from filterkit.errors import UsageError, quoted
from filterkit.messages import install_one_line_warnings
from filterkit.plugin.engines import make_engine
from filterkit.plugin.registry import Registry


class MemorySize(click.ParamType):  # type: ignore[type-arg]  # older versions of click take no argument
    """The type of an option that takes an amount of memory such as 256MB, and has a number of bytes as its value."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Convert an int, or a text such as ``256MB``, ``1.5G`` or ``4096``, to a whole number of bytes.

        A unit is a power of 1,024. Raise `click.BadParameter` if the value is not a size above 0.
        """
        number, unit = re.split("([KMGT]?)I?B?$", str(value).strip().upper())[:2]
        try:
            size = int(float(number) * 1024 ** " KMGT".find(unit))  # without a unit it finds 0
        except (ValueError, OverflowError):
            size = 0
        if size <= 0:
            self.fail(f"{quoted(str(value))} is not a size such as 256MB", param, ctx)
        return size


_declare_input = partial(declare_command_option, section="Input", decides=True)
_declare_output = partial(declare_command_option, section="Output", decides=True)
_declare_chain = partial(declare_command_option, section="Chain")
_declare_work = partial(declare_command_option, section="Work")


class JsonOptions(CommandOptions):
    """The option ``--json`` of commands that call `print_document`."""

    as_json: bool = declare_command_option("Print one JSON document, with all digits.", "--json")


class InputOptions(CommandOptions):
    """The options that say how inputs are read."""

    class_: str | None = _declare_input(
        "The class attribute: its name, its number from 1, first, last or none.  [default: last, if nominal]",
        "-c --class",
        metavar="ATTRIBUTE",
    )
    labels: str | None = _declare_input(
        "The labels (or targets) of multi-label data: N for the last N attributes, -N for the first N, NAMES or "
        "patterns with commas between, or a label file of Mulan.  [default: as the relation name declares, such as "
        "'data: -C 3' of MEKA]",
        metavar="N|-N|NAMES|FILE.xml",
    )
    positive: str | None = _declare_input(
        "The class value that is positive.  [default: the rarer of two]", metavar="VALUE"
    )
    from_: str | None = _declare_input(
        'The format of the input, if the ending of its name does not tell it. "filterkit formats" lists all.',
        metavar="FORMAT[:OPTIONS]",
    )
    encoding: str = _declare_input("Encoding of the input.", default="utf-8", metavar="NAME", needs="textual")
    lenient: bool = _declare_input(
        "Also read lines that Weka refuses, if their meaning is clear: an empty field is a missing value, texts with "
        "blanks or apostrophes need no quotes, and header lines of KEEL are known. A warning counts the corrections.",
        needs="lenient",
    )
    unseen: str = _declare_input(
        "What to do with a nominal value that is not declared, in the header or in the training data: fail, read "
        "it as missing, or add it to the header.",
        default="error",
        type=click.Choice(("error", "missing", "extend")),
        needs="lenient",
    )
    complete: bool = _declare_input(
        "Refuse an ARFF file without the last line that filterkit writes, the number of rows: it may be cut off.",
        needs="lenient",
        decides=False,
    )
    block_size: int | None = declare_command_option("", type=MemorySize(), hidden=True)


def declare_jobs_option(workers: str) -> Any:
    """Return a field that declares ``--jobs``; `workers` is what its help calls them, such as "threads"."""
    return _declare_work(f"Number of {workers}.  [default: one per core]", minimum=1, maximum=1024)


def declare_seed_option(users: str) -> Any:
    """Return a field that declares ``--seed``; its help is "Seed for", and `users`, such as "folds and subsamples"."""
    return _declare_chain(f"Seed for {users}.", minimum=0)


def declare_trust_option() -> Any:
    """Return a field that declares ``--trust``, which names packages whose estimators a saved chain may contain."""
    return _declare_chain(
        "Allow a saved chain to contain estimators of this package, not only of scikit-learn. Repeatable.",
        metavar="PACKAGE",
    )


class WorkOptions(CommandOptions):
    """The options about where work runs, and whether it shows progress."""

    jobs: int | None = declare_jobs_option("threads")
    engine: str | None = _declare_work(
        "Run on this engine: local (threads), processes, or one that a plugin offers.", metavar="ENGINE[:OPTIONS]"
    )
    progress: bool | None = _declare_work(
        "Show progress on standard error.  [default: only on a terminal]", "--progress/--no-progress"
    )


class FitOptions(WorkOptions):
    """The options of commands that fit stages to the rows of one input: those of `WorkOptions`, memory and seed."""

    memory: int = _declare_work(
        "Memory for statistics that stages learn from, and for rows between passes. It is not a limit: the "
        "process takes more.",
        default="1GB",
        type=MemorySize(),
    )
    seed: int | None = declare_seed_option("all stages that draw random numbers")


def _check_test_outputs(
    context: click.Context, option: click.Parameter, pairs: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """Return the `pairs` of ``--test IN OUT``; raise a `UsageError` if an OUT looks like an option."""
    for _, output in pairs:
        if output.startswith("-") and output != "-" and not context.resilient_parsing:
            advice = "name a file for the rows of IN, or - for standard output"
            raise UsageError(f"--test IN OUT: the option {output} stands where OUT belongs; {advice}")
    return pairs


class RunOptions(InputOptions, FitOptions, JsonOptions):
    """The options of the command ``filterkit``.

    When the chain runs, `defaults` is the path of the defaults file that was read; None without one.
    """

    plugins: tuple[str, ...] = declare_command_option(
        "Load a plugin from a Python file. Repeatable.", "--plugin", metavar="FILE", decides=True
    )
    output: str = _declare_output(
        "Write to PATH instead of standard output. The file appears when it is complete. With a * in its name, "
        "such as 'out/part-*.arff', write several files, numbered; after an interruption, the same command writes "
        "those that are missing.",
        "-o --output",
        default="-",
        show_default=False,
        metavar="PATH",
        decides=False,
    )
    to: str | None = _declare_output(
        "The format of the output.  [default: by the ending of PATH, or ARFF]", metavar="FORMAT[:OPTIONS]"
    )
    sparse: bool | None = _declare_output(
        "Write sparse or dense rows.  [default: as in INPUT]", "--sparse/--dense", needs="has_both_forms"
    )
    precision: int | None = _declare_output(
        "Write numbers with N significant digits.  [default: as many as are needed to read the same number again]",
        minimum=1,
        maximum=17,
        needs="rounds",
    )
    chain: str | None = _declare_chain("Read the stages from FILE, one per line; # starts a comment.", metavar="FILE")
    test: tuple[tuple[str, str], ...] = _declare_chain(
        "Also transform the rows of IN by the chain fitted on INPUT, and write them to OUT. Repeatable.",
        nargs=2,
        metavar="IN OUT",
        callback=_check_test_outputs,
    )
    predictions: bool = _declare_chain(
        "For each row of --test, or of INPUT with --load, write the true and the predicted class instead of the "
        "row, with a mark where they differ. As OUT, - means standard output.",
        "-p --predictions",
        decides=True,
    )
    errors: bool = _declare_chain("Like --predictions, but only for wrongly predicted rows.", decides=True)
    save: str | None = _declare_chain("Save the fitted chain to FILE.", metavar="FILE")
    load: str | None = _declare_chain(
        "Transform INPUT by the chain saved in FILE; give no stages.", metavar="FILE", decides=True
    )
    trust: tuple[str, ...] = declare_trust_option()
    rejects: str | None = _declare_input(
        "Write unreadable rows to FILE, with line and reason, and go on.", metavar="FILE", needs="textual"
    )
    max_rejects: int | None = _declare_input("Fail after more than N unreadable rows.", minimum=0)
    defaults: str | None = declare_command_option(
        "Read defaults of options from this TOML file, instead of the usual one.", metavar="FILE"
    )
    no_defaults: bool = declare_command_option("Ignore the defaults file.")
    explain: bool = declare_command_option("Show how the chain would be fitted, without reading or writing rows.")
    verbose: bool = declare_command_option(
        "Report on standard error what each stage did, and how long it took.", "-v --verbose"
    )
    debug: bool = declare_command_option("Show the traceback of an error.")

    @property
    def writes_predictions(self) -> bool:
        """Whether predictions are written instead of rows: ``--predictions`` or ``--errors``."""
        return self.predictions or self.errors

    @property
    def predictions_flag(self) -> str:
        """The option by which predictions are written instead of rows, for messages."""
        return "--errors" if self.errors else "--predictions"


def open_engine(known: Registry, options: WorkOptions) -> Engine:
    """Make the engine that ``--engine`` and ``--jobs`` choose; its workers show warnings as filterkit does.

    Raise UsageError if there is no engine of this name, or it does not know the options, and PluginError if its class
    takes no options.
    """
    engine = make_engine(
        LocalEngine.name if options.engine is None else options.engine, options.jobs or count_available_cores(), known
    )
    engine.prepare(install_one_line_warnings)
    return engine
