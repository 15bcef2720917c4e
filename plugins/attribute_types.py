"""Change the type of attributes: numbers, strings and dates to nominal values, and back."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from filterkit import Attribute, Batch, Built, FilterkitError, Schema, StageError, UsageError, option
from filterkit.plugin import (
    Batches,
    ChoosingStage,
    DateFormat,
    Edit,
    State,
    empty,
    encode_attribute,
    format_number,
    get_attribute_values,
    offer,
    parse_number,
)

_ISO = "yyyy-MM-dd'T'HH:mm:ss"


class ConvertToNominal(ChoosingStage):
    """Turn numeric, string and date attributes into nominal ones, as Weka's NumericToNominal and StringToNominal do.

        filterkit in.arff nominal --only count1

    The labels are the distinct values of the training rows: numbers and dates in ascending order, strings in the order
    in which they first appear. The label of a number is its shortest exact text, where Weka rounds to six digits. That
    of a date is its text in the format of the attribute. Missing values stay missing.

    Without `--only`, all numeric attributes become nominal, a numeric class among them. ``nominal --only class`` makes
    a 0/1 class usable. Afterwards the stage ``class`` can make any of the attributes the class.
    """

    name = "nominal"
    group = "Change types"

    max_labels: int = option(10_000, "Refuse an attribute with more distinct values.", minimum=1)
    unseen: str = option("missing", "What becomes of values that training did not have.", choices=("missing", "error"))

    def _find_positions_to_change(self, schema: Schema) -> list[int]:
        return self.chosen(schema, ("numeric", "string", "date") if self.only else ("numeric",))

    def fit_rows(self, rows: Batches, schema: Schema) -> State:
        positions = self._find_positions_to_change(schema)
        found: list[dict[Any, None]] = [{} for _ in positions]
        for batch in rows() if positions else ():
            for position, known in zip(positions, found):
                known.update(dict.fromkeys(encode_attribute(batch, position)[0]))
                if len(known) > self.max_labels:
                    name = schema.attributes[position].name
                    raise StageError(
                        self.name,
                        f"attribute '{name}' has more than {self.max_labels:,} distinct values; raise --max-labels",
                    )
        return {
            "values": [
                # Texts keep the order of the rows; numbers ascend, and -0.0 becomes 0.0.
                list(known) if schema.attributes[position].kind == "string" else sorted(x or abs(x) for x in known)
                for position, known in zip(positions, found)
            ]
        }

    def build(self, schema: Schema, state: State) -> Built:
        positions, values = self._find_positions_to_change(schema), state["values"]
        kinds = {"numeric": float, "string": str, "date": int}
        if len(values) != len(positions) or not all(
            all(type(value) is kinds[schema.attributes[position].kind] for value in several)
            and len(set(several)) == len(several)
            for position, several in zip(positions, values)
        ):
            raise FilterkitError("the saved values of nominal are not one list of the right type for each attribute")
        edit = Edit(schema)
        for position, several in zip(positions, values):
            attribute = schema.attributes[position]
            labels = tuple(_format_attribute_values(attribute, several))
            if len(set(labels)) < len(labels):
                hint = "put date before it, with a --format that tells them apart"
                raise FilterkitError(f"two dates of attribute '{attribute.name}' have the same text; {hint}")
            new = Attribute(attribute.name, "nominal", labels, weight=attribute.weight)
            edit.change(position, new, partial(self._encode_attribute_values, several, position))
        return edit.build()

    def _encode_attribute_values(self, known_values: list[Any], position: int, batch: Batch) -> Any:
        """Return the index in `known_values` of each value of the attribute at `position`: float64 (rows,).

        It is NaN for a missing value, and for one that is not in `known_values`. For the latter, raise a StageError
        with ``--unseen error``.
        """
        code = {value: number for number, value in enumerate(known_values)}
        distinct, at = encode_attribute(batch, position)
        codes = np.array([*map(code.get, distinct), None], np.float64)[at]
        for row in np.flatnonzero(np.isnan(codes) & (at >= 0))[:1].tolist() if self.unseen == "error" else ():
            value = get_attribute_values(batch, position)[row]
            shown = format_number(float(value)) if isinstance(value, float) else value.as_py()
            raise StageError(
                self.name,
                f"attribute '{batch.schema.attributes[position].name}' has the value '{shown}', which no training row "
                "has; --unseen missing makes it missing",
                batch.start + row,
            )
        return codes


def _format_attribute_values(attribute: Attribute, values: list[Any]) -> list[str]:
    """Return each of some values of an attribute as the text that files have for it.

    `values` are floats if the attribute is numeric, and milliseconds since 1970-01-01 UTC if it has dates. Else they
    are texts already, and the list itself is returned.
    """
    if attribute.kind == "numeric":
        return list(map(format_number, values))
    return list(map(DateFormat(attribute.format or _ISO).format, values)) if attribute.kind == "date" else values


class TypeChangingStage(ChoosingStage):
    """Base of stages that change the type of attributes, each value by itself; the name of the stage is the new type.

    Attributes
    ----------
    kinds : the types that ``--only`` may choose.
    default_kinds : the types whose attributes are all changed without ``--only``, but never the class and labels.
    changes_targets : whether ``--only`` may choose the class and labels, too.
    """

    group = "Change types"
    kinds: ClassVar[tuple[str, ...]]
    default_kinds: ClassVar[tuple[str, ...]] = ("nominal",)
    changes_targets: ClassVar[bool] = False

    def build(self, schema: Schema, state: State) -> Built:
        edit = Edit(schema)
        kinds, targets = (self.kinds, self.changes_targets) if self.only else (self.default_kinds, False)
        for position in self.chosen(schema, kinds, targets):
            old = schema.attributes[position]
            new = Attribute(old.name, self.name, format=getattr(self, "format", ""), weight=old.weight)
            convert = partial(self.convert_values, old, position)
            convert(empty(schema))  # refuses labels before any row is read
            edit.change(position, new, convert)
        return edit.build()

    def convert_values(self, attribute: Attribute, position: int, batch: Batch) -> Any:
        """Convert the values of an attribute to the new type: float64 (rows,), or an Arrow array of texts or dates.

        Dates are timestamps in milliseconds. `attribute` is the one at `position` in the schema of `batch`. The method
        is first called with a batch without rows, and may then raise a FilterkitError for labels that cannot be
        converted. Raise a StageError if the value of a row cannot be converted, unless it is to become missing.
        """
        raise NotImplementedError

    def refuse_first_invalid_value(self, batch: Batch, position: int, invalid: np.ndarray, what: str) -> None:
        """Raise a StageError for the first row that `invalid` flags, bool (rows,); do nothing if it flags none.

        The message says that the row's value of the attribute at `position` is not a `what`, such as ``number``. The
        value must not be missing.
        """
        for row in np.flatnonzero(invalid)[:1].tolist():
            attribute = batch.schema.attributes[position]
            distinct, codes = encode_attribute(batch, position)
            (text,) = _format_attribute_values(attribute, [distinct[codes[row]]])
            shown = text if len(text) <= 60 else text[:59] + "…"
            fault = f"attribute '{attribute.name}': '{shown}' is not a {what}; --invalid missing makes it missing"
            raise StageError(self.name, fault, batch.start + row)


class ConvertToNumeric(TypeChangingStage):
    """Turn nominal, string and date attributes into numeric ones.

        filterkit in.arff numeric --only class --codes

    A label or text becomes the number that it is written as. With `--codes`, a label becomes its position among the
    labels of its attribute, from 0, as in Weka's OrdinalToNumeric. A date becomes the number of milliseconds since
    1970-01-01 UTC, as in Weka's DateToNumeric. Missing values stay missing. Without `--only`, all nominal attributes
    become numeric, but not the class and labels.
    """

    name = "numeric"
    kinds = ("nominal", "string", "date")
    changes_targets = True

    codes: bool = option(False, "Take the position of a label for the number.")
    invalid: str = option("error", "What becomes of a text that is not a number.", choices=("error", "missing"))

    def convert_values(self, attribute: Attribute, position: int, batch: Batch) -> Any:
        if attribute.kind == "date":
            from filterkit.plugin import read_dates

            milliseconds, missing = read_dates(get_attribute_values(batch, position))
            return np.where(missing, np.nan, milliseconds)
        texts, codes = encode_attribute(batch, position)  # of a nominal attribute all labels
        is_nominal = attribute.kind == "nominal"
        if is_nominal and self.codes:
            return np.where(codes < 0, np.nan, codes)
        found = [parse_number(text if is_nominal else text.strip()) for text in texts]
        numbers = np.array([*found, None], np.float64)[codes]
        if self.invalid == "error" and None in found:
            if is_nominal:
                raise FilterkitError(
                    f"attribute '{attribute.name}': the label '{texts[found.index(None)]}' is not a number; --codes "
                    "takes its position among the labels, and --invalid missing takes it for missing"
                )
            invalid = np.array([*(number is None for number in found), False])[codes]
            self.refuse_first_invalid_value(batch, position, invalid, "number")
        return numbers


class ConvertToString(TypeChangingStage):
    """Turn nominal, numeric and date attributes into strings, as Weka's NominalToString does.

        filterkit --class none in.arff string --only class

    A label becomes its text, a number its shortest exact text, and a date its text in the format of its attribute.
    Missing values stay missing. Without `--only`, all nominal attributes become strings. The class and labels stay as
    they are, because they must be nominal or numeric.
    """

    name = "string"
    kinds = ("nominal", "numeric", "date")

    def convert_values(self, attribute: Attribute, position: int, batch: Batch) -> Any:
        from filterkit.plugin import pick_texts

        distinct, codes = encode_attribute(batch, position)
        return pick_texts(_format_attribute_values(attribute, distinct), codes)


class ConvertToDate(TypeChangingStage):
    """Turn string, nominal and numeric attributes into dates, as Weka's NumericToDate does, or change a date's format.

        filterkit arff_samples/mixed.arff date --only received --format yyyy-MM

    A text or label is read by `--format`, in the letters of Java's SimpleDateFormat, and a number is the number of
    milliseconds since 1970-01-01 UTC. A date keeps its moment and is written by `--format`, as by Weka's
    ChangeDateFormat. Missing values stay missing. Without `--only`, all dates get this format. The class and labels
    stay as they are.
    """

    name = "date"
    kinds = ("string", "nominal", "numeric", "date")
    default_kinds = ("date",)

    format: str = option(_ISO, "The format to read and write dates in.")
    invalid: str = option("error", "What becomes of a text that is not a date.", choices=("error", "missing"))

    def __post_init__(self) -> None:
        try:
            self._form = DateFormat(self.format)
        except FilterkitError as error:
            raise UsageError(f"{self.name}: --format: {error}") from None

    def convert_values(self, attribute: Attribute, position: int, batch: Batch) -> Any:
        from filterkit.plugin import make_dates

        values = get_attribute_values(batch, position)
        if attribute.kind == "date":
            return values
        if attribute.kind == "numeric":
            wrong = (values < _EARLIEST) | (values > _LATEST)
            if self.invalid == "error":
                self.refuse_first_invalid_value(batch, position, wrong, "date")
            return make_dates(values, np.isnan(values) | wrong)
        texts, codes = encode_attribute(batch, position)
        found = [*map(self._form.parse, texts), None]
        is_known = np.array([moment is not None for moment in found])[codes]
        if self.invalid == "error":
            self.refuse_first_invalid_value(
                batch, position, (codes >= 0) & ~is_known, f"date of the form {self.format}"
            )
        return make_dates(np.array([moment or 0 for moment in found], np.int64)[codes], ~is_known)


_EARLIEST, _LATEST = -62_135_769_600_000, 9.2e18  # milliseconds; from the year 1


filterkit_stages = offer(ConvertToDate, ConvertToNominal, ConvertToNumeric, ConvertToString)
