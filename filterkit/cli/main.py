"""The command ``filterkit``: its options, what its first word means, and how errors are reported."""

from __future__ import annotations

import errno
import gc
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from filterkit._lazy import PostponedModule
from filterkit._version import __version__
from filterkit.allocators import keep_freed_memory
from filterkit.cli.declared import BEFORE, format_option_as_words, list_declared_options, turn_into_command
from filterkit.cli.options import RunOptions
from filterkit.cli.shell.signals import end_process_on_signal, find_signal_exit_status, raise_interrupt_on_signal
from filterkit.errors import FilterkitError, StageError, UsageError, explain_unexpected_error, quoted, suggestion
from filterkit.messages import format_click_message, install_one_line_warnings, write_message, write_unescaped
from filterkit.plugin.lookup import add_mending_stages_to_error, add_plugin_file_hint, find_stage
from filterkit.plugin.parsing import list_flags, make_stage_command, move_options_before_input, refuse_repeated_options
from filterkit.plugin.registry import Registry, get_registry

if TYPE_CHECKING:
    from filterkit.cli.defaults import Defaults

_DEFAULTS = "filterkit.defaults"  # the key under which a context has the defaults file
_EVERYWHERE = ("plugins", "debug", "defaults", "no_defaults")  # serve every subcommand, whether it declares them or not

# filterkit's own subcommands and what each is for, so that the help imports none of them.
SUBCOMMANDS = {
    "info": "Show the rows, attributes and class of INPUT.",
    "stages": "List all stages, or explain one.",
    "formats": "List all file formats, or explain one and its options.",
    "plugins": "List all plugins, what each offers, and whether it works.",
    "scores": "Score every feature of INPUT by one or several metrics.",
    "explore": "Draw INPUT and what a chain makes of it, as a page.",
    "evaluate": "Compare chains by cross-validation.",
    "report": "Show the results of evaluations.",
    "new-plugin": "Write a project with a plugin of your own.",
    "check-plugin": "Check a plugin or a stage against the conformance kit.",
}

TITLES = ("Input", "Chain", "Output", "Work", "Other options")  # of the sections of the help
SECTIONS = {each.name: each.metadata["section"] for each in list_declared_options(RunOptions)}  # titles by parameters


class _Command(click.Command):
    """The command ``filterkit``. It loads plugins and subcommands before it parses its options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Load plugins, because ``--help`` lists their subcommands, read the defaults file, and then parse the words.

        Raise UsageError if an option is repeated, ``--defaults`` and ``--no-defaults`` are combined, or the defaults
        file is wrong; `click.UsageError` if an option is unknown or lacks its value; and PluginError if the file of
        ``--plugin`` cannot be loaded.
        """
        given, _, _ = self.make_parser(ctx).parse_args(list(args))
        words = given.get("words")
        first = words[0] if isinstance(words, tuple) and words else "help"
        ctx.obj = known = get_registry()
        known.flags = frozenset(flag for each in self.get_params(ctx) for flag in list_flags(each))
        if first != "plugins":
            known.warn = lambda plugin: write_message(
                f"filterkit: warning: plugin {quoted(plugin.name)} ({plugin.origin}): {plugin.problem}"
            )
        if first in ("stages", "formats", "plugins"):  # they import plugins, and use no data
            for name in ("numpy", "pyarrow"):
                sys.modules.setdefault(name, PostponedModule(name))
        for path in given.get("plugins", ()):
            known.load_plugin_file(path)
        if first not in known.subcommands:
            args = move_options_before_input(args, self, known)
            given, _, _ = self.make_parser(ctx).parse_args(list(args))
            for path in given.get("plugins", ()):
                known.load_plugin_file(path)
        refuse_repeated_options(self, ctx, args)
        from filterkit.cli.defaults import read_defaults_file

        named, without = given.get("defaults"), given.get("no_defaults")
        if without and named is not None:
            raise UsageError("--defaults cannot be combined with --no-defaults; leave one out")
        found = ctx.meta[_DEFAULTS] = read_defaults_file("" if without else named)
        if found.path and "help" not in given:
            ctx.default_map = found.find_option_values(self, "filterkit")
            known.defaults = found.find_stage_defaults(known)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of the help in sections, with a title each."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        for title in TITLES:
            listed = [each for each in options if SECTIONS.get(str(each.name), TITLES[-1]) == title]
            with formatter.section(title):
                formatter.write_dl(list(filter(None, (each.get_help_record(ctx) for each in listed))))

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_help_text(ctx, formatter)
        with formatter.section("Subcommands"):
            formatter.write_dl([*SUBCOMMANDS.items()])
        known: Registry = ctx.obj
        if others := sorted(known.subcommands.keys() - SUBCOMMANDS.keys()):
            with formatter.section("Subcommands of plugins"):
                formatter.write_dl([(name, known.subcommands[name].get_short_help_str(limit=80)) for name in others])


