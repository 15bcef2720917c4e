"""The subcommand ``new-plugin``."""

from __future__ import annotations

import keyword
import os
import re
import shutil
from collections.abc import Mapping

import click

from filterkit._version import DISTRIBUTION, __version__
from filterkit.cli.new_plugin_texts import KINDS, PYPROJECT, README
from filterkit.cli.options import SETTINGS
from filterkit.errors import FilterkitError, UsageError, file_error
from filterkit.plugin.registry import Registry

_FILES = ("pyproject.toml", "README.md", "filterkit_{module}.py", "tests/test_{module}.py")


_HELP = """Write a project with a plugin of your own.

The folder filterkit-NAME holds a stage, or what else --kind says, its tests and a pyproject.toml. It can be installed
and passes its own tests as it is. With --file, there is only the file NAME.py.

\b
The kinds:
""" + "\n".join(f"  {kind:<12} {texts.about}" for kind, texts in KINDS.items())


@click.command("new-plugin", context_settings=SETTINGS, help=_HELP)
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice(list(KINDS)),
    default="row",
    show_default=True,
    help="What it is.",
)
@click.option("--file", "as_file", is_flag=True, help="Write one Python file, for --plugin, instead of a project.")
@click.pass_obj
def new_plugin(known: Registry, name: str, kind: str, as_file: bool) -> None:
    """Write a project, or a file, with a plugin of one of the `KINDS`."""
    texts = KINDS[kind]
    _check_name(known, name, kind)
    module = name.replace("-", "_")
    title = "".join(part.capitalize() for part in name.split("-"))
    values = {"what": texts.what, "use": texts.use, "name": name, "module": module, "title": title}
    values |= {"distribution": DISTRIBUTION, "version": __version__}
    if as_file:
        _check_module(module)
        _write_file(f"{module}.py", _filled(texts.module, values))
        use = _filled(texts.use, values)
        click.echo(f"{module}.py: change it, then: filterkit check-plugin {module}.py")
        click.echo(f"to use it: filterkit --plugin {module}.py {use}")
        return
    folder = f"filterkit-{name}"
    written = zip(_FILES, (PYPROJECT, README, texts.module, texts.tests), strict=True)
    _write_folder(folder, {_filled(path, values): _filled(text, values) for path, text in written})
    click.echo(f"{folder}: change filterkit_{module}.py, then: pip install -e '{folder}[test]' && pytest {folder}")


def _check_name(known: Registry, name: str, kind: str) -> None:
    """Refuse a name that a plugin of this kind cannot have.

    Raises
    ------
    UsageError : it is not of lower-case words, is a word of Python, or is taken.
    """
    what = KINDS[kind].what
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise UsageError(f"new-plugin takes the name of a {what}: lower-case letters, digits and single hyphens")
    if keyword.iskeyword(name):
        raise UsageError(f"new-plugin: {name!r} is a word of Python; take another name")
    others: dict[str, Mapping[str, object]] = {"file format": known.formats, "engine": known.engines}
    taken = {**others, "subcommand": known.subcommands}.get(what, known.stages)
    if name in taken or (what == "file format" and f".{name}" in taken):
        raise UsageError(f"new-plugin: another {what} has the name '{name}'; take another")


def _filled(text: str, values: dict[str, str]) -> str:
    """`text` with the values in the place of their names in braces."""
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", value)
    return text


def _check_module(module: str) -> None:
    """Refuse the name of a module that can be imported; the file would hide it from programs in the same folder.

    Raises
    ------
    UsageError : there is such a module.
    """
    from importlib.util import find_spec

    if find_spec(module) is not None and not os.path.lexists(f"{module}.py"):
        raise UsageError(f"new-plugin: {module}.py would hide the Python module {module!r}; take another name")


def _write_folder(folder: str, files: dict[str, str]) -> None:
    """Write files into a new folder, which appears under its name when it is complete.

    Raises
    ------
    FilterkitError : there is something of this name already, or a file cannot be written.
    """
    if os.path.lexists(folder):
        raise FilterkitError(f"{folder}: File exists")
    aside = f".{folder}.{os.urandom(6).hex()}"  # until it is complete
    try:
        os.makedirs(os.path.join(aside, "tests"))
        for path, text in files.items():
            with open(os.path.join(aside, path), "w", encoding="utf-8") as file:
                file.write(text)
        os.rename(aside, folder)
    except OSError as error:
        raise file_error(f"{folder}: {error.strerror}", error) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)  # there is nothing left if it was renamed


def _write_file(path: str, text: str) -> None:
    """Write a new file.

    Raises
    ------
    FilterkitError : there is something of this name already, or it cannot be written.
    """
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise file_error(f"{path}: {error.strerror}", error) from None
