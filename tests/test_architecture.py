"""The rules of the code base: which modules may import which, what the framework may name, what is installed."""

import ast
import functools
import importlib
import re
import tomllib
from pathlib import Path

import pytest
from command import python_output

from filterkit.plugin.offers import HookCaller, Plugin
from filterkit.plugin.registry import get_registry

ROOT = Path(__file__).parent.parent


def nodes_at_run_time(tree):
    """All nodes of a module but those below ``if TYPE_CHECKING``, which only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from (each for branch in node.orelse for each in [branch, *nodes_at_run_time(branch)])
        else:
            yield node
            yield from nodes_at_run_time(node)


@functools.cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path, nodes=ast.walk):
    """The module and the name of each import in a file; for ``import module`` the name is None."""
    package = ["filterkit_plugins" if part == "plugins" else part for part in path.relative_to(ROOT).parent.parts]
    for node in nodes(parsed(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            yield from (
                (".".join([*above, *([node.module] if node.module else [])]), alias.name) for alias in node.names
            )


MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "filterkit").rglob("*.py"))
}


@functools.cache
def imported_modules(name):
    """The modules of filterkit that a module imports at run time, also inside its functions."""
    found = {f"{module}.{what}" if f"{module}.{what}" in MODULES else module for module, what in run_time_imports(name)}
    return found & set(MODULES)


def run_time_imports(name):
    return imports(MODULES[name], nodes_at_run_time)


def floors():
    """The floors that CONTRIBUTING.md lists, from the top down: on each, folders and modules of filterkit."""
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| folder |")[2].partition("\n\n")[0]
    rows = [re.findall(r"`filterkit/([\w/.]+)`", row.split(" | ")[0]) for row in table.splitlines()]
    return [[name.rstrip("/").removesuffix(".py") for name in row] for row in rows if row]


# What any module may use: constants, and what makes a package import its public names when they are first used.
BELOW_ALL = {"_lazy", "_version"}


def test_every_folder_has_a_floor():
    rooms = {name.split(".")[1] for name in MODULES if "." in name}
    assert sorted(room for row in floors() for room in row) == sorted(rooms - BELOW_ALL - {"__main__"})


def test_imports_follow_the_floors():
    """A folder imports from the floors below its own, and from itself."""
    height = {room: -number for number, row in enumerate(floors()) for room in row}
    upward = [
        f"{name} imports {other}"
        for name in MODULES
        if name.partition(".")[2] not in ("", "__main__")
        for other in imported_modules(name)
        if (room := name.split(".")[1]) != (used := ([*other.split("."), ""])[1])
        and used not in BELOW_ALL
        and height.get(used, 1) >= height.get(room, -len(height))
    ]
    assert not upward


def test_imports_are_free_of_cycles():
    left = {name: set(imported_modules(name)) - {name} for name in MODULES}
    while left and (ends := {name for name in left if not left[name] or name not in set().union(*left.values())}):
        left = {name: others - ends for name, others in left.items() if name not in ends}
    assert not left, "each of these imports another of them"


def test_the_framework_never_imports_a_plugin():
    plugins = ("plugins", "filterkit_plugins")
    found = [name for name, path in MODULES.items() for module, _ in imports(path) if module.split(".")[0] in plugins]
    assert not found


def test_a_plugin_uses_the_public_api_only():
    """It imports no other plugin; the modules of one folder may import each other."""
    for path in sorted((ROOT / "plugins").rglob("*.py")):
        (folder, *_) = path.relative_to(ROOT / "plugins").parts
        for module, name in imports(path):
            said = f"{path.relative_to(ROOT)} imports {name} from {module}"
            if module.split(".")[0] in ("plugins", "filterkit_plugins"):
                assert f"{module}.".startswith(f"filterkit_plugins.{folder}."), said
            if module.split(".")[0] == "filterkit":
                assert module in ("filterkit", "filterkit.plugin"), said
                assert name in importlib.import_module(module).__all__, said


def test_every_name_that_a_plugin_offers_has_an_entry_point():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    listed = [(module, group, name) for group, points in groups.items() for name, module in points.items()]
    found = [path.stem for path in (ROOT / "plugins").glob("*.py") if path.stem != "__init__"]
    found += [path.parent.name for path in (ROOT / "plugins").glob("*/__init__.py")]
    hooks = HookCaller()
    offered = []
    for module in (importlib.import_module(f"filterkit_plugins.{name}") for name in found):
        hooks.register(module.__name__, module)
        plugin = Plugin(module.__name__, "")
        hooks.collect_offers(plugin, module)
        offered += [(plugin.name, f"filterkit.{kind}s", name) for kind, name in plugin.list_offered_names()]
    assert sorted(listed) == sorted(offered)


# Names of bundled stages that the framework may write, because they mean something else there.
OTHER_MEANINGS = """
class: the class attribute
date: a type of attributes
nominal: a type of attributes; advice what to do
numeric: a type of attributes
string: a type of attributes
bins: of a histogram
correlation: of columns with each other
binary: a binary stream; scikit-learn's kind of target
f1: the measure of classifiers
head: an English word
keep: an English word
label: a label of multi-label data; of an axis
max: the function; a way to combine scores
range: the function; an English word
sklearn: the module filterkit.sklearn
shuffle: an argument of scikit-learn
remove: an English word
rename: the function of files
sample: a sample of the conformance kit
map: the function
set: the type; an English word
where: an argument of functions of arrays
rows: of a batch
distinct: an English word
id: the function
limit: an English word
vary: an English word
predict: a method of models; an English word
project: of a plugin's package
select: the method of Arrow's tables
shape: of arrays
split: the method of strings; an English word
svm: the ending of files, .svm
words: of a command line
write: the function
"""


def written_names(path):
    """The words in the identifiers and strings of a file, apart from docstrings and from command lines as examples."""
    tree = parsed(path)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in docstrings:
            yield from re.findall(r"[A-Za-z][\w-]*", re.sub(r"^ +filterkit .*$", "", node.value, flags=re.M))
        for field in ("id", "attr", "arg", "name"):
            if isinstance(getattr(node, field, None), str):
                yield getattr(node, field)


def test_the_framework_names_no_bundled_stage():
    bundled = {stage.name for plugin in get_registry().plugins for stage in plugin.stages}
    known = set(re.findall(r"^([\w-]+):", OTHER_MEANINGS, re.M))
    names = {(name, path.name) for path in MODULES.values() for name in written_names(path) if name in bundled}
    assert {(name, file) for name, file in names if name not in known} == set()
    assert {name for name, _ in names} == known, "an exception that nothing needs"


def test_every_package_is_installed():
    text = (ROOT / "pyproject.toml").read_text()
    for folder in (ROOT / "filterkit").rglob("__init__.py"):
        package = ".".join(folder.parent.relative_to(ROOT).parts)
        assert f'"{package}"' in text


def test_installation_advice_names_the_distribution():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    folders = ["filterkit", "plugins", "docs", "examples", "experiments", "benchmarks"]
    files = [*ROOT.glob("*.md"), *(path for folder in folders for path in (ROOT / folder).rglob("*.*"))]
    text = "\n".join(path.read_text() for path in files if path.suffix in (".py", ".md", ".toml"))
    said = set(re.findall(r"pip install '([^.'{}][^']*)'", text)) | set(re.findall(r'"((?:arff-)?filterkit>=)', text))
    extras = {"dask", "plot", "skops", "smote", "url"}
    assert said == {f"{project['name']}[{extra}]" for extra in extras} | {f"{project['name']}>="}
    assert extras <= set(project["optional-dependencies"])


LIBRARIES = {"scipy", "sklearn", "pandas", "arff", "pyarrow", "orjson"}


@pytest.mark.parametrize(
    ("arguments", "imported"),
    [
        ("iris.arff l2", set()),
        ("mixed-sparse.arff shape --cross-fit 3 bns l2", {"pyarrow", "orjson"}),
        (
            "mixed.arff set late=received string --only reason date --only received --format yyyy "
            "nominal --only late distinct",
            {"pyarrow", "orjson"},
        ),
    ],
)
def test_heavy_libraries_are_imported_only_when_used(arguments, imported):
    code = f"""
import os, sys
from filterkit.cli.main import run_command_line
run_command_line(["-o", os.devnull, *"arff_samples/{arguments}".split()])
print(sorted({LIBRARIES - imported} & set(sys.modules)))
"""
    assert python_output(code, cwd=ROOT) == "[]\n"
