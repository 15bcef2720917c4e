"""Alignment: converting rows of other data to the schema that a chain was fitted on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from filterkit.data.attributes import names_of
from filterkit.data.batch import Batch
from filterkit.data.column_types import code_labels
from filterkit.data.csr import Csr
from filterkit.data.labels import join, label_codes
from filterkit.data.losses import named, warn_of_losses
from filterkit.data.schema import Attribute, Schema
from filterkit.data.unseen import READ_AS_MISSING
from filterkit.errors import FilterkitError, quoted


class _Target(NamedTuple):
    """Where the class or a label is found in the given batches.

    Attributes
    ----------
    known : its column in y, or None.
    column : its column in X, or None.
    codes : as `_codes` returns them.
    text : the string attribute that has its labels, or None.
    """

    known: int | None
    column: int | None
    codes: np.ndarray | None
    text: str | None = None


class Alignment:
    """Converts batches of one schema to another whose attributes have the same names.

    The order of the attributes may differ, and sparse rows may become dense or the reverse. Nominal attributes may
    declare fewer values, or in another order, or be strings; strings may be nominal. The class and the labels may be
    ordinary attributes of the given batches. If they are left out, their values are missing.

    Parameters
    ----------
    given : the schema of the batches to be converted.
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

    def __init__(self, given: Schema, wanted: Schema, unseen: bool = False, source: str = "") -> None:
        self._source_name = source
        self.given = given
        self.wanted = wanted
        self.unseen: dict[str, list[str]] | None = {} if unseen else None
        if given.class_index is not None:
            self._check_class()
        wanted_targets = {wanted.attributes[i].name for i in wanted.targets}
        self._flat: Schema | None = None  # the given one without labels, if some of these are no targets here
        if given.labels and not {a.name for a in given.label_attributes} <= wanted_targets:
            self._flat = given.replace(labels=())
        self._passthrough = list(names_of(wanted.passthrough))
        self._encoded: dict[int, Attribute] = {}  # nominal columns of X whose labels come as texts
        self._decoded: dict[str, tuple[int, Attribute]] = {}  # strings that come as labels, and their column in X
        self._warned: set[str] = set()
        if given.attributes == wanted.attributes and given.targets == wanted.targets:
            self._source = np.arange(wanted.width)
            self._recoded: dict[int, np.ndarray] = {}
            self._targets = [_Target(number, None, None) for number in range(len(wanted.targets))]
        else:
            self._match()

    def _match(self) -> None:
        """Find the attributes by their names."""
        given, wanted = self._flat or self.given, self.wanted
        theirs = {a.name: a for a in given.attributes}
        targets = [wanted.attributes[i] for i in wanted.targets]
        learned = {target.name for target in targets}
        ours = {a.name: a for a in wanted.attributes}
        _refuse(
            [name for name in ours if name not in theirs and name not in learned],
            "attribute is missing that the chain was fitted on",
            "attributes are missing that the chain was fitted on",
        )
        extra = [name for name in theirs if name not in ours]
        _refuse(extra, "attribute is not among those fitted on", "attributes are not among those fitted on")
        for name, attribute in theirs.items():
            _check_kind(attribute, ours[name], self.unseen)
        place = {a.name: column for column, a in enumerate(given.features)}
        texts = {a.name for a in given.passthrough if a.kind == "string"}
        self._source = np.array([-1 if a.name in texts else place[a.name] for a in wanted.features], np.int64)
        self._encoded = {column: a for column, a in enumerate(wanted.features) if a.name in texts}
        self._decoded = {
            a.name: (place[a.name], theirs[a.name]) for a in wanted.passthrough if theirs[a.name].kind == "nominal"
        }
        self._recoded = {
            column: codes
            for column, a in enumerate(wanted.features)
            if (codes := _codes(theirs[a.name], a)) is not None
        }
        known = {given.attributes[i].name: number for number, i in enumerate(given.targets)}
        self._targets = [
            _Target(
                known.get(target.name),
                place.get(target.name),
                _codes(theirs[target.name], target) if target.name in theirs else None,
                target.name if target.name in texts else None,
            )
            for target in targets
        ]

    def _check_class(self) -> None:
        target, wanted = self.given.class_attribute, self.wanted.class_attribute
        assert target is not None
        if wanted is None or target.name != wanted.name:
            fitted = "none" if wanted is None else quoted(wanted.name)
            raise FilterkitError(f"the class is {quoted(target.name)}, and that of the data fitted on is {fitted}")

    def apply(self, batch: Batch) -> Batch:
        """The same rows in the wanted schema, sparse or dense as it says."""
        if self._flat is not None:
            batch = join(batch, self._flat)
        X = self._sparse(batch) if batch.sparse else self._dense(batch)
        passthrough = batch.passthrough
        if self._decoded:
            import pyarrow as pa

            texts: Any = batch.passthrough
            columns = [
                self._decode(batch, name) if name in self._decoded else texts.column(name) for name in self._passthrough
            ]
            passthrough = pa.table(columns, names=self._passthrough)
        elif passthrough is not None:
            passthrough = passthrough.select(self._passthrough) if self._passthrough else None
        out = Batch(self.wanted, X, self._y(batch), batch.weights, passthrough, batch.start)
        return out.in_form(self.wanted.sparse)

    def _y(self, batch: Batch) -> np.ndarray | None:
        """The y of the converted batch."""
        if not self._targets:
            return None
        values = np.column_stack([self._values(batch, target) for target in self._targets])
        if self.wanted.labels:
            return label_codes(values, self.wanted)
        if self.wanted.has_numeric_target:
            return values[:, 0]
        return np.where(np.isnan(values[:, 0]), -1, values[:, 0]).astype(np.int32)

    def _values(self, batch: Batch, target: _Target) -> np.ndarray:
        """float64 (rows,): the class or a label, NaN for missing."""
        values: np.ndarray
        if target.text is not None:
            index = next(i for i in self.wanted.targets if self.wanted.attributes[i].name == target.text)
            return self._encode(batch, self.wanted.attributes[index])
        if target.known is not None and batch.y is not None:
            y = batch.y if batch.y.ndim == 1 else batch.y[:, target.known]
            values = y if y.dtype.kind == "f" else np.where(y < 0, np.nan, y)
        elif target.column is None:
            values = np.full(len(batch), np.nan)
        else:
            values = _column(batch.csr, target.column) if batch.sparse else batch.X[:, target.column]
        return _recode(values, target.codes)

    def _dense(self, batch: Batch) -> np.ndarray:
        if self._encoded:
            X = np.empty((len(batch), len(self._source)))
            present = self._source >= 0
            X[:, present] = batch.X[:, self._source[present]]
        else:
            X = np.ascontiguousarray(batch.X[:, self._source])
        for column, codes in self._recoded.items():
            X[:, column] = _recode(X[:, column], codes)
        for column, attribute in self._encoded.items():
            X[:, column] = self._encode(batch, attribute)
        return X

    def _encode(self, batch: Batch, wanted: Attribute) -> np.ndarray:
        """Return the codes of texts as labels of the wanted attribute, NaN for missing.

        Raises
        ------
        FilterkitError : a text is not a label, and such texts are not to be missing.
        """
        from filterkit.data import arrow

        code = code_labels(wanted)
        texts: Any = batch.passthrough
        column = texts.column(wanted.name)
        parts, unknown = [np.empty(0)], dict[str, None]()
        for chunk in getattr(column, "chunks", [column]):
            encoded = arrow.dictionary(chunk)
            words = encoded.dictionary.to_pylist()
            unknown |= {word: None for word in words if word not in code}
            image = np.array([*(code.get(word, np.nan) for word in words), np.nan])
            parts.append(image[np.where(arrow.nulls(encoded.indices), len(words), arrow.plain_values(encoded.indices))])
        if unknown and self.unseen is None:
            _refuse_values(wanted.name, list(unknown), f"{self._source_name}: " if self._source_name else "")
        if unknown and wanted.name not in self._warned:
            self._warned.add(wanted.name)
            text = f"attribute {quoted(wanted.name)} is missing where it is {named(list(unknown))}"
            warn_of_losses(self._source_name or "transform", [text])
        return np.concatenate(parts)

    def _decode(self, batch: Batch, name: str) -> Any:
        """Return the labels of a nominal attribute as a column of texts."""
        from filterkit.data import arrow

        column, attribute = self._decoded[name]
        values = _column(batch.csr, column) if batch.sparse else batch.X[:, column]
        codes = np.where(np.isnan(values), len(attribute.values), values).astype(np.int32)
        return arrow.take(arrow.strings([*attribute.values, None]), codes)

    def _sparse(self, batch: Batch) -> Csr:
        X = batch.csr
        column_of = np.full(X.columns, -1)
        present = np.flatnonzero(self._source >= 0)
        column_of[self._source[present]] = present
        row, column, value = X.row_of_entry, column_of[X.indices], X.data
        taken = ~np.isin(column, [-1, *self._recoded])
        rows, columns, values = [row[taken]], [column[taken]], [value[taken]]
        images = {i: _recode(_column(X, int(self._source[i])), codes) for i, codes in self._recoded.items()}
        images |= {i: self._encode(batch, attribute) for i, attribute in self._encoded.items()}
        for recoded, image in images.items():  # a zero is the given first value, not the wanted one
            there = np.flatnonzero(image)
            rows.append(there)
            columns.append(np.full(len(there), recoded))
            values.append(image[there])
        row, column, value = (np.concatenate(parts) for parts in (rows, columns, values))
        return Csr.from_entries(row, column, value, (len(batch), len(self._source)))


