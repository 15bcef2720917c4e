"""Finds the installed plugins by the entry points of their packages.

A name is an entry point: each group such as ``filterkit.stages`` has one line for each name, which says the module that
offers it. The group ``filterkit`` lists modules without saying what they offer.

The files with entry points are read directly, because importing Python's own `importlib.metadata` and asking it takes a
sixth of a short run. They are looked for where pip writes them: beside the packages in the folders and zip archives of
`sys.path`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from filterkit.plugin.hookspecs import PROJECT

_START = f"{PROJECT}."  # of the names of groups


class InstalledPlugin(NamedTuple):
    """What the entry points of an installed plugin say. The plugin may not be imported yet.

    Attributes
    ----------
    name : the name of its entry point in the group ``filterkit``, or else the last word of `value`.
    value : the module, or ``module:name``.
    origin : the name and version of the distribution that declares it.
    listed : the kind and name of each offer that its entry points list, such as ``("stage", "l2")``.
    is_open : whether it may offer more than it lists, because it is in the group ``filterkit``.
    """

    name: str
    value: str
    origin: str
    listed: tuple[tuple[str, str], ...] = ()
    is_open: bool = False


def list_installed_plugins() -> list[InstalledPlugin]:
    """List the installed plugins, in the order of their names.

    A module that several distributions declare is listed once, because a renamed project is often still installed under
    its old name.
    """
    points: dict[str, list[tuple[str, str, str]]] = {}
    for text, origin in _read_entry_points_and_origins():
        for group, name, value in _parse_entry_points(text):
            points.setdefault(value, []).append((group, name, origin))
    installed = []
    for value, several in points.items():
        group, name, origin = min(several)  # of the group filterkit, if one is
        if group != PROJECT:
            name = value.replace(":", ".").rpartition(".")[2]
        listed = {(each.removeprefix(_START).removesuffix("s"), name) for each, name, _ in several if each != PROJECT}
        installed.append(InstalledPlugin(name, value, origin, tuple(sorted(listed)), group == PROJECT))
    return sorted(installed)


def _read_entry_points_and_origins() -> Iterator[tuple[str, str]]:
    """Yield the text of ``entry_points.txt`` and the origin, such as ``x 1.0``, of each distribution with plugins.

    Of several distributions of one name, the first on `sys.path` counts, as for Python.
    """
    seen = set()
    for path in sys.path:
        folders, read = _list_distribution_folders(path or ".")
        for folder in folders:
            name = folder.rpartition(".")[0].partition("-")[0].replace(".", "_").lower()
            if name in seen:
                continue
            seen.add(name)
            text = read(f"{folder}/entry_points.txt")
            if f"[{PROJECT}" in text:
                about = read(f"{folder}/METADATA") or read(f"{folder}/PKG-INFO")
                parts = (re.search(rf"^{key}: *(.*)", about, re.MULTILINE) for key in ("Name", "Version"))
                yield text, " ".join(part[1].strip() for part in parts if part) or folder


def _list_distribution_folders(path: str) -> tuple[list[str], Callable[[str], str]]:
    """Return the names of the ``.dist-info`` and ``.egg-info`` folders in `path`, and a function that reads a file.

    `path` is an entry of `sys.path`; the list is [] if it is neither a folder nor a zip archive. The function takes a
    path in it, such as ``x-1.dist-info/METADATA``, and returns the text; "" if it cannot be read.
    """
    archive: Any = None
    try:
        names = os.listdir(path)
    except NotADirectoryError:
        from zipfile import BadZipFile
        from zipfile import Path as PathInArchive

        try:
            archive = PathInArchive(path)
        except (OSError, BadZipFile):
            names = []
        else:
            names = [each.name for each in archive.iterdir()]
    except OSError:
        names = []

    def read_text(name: str) -> str:
        try:
            with open(f"{path}/{name}", "rb") if archive is None else archive.joinpath(name).open("rb") as file:
                return str(file.read().decode("utf-8", "replace"))
        except OSError:
            return ""

    return [each for each in sorted(names, reverse=True) if each.endswith((".dist-info", ".egg-info"))], read_text


def _parse_entry_points(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the entry points for filterkit in the text of a file: the group, name and value of each."""
    is_ours = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[]")
            is_ours = group == PROJECT or group.startswith(_START)
        elif is_ours and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield group, name.strip(), value.partition("[")[0].strip()
