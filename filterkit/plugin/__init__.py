"""Names for authors of plugins, beyond those of `filterkit`: for stages that count, score or learn."""

from filterkit._lazy import make_lazy_attributes

__getattr__, __dir__, __all__ = make_lazy_attributes(__name__, __file__)
