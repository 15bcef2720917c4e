"""Collects what a plugin offers: pluggy calls its hooks, and every item is checked."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from filterkit.errors import PluginError, quoted, to_one_line
from filterkit.plugin.hookspecs import PROJECT, Hooks

if TYPE_CHECKING:
    import click

    from filterkit.counts.metric import Metric
    from filterkit.engines.engine import Engine
    from filterkit.formats.base import FileFormat
    from filterkit.formats.simple import Format
    from filterkit.stages.base import Stage


@dataclass(eq=False, repr=False)
class Plugin:
    """A plugin, and what it offers: nothing if it could not be imported, or a hook failed.

    `Registry.add_stage` makes one for a single stage, with the name of the stage, and its module as the origin.

    Attributes
    ----------
    name : the name of the entry point, or of the file without its ending.
    origin : the distribution with its version, or the path of the file.
    problem : one line that says why the plugin is broken, such as a name that another plugin claims, too; "" if it is
        not.
    trace : the traceback of the problem; "" if there is none.
    stages, metrics, formats, engines, subcommands : what it offers. The stages include those that are made of metrics.
    empty : the names of its hooks that return an empty list.
    """

    name: str
    origin: str
    problem: str = ""
    trace: str = ""
    stages: list[type[Stage]] = field(default_factory=list)
    metrics: list[Metric] = field(default_factory=list)
    formats: list[Format | type[FileFormat]] = field(default_factory=list)
    engines: list[type[Engine]] = field(default_factory=list)
    subcommands: list[click.Command] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.name} ({self.origin})" if self.origin else self.name

    def describe_name_and_origin(self) -> str:
        """Return a text such as ``x of x.py`` or ``x of pack 1.0``: the name, and the origin without folders."""
        return f"{self.name} of {os.path.basename(self.origin)}"

    def list_offered_names(self) -> list[tuple[str, str]]:
        """List the kind and name of each offer, as entry points do: ``("stage", "l2")``.

        A metric is listed as a metric, and not as the stage that it becomes. A format is listed by its name and by each
        ending.
        """
        metrics = {metric.name for metric in self.metrics}
        return [
            ("metric" if kind == "stage" and name in metrics else kind, name) for kind, name, _ in self.iterate_offers()
        ]

    def iterate_offers(self) -> Iterator[tuple[str, str, Any]]:
        """Yield the kind, name and object of each offer.

        A format is yielded by its name, as ``--from`` and ``--to`` take it, and again by each of its endings. A metric
        is yielded as the stage that is made of it.
        """
        yield from (("stage", stage.name, stage) for stage in self.stages)
        for form in self.formats:
            word = "-".join(str(form.name).lower().split())
            yield from (("format", name, form) for name in (word, *form.endings) if name)
        yield from (("engine", engine.name, engine) for engine in self.engines)
        yield from (("subcommand", str(command.name), command) for command in self.subcommands)


class HookCaller:
    """Calls the hooks of one plugin at a time, so that each offer has an owner and a failure affects one plugin.

    The wrappers of all registered plugins apply to each call, in the order that pluggy gives them.

    Attributes
    ----------
    wrappers : the registered modules that wrap the hooks of others.
    """

    def __init__(self) -> None:
        self.wrappers: list[ModuleType] = []
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(Hooks)

    def register(self, name: str, module: ModuleType, may_wrap: bool = True) -> None:
        """Register the hooks in the module of the plugin `name`; `may_wrap` allows it to wrap hooks of others.

        Raise PluginError if a hook does not exist, is not marked, takes arguments, or is a wrapper and may not be one,
        and ValueError if the module is registered already. An error of a wrapper, which is tried here, passes through.
        """
        unique_name = f"{name} {module.__name__}"
        _check_hook_names(module)
        try:
            self._manager.register(module, name=unique_name)
            self._manager.check_pending()
            if self._try_wrappers_if_any(module):
                if not may_wrap:
                    raise PluginError(
                        f"it wraps hooks of others; list its module in the group {PROJECT} of entry points"
                    )
                self.wrappers.append(module)
        except BaseException:
            if self._manager.get_plugin(unique_name) is module:  # pluggy keeps what it has refused
                self._manager.unregister(module)
            raise

    def collect_offers(self, plugin: Plugin, module: ModuleType) -> None:
        """Call the hooks of a registered module, and put what they offer into its plugin.

        Raise PluginError if an item is not what its hook must return; an error of a hook passes through. In either case
        the plugin is not changed.
        """
        given = {caller.name: self._call_hook(caller, module) for caller in self._manager.get_hookcallers(module) or ()}
        for hook, (wanted, repair) in _WANTED.items():
            for item in given.get(hook, ()):
                if not _is_valid_offer(item, hook):
                    raise PluginError(f"{hook} gives {to_one_line(repr(item))}, which is not {wanted}; {repair}")
        for form in given.get("filterkit_formats", ()):
            if not isinstance(form.endings, tuple):
                example = repr((form.endings,)) if isinstance(form.endings, str) else "('.kv',)"
                raise PluginError(
                    f"the endings of the format {quoted(form.name)} are not a tuple; write endings = {example}"
                )
            for ending in form.endings:
                if not isinstance(ending, str) or ending[:1] not in (".", "/"):
                    raise PluginError(
                        f"the format {quoted(form.name)} has the ending {ending!r}; begin it with a dot, or write '/'"
                    )
        empty = [hook for hook, items in given.items() if not items]
        if metrics := given.get("filterkit_metrics"):
            from filterkit.stages.metric_scaling import make_metric_stage

            given["filterkit_stages"] = [*given.get("filterkit_stages", ()), *map(make_metric_stage, metrics)]
        # Nothing fails from here on, so that a broken plugin offers nothing.
        plugin.empty = empty
        for hook, items in given.items():
            setattr(plugin, hook.removeprefix(_PREFIX), items)

    def unregister(self, module: ModuleType) -> None:
        """Forget the hooks and wrappers of a module, if it is registered."""
        if self._manager.is_registered(module):
            self._manager.unregister(module)
        self.wrappers = [each for each in self.wrappers if each is not module]

    def _call_hook(self, caller: pluggy.HookCaller, module: ModuleType) -> list[Any]:
        """Call a hook of `module` alone, through the wrappers of all modules, and return the items of the lists.

        Raise PluginError if the hook returns a text, a mapping or no iterable; None counts as [].
        """
        others = {each.plugin for each in caller.get_hookimpls() if not (each.wrapper or each.hookwrapper)} - {module}
        given = self._manager.subset_hook_caller(caller.name, others)()
        for items in given:
            if isinstance(items, (str, Mapping)) or not hasattr(type(items), "__iter__"):
                raise PluginError(f"{caller.name} gives {to_one_line(repr(items))}; return a list")
        return [item for items in given for item in items]

    def _try_wrappers_if_any(self, module: ModuleType) -> bool:
        """Call the wrappers in a module, without the hooks of other plugins, and return whether there are any.

        A wrapper that always fails then fails here, and breaks only its own plugin.
        """
        found = False
        for caller in self._manager.get_hookcallers(module) or ():
            here = [bool(each.wrapper or each.hookwrapper) for each in caller.get_hookimpls() if each.plugin is module]
            found = found or any(here)
            if all(here):
                others = {each.plugin for each in caller.get_hookimpls()} - {module}
                self._manager.subset_hook_caller(caller.name, others)()
        return found


_PREFIX = f"{PROJECT}_"  # of the names of hooks
_HOOKS = [name for name in vars(Hooks) if name.startswith(_PREFIX)]


def _check_hook_names(module: ModuleType) -> None:
    """Raise PluginError if a function is marked as a hook that does not exist, or looks like a hook and is not marked.

    Also raise it if a hook has parameters.
    """
    members = getattr(module, "__dict__", {})  # an entry point may name any object
    functions = {name: each for name, each in members.items() if isinstance(each, FunctionType)}
    for name, function in functions.items():
        marked = getattr(function, f"{PROJECT}_impl", None)  # the options that `filterkit.hookimpl` notes
        if marked is not None:
            if (marked["specname"] or name) not in _HOOKS:
                meant = _find_similar_hook(name)
                hint = f"did you mean {quoted(meant)}?" if meant else f"known: {', '.join(_HOOKS)}"
                raise PluginError(f"there is no hook {quoted(name)}; {hint}")
            if inspect.signature(function).parameters:
                raise PluginError(f"the hook {name} takes no arguments; write def {name}():")
        elif name.startswith(PROJECT):
            meant = _find_similar_hook(name)
            if meant is not None and function.__module__ == module.__name__:
                other = "" if meant == name else f", and call it {meant}"
                raise PluginError(f"{name} is not marked as a hook; write @filterkit.hookimpl above it{other}")


def _find_similar_hook(name: str) -> str | None:
    """Return the name of the hook that is most similar to `name`; None if none is similar."""
    from difflib import get_close_matches

    close = get_close_matches(name.removeprefix(_PREFIX), [hook.removeprefix(_PREFIX) for hook in _HOOKS], n=1)
    return _PREFIX + close[0] if close else None


# What each hook must return items of, and how to write such an item.
_WANTED = {
    "filterkit_stages": ("a stage class with a name", "list the class itself, and give it a name = '…'"),
    "filterkit_metrics": ("a Metric with a name and a function", "write filterkit.Metric('…', function)"),
    "filterkit_formats": (
        "a Format or FileFormat",
        "write filterkit.Format('…', ('.ending',), read, write), or list the class itself",
    ),
    "filterkit_engines": ("an engine class with a name", "list the class itself, and give it a name = '…'"),
    "filterkit_subcommands": ("a click command with a name", "write @click.command('…') above the function"),
}


def _is_valid_offer(item: Any, hook: str) -> bool:
    """Return whether an item is what a hook must return, such as a stage class with a name for ``filterkit_stages``."""
    if hook == "filterkit_formats":
        return hasattr(item, "name") and hasattr(item, "endings")
    if not getattr(item, "name", ""):
        return False
    if hook == "filterkit_stages":
        from filterkit.stages.base import Stage

        return isinstance(item, type) and issubclass(item, Stage)
    if hook == "filterkit_metrics":
        from filterkit.counts.metric import Metric

        return isinstance(item, Metric) and isinstance(item.name, str) and callable(item.score)
    if hook == "filterkit_engines":
        return isinstance(item, type) and hasattr(item, "map")
    return hasattr(item, "make_context")
