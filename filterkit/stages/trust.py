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
    """Return a context for loading a saved chain, which may name only classes of scikit-learn and of these packages.

    `packages` are names of top-level packages, such as ``xgboost``.
    """
    token = _packages.set(("sklearn", *packages))
    try:
        yield
    finally:
        _packages.reset(token)


def check_package_is_trusted(stage: str, path: str) -> None:
    """Raise a `UsageError` inside `trust_packages` if a class is of a package that is not trusted there.

    Elsewhere a class of any package is trusted, because the user names it. `path` is the name of the class, as
    package.module.Class, and `stage` that of the stage that has it as an option, for the message.
    """
    packages, package = _packages.get(), path.partition(".")[0]
    if packages is not None and package not in packages:
        raise UsageError(
            f"{stage}: it names {path}; if you trust that package, add --trust {package} (in Python trust=)"
        )
