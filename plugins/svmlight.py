"""libsvm and SVMlight: sparse text, a number for the class and pairs of index and value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np

from filterkit import Attribute, Batch, FilterkitError, Schema, option
from filterkit.plugin import (
    READ_AS_MISSING,
    TOO_LARGE,
    FileFormat,
    InexactNumber,
    Opening,
    RowError,
    TextParser,
    TextTable,
    Writer,
    find_inexact_number,
    format_number,
    is_too_large,
    may_be_rounded,
    offer,
    quoted,
    relation_of,
)

_SEPARATORS = bytes.maketrans(b" ", b"\n")
_ROW = -9  # stands as the index of a class
_MOST = 100_000_000  # the highest index; a few characters declare so many attributes, of some 400 bytes each
_PAIR = re.compile(r"(\d+):(\S+)")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?")  # a label that stands for itself
_LABEL = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_MOST_FOUND = 1 << 22  # the highest index unless the number of attributes is given; more would take gigabytes
_LOOK = 1 << 20  # bytes that are read to find out the classes, unless the whole file is read
_CLASS = "class"


class Libsvm(FileFormat):
    """libsvm, which SVMlight shares: a line such as "1 3:0.5 7:2" for each row, with indices in ascending order.

    The number before the pairs is the class, which is called class. It is nominal if it has few values, all of them
    whole numbers. The attributes are called f1, f2 and so on, unless a header or a chain names them. How many there
    are is known from `features`, the header, the chain or the training data; otherwise the input is read twice.
    Comments are left out; query numbers (qid) and several labels of a row are refused.
    """

    name = "libsvm"
    title = "LIBSVM"
    endings = (".libsvm", ".svm", ".svmlight")
    textual = True
    rounds = True
    losses = ("names", "kinds", "labels", "columns")

    base: int = option(1, "The index of the first attribute: 1, or 0.", minimum=0, maximum=1)
    features: int | None = option(
        None, "How many attributes there are, without the class.", minimum=0, maximum=100_000_000
    )
    header: str | None = option(None, "A file, such as ARFF, whose attributes are those of this one.", names="file")
    target: str = option(
        "auto", "Whether the class is nominal; auto decides by its values.", choices=("auto", "nominal", "numeric")
    )
    most: int = option(100, "With target=auto: the class is nominal if it has at most so many values.", minimum=0)

    def open(self, opening: Opening) -> TextTable:
        wanted = opening.wanted
        target = None if opening.like is None else opening.like.class_attribute
        if wanted is None and self.header is not None:
            from filterkit import batches

            schema = next(iter(batches(self.header))).schema
            wanted, target = schema.attributes, schema.class_attribute
        if wanted is not None:
            names, name = [a.name for a in wanted], _CLASS if target is None else target.name
            if name not in names:
                wanted = (*wanted, Attribute(_CLASS))
                names.append(name)
            return LibsvmTable(self, opening, wanted, names.index(name))
        file = opening.local()  # it can be read twice
        try:
            width, labels = self._count_attributes_and_list_labels(opening, file)
            attributes = [Attribute(f"f{number}") for number in range(1, width + 1)]
            attributes.append(Attribute(_CLASS) if labels is None else Attribute(_CLASS, "nominal", labels))
            return LibsvmTable(self, opening, tuple(attributes), width, file)
        except BaseException:
            file.close()
            raise

    def _count_attributes_and_list_labels(
        self, opening: Opening, file: IO[bytes]
    ) -> tuple[int, tuple[str, ...] | None]:
        """Return the number of attributes without the class, and the labels of the class; None if it is numeric.

        The labels are the class numbers in `file` as texts, by ascending number. With the option `features`, read only
        about the first megabyte. Otherwise, read the whole file, and raise FilterkitError for an index above 4,194,304;
        but indices above 100,000,000 are left to the parser, which refuses them.
        """
        width = self.features
        highest, labels = self.base - 1, set[bytes]()
        read = 0
        table = TextTable("", (), opening.text(file.name), size=opening.block_size)
        for block in table.parts():
            text = block.text
            if b"#" in text or b"\t" in text:
                text = _drop_comments_and_extra_blanks(text)
            lines = text.split(b"\n")
            if width is None:  # the highest index of a row is its last
                last = {line.rpartition(b":")[0].rpartition(b" ")[2] for line in lines}
                indices = [int(word) for word in last if word.isdigit() and len(word) < 19]
                highest = max([highest, *(index for index in indices if index <= _MOST)])
                if highest > _MOST_FOUND:
                    raise FilterkitError(
                        f"{opening.name}: there is an index of {highest} or more; if there are so many attributes, "
                        f"give their number: --from libsvm:features={highest}"
                    )
            if len(labels) <= self.most or self.target == "nominal":
                labels |= {words[0] for line in lines if (words := line.split(None, 1))}
            read += len(text)
            if width is not None and read >= _LOOK:
                break
        table.close()
        # The parser refuses the others; -0 is 0.
        values = sorted({float(word) + 0.0 for word in labels if _LABEL.fullmatch(word)})
        are_labels = len(values) <= self.most and all(np.isfinite(v) and v == round(v) for v in values)
        is_nominal = self.target == "nominal" or (self.target == "auto" and are_labels)
        count = highest - self.base + 1 if width is None else width
        return count, tuple(map(format_number, values)) if is_nominal else None

    def writer(self, schema: Schema, precision: int | None) -> Writer:
        return LibsvmWriter(self, schema, precision)


def _drop_comments_and_extra_blanks(text: bytes) -> bytes:
    """Return `text` without empty lines and comments; one blank separates words, and a line feed ends each line."""
    lines = (b" ".join(line.split()) for line in re.sub(rb"#[^\n]*", b"", text).split(b"\n"))
    return b"".join(line + b"\n" for line in lines if line)


class LibsvmTable(TextTable):
    """An opened LIBSVM file; `class_position` is the index of the class in `attributes`.

    `file` is what `Opening.local` has returned. It is read instead of the input, and closed with the table; None to
    read the input.
    """

    sparse = True

    def __init__(
        self,
        form: Libsvm,
        opening: Opening,
        attributes: Sequence[Attribute],
        class_position: int,
        file: IO[bytes] | None = None,
    ) -> None:
        source = opening.text(None if file is None else file.name)
        super().__init__(relation_of(opening.path), attributes, source, size=opening.block_size)
        self._form, self._opening, self._class_position, self._file = form, opening, class_position, file
        self.class_ = attributes[class_position].name

    def stretches(self, jobs: int) -> Iterator[Any] | None:
        is_copy = self._source.path != self._opening.path  # which only this machine has
        return None if is_copy else super().stretches(jobs)

    def parser(self, schema: Schema) -> LibsvmParser:
        return LibsvmParser(schema, self._opening, self._form.base, self._class_position)

    def close(self) -> None:
        super().close()
        if self._file is not None:
            self._file.close()


class LibsvmParser(TextParser):
    """Parses blocks of libsvm to batches.

    `base` is the index that the file has for the first attribute, 0 or 1. `class_position` is where the class is among
    the attributes of the schema, from 0. Raise FilterkitError if an attribute is neither numeric nor nominal.
    """

    def __init__(self, schema: Schema, opening: Opening, base: int, class_position: int) -> None:
        super().__init__(schema, opening.rejects)
        self.base = base
        self.is_open = opening.like is not None  # so pairs of higher indices than there are attributes are left out
        self.unseen = opening.unseen and schema.class_index is not None
        attributes = schema.attributes
        self.class_position, self.others = class_position, np.delete(np.arange(len(attributes)), class_position)
        numbers = {class_position, *schema.feature_indices.tolist()}
        textual = next((a.name for i, a in enumerate(attributes) if i not in numbers), None)
        if textual is not None:
            raise FilterkitError(
                f"LIBSVM holds only numbers, but attribute {quoted(textual)} is of another type; read another format"
            )
        self.is_nominal = attributes[class_position].kind == "nominal"
        self.values = np.array(_choose_label_numbers(attributes[class_position].values)) + 0.0  # so that -0 is 0

    def parse(self, text: bytes) -> Batch:
        """Parse lines of libsvm to a batch; raise RowError or ValueError if one of them cannot be read."""
        try:
            return self._parse_tidy_lines(text)
        except (RowError, ValueError):
            return self._parse_tidy_lines(_drop_comments_and_extra_blanks(text))

    def _parse_tidy_lines(self, text: bytes) -> Batch:
        """Parse lines without comments, and with one blank between words, to a batch.

        Raise RowError or ValueError for other lines, and for lines that cannot be read. Pairs whose index is beyond the
        attributes are left out if the rows are for a fitted chain; otherwise, they are errors.
        """
        if text and not text.endswith(b"\n"):
            raise RowError("the last line has no line end")
        index, values = _parse_pairs(text)
        if may_be_rounded(values) and (number := find_inexact_number(text)) is not None:
            raise RowError(f"{InexactNumber(number)}; write {number}.0 to have it rounded")
        starts = np.flatnonzero(index == _ROW)
        if len(starts) != text.count(b"\n"):
            raise ValueError("an index is negative; count indices from 1, or from 0 with --from libsvm:base=0")
        is_pair = index != _ROW
        labels, column, values = values[starts], index[is_pair] - self.base, values[is_pair]
        n_rows = len(starts)
        row = np.repeat(np.arange(n_rows), np.diff(starts, append=len(index)) - 1)
        if (column < 0).any():
            raise ValueError(f"an index is not a whole number from {self.base}")
        if ((column[1:] <= column[:-1]) & (row[1:] == row[:-1])).any():
            raise ValueError("the indices of a row do not ascend; sort them, and name each once")
        beyond = column >= len(self.others)
        if beyond.any():
            if not self.is_open:
                raise ValueError("an index is higher than the number of attributes; declare more attributes")
            row, column, values = row[~beyond], column[~beyond], values[~beyond]
        y = self._encode_class_numbers(labels) if self.is_nominal else labels
        rows = np.concatenate([row, np.arange(n_rows)])
        positions = np.concatenate([self.others[column], np.full(n_rows, self.class_position)])
        from filterkit.plugin import from_entries  # which imports pyarrow; lists of formats do not need it

        return from_entries(self.schema, rows, positions, np.concatenate([values, y]), n_rows)

    def _encode_class_numbers(self, labels: np.ndarray) -> np.ndarray:
        """Return the index of the label of each class number, float64 (rows,); -2 for a number that is not a label.

        Raise RowError for such a number if unseen labels are errors. Raise it for any number if the class declares no
        labels.
        """
        if not len(self.values) and len(labels):
            raise RowError(
                "the class has no declared labels, so no row can have a class; declare its labels in the first input"
            )
        import pyarrow as pa
        import pyarrow.compute as pc

        found: np.ndarray = pc.index_in(pa.array(labels + 0.0), pa.array(self.values)).fill_null(-2).to_numpy()
        wrong = labels[found < 0]
        if len(wrong) and not self.unseen:
            known = ", ".join(map(format_number, self.values[:10].tolist()))
            hint = READ_AS_MISSING if self.is_open else "; say --from libsvm:target=numeric"
            raise RowError(f"the class {format_number(float(wrong[0]))} is not among {known}{hint}")
        return found.astype(np.float64)

    def explain(self, text: bytes, error: Exception) -> RowError:
        """Return the error that says what is wrong with a single line, for which `parse` has raised `error`."""
        line = _drop_comments_and_extra_blanks(text).decode("utf-8", "replace").strip()
        label, _, rest = line.partition(" ")
        if "qid:" in rest:
            return RowError("query numbers (qid) are not supported; remove them")
        if "," in label:
            return RowError(f"several labels of a row, {quoted(label)}, are not supported; leave one")
        for number, word in enumerate([label, *rest.split()]):
            cell = word if not number else word.partition(":")[2]
            if number and not _PAIR.fullmatch(word):
                return RowError(f"{quoted(word)} is not a pair of index:value, such as 3:0.5")
            if number and int(word.partition(":")[0][:20]) > _MOST:
                return RowError(f"the index {quoted(word.partition(':')[0])[1:-1]} is higher than {_MOST:,}")
            try:
                float(cell)
            except ValueError:
                return RowError(f"{quoted(cell)} is not a number")
            if is_too_large(cell):
                return RowError(f"{quoted(cell)} {TOO_LARGE}")
            if number and self.base and word.startswith("0:"):
                return RowError("index 0; say --from libsvm:base=0 if indices count from 0")
        return super().explain(text, error)


def _choose_label_numbers(labels: Sequence[str]) -> list[float]:
    """Return a number for each label, which stands for it in a file.

    If all labels are different numbers, it is this number; otherwise, it is the index of the label, from 0.
    """
    numbers = [float(label) for label in labels if _NUMBER.fullmatch(label)]
    return numbers if len(set(numbers)) == len(labels) else [float(index) for index in range(len(labels))]


def _parse_pairs(text: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices, int64 (pairs,), and the values, float64 (pairs,), of all pairs in `text`.

    It has lines as `_parse_tidy_lines` takes them. The class of each row comes as a pair with the index `_ROW` before
    its other pairs. Raise RowError for a number that is too large, and pyarrow.ArrowInvalid for what is not a pair of
    numbers.
    """
    import pyarrow as pa
    import pyarrow.csv

    from filterkit.plugin import view_numbers

    if not text:
        return np.empty(0, np.int64), np.empty(0)
    pairs = b"%d:" % _ROW + text[:-1].replace(b"\n", b"\n%d:" % _ROW).translate(_SEPARATORS) + b"\n"
    table = pyarrow.csv.read_csv(
        pa.py_buffer(pairs),
        read_options=pyarrow.csv.ReadOptions(column_names=["i", "x"], use_threads=False, block_size=len(pairs) + 1),
        parse_options=pyarrow.csv.ParseOptions(delimiter=":", quote_char=False, ignore_empty_lines=False),
        convert_options=pyarrow.csv.ConvertOptions(column_types={"i": pa.int64(), "x": pa.float64()}, null_values=[]),
    )
    index, values = view_numbers(table.column(0)), view_numbers(table.column(1))
    if np.isinf(values).any() and any(is_too_large(pair.partition(":")[2]) for pair in pairs.decode().split("\n")):
        raise RowError(f"a number {TOO_LARGE}")
    return index, values