def _column(X: Csr, column: int) -> np.ndarray:
    """float64 (rows,): one column of a sparse matrix."""
    values = np.zeros(X.shape[0])
    chosen = X.indices == column
    values[X.row_of_entry[chosen]] = X.data[chosen]
    return values


def _codes(given: Attribute, wanted: Attribute) -> np.ndarray | None:
    """float64: the code in `wanted` of each value of `given`, and NaN for missing; None if the codes are the same."""
    if given.kind != "nominal" or wanted.kind != "nominal" or given.values == wanted.values[: len(given.values)]:
        return None
    code = code_labels(wanted)
    return np.array([*(code.get(value, np.nan) for value in given.values), np.nan])


def _recode(values: np.ndarray, codes: np.ndarray | None) -> np.ndarray:
    """The new codes of nominal values, by what `_codes` has returned."""
    if codes is None:
        return values
    return np.asarray(codes[np.where(np.isnan(values), len(codes) - 1, values).astype(np.int64)])


def _check_kind(given: Attribute, wanted: Attribute, unseen: dict[str, list[str]] | None) -> None:
    """Raise a `FilterkitError` if an attribute is of another type, or has a value that is not among the wanted.

    Such values are added to `unseen` instead, unless it is None.
    """
    if {given.kind, wanted.kind} == {"string", "nominal"}:
        return  # labels and texts are the same
    if given.kind != wanted.kind:
        raise FilterkitError(f"attribute {quoted(given.name)} is {given.kind}; the one fitted on is {wanted.kind}")
    if given.attributes != wanted.attributes:
        raise FilterkitError(f"attribute {quoted(given.name)} contains other attributes than the one fitted on")
    known = code_labels(wanted).keys()
    unknown = [value for value in given.values if value not in known]
    if unseen is not None:
        unseen |= {given.name: unknown} if unknown else {}
        return
    _refuse_values(given.name, unknown)


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
