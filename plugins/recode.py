"""The labels of nominal attributes: other names, another order, fewer of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from filterkit import Attribute, Batch, FilterkitError, Fitted, Schema, Stage, StageError, UsageError, hookimpl, option
from filterkit.plugin import ChoosingStage, Rearrangement, attribute_values, quoted, suggestion


class Recode(ChoosingStage):
    """Rename, merge and sort the labels of nominal attributes, and make them missing or the reverse.

        filterkit in.arff recode --only class --rename a=yes --rename b=no

    The options work in this order, on each attribute that has such labels:

    1. ``--missing LABEL`` makes a label missing, and ``--fill LABEL`` gives a missing value this label, which is added
       if there is none.
    2. ``--rename OLD=NEW`` renames a label. Labels of the same new name are merged at the place of the first, as by
       Weka's RenameNominalValues and MergeTwoValues.
    3. ``--rare N`` merges labels that fewer than N training rows have into one, which ``--rare-label`` names and which
       comes last, as by Weka's MergeInfrequentNominalValues. A single rare label stays.
    4. ``--first LABEL`` puts labels first, as Weka's SwapValues can; ``--sort`` sorts the others by name, as Weka's
       SortLabels does.

    The class is among the attributes if `--only` chooses it.
    """

    name = "recode"
    group = "Encode values"
    fills_missing = True

    missing: tuple[str, ...] = option((), "Make this label missing.")
    fill: str | None = option(None, "Give missing values this label.")
    rename: tuple[str, ...] = option((), "Rename a label, as OLD=NEW.")
    rare: int | None = option(None, "Merge labels of fewer training rows.", minimum=1)
    rare_label: str = option("other", "The label of merged rare ones.")
    first: tuple[str, ...] = option((), "Put this label first.")
    sort: bool = option(False, "Sort the labels by name.")

    def __post_init__(self) -> None:
        super().__post_init__()
        asked = self.missing or self.fill is not None or self.rename or self.rare is not None or self.first or self.sort
        if not asked:
            raise UsageError(f"{self.name}: say what to do, as with --rename or --sort")
        self._renames()

    def _renames(self) -> dict[str, str]:
        """The new names by the old ones."""
        found = {}
        for pair in self.rename:
            old, equals, new = pair.partition("=")
            if not equals or not old:
                raise UsageError(f"{self.name}: --rename must be like OLD=NEW, not {quoted(pair)}")
            found[old] = new
        return found

    def _places(self, schema: Schema) -> list[int]:
        places = self.chosen(schema, ("nominal",), targets=bool(self.only))
        return [place for place in places if place not in schema.labels]

    def fit(self, rows: Callable[[], Iterator[Batch]], schema: Schema) -> Fitted:
        places = self._places(schema)
        known = {label for place in places for label in schema.attributes[place].values}
        self._check("--missing", self.missing, known)
        self._check("--rename", self._renames(), known)
        merged = {place: self._merged(schema.attributes[place]) for place in places}
        self._check("--first", self.first, {self.rare_label}.union(*(labels for labels, _ in merged.values())))
        counts = {place: np.zeros(len(labels), np.int64) for place, (labels, _) in merged.items()}
        for batch in rows() if self.rare is not None else ():
            for place, (_, codes) in merged.items():
                found = _recoded(attribute_values(batch, place), codes)
                counts[place] += np.bincount(found[found >= 0], minlength=len(counts[place]))
        made = [self._ordered(*merged[place], counts[place]) for place in places]
        return FittedRecode(self, schema, places, [labels for labels, _ in made], [codes for _, codes in made])

    def from_state(self, state: dict[str, Any], schema: Schema) -> Fitted:
        places, labels, codes = self._places(schema), state["labels"], state["codes"]
        if len(labels) != len(places) or len(codes) != len(places):
            raise FilterkitError("the labels of recode are not those of its attributes")
        arrays = [np.array(each, np.int64) for each in codes]
        for place, names, array in zip(places, labels, arrays):
            fits = len(array) == len(schema.attributes[place].values) + 1 and all(isinstance(n, str) for n in names)
            if not fits or (len(array) and (array.min() < -1 or array.max() >= len(names))):
                raise FilterkitError("the labels of recode do not fit its attributes")
        return FittedRecode(self, schema, places, labels, arrays)

    def _check(self, flag: str, labels: Iterable[str], known: set[str]) -> None:
        """Refuse an option that names a label which no attribute has."""
        for label in labels:
            if label not in known:
                hint = suggestion(label, sorted(known))
                raise StageError(self.name, f"{flag}: no attribute has the label {quoted(label)}{hint}")

    def _merged(self, attribute: Attribute) -> tuple[list[str], np.ndarray]:
        """The labels after the first two steps, and int64 (labels + 1,): the code of each label among them, and that of
        a missing value, -1 for missing."""
        renames = self._renames()
        names = [None if label in self.missing else renames.get(label, label) for label in attribute.values]
        filled = None if self.fill is None else renames.get(self.fill, self.fill)
        names.append(filled)
        if filled is not None:
            names = [filled if name is None else name for name in names]
        labels = list(dict.fromkeys(name for name in names if name is not None))
        place = {label: code for code, label in enumerate(labels)}
        return labels, np.array([-1 if name is None else place[name] for name in names], np.int64)

    def _ordered(self, labels: list[str], codes: np.ndarray, counts: np.ndarray) -> tuple[list[str], np.ndarray]:
        """The same after the last two steps."""
        names = list(labels)
        rare = np.flatnonzero(counts < (self.rare or 0)).tolist()
        if len(rare) > 1:
            names = [self.rare_label if code in set(rare) else label for code, label in enumerate(labels)]
        kept = list(dict.fromkeys(name for name in names if name != self.rare_label or len(rare) < 2))
        if self.sort:
            kept.sort()
        begin = [label for label in dict.fromkeys(self.first) if label in kept]
        ordered = begin + [label for label in kept if label not in begin] + [self.rare_label] * (len(rare) > 1)
        place = {label: code for code, label in enumerate(ordered)}
        image = np.array([*(place[name] for name in names), -1], np.int64)
        return ordered, image[codes]


def _recoded(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """int64 (rows,): the new code of each value, -1 for missing."""
    return np.asarray(codes[np.where(np.isnan(values), len(codes) - 1, values).astype(np.int64)])


class FittedRecode(Fitted):
    """Other labels of nominal attributes.

    Parameters
    ----------
    stage : the stage.
    schema : of the incoming batches.
    places : the positions of the attributes.
    labels : the new labels of each.
    codes : for each, int64 (old labels + 1,): the new code of each label, and that of a missing value; -1 for missing.
    """

    def __init__(
        self, stage: Recode, schema: Schema, places: list[int], labels: list[list[str]], codes: list[np.ndarray]
    ) -> None:
        self._places, self._labels, self._codes = places, labels, codes
        attributes, source = list(schema.attributes), np.arange(len(schema.attributes))
        for place, several in zip(places, labels):
            attributes[place] = attributes[place]._replace(values=tuple(several))
        source[places] = -1
        changes: dict[str, Any] = {}
        if schema.class_index in places and schema.positive not in attributes[schema.class_index or 0].values:
            changes["positive"] = None
        try:
            self.schema = schema.replace(attributes=attributes, **changes)
        except FilterkitError as error:
            raise StageError(stage.name, str(error)) from None
        self._rearrangement = Rearrangement(schema, self.schema, source)

    def get_state(self) -> dict[str, Any]:
        return {"labels": self._labels, "codes": [codes.tolist() for codes in self._codes]}

    def transform(self, batch: Batch) -> Batch:
        made = {}
        for place, codes in zip(self._places, self._codes):
            found = _recoded(attribute_values(batch, place), codes)
            made[place] = np.where(found < 0, np.nan, found)
        return self._rearrangement.apply(batch, made)


@hookimpl
def filterkit_stages() -> list[type[Stage]]:
    return [Recode]
