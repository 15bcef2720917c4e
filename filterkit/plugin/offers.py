"""Collects what a plugin offers: pluggy calls its hooks, and every item is checked."""

from __future__ import annotations

import inspect
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


@dataclass(kw_only=True, eq=False, repr=False)
class Offers:
    """Stages, metrics, formats, engines and subcommands. Among the stages are those that metrics become.

    `empty` has the names of the hooks that give nothing.
    """

    stages: list[type[Stage]] = field(default_factory=list)
    metrics: list[Metric] = field(default_factory=list)
    formats: list[Format | type[FileFormat]] = field(default_factory=list)
    engines: list[type[Engine]] = field(default_factory=list)
    subcommands: list[click.Command] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)

    def add(self, other: Offers) -> None:
        """Add the items of `other`."""
        self.stages += other.stages
        self.metrics += other.metrics
        self.formats += other.formats
        self.engines += other.engines
        self.subcommands += other.subcommands
        self.empty += other.empty

    def listed(self) -> list[tuple[str, str]]:
        """List the kind and name of every offer, as entry points do: a stage that a metric becomes is a metric."""
        metrics = {metric.name for metric in self.metrics}
        return [("metric" if kind == "stage" and name in metrics else kind, name) for kind, name, _ in self.names()]

    def names(self) -> Iterator[tuple[str, str, Any]]:
        """Yield the kind, name and item of every offer. A format goes by its name in lower case, and by its endings."""
        yield from (("stage", stage.name, stage) for stage in self.stages)
        yield from (("format", name, form) for form in self.formats for name in _list_names(form))
        yield from (("engine", engine.name, engine) for engine in self.engines)
        yield from (("subcommand", str(command.name), command) for command in self.subcommands)


class _PluginManager(pluggy.PluginManager):
    """Looks at marked functions alone for the hooks of a module; pluggy takes ten times as long for all its names."""

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        is_hook = not isinstance(plugin, ModuleType) or _read_mark(vars(plugin).get(name)) is not None
        return super().parse_hookimpl_opts(plugin, name) if is_hook else None


class HookCaller:
    """Calls the hooks of one plugin at a time, so that each offer has an owner and a failure affects one plugin.

    The wrappers of all registered plugins apply to each call, in the order that pluggy gives them.

    Attributes
    ----------
    wrappers : the registered modules that wrap the hooks of others.
    """

    def __init__(self) -> None:
        self.wrappers: list[ModuleType] = []
        self._manager = _PluginManager(PROJECT)
        self._manager.add_hookspecs(Hooks)

    def has(self, module: ModuleType) -> bool:
        """Return whether a module is registered."""
        return self._manager.is_registered(module)

    def register(self, name: str, module: ModuleType, may_wrap: bool = True) -> None:
        """Register the hooks in a module.

        Parameters
        ----------
        name : of the plugin.
        module : has its hooks.
        may_wrap : whether the module may wrap the hooks of others.

        Raises
        ------
        PluginError : a hook does not exist, is not marked, takes arguments, or is a wrapper that may not be one.
        ValueError : the module is registered already.
        """
        known_as = f"{name} {module.__name__}"
        _check_names(module)
        try:
            self._manager.register(module, name=known_as)
            self._manager.check_pending()
            if self._try_wrappers(module):
                if not may_wrap:
                    raise PluginError(
                        f"it wraps hooks of others; list its module in the group {PROJECT} of entry points"
                    )
                self.wrappers.append(module)
        except BaseException:
            if self._manager.get_plugin(known_as) is module:  # pluggy keeps what it has refused
                self._manager.unregister(module)
            raise

    def offers(self, module: ModuleType) -> Offers:
        """Return what a registered module offers.

        Raises
        ------
        PluginError : an item is not what its hook should give.
        """
        given = {caller.name: self._call_hook(caller, module) for caller in self._manager.get_hookcallers(module) or ()}
        stages = _check_items("filterkit_stages", given, _is_stage, "a stage class with a name", _STAGE)
        metrics = _check_items("filterkit_metrics", given, _is_metric, "a Metric with a name and a function", _METRIC)
        return Offers(
            stages=[*stages, *_make_stages(metrics)],
            metrics=metrics,
            formats=_check_endings(
                _check_items("filterkit_formats", given, _is_format, "a Format or FileFormat", _FORMAT)
            ),
            engines=_check_items("filterkit_engines", given, _is_engine, "an engine class with a name", _ENGINE),
            subcommands=_check_items(
                "filterkit_subcommands", given, _is_command, "a click command with a name", _COMMAND
            ),
            empty=[hook for hook, items in given.items() if not items],
        )

    def unregister(self, module: ModuleType) -> None:
        """Forget the hooks and wrappers of a module."""
        self._manager.unregister(module)
        self.wrappers = [each for each in self.wrappers if each is not module]

    def _call_hook(self, caller: pluggy.HookCaller, module: ModuleType) -> list[Any]:
        """Return the items that the implementations in `module` give, through all wrappers."""
        others = {each.plugin for each in caller.get_hookimpls() if not _is_wrapper(each)} - {module}
        given = self._manager.subset_hook_caller(caller.name, others)()
        for items in given:
            if isinstance(items, (str, Mapping)) or not hasattr(type(items), "__iter__"):
                raise PluginError(f"{caller.name} gives {to_one_line(repr(items))}; return a list")
        return [item for items in given for item in items]

    def _try_wrappers(self, module: ModuleType) -> bool:
        """Call the wrappers in `module` around nothing, so that one that always fails breaks its own plugin alone.

        Return whether there are any.
        """
        found = False
        for caller in self._manager.get_hookcallers(module) or ():
            here = [_is_wrapper(each) for each in caller.get_hookimpls() if each.plugin is module]
            found = found or any(here)
            if all(here):
                others = {each.plugin for each in caller.get_hookimpls()} - {module}
                self._manager.subset_hook_caller(caller.name, others)()
        return found


