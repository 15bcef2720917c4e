"""Texts as counts of words."""

from filterkit import Stage, hookimpl

from .stage import Words


@hookimpl
def filterkit_stages() -> list[type[Stage]]:
    return [Words]