class LibsvmWriter(Writer):
    """Writes rows as a number for the class, 0 if there is no class, and pairs of index and value.

    Raise FilterkitError if an attribute other than the class is not numeric. `format_batch` raises it for rows with
    weights or a missing class.
    """

    def __init__(self, form: Libsvm, schema: Schema, precision: int | None) -> None:
        super().__init__(schema)
        target = schema.class_attribute
        has_class = target is not None and target.kind == "nominal"
        class_too = "" if has_class else ", or say with --class that it is the class"
        for position, attribute in enumerate(schema.attributes):
            if position != schema.class_index and attribute.kind != "numeric":
                hint = {"nominal": f"encode it, as by onehot{class_too}", "string": "encode it, as by words"}
                raise FilterkitError(
                    f"{form.title} holds only numbers, but attribute {quoted(attribute.name)} is {attribute.kind}; "
                    + hint.get(attribute.kind, "remove it")
                )
        self._names = np.arange(schema.width) + form.base
        self._precision = precision
        self._labels: list[str] | None = None
        if target is not None and has_class:
            numbers = _choose_label_numbers(target.values)
            written = list(map(format_number, numbers))
            is_own = all(_NUMBER.fullmatch(v) and float(v) == number for v, number in zip(target.values, numbers))
            self._labels = list(target.values) if is_own else written
            other = [f"{quoted(label)} is {number}" for label, number in zip(target.values, written) if label != number]
            if other:
                more = ", …" if len(other) > 3 else ""
                about = f"the class {quoted(target.name)}: {', '.join(other[:3])}{more}"
                self.lost = (f"{form.title} holds numbers instead of the labels of {about}",)

    def format_batch(self, batch: Batch) -> Any:
        from filterkit.plugin import pair_rows  # imports pyarrow

        if batch.weights is not None:
            raise FilterkitError("LIBSVM cannot hold the weights of rows; write another format, such as ARFF")
        if not len(batch):
            return []
        if batch.y is None:
            begins = ["0"] * len(batch)
        elif not batch.class_known.all():
            row = batch.start + int(np.flatnonzero(~batch.class_known)[0])
            raise FilterkitError(
                f"LIBSVM cannot hold a missing class, as in row {row + 1}; remove such rows, or write another format"
            )
        elif self._labels is not None:
            begins = [self._labels[code] for code in batch.y.tolist()]
        else:
            begins = [format_number(value) for value in batch.y.tolist()]
        return pair_rows(begins, batch.in_form(True).csr, self._names, self._precision)


filterkit_formats = offer(Libsvm)
