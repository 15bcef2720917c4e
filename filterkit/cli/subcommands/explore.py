"""The subcommand ``explore``."""

from __future__ import annotations

import shlex

import click

from filterkit._version import __version__
from filterkit.cli.declared import declare_command_option, format_options_that_change_output, turn_into_command
from filterkit.cli.destinations import Destination, check_destinations, check_html_ending
from filterkit.cli.inputs import check_options_fit_formats, open_input, open_rows_for_fitting
from filterkit.cli.options import FitOptions, InputOptions, declare_seed_option, open_engine
from filterkit.cli.shell.streams import send_prints_to_stderr
from filterkit.files.output import open_output
from filterkit.messages import write_message
from filterkit.plugin.formats import Formats
from filterkit.plugin.parsing import move_options_before_input, parse_stages, refuse_repeated_options
from filterkit.plugin.registry import Registry

_BEST = 50


class ExploreOptions(InputOptions, FitOptions):
    """The options of ``explore``."""

    output: str = declare_command_option("Write the page to this file.", "-o --output", metavar="PATH", required=True)
    by: tuple[str, ...] = declare_command_option(
        "Rank the features by this metric. Repeatable; the first decides the order.  [default: all metrics]",
        metavar="METRIC",
    )
    top: int = declare_command_option("Show the N best features in detail.", default=_BEST, minimum=0, maximum=1000)
    seed: int | None = declare_seed_option("stages that draw random numbers")


class _ExploreCommand(click.Command):
    """A command whose options may also stand after INPUT and the stages, like those of ``filterkit`` itself."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        args = move_options_before_input(args, self, ctx.obj)
        refuse_repeated_options(self, ctx, args)
        return super().parse_args(ctx, args)


@turn_into_command("explore", ExploreOptions, _ExploreCommand, allow_interspersed_args=False)
@click.argument("path", metavar="INPUT")
@click.argument("words", metavar="[STAGE [OPTIONS]]...", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def write_exploration_page(known: Registry, /, path: str, words: tuple[str, ...], options: ExploreOptions) -> None:
    """Draw INPUT and what a chain makes of it, as a page.

    The page is one HTML file that any browser opens, also without a network. It shows classes, warnings, all features
    with their scores in a table and in the ROC plane, the distributions and shape curves of the best features, how the
    metrics agree, and what each stage did. With a numeric class, curves show its mean, and there is no ROC plane.

    Features are shown as they enter the first stage of the chain that learns from columns. So a stage before it, such
    as "words", can make features of texts.
    """
    formats = Formats(known.formats, options.from_)
    kind = formats.find_input_format(path)
    stages = parse_stages(list(words), known, options.seed, with_defaults=True)
    check_html_ending("explore", options.output)
    check_destinations([Destination("-o", options.output)], [path], known.files)
    check_options_fit_formats(options, [path], [kind])

    from filterkit.exploration.explore import explore
    from filterkit.exploration.plain import render_noscript_fragment
    from filterkit.pages.page import make_page

    numbered = any(stage.numbers_rows for stage in stages)
    reader = open_input(path, options, formats)
    with (
        send_prints_to_stderr(),
        open_engine(known, options) as engine,
        open_rows_for_fitting(reader, engine, options, numbered=numbered) as rows,
    ):
        found = explore(rows, stages, options.by, options.top, known, options.memory)
        relation = rows.schema.relation
    if not found["overview"]["rows"]:
        write_message(f"filterkit: warning: {reader.name}: there are no rows")
    chosen = format_options_that_change_output(options)
    if options.seed is not None:
        chosen += ["--seed", str(options.seed)]
    ranked = [word for name in options.by for word in ("--by", name)]
    chain = [word for stage in stages for word in stage.words()]
    head = [word for stage in stages[: found.pop("head")] for word in stage.words()]
    without = ["--no-defaults"] if known.defaults else []  # the words of the stages say what the defaults file gave
    data = {
        "made": {
            "program": f"filterkit {__version__}",
            "command": shlex.join(
                ["filterkit", *without, "explore", *chosen, *ranked, path, *chain, "-o", options.output]
            ),
            "input": shlex.join([*without, *chosen, path, *head]),
        },
        "file": path,
        "relation": relation,
        "format": kind.title,
        "chain": shlex.join(chain),
        **found,
    }
    with open_output(options.output) as out:
        out.write(make_page("explore", f"{relation or path} – filterkit", data, render_noscript_fragment(data)))
