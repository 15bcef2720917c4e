"""The rules that keep the house one can live in."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from filterkit.plugin.registry import registry

ROOT = Path(__file__).parent.parent


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", sorted((ROOT / "filterkit").rglob("*.py")), ids=lambda p: p.stem)
def test_the_framework_never_imports_a_plugin(path):
    assert not [module for module, _ in imports(path) if module.split(".")[0] in ("plugins", "filterkit_plugins")]


@pytest.mark.parametrize("path", sorted((ROOT / "plugins").rglob("*.py")), ids=lambda p: p.stem)
def test_a_plugin_uses_public_names_only_and_no_other_plugin(path):
    for module, name in imports(path):
        assert module.split(".")[0] not in ("plugins", "filterkit_plugins"), f"{path.name} imports {module}"
        if module.split(".")[0] == "filterkit":
            assert module in ("filterkit", "filterkit.plugin"), f"{path.name} imports {module}"
            assert name in importlib.import_module(module).__all__, f"{path.name} imports {name}"


def test_every_plugin_has_an_entry_point_of_its_name():
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["filterkit"]
    found = [path.stem for path in (ROOT / "plugins").glob("*.py") if path.stem != "__init__"]
    found += [path.parent.name for path in (ROOT / "plugins").glob("*/__init__.py")]
    assert points == {name: f"filterkit_plugins.{name}" for name in found}


# Names of bundled stages that the framework may write, because they mean something else there.
OTHER_MEANINGS = {
    "binary": "a binary stream; scikit-learn's kind of target",
    "f1": "the measure of classifiers",
    "head": "an English word",
    "keep": "an English word",
    "label": "a label of multi-label data; of an axis",
    "max": "the function; a way to combine scores",
    "range": "the function; an English word",
    "remove": "an English word",
    "rename": "the function of files",
    "sample": "a sample of the conformance kit",
    "select": "the method of Arrow's tables",
    "shape": "of arrays",
    "split": "the method of strings; an English word",
    "svm": "the ending of files, .svm",
    "words": "of a command line",
    "write": "the function",
}


def written_names(path):
    """The words in the identifiers and strings of a file, apart from docstrings and from command lines as examples."""
    tree = ast.parse(path.read_text())
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and is_text(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from re.findall(r"[A-Za-z][\w-]*", re.sub(r"^ +filterkit .*$", "", node.value, flags=re.M))
        for field in ("id", "attr", "arg", "name"):
            if isinstance(getattr(node, field, None), str):
                yield getattr(node, field)


def is_text(node):
    return bool(node.body) and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)


def test_the_framework_names_no_bundled_stage():
    bundled = {stage.name for plugin in registry().plugins for stage in plugin.stages}
    names = {path.name: set(written_names(path)) & bundled for path in (ROOT / "filterkit").rglob("*.py")}
    assert {file: found - set(OTHER_MEANINGS) for file, found in names.items() if found - set(OTHER_MEANINGS)} == {}
    assert set().union(*names.values()) >= set(OTHER_MEANINGS), "an exception that nothing needs"


def test_the_reference_of_public_names_is_current_and_complete():
    made = subprocess.run([sys.executable, "docs/api.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert made.stdout == (ROOT / "docs" / "api.md").read_text(), "python docs/api.py > docs/api.md"
    for section in re.split(r"^### ", made.stdout, flags=re.M)[1:]:
        name, _, text = section.partition("\n")
        assert re.sub(r"^```python.*?^```", "", text, flags=re.M | re.S).strip(), f"{name} has no docstring"


def test_every_package_is_installed():
    text = (ROOT / "pyproject.toml").read_text()
    for folder in (ROOT / "filterkit").rglob("__init__.py"):
        package = ".".join(folder.parent.relative_to(ROOT).parts)
        assert f'"{package}"' in text


def test_whatever_says_what_to_install_names_the_distribution():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    folders = ["filterkit", "plugins", "docs", "examples", "experiments", "benchmarks"]
    files = [*ROOT.glob("*.md"), *(path for folder in folders for path in (ROOT / folder).rglob("*.*"))]
    said = [
        asked
        for path in files
        if path.suffix in (".py", ".md", ".toml")
        for asked in re.findall(r"pip install '([^.'{}][^']*)'|\"((?:arff-)?filterkit>=)", path.read_text())
    ]
    names = {name or pinned for name, pinned in said}
    assert names == {f"{project['name']}[{extra}]" for extra in ("plot", "skops", "url")} | {f"{project['name']}>="}
    assert {"plot", "skops", "url"} <= set(project["optional-dependencies"])


@pytest.mark.parametrize("path", sorted((ROOT / "filterkit").rglob("*.py")), ids=lambda p: p.stem)
def test_modules_stay_short(path):
    assert len(path.read_text().splitlines()) <= 310


@pytest.mark.parametrize(
    ("command", "absent"),
    [
        ("import filterkit", {"scipy", "pyarrow", "sklearn", "pandas", "arff"}),
        (
            "import os; from filterkit.cli.main import _main; "
            "_main(['-o', os.devnull, 'arff_samples/iris.arff', 'l2'])",
            {"scipy", "pyarrow", "sklearn", "pandas", "arff"},
        ),
    ],
    ids=["import", "iris l2"],
)
def test_heavy_libraries_are_imported_only_when_used(command, absent):
    code = f"{command}\nimport sys; print(sorted({absent!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
