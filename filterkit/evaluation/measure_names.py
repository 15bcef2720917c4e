"""The names of all measures, and what is known of each; the file ``measures.toml`` declares them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

_DECLARED = tomllib.loads(Path(__file__).with_name("measures.toml").read_text(encoding="utf-8"))


def _list_measures_declared_with(key: str, value: Any = True) -> tuple[str, ...]:
    """List the names of the measures that ``measures.toml`` declares with this value of `key`, in its order."""
    return tuple(name for name, about in _DECLARED.items() if about.get(key) == value)


MEASURES: tuple[str, ...] = tuple(_DECLARED)
TITLES: dict[str, str] = {name: about["title"] for name, about in _DECLARED.items()}
MEANINGS = {
    name: about["about"] if about["title"] == name else f"{about['title']}: {about['about']}"
    for name, about in _DECLARED.items()
}
OF_CLASSES = _list_measures_declared_with("of", "classes")
OF_NUMBERS = _list_measures_declared_with("of", "numbers")
OF_SCORES = frozenset(_list_measures_declared_with("needs", "scores"))
OF_PROBABILITIES = frozenset(_list_measures_declared_with("needs", "probabilities"))
LOSSES = frozenset(_list_measures_declared_with("is_loss"))  # of these, smaller values are better
NOT_FROM_0_TO_1 = frozenset(_list_measures_declared_with("exceeds_0_to_1"))
IN_UNITS = frozenset(_list_measures_declared_with("has_unit"))
