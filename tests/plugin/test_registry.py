"""The registry of plugins: broken plugins, names claimed twice, misspelt hooks, wrappers."""

import importlib
import os
import re
import sys
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

from filterkit import Metric, PluginError, RowStage, UsageError, hookimpl
from filterkit.plugin.discovery import InstalledPlugin
from filterkit.plugin.lookup import find_stage
from filterkit.plugin.registry import Registry, _import_entry_point


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


def module(*offered, hook="filterkit_stages"):
    """A plugin that offers these in a hook."""
    made = types.ModuleType("made")
    made.offer = hookimpl(specname=hook)(lambda: list(offered))
    return made


@pytest.fixture
def found(monkeypatch):
    """A registry of these modules, each in the group for anything."""

    def make(**modules):
        left = iter(modules.values())

        def load(value):
            if value.startswith("filterkit."):  # filterkit's own
                return _import_entry_point(value)
            found = next(left)
            if isinstance(found, BaseException):
                raise found
            return found

        listed = [InstalledPlugin(name, f"of.{name}", f"{name} 1.0", (), True) for name in modules]
        monkeypatch.setattr("filterkit.plugin.registry.list_installed_plugins", lambda: listed)
        monkeypatch.setattr("filterkit.plugin.registry._import_entry_point", load)
        registry = Registry()
        registry.add_installed_plugins()
        return registry

    return make


@pytest.mark.parametrize("error", [ImportError("no module x"), ValueError("bad\nnews"), SystemExit(3)])
def test_a_plugin_that_fails_to_import_is_reported_and_others_work(found, error):
    registry = found(bad=error, plus=module(Plus))
    assert find_stage(registry, "plus") is Plus
    bad, plus = registry.plugins
    assert (plus.name, plus.origin, plus.problem) == ("plus", "plus 1.0", "")
    assert bad.problem == f"{type(error).__name__}: {error}".partition("\n")[0] and "Traceback" in bad.trace
    with pytest.raises(UsageError, match="some plugins are broken, see: filterkit plugins"):
        find_stage(registry, "whatever")


@pytest.mark.parametrize("other", [module(Plus), module(Metric("plus", half), hook="filterkit_metrics")])
def test_two_plugins_that_claim_a_name_are_both_named_and_neither_wins(found, other):
    """A metric is a stage, too."""
    registry = found(one=other, two=module(Plus))
    with pytest.raises(PluginError, match=r"two plugins claim the stage 'plus': one \(one 1.0\) and two \(two 1.0\)"):
        find_stage(registry, "plus")
    assert "plus" not in {*registry.stages, *registry.metrics}
    assert "claim the stage 'plus'" in registry.plugins[1].problem


def test_a_broken_plugin_warns_and_the_command_line_goes_on(found, monkeypatch, capsys):
    from filterkit.cli import main

    broken = found(bad=ImportError("no x"), plus=module(Plus))
    monkeypatch.setattr(main, "get_registry", lambda: broken)
    assert main.run_command_line(["stages"]) == 0
    out, err = capsys.readouterr()
    assert "plus  Add one." in out
    assert err == "filterkit: warning: plugin 'bad' (bad 1.0): ImportError: no x\n"
    assert main.run_command_line(["--debug", "plugins"]) == 0
    out = capsys.readouterr().out
    assert re.search("bad +bad 1.0 +broken: ImportError: no x", out)
    assert out.count("ImportError: no x") == 2  # the row and its traceback


def test_a_metric_is_a_stage_too(found):
    known = found(halves=module(Metric("half", half), hook="filterkit_metrics"))
    stage = find_stage(known, "half")
    assert stage.summary() == "Scale by a score: Half of the positives."
    assert stage.needs_class
    assert known.metrics["half"].score is half
    assert known.plugins[0].stages == [stage]


def wrapping(function, **order):
    """A plugin that wraps the hook for stages: `function` maps what each plugin offers."""
    made = types.ModuleType("made")

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

    wrapper, others = {"w": wrapping(note)}, {"p": module(Plus), "m": module(Minus)}
    registry = found(**(wrapper | others if first else others | wrapper))
    assert list(registry.stages) == ["plus"]
    assert [plugin.problem for plugin in registry.plugins] == ["", "", ""]
    assert [names for names in seen if names] == [["plus"], ["minus"]]


