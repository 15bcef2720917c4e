"""The packages whose classes a saved chain may name, while one is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from filterkit.errors import UsageError

# None: no saved chain is loaded, and the user names all classes.
_packages: ContextVar[tuple[str, ...] | None] = ContextVar("_packages", default=None)


@contextmanager
def trust_packages(packages: Sequence[str]) -> Iterator[None]:
    """Let the stages of a saved chain name classes of scikit-learn and of these packages, and of no others."""
    token = _packages.set(("sklearn", *packages))
    try:
        yield
    finally:
        _packages.reset(token)


def check_trusted(stage: str, path: str) -> None:
    """Refuse a class that a saved chain names if its package is not trusted.

    Parameters
    ----------
    stage : the name of the stage, for the message.
    path : of the class, as package.module.Class.

    Raises
    ------
    UsageError : a saved chain is being loaded, and the package is not trusted.
    """
    packages, package = _packages.get(), path.partition(".")[0]
    if packages is not None and package not in packages:
        raise UsageError(
            f"{stage}: it names {path}; if you trust that package, add --trust {package} (in Python trust=)"
        )
