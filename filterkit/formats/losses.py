"""What a format loses of the rows that are written in it, for warnings."""

from __future__ import annotations

import numpy as np

from filterkit.data.batch import Batch
from filterkit.data.losses import named
from filterkit.data.schema import Schema
from filterkit.errors import quoted
from filterkit.formats.base import FileFormat, Writer
from filterkit.messages import write_message

_MOST_NAMED = 20  # columns in the option that a warning shows


def _describe_attribute_losses(kind: FileFormat, schema: Schema) -> list[str]:
    """Return warnings that a format cannot hold weights of attributes, or relational attributes; [] if none is lost.

    There is at most one of each kind, which names up to three attributes.
    """
    if "kinds" not in kind.losses:
        return []
    # It is known at once of very many numeric attributes.
    is_plain = getattr(schema.attributes, "is_numeric_without_weight_or_scores", None)
    has_weights = is_plain is None or not is_plain.all()
    weighted = [a.name for a in schema.attributes if a.weight != 1] if has_weights else []
    bags = [a.name for a in schema.passthrough if a.kind == "relational"]
    found = []
    if weighted:
        found.append(
            f"{kind.title} cannot hold the weights of attributes, as of {named(weighted)}; write ARFF to keep them"
        )
    if bags:
        found.append(
            f"{kind.title} cannot hold relational attributes, and has text for {named(bags)}; write ARFF instead"
        )
    return found


def tell_numbers(title: str, word: str, what: str, kind: str, names: list[str]) -> str:
    """Return a warning that a format does not tell texts or labels of the columns `names` from numbers, and what to do.

    It recommends an option for reading, such as ``--from csv:string=a,b``, for at most 20 of the columns.

    Parameters
    ----------
    title : the format in messages.
    word : the name of the format in the option, such as ``csv``.
    what : ``texts`` or ``labels``.
    kind : the name of the option: ``string`` or ``nominal``.
    names : the names of the columns, at least one.
    """
    option = f"--from {word}:{kind}={','.join(names[:_MOST_NAMED])}"
    return f"{title} does not tell {what} that are numbers from numbers, as of {named(names)}; read it with {option}"


class Losses:
    """Finds what is lost of rows that are written in a format, and warns on standard error once of each kind of loss.

    A format may lose weights, and what `Writer.lost` says. If "labels" are among its `losses`, it also loses labels
    that no row has, and may read texts as numbers.

    Parameters
    ----------
    kind : the format.
    schema : the schema of the rows, in which labels of multi-label data are ordinary attributes.
    writer : the writer of the rows.
    is_later : whether the rows are further ones for a fitted chain, which knows their labels; so no label is lost.

    Attributes
    ----------
    used : which labels the rows so far have: an array of flags as `flag_used_labels` returns.
    has_weights : whether any rows so far have weights.
    is_quiet : whether no warning is given, as where each worker writes a part; False at first.
    """

    def __init__(self, kind: FileFormat, schema: Schema, writer: Writer, is_later: bool) -> None:
        self._title, self._word, self._advice = kind.title, kind.name, writer.advice
        self._lost = [*_describe_attribute_losses(kind, schema), *(() if is_later else writer.lost)]
        self.is_quiet = self.has_weights = False
        loses_labels = "labels" in kind.losses and not is_later
        self._are_numbers = writer.are_numbers if loses_labels else None
        self._strings = [a.name for a in schema.passthrough if a.kind == "string" and self._are_numbers is not None]
        self._columns = np.flatnonzero(schema.nominal & loses_labels)
        self._attributes = [schema.attributes[i] for i in schema.feature_indices[self._columns].tolist()]
        target = schema.class_attribute
        self._has_class = loses_labels and target is not None and target.kind == "nominal"
        if target is not None and self._has_class:
            self._attributes.append(target)
        self._first = np.cumsum([0, *(len(a.values) for a in self._attributes)])
        self._labels = int(self._first[-1])
        self.used = np.zeros(self._labels + 2 * len(self._strings), bool)

    def flag_used_labels(self, batch: Batch) -> np.ndarray:
        """Return flags of the labels that the rows of a batch have: bool (labels + 2 * string attributes,).

        The labels of each nominal attribute come first, those of the class last. They are followed by two flags for
        each string attribute: whether it has texts, and whether one of them is not a number. If the format tells texts
        from numbers, strings have no flags. If it loses no labels, there are no flags at all.
        """
        used = np.zeros_like(self.used)
        for number, name in enumerate(self._strings):
            assert batch.passthrough is not None and self._are_numbers is not None
            column = batch.passthrough.column(name)
            if column.null_count < len(column):
                text = next(text for text in column if text.is_valid).as_py()  # as a rule, it is no number
                are_numbers = self._are_numbers([text]) and self._are_numbers(column.unique().drop_null().to_pylist())
                used[self._labels + 2 * number : self._labels + 2 * number + 2] = True, not are_numbers
        first = self._first[: len(self._columns)]
        if len(first) and batch.sparse:
            csr = batch.csr.select_columns(self._columns)
            used[first[np.bincount(csr.indices, minlength=len(first)) < len(batch)]] = True  # zeros are left out
            used[(first[csr.indices] + csr.data)[csr.data >= 0].astype(np.int64)] = True
        elif len(first):
            codes = batch.X[:, self._columns]
            used[(first + codes)[codes >= 0].astype(np.int64)] = True  # the others are missing
        if self._has_class and batch.y is not None:
            used[self._first[-2] + batch.y[batch.y >= 0]] = True
        return used

    def _warn(self, text: str) -> None:
        if not self.is_quiet:
            write_message(f"filterkit: warning: {text}")

    def warn_before_rows(self) -> None:
        """Give the warnings that do not depend on the rows; a second call gives none."""
        for lost in self._lost:
            self._warn(lost)
        self._lost = []

    def add_flags_and_find_new(self, has_weights: bool, flags: np.ndarray) -> list[int]:
        """Take in further rows; return the indices of the flags of `used` that are True for the first time.

        `flags` is what `flag_used_labels` returned for the rows; they are added to `used`. `has_weights` says
        whether the rows have weights. Warn the first time they do, if the format loses them.
        """
        if has_weights and not self.has_weights and self._advice is not None:
            self._warn(f"the weights of rows are not written{'; ' * bool(self._advice)}{self._advice}")
        self.has_weights |= has_weights
        new = np.flatnonzero(flags & ~self.used)
        self.used |= flags
        return new.tolist()

    def warn_after_rows(self) -> None:
        """Warn of labels that no row has, and of string attributes whose texts are all numbers.

        Give no warning of what the format does not lose.
        """
        has_texts, has_others = self.used[self._labels :: 2], self.used[self._labels + 1 :: 2]
        numbers = [self._strings[i] for i in np.flatnonzero(has_texts & ~has_others).tolist()]
        if numbers:
            self._warn(tell_numbers(self._title, self._word, "texts", "string", numbers))
        lost = np.flatnonzero(~self.used[: self._labels]).tolist()
        if lost:
            number = int(np.searchsorted(self._first, lost[0], "right")) - 1
            name, labels = self._attributes[number].name, self._attributes[number].values
            label = f"{quoted(labels[lost[0] - int(self._first[number])])} of {quoted(name)}"
            more = f", and so are {len(lost) - 1:,} more" if len(lost) > 1 else ""
            self._warn(f"{self._title} holds only labels that rows have; {label} is lost{more}")
