"""What a plugin may offer, as pluggy hook specifications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pluggy import HookimplMarker, HookspecMarker

from filterkit.counts.metric import Metric
from filterkit.stages.base import Stage

if TYPE_CHECKING:
    import click

    from filterkit.engines.local import LocalEngine
    from filterkit.files.formats import Format

hookspec = HookspecMarker("filterkit")
hookimpl = HookimplMarker("filterkit")


class Hooks:
    """The hooks; a plugin is a module with functions of these names, marked ``@filterkit.hookimpl``."""

    @hookspec
    def filterkit_stages(self) -> list[type[Stage]]:  # type: ignore[empty-body]
        """The stage classes that the plugin brings.

        The stages of all plugins are put together; two of one name are an error that names both plugins.
        """

    @hookspec
    def filterkit_metrics(self) -> list[Metric]:  # type: ignore[empty-body]
        """The metrics that the plugin brings; each becomes a stage of its name, too."""

    @hookspec
    def filterkit_formats(self) -> list[Format]:  # type: ignore[empty-body]
        """The file formats beside ARFF that the plugin reads or writes; two of one ending are an error."""

    @hookspec
    def filterkit_engines(self) -> list[type[LocalEngine]]:  # type: ignore[empty-body]
        """The engines that the plugin brings, classes like `LocalEngine` with a `name` for ``--engine``; two of one
        name are an error."""

    @hookspec
    def filterkit_subcommands(self) -> list[click.Command]:  # type: ignore[empty-body]
        """The click commands that the plugin brings, run as ``filterkit NAME``; two of one name are an error."""
