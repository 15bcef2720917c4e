"""The hooks through which a plugin says what it offers, as specifications for pluggy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pluggy import HookimplMarker, HookspecMarker

from filterkit.counts.metric import Metric
from filterkit.stages.base import Stage

if TYPE_CHECKING:
    import click

    from filterkit.engines.local import LocalEngine
    from filterkit.files.formats import Format

PROJECT = "filterkit"  # what pluggy knows the hooks by, and the group of entry points that plugins are found in

hookspec = HookspecMarker(PROJECT)
hookimpl = HookimplMarker(PROJECT)


class Hooks:
    """The hooks. A plugin is a module with functions of these names, each marked ``@filterkit.hookimpl``.

    The hooks of one plugin at a time are called, together with the wrappers (``@filterkit.hookimpl(wrapper=True)``) of
    all plugins.
    """

    @hookspec
    def filterkit_stages(self) -> list[type[Stage]]:  # type: ignore[empty-body]
        """The stage classes that the plugin offers.

        Two plugins that offer a stage of the same name are an error that names both.
        """

    @hookspec
    def filterkit_metrics(self) -> list[Metric]:  # type: ignore[empty-body]
        """The metrics that the plugin offers. Each becomes a stage of the same name, too."""

    @hookspec
    def filterkit_formats(self) -> list[Format]:  # type: ignore[empty-body]
        """The file formats beside ARFF that the plugin reads or writes.

        Two plugins that offer a format for the same ending are an error that names both.
        """

    @hookspec
    def filterkit_engines(self) -> list[type[LocalEngine]]:  # type: ignore[empty-body]
        """The engines that the plugin offers: classes like `LocalEngine`, with a `name` for ``--engine``.

        Two plugins that offer an engine of the same name are an error that names both.
        """

    @hookspec
    def filterkit_subcommands(self) -> list[click.Command]:  # type: ignore[empty-body]
        """The click commands that the plugin offers, run as ``filterkit NAME``.

        filterkit's own subcommands come through this hook, too. Two plugins that offer a subcommand of the same name
        are an error that names both; filterkit's own names stay its own.
        """
