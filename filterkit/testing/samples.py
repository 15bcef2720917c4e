"""Small relations with every kind of attribute and every edge case, on which the kit tries plugins."""

from __future__ import annotations

from pathlib import Path

from filterkit.api import read
from filterkit.data.batch import Batch

FOLDER = Path(__file__).with_name("sample_files")
_NAMES = (
    *("dense-two-classes", "dense-three-classes", "sparse-two-classes", "sparse-many-classes"),
    *("all-kinds", "all-kinds-sparse", "many-digits", "zeros-and-ones", "constant", "multi-label"),
    *("no-rows", "one-row", "one-class", "no-class", "no-features"),
)
SAMPLES: dict[str, str] = {name: (FOLDER / f"{name}.arff").read_text("utf-8") for name in _NAMES}


def sample(name: str) -> Batch:
    """Read the sample `name`, a key of `SAMPLES`, as a new batch, with its class or labels if it has any."""
    return read(FOLDER / f"{name}.arff", class_="first" if name == "dense-three-classes" else None)
