"""TypedFormat: a format whose columns become attributes by what they hold, and options that say otherwise."""

from __future__ import annotations

import fnmatch
import re
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from filterkit.data.column_types import (
    MOST_LABELS,
    TRUTH_VALUES,
    are_truth_values,
    explain_code,
    infer_text_attribute,
    make_attribute_of_type,
    make_nominal_attribute,
)
from filterkit.data.losses import ConversionWarning
from filterkit.data.schema import Attribute
from filterkit.errors import UsageError, quoted, visible
from filterkit.formats.base import FileFormat, matching_names
from filterkit.stages.options import option

_MOST_NAMED = 20  # columns in a warning
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kKmMgG]?)[iI]?[bB]?")


class TypedFormat(FileFormat):
    """A format whose columns become attributes by their values in the first rows, or as options say.

    Attributes
    ----------
    look_bytes : how many bytes of rows to look at, from the option `look`; 2**62 for the whole file.
    """

    nominal: tuple[str, ...] = option((), "Columns that are nominal, by name or pattern such as a*.")
    string: tuple[str, ...] = option((), "Columns that are strings.")
    numeric: tuple[str, ...] = option((), "Columns that are numeric, whose numbers are rounded to float64 if need be.")
    order: str = option(
        "appearance", "The order of labels: as they appear, or sorted.", choices=("appearance", "sorted")
    )
    most: int = option(
        MOST_LABELS,
        "A column of text is nominal if it has at most so many distinct texts, each twice on average.",
        minimum=0,
    )
    look: str = option("1MB", "How much is read to find out types and labels: a size such as 10MB, or all.")

    def __post_init__(self) -> None:
        match = _SIZE.fullmatch(self.look.strip())
        if match is None and self.look.lower() != "all":
            raise UsageError(f"{self.name}: look must be a size such as 10MB, or all, not {quoted(self.look)}")
        size = float(match[1]) * 1024 ** " kmg".index(match[2].lower() or " ") if match else 1 << 62
        self.look_bytes = int(min(size, 1 << 62))

    def get_chosen_kinds(self, names: list[str]) -> dict[str, str]:
        """Return the kinds that options set for some columns, "nominal", "string" or "numeric", by the column's name.

        `names` are those of all columns. Raise UsageError if options give a column two kinds, or match no column.
        """
        kinds: dict[str, str] = {}
        for kind in ("nominal", "string", "numeric"):
            for pattern in getattr(self, kind):
                for name in matching_names(self, kind, pattern, names):
                    if kinds.setdefault(name, kind) != kind:
                        raise UsageError(
                            f"{self.name}: {quoted(name)} is given both as {kinds[name]} and as {kind}; choose one"
                        )
        return kinds

    choose_kinds = get_chosen_kinds  # its name in older plugins

    def may_round_column(self, name: str) -> bool:
        """Return whether numbers of a column may be rounded to float64, because `numeric` matches its name."""
        return any(pattern == name or fnmatch.fnmatchcase(name, pattern) for pattern in self.numeric)

    def infer_attributes(
        self, table: Any, names: list[str], kinds: dict[str, str], needed: Iterable[str] = ()
    ) -> list[Attribute]:
        """Return the attributes of columns, as the options say or as the first rows suggest.

        Raise FilterkitError if no attribute can hold the type of a column.

        Parameters
        ----------
        table : an Arrow table of the first rows, whose columns of text are of the type dictionary.
        names : the names of its columns.
        kinds : what `get_chosen_kinds` returned. "nominal" has no effect on a column that is not of text.
        needed : the names of columns that become nominal if they are of text, unless `kinds` says otherwise.
        """
        import pyarrow as pa

        needed = set(needed)
        found = []
        for name, column in zip(names, table.columns, strict=True):
            kind = kinds.get(name)
            if kind in ("numeric", "string"):
                found.append(Attribute(name, kind))
            elif pa.types.is_dictionary(column.type):
                column = column.combine_chunks()
                words = column.dictionary.to_pylist() if column.null_count < len(column) else []
                if kind == "nominal" or name in needed:
                    found.append(make_nominal_attribute(name, words, self.order))
                else:
                    known = len(column) - column.null_count
                    found.append(infer_text_attribute(name, words, known, self.most, self.order))
            else:
                found.append(make_attribute_of_type(name, column.type))
        return found

    def complete_labels(
        self, attributes: list[Attribute], sure: set[str], read_labels: Callable[[list[int]], Iterable[list[Any]]]
    ) -> list[Attribute]:
        """Return attributes with the labels of the whole file; those with more than `most` labels become strings.

        Attributes that are not nominal, or whose labels are ``false`` and ``true``, stay as they are.

        Parameters
        ----------
        attributes : those that the first rows suggest.
        sure : the names of attributes that stay nominal, however many labels they have.
        read_labels : a function that gets the indices of the nominal attributes to complete. For each block of the
            file, it yields a list with an Arrow array of texts, without nulls, for each index. It may leave out labels
            that the attributes already have. It is not called if there are no such attributes.
        """
        positions = [i for i, a in enumerate(attributes) if a.kind == "nominal" and a.values != TRUTH_VALUES]
        # Of the attributes that are still nominal, by position.
        labels: dict[int, dict[str, None]] = {i: dict.fromkeys(attributes[i].values) for i in positions}
        for columns in read_labels(positions) if positions else ():
            for position, words in zip(positions, columns):
                if position in labels:
                    labels[position] |= dict.fromkeys(words.to_pylist())
                    if len(labels[position]) > self.most and attributes[position].name not in sure:
                        del labels[position]
            if not labels:
                break
        complete = list(attributes)
        for position in positions:
            name = attributes[position].name
            complete[position] = Attribute(name, "string")
            if position in labels:
                complete[position] = make_nominal_attribute(name, labels[position], self.order)
        return complete

    def unify_truth_values(self, attributes: list[Attribute], chosen: Iterable[str]) -> list[Attribute]:
        """Return attributes in which labels such as ``True`` or ``FALSE`` have become ``false`` and ``true``.

        That is done for nominal attributes that have no other labels, all of one spelling, and whose names are not in
        `chosen`.
        """
        chosen = set(chosen)
        return [
            a._replace(values=TRUTH_VALUES)
            if a.kind == "nominal" and a.name not in chosen and are_truth_values(a.values)
            else a
            for a in attributes
        ]

    add_labels, read_truth_values = complete_labels, unify_truth_values  # their names in older plugins

    def warn_of_codes(self, source: str, codes: dict[str, str]) -> None:
        """Give one `ConversionWarning` that columns are read as texts because of codes such as 007.

        `codes` has a code of each such column by its name; without any, there is no warning. `source` is the name of
        the input.
        """
        if codes:
            names = list(codes)[:_MOST_NAMED]
            reasons = [f"{quoted(name)}, as {quoted(codes[name])} {explain_code(codes[name])}" for name in names]
            more = f"; and {len(codes) - len(names):,} more" if len(codes) > len(names) else ""
            option = f"say --from {self.name}:numeric={','.join(names)} for numbers"
            text = f"{source}: read as text: {'; '.join(reasons)}{more}; {option}"
            warnings.warn(ConversionWarning(visible(text)), stacklevel=2)