@turn_into_command("filterkit", RunOptions, _Command, allow_interspersed_args=False)
@click.version_option(__version__, prog_name="filterkit")
@click.argument("words", metavar="INPUT [STAGE [STAGE OPTIONS]]...", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def run_chain_or_subcommand(context: click.Context, /, words: tuple[str, ...], options: RunOptions) -> None:
    """Fit a chain of stages on INPUT, and write the transformed rows as ARFF or in another format.

    \b
        filterkit in.arff STAGE --option 10 STAGE STAGE > out.arff

    INPUT is a file, a pattern in quotes such as 'part-*.arff' for several files with the same header, an fsspec URL, or
    - for standard input. Files that end in .gz, .bz2, .xz or .zst are decompressed. The ending of a name decides the
    format, unless --from or --to does; without either it is ARFF. "filterkit formats" lists the formats and their
    options.

    Options of a stage go after its name. Options of filterkit go before or after INPUT; long ones and -o may also
    follow a stage that has no option of this name. "filterkit stages" lists the stages, and "filterkit stages NAME"
    explains one.

    To run a subcommand, write its name instead of INPUT. "filterkit SUBCOMMAND --help" explains it.
    """
    known: Registry = context.obj
    found: Defaults = context.meta[_DEFAULTS]
    raise_interrupt_on_signal()
    if not words:
        if any(list_options_on_command_line(context)):
            raise UsageError("INPUT is missing; see: filterkit --help")
        write_unescaped(context.get_help() + "\n")
        context.exit(2)
    found.check_table_names(known.subcommands)
    first, rest = words[0], list(words[1:])
    if first in known.subcommands:
        defaults = found.find_option_values(known.subcommands[first], first)
        run_subcommand(known.subcommands[first], first, rest, context, defaults)
        return
    _check_first_word_is_input(known, first, rest)
    from filterkit.cli.run import run_chain

    options.defaults = found.path or None
    run_chain(first, rest, options, known)


def run_subcommand(
    command: click.Command, name: str, words: list[str], root: click.Context, defaults: dict[str, Any]
) -> None:
    """Run a subcommand, filterkit's own or a plugin's, with the words after its name.

    Raise UsageError if an option is unknown or wrong, FilterkitError if the subcommand fails, and
    `click.exceptions.Exit` if it ends with a status of its own or has printed its help.

    Parameters
    ----------
    command, name : the subcommand, and the name by which it was called.
    words : the words after its name.
    root : the context of ``filterkit``, with the options before the name. The subcommand gets those that it has, too;
        others are an error unless they serve every subcommand, such as ``--debug``.
    defaults : the values of options that the command line does not set, by the names of parameters.
    """
    own = {flag: param for param in command.params for flag in list_flags(param)}
    before: list[str] = []
    names = []
    for option, value in list_options_on_command_line(root):
        flag, *values = format_option_as_words(option, value)
        if flag in own:
            is_pair = isinstance(value, tuple) and any(isinstance(each, tuple) for each in value)  # --test IN OUT
            if is_pair or getattr(own[flag], "is_flag", False) != option.is_flag:
                raise UsageError(f"'{name}' has a {flag} of its own, with other values; write it after '{name}'")
            before += [flag, *values]
            names.append(str(own[flag].name))
        elif option.name not in _EVERYWHERE:
            raise UsageError(f"{flag} is not an option of '{name}'; leave it out")
    words = before + words
    try:
        with command.make_context(f"filterkit {name}", [*words], default_map=defaults, obj=root.obj) as context:
            refuse_repeated_options(command, context, words)
            context.meta[BEFORE] = names
            command.invoke(context)
    except click.UsageError as error:
        raise UsageError(f"{name}: {format_click_message(error, f'filterkit {name} --help')}") from None
    except click.ClickException as error:
        raise FilterkitError(f"{name}: {format_click_message(error)}") from None


def list_options_on_command_line(context: click.Context) -> Iterator[tuple[click.Option, Any]]:
    """Yield each option that stands on the command line, and its value; leave out values that are defaults."""
    for option in context.command.params:
        name = str(option.name)
        if isinstance(option, click.Option) and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            yield option, context.params.get(name)


def _check_first_word_is_input(known: Registry, first: str, rest: list[str]) -> None:
    """Raise UsageError if `first`, which stands for the input, is "", or is no file and looks like a stage or command.

    A missing file with another name, such as ``x.arff``, passes; opening it will fail. `rest` are the words after
    `first`. If `first` is a stage and the next word is ``--help``, print the help of the stage and raise
    `click.exceptions.Exit`.
    """
    if not first:
        raise UsageError("the name of the input is empty; name a file, or - for standard input")
    if os.path.exists(first) or first == "-" or "://" in first:
        return
    if first in known.stages:
        if "--help" in rest[:1]:
            make_stage_command(find_stage(known, first)).make_context(f"filterkit INPUT {first}", ["--help"])
        example = " ".join(["filterkit INPUT", first, *rest])
        raise UsageError(
            f"no file {quoted(first)}; this is a stage, and the input, - for standard input, comes first: {example}"
        )
    if first in ("help", "version"):
        raise UsageError(f"no file {quoted(first)}; did you mean --{first}?")
    if hint := suggestion(first, known.subcommands):
        raise UsageError(f"no file {quoted(first)}{hint}")
    if re.fullmatch("[a-z][a-z0-9-]*", first):
        raise UsageError(
            f"no file and no subcommand {quoted(first)}{add_plugin_file_hint(known, '; see: filterkit --help')}"
        )


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 1 the data or a stage failed, 2 wrong usage, 128 + N after signal N.

    A subcommand of a plugin may end with another status. None for `arguments` means those of the process.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    end_process_on_signal()
    install_one_line_warnings()
    keep_freed_memory()
    # Imported modules live to the end, so garbage collection can ignore them, now and at exit.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    gc.enable()
    try:
        status = run_command_line(arguments)
        end_process_on_signal()
    except KeyboardInterrupt:  # just before the end
        end_process_on_signal()
        status = 130
    status_of_signal = find_signal_exit_status()
    if status_of_signal is not None:
        from filterkit.temporary import remove_own_folders

        remove_own_folders()  # the signal may have interrupted cleaning up
        status = status_of_signal
    elif sys.stdout is not None:
        with suppress(OSError, FilterkitError):  # an error has been reported already
            sys.stdout.flush()
    gc.freeze()
    sys.exit(status)


def run_command_line(arguments: list[str]) -> int:
    """Run the command line, print an error as one line, and return the exit status.

    With ``--debug``, raise the error instead, unless it is one of wrong usage or of a lack of memory. An interrupt is
    status 130; if nobody reads the output any more, the status is 0.
    """
    try:
        status = 0
        try:  # not run_chain_or_subcommand.main, which handles interrupts and closed pipes in its own way
            with run_chain_or_subcommand.make_context("filterkit", list(arguments)) as context:
                run_chain_or_subcommand.invoke(context)
        except click.exceptions.Exit as error:
            status = error.exit_code
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0  # nobody reads the output any more
    except Exception as error:
        if "--debug" in arguments and not isinstance(error, _WITHOUT_TRACEBACK):
            raise
        if find_signal_exit_status() is None:  # otherwise the signal may have made an import fail with this error
            write_message(f"filterkit: {_format_error_message(error)}", is_error=True)
        return 2 if isinstance(error, (UsageError, click.ClickException)) else 1


_WITHOUT_TRACEBACK = (click.ClickException, click.Abort, UsageError, MemoryError)


def _format_error_message(error: Exception) -> str:
    """Return the message of an error as one line, with what the user can do if filterkit knows it."""
    if isinstance(error, click.Abort):  # a subcommand asked a question and got no answer
        return "aborted"
    if isinstance(error, click.ClickException):
        return format_click_message(error, "filterkit --help")
    if isinstance(error, StageError) and error.lacks:
        add_mending_stages_to_error(get_registry(), error)
    if isinstance(error, FilterkitError):
        return str(error)
    if isinstance(error, MemoryError) or (isinstance(error, ImportError) and "failed to map" in str(error)):
        return "out of memory; a smaller --memory or --jobs may help"
    if any(text in str(error) for text in ("can't start new thread", "Failed to launch worker thread")):
        return "the system starts no more threads; fewer --jobs, or a higher limit (ulimit -u), may help"
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):  # at an import, too
        return "too many files are open; fewer --jobs, or a higher limit (ulimit -n), may help"
    return explain_unexpected_error(error)