def test_hooks_are_called_in_the_order_that_they_ask_for(found):
    """This holds for implementations of one plugin and for wrappers of several; the outermost wrapper comes last."""
    several = types.ModuleType("several")
    several.late = hookimpl(specname="filterkit_stages", trylast=True)(lambda: [Plus])
    several.early = hookimpl(specname="filterkit_stages", tryfirst=True)(lambda: [Minus])
    order = []
    outer = wrapping(lambda stages: order.append("outer") or stages, tryfirst=True)
    inner = wrapping(lambda stages: order.append("inner") or stages, trylast=True)
    registry = found(outer=outer, inner=inner, several=several)
    assert [stage.name for stage in registry.plugins[-1].stages] == ["minus", "plus"]
    assert order[-2:] == ["inner", "outer"]


def test_a_wrapper_that_fails_breaks_only_its_own_plugin(found):
    def fail(stages):
        raise ValueError("no wrapper")

    registry = found(bad=wrapping(fail), plus=module(Plus))
    assert [plugin.problem for plugin in registry.plugins] == ["ValueError: no wrapper", ""]
    assert find_stage(registry, "plus") is Plus


def test_a_plugin_cannot_take_the_name_of_a_bundled_subcommand(found):
    import click

    registry = found(one=module(click.Command("info"), hook="filterkit_subcommands"))
    assert registry.subcommands["info"].callback.__module__ == "filterkit.cli.subcommands.info"
    claimed = "two plugins claim the subcommand 'info': filterkit itself and one (one 1.0); choose another name"
    assert registry.plugins[0].problem == claimed


LAZY = '''\
import click
from filterkit import Metric, RowStage, hookimpl


class {name}(RowStage):
    """Do nothing."""

    name = "{stage}"

    def transform(self, batch):
        return batch


@hookimpl
def filterkit_stages():
    return [{name}]
'''


def lazy_module(stage):
    """The text of a plugin with one stage."""
    return LAZY.format(name=stage.capitalize(), stage=stage)


