"""CSV and TSV as formats: their options, and how a file is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filterkit import Attribute, Schema, UsageError, option
from filterkit.plugin import (
    Opening,
    RowError,
    Source,
    TextTable,
    TypedFormat,
    Writer,
    find_repeated,
    quoted,
    relation_of,
    suggestion,
)

from .look import FirstRows, read_first_rows
from .records import RecordSplitter

if TYPE_CHECKING:
    from .parsing import DelimitedParser

CHARACTERS = {"comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|", "space": " ", "colon": ":", "\\t": "\t"}
_USUAL = ("semicolon", "tab", "pipe", "comma")  # what is looked for in the name of a single column


class Delimited(TypedFormat):
    """Delimited text: the options that CSV and TSV share.

    Attributes
    ----------
    separator : the character that the option `delimiter` names.
    quoting : the character that the option `quote` names; "" for no quoting.
    point : the character before decimals.
    """

    textual = True
    rounds = True
    losses = ("kinds", "labels", "weights")

    delimiter: str = option(
        ",", "What separates values: a character, or one of comma, tab, semicolon, pipe, space and colon."
    )
    decimal: str = option("point", "What separates the decimals of numbers.", choices=("point", "comma"))
    header: bool = option(True, "Whether the first line has the names of the columns.")
    quote: str = option('"', "The character around values that contain delimiters or line ends; none for no quoting.")
    missing: tuple[str, ...] = option(
        ("", "?", "NA", "NaN"), "Texts without quotes that stand for a missing value; the first is written."
    )
    strip: bool = option(
        False,
        "Whether spaces around values are dropped, as in a, b, ?; several between values are one delimiter=space. "
        "Those in quotes stay.",
    )
    weights: str | None = option(None, "The column with the weights of rows, which is read and written.")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.separator = _parse_character_option(self, "delimiter", self.delimiter)
        self.quoting = "" if self.quote in ("", "none") else _parse_character_option(self, "quote", self.quote)
        self.point = "." if self.decimal == "point" else ","
        for name, character in (("quote", self.quoting), ("decimal", self.point)):
            if self.separator == character:
                raise UsageError(f"{self.name}: delimiter and {name} are the same character; choose another delimiter")

    def open(self, opening: Opening) -> TextTable:
        source = opening.text()
        try:
            return DelimitedTable(self, opening, source)
        except BaseException:
            source.close()
            raise

    def writer(self, schema: Schema, precision: int | None) -> Writer:
        from .writing import DelimitedWriter

        return DelimitedWriter(self, schema, precision)


class Csv(Delimited):
    """CSV: values separated by commas, or by another delimiter, with the names of the columns in the first line.

    A column is numeric if all values of its first rows are numbers; codes such as 00501 and +4915, and numbers that
    float64 cannot hold, are texts. It is a date if they are dates such as 2024-05-31 or 2024-05-31T18:30:00, and
    nominal with the labels false and true if they are true or false. Other columns are nominal if they have few
    distinct texts, and strings if not. A value further down that does not fit is an error, or a rejected row.
    """

    name = "csv"
    title = "CSV"
    endings = (".csv",)


class Tsv(Delimited):
    """TSV: values separated by tabs; otherwise as CSV."""

    name = "tsv"
    title = "TSV"
    endings = (".tsv",)

    delimiter: str = option("\t", "What separates values: a character, or its name as in CSV.")


def _parse_character_option(form: Delimited, name: str, text: str) -> str:
    """Return the character that `text`, the value of the option `name`, is or names, as ``tab`` does.

    Raise UsageError unless it is a single ASCII character other than a letter, a digit or a line end.
    """
    found = CHARACTERS.get(text.lower(), text)
    if len(found) != 1 or not found.isascii() or found in "\r\n0" or found.isalnum():
        what = "a single ASCII character that is no letter, digit or line end, such as ;"
        raise UsageError(f"{form.name}: {name} must be {what}, not {quoted(text)}")
    return found


class DelimitedTable(TextTable):
    """An opened file of delimited text, as the format `form` describes it.

    Attributes
    ----------
    form, opening : as passed.
    newline : the byte that ends lines: a line feed, or a carriage return.
    records : splits the text into records.
    names : the names of all columns, including the column of weights.
    begin : the number of bytes before the rows in the decompressed UTF-8 text; 0 without a header.
    first_rows : the rows that have been read from `source` so far; they decide the types of columns, unless
        `opening.wanted` does.
    weights : the position of the column of weights; None if there is none.

    Raises
    ------
    RowError : the file is empty, or the header or the first rows cannot be read.
    UsageError : an option names a column that the file does not have, and there is no `opening.wanted`.
    """

    def __init__(self, form: Delimited, opening: Opening, source: Source) -> None:
        self.form, self.opening = form, opening
        text = source.read(1 << 16)
        self.newline = b"\r" if b"\r" in text[:-1] and b"\n" not in text and b"\r\n" not in text else b"\n"
        self.records = RecordSplitter(form.separator, form.quoting, self.newline, form.strip)
        ends = self.records.find_record_ends(text)
        while not len(ends) and len(text) < 1 << 28 and (more := source.read(max(1 << 16, min(len(text), 1 << 24)))):
            text += more
            ends = self.records.find_record_ends(text)
        end = next((int(e) for e in ends if text[: int(e)].strip()), len(text))
        first = text[:end]
        if not first.strip():
            raise RowError("the file is empty; a table needs at least the names of its columns", source=source.name)
        self.names = self._read_column_names(first, source.name)
        self.begin = end if form.header else 0
        rest = text[self.begin :]
        self.weights = None
        if form.weights in self.names:
            self.weights = self.names.index(form.weights)
        elif form.weights is not None and opening.wanted is None:
            raise UsageError(f"{form.name}: no column {quoted(form.weights)}{suggestion(form.weights, self.names)}")
        if opening.wanted is not None:
            self.first_rows = FirstRows(rest, rest, False)
            known = {a.name: a for a in opening.wanted if a.kind != "relational"}
            attributes = [known.get(name, Attribute(name, "string")) for name in self.names]
        else:
            from .parsing import infer_attributes_from_first_rows

            self.first_rows = read_first_rows(form, source, rest, self.records.find_record_ends)
            attributes = infer_attributes_from_first_rows(self)
        if self.weights is not None:
            del attributes[self.weights]
        line = 1 + first.count(self.newline) if form.header else 1
        super().__init__(
            relation_of(opening.path),
            attributes,
            source,
            self.first_rows.text,
            line,
            opening.block_size,
            self.records.find_last_record_end,
        )

    def _read_column_names(self, record: bytes, source: str) -> list[str]:
        """Return the names of the columns from the first record; ``column1`` and so on if there is no header.

        A column whose name is empty is called by its number, too. `source` is the name of the file, for errors. Raise
        RowError if the record has a faulty quote. Raise it for a header that is not UTF-8, that has two equal names, or
        in which the delimiter is evidently another one.
        """
        form = self.form.name
        try:
            cells = self.records.split_cells(self.records.strip_cells(record), form)
        except RowError as error:
            error.source = source
            raise
        if not self.form.header:
            return [f"column{number}" for number in range(1, len(cells) + 1)]
        try:
            names = [(text if is_quoted else text.strip()).decode() for text, is_quoted in cells]
        except UnicodeDecodeError:
            raise RowError(
                "this is not UTF-8 text; name its encoding, such as --encoding latin-1", source=source, line=1
            ) from None
        what = ""
        other = next((word for word in _USUAL if CHARACTERS[word] in names[0]), None)
        if len(names) == 1 and not cells[0][1] and other is not None:  # with the wrong one, a row would be one text
            what = f"there is but one column, {quoted(names[0])}; say --from {form}:delimiter={other}, or put its name "
            what += "in quotes"
        if names[0].startswith("sep=") and not any(names[1:]):
            advice = f"remove it, and name the delimiter, as in --from {form}:delimiter=semicolon"
            what = f"the first line tells Excel the delimiter; {advice}"
        names = [name or f"column{number}" for number, name in enumerate(names, 1)]
        if (twice := find_repeated(names)) is not None:
            what = (
                f"two columns are named {quoted(twice)}; rename one, or say {form}:header=no for a file without names"
            )
        if what:
            raise RowError(what, source=source, line=1)
        return names

    def parser(self, schema: Schema) -> DelimitedParser:
        from .parsing import DelimitedParser

        is_typed_by_first_rows = not self.first_rows.is_whole
        return DelimitedParser(schema, self.opening, self.form, self.records, self.weights, is_typed_by_first_rows)
