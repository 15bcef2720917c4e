"""Loads plugins, and looks up by name what they offer.

A plugin is a module that entry points name (`filterkit.plugin.discovery` finds them), or a Python file named with
``--plugin``. A module is imported when one of the names that its entry points list is looked up, or when names are
listed. A module in the group ``filterkit``, which does not say what it offers, is imported at once. A broken plugin
causes an error when one of its names is looked up, a warning when names are listed, and a line in ``filterkit
plugins``; the others work.
"""

from __future__ import annotations

import copyreg
import errno
import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from filterkit._lazy import stop_postponing_imports
from filterkit._version import DISTRIBUTION
from filterkit.errors import FilterkitError, PluginError, make_file_error, plugin_by_module, quoted, record_plugin
from filterkit.plugin.discovery import InstalledPlugin, list_installed_plugins
from filterkit.plugin.hookspecs import PROJECT
from filterkit.plugin.offers import HookCaller, Plugin
from filterkit.stages.options import get_option_values

if TYPE_CHECKING:
    import click

    from filterkit.counts.metric import Metric
    from filterkit.engines.engine import Engine
    from filterkit.formats.base import FileFormat
    from filterkit.formats.simple import Format
    from filterkit.stages.base import Stage

T = TypeVar("T")


@dataclass(eq=False, repr=False)
class OffersByName(Mapping[str, T]):
    """A mapping from names to the objects of one kind, such as "stage", that filterkit and plugins offer.

    Looking up a name loads the plugins that list it, and listing the names loads all plugins that list this kind. A
    lookup, also by ``in`` or ``get``, raises PluginError if the plugin that lists the name is broken, or two plugins
    claim it.
    """

    registry: Registry
    kind: str

    def __getitem__(self, name: str) -> T:
        found: T = self.registry.find_offer(self.kind, name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.registry.list_names(self.kind))

    def __len__(self) -> int:
        return len(self.registry.list_names(self.kind))


# What filterkit itself offers, by kind and name: a module and a name in it. The help lists subcommands in this order.
OWN = {
    "format": {"arff": "filterkit.arff.form:Arff", ".arff": "filterkit.arff.form:Arff"},
    "engine": {
        "local": "filterkit.engines.local:LocalEngine",
        "processes": "filterkit.engines.processes:ProcessEngine",
    },
    "subcommand": {
        "info": "filterkit.cli.subcommands.info:show_input",
        "stages": "filterkit.cli.subcommands.stages:show_stages",
        "formats": "filterkit.cli.subcommands.formats:show_formats",
        "plugins": "filterkit.cli.subcommands.plugins:show_plugins",
        "scores": "filterkit.cli.subcommands.scores:show_scores",
        "explore": "filterkit.cli.subcommands.explore:write_exploration_page",
        "evaluate": "filterkit.cli.subcommands.evaluate:evaluate_chains",
        "report": "filterkit.cli.subcommands.report:show_report",
        "new-plugin": "filterkit.cli.subcommands.new_plugin:write_new_plugin",
        "check-plugin": "filterkit.cli.subcommands.check_plugin:check_plugin",
    },
}


