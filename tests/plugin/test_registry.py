"""The registry of plugins: broken plugins, names claimed twice, misspelt hooks, wrappers."""

import types

import pytest

from filterkit import Metric, PluginError, RowStage, UsageError, hookimpl
from filterkit.plugin.discovery import Installed
from filterkit.plugin.registry import Registry


class Plus(RowStage):
    """Add one."""

    name = "plus"

    def transform(self, batch):
        return batch.replace(X=batch.X + 1)


def half(tp, fp, pos, neg):
    """Half of the positives."""
    return tp / 2


class Minus(Plus):
    """Take one away."""

    name = "minus"


def module(name, *stages, hook="filterkit_stages"):
    made = types.ModuleType(name)

    def offer():
        return list(stages)

    offer.__name__ = hook
    setattr(made, hook, hookimpl(offer))
    return made


class Point:
    """An entry point, and what it leads to."""

    def __init__(self, name, module, value="package.module"):
        self.name, self.module, self.value = name, module, value


@pytest.fixture
def found(monkeypatch):
    """A registry of the entry points given."""

    def make(*points):
        left = iter(points)

        def load(value):
            point = next(left)
            if isinstance(point.module, BaseException):
                raise point.module
            return point.module

        listed = [Installed(point.name, point.value, point.value) for point in points]
        monkeypatch.setattr("filterkit.plugin.registry.installed", lambda group: listed)
        monkeypatch.setattr("filterkit.plugin.registry._loaded", load)
        registry = Registry()
        registry.add_entry_points()
        return registry

    return make


def test_stages_are_found_by_name(found):
    registry = found(Point("plus", module("plus", Plus)))
    assert registry.stage("plus") is Plus
    assert [(p.name, p.origin, p.problem) for p in registry.plugins] == [("plus", "package.module", "")]


@pytest.mark.parametrize("error", [ImportError("no module x"), ValueError("bad\nnews"), SystemExit(3)])
def test_a_plugin_that_fails_to_import_is_reported_and_others_work(found, error):
    registry = found(Point("bad", error), Point("plus", module("plus", Plus)))
    assert registry.stage("plus") is Plus
    bad = registry.plugins[0]
    assert bad.problem == f"{type(error).__name__}: {error}".partition("\n")[0]
    assert "Traceback" in bad.trace or type(error).__name__ in bad.trace


def test_two_plugins_that_claim_a_name_are_both_named_and_neither_wins(found):
    registry = found(Point("one", module("one", Plus), "a"), Point("two", module("two", Plus), "b"))
    with pytest.raises(PluginError, match=r"two plugins claim the stage 'plus': one \(a\) and two \(b\)"):
        registry.stage("plus")
    assert "plus" not in registry.stages
    assert "claim the stage 'plus'" in registry.plugins[1].problem


def test_a_misspelt_hook_is_reported(found):
    registry = found(Point("typo", module("typo", Plus, hook="filterkit_stagez")))
    assert "filterkit_stagez" in registry.plugins[0].problem


def test_a_hook_that_gives_no_stage_is_reported(found):
    registry = found(Point("odd", module("odd", "text")))
    assert "is no stage class with a name" in registry.plugins[0].problem


def test_an_unknown_stage_gets_a_suggestion(found):
    registry = found(Point("plus", module("plus", Plus)))
    with pytest.raises(UsageError, match="no stage 'plsu'; did you mean 'plus'"):
        registry.stage("plsu")


def test_an_unknown_stage_points_to_broken_plugins(found):
    with pytest.raises(UsageError, match="some plugins are broken, see: filterkit plugins"):
        found(Point("bad", ImportError("x"))).stage("whatever")


def test_a_broken_plugin_warns_and_the_command_line_goes_on(found, monkeypatch, capsys):
    from filterkit.cli import main

    broken = found(Point("bad", ImportError("no x")), Point("plus", module("plus", Plus)))
    monkeypatch.setattr(main, "registry", lambda: broken)
    assert main._main(["stages"]) == 0
    out, err = capsys.readouterr()
    assert "plus  Add one." in out
    assert err == "filterkit: warning: plugin 'bad' (package.module): ImportError: no x\n"
    assert main._main(["plugins"]) == 0
    assert "bad   package.module  broken: ImportError: no x" in capsys.readouterr().out
    assert main._main(["--debug", "plugins"]) == 0
    assert capsys.readouterr().out.count("ImportError: no x") == 2  # the row and its traceback


def test_a_metric_is_a_stage_too(found):
    known = found(Point("halves", module("halves", Metric("half", half), hook="filterkit_metrics")))
    stage = known.stage("half")
    assert stage.summary() == "Scale by a score: Half of the positives."
    assert stage.needs_class
    assert known.metric("half").score is half
    assert known.plugins[0].stages == [stage]


