"""The command ``filterkit``: parsing, dispatch, and what happens when something goes wrong."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import Any, NoReturn

import click

from filterkit._version import __version__
from filterkit.cli.memory import keep_freed_memory
from filterkit.cli.signals import end_at_once, end_by_unwinding, ended
from filterkit.cli.subcommand import ONCE, engine, given_options, run_own, run_plugins
from filterkit.errors import FilterkitError, UsageError, quoted, suggestion
from filterkit.messages import draw, say, show_warnings
from filterkit.plugin.parsing import message, parse_stages, read_stages, stage_command
from filterkit.plugin.registry import SUBCOMMANDS, Registry, registry

_HELP = """Pass ARFF through a chain of stages and write ARFF.

\b
INPUT is a file, a quoted glob of parts with one header, an fsspec URL, or - for
standard input; .gz, .bz2, .xz and .zst are recognised. Options go before INPUT,
each stage's own options after its name:

\b
    filterkit in.arff shape --neighbors 10 bns l2 > out.arff

\b
Instead of INPUT there may be a subcommand:
    stages [NAME]   what stages there are, or all about one or about a saved chain
    plugins         what plugins there are and whether they work
    scores INPUT METRIC...   how every feature scores
    evaluate DATA --chain...  compare chains that end in a learner, by cross-validation
    report RESULTS...        what evaluations found, and which method to take
    new-plugin NAME          write a project with a stage of your own
    check-plugin NAME        hold a plugin, a Python file or a stage against the conformance kit
"""


class Size(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
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


class _Command(click.Command):
    """Lists the subcommands of plugins behind filterkit's own."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_help_text(ctx, formatter)
        more = registry().subcommands
        if more:
            with formatter.section("Subcommands of plugins"):
                formatter.write_dl([(name, more[name].get_short_help_str(limit=80)) for name in sorted(more)])


def _load(context: click.Context, option: click.Parameter, files: tuple[str, ...]) -> tuple[str, ...]:
    """Load the plugins in some files, before anything else, so that ``--help`` shows what they bring."""
    for path in files:
        registry().add_file(path)
    return files


