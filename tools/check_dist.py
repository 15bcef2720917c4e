"""Checks that the wheel and the source distribution in a folder hold what they should, and nothing else.

python tools/check_dist.py dist
"""

from __future__ import annotations

import configparser
import email
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_MADE = ("PKG-INFO", "setup.cfg", "arff_filterkit.egg-info/")  # what setuptools adds to a source distribution


def main(folder: str) -> None:
    """Check the one wheel and the one source distribution in `folder`; the first mistake ends it."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    known = subprocess.run(listing, cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout
    files = set(known.split("\0")) - {""}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (wheel,) = Path(folder).glob("*.whl")
    (source,) = Path(folder).glob("*.tar.gz")
    check_source(source, files)
    check_wheel(wheel, files, project)
    print(f"{wheel.name} and {source.name} hold what they should")


def check_source(path: Path, files: set[str]) -> None:
    """The source distribution has every file of the repository."""
    with tarfile.open(path) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    _same(path.name, {name for name in names if not name.startswith(_MADE)}, files)


def check_wheel(path: Path, files: set[str], project: dict[str, Any]) -> None:
    """The wheel has the two packages with type marker, licence, manual page and entry points: no tests, no data."""
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        (info,) = {name.partition("/")[0] for name in names if ".dist-info/" in name}
        about = email.message_from_bytes(archive.read(f"{info}/METADATA"))
        points = configparser.ConfigParser()
        points.optionxform = str  # type: ignore[assignment,method-assign]
        points.read_string(archive.read(f"{info}/entry_points.txt").decode())
    packages = {"filterkit/": "filterkit/", "plugins/": "filterkit_plugins/"}
    expected = {
        installed + name.removeprefix(folder)
        for folder, installed in packages.items()
        for name in files
        if name.startswith(folder)
    }
    manual = f"{info.removesuffix('.dist-info')}.data/data/share/man/man1/filterkit.1"
    described = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "top_level.txt")
    _same(path.name, names, expected | {manual} | {f"{info}/{name}" for name in described})
    assert "filterkit/py.typed" in expected, "filterkit/py.typed is missing"
    _same("the licence", {about["License-Expression"]}, {project["license"]})
    _same("the name and the version", {about["Name"], about["Version"]}, {project["name"], project["version"]})
    declared = {"console_scripts": project["scripts"], **project["entry-points"]}
    _same("the groups of entry points", set(points.sections()), set(declared))
    for group, entries in declared.items():
        _same(f"the entry points of {group}", set(points[group].items()), set(entries.items()))


def _same(what: str, found: set[Any], expected: set[Any]) -> None:
    if found != expected:
        sys.exit(f"{what}: missing {sorted(expected - found)}, not expected {sorted(found - expected)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
