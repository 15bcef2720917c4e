"""Checks of file formats: rows that are written can be read back, or are refused."""

from __future__ import annotations

import dataclasses
import os
import pickle
import re
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from filterkit.data.batch import Batch, concatenate, same
from filterkit.data.columns import to_columns
from filterkit.data.contract import check_signature
from filterkit.data.rearrangement import change_targets
from filterkit.data.schema import Schema
from filterkit.errors import FilterkitError, PluginError
from filterkit.files.output import open_output
from filterkit.formats.base import LOSSES, FileFormat, Opening
from filterkit.formats.output import OutputForm, RowWriter
from filterkit.formats.reader import Reader
from filterkit.formats.simple import Format
from filterkit.testing.findings import format_error_location
from filterkit.testing.methods import check_method_names_and_arguments
from filterkit.testing.stages import cut


def check_format_is_declared(form: FileFormat, data: Batch) -> None:
    """Check that the format has a name, lower-case endings with a dot, a function to read or write, and valid losses.

    The ending of a format of folders is "/". The functions of a `Format` must take the arguments that filterkit passes.
    A `FileFormat` needs a lower-case name, a title, a docstring, help for its options, and a pickle that loads; it must
    have no misspelt method. `data` is not used.
    """
    assert isinstance(form, FileFormat), f"{form!r} is neither a Format nor a FileFormat: make it one"
    assert form.name.strip(), "a format needs a name, for messages: give it one"
    right = isinstance(form.endings, tuple) and all(re.fullmatch(r"\.[^./A-Z\s]+|/", each) for each in form.endings)
    assert right and form.endings, f"{form.name}: endings must be like ('.parquet',), not {form.endings!r}"
    assert form.is_read() or form.is_written(), (
        f"{form.name} is neither read nor written: define a function that reads or one that writes"
    )
    if not isinstance(form, Format):
        check_method_names_and_arguments(form.name, type(form))
        assert re.fullmatch(r"[a-z][a-z0-9-]*", form.name), (
            f"{form.name}: the name of a FileFormat must be a lower-case word"
        )
        assert form.title.strip(), f"{form.name}: a FileFormat needs a title, for messages: give it one"
        assert form.summary(), f"{form.name}: write a docstring, which becomes its help"
        for field in dataclasses.fields(form):
            assert field.metadata["help"].strip(), f"{form.name}: the option {field.name} has no help: write it"
        again = pickle.loads(pickle.dumps(form))
        assert vars(again) == vars(form), (
            f"{form.name}: a pickled format comes back changed: keep nothing in it but its options"
        )
    else:
        for function, names in ((form.read, "path, class_, positive"), (form.write, "batches, out")):
            try:
                check_signature("", function or print, names)
            except PluginError:
                raise AssertionError(
                    f"{form.name}: {getattr(function, '__name__', function)} does not take {names}; give Format the "
                    "function that reads before the one that writes"
                ) from None
    unknown = set(form.losses) - set(LOSSES)
    assert not unknown, f"{form.name}: losses may be {', '.join(LOSSES)}, not {', '.join(sorted(unknown))}"


def check_rows_come_back(form: FileFormat, data: Batch) -> None:
    """Check that rows come back from a file as they were written to it, apart from the losses that the format declares.

    These must come back: the names, kinds and labels of attributes, numbers to the last bit, missing values and
    instance weights. A format that refuses the rows by a `FilterkitError`, or that only reads or only writes, passes.
    The name of the relation, the form of sparse rows, the patterns of dates and the weights of attributes may change;
    without rows, labels may change, too.
    """
    X = data.in_form(False).X.copy()
    other = (X != 0) & ~np.isnan(X) & ~data.schema.nominal
    X[other] = np.resize(_HARD, np.count_nonzero(other))
    with_digits = data.replace(X=X).in_form(data.sparse)
    for rows, when in ((data, ""), (with_digits, " where numbers have many digits")):
        _check_round_trip(form, rows, when)


# Numbers that do not come back unless all their digits are written.
_HARD = np.array([0.1 + 0.2, 1 / 3, -1.5e-7, 2.0**53 - 1, 1.7e308, 5e-324, -1e-300, 123456789.123456789])


def check_class_and_positive_are_read(form: FileFormat, data: Batch) -> None:
    """Check that a format reads the attribute that `class_` names as the class, with `positive` as positive value.

    A format that declares that it loses names, kinds or labels passes, and so do rows without a class.
    """
    target = data.schema.class_attribute
    if {"names", "kinds", "labels"} & set(form.losses) or target is None or not len(data):
        return
    content = write_rows_to_bytes(form, data)
    if content is None or not form.is_read():
        return
    back = _read_batch_from_bytes(form, content, target.name)
    assert back.schema.class_attribute == target._replace(weight=1.0, scores=()), (
        f"{form.name}: read was asked for the class '{target.name}' and gives {back.schema.class_attribute}: pass "
        "class_ on"
    )
    assert back.y is not None and data.y is not None and np.array_equal(back.y, data.y, equal_nan=True), (
        f"{form.name}: other classes come back than were written: read the column of the class as it was written"
    )
    if target.kind == "nominal":
        positive = target.values[-1]
        found = _read_batch_from_bytes(form, content, target.name, positive=positive).schema.positive
        assert found == positive, f"{form.name}: read does not pass the positive class on to the schema"


