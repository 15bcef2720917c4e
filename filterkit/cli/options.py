"""Options that several commands have, each declared once, and the dataclasses that hold their values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from filterkit.engines.engine import Engine, available_cores
from filterkit.engines.local import LocalEngine
from filterkit.errors import quoted
from filterkit.messages import show_warnings
from filterkit.plugin.engines import make_engine
from filterkit.plugin.registry import Registry

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Size(click.ParamType):  # type: ignore[type-arg]  # older versions of click take no argument
    """An amount of memory such as 256MB, as a number of bytes."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        text = value.strip().upper().removesuffix("B").removesuffix("I")
        factor = 1024 ** (" KMGT".find(text[-1:]) if text[-1:] in "KMGT" and text else 0)
        try:
            size = int(float(text.rstrip("KMGT")) * factor)
        except (ValueError, OverflowError):
            size = 0
        if size <= 0:
            self.fail(f"{quoted(value)} is not a size such as 256MB", param, ctx)
        return size


BLOCK_SIZE = click.option("--block-size", type=Size(), hidden=True)
CLASS = click.option(
    "-c",
    "--class",
    "class_",
    metavar="ATTRIBUTE",
    help="The class attribute: its name, its number from 1, first, last or none.  [default: last, if nominal]",
)
DEBUG = click.option("--debug", is_flag=True, help="Show the traceback of an error.")
ENCODING = click.option("--encoding", metavar="NAME", default="utf-8", show_default=True, help="Encoding of the input.")
FROM = click.option(
    "--from",
    "from_",
    metavar="FORMAT[:OPTIONS]",
    help='Read the input in this format, which the ending of its name may not say. "filterkit formats" lists them.',
)
ENGINE = click.option(
    "--engine",
    metavar="ENGINE[:OPTIONS]",
    help="Run on this engine: local (threads), processes, or one that a plugin offers.",
)
LABELS = click.option(
    "--labels",
    metavar="N|-N|NAMES|FILE.xml",
    help="The labels (or targets) of multi-label data: the last N attributes, the first N, those of these names or "
    "patterns, or those in a file of Mulan.  [default: as the relation name says, like MEKA]",
)
LENIENT = click.option(
    "--lenient",
    is_flag=True,
    help="Correct lines that Weka refuses where their meaning is beyond doubt, and report it: empty fields are missing "
    "values, texts with blanks or apostrophes need no quotes, lines of KEEL are understood.",
)
MEMORY = click.option(
    "--memory", type=Size(), default="1GB", show_default=True, help="Memory for tables, and for rows between passes."
)
POSITIVE = click.option(
    "--positive", metavar="VALUE", help="The class value that is positive.  [default: the rarer of two]"
)
PROGRESS = click.option(
    "--progress/--no-progress",
    default=None,
    help="Show progress on standard error.  [default: only on a terminal]",
)
TRUST = click.option(
    "--trust",
    metavar="PACKAGE",
    multiple=True,
    help="Let the saved chain hold estimators of this package, beside scikit-learn's. Repeatable.",
)
UNSEEN = click.option(
    "--unseen",
    type=click.Choice(("error", "missing", "extend")),
    default="error",
    show_default=True,
    help="What becomes of a nominal value that the header, or the data fitted on, does not declare; extend adds it to "
    "the header.",
)


COMPLETE = click.option(
    "--complete",
    is_flag=True,
    help="Refuse a file of filterkit whose last line, the number of its rows, is missing; it may be cut off.",
)


def input_options(command: F) -> F:
    """The options that say how the text of an input is read."""
    return ENCODING(LENIENT(UNSEEN(COMPLETE(command))))


def jobs(workers: str) -> Decorator[Any]:
    """The option ``--jobs``, the number of `workers` that share the work."""
    return click.option(
        "--jobs", metavar="N", type=click.IntRange(1, 1024), help=f"Number of {workers}.  [default: one per core]"
    )


def seed(users: str) -> Decorator[Any]:
    """The option ``--seed`` for the random numbers of the named `users`."""
    return click.option("--seed", metavar="N", type=click.IntRange(0), help=f"Seed for {users}.")


def target_options(command: F) -> F:
    """The options that say what an input's class or labels are."""
    return CLASS(LABELS(POSITIVE(command)))


# Each method that `dataclass` generates takes start-up time, so there are no others than `__init__`.
@dataclass(kw_only=True, eq=False, repr=False)
class InputOptions:
    """How inputs are read: `from_` is their format, the others are parameters of `filterkit.formats.reader.Reader`."""

    class_: str | None = None
    labels: str | None = None
    positive: str | None = None
    from_: str | None = None
    encoding: str = "utf-8"
    block_size: int | None = None
    lenient: bool = False
    unseen: str = "error"
    complete: bool = False

    @property
    def about_text(self) -> dict[str, bool]:
        """Whether each option is given that applies to text alone, by its flag."""
        return {"--encoding": self.encoding != "utf-8"}

    @property
    def about_arff(self) -> dict[str, bool]:
        """Whether each option is given that applies to ARFF alone, by its flag."""
        return {
            "--lenient": self.lenient,
            "--unseen extend": self.unseen == "extend",
            "--complete": self.complete,
        }


@dataclass(kw_only=True, eq=False, repr=False)
class Options(InputOptions):
    """The options of the command ``filterkit``; the names are those of the parameters of its click command."""

    output: str = "-"
    to: str | None = None
    test: tuple[tuple[str, str], ...] = ()
    predictions: str | None = None
    save: str | None = None
    load: str | None = None
    trust: tuple[str, ...] = ()
    chain: str | None = None
    rejects: str | None = None
    max_rejects: int | None = None
    sparse: bool | None = None
    precision: int | None = None
    plugins: tuple[str, ...] = ()
    defaults: str | None = None
    no_defaults: bool = False
    jobs: int | None = None
    engine: str | None = None
    memory: int = 1 << 30
    seed: int | None = None
    progress: bool | None = None
    explain: bool = False
    as_json: bool = False
    verbose: bool = False
    debug: bool = False


def engine_of(known: Registry, text: str | None, jobs: int | None) -> Engine:
    """The engine that ``--engine`` and ``--jobs`` ask for.

    Raises
    ------
    UsageError : there is no engine of this name, or it does not know the options.
    """
    engine = make_engine(LocalEngine.name if text is None else text, jobs or available_cores(), known)
    engine.prepare(show_warnings)
    return engine
