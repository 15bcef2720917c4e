"""The command ``filterkit``: parsing, dispatch, and what happens when something goes wrong."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import Any, NoReturn

import click

from filterkit import __version__
from filterkit.cli.memory import keep_freed_memory
from filterkit.engine.local import LocalEngine, available_cores
from filterkit.errors import FilterkitError, UsageError, quoted, show_warnings, suggestion
from filterkit.plugins import SUBCOMMANDS, Registry, registry
from filterkit.words import message, parse_stages, read_stages, stage_command

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


_SUBCOMMAND_HELP = {
    "stages": "Usage: filterkit stages [NAME|FILE]\n\n  All stages, or all about one, or what is in a saved chain.",
    "plugins": "Usage: filterkit [--debug] plugins\n\n  What plugins there are, with what, and whether they work.",
    "new-plugin": "Usage: filterkit new-plugin NAME\n\n  Write filterkit-NAME/, a project that passes its own tests.",
    "check-plugin": """Usage: filterkit check-plugin PLUGIN|PACKAGE|FILE.py
       filterkit check-plugin STAGE [OPTIONS]

  Hold all stages and metrics of a plugin, or one stage, against the conformance kit.""",
}


class Size(click.ParamType[int]):
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


@click.command(
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
    default="-",
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
@click.option("--save", metavar="FILE", help="Also keep the fitted chain in a file.")
@click.option("--load", metavar="FILE", help="Transform INPUT by a kept chain; there are no stages then.")
@click.option("--chain", metavar="FILE", help="Read the stages from a file, one a line, # begins a comment.")
@click.option("--rejects", metavar="FILE", help="Put rows that cannot be read here, and go on with the others.")
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
    "--plugin", "plugins", metavar="FILE", multiple=True, help="Load a plugin from a Python file; repeatable."
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
    for path in plugins:
        known.add_file(path)
    if words[:1] != ("plugins",):
        _warn_of_broken(known)
    if not words:
        click.echo(context.get_help(), err=True)
        context.exit(2)
    first, rest = words[0], list(words[1:])
    if first in SUBCOMMANDS:
        for name in ("test", "save", "load", "chain", "rejects", "max_rejects"):
            if options[name]:
                raise UsageError(f"--{name.replace('_', '-')} is of no use to '{first}'")
        if options["output"] != "-" and first not in ("scores", "evaluate"):
            raise UsageError(f"--output is of no use to '{first}'")
        if first in _SUBCOMMAND_HELP and rest[:1] == ["--help"]:
            click.echo(_SUBCOMMAND_HELP[first])
            return
        if first == "scores":
            from filterkit.cli.scoring import scores

            scores(rest, options | {"engine": _engine(known, options), "formats": known.formats})
        elif first == "evaluate":
            from filterkit.cli.evaluating import evaluate

            evaluate(rest, options | {"engine": _engine(known, options), "formats": known.formats, "plugins": plugins})
        elif first == "report":
            from filterkit.cli.reporting import report

            report(rest)
        elif first in ("stages", "plugins"):
            from filterkit.cli import listing

            getattr(listing, first)(known, rest, options["debug"])
        else:
            from filterkit.cli import authors

            getattr(authors, first.replace("-", "_"))(known, rest, options["debug"])
        return
    if first in known.subcommands:
        known.subcommands[first].main(rest, f"filterkit {first}", standalone_mode=False)
        return
    _notice_missing_input(known, first, rest)
    seed, listed = options.pop("seed"), options.pop("chain")
    stages = parse_stages(rest, known, seed)
    if listed is not None:
        if stages:
            raise UsageError("a stage beside --chain: give either")
        stages = read_stages(listed, known, seed)
    from filterkit.cli.run import run

    run(first, stages, engine=_engine(known, options), formats=known.formats, plugins=plugins, **options)


def _engine(known: Registry, options: dict[str, Any]) -> LocalEngine:
    """The engine that the options ask for; takes them out."""
    name, jobs = options.pop("engine") or LocalEngine.name, options.pop("jobs") or available_cores()
    if name not in known.engines:
        hint = suggestion(name, [*known.engines]) or f"; there are {', '.join(sorted(known.engines))}"
        raise UsageError(f"--engine: no engine {quoted(name)}{hint}")
    return known.engines[name](jobs)


def _notice_missing_input(known: Registry, first: str, rest: list[str]) -> None:
    """Answer a chain whose input has been forgotten, and a misspelt subcommand; a file of such a name is
    ``./name``."""
    if os.path.exists(first) or first == "-" or "://" in first:
        return
    if first in known.stages:
        if "--help" in rest[:1]:
            stage_command(known.stage(first)).make_context(f"filterkit INPUT {first}", ["--help"])
        example = " ".join(["filterkit INPUT", first, *rest])
        raise UsageError(f"no file {quoted(first)}, which is a stage; the input comes first: {example}")
    hint = suggestion(first, [*SUBCOMMANDS, *known.subcommands])
    if hint:
        raise UsageError(f"no file {quoted(first)}{hint}")


def _warn_of_broken(known: Registry) -> None:
    """One line for each plugin that cannot be used."""
    for plugin in known.plugins:
        if plugin.problem:
            print(
                f"filterkit: warning: plugin {quoted(plugin.name)} ({plugin.origin}): {plugin.problem}", file=sys.stderr
            )


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 1 the data or a stage failed, 2 wrong usage."""
    arguments = sys.argv[1:] if arguments is None else arguments
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    show_warnings()
    keep_freed_memory()
    # What has been imported lives to the end: no garbage collection need look at it, now or at exit.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    gc.enable()
    status = _main(arguments)
    gc.freeze()
    sys.exit(status)


def _main(arguments: list[str]) -> int:
    try:
        # Not command.main, which has its own ideas of interrupts and closed pipes.
        with command.make_context("filterkit", list(arguments)) as context:
            command.invoke(context)
        return 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Nobody reads on. Python would complain once more when it flushes standard output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except click.ClickException as error:
        return _complain(message(error) + "; see: filterkit --help", 2)
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


def _complain(text: str, status: int) -> int:
    print(f"filterkit: {text}", file=sys.stderr)
    return status
