"""Engines made from what a user writes."""

from __future__ import annotations

from filterkit.engines.engine import Engine
from filterkit.plugin.registry import Registry


def make_engine(text: str, jobs: int, known: Registry) -> Engine:
    """The engine that ``--engine`` asks for.

    Parameters
    ----------
    text : its name, and perhaps a colon and options.
    jobs : how many items it works on at once.
    known : all plugins.

    Raises
    ------
    UsageError : there is no engine of this name, or it does not know the options.
    """
    name, _, options = text.partition(":")
    kind = known.engine(name)
    engine = kind(jobs, options) if options else kind(jobs)
    if known.files:
        engine.prepare(_load_plugins, list(known.files))
    return engine


def _load_plugins(paths: list[str]) -> None:
    """Load the plugins in these files, in a process that works for an engine."""
    from filterkit.plugin.registry import registry

    for path in paths:
        registry().add_file(path)
