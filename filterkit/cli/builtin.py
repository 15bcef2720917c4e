"""filterkit's own subcommands, offered through the same hook as those of plugins.

Their modules are imported when the hook is called; a run of a chain does not need them.
"""

from __future__ import annotations

import click

from filterkit.plugin.hookspecs import hookimpl


@hookimpl
def filterkit_subcommands() -> list[click.Command]:
    """The subcommands, in the order of the help."""
    from filterkit.cli.check_plugin import check_plugin
    from filterkit.cli.evaluate import evaluate
    from filterkit.cli.explore import explore
    from filterkit.cli.formats import formats
    from filterkit.cli.info import info
    from filterkit.cli.new_plugin import new_plugin
    from filterkit.cli.plugins import plugins
    from filterkit.cli.report import report
    from filterkit.cli.scores import scores
    from filterkit.cli.stages import stages

    return [info, stages, formats, plugins, scores, explore, evaluate, report, new_plugin, check_plugin]
