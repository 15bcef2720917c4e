"""Finding, loading and listing plugins.

Plugins are the entry points of the group ``filterkit``, and files named with ``--plugin``. Each is
imported by itself, so that a broken one is a row in the list and a warning, never a dead command line.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from filterkit.counts.metric import Metric
from filterkit.engines.local import LocalEngine
from filterkit.errors import PluginError, UsageError, quoted, suggestion
from filterkit.plugin.discovery import installed
from filterkit.plugin.hookspecs import Hooks
from filterkit.stages.base import Stage
from filterkit.stages.metric_scaling import MetricScaling, metric_stage

if TYPE_CHECKING:
    import click

    from filterkit.files.formats import Format

# What the command line does beside running a chain.
SUBCOMMANDS = ("stages", "plugins", "scores", "evaluate", "report", "new-plugin", "check-plugin")
GROUP = "filterkit"


@dataclass
class Plugin:
    """One plugin, loaded or broken.

    `origin` is the distribution with its version, or the file. `problem` is empty, or one line that says why the
    plugin cannot be used, and `trace` the traceback behind it.
    """

    name: str
    origin: str
    stages: list[type[Stage]] = field(default_factory=list)
    formats: list[Format] = field(default_factory=list)
    engines: list[type[LocalEngine]] = field(default_factory=list)
    subcommands: list[click.Command] = field(default_factory=list)
    problem: str = ""
    trace: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.origin})"

    def known_as(self) -> str:
        """Name and origin in words, the file without its folder."""
        return f"{self.name} of {os.path.basename(self.origin)}"

    def brings(self, thing: Any) -> bool:
        """Whether it brings this stage class, metric, format, engine class or subcommand."""
        metrics = [stage.metric for stage in self.stages if issubclass(stage, MetricScaling)]
        return any(thing is each for each in [*self.stages, *metrics, *self.formats, *self.engines, *self.subcommands])


def _loaded(value: str) -> Any:
    """What an entry point names: a module, or something in one, ``module:name``."""
    path, _, name = value.partition("[")[0].strip().partition(":")
    found = importlib.import_module(path)
    return attrgetter(name)(found) if name else found


class Registry:
    """The plugins found and the stages they bring.

    Attributes
    ----------
    plugins : all of them, sorted by name, files last.
    stages : stage classes by name, without those that two plugins claim.
    formats : file formats by ending, in the same way.
    engines : engine classes by name, in the same way; ``local`` is filterkit's own.
    subcommands : click commands by name, in the same way.
    """

    def __init__(self) -> None:
        self.plugins: list[Plugin] = []
        self.stages: dict[str, type[Stage]] = {}
        self.formats: dict[str, Format] = {}
        self.engines: dict[str, type[LocalEngine]] = {LocalEngine.name: LocalEngine}
        self.subcommands: dict[str, click.Command] = {}
        own = "filterkit itself"
        self._claims: dict[tuple[str, str], list[Plugin | str]] = {("engine", LocalEngine.name): [own]}
        self._claims |= {("subcommand", name): [own] for name in SUBCOMMANDS}
        self._manager = pluggy.PluginManager(GROUP)
        self._manager.add_hookspecs(Hooks)

    def add_entry_points(self) -> None:
        """Load every installed plugin, in the order of their names; those of filterkit alone if the environment
        variable ``FILTERKIT_NO_PLUGINS`` is set to something."""
        alone = bool(os.environ.get("FILTERKIT_NO_PLUGINS"))
        for name, value, origin in installed(GROUP):
            if alone and not value.startswith("filterkit_plugins."):
                continue
            try:
                module = _loaded(value)
            except BaseException as error:
                self._broken(name, origin, error)
                continue
            self._register(name, origin, module)

    def add_file(self, path: str, by: str = "--plugin") -> None:
        """Load the plugin in a Python file.

        Parameters
        ----------
        path : of the file.
        by : the option or subcommand that asks for it, for messages.

        Raises
        ------
        PluginError : the file cannot be loaded.
        """
        name = os.path.splitext(os.path.basename(path))[0]
        spec = importlib.util.spec_from_file_location(f"filterkit_plugin_file_{name}", path)
        if spec is None or spec.loader is None or not os.path.isfile(path):
            raise PluginError(f"{by} {path}: no such Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            self._broken(name, path, error)
        else:
            self._register(name, path, module)
        if self.plugins[-1].problem:
            hint = ""
            if self.plugins[-1].problem.startswith("two plugins"):
                hint = "; FILTERKIT_NO_PLUGINS=1 leaves out those that are installed"
            raise PluginError(f"{by} {path}: {self.plugins[-1].problem}{hint}")

    def _broken(self, name: str, origin: str, error: BaseException) -> None:
        if isinstance(error, KeyboardInterrupt):
            raise error
        trace = "".join(traceback.format_exception(error))
        message = f"{type(error).__name__}: {error}".partition("\n")[0]
        self.plugins.append(Plugin(name, origin, problem=message, trace=trace))

    def _register(self, name: str, origin: str, module: ModuleType) -> None:
        """Take what `module` offers."""
        plugin = Plugin(name, origin)
        known_as = f"{name} {module.__name__}"
        try:
            self._manager.register(module, name=known_as)
            self._manager.check_pending()
            plugin.stages += self._offered(self._manager.hook.filterkit_stages, module)
            for metric in self._offered(self._manager.hook.filterkit_metrics, module):
                if not (isinstance(metric, Metric) and metric.name):
                    raise PluginError(f"filterkit_metrics gives {metric!r}, which is no Metric with a name")
                plugin.stages.append(metric_stage(metric))
            for stage in plugin.stages:
                if not (isinstance(stage, type) and issubclass(stage, Stage) and stage.name):
                    raise PluginError(f"filterkit_stages gives {stage!r}, which is no stage class with a name")
            for kind in ("formats", "engines", "subcommands"):
                getattr(plugin, kind).extend(self._offered(getattr(self._manager.hook, f"filterkit_{kind}"), module))
        except BaseException as error:
            self._manager.unregister(name=known_as)
            self._broken(name, origin, error)
            return
        self._add(plugin)

    def add_stage(self, stage: type[Stage]) -> None:
        """Take one stage class that no plugin brings."""
        self._add(Plugin(stage.name, stage.__module__, [stage]))

    def _add(self, plugin: Plugin) -> None:
        self.plugins.append(plugin)
        offers: list[tuple[str, str, Any, dict[str, Any]]]
        offers = [("stage", stage.name, stage, self.stages) for stage in plugin.stages]
        offers += [("format", ending, form, self.formats) for form in plugin.formats for ending in form.endings]
        offers += [("engine", engine.name, engine, self.engines) for engine in plugin.engines]
        offers += [("subcommand", str(each.name), each, self.subcommands) for each in plugin.subcommands]
        for kind, name, item, known in offers:
            owners = self._claims.setdefault((kind, name), [])
            owners.append(plugin)
            if len(owners) == 1:
                known[name] = item
                continue
            if owners[0] != "filterkit itself":
                known.pop(name, None)
            plugin.problem = f"two plugins claim the {kind} '{name}': {' and '.join(map(str, owners))}"

    @staticmethod
    def _offered(hook: pluggy.HookCaller, module: ModuleType) -> list[Any]:
        """What `module` alone gives for a hook."""
        given: list[Any] = [impl.function() for impl in hook.get_hookimpls() if impl.plugin is module]
        return [item for items in given for item in items]

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics by name."""
        return {name: s.metric for name, s in self.stages.items() if issubclass(s, MetricScaling)}

    def origin(self, stage: str) -> str:
        """Which plugin brings the stage of this name, and what it comes with.

        Raises
        ------
        PluginError : none does.
        """
        plugin = next((plugin for plugin in self.plugins if any(s.name == stage for s in plugin.stages)), None)
        if plugin is None:
            raise PluginError(f"no plugin brings the stage {quoted(stage)}; write a hook filterkit_stages that does")
        return plugin.known_as()

    def plugin_of(self, thing: Any) -> Plugin | None:
        """The plugin that brings this stage class, metric, format, engine class or subcommand; None if none does."""
        return next((plugin for plugin in self.plugins if plugin.brings(thing)), None)

    def metric(self, name: str) -> Metric:
        """The metric called `name`.

        Raises
        ------
        UsageError : there is none, with a suggestion where one is likely.
        """
        metrics = self.metrics
        if name not in metrics:
            hint = suggestion(name, sorted(metrics)) or f"; there are {', '.join(sorted(metrics))}"
            raise UsageError(f"no metric {quoted(name)}{hint}")
        return metrics[name]

    def stage(self, name: str) -> type[Stage]:
        """The stage class called `name`.

        Raises
        ------
        UsageError : there is none, with a suggestion where one is likely.
        PluginError : two plugins claim the name.
        """
        if name in self.stages:
            return self.stages[name]
        if ("stage", name) in self._claims:
            owners = " and ".join(map(str, self._claims["stage", name]))
            raise PluginError(f"two plugins claim the stage '{name}': {owners}; uninstall one of them")
        words = name.replace(",", " ").replace("|", " ").split()
        if name.startswith("-"):
            hint = "; options of filterkit itself go before the input"
        elif len(words) > 1 and words[0] in self.stages:
            hint = f"; write stages and options as words of their own: {' '.join(words)}"
        else:
            hint = suggestion(name, sorted(self.stages))
        if not hint and os.path.isfile(name):
            hint = ", but a file; several files that make one input are given as a pattern in quotes, '*.arff'"
        if not hint and any(plugin.problem for plugin in self.plugins):
            hint = "; some plugins are broken, see: filterkit plugins"
        raise UsageError(f"no stage {quoted(name)}{hint or '; see: filterkit stages'}")


def find_metric(name: str) -> Metric:
    """The metric called `name`, of this process's plugins; raises a `UsageError` if there is none."""
    return registry().metric(name)


def stage_again(name: str, origin: str, options: dict[str, Any]) -> Stage:
    """A stage of this process's plugins, for pickle.

    Parameters
    ----------
    name, options : its own.
    origin : the plugin that brought it, as `Registry.origin` says.

    Raises
    ------
    PluginError : no plugin brings it here.
    """
    known = registry()
    if name not in known.stages:
        raise PluginError(f"a pickle needs the stage {quoted(name)}; install or load the plugin {origin} first")
    return known.stages[name](**options)


@cache
def registry() -> Registry:
    """The registry of this process, made on first use."""
    found = Registry()
    found.add_entry_points()
    return found