def check_a_positive_class_is_written(form: FileFormat, data: Batch) -> None:
    """Check that rows whose schema declares a positive class value can be written and read back, or are refused."""
    target = data.schema.class_attribute
    if target is not None and target.kind == "nominal":
        data = data.replace(schema=data.schema.replace(positive=target.values[-1]))
        _check_round_trip(form, data, " where one class is positive")


def check_write_batch_size_does_not_matter(form: FileFormat, data: Batch) -> None:
    """Check that rows come back the same however they were cut into batches when they were written.

    A `FileFormat` writes the same bytes then, and reads the same rows in small parts.
    """
    if len(data) < 2:
        return
    content = _check_round_trip(form, data, " when they were written in several batches", step=2)
    if content is not None and not isinstance(form, Format):
        assert write_rows_to_bytes(form, data) == content, (
            f"{form.name}: rows written in several batches give other bytes than in one: let nothing depend on how "
            "they are cut"
        )
        _check_round_trip(form, data, " when they are read in small parts", block_size=60)


def check_writing_twice_gives_same_bytes(form: FileFormat, data: Batch) -> None:
    """Check that writing the same rows twice gives the same bytes, and some bytes if there are rows.

    Writing must also take all batches, and leave the stream open.
    """
    content, again = write_rows_to_bytes(form, data), write_rows_to_bytes(form, data)
    if content is None or again is None:
        return
    assert content or not len(data), f"{form.name}: write leaves the file empty: write to the stream it is given"
    assert content == again, (
        f"{form.name}: writing the same rows twice gives other bytes: leave out times and what is random"
    )


def check_file_differs_without_rows(form: FileFormat, data: Batch) -> None:
    """Check that a file of these rows differs from a file without rows."""
    if not len(data) or not data.schema.attributes:
        return
    some, none = write_rows_to_bytes(form, data), write_rows_to_bytes(form, data.rows(0, 0))
    assert some is None or some != none, (
        f"{form.name}: write gives the same bytes for {len(data)} rows as for none: write every row of each batch"
    )


def check_a_missing_file_is_an_error(form: FileFormat, data: Batch) -> None:
    """Check that reading a missing file raises a `FilterkitError` of one line that names the file.

    filterkit makes one of a `FileNotFoundError`. A format of folders passes. `data` is not used.
    """
    if not form.is_read() or form.endings == ("/",):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "missing" + form.endings[0])
        try:
            Reader(form, Opening(path))
        except FilterkitError as error:
            said = str(error)
        else:
            raise AssertionError(
                f"{form.name}: opening a file that does not exist raises no error: raise a FileNotFoundError"
            )
        assert path in said and "\n" not in said, (
            f"{form.name}: the error of a missing file is {said!r}: name the file in it, in one line"
        )


def check_reading_twice_and_without_class(form: FileFormat, path: str) -> None:
    """Check that reading the file at `path` twice gives the same rows, and that as many are read without a class."""
    first, again = (_read_batch_from_file(form, path, None) for _ in range(2))
    assert same(first, again), f"{form.name}: reading {path} twice gives other rows: keep nothing from the first time"
    flat = _read_batch_from_file(form, path, "none")
    assert flat.schema.class_index is None, (
        f"{form.name}: read gives a class though it was asked for none: pass class_ on"
    )
    assert len(flat) == len(first), (
        f"{form.name}: {path} has other rows without a class: read all rows, whatever the class"
    )


def write_rows_to_bytes(form: FileFormat, data: Batch, step: int | None = None) -> bytes | None:
    """Write rows, cut into batches of `step` rows (None for one batch), and return the bytes of the file.

    Return None if the format refuses the rows by a `FilterkitError`, or only reads. Raise AssertionError if this error
    has several lines, or if the format fails in another way, leaves batches unread, or closes the stream.
    """
    if not form.is_written():
        return None
    batches = iter(cut(data, step))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t" + form.endings[0])
        try:
            with open_output(path) as out, redirect_stderr(StringIO()):  # warnings of losses, which are declared
                RowWriter(OutputForm(form, data.schema, data.sparse)).write(
                    out, lambda function: map(function, batches)
                )
                is_closed = out.closed
        except FilterkitError as error:
            lines = "".join(map(str, error.args))
            assert "\n" not in lines, f"{form.name}: an error must be one line, not {lines!r}"
            return None
        except Exception as error:
            raise AssertionError(
                f"{form.name}: write fails with {type(error).__name__}: {error}{format_error_location(error)}; if the "
                "format cannot hold such rows, raise a FilterkitError that says so"
            ) from error
        assert not is_closed, f"{form.name}: write closes the stream that it is given; leave that to filterkit"
        assert next(batches, None) is None, (
            f"{form.name}: write does not ask for all batches: loop over them to the end"
        )
        return Path(path).read_bytes()


