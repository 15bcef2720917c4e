"""Compute with expressions: the stages `where`, `set` and `map`. `language` says what an expression is."""

from filterkit.plugin import offer

from .stages import Map, Set, Where

filterkit_stages = offer(Map, Set, Where)
