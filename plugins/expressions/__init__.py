"""Compute with expressions: the stages `where`, `set` and `map`. `language` says what an expression is."""

from filterkit.plugin import offer

from .stages import ComputeAttribute, KeepRowsWhere, MapColumnValues

filterkit_stages = offer(MapColumnValues, ComputeAttribute, KeepRowsWhere)
