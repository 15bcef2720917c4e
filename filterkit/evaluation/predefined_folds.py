"""Folds that the user gives: by an attribute of the data, or in a file of splits such as those of OpenML."""

from __future__ import annotations

import hashlib

import numpy as np

from filterkit.data.attributes import find_attribute
from filterkit.data.batch import Batch
from filterkit.data.rearrangement import get_attribute_values
from filterkit.errors import FilterkitError, quoted, suggestion
from filterkit.evaluation.folds import Fold
from filterkit.stages.edit import Edit

_COLUMNS = ("type", "rowid", "repeat", "fold")
_SAMPLE = "sample"


class PredefinedFolds:
    """Holds the folds that the user gives for a data set, instead of `DrawnFolds`.

    Parameters
    ----------
    folds : the folds, in order.
    n_rows : how many rows the data set has.

    Attributes
    ----------
    folds, n_rows : as the parameters.
    count : the number of folds.
    shares : for each point of a learning curve, the mean number of rows to train on over the folds, divided by the
        largest of these means.
    """

    def __init__(self, folds: list[Fold], n_rows: int) -> None:
        self.folds, self.n_rows, self.count = folds, n_rows, len(folds)
        sizes = np.array([[len(rows) for rows in fold.training] for fold in folds], float).mean(axis=0)
        self.shares = tuple(np.round(sizes / max(sizes.max(), 1), 6).tolist())

    def make_fold(self, number: int) -> Fold:
        """Return fold `number`, from 0."""
        return self.folds[number]

    @property
    def digest(self) -> str:
        """The hash of the row numbers of all folds, 16 characters, by which a journal recognizes the folds."""
        digest = hashlib.sha256()
        for fold in self.folds:
            for rows in (fold.test, *fold.training):
                digest.update(len(rows).to_bytes(8, "little") + rows.astype("<i8").tobytes())
        return digest.hexdigest()[:16]

    def select_rows(self, chosen: np.ndarray) -> PredefinedFolds:
        """Return new folds of only the `chosen` rows, bool (rows,), which are numbered anew from 0.

        Raise FilterkitError if a fold has no row left to train or to test on, or two samples have equally many rows.
        """
        number = np.cumsum(chosen) - 1
        folds = []
        for fold in self.folds:
            test, *training = (np.asarray(number[rows[chosen[rows]]]) for rows in (fold.test, *fold.training))
            if not len(test) or not all(map(len, training)):
                use = "train" if len(test) else "test"
                raise FilterkitError(f"{fold.name}: no row to {use} on has a known class; leave the fold out")
            folds.append(Fold(fold.name, test, training))
        own = PredefinedFolds(folds, int(np.count_nonzero(chosen)))
        if len(set(own.shares)) < len(own.shares):
            raise FilterkitError(
                "two samples of the splits have the same number of rows of known class to train on, so they would be "
                "one point of a learning curve; leave one out"
            )
        return own

    def describe_rows_tested_unevenly(self) -> str:
        """Say how many rows are tested in no fold, or in how many folds rows are tested; "" if all in equally many."""
        times = np.bincount(np.concatenate([fold.test for fold in self.folds]), minlength=self.n_rows)
        if untested := int(np.count_nonzero(times == 0)):
            return f"{untested:,} of {self.n_rows:,} rows are tested in no fold"
        same = times.min() == times.max()
        return "" if same else f"some rows are tested in {times.min()} folds, others in {times.max()}"


def split_off_attribute(data: Batch, name: str, source: str) -> tuple[np.ndarray, list[str | None], Batch]:
    """Split rows into the values of attribute `name`, and the rows without it.

    Returns
    -------
    codes : int64 (rows,), the index in `values` of the value of each row.
    values : the distinct values as texts; None stands for a missing one.
    rest : the rows without the attribute.

    Raises
    ------
    FilterkitError : there is no such attribute, or it is the class or a label; the message begins with `source`.
    """
    schema = data.schema
    position = find_attribute(schema.attributes, name)
    if position is None:
        others = [attribute.name for i, attribute in enumerate(schema.attributes) if i not in schema.targets]
        hint = suggestion(name, others) or "; correct the name"
        raise FilterkitError(f"{source} {quoted(name)}: there is no such attribute{hint}")
    if position in schema.targets:
        raise FilterkitError(f"{source} {quoted(name)}: this attribute is to be predicted; name another")
    edit = Edit(schema)
    edit.take(np.delete(np.arange(len(schema.attributes)), position))
    rest = edit.build().transform(data)
    found = get_attribute_values(data, position)
    if not isinstance(found, np.ndarray):  # texts and dates, of Arrow
        encoded = found.dictionary_encode(null_encoding="encode")
        texts = [None if value is None else str(value) for value in encoded.dictionary.to_pylist()]
        return encoded.indices.to_numpy().astype(np.int64), texts, rest
    distinct, codes = np.unique(found, return_inverse=True)
    labels = schema.attributes[position].values
    values = distinct.tolist()
    texts = [None if np.isnan(value) else labels[int(value)] if labels else f"{value:.17g}" for value in values]
    return codes, texts, rest


