"""Stages that compute with expressions: `where`, `set` and `map`. `language` says what an expression is."""

from __future__ import annotations

from filterkit import Stage, hookimpl

from .stages import Map, Set, Where


@hookimpl
def filterkit_stages() -> list[type[Stage]]:
    return [Map, Set, Where]