_HOOKS = [name for name in vars(Hooks) if name.startswith(PROJECT)]


def _check_names(module: Any) -> None:
    """Refuse functions that are marked as hooks and are none, and functions that look like hooks and are not marked.

    Raises
    ------
    PluginError : names the function, and the hook that was probably meant.
    """
    for name, member in list(getattr(module, "__dict__", {}).items()):
        marked = _read_mark(member)
        if marked is not None and (marked["specname"] or name) not in _HOOKS:
            meant = _find_similar_hook(name)
            hint = f"did you mean {quoted(meant)}?" if meant else f"known: {', '.join(_HOOKS)}"
            raise PluginError(f"there is no hook {quoted(name)}; {hint}")
        own = name.startswith(PROJECT) and getattr(member, "__module__", None) == getattr(module, "__name__", None)
        if marked is not None and inspect.signature(member).parameters:
            raise PluginError(f"the hook {name} takes no arguments")
        if own and isinstance(member, FunctionType) and marked is None:
            meant = _find_similar_hook(name)
            if meant is not None:
                other = "" if meant == name else f", and call it {meant}"
                raise PluginError(f"{name} is not marked as a hook; write @filterkit.hookimpl above it{other}")


def _read_mark(member: Any) -> Any:
    """Return what `filterkit.hookimpl` has noted on a function; None if it is not marked, or not a function."""
    return getattr(member, f"{PROJECT}_impl", None) if isinstance(member, FunctionType) else None


def _find_similar_hook(name: str) -> str | None:
    """Return the hook that a similar name probably means; None if no hook has a similar name."""
    from difflib import get_close_matches

    prefix = f"{PROJECT}_"
    close = get_close_matches(name.removeprefix(prefix), [hook.removeprefix(prefix) for hook in _HOOKS], n=1)
    return prefix + close[0] if close else None


def _list_names(form: Any) -> list[str]:
    """List the name of a format for ``--from`` and ``--to``, and its endings."""
    name = "-".join(str(form.name).lower().split())
    return [*([name] if name else []), *form.endings]


def _make_stages(metrics: list[Metric]) -> list[type[Stage]]:
    """Make the stages that scale columns by metrics, one for each."""
    if not metrics:
        return []
    from filterkit.stages.metric_scaling import make_metric_stage

    return [make_metric_stage(metric) for metric in metrics]


def _is_wrapper(implementation: pluggy.HookImpl) -> bool:
    return bool(implementation.wrapper or implementation.hookwrapper)


_STAGE = "list the class itself, and give it a name = '…'"
_METRIC = "write filterkit.Metric('…', function)"
_FORMAT = "write filterkit.Format('…', ('.ending',), read, write), or list the class itself"
_ENGINE = "list the class itself, and give it a name = '…'"
_COMMAND = "write @click.command('…') above the function"


def _check_items(hook: str, given: dict[str, list[Any]], is_right: Any, wanted: str, repair: str) -> list[Any]:
    """Return the items of one hook; raise a `PluginError` that says what to do if one is not right."""
    for item in given.get(hook, ()):
        if not is_right(item):
            raise PluginError(f"{hook} gives {to_one_line(repr(item))}, which is not {wanted}; {repair}")
    return given.get(hook, [])


def _check_endings(formats: list[Any]) -> list[Any]:
    """Return the formats; raise a `PluginError` if their endings are no tuple of texts such as ``.kv`` or ``/``."""
    for form in formats:
        if not isinstance(form.endings, tuple):
            example = repr((form.endings,)) if isinstance(form.endings, str) else "('.kv',)"
            raise PluginError(
                f"the endings of the format {quoted(form.name)} are not a tuple; write endings = {example}"
            )
        for ending in form.endings:
            if not isinstance(ending, str) or ending[:1] not in (".", "/"):
                raise PluginError(
                    f"the format {quoted(form.name)} has the ending {ending!r}; an ending begins with a dot"
                )
    return formats


def _is_stage(item: Any) -> bool:
    from filterkit.stages.base import Stage  # the other kinds do not need it

    return isinstance(item, type) and issubclass(item, Stage) and bool(item.name)


def _is_metric(item: Any) -> bool:
    from filterkit.counts.metric import Metric  # most plugins have no metrics

    return isinstance(item, Metric) and isinstance(item.name, str) and bool(item.name) and callable(item.score)


def _is_format(item: Any) -> bool:
    return hasattr(item, "name") and hasattr(item, "endings")


def _is_engine(item: Any) -> bool:
    return isinstance(item, type) and hasattr(item, "map") and bool(getattr(item, "name", ""))


def _is_command(item: Any) -> bool:
    return hasattr(item, "make_context") and bool(getattr(item, "name", ""))