class Registry:
    """All plugins, and what they offer by name.

    Attributes
    ----------
    files : the paths of the files that plugins were loaded from.
    flags : the options of the command ``filterkit`` itself, such as ``--jobs``; empty in Python.
    defaults : the values of the defaults file for options of stages, by stage and option; empty in Python.
    warn : called once with each broken plugin of which a name is found or listed; by default, it does nothing.
    stages : stage classes by name.
    formats : file formats by name and ending.
    engines : engine classes by name.
    subcommands : click commands by name.
    """

    def __init__(self) -> None:
        self.files: list[str] = []
        self.flags: frozenset[str] = frozenset()
        self.defaults: dict[str, dict[str, Any]] = {}
        self.warn: Callable[[Plugin], None] = lambda plugin: None
        self.stages: OffersByName[type[Stage]] = OffersByName(self, "stage")
        self.formats: OffersByName[Format | type[FileFormat]] = OffersByName(self, "format")
        self.engines: OffersByName[type[Engine]] = OffersByName(self, "engine")
        self.subcommands: OffersByName[click.Command] = OffersByName(self, "subcommand")
        self._points: list[InstalledPlugin] = []
        self._installed: dict[InstalledPlugin, Plugin] = {}  # those that are loaded
        self._others: dict[str, Plugin] = {}  # by the path of a file, or the name of a stage that no plugin offers
        self._items: dict[str, dict[str, Any]] = {}  # what plugins offer, by kind and name
        self._owners: dict[tuple[str, str], list[Plugin]] = {}  # the plugins that claim a name, by kind and name
        self._warned: set[Plugin] = set()
        self._hooks = HookCaller()
        self._lock = RLock()

    def add_installed_plugins(self) -> None:
        """Add all installed plugins, and load those in the group ``filterkit``, which need not list what they offer.

        If the environment variable ``FILTERKIT_NO_PLUGINS`` is not empty, add only those of filterkit's distribution.
        """
        self._points = list_installed_plugins()
        if os.environ.get("FILTERKIT_NO_PLUGINS"):
            self._points = [point for point in self._points if point.origin.partition(" ")[0] == DISTRIBUTION]
        self._load_new_plugins(point for point in self._points if point.is_open)

    @property
    def plugins(self) -> list[Plugin]:
        """All plugins: installed ones in the order of their names, then those of files and of `add_stage`.

        This loads those that are not loaded yet.
        """
        self.load_all_plugins()
        return [*(self._installed[point] for point in self._points), *self._others.values()]

    def find_offer(self, kind: str, name: str) -> Any:
        """Return the object of this kind and name that filterkit itself, or else a plugin, offers.

        `kind` is "stage", "format", "engine" or "subcommand"; a metric is found as the stage that it becomes. Raise
        KeyError if nothing has this name, and PluginError if the plugin that lists the name is broken, or two
        plugins claim it.
        """
        with self._lock:
            if name in OWN.get(kind, ()):
                return _import_entry_point(OWN[kind][name])
            listing = self._load_plugins_that_list(kind, name)
            owners = self._owners.get((kind, name), [])
            if name in self._items.get(kind, ()):
                self._warn_of_broken_plugins(owners)
                return self._items[kind][name]
            if owners:
                raise PluginError(
                    f"two plugins claim the {kind} '{name}': {' and '.join(map(str, owners))}; uninstall one of them"
                )
            for point in listing:
                plugin = self._installed[point]
                raise PluginError(f"the plugin of the {kind} '{name}', {plugin}, is broken: {plugin.problem}")
            raise KeyError(name)

    def list_names(self, kind: str) -> list[str]:
        """List the names of all objects of one kind, first filterkit's own; load the plugins that list this kind.

        For "metric", load the plugins but return [], because metrics have the names of the stages that they become.
        """
        with self._lock:
            listing = self._load_plugins_that_list(kind)
            self._warn_of_broken_plugins(
                self._installed[point] for point in self._points if point.is_open or point in listing
            )
            return [*OWN.get(kind, ()), *self._items.get(kind, ())]

    def _load_plugins_that_list(self, kind: str, name: str | None = None) -> list[InstalledPlugin]:
        """Load the plugins whose entry points list this kind and name, and return what their entry points say.

        None for `name` means any name of the kind.
        """
        kinds = {kind, "metric"} if kind == "stage" else {kind}  # metrics, too, become stages
        listing = [
            point
            for point in self._points
            if any(each in kinds and name in (None, offered) for each, offered in point.listed)
        ]
        self._load_new_plugins(listing)
        return listing

    def load_all_plugins(self) -> None:
        """Load all installed plugins that are not loaded yet; one that fails gets a `problem`, not an error."""
        with self._lock:
            self._load_new_plugins(self._points)

    def _load_new_plugins(self, points: Iterable[InstalledPlugin]) -> None:
        """Load the plugins among `points` that are not loaded yet; one that fails gets a `problem`, not an error."""
        loaded = []
        for point in points:
            if point in self._installed:
                continue
            plugin = self._installed[point] = Plugin(point.name, point.origin)
            with _record_failure_as_problem(plugin):
                module = _import_entry_point(point.value)
                plugin_by_module.setdefault(point.value.partition(":")[0], plugin.describe_name_and_origin())
                self._hooks.register(plugin.name, module, may_wrap=point.is_open)
                loaded.append((point, plugin, module))
        for point, plugin, module in loaded:  # all these plugins, with their wrappers, are registered by now
            self._collect_offers(plugin, module)
            if not (plugin.problem or point.is_open or self._hooks.wrappers):
                plugin.problem = _describe_mismatch_with_entry_points(point, plugin)
        if loaded:
            self._assign_names_to_plugins()

    def _warn_of_broken_plugins(self, plugins: Iterable[Plugin]) -> None:
        """Call `warn` with each broken plugin among `plugins` that it was not called with before."""
        for plugin in plugins:
            if plugin.problem and plugin not in self._warned:
                self._warned.add(plugin)
                self.warn(plugin)

    def load_plugin_file(self, path: str, by: str = "--plugin") -> Plugin:
        """Load the plugin in a Python file, unless it is loaded already, and return it.

        `by` is the option or subcommand that asks for the file, for messages. Raise PluginError if the file cannot be
        loaded, or claims a name that is taken; if there is no such file, the error is a `FileNotFoundError`, too.
        """
        import importlib.util

        self.load_all_plugins()
        real_path = os.path.realpath(path)
        if real_path in self._others:
            return self._others[real_path]
        name = os.path.splitext(os.path.basename(path))[0]
        others = sum(each.name == name for each in self._others.values())  # files of this name in other folders
        module_name = f"filterkit_plugin_file_{name}" + (f"_{others + 1}" if others else "")
        spec = importlib.util.spec_from_file_location(module_name, path)
        if spec is None or spec.loader is None or not os.path.isfile(path):
            missing = FileNotFoundError(errno.ENOENT, "no such Python file; check the path", path)
            raise make_file_error(f"{by} {path}: {missing.strerror}", missing, PluginError)
        stop_postponing_imports()
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        plugin = Plugin(name, path)
        plugin_by_module.setdefault(module_name, plugin.describe_name_and_origin())
        self._others[real_path] = plugin
        try:
            with _record_failure_as_problem(plugin):
                spec.loader.exec_module(module)
                self._hooks.register(name, module)
                self._collect_offers(plugin, module)
            self._assign_names_to_plugins()
            if plugin.problem:
                # The other plugins that claim names of this one.
                rivals = {each for owners in self._owners.values() if plugin in owners for each in owners} - {plugin}
                hint = "; load only one of these files" if rivals else ""
                if rivals & {*self._installed.values()}:
                    hint = "; FILTERKIT_NO_PLUGINS=1 leaves out those that are installed"
                raise PluginError(f"{by} {path}: {plugin.problem}{hint}")
        except BaseException:  # even an interrupt: forget the file, so that it can be loaded again
            del self._others[real_path]
            sys.modules.pop(module_name, None)
            self._hooks.unregister(module)
            self._assign_names_to_plugins()
            raise
        self.files.append(path)
        return plugin

    def add_stage(self, stage: type[Stage]) -> None:
        """Load all installed plugins, and then add a stage class that is not part of a plugin, by its name.

        The class replaces one that was added by this name before. If a plugin offers a stage of this name, nothing is
        raised here, but looking the name up raises PluginError from now on.
        """
        self.load_all_plugins()
        plugin = self._others[stage.name] = Plugin(stage.name, stage.__module__, stages=[stage])
        _prepare_offers_for_errors_and_pickle(plugin)
        self._assign_names_to_plugins()

    def _collect_offers(self, plugin: Plugin, module: ModuleType) -> None:
        """Call the hooks of a registered module, and store their offers, or the problem, in its plugin."""
        with _record_failure_as_problem(plugin):
            try:
                self._hooks.collect_offers(plugin, module)
            except BaseException:
                self._hooks.unregister(module)
                raise
            _prepare_offers_for_errors_and_pickle(plugin)

    def _assign_names_to_plugins(self) -> None:
        """Decide which loaded plugin each name belongs to.

        A name that several plugins claim belongs to none, and a name that filterkit itself claims stays filterkit's. A
        plugin gets a `problem` if it claims a name of filterkit, a name that an earlier plugin claims, or a name twice.
        """
        all_items: dict[str, dict[str, Any]] = {}
        all_owners: dict[tuple[str, str], list[Plugin]] = {}
        installed = [self._installed[point] for point in self._points if point in self._installed]
        for plugin in (*installed, *self._others.values()):
            for kind, name, item in plugin.iterate_offers():
                items = all_items.setdefault(kind, {})
                owners = all_owners.setdefault((kind, name), [])
                owners.append(plugin)
                if owners.count(plugin) > 1:
                    plugin.problem = f"it offers the {kind} {quoted(name)} twice; return it once"
                elif name in OWN.get(kind, ()):
                    plugin.problem = (
                        f"two plugins claim the {kind} '{name}': filterkit itself and {plugin}; choose another name"
                    )
                elif len(owners) == 1:
                    items[name] = item
                else:
                    items.pop(name, None)
                    for late in owners[1:]:
                        late.problem = f"two plugins claim the {kind} '{name}': {' and '.join(map(str, owners))}"
        self._items, self._owners = all_items, all_owners  # now, as other threads may read them

    @property
    def metrics(self) -> dict[str, Metric]:
        """All metrics that plugins offer, by name, as a new dict; this loads the plugins that list metrics."""
        from filterkit.stages.metric_scaling import MetricScaling

        self.list_names("metric")
        stages = self._items.get("stage", {})
        return {name: stage.metric for name, stage in stages.items() if issubclass(stage, MetricScaling)}

    def describe_stage_origin(self, stage_name: str) -> str:
        """Return the plugin of the stage of this name, and its distribution or file, as a text such as ``x of x.py``.

        Raise PluginError if no plugin offers it, two plugins do, or its plugin is broken.
        """
        if stage_name not in self.stages and ("stage", stage_name) not in self._owners:
            how = "name it with --plugin FILE" if self.flags else "load the file that does by filterkit.load_plugin"
            raise PluginError(
                f"no plugin that is loaded offers the stage {quoted(stage_name)}; {how}; "
                "its hook filterkit_stages returns the stage"
            )
        return self._owners["stage", stage_name][0].describe_name_and_origin()


