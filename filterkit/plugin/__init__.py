"""Names for authors of plugins, beyond those of `filterkit`: for stages that count, score or learn."""

from filterkit._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
