"""Compare the versions of the workers with those of this process, because the output depends on them."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import Any

from filterkit import FilterkitError

_LIBRARIES = ("arff-filterkit", "numpy", "orjson", "pyarrow", "scipy", "scikit-learn")


def find_library_versions() -> dict[str, str]:
    """Return the versions of Python (such as 3.13), filterkit, its plugins and the libraries that it uses, by name.

    What is not installed has the version "none".
    """
    by_name = {"Python": platform.python_version().rpartition(".")[0]}
    plugins = {
        package.name
        for package in metadata.distributions()
        if any(point.group.partition(".")[0] == "filterkit" for point in package.entry_points)
    }
    for name in sorted({*_LIBRARIES, *plugins}):
        try:
            by_name[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            by_name[name] = "none"
    return by_name


def check_worker_versions(client: Any) -> None:
    """Raise a `FilterkitError` if a worker of `client` has other versions than this process.

    The message names the first worker and the first difference.
    """
    ours = find_library_versions()
    for worker, theirs in client.run(find_library_versions).items():
        for name in [*ours, *theirs]:
            if ours.get(name) != theirs.get(name):
                raise FilterkitError(
                    f"--engine dask: the worker {worker} has {name} {theirs.get(name, 'none')}, and this process has "
                    f"{ours.get(name, 'none')}; install the same versions"
                )
