"""Parquet and Arrow: tables by columns, in groups of rows."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any, ClassVar, NamedTuple

from filterkit import Attribute, Batch, ConversionWarning, FilterkitError, Schema, UsageError, option
from filterkit.plugin import (
    READ_AS_MISSING,
    TRUTH_VALUES,
    Opening,
    Parsed,
    RowError,
    Table,
    TypedFormat,
    Writer,
    class_asked,
    empty,
    find_repeated,
    make_attribute_of_type,
    matching_names,
    offer,
    quoted,
    relation_of,
    split_rows,
    suggestion,
)

if TYPE_CHECKING:
    import pyarrow as pa

_UTC = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00")
_PART = 1 << 22  # bytes of a part that is read
_LARGEST = 1 << 27  # bytes of a group that a worker reads as a whole
_GROUP = 1 << 26  # bytes of a group that is written
_DICTIONARY = 1 << 16  # bytes of the distinct values of a column of a group, beyond which they are written one by one
_SPARSE = b"filterkit.sparse"  # where the metadata have the name of the column with the pairs of sparse rows
_SPARSE_ROWS = 1 << 12  # sparse rows of a part or group
_UNNAMED = re.compile(r"__index_level_\d+__")
_CELLS = 1 << 22  # the most cells that are made dense at once when rows are sparse


class ParquetGroups:
    """The row groups of a Parquet file, which can be read several times; `schema` is the Arrow schema of the file."""

    def __init__(self, file: IO[bytes]) -> None:
        import pyarrow.parquet

        self._file = pyarrow.parquet.ParquetFile(file, page_checksum_verification=True)
        self.schema = self._file.schema_arrow

    def read_batches(self, columns: list[str], n_rows: int) -> Iterator[Any]:
        """Yield all rows in record batches of at most `n_rows` rows each, with only these `columns`."""
        # one thread: handing small columns to others takes longer than to read them
        for batch in self._file.iter_batches(batch_size=n_rows, columns=columns, use_threads=False):
            yield batch.select(columns)  # with a, pyarrow reads a.b, too

    def list_group_sizes(self) -> list[int]:
        """Return the size in bytes that each group has without compression."""
        about = self._file.metadata
        return [about.row_group(number).total_byte_size for number in range(about.num_row_groups)]

    def read_groups(self, first: int, stop: int, columns: list[str]) -> Any:
        """Return an Arrow table of some columns of the groups from `first` up to, but not including, `stop`."""
        return self._file.read_row_groups(range(first, stop), columns=columns, use_threads=False).select(columns)


class ArrowGroups:
    """The record batches of an Arrow file or stream, with the methods of `ParquetGroups`; each batch is a group."""

    def __init__(self, file: IO[bytes]) -> None:
        import pyarrow.ipc

        self._file, self._ipc = file, pyarrow.ipc
        begin = file.read(6)
        file.seek(0)
        self._reader = pyarrow.ipc.open_file(file) if begin == b"ARROW1" else None  # None for a stream
        self.schema = (pyarrow.ipc.open_stream(file) if self._reader is None else self._reader).schema
        self._count = 0 if self._reader is None else self._reader.num_record_batches

    def read_batches(self, columns: list[str], n_rows: int) -> Iterator[Any]:
        """Yield all rows in record batches of at most `n_rows` rows each, with only these `columns`."""
        if self._reader is None:
            self._file.seek(0)
            found = iter(self._ipc.open_stream(self._file))
        else:
            found = map(self._reader.get_batch, range(self._count))
        for batch in found:
            for first in range(0, batch.num_rows, n_rows):
                yield batch.select(columns).slice(first, n_rows)

    def list_group_sizes(self) -> list[int]:
        """Return the average size of the groups in bytes, once for each group; [] for a stream."""
        # To find the exact sizes, the file would have to be read.
        nbytes = os.fstat(self._file.fileno()).st_size
        return [nbytes // max(self._count, 1)] * self._count

    def read_groups(self, first: int, stop: int, columns: list[str]) -> Any:
        """Return an Arrow table of some columns of the groups from `first` up to, but not including, `stop`.

        Streams cannot be read this way.
        """
        import pyarrow as pa

        assert self._reader is not None
        return pa.Table.from_batches(map(self._reader.get_batch, range(first, stop))).select(columns)


class Columnar(TypedFormat):
    """Files with typed columns: the options that Parquet and Arrow share.

    `groups` is the class that reads the rows of a file. `open_table_writer` takes an output and an Arrow schema, and
    returns pyarrow's writer of the format.
    """

    groups: ClassVar[type[ParquetGroups | ArrowGroups]]
    open_table_writer: ClassVar[Callable[..., Any]]

    skip: tuple[str, ...] = option((), "Columns to leave out, by name or pattern.")
    weights: str | None = option(
        None, "The column with the weights of rows.  [default: the one that filterkit noted; if needed, one is written]"
    )
    round: tuple[str, ...] = option(
        (),
        "Columns whose values are rounded if attributes cannot hold them: numbers to float64, times to milliseconds.",
    )
    wide: int = option(
        1000,
        "Sparse rows of more attributes than that are written as one column with pairs of index and value.",
        minimum=0,
    )

    def open(self, opening: Opening) -> Table:
        file = opening.local()
        try:
            return ColumnarTable(self, opening, file)
        except BaseException:
            file.close()
            raise

    def advise_leaving_out(self, column: str) -> str:
        """Return advice, for a message, on how to read a file without `column`, which is a name."""
        return f"say --from {self.name}:skip={column} to leave it out"

    def writer(self, schema: Schema, precision: int | None) -> Writer:
        return ColumnarWriter(self, schema)


class Parquet(Columnar):
    """Parquet, read and written by groups of rows.

    Dictionaries and truth values are nominal, and times are dates. Texts are dates, nominal or strings, as their values
    suggest. What filterkit writes has its schema in the metadata: the name of the relation, the class, formats of
    dates, weights and scores of attributes.
    """

    name = "parquet"
    title = "Parquet"
    endings = (".parquet", ".pq")
    groups = ParquetGroups

    compression: str = option(
        "snappy", "How columns are compressed.", choices=("none", "snappy", "gzip", "zstd", "brotli", "lz4")
    )

    def open_table_writer(self, out: IO[bytes], schema: pa.Schema) -> Any:
        import pyarrow.parquet

        return pyarrow.parquet.ParquetWriter(
            out, schema, compression=self.compression, dictionary_pagesize_limit=_DICTIONARY
        )


class ArrowIpc(Columnar):
    """Arrow IPC files, also called Feather, and for reading, streams, too. Columns are read as those of Parquet."""

    name = "arrow"
    title = "Arrow"
    endings = (".arrow", ".feather", ".ipc")
    groups = ArrowGroups

    compression: str = option("none", "How columns are compressed.", choices=("none", "lz4", "zstd"))

    def open_table_writer(self, out: IO[bytes], schema: pa.Schema) -> Any:
        import pyarrow.ipc

        compression = None if self.compression == "none" else self.compression
        return pyarrow.ipc.new_file(out, schema, options=pyarrow.ipc.IpcWriteOptions(compression=compression))


class ColumnarTable(Table):
    """An opened Parquet or Arrow file; `close` closes the `file` that was passed.

    Raise FilterkitError if two columns have one name or no attribute can hold a column. Raise UsageError if an option
    names a column that does not exist, or if columns are to be left out of sparse rows.
    """

    _source: IO[bytes]

    def __init__(self, form: Columnar, opening: Opening, file: IO[bytes]) -> None:
        from filterkit.plugin import read_schema_metadata  # imports pyarrow, as the others below

        self._source = self._closes = file
        self._form, self._path = form, opening.path
        self._groups = groups = form.groups(file)
        self._unseen = opening.unseen
        names = groups.schema.names
        if (twice := find_repeated(names)) is not None:
            raise FilterkitError(f"two columns are named {quoted(twice)}; rename one")
        skipped = {name for pattern in form.skip for name in matching_names(form, "skip", pattern, names)}
        self._categorical, unnamed = _read_pandas_metadata(groups.schema)
        left_out = skipped | unnamed
        names = [name for name in names if name not in left_out]
        self._rounded = {name for pattern in form.round for name in matching_names(form, "round", pattern, names)}
        self._kinds = form.get_chosen_kinds(names)
        self._rounded |= {name for name, kind in self._kinds.items() if kind == "numeric"}
        self._columns = names
        schema, weights = read_schema_metadata(groups.schema.metadata)
        self._weights = form.weights or (weights if weights in names else None)
        if self._weights is not None and self._weights not in names:
            raise UsageError(f"{form.name}: no column {quoted(self._weights)}{suggestion(self._weights, names)}")
        names = [name for name in names if name != self._weights]
        self._pairs_column = (groups.schema.metadata or {}).get(_SPARSE, b"").decode("utf-8", "replace")
        is_sparse = schema is not None and self._pairs_column in groups.schema.names
        noted = () if schema is None else schema.attributes
        if is_sparse:
            if skipped:
                raise UsageError(
                    f"{form.name}: skip cannot leave out columns of a file with sparse rows; use the stage remove"
                )
            self._rows = _SPARSE_ROWS if opening.block_size is None else max(opening.block_size >> 10, 1)
        else:
            self._pairs_column = ""
            rows = max((opening.block_size or _PART) // (8 * max(len(names), 1)), 1)
            self._rows = rows if opening.block_size else min(max(rows, 256), 1 << 16)
            noted = tuple(a for a in noted if a.name not in left_out)
            if [a.name for a in noted] != names:  # another program has changed the columns
                schema, noted = None, ()
        if schema is not None and (is_sparse or (opening.wanted is None and not self._kinds)):
            super().__init__(schema.relation, noted)
            self.sparse = is_sparse
            target = schema.class_attribute
            if target is None or target.name not in left_out:
                self.class_ = None if target is None else target.name
                self.classless, self.positive = target is None, schema.positive
        else:
            known = {a.name: a for a in opening.wanted or noted}
            relation = relation_of(opening.path) if schema is None else schema.relation
            super().__init__(relation, self._determine_attributes(names, known, opening))

    def _determine_attributes(self, names: list[str], known: dict[str, Attribute], opening: Opening) -> list[Attribute]:
        """Return the attributes of the columns `names`; read rows for labels, and for the kinds of some columns.

        A column gets the kind that an option names, unless there is `opening.wanted`. Otherwise, it gets the attribute
        of its name in `known` if that can hold its type, and else one that suits the type. For texts and 64-bit
        integers, the values decide, too, but a class of texts that the user asks for is nominal. Warn of times in zones
        other than UTC. Raise FilterkitError if no attribute can hold a column.
        """
        import pyarrow as pa

        form = self._form
        kinds = {name: self._groups.schema.field(name).type for name in names}
        asked = class_asked(opening, names)
        found: dict[str, Attribute] = {}
        labelled, looked_at = [], []
        for name, kind in kinds.items():
            try:
                attribute = make_attribute_of_type(name, kind)
            except FilterkitError as error:
                raise FilterkitError(f"{error}; {form.advise_leaving_out(name)}") from None
            if getattr(kind, "tz", None) not in (None, *_UTC):
                warnings.warn(
                    ConversionWarning(f"the times of column {quoted(name)} are now in UTC, not {kind.tz}"), stacklevel=2
                )
            said = None if opening.wanted is not None else self._kinds.get(name)
            is_class = name == asked and (attribute.kind == "string" or opening.positive is not None)
            if name in known and said is None and can_read_attribute_as(attribute, known[name]):
                attribute = known[name]
            elif said in ("string", "numeric"):
                attribute = Attribute(name, said)
            elif said or is_class or pa.types.is_dictionary(kind) or name in self._categorical:
                attribute = Attribute(name, "nominal")
                labelled.append(name)
            elif attribute.kind == "string" or (
                name not in self._rounded and pa.types.is_integer(kind) and kind.bit_width == 64
            ):
                looked_at.append(name)
            found[name] = attribute
        sure = set(labelled)
        if looked_at:
            inferred, is_whole = self._infer_attributes(looked_at)
            found |= inferred
            if not is_whole:
                labelled += [name for name in looked_at if found[name].kind == "nominal"]
        unlabelled = [found[name]._replace(values=()) for name in labelled]
        for attribute in form.complete_labels(unlabelled, sure, partial(self._read_labels_by_part, labelled)):
            name = attribute.name
            if name in self._categorical and not pa.types.is_dictionary(kinds[name]) and form.order != "sorted":
                # their own order is lost; it is this, as a rule
                attribute = attribute._replace(values=tuple(sorted(attribute.values, key=_make_label_sort_key)))
            found[name] = attribute
        return list(found.values())

    def _infer_attributes(self, names: list[str]) -> tuple[dict[str, Attribute], bool]:
        """Infer attributes from the first rows of columns; return them by name, and whether these are all rows.

        Warn of integers that become texts, because float64 cannot hold all of them exactly. Raise FilterkitError if
        bytes are not UTF-8.
        """
        import pyarrow as pa

        from filterkit.plugin import InexactNumber, convert_to_exact_floats

        nbytes, batches, is_whole = 0, [], True
        for batch in self._groups.read_batches(names, self._rows):
            if nbytes >= self._form.look_bytes:
                is_whole = False
                break
            batches.append(batch)
            nbytes += batch.nbytes
        table = pa.Table.from_batches(batches, pa.schema([self._groups.schema.field(name) for name in names]))
        codes, columns = {}, []
        for name, column in zip(names, table.columns):
            is_number = pa.types.is_integer(column.type)
            if is_number:
                try:
                    convert_to_exact_floats(column.combine_chunks())
                except InexactNumber as error:
                    codes[name], is_number = error.number, False
            if not is_number:
                column = self._convert_to_texts(name, column).dictionary_encode()
            columns.append(column)
        self._form.warn_of_codes(self._path, codes)
        found = self._form.infer_attributes(pa.table(columns, names=names), names, {})
        return {attribute.name: attribute for attribute in found}, is_whole

    def _convert_to_texts(self, name: str, column: Any) -> Any:
        """Return the values of a column as an Arrow array of texts; raise FilterkitError if bytes are not UTF-8."""
        from filterkit.plugin import convert_to_texts

        try:
            return convert_to_texts(column)
        except ValueError:
            advice = self._form.advise_leaving_out(name)
            raise FilterkitError(f"column {quoted(name)} has bytes that are not UTF-8 text; {advice}") from None

    def _read_labels_by_part(self, names: list[str], _: list[int]) -> Iterator[list[Any]]:
        """Yield a list for each record batch of the file: Arrow arrays of the distinct texts of the columns `names`.

        Texts are in the order of the column's dictionary, with those that no row has, or else of their first rows.
        """
        for batch in self._groups.read_batches(names, self._rows):
            yield [
                self._convert_to_texts(name, getattr(column, "dictionary", column)).unique().drop_null()
                for name, column in zip(names, batch.columns)
            ]

    def parts(self) -> Iterator[Any]:
        yield from self._groups.read_batches(self._columns, self._rows)

    def stretches(self, jobs: int) -> Iterator[Any] | None:
        sizes = self._groups.list_group_sizes()
        if self._source.name != self._path or not sizes or max(sizes) > _LARGEST:
            return None  # a copy, which only this machine has, or groups that take too much memory
        firsts, nbytes = [0], 0  # of parts of some groups each, unless they are large
        for number, size in enumerate(sizes):
            if number > firsts[-1] and nbytes + size > _PART:
                firsts.append(number)
                nbytes = 0
            nbytes += size
        path = os.path.abspath(self._path)
        return (GroupPart(path, self._path, *bounds) for bounds in pairwise([*firsts, len(sizes)]))

    def parser(self, schema: Schema) -> Callable[[Any], Parsed]:
        return GroupParser(
            schema, self._columns, self._weights, self._pairs_column, self._form, self._rounded, self._unseen
        )


def _read_pandas_metadata(schema: pa.Schema) -> tuple[set[str], set[str]]:
    """Return two sets of column names: the categorical columns of pandas, and its unnamed indexes.

    They are empty if the metadata is not from pandas.
    """
    categorical: set[str] = set()
    unnamed: set[str] = set()
    with suppress(KeyError, TypeError, ValueError):  # it is not of pandas
        notes = json.loads((schema.metadata or {})[b"pandas"])
        unnamed = {name for name in notes["index_columns"] if isinstance(name, str) and _UNNAMED.fullmatch(name)}
        categorical = {column["name"] for column in notes["columns"] if column["pandas_type"] == "categorical"}
    return categorical, unnamed


def _make_label_sort_key(label: str) -> tuple[bool, float, str]:
    """Return a sort key for `label` that puts numbers first, by value, and other texts after them."""
    try:
        return False, float(label), label
    except ValueError:
        return True, 0.0, label


def can_read_attribute_as(found: Attribute, known: Attribute) -> bool:
    """Return whether a column whose Arrow type suggests the attribute `found` can be read as the attribute `known`."""
    others = {
        "numeric": ("numeric",),
        "nominal": ("nominal", "string", "numeric"),
        "string": ("string", "nominal"),
        "relational": ("string", "nominal"),
        "date": ("date", "string"),
    }
    return found.kind in others[known.kind] or (known.kind == "numeric" and found.values == TRUTH_VALUES)


class GroupPart(NamedTuple):
    """Groups of a file that a worker reads: from the index `first` up to, but not including, `stop`.

    `path` is absolute; messages call the file `name`.
    """

    path: str
    name: str
    first: int
    stop: int

    @property
    def location(self) -> str:
        """The file and its groups, for messages, such as ``a.parquet, groups 1 to 3``."""
        return f"{self.name}, groups {self.first + 1} to {self.stop}"


@dataclass(eq=False, repr=False)
class GroupParser:
    """Turns an Arrow record batch, or the groups of a `GroupPart`, which it reads, into a batch of filterkit.

    A call raises FilterkitError if the file is not found, if a weight is missing, or if an attribute cannot hold a
    value.

    Attributes
    ----------
    schema : the schema of the batches.
    columns : the names of the columns to read, including those of the weights and pairs.
    weights : the name of the column of weights; None if there is none.
    pairs_column : the name of the column with the pairs of sparse rows; "" if rows are dense.
    form : the format.
    rounded : the names of the columns whose values may be rounded.
    unseen : whether labels that `schema` does not declare become missing; else they are errors.
    """

    schema: Schema
    columns: list[str]
    weights: str | None
    pairs_column: str
    form: Columnar
    rounded: set[str]
    unseen: bool

    def __call__(self, part: Any) -> Parsed:
        import pyarrow as pa

        from filterkit.plugin import UnknownLabel, convert_to_numbers, from_table

        if isinstance(part, GroupPart):
            if not os.path.exists(part.path):
                raise FilterkitError(
                    f"{part.name}: a worker does not find it at {part.path}; put it where all workers see it, or pipe "
                    "it in"
                )
            with open(part.path, "rb") as file:
                table = self.form.groups(file).read_groups(part.first, part.stop, self.columns)
        else:
            table = pa.Table.from_batches([part])
        weights = None
        if self.weights is not None:
            weights = convert_to_numbers(table.column(self.weights))
            if (weights != weights).any():
                raise FilterkitError(f"a weight in column {quoted(self.weights)} is missing; fill it with 1")
            table = table.drop_columns([self.weights])
        if self.pairs_column:
            return Parsed(
                convert_table_of_pairs_to_batch(table, self.schema, self.pairs_column).replace(weights=weights)
            )
        try:
            return Parsed(from_table(table, self.schema, weights, self.rounded, self.unseen))
        except UnknownLabel as error:
            raise RowError(error.message + READ_AS_MISSING, attribute=error.attribute) from None
        except RowError as error:
            if error.attribute is None:
                raise
            name, how = error.attribute, "; "
            if error.message.endswith("round it"):
                how = f" by --from {self.form.name}:round={name}, or "
            raise RowError(f"{error.message}{how}{self.form.advise_leaving_out(name)}", attribute=name) from None


def convert_table_of_pairs_to_batch(table: pa.Table, schema: Schema, pairs_column: str) -> Batch:
    """Convert a table as `convert_batch_to_table_of_pairs` returns it to a sparse batch without weights.

    `schema` is that of the written batch, but may have another class. `pairs_column` is the name of the column with the
    pairs. Raise FilterkitError if a pair has an index beyond the attributes.
    """
    import numpy as np

    from filterkit.plugin import from_entries, from_table, view_numbers

    rows, lists = table.num_rows, table.column(pairs_column).combine_chunks()
    lists = lists.chunk(0) if hasattr(lists, "chunk") else lists
    row = np.repeat(np.arange(rows), np.diff(view_numbers(lists.offsets)))
    entries = lists.flatten()
    position, value = view_numbers(entries.field(0)).astype(np.int64), view_numbers(entries.field(1))
    if ((position < 0) | (position >= len(schema.attributes))).any():
        raise FilterkitError(f"column {quoted(pairs_column)} has an index beyond the attributes; the file is damaged")
    positions = {a.name: i for i, a in enumerate(schema.attributes)} if table.num_columns > 1 else {}
    apart = sorted(positions[name] for name in table.column_names if name != pairs_column)
    others = Schema(schema.relation, [schema.attributes[i] for i in apart])
    passthrough = None
    if apart:
        columns = from_table(table.select([a.name for a in others.attributes]), others)
        there, number = np.nonzero(columns.X)
        row, value = np.concatenate([row, there]), np.concatenate([value, columns.X[there, number]])
        position = np.concatenate([position, np.array(apart)[others.feature_indices[number]]])
        passthrough = columns.passthrough
    return from_entries(schema, row, position, value, rows, passthrough)


def convert_batch_to_table_or_keep_sparse(pairs_column: str, batch: Batch) -> Any:
    """Convert a batch to an Arrow table whose last column, "", has the weights of rows, or nulls if they have none.

    `pairs_column` is the name of the column of `convert_batch_to_table_of_pairs`. If it is "", the table has a column
    for each attribute; then a sparse batch is returned unchanged, because it may be too large to be made dense at once.
    """
    import pyarrow as pa

    from filterkit.plugin import to_table

    if batch.sparse and not pairs_column:
        return batch
    table = convert_batch_to_table_of_pairs(pairs_column, batch) if pairs_column else to_table(batch)
    weights = pa.nulls(len(batch), pa.float64()) if batch.weights is None else pa.array(batch.weights)
    return table.append_column("", weights)


def convert_batch_to_table_of_pairs(pairs_column: str, batch: Batch) -> pa.Table:
    """Convert a batch to an Arrow table whose last column, `pairs_column`, has a list of pairs in each row.

    The pairs are the non-zeros of X: the position of an attribute, int32, and its value, float64. Before this column
    there is one for the class, and one for each string, date and bag. The weights of rows are lost.
    """
    import numpy as np
    import pyarrow as pa

    from filterkit.plugin import to_table

    schema, csr, target = batch.schema, batch.in_form(True).csr, batch.schema.class_index
    positions = schema.feature_indices.astype(np.int32)[csr.indices]
    pairs = pa.StructArray.from_arrays([pa.array(positions), pa.array(csr.data)], names=["index", "value"])
    lists = pa.ListArray.from_arrays(pa.array(csr.indptr - csr.indptr[0], pa.int32()), pairs)
    apart = sorted([*schema.passthrough_indices, *([] if target is None else [target])])
    class_index = None if target is None else apart.index(target)
    others = Schema(schema.relation, [schema.attributes[i] for i in apart], class_index)
    if not apart:
        return pa.table({pairs_column: lists})
    columns = to_table(Batch(others, np.empty((len(batch), 0)), batch.y, None, batch.passthrough))
    return columns.append_column(pairs_column, lists)


class ColumnarWriter(Writer):
    """Writes Parquet or Arrow, in groups of a fixed number of rows, whatever the sizes of batches.

    Rows wait in memory until a group is full; the last group may have fewer. Raise FilterkitError if there are no
    attributes, or UsageError if one has the name of the column of weights.
    """

    def __init__(self, form: Columnar, schema: Schema) -> None:
        super().__init__(schema)
        if not schema.attributes:
            raise FilterkitError(f"{form.title} cannot hold rows without attributes; keep at least one")
        if form.weights is not None and form.weights in schema.names:
            raise UsageError(f"an attribute is called {quoted(form.weights)}; choose another name for the weights")
        self._form, self._named = form, form.weights
        self._group = min(max(_GROUP // (8 * len(schema.attributes)), 128), 1 << 17)  # rows
        self._pairs_column = ""  # the name of the column of pairs, if there is one
        if schema.sparse and schema.width > form.wide:
            self._group, self._pairs_column = _SPARSE_ROWS, "features"
            while self._pairs_column in schema.names or self._pairs_column == form.weights:
                self._pairs_column += "_"
        self._waiting: list[Any] = []  # tables of `convert_batch_to_table_or_keep_sparse`
        self._rows = 0
        self._sink: Any = None

    def converter(self) -> Callable[[Batch], Any]:
        return partial(convert_batch_to_table_or_keep_sparse, self._pairs_column)

    def write(self, out: IO[bytes], piece: Any) -> None:
        # Sparse rows are large once they are dense.
        for table in map(self.converter(), split_rows(piece, _CELLS)) if isinstance(piece, Batch) else [piece]:
            self._waiting.append(table)
            self._rows += table.num_rows
            while self._rows >= self._group:
                self._write_group(out, self._group)

    def _write_group(self, out: IO[bytes], rows: int) -> None:
        """Write the first `rows` waiting rows as a group.

        The first group begins the file, and decides whether it has a column of weights. Raise FilterkitError if a later
        group needs one that the file does not have.
        """
        import pyarrow as pa

        from filterkit.plugin import make_schema_metadata

        waiting = pa.concat_tables(self._waiting)
        group, self._waiting = waiting.slice(0, rows), [waiting.slice(rows)]
        self._rows -= rows
        weights, group = group.columns[-1], group.remove_column(group.num_columns - 1)
        has_weights = weights.null_count < rows
        if self._sink is None:  # whether the first rows have weights decides whether there is a column for them
            if self._named is None and has_weights:
                self._named = "weight"
                while self._named in self.schema.names or self._named == self._pairs_column:
                    self._named += "_"
            fields = list(group.schema)
            if self._named is not None:
                fields.append(pa.field(self._named, pa.float64()))
            metadata = make_schema_metadata(self.schema, self._named)
            if self._pairs_column:
                metadata |= {_SPARSE: self._pairs_column.encode()}
            self._schema = pa.schema(fields, metadata=metadata)
            self._sink = self._form.open_table_writer(out, self._schema)
        if has_weights and self._named is None:
            raise FilterkitError(
                f"rows have weights, but the first {self._group:,} have none; say --to {self._form.name}:weights=weight"
            )
        if self._named is not None:
            group = group.append_column(self._named, weights.fill_null(1.0))
        self._sink.write_table(group.combine_chunks().replace_schema_metadata(self._schema.metadata))

    def end(self, out: IO[bytes]) -> None:
        if not self._waiting:
            self._waiting.append(self.converter()(empty(self.schema).in_form(False)))
        if self._rows or self._sink is None:
            self._write_group(out, self._rows)
        self._sink.close()


filterkit_formats = offer(Parquet, ArrowIpc)
