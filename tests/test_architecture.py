"""The rules that keep the house one can live in."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import filterkit

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


@pytest.mark.parametrize("path", sorted((ROOT / "plugins").glob("*.py")), ids=lambda p: p.stem)
def test_a_plugin_uses_the_public_api_only(path):
    for module, name in imports(path):
        if module.split(".")[0] == "filterkit":
            assert module == "filterkit", f"{path.name} imports {module}"
            assert name in filterkit.__all__, f"{path.name} imports {name}"


def test_every_plugin_module_has_an_entry_point_of_its_name():
    text = (ROOT / "pyproject.toml").read_text()
    for path in (ROOT / "plugins").glob("*.py"):
        if path.stem != "__init__":
            assert f'\n{path.stem} = "filterkit_plugins.{path.stem}"\n' in text


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