@click.command(
    cls=_Command,
    help=_HELP,
    context_settings={
        "allow_interspersed_args": False,
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
    options_metavar="[OPTIONS]",
    add_help_option=True,
)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    default=["-"],
    **ONCE,
    help="Write here, whole or not at all, instead of to standard output.",
)
@click.option(
    "-c",
    "--class",
    "class_",
    metavar="NAME|N|first|last|none",
    help="The class attribute, N from 1.  [default: last, if nominal]",
)
@click.option(
    "--labels",
    metavar="N",
    type=click.IntRange(1),
    help="The last N attributes are the labels of multi-label data.  [default: as MEKA's -C says in the relation name]",
)
@click.option(
    "--test",
    nargs=2,
    multiple=True,
    metavar="IN OUT",
    help="Also transform IN by what was fitted on INPUT, and write it to OUT; repeatable.",
)
@click.option("--save", metavar="FILE", **ONCE, help="Also keep the fitted chain in a file.")
@click.option("--load", metavar="FILE", **ONCE, help="Transform INPUT by a kept chain; there are no stages then.")
@click.option("--chain", metavar="FILE", **ONCE, help="Read the stages from a file, one a line, # begins a comment.")
@click.option("--rejects", metavar="FILE", **ONCE, help="Put rows that cannot be read here, and go on with the others.")
@click.option("--max-rejects", metavar="N", type=click.IntRange(0), help="At most so many.  [default: any number]")
@click.option("--positive", metavar="VALUE", help="The positive class value.  [default: of two, the rarer]")
@click.option("--encoding", metavar="NAME", default="utf-8", show_default=True, help="The encoding of INPUT.")
@click.option("--sparse/--dense", default=None, help="Write sparse or dense rows.  [default: as the input]")
@click.option(
    "--precision", metavar="N", type=click.IntRange(1, 17), help="Significant digits.  [default: shortest exact]"
)
@click.option("--jobs", metavar="N", type=click.IntRange(1, 1024), help="Threads.  [default: the cores]")
@click.option("--engine", metavar="NAME", help="What runs the work: local, or one that a plugin brings.")
@click.option("--memory", type=Size(), default="1GB", show_default=True, help="Memory for what is kept between passes.")
@click.option("--seed", metavar="N", type=click.IntRange(0), help="For all stages that draw random numbers.")
@click.option(
    "--plugin",
    "plugins",
    metavar="FILE",
    multiple=True,
    is_eager=True,
    callback=_load,
    help="Load a plugin from a Python file; repeatable.",
)
@click.option("--progress/--no-progress", default=None, help="A bar on standard error.  [default: if it is a terminal]")
@click.option("-v", "--verbose", is_flag=True, help="Say on standard error what was done.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.option("--block-size", type=Size(), hidden=True)
@click.version_option(__version__, prog_name="filterkit")
@click.argument("words", metavar="INPUT [STAGE [STAGE OPTIONS]]...", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def command(context: click.Context, /, words: tuple[str, ...], plugins: tuple[str, ...], **options: Any) -> None:
    known = registry()
    end_by_unwinding()
    if words[:1] != ("plugins",):
        _warn_of_broken(known)
    if not words and given_options(context):
        raise UsageError("INPUT is missing; see: filterkit --help")
    if not words:
        draw(context.get_help() + "\n")
        context.exit(2)
    first, rest = words[0], list(words[1:])
    if first in SUBCOMMANDS:
        run_own(known, first, rest, context)
        return
    if first in known.subcommands:
        run_plugins(known.subcommands[first], first, rest, context)
        return
    if rest[:1] in (["--help"], ["-h"]) and first not in known.stages:
        click.echo(context.get_help())
        return
    _notice_missing_input(known, first, rest)
    seed, listed = options["seed"], options["chain"]
    stages = parse_stages(rest, known, seed)
    if listed is not None:
        if stages:
            raise UsageError("a stage beside --chain: give either")
        stages = read_stages(listed, known, seed)
    from filterkit.cli.run import run

    run(first, stages, engine=engine(known, options), formats=known.formats, plugins=plugins, **options)


def _notice_missing_input(known: Registry, first: str, rest: list[str]) -> None:
    """Answer a chain whose input has been forgotten, and a misspelt subcommand; a file of such a name is
    ``./name``."""
    if not first:
        raise UsageError("the name of the input is empty")
    if os.path.exists(first) or first == "-" or "://" in first:
        return
    if first in known.stages:
        if "--help" in rest[:1]:
            stage_command(known.stage(first)).make_context(f"filterkit INPUT {first}", ["--help"])
        example = " ".join(["filterkit INPUT", first, *rest])
        raise UsageError(f"no file {quoted(first)}, which is a stage; the input comes first: {example}")
    if first in ("help", "version"):
        raise UsageError(f"no file {quoted(first)}; did you mean --{first}?")
    hint = suggestion(first, [*SUBCOMMANDS, *known.subcommands])
    if hint:
        raise UsageError(f"no file {quoted(first)}{hint}")


def _warn_of_broken(known: Registry) -> None:
    """One line for each plugin that cannot be used."""
    for plugin in known.plugins:
        if plugin.problem:
            say(f"filterkit: warning: plugin {quoted(plugin.name)} ({plugin.origin}): {plugin.problem}")


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 1 the data or a stage failed, 2 wrong usage."""
    arguments = sys.argv[1:] if arguments is None else arguments
    end_at_once()
    show_warnings()
    keep_freed_memory()
    # What has been imported lives to the end: no garbage collection need look at it, now or at exit.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    gc.enable()
    try:
        status = _main(arguments)
        end_at_once()
    except KeyboardInterrupt:  # when it was as good as done
        end_at_once()
        status = 130
    if sys.stdout is not None and ended() is None:
        with suppress(OSError, FilterkitError):  # what was printed before an error; a failure has been told of
            sys.stdout.flush()
    gc.freeze()
    status_of_signal = ended()
    if status_of_signal is not None:
        from filterkit.files.aside import clear_away

        clear_away()  # it may have come in the middle of cleaning up
    sys.exit(status if status_of_signal is None else status_of_signal)


def _main(arguments: list[str]) -> int:
    try:
        status = _run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0  # nobody reads on
    except click.Abort:  # a question of a plugin's subcommand was not answered
        return _complain("aborted", 1)
    except click.ClickException as error:
        return _complain(message(error, "filterkit --help"), 2)
    except UsageError as error:
        return _complain(str(error), 2)
    except FilterkitError as error:
        if "--debug" in arguments:
            raise
        return _complain(str(error), 1)
    except MemoryError:
        return _complain("out of memory; a smaller --memory or --jobs may help", 1)
    except Exception as error:
        if "--debug" in arguments:
            raise
        return _complain(f"unexpected {type(error).__name__}: {error} (--debug shows where)", 1)


def _run(arguments: list[str]) -> int:
    # Not command.main, which has its own ideas of interrupts and closed pipes.
    try:
        with command.make_context("filterkit", list(arguments)) as context:
            command.invoke(context)
    except click.exceptions.Exit as error:
        return error.exit_code
    return 0


def _complain(text: str, status: int) -> int:
    if ended() is None:  # an interrupted import may have made another exception of it
        say(f"filterkit: {text}")
    return status
