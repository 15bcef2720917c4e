"""The engine dask, which works on a Dask cluster, on this machine or on many."""

from filterkit import hookimpl
from filterkit.plugin import Engine

from .engine import DaskEngine


@hookimpl
def filterkit_engines() -> list[type[Engine]]:
    return [DaskEngine]
