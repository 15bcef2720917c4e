"""Alignment: converting rows of other data to the schema that a chain was fitted on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from filterkit.data.batch import Batch
from filterkit.data.column_types import code_labels
from filterkit.data.losses import named, warn_of_losses
from filterkit.data.rearrangement import ColumnMap, Rearrangement
from filterkit.data.schema import Attribute, Schema
from filterkit.data.unseen import READ_AS_MISSING
from filterkit.errors import FilterkitError, quoted


class Alignment:
    """Converts batches of one schema to another whose attributes have the same names.

    The order of the attributes may differ, and sparse rows may become dense or the reverse. Nominal attributes may
    declare fewer values, or in another order, or be strings; strings may be nominal. The class and the labels may be
    ordinary attributes of the given batches. If they are left out, their values are missing.

    Parameters
    ----------
    incoming : the schema of the batches to be converted.
    wanted : the schema that the chain was fitted on.
    unseen : whether values that the wanted attribute does not declare are missing; otherwise, they are an error.
    source : what messages about texts of batches call the input; "" for none.

    Attributes
    ----------
    unseen : these values, by the name of the attribute.

    Raises
    ------
    FilterkitError : an attribute is missing, extra, or of another type, or declares a value that the wanted one does
        not; names the first few.
    """

    def __init__(self, incoming: Schema, wanted: Schema, unseen: bool = False, source: str = "") -> None:
        self._input_name = source
        self.incoming = incoming
        self.wanted = wanted
        self.unseen: dict[str, list[str]] | None = {} if unseen else None
        self._warned: set[str] = set()
        self._converted: dict[int, int] = {}  # by the position of an attribute, that of the incoming one
        self._missing: list[int] = []  # the positions of the class and labels that are left out
        target, fitted = incoming.class_attribute, wanted.class_attribute
        if target is not None and (fitted is None or target.name != fitted.name):
            name = "none" if fitted is None else quoted(fitted.name)
            raise FilterkitError(f"the class is {quoted(target.name)}, but the chain was fitted on the class {name}")
        source_positions = np.arange(len(wanted.attributes))
        if incoming.attributes != wanted.attributes or incoming.targets != wanted.targets:
            source_positions = self._match_names()
        self._rearrangement = Rearrangement(incoming, wanted, source_positions)
        self._map = ColumnMap.find(incoming)

    def _match_names(self) -> np.ndarray:
        """Return the position of the incoming attribute for each wanted one; -1 where its values are converted."""
        targets = set(self.wanted.targets)
        ours = {a.name: i for i, a in enumerate(self.wanted.attributes)}
        theirs = {a.name: i for i, a in enumerate(self.incoming.attributes)}
        _refuse(
            [name for name, i in ours.items() if name not in theirs and i not in targets],
            "attribute is missing that the chain was fitted on",
            "attributes are missing that the chain was fitted on",
        )
        extra = [name for name in theirs if name not in ours]
        _refuse(extra, "attribute is not among those fitted on", "attributes are not among those fitted on")
        self._missing = [i for name, i in ours.items() if name not in theirs]
        source = np.full(len(ours), -1)
        for position, attribute in enumerate(self.incoming.attributes):
            to = ours[attribute.name]
            wanted = self.wanted.attributes[to]
            self._check_kind(attribute, wanted)
            if attribute.kind == wanted.kind and attribute.values == wanted.values[: len(attribute.values)]:
                source[to] = position
            else:
                self._converted[to] = position
        return source

    def _check_kind(self, attribute: Attribute, wanted: Attribute) -> None:
        """Raise a `FilterkitError` if an attribute is of another type, or has a value that is not among the wanted.

        Such values are added to `unseen` instead, unless it is None.
        """
        if {attribute.kind, wanted.kind} == {"string", "nominal"}:
            return  # labels and texts are the same
        if attribute.kind != wanted.kind:
            raise FilterkitError(
                f"attribute {quoted(attribute.name)} is {attribute.kind}, "
                f"but it was {wanted.kind} in the data fitted on"
            )
        if attribute.attributes != wanted.attributes:
            raise FilterkitError(
                f"attribute {quoted(attribute.name)} contains other attributes than in the data fitted on"
            )
        known = code_labels(wanted).keys()
        unknown = [value for value in attribute.values if value not in known]
        if unknown and self.unseen is not None:
            self.unseen[attribute.name] = unknown
        else:
            _refuse_values(attribute.name, unknown)

    def apply(self, batch: Batch) -> Batch:
        """Return the same rows in the wanted schema, sparse or dense as it says."""
        made = {to: self._convert(batch, position, to) for to, position in self._converted.items()}
        made |= {to: np.full(len(batch), np.nan) for to in self._missing}
        return self._rearrangement.apply(batch, made).in_form(self.wanted.sparse)

    def _convert(self, batch: Batch, position: int, to: int) -> Any:
        """Return labels as texts, or the codes that labels and texts have in the wanted attribute, NaN for missing."""
        from filterkit.data import arrow

        attribute, wanted = self.incoming.attributes[position], self.wanted.attributes[to]
        values = self._map.values(batch, position)
        if attribute.kind == "string":
            return self._encode(values, wanted)
        codes = np.where(np.isnan(values), len(attribute.values), values).astype(np.int32)
        if wanted.kind == "string":
            return arrow.take(arrow.make_strings([*attribute.values, None]), codes)
        code = code_labels(wanted)
        return np.array([*(code.get(value, np.nan) for value in attribute.values), np.nan])[codes]

    def _encode(self, texts: Any, wanted: Attribute) -> np.ndarray:
        """Return the codes of texts as labels of the wanted attribute, NaN for missing.

        Raises
        ------
        FilterkitError : a text is not a label, and such texts are not to be missing.
        """
        from filterkit.data import arrow

        code = code_labels(wanted)
        encoded = arrow.encode(texts)
        words = encoded.dictionary.to_pylist()
        unknown = [word for word in words if word not in code]
        if self.unseen is None:
            _refuse_values(wanted.name, unknown, f"{self._input_name}: " if self._input_name else "")
        if unknown and wanted.name not in self._warned:
            self._warned.add(wanted.name)
            text = f"attribute {quoted(wanted.name)} is missing where it is {named(unknown)}"
            warn_of_losses(self._input_name or "transform", [text])
        return arrow.look_up(encoded, np.array([*(code.get(word, np.nan) for word in words), np.nan]))


def _refuse_values(name: str, unknown: list[str], source: str = "") -> None:
    """Raise a `FilterkitError` that names values of an attribute that are not among the wanted, if there are any."""
    _refuse(
        unknown,
        f"value of attribute {quoted(name)} is not among those fitted on",
        f"values of attribute {quoted(name)} are not among those fitted on",
        READ_AS_MISSING,
        source,
    )


def _refuse(found: Iterable[Any], one: str, several: str, hint: str = "", source: str = "") -> None:
    """Raise a `FilterkitError` that names the first few of `found` and ends in `hint`, unless there are none.

    It begins with `source`, the name of an input and a colon.
    """
    found = list(found)
    if found:
        names = ", ".join(map(quoted, found[:5])) + (", …" if len(found) > 5 else "")
        raise FilterkitError(f"{source}{len(found)} {one if len(found) == 1 else several}: {names}{hint}")