def test_an_invalid_metric_breaks_only_its_own_plugin(found):
    known = found(Point("bad", module("bad", half, hook="filterkit_metrics")), Point("plus", module("plus", Plus)))
    assert "filterkit_metrics gives <function half" in known.plugins[0].problem
    assert known.stage("plus") is Plus
    with pytest.raises(UsageError, match="no metric 'half'"):
        known.metric("half")


def test_a_metric_and_a_stage_of_the_same_name_clash(found):
    known = found(
        Point("one", module("one", Metric("plus", half), hook="filterkit_metrics")), Point("two", module("two", Plus))
    )
    with pytest.raises(PluginError, match="two plugins claim the stage 'plus'"):
        known.stage("plus")
    assert "plus" not in known.metrics


def wrapping(name, function, **order):
    """A plugin that wraps the hook for stages: `function` maps what each plugin offers."""
    made = types.ModuleType(name)

    @hookimpl(wrapper=True, **order)
    def filterkit_stages():
        return [function([stage for stages in (yield) for stage in stages])]

    made.filterkit_stages = filterkit_stages
    return made


@pytest.mark.parametrize("first", [True, False])
def test_a_wrapper_sees_what_each_plugin_offers(found, first):
    """It does not matter whether its plugin is loaded before or after the others."""
    seen = []

    def note(stages):
        seen.append([stage.name for stage in stages])
        return [stage for stage in stages if stage is not Minus]

    wrapper, points = Point("w", wrapping("w", note)), [Point("p", module("p", Plus)), Point("m", module("m", Minus))]
    registry = found(*([wrapper, *points] if first else [*points, wrapper]))
    assert list(registry.stages) == ["plus"]
    assert [plugin.problem for plugin in registry.plugins] == ["", "", ""]
    assert [names for names in seen if names] == [["plus"], ["minus"]]


def test_hooks_are_called_in_the_order_that_they_ask_for(found):
    """This holds for implementations of one plugin and for wrappers of several; the outermost wrapper comes last."""
    several = types.ModuleType("several")
    several.late = hookimpl(specname="filterkit_stages", trylast=True)(lambda: [Plus])
    several.early = hookimpl(specname="filterkit_stages", tryfirst=True)(lambda: [Minus])
    order = []
    outer = wrapping("outer", lambda stages: order.append("outer") or stages, tryfirst=True)
    inner = wrapping("inner", lambda stages: order.append("inner") or stages, trylast=True)
    registry = found(Point("outer", outer), Point("inner", inner), Point("several", several))
    assert [stage.name for stage in registry.plugins[-1].stages] == ["minus", "plus"]
    assert order[-2:] == ["inner", "outer"]


def test_a_wrapper_that_fails_breaks_only_its_own_plugin(found):
    def fail(stages):
        raise ValueError("no wrapper")

    registry = found(Point("bad", wrapping("bad", fail)), Point("plus", module("plus", Plus)))
    assert [plugin.problem for plugin in registry.plugins] == ["ValueError: no wrapper", ""]
    assert registry.stage("plus") is Plus


def test_an_invalid_format_breaks_only_its_own_plugin(found):
    for hook in ("filterkit_formats", "filterkit_engines", "filterkit_subcommands"):
        registry = found(Point("odd", module("odd", "text", hook=hook)), Point("plus", module("plus", Plus)))
        assert registry.plugins[0].problem.startswith(f"PluginError: {hook} gives 'text', which is no ")
        assert registry.stage("plus") is Plus


def test_a_plugin_cannot_take_the_name_of_a_bundled_subcommand(found):
    """Even if the plugin claimed the name first."""
    import click

    registry = found(Point("one", module("one", click.Command("own"), hook="filterkit_subcommands")))
    own = click.Command("own")
    offering = module("offering", own, hook="filterkit_subcommands")
    registry.add_own(offering)
    registry.add_own(offering)
    assert registry.subcommands == {"own": own}
    claimed = "two plugins claim the subcommand 'own': filterkit itself and one (package.module)"
    assert registry.plugins[0].problem == claimed


def test_filterkit_no_plugins_leaves_the_bundled_plugins(found, monkeypatch):
    """These are all plugins of its distribution, wherever their modules are."""
    monkeypatch.setenv("FILTERKIT_NO_PLUGINS", "1")
    points = [
        Point("plus", module("plus", Plus), "arff-filterkit 0.1.0"),
        Point("other", None, "filterkit_plugins.x 1"),
    ]
    assert [plugin.name for plugin in found(*points).plugins] == ["plus"]
