"""Feature shaping (Forman, Scholz and Rajaram, KDD 2009)."""

from filterkit import ColumnStage, hookimpl

from .stage import Shape


@hookimpl
def filterkit_stages() -> list[type[ColumnStage]]:
    return [Shape]
