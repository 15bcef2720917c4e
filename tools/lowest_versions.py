"""Prints a constraints file with the lowest version that pyproject.toml allows of each dependency.

python tools/lowest_versions.py > lowest.txt && pip install -c lowest.txt '.[test]'
"""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

_BOUND = re.compile(r"([A-Za-z0-9._-]+)>=([0-9.]+)")


def lowest(pyproject: str) -> list[str]:
    """One ``name==version`` for each dependency in the text of a pyproject.toml, those of the extras included.

    Raises
    ------
    ValueError : a dependency is not of the form ``name>=version``, or has two lowest versions.
    """
    project = tomllib.loads(pyproject)["project"]
    bounds: dict[str, str] = {}
    for requirement in chain(project["dependencies"], *project["optional-dependencies"].values()):
        found = _BOUND.fullmatch(requirement)
        if found is None:
            raise ValueError(f"{requirement!r} has no lowest version; write it as name>=version")
        name, version = found.groups()
        if bounds.setdefault(name, version) != version:
            raise ValueError(f"{name} has two lowest versions: {bounds[name]} and {version}")
    return [f"{name}=={version}" for name, version in sorted(bounds.items())]


if __name__ == "__main__":
    print("\n".join(lowest((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))))