class Packages:
    """A folder with one package, whose plugins are modules."""

    def __init__(self, folder):
        self.folder = folder
        self.info = folder / "some_plugins-1.0.dist-info"
        self.info.mkdir(parents=True)
        (self.info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-plugins\nVersion: 1.0\n")
        self.points = {}

    def install(self, texts, **names):
        """Install modules, given by their texts, and list names, by group: of each its module."""
        for module, text in texts.items():
            (self.folder / f"{module}.py").write_text(text)
        for group, listed in names.items():
            self.points.setdefault(group, {}).update(listed)
        lines = [
            line
            for group, listed in self.points.items()
            for line in (f"[{group.replace('_', '.')}]", *(f"{name} = {module}" for name, module in listed.items()))
        ]
        (self.info / "entry_points.txt").write_text("\n".join(lines))

    def start(self):
        """A registry as a new process has it, and a list that gets the names of the plugins that it warns of."""
        for name in self.loaded():
            del sys.modules[name]
        importlib.invalidate_caches()
        registry, warned = Registry(), []
        registry.warn = lambda plugin: warned.append(plugin.name)
        registry.add_installed_plugins()
        return registry, warned

    def loaded(self):
        """The modules of plugins that are imported."""
        return sorted(name for name in sys.modules if name.startswith("lazy_"))


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A package with the stages one and two, each in a plugin of its own."""
    made = Packages(tmp_path / "packages")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    standard = [path for path in sys.path if "site-packages" not in path and path != os.getcwd()]
    monkeypatch.setattr(sys, "path", [str(made.folder), *standard])
    texts = {"lazy_one": lazy_module("one"), "lazy_two": lazy_module("two")}
    made.install(texts, filterkit_stages={"one": "lazy_one", "two": "lazy_two"})
    yield made
    for name in made.loaded():
        del sys.modules[name]


def test_a_plugin_is_loaded_when_one_of_its_names_is_looked_up(packages):
    registry, warned = packages.start()
    assert "three" not in registry.stages and ".two" not in registry.formats and "two" not in registry.subcommands
    assert packages.loaded() == []
    assert find_stage(registry, "two") is registry.stages["two"] is sys.modules["lazy_two"].Two
    assert registry.describe_stage_origin("two") == "lazy_two of some-plugins 1.0"
    assert [*registry.engines] == ["local", "processes"]
    assert packages.loaded() == ["lazy_two"]
    # The order is the same as if all had been loaded at once.
    assert [*registry.stages] == ["one", "two"] and len(registry.stages) == 2
    assert [plugin.name for plugin in registry.plugins] == ["lazy_one", "lazy_two"]
    assert registry.stages["two"] is sys.modules["lazy_two"].Two
    assert warned == []


@pytest.mark.parametrize(
    ("hook", "name", "offers", "find"),
    [
        ("metrics", "m", "[Metric('m', max)]", lambda registry: registry.metrics["m"]),
        ("metrics", "m", "[Metric('m', max)]", lambda registry: find_stage(registry, "m").metric),
        ("engines", "e", "[type('E', (), {'name': 'e', 'map': 0})]", lambda registry: registry.engines["e"]),
        ("subcommands", "c", "[click.Command('c')]", lambda registry: registry.subcommands["c"]),
        ("formats", ".f", "[type('F', (), {'name': '', 'endings': ('.f',)})]", lambda registry: registry.formats[".f"]),
    ],
)
def test_whatever_a_plugin_offers_is_found_by_name(packages, hook, name, offers, find):
    text = lazy_module("three").replace("[Three]", offers).replace("filterkit_stages", f"filterkit_{hook}")
    packages.install({"lazy_three": text}, **{f"filterkit_{hook}": {name: "lazy_three"}})
    registry, warned = packages.start()
    assert find(registry) is not None
    assert packages.loaded() == ["lazy_three"]
    assert warned == [] == [plugin.problem for plugin in registry.plugins if plugin.problem]


def test_a_module_in_the_group_for_anything_is_loaded_at_once(packages):
    """As every package was for the versions of filterkit before there were other groups."""
    packages.install({"lazy_old": lazy_module("old")}, filterkit={"older": "lazy_old"})
    registry, warned = packages.start()
    assert packages.loaded() == ["lazy_old"]
    assert find_stage(registry, "old").name == "old" and [*registry.stages] == ["one", "two", "old"]
    assert [plugin.name for plugin in registry.plugins] == ["lazy_one", "lazy_two", "older"] and not warned


def test_a_module_in_both_groups_is_one_plugin(packages):
    packages.install({}, filterkit={"one": "lazy_one"})
    registry, _ = packages.start()
    assert packages.loaded() == ["lazy_one"]
    assert [(plugin.name, plugin.problem) for plugin in registry.plugins] == [("lazy_two", ""), ("one", "")]


def test_a_name_that_no_entry_point_lists_is_found_and_told(packages):
    """It is in an editable install whose hooks have been edited."""
    packages.install({"lazy_one": lazy_module("first")})
    registry, warned = packages.start()
    assert find_stage(registry, "first").name == "first"
    (problem,) = (plugin.problem for plugin in registry.plugins if plugin.problem)
    assert problem == "its entry points list the stage 'one', which no hook returns; remove it there"
    broken = r"the plugin of the stage 'one', lazy_one \(some-plugins 1.0\), is broken: its entry points list the stage"
    with pytest.raises(PluginError, match=broken):
        find_stage(registry, "one")
    packages.install({"lazy_one": lazy_module("one").replace("[One]", "[One, type('X', (One,), {'name': 'x'})]")})
    registry, warned = packages.start()
    assert find_stage(registry, "one").name == "one" and warned == ["lazy_one"]
    assert registry.plugins[0].problem == (
        "it offers the stage 'x', which no entry point of the group filterkit.stages lists; add it there"
    )
    assert find_stage(registry, "x").name == "x" and warned == ["lazy_one"]


def test_a_broken_plugin_warns_if_one_of_its_names_is_needed_or_names_are_listed(packages):
    packages.install({"lazy_two": "raise ValueError('broken')"}, filterkit_stages={"another": "lazy_two"})
    registry, warned = packages.start()
    assert find_stage(registry, "one") and [*registry.formats] and "three" not in registry.stages and not warned
    with pytest.raises(PluginError, match=r"the plugin of the stage 'two', lazy_two .*: ValueError: broken"):
        find_stage(registry, "two")
    assert [*registry.stages] == ["one"] == [*registry.stages]
    assert warned == ["lazy_two"]


WRAPPER = """\
from filterkit import hookimpl


@hookimpl(wrapper=True)
def filterkit_stages():
    return [[stage for stages in (yield) for stage in stages if stage.name != "one"]]
"""


def test_a_wrapper_in_another_group_is_refused(packages):
    packages.install({"lazy_wrapper": WRAPPER}, filterkit_stages={"three": "lazy_wrapper"})
    registry, _ = packages.start()
    assert registry.plugins[2].problem == (
        "it wraps hooks of others; list its module in the group filterkit of entry points"
    )
    assert [*registry.stages] == ["one", "two"]


def test_filterkit_no_plugins_leaves_out_names_of_others(packages, monkeypatch):
    """The bundled ones are all plugins of its distribution, wherever their modules are."""
    monkeypatch.setenv("FILTERKIT_NO_PLUGINS", "1")
    registry, _ = packages.start()
    assert [*registry.stages] == [] == packages.loaded()
    metadata = packages.info / "METADATA"
    metadata.write_text(metadata.read_text().replace("some-plugins", "arff-filterkit"))
    assert [*packages.start()[0].stages] == ["one", "two"]


def test_all_plugins_are_loaded_before_that_of_a_file(packages, tmp_path):
    """Its wrapper applies to itself alone."""
    (tmp_path / "wrapper.py").write_text(WRAPPER)
    registry, _ = packages.start()
    registry.load_plugin_file(str(tmp_path / "wrapper.py"))
    assert sorted(registry.stages) == ["one", "two"]


def test_threads_that_look_a_name_up_get_the_same(packages):
    registry, _ = packages.start()
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: find_stage(registry, "one"), range(64)))
    assert found == {sys.modules["lazy_one"].One}


def stage_file(path, name):
    path.parent.mkdir(exist_ok=True)
    path.write_text(lazy_module(name))
    return str(path)


def test_a_file_that_is_given_twice_is_loaded_once(tmp_path, monkeypatch):
    registry = Registry()
    path = stage_file(tmp_path / "my.py", "mine")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.py").symlink_to(path)
    assert (
        registry.load_plugin_file(path) is registry.load_plugin_file("./my.py") is registry.load_plugin_file("link.py")
    )
    assert [*registry.stages] == ["mine"] and registry.files == [path]


def test_what_a_file_prints_as_it_is_loaded_goes_to_standard_error(tmp_path, capsys):
    stage_file(tmp_path / "loud.py", "loud")
    with open(tmp_path / "loud.py", "a") as file:
        file.write("print('loaded')\n")
    Registry().load_plugin_file(str(tmp_path / "loud.py"))
    assert capsys.readouterr() == ("", "loaded\n")


def test_files_of_one_name_in_two_folders_are_two_plugins(tmp_path):
    registry = Registry()
    one, two = (registry.load_plugin_file(stage_file(tmp_path / name / "my.py", name)) for name in ("one", "two"))
    assert [*registry.stages] == ["one", "two"] and [one.name, two.name] == ["my", "my"]
    assert one.stages[0].__module__ != two.stages[0].__module__


def test_a_file_that_is_refused_changes_nothing(tmp_path):
    registry = Registry()
    registry.load_plugin_file(stage_file(tmp_path / "one.py", "mine"))
    other = stage_file(tmp_path / "two.py", "mine")
    with pytest.raises(PluginError, match=r"two plugins claim the stage 'mine': .*; load only one of these files"):
        registry.load_plugin_file(other)
    assert find_stage(registry, "mine").name == "mine" and [plugin.name for plugin in registry.plugins] == ["one"]
    assert "filterkit_plugin_file_two" not in sys.modules
    stage_file(tmp_path / "two.py", "other")  # mended, it is loaded
    registry.load_plugin_file(other)
    assert [*registry.stages] == ["mine", "other"]


@pytest.mark.parametrize(
    ("hook", "marked", "said"),
    [
        ("filterkit_stagse", True, r"there is no hook 'filterkit_stagse'; did you mean 'filterkit_stages'\?"),
        ("stages", True, r"there is no hook 'stages'; did you mean 'filterkit_stages'\?"),
        ("qwxz", True, r"there is no hook 'qwxz'; known: filterkit_stages, filterkit_metrics, "),
        ("filterkit_stages", False, "filterkit_stages is not marked as a hook; write @filterkit.hookimpl above it$"),
        (
            "filterkit_stage",
            False,
            "filterkit_stage is not marked as a hook; .*, and call it filterkit_stages$",
        ),
    ],
)
def test_a_hook_that_is_misspelt_or_not_marked_gets_a_suggestion(hook, marked, said, tmp_path):
    text = lazy_module("one").replace("filterkit_stages", hook)
    (tmp_path / "my.py").write_text(text if marked else text.replace("@hookimpl\n", ""))
    with pytest.raises(PluginError, match=said):
        Registry().load_plugin_file(str(tmp_path / "my.py"))


@pytest.mark.parametrize("name", ["filterkit_version", "stages"])
def test_a_function_of_another_name_is_no_hook(name, tmp_path):
    text = lazy_module("one").replace("@hookimpl\n", "").replace("filterkit_stages", name)
    (tmp_path / "my.py").write_text(text)
    assert Registry().load_plugin_file(str(tmp_path / "my.py")).stages == []


MISTAKES = """
import click
import filterkit

class Mine(filterkit.RowStage):
    name = "mine"

class Nameless(filterkit.RowStage):
    pass

def share(tp, fp, pos, neg):
    return tp / pos

def count(path):
    pass

@filterkit.hookimpl
def filterkit_HOOK:
    return GIVEN
"""


@pytest.mark.parametrize(
    ("hook", "given", "said"),
    [
        ("stages()", "Mine", r"filterkit_stages gives <class .*>; return a list"),
        ("stages()", "'mine'", r"filterkit_stages gives 'mine'; return a list"),
        ("stages()", "[Mine()]", r"gives <Mine: mine>, which is not a stage class with a name; list the class"),
        (
            "stages()",
            "[Nameless]",
            r"which is not a stage class with a name; list the class itself, and give it a name = ",
        ),
        ("stages()", "[Mine, Mine]", r"it offers the stage 'mine' twice"),
        (
            "stages(known)",
            "[Mine]",
            r"my\.py: the hook filterkit_stages takes no arguments; write def filterkit_stages\(\):$",
        ),
        ("metrics()", "[share]", r"which is not a Metric with a name and a function; write filterkit\.Metric"),
        ("metrics()", "[filterkit.Metric(share, 'share')]", r"which is not a Metric with a name and a function; write"),
        (
            "formats()",
            "[filterkit.Format('a', '.a')]",
            r"the endings of the format 'a' are not a tuple; write endings = \('\.a',\)$",
        ),
        (
            "formats()",
            "[filterkit.Format('a', ('a',))]",
            r"the format 'a' has the ending 'a'; begin it with a dot",
        ),
        ("engines()", "[Mine]", r"which is not an engine class with a name; list the class itself"),
        ("subcommands()", "[count]", r"not a click command with a name; write @click\.command\('…'\) above the"),
    ],
)
def test_a_hook_that_gives_something_else_is_told_what_to_give(hook, given, said, tmp_path):
    text = MISTAKES.replace("HOOK", hook).replace("GIVEN", given)
    (tmp_path / "my.py").write_text(text)
    with pytest.raises(PluginError, match=said) as caught:
        Registry().load_plugin_file(str(tmp_path / "my.py"))
    assert "\n" not in str(caught.value)