def _check_round_trip(
    form: FileFormat, data: Batch, when: str, step: int | None = None, block_size: int | None = None
) -> bytes | None:
    """Write rows, check that reading gives the same rows, and return the bytes written.

    Return None if the format refuses the rows or only reads. If it only writes, nothing is checked. `step` is as for
    `write_rows_to_bytes`, `block_size` is that of the reader, and `when` ends the messages.
    """
    content = write_rows_to_bytes(form, data, step)
    if content is not None and form.is_read():
        check_rows_are_equal(
            form, _make_class_an_attribute(data), _read_batch_from_bytes(form, content, block_size=block_size), when
        )
    return content


def check_rows_are_equal(form: FileFormat, expected: Batch, found: Batch, when: str = "") -> None:
    """Raise an `AssertionError` if the rows `found` differ from `expected`, except in the losses that `form` declares.

    Both batches must be without a class and labels. `when` ends the messages.
    """
    about = f"{form.name}: "
    assert len(found) == len(expected), (
        f"{about}{len(found)} rows come back of {len(expected)}{when}: write and read every row"
    )
    if "weights" not in form.losses:
        one, other = (b.row_weights for b in (expected, found))
        assert np.array_equal(one, other), (
            f"{about}instance weights are lost{when}: keep them, refuse rows that have some with a FilterkitError, or "
            "declare losses=('weights',)"
        )
    if "columns" in form.losses:
        return
    given, back = expected.schema.attributes, found.schema.attributes
    repair = "keep it, refuse it with a FilterkitError, or declare losses"
    assert len(back) == len(given), f"{about}{len(back)} attributes come back of {len(given)}{when}: {repair}"
    for one_a, other_a, ours, theirs in zip(given, back, to_columns(expected), to_columns(found)):
        name = f"'{one_a.name}'"
        if "names" not in form.losses:
            assert other_a.name == one_a.name, f"{about}{name} comes back as '{other_a.name}'{when}: {repair}"
        if "kinds" in form.losses and one_a.kind != "numeric":
            continue
        text = one_a.kind == "relational" and other_a.kind == "string"  # a bag as its text
        assert text or other_a.kind == one_a.kind, f"{about}the {one_a.kind} {name} is {other_a.kind}{when}: {repair}"
        labels = other_a.values
        assert text or labels == one_a.values or not len(expected) or "labels" in form.losses, (
            f"{about}the labels of {name} are {labels}{when}: {repair}"
        )
        if "labels" in form.losses and one_a.kind == "nominal":
            ours, theirs = (
                [None if code != code else attribute.values[int(code)] for code in codes]
                for attribute, codes in ((one_a, ours), (other_a, theirs))
            )
        is_array = isinstance(ours, np.ndarray)  # others are lists
        is_equal = np.array_equal(ours, theirs, equal_nan=True) if is_array else ours == theirs
        assert is_equal, (
            f"{about}the values of {name} come back changed{when}: keep them, or refuse such rows with a FilterkitError"
        )


def _make_class_an_attribute(data: Batch) -> Batch:
    """Return the same rows, with the class or labels as attributes like the others."""
    schema = data.schema
    if schema.labels:
        return change_targets(data, schema.replace(labels=()))
    if schema.class_index is None:
        return data
    return change_targets(data, Schema(schema.relation, schema.attributes, sparse=False))


def _read_batch_from_bytes(form: FileFormat, content: bytes, class_: str = "none", **settings: Any) -> Batch:
    """Write `content` to a file, and read it as `_read_batch_from_file` does."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t" + form.endings[0])
        Path(path).write_bytes(content)
        return _read_batch_from_file(form, path, class_, **settings)


def _read_batch_from_file(form: FileFormat, path: str, class_: str | None, **settings: Any) -> Batch:
    """Read all rows of a file as one batch; `settings` are other fields of an `Opening`.

    `class_` is as for `read`. Raise AssertionError if the file cannot be read.
    """
    try:
        with Reader(form, Opening(path, class_=class_, **settings)) as reader:
            batches = list(reader.batches())
    except Exception as error:
        asked = f" with the class {class_}" if class_ is not None else ""
        text = str(error).removeprefix(os.path.join(os.path.dirname(path), ""))
        kind = "" if isinstance(error, PluginError) else f"{type(error).__name__}: "
        raise AssertionError(f"{form.name}: reading{asked} fails with {kind}{text}") from error
    return concatenate(batches, reader.schema)


FORMAT_CHECKS: list[Callable[[Format | FileFormat, Batch], None]] = [
    check_format_is_declared,
    check_a_missing_file_is_an_error,
    check_writing_twice_gives_same_bytes,
    check_file_differs_without_rows,
    check_rows_come_back,
    check_class_and_positive_are_read,
    check_a_positive_class_is_written,
    check_write_batch_size_does_not_matter,
]
