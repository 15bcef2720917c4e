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
from typing import NamedTuple

from filterkit.plugin.hookspecs import PROJECT

_START = f"{PROJECT}."  # of the names of groups


class Installed(NamedTuple):
    """A plugin that is installed.

    Attributes
    ----------
    name : that of its entry point in the group ``filterkit``, or else the last part of the name of its module.
    value : the module, or ``module:name``.
    origin : the distribution that declares it, and its version.
    listed : what its entry points say that it offers, each a kind and a name, such as ``("stage", "l2")``.
    is_open : whether it may offer anything, as it is in the group ``filterkit``.
    """

    name: str
    value: str
    origin: str
    listed: tuple[tuple[str, str], ...] = ()
    is_open: bool = False

    @property
    def distribution(self) -> str:
        """The name of the distribution."""
        return self.origin.partition(" ")[0]


def list_installed() -> list[Installed]:
    """List the installed plugins, in the order of their names.

    A module that several distributions declare is listed once, because a renamed project is often still installed under
    its old name.
    """
    points: dict[str, list[tuple[str, str, str]]] = {}
    for text, origin in _read_all():
        for group, name, value in _parse(text):
            points.setdefault(value, []).append((group, name, origin))
    return sorted(_describe(value, sorted(each)) for value, each in points.items())


def _describe(value: str, points: list[tuple[str, str, str]]) -> Installed:
    """Describe the plugin that entry points of one value make, each a group, a name and an origin."""
    group, name, origin = points[0]  # of the group filterkit, if one is
    listed = {(each.removeprefix(_START).removesuffix("s"), name) for each, name, _ in points if each != PROJECT}
    if group != PROJECT:
        name = value.replace(":", ".").rpartition(".")[2]
    return Installed(name, value, origin, tuple(sorted(listed)), group == PROJECT)


def _read_all() -> Iterator[tuple[str, str]]:
    """Yield the entry points of each distribution that has some for filterkit, as text, and its name and version.

    Of several distributions of one name, the first on `sys.path` counts, as for Python.
    """
    seen = set()
    for path in sys.path:
        for folder, read in _list_distributions(path or "."):
            name = folder.rpartition(".")[0].partition("-")[0].replace(".", "_").lower()
            if name in seen:
                continue
            seen.add(name)
            text = read(folder, "entry_points.txt")
            if f"[{PROJECT}" in text:
                about = read(folder, "METADATA") or read(folder, "PKG-INFO")
                parts = (re.search(rf"^{key}: *(.*)", about, re.MULTILINE) for key in ("Name", "Version"))
                yield text, " ".join(part[1].strip() for part in parts if part) or folder


def _list_distributions(path: str) -> Iterator[tuple[str, Callable[[str, str], str]]]:
    """Yield the folders that describe distributions in an entry of `sys.path`: the name of each, and a function that
    reads a file in a folder, which gives an empty text if there is none."""
    try:
        names = os.listdir(path)
    except NotADirectoryError:
        yield from _list_zipped_distributions(path)
        return
    except OSError:
        return

    def read(folder: str, file: str) -> str:
        try:
            with open(f"{path}/{folder}/{file}", "rb") as opened:
                return opened.read().decode("utf-8", "replace")
        except OSError:
            return ""

    for name in sorted(filter(_is_description, names), reverse=True):
        yield name, read


def _list_zipped_distributions(path: str) -> Iterator[tuple[str, Callable[[str, str], str]]]:
    """Yield as `_list_distributions`, for a zip archive; nothing for another file."""
    from zipfile import BadZipFile, ZipFile

    try:
        archive = ZipFile(path)
    except (OSError, BadZipFile):
        return
    with archive:
        files = {*archive.namelist()}

        def read(folder: str, file: str) -> str:
            name = f"{folder}/{file}"
            return archive.read(name).decode("utf-8", "replace") if name in files else ""

        for name in sorted({*filter(_is_description, (file.partition("/")[0] for file in files))}, reverse=True):
            yield name, read


def _is_description(name: str) -> bool:
    return name.endswith((".dist-info", ".egg-info"))


def _parse(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the entry points for filterkit in a text: the group, name and value of each."""
    is_ours = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[]")
            is_ours = group == PROJECT or group.startswith(_START)
        elif is_ours and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield group, name.strip(), value.partition("[")[0].strip()