def make_folds_from_attribute(data: Batch, name: str) -> tuple[PredefinedFolds, Batch]:
    """Make a fold of each value of the attribute `name`; return the folds, and the rows without the attribute.

    Raise FilterkitError if there is no such attribute, a value is missing, or there are fewer than two values.
    """
    option = "--fold-column"
    codes, values, rest = split_off_attribute(data, name, option)
    if None in values:
        count = int(np.count_nonzero(codes == values.index(None)))
        rows = "1 row has no value" if count == 1 else f"{count:,} rows have no value"
        raise FilterkitError(f"{option} {quoted(name)}: {rows}, and so no fold; leave them out, or fill the values in")
    if len(values) < 2:
        need = "but there must be at least 2 folds; name another attribute"
        raise FilterkitError(f"{option} {quoted(name)}: all rows have one value, {need}")
    numbers = np.arange(len(codes))
    folds = [
        Fold(f"{name} {value}", numbers[codes == code], [numbers[codes != code]]) for code, value in enumerate(values)
    ]
    return PredefinedFolds(folds, len(codes)), rest


def make_folds_from_splits(splits: Batch, n_rows: int, path: str) -> PredefinedFolds:
    """Make the folds that a file of splits declares, by ascending repeat and then fold.

    The attributes of `splits` are type (TRAIN or TEST), rowid (from 0), repeat, fold and, if there are learning curves,
    sample (from 0); in any order and case. `n_rows` is the number of rows of the data set, and `path` is for messages.

    Raise FilterkitError if an attribute is missing or has other values, there are no rows, a fold or sample has no rows
    to train or to test on, or has a row twice, its samples differ in the rows to test on, or the data set has no such
    row.
    """
    columns = _read_split_columns(splits, path)
    is_test, row, repeat, fold = (columns[name] for name in _COLUMNS)
    has_samples = _SAMPLE in columns
    sample = columns.get(_SAMPLE, np.zeros_like(row))
    wrong = np.flatnonzero(row >= n_rows)
    if len(wrong):
        raise FilterkitError(
            f"{path}: row {wrong[0] + 1:,}: rowid must be from 0 to {n_rows - 1:,}, a row of DATA, not {row[wrong[0]]}"
        )
    if not len(row):
        raise FilterkitError(f"{path}: the file has no rows, so it has no folds; name another file")
    order = np.lexsort((row, is_test, sample, fold, repeat))
    keys, row = np.column_stack([repeat, fold, sample, is_test])[order], row[order]
    cuts = np.flatnonzero((np.diff(keys, axis=0) != 0).any(axis=1)) + 1
    rows_of = dict(zip(map(tuple, keys[[0, *cuts]].tolist()), np.split(row, cuts)))
    samples = np.unique(sample).tolist()
    folds = []
    for r, f in dict.fromkeys(key[:2] for key in rows_of):
        name = f"repeat {r}, fold {f}"
        training, test = [], None
        for s in samples:
            where = f"{path}: {name}" + (f", sample {s}" if has_samples else "")
            to_train, to_test = (rows_of.get((r, f, s, number), row[:0]) for number in (0, 1))
            if not len(to_train) or not len(to_test):
                raise FilterkitError(
                    f"{where}: there are no rows to {'test' if len(to_train) else 'train'} on; add some"
                )
            numbers, times = np.unique(np.concatenate([to_train, to_test]), return_counts=True)
            if times.max() > 1:
                raise FilterkitError(f"{where}: row {numbers[times > 1][0]} is named twice; name each row once")
            if test is not None and not np.array_equal(test, to_test):
                raise FilterkitError(
                    f"{where}: the rows to test on are not those of sample {samples[0]}; they must be the same in all "
                    "samples of a fold"
                )
            training.append(to_train)
            test = to_test
        assert test is not None
        folds.append(Fold(name, test, training))
    return PredefinedFolds(folds, n_rows)


def _read_split_columns(splits: Batch, path: str) -> dict[str, np.ndarray]:
    """Read the columns of a file of splits, by lower-case name, as whole numbers from 0: int64 (rows,) each.

    In the column ``type``, 1 stands for TEST and 0 for TRAIN. There is a column ``sample`` only if the file has it.
    Raise FilterkitError if another attribute is missing, or a value is not such a number.
    """
    columns: dict[str, np.ndarray] = {}
    names = {a.name.lower(): a.name for a in splits.schema.attributes}
    for wanted in (*_COLUMNS, *([_SAMPLE] if _SAMPLE in names else [])):
        if wanted not in names:
            raise FilterkitError(
                f"{path}: there is no attribute {quoted(wanted)}; write a file of splits with {', '.join(_COLUMNS)}"
            )
        codes, texts, _ = split_off_attribute(splits, names[wanted], path)
        if wanted == "type":
            expected, numbers = "TRAIN or TEST", {"TRAIN": 0, "TEST": 1}
        else:
            expected = "a whole number from 0"
            numbers = {text: int(text) for text in texts if text is not None and text.isdecimal() and len(text) < 16}
        column = np.array([numbers.get((text or "?").upper(), -1) for text in texts], np.int64)[codes]
        for at in np.flatnonzero(column < 0)[:1].tolist():
            found = quoted(texts[codes[at]] or "?")
            raise FilterkitError(f"{path}: row {at + 1:,}: {wanted} must be {expected}, not {found}")
        columns[wanted] = column
    return columns
