"""Change the labels of nominal attributes: rename, order and merge them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial

import numpy as np

from filterkit import Batch, Built, FilterkitError, Schema, StageError, UsageError, option
from filterkit.plugin import Batches, ChoosingStage, Edit, Ints, State, encode_attribute, offer, quoted, suggestion


class Recode(ChoosingStage):
    """Rename, merge and sort the labels of nominal attributes; make labels missing, or missing values a label.

        filterkit in.arff recode --only class --rename a=yes --rename b=no

    The options work in this order, on each attribute that has such labels:

    1. ``--missing LABEL`` makes a label missing. ``--fill LABEL`` gives missing values this label, and adds it to
       attributes that lack it.
    2. ``--rename OLD=NEW`` renames a label. Labels of the same new name are merged at the place of the first, as by
       Weka's RenameNominalValues and MergeTwoValues.
    3. ``--rare N`` merges labels that fewer than N training rows have into one, which ``--rare-label`` names and which
       comes last, as by Weka's MergeInfrequentNominalValues. A single rare label stays.
    4. ``--first LABEL`` puts labels first, as Weka's SwapValues can; ``--sort`` sorts the others by name, as Weka's
       SortLabels does.

    The class is among the attributes only if `--only` chooses it, and labels of multi-label data never are.
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
        asked = self.missing or self.fill is not None or self.rename or self.rare is not None or self.first or self.sort
        if not asked:
            raise UsageError(f"{self.name}: say what to do, such as --rename OLD=NEW or --sort")
        self._renames: dict[str, str] = {}  # the new names by the old ones
        for pair in self.rename:
            old, equals, new = pair.partition("=")
            if not equals or not old:
                raise UsageError(f"{self.name}: --rename must be like OLD=NEW, not {quoted(pair)}")
            if self._renames.setdefault(old, new) != new:
                raise UsageError(f"{self.name}: --rename gives {quoted(old)} two names; leave one out")

    def _find_positions_to_recode(self, schema: Schema) -> list[int]:
        positions = self.chosen(schema, ("nominal",), targets=bool(self.only))
        return [position for position in positions if position not in schema.labels]

    def fit_rows(self, rows: Batches, schema: Schema) -> State:
        positions = self._find_positions_to_recode(schema)
        known = {label for position in positions for label in schema.attributes[position].values}
        self._refuse_unknown_labels("--missing", self.missing, known)
        self._refuse_unknown_labels("--rename", self._renames, known)
        filled = None if self.fill is None else self._renames.get(self.fill, self.fill)
        names = []  # of each attribute, the new name of each label, and last that of a missing value; None for missing
        for position in positions:
            labels = schema.attributes[position].values
            new = [None if label in self.missing else self._renames.get(label, label) for label in labels]
            names.append([filled if name is None else name for name in (*new, None)])
        renamed = {name for each in names for name in each if name is not None}
        self._refuse_unknown_labels("--first", self.first, renamed | ({self.rare_label} if self.rare else set()))
        counts = [np.zeros(len(each), np.int64) for each in names]
        for batch in rows() if self.rare is not None else ():
            for position, each in zip(positions, counts):
                each += np.bincount(_recode_values(np.arange(len(each)), position, batch), minlength=len(each))
        made = [self._merge_and_order_labels(*each) for each in zip(names, counts)]
        return {"labels": [labels for labels, _ in made], "codes": [codes for _, codes in made]}

    def build(self, schema: Schema, state: State) -> Built:
        positions, labels, codes = self._find_positions_to_recode(schema), state["labels"], state["codes"]
        if len(labels) != len(positions) or len(codes) != len(positions):
            raise FilterkitError("the saved labels and codes of recode are not one list for each chosen attribute")
        edit = Edit(schema)
        for position, names, several in zip(positions, labels, codes):
            attribute, array = schema.attributes[position], np.array(several, np.int64)
            fits = len(array) == len(attribute.values) + 1 and all(isinstance(name, str) for name in names)
            if not fits or array.min() < -1 or array.max() >= len(names):
                name = quoted(attribute.name)
                raise FilterkitError(f"the saved labels and codes of attribute {name} do not fit each other")
            image = np.where(array < 0, np.nan, array)
            edit.change(position, attribute._replace(values=tuple(names)), partial(_recode_values, image, position))
        return edit.build()

    def _refuse_unknown_labels(self, flag: str, labels: Iterable[str], known: set[str]) -> None:
        """Raise a StageError if one of `labels`, the values of the option `flag`, is not among the `known` labels."""
        for label in labels:
            if label not in known:
                hint = suggestion(label, sorted(known)) or "; filterkit info FILE lists them"
                raise StageError(self.name, f"{flag}: no attribute has the label {quoted(label)}{hint}")

    def _merge_and_order_labels(self, names: list[str | None], counts: Ints) -> tuple[list[str], list[int]]:
        """Return the new labels of an attribute, rare ones merged and all in order, and the code of each of `names`.

        `names` has the new name of each old label and, last, of missing values; None stands for missing, and its code
        is -1. `counts`, int64 (names,), has the number of training rows with each old label and, last, without one.
        """
        rows = Counter[str | None]()
        for name, count in zip(names, counts.tolist()):
            rows[name] += count
        rare = {name for name, count in rows.items() if name is not None and count < (self.rare or 0)}
        if len(rare) > 1:
            names = [self.rare_label if name in rare else name for name in names]
        last = [self.rare_label] * (len(rare) > 1)
        kept = [name for name in dict.fromkeys(names) if name is not None and name not in last]
        if self.sort:
            kept.sort()
        ordered = list(dict.fromkeys([*(label for label in self.first if label in kept + last), *kept, *last]))
        code_of = {label: code for code, label in enumerate(ordered)}
        return ordered, [-1 if name is None else code_of[name] for name in names]


def _recode_values(new_codes: Ints, position: int, batch: Batch) -> Ints:
    """Return the new code of each value of the attribute at `position`: an array (rows,) of the dtype of `new_codes`.

    `new_codes` has the new code of each old label and, last, that of missing values.
    """
    return np.asarray(new_codes[encode_attribute(batch, position)[1]])


filterkit_stages = offer(Recode)
