"""What a plugin may offer, as pluggy hook specifications."""

from __future__ import annotations

from pluggy import HookimplMarker, HookspecMarker

from filterkit.metric import Metric
from filterkit.stage import Stage

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
