"""Specifies the hooks through which a plugin says what it offers, for pluggy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pluggy import HookimplMarker, HookspecMarker

if TYPE_CHECKING:
    import click

    from filterkit.counts.metric import Metric
    from filterkit.engines.engine import Engine
    from filterkit.formats.base import FileFormat
    from filterkit.formats.simple import Format
    from filterkit.stages.base import Stage

PROJECT = "filterkit"  # the name of the hooks for pluggy, and the start of the names of groups of entry points

hookspec = HookspecMarker(PROJECT)
hookimpl = HookimplMarker(PROJECT)


def offer(*items: Any) -> Callable[[], list[Any]]:
    """Return a hook that offers the items; assign it to the name of a hook: ``filterkit_stages = offer(MyStage)``."""
    return hookimpl(lambda: list(items))


class Hooks:
    """The hooks by which a plugin says what it offers; each is a function that returns a list.

    A plugin is a module with functions of these names, each marked ``@filterkit.hookimpl``. filterkit calls the hooks
    of one plugin at a time, together with the wrappers of all plugins (``@filterkit.hookimpl(wrapper=True)``).
    """

    @hookspec
    def filterkit_stages(self) -> list[type[Stage]]:  # type: ignore[empty-body]
        """Return the stage classes that the plugin offers.

        Two plugins that offer a stage of the same name are an error that names both.
        """

    @hookspec
    def filterkit_metrics(self) -> list[Metric]:  # type: ignore[empty-body]
        """Return the metrics that the plugin offers. Each also becomes a stage of the same name."""

    @hookspec
    def filterkit_formats(self) -> list[Format | type[FileFormat]]:  # type: ignore[empty-body]
        """Return the file formats that the plugin reads or writes.

        Two plugins that offer a format of the same name, or for the same ending, are an error that names both.
        """

    @hookspec
    def filterkit_engines(self) -> list[type[Engine]]:  # type: ignore[empty-body]
        """Return the engines that the plugin offers: subclasses of `Engine`, with a `name` for ``--engine``.

        Two plugins that offer an engine of the same name are an error that names both.
        """

    @hookspec
    def filterkit_subcommands(self) -> list[click.Command]:  # type: ignore[empty-body]
        """Return the click commands that the plugin offers, run as ``filterkit NAME``.

        Two plugins that offer a subcommand of the same name are an error that names both. So is a subcommand with the
        name of one of filterkit itself.
        """