def _prepare_offers_for_errors_and_pickle(plugin: Plugin) -> None:
    """Record the plugin of each stage, metric and format for errors, and let pickle store stages by name."""
    for offer in (*plugin.stages, *plugin.metrics, *plugin.formats):
        record_plugin(offer, plugin.describe_name_and_origin())
    for stage in plugin.stages:
        copyreg.pickle(stage, _reduce_stage_for_pickle)


def _describe_mismatch_with_entry_points(point: InstalledPlugin, plugin: Plugin) -> str:
    """Return a text that says in which name the entry points of a plugin differ from its offers; "" if in none."""
    listed, given = {*point.listed}, {*plugin.list_offered_names()}
    for kind, name in sorted(listed - given):
        return f"its entry points list the {kind} {quoted(name)}, which no hook returns; remove it there"
    for kind, name in sorted(given - listed):
        group = f"{PROJECT}.{kind}s"
        return f"it offers the {kind} {quoted(name)}, which no entry point of the group {group} lists; add it there"
    return ""


def _import_entry_point(value: str) -> Any:
    """Import what an entry point names: a module, or an object in one, ``module:name``."""
    path, _, name = value.partition(":")
    if path.partition(".")[0] not in ("filterkit", "filterkit_plugins"):
        stop_postponing_imports()
    found = importlib.import_module(path)
    return attrgetter(name)(found) if name else found


