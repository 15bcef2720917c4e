"""Alignment, the conversion of other rows to the schema that a chain was fitted on."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from filterkit.data.batch import Batch
from filterkit.data.column_types import map_labels_to_codes
from filterkit.data.losses import named, warn_of_losses
from filterkit.data.rearrangement import Rearrangement, encode_attribute
from filterkit.data.schema import Attribute, Schema
from filterkit.data.unseen import READ_AS_MISSING
from filterkit.errors import FilterkitError, quoted


class Alignment:
    """Converts batches of one schema to another whose attributes have the same names.

    The order of the attributes may differ, and sparse rows may become dense or the reverse. A nominal attribute may
    have fewer values in the incoming batches, or have them in another order, or be a string attribute there; a string
    attribute may be nominal there. The class and the labels may be ordinary attributes there. If they are left out,
    their values are missing.

    Parameters
    ----------
    incoming : the schema of the batches to be converted.
    wanted : the schema that the chain was fitted on.
    unseen : whether values that the wanted attribute does not declare become missing; otherwise, they are errors.
    source : the name of the input, for messages about values of batches; "" for none.

    Attributes
    ----------
    incoming, wanted : as given.
    unseen : the values that nominal attributes of `incoming` declare, but the wanted ones do not, by the attribute's
        name; None if they are errors.

    Raises
    ------
    FilterkitError : `incoming` has a class that is not that of `wanted`; or an attribute is missing, extra, of a type
        that cannot be converted, contains other attributes or, without `unseen`, declares a value that the wanted one
        does not. The message names the first few.
    """

    def __init__(self, incoming: Schema, wanted: Schema, unseen: bool = False, source: str = "") -> None:
        self._input_name = source
        self.incoming = incoming
        self.wanted = wanted
        self.unseen: dict[str, list[str]] | None = {} if unseen else None
        self._warned: set[str] = set()
        # By position in the wanted schema: the position in the incoming one of an attribute whose values change.
        self._converted: dict[int, int] = {}
        self._missing: list[int] = []  # the positions in the wanted schema of class and labels that are left out
        target, fitted = incoming.class_attribute, wanted.class_attribute
        if target is not None and (fitted is None or target.name != fitted.name):
            how = "without a class" if fitted is None else f"on the class {quoted(fitted.name)}"
            raise FilterkitError(f"the class is {quoted(target.name)}, but the chain was fitted {how}; choose the same")
        source_positions = np.arange(len(wanted.attributes))
        if incoming.attributes != wanted.attributes or incoming.targets != wanted.targets:
            source_positions = self._match_attributes_by_name()
        self._rearrangement = Rearrangement(incoming, wanted, source_positions)

    def _match_attributes_by_name(self) -> np.ndarray:
        """Find each wanted attribute by its name; return its position in the incoming schema: int (wanted,).

        The result is -1 for attributes whose values are converted or missing; fill `_converted` and `_missing` with
        these. Raise FilterkitError if an attribute is missing, extra, or cannot be converted.
        """
        targets = set(self.wanted.targets)
        ours = {name: i for i, name in enumerate(self.wanted.names)}
        theirs = {name: i for i, name in enumerate(self.incoming.names)}
        absent = [name for name, i in ours.items() if name not in theirs and i not in targets]
        _raise_if_any(absent, "attribute", "missing that the chain was fitted on", "; add what is missing")
        extra = [name for name in theirs if name not in ours]
        _raise_if_any(extra, "attribute", "not among those fitted on", "; leave out what is new")
        self._missing = [i for name, i in ours.items() if name not in theirs]
        source = np.full(len(ours), -1)
        for position, attribute in enumerate(self.incoming.attributes):
            target = ours[attribute.name]
            wanted = self.wanted.attributes[target]
            self._check_convertible_and_collect_unseen(attribute, wanted)
            if attribute.kind == wanted.kind and attribute.values == wanted.values[: len(attribute.values)]:
                source[target] = position
            else:
                self._converted[target] = position
        return source

    def _check_convertible_and_collect_unseen(self, attribute: Attribute, wanted: Attribute) -> None:
        """Raise FilterkitError if an attribute cannot be converted to the wanted one of its name.

        Add labels that the wanted one does not declare to `self.unseen`; if that is None, they are an error.
        """
        if {attribute.kind, wanted.kind} == {"string", "nominal"}:
            return  # each can be converted to the other
        if attribute.kind != wanted.kind:
            raise FilterkitError(
                f"attribute {quoted(attribute.name)} is {attribute.kind}, "
                f"but it was {wanted.kind} in the data that the chain was fitted on; convert it"
            )
        if attribute.attributes != wanted.attributes:
            raise FilterkitError(
                f"the attributes inside {quoted(attribute.name)} are not those that the chain was fitted on; "
                "make them the same"
            )
        known = map_labels_to_codes(wanted).keys()
        unknown = [value for value in attribute.values if value not in known]
        if unknown and self.unseen is not None:
            self.unseen[attribute.name] = unknown
        else:
            _raise_if_unknown_values(unknown, attribute=attribute.name)

    def align(self, batch: Batch) -> Batch:
        """Return the same rows in the wanted schema, which says whether X is sparse.

        A text that is not a label of a wanted nominal attribute becomes missing if `unseen`, with one
        `ConversionWarning` for each attribute; otherwise, raise FilterkitError.
        """
        new = {target: self._convert_values(batch, origin, target) for target, origin in self._converted.items()}
        new |= {target: np.full(len(batch), np.nan) for target in self._missing}
        return self._rearrangement.rearrange(batch, new).in_form(self.wanted.sparse)

    def _convert_values(self, batch: Batch, origin: int, target: int) -> Any:
        """Return the values of the incoming attribute at `origin`, converted to the wanted one at `target`.

        A wanted string attribute gets an Arrow array of texts; a nominal one gets float64 (rows,), codes of its labels,
        NaN for missing. Treat a text that is no label as `align` does.
        """
        attribute, wanted = self.incoming.attributes[origin], self.wanted.attributes[target]
        values, codes = encode_attribute(batch, origin)
        if wanted.kind == "string":
            from filterkit.data.arrow import pick_texts

            return pick_texts(values, codes)
        code_of = map_labels_to_codes(wanted)
        unknown = [value for value in values if value not in code_of] if attribute.kind == "string" else []
        if self.unseen is None:
            _raise_if_unknown_values(unknown, attribute=wanted.name, source=self._input_name)
        if unknown and wanted.name not in self._warned:
            self._warned.add(wanted.name)
            text = f"attribute {quoted(wanted.name)} is missing where it is {named(unknown)}"
            warn_of_losses(self._input_name or "transform", [text])
        return np.array([*(code_of.get(value, np.nan) for value in values), np.nan])[codes]


def _raise_if_any(names: list[str], noun: str, fault: str, hint: str, attribute: str = "", source: str = "") -> None:
    """Raise FilterkitError if there are `names`; the message counts them, and lists the first three.

    `noun` says what they name, such as ``value``, and `fault` what is wrong with them. The message begins with the
    `source` of the rows and names the `attribute` of the values, unless these are "", and ends with `hint`.
    """
    if names:
        of = f" of attribute {quoted(attribute)}" if attribute else ""
        are = f"{noun}{of} is" if len(names) == 1 else f"{noun}s{of} are"
        begin = f"{source}: " if source else ""
        raise FilterkitError(f"{begin}{len(names)} {are} {fault}: {named(names)}{hint}")


_raise_if_unknown_values = partial(_raise_if_any, noun="value", fault="not among those fitted on", hint=READ_AS_MISSING)
