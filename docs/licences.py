"""Prints docs/licences.md, the licences of all dependencies, from what the installed packages say of themselves.

pip install -e '.[dask,docs,fuzz,package,plot,skops,smote,test,url]' && python docs/licences.py > docs/licences.md
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
INTRODUCTION = """\
# Licences

Printed by `python docs/licences.py` from what the installed packages say of themselves, in the versions of the table.

filterkit is published under the [BSD-3-Clause licence](../LICENSE). It contains two libraries of others, and needs or
uses the packages below, which pip installs from their own authors. The sample data has its own
[terms](../arff_samples/README.md#terms).
"""
_SHORT = {  # how classifiers and old descriptions call a licence, and its identifier
    "MIT License": "MIT",
    "BSD License": "BSD",
    "Apache Software License": "Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "ISC License (ISCL)": "ISC",
}
_OF_FILES = {  # the first words of licence files
    "BSD 3-Clause License": "BSD-3-Clause",
    "MIT License": "MIT",
    "The MIT License": "MIT",
    "Apache License": "Apache-2.0",
}
_FILE = re.compile(r"(?i)(licen[cs]e|copying)[^/]*$")


class Needed(NamedTuple):
    """A package, what needs it, and what it says of itself."""

    name: str
    by: str
    version: str
    licence: str


def required() -> dict[str, list[str]]:
    """The names of all packages in pyproject.toml, with the extras that need each; an empty one is filterkit itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: dict[str, list[str]] = {}
    for extra, texts in {"": project["dependencies"], **project["optional-dependencies"]}.items():
        for text in texts:
            found.setdefault(Requirement(text).name, []).append(extra)
    return found


def vendored() -> list[tuple[str, ...]]:
    """The rows about the libraries that filterkit contains: file, package, version, licence."""
    text = (ROOT / "filterkit" / "pages" / "vendor" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]+) \| ([^|]+) \| ([^|]+) \| ([^|,]+)", text, re.MULTILINE)
    return [tuple(cell.strip() for cell in row) for row in rows]


def licence_of(distribution: metadata.Distribution) -> str:
    """The licence that an installed package states: as an expression, by classifiers, in a word, or in a file."""
    about = distribution.metadata
    if about["License-Expression"]:
        return str(about["License-Expression"])
    classes = [str(each).split(" :: ") for each in about.get_all("Classifier", [])]
    named = [each[-1] for each in classes if each[0] == "License" and each[-1] != "OSI Approved"]
    if named:
        return " or ".join(_SHORT.get(name, name) for name in named)
    said = str(about["License"] or "").strip()
    if said and "\n" not in said:
        return said
    return _of_file(distribution) or "see the package"


def _of_file(distribution: metadata.Distribution) -> str:
    for file in distribution.files or ():
        if _FILE.search(str(file)) and Path(str(file.locate())).is_file():
            begin = " ".join(file.read_text().split())[:40]
            for words, name in _OF_FILES.items():
                if begin.startswith(words):
                    return name
    return ""


def direct() -> Iterator[Needed]:
    """The packages in pyproject.toml, by name."""
    for name, extras in sorted(required().items(), key=lambda item: item[0].lower()):
        found = metadata.distribution(name)
        by = "filterkit" if "" in extras else ", ".join(f"`{extra}`" for extra in extras)
        yield Needed(name, by, found.version, licence_of(found))


def _table(title: str, packages: Iterator[Needed]) -> str:
    rows = [f"| {name} | {by} | {version} | {licence} |" for name, by, version, licence in packages]
    return "\n".join(
        [f"## {title}", "", "| package | needed by | version | licence |", "| --- | --- | --- | --- |", *rows]
    )


def page() -> str:
    """The text of the page."""
    inside = [f"| {package} | {file} | {version} | {licence} |" for file, package, version, licence in vendored()]
    head = ["## Inside filterkit", "", "| library | file | version | licence |", "| --- | --- | --- | --- |"]
    parts = [
        INTRODUCTION.rstrip(),
        "\n".join([*head, *inside]),
        _table("Needed by filterkit and its extras", direct()),
    ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(page())