@contextmanager
def _record_failure_as_problem(plugin: Plugin) -> Iterator[None]:
    """Record any exception of this context, except an interrupt, as the `problem` of the plugin, and go on after it.

    What the context prints goes to standard error.
    """
    try:
        with redirect_stdout(sys.stderr):  # standard output may be the table
            yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may even exit
        import traceback

        kind = "" if isinstance(error, FilterkitError) else f"{type(error).__name__}: "
        plugin.problem = f"{kind}{error}".partition("\n")[0]
        plugin.trace = "".join(traceback.format_exception(error))


def _reduce_stage_for_pickle(stage: Stage) -> tuple[Any, ...]:
    """Return what pickle stores of a stage: its name, plugin and options, because its class may not be importable.

    A stage that the registry does not know is pickled as usual.
    """
    known = get_registry()
    if known.stages.get(stage.name) is not type(stage):
        return stage.__reduce__()
    return rebuild_stage, (stage.name, known.describe_stage_origin(stage.name), get_option_values(stage))


def rebuild_stage(name: str, origin: str, options: dict[str, Any]) -> Stage:
    """Make a stage with these options when pickle loads it.

    `origin` says which plugin offered the stage. Raise PluginError, which names this plugin, if no plugin offers the
    stage here.
    """
    known = get_registry()
    if name not in known.stages:
        raise PluginError(f"a pickle needs the stage {quoted(name)}; install or load the plugin {origin} first")
    return known.stages[name](**options)


@cache
def get_registry() -> Registry:
    """Return the registry of this process; the first call makes it and adds the installed plugins."""
    found = Registry()
    found.add_installed_plugins()
    return found
