"""The beginning of an ARFF input: reading its header, and finding its first row."""

from __future__ import annotations

import re

from filterkit.arff.header import Header, HeaderPieces, parse_header, skip_separators
from filterkit.errors import ArffError, RowError
from filterkit.files.contents import explain_not_text
from filterkit.files.endings import find_other_format
from filterkit.files.lines import Lines, count_lines
from filterkit.files.source import Source
from filterkit.formats.base import Opening
from filterkit.formats.row_counts import find_stated_rows
from filterkit.formats.text import BLOCK_SIZE

_EMPTY = re.compile(rb"(?:[\x00-\x20]++|%[^\r\n]*+)*+")  # lines before the rows that need not be kept
_LEAST_READ = 4096  # bytes that are read at once before the first row


def read_header(source: Source, opening: Opening) -> tuple[Header, int, bytes]:
    """Return the header, the number of the line where rows begin, and the text after the header that has been read.
    Close the source and raise RowError if the input does not begin with an ARFF header, or has a line that is too long.
    """
    size = max(opening.block_size or BLOCK_SIZE, _LEAST_READ)
    text = source.read(size)
    lines = Lines(source, text, size)
    pieces = HeaderPieces(lines, opening.lenient)
    try:
        _refuse_other_content(text)
        try:
            header, line, begun = parse_header(pieces)
        except ArffError as error:
            from filterkit.arff.lenient_header import explain_lenient_reading, read_header_leniently

            if not opening.lenient:
                error.message += explain_lenient_reading(pieces, error)
                raise
            header, line, begun = read_header_leniently(pieces, error)
    except RowError as error:
        if error.line is not None:
            error.message += _explain_other_format(source.name, text)
        error.source = source.name
        source.close()
        raise
    return header, line, begun + lines.rest


def _explain_other_format(name: str, text: bytes) -> str:
    """Return what to add to an error message if the input may be of another format; "" if it looks like ARFF."""
    other = find_other_format(name)
    if other is not None:
        read_as = f"; its ending is that of {other}, but it is read as ARFF: convert it first"
        how = ", as jq -c '.[]' does to JSON lines," if other == "JSON" else ","
        return f"{read_as}{how} or load a plugin that reads {other}"
    begin = text[skip_separators(text) :][:2]  # perhaps with a quote
    hint = '; if this is not ARFF, say its format with --from ("filterkit formats" lists them)'
    return hint if begin and b"@" not in begin else ""


def _refuse_other_content(text: bytes) -> None:
    """Raise an `ArffError` if the beginning of a file shows that it is no ARFF, before ``@data`` is looked for."""
    if what := explain_not_text(text):
        raise ArffError(f"this is {what}")
    before = skip_separators(text)
    line = text[before : before + 200]
    if len(line) > 10 and not line.lower().startswith((b"@relation", b"'@relation", b'"@relation')):
        start = count_lines(text[:before]) + 1
        parse_header(iter(line.splitlines()[:1]), start)
        raise ArffError("expected @relation", line=start)


def read_to_first_row(source: Source, rest: bytes, opening: Opening) -> tuple[bytes, int, bytes, int | None]:
    """Read an ARFF file, after its header, up to the first row.

    Returns
    -------
    text : what has been read, without pieces that have only empty lines and comments. Lines of commas stay: they are
        rows of empty fields, which are errors.
    dropped : the number of lines in the pieces without rows, which are not in `text`.
    row : the first characters of the row; empty if there is no row.
    stated : what `find_stated_rows` returns for these pieces; None if there are none.
    """
    dropped, kept, row, stated = 0, bytearray(), b"", None
    lines = Lines(source, rest, max(opening.block_size or BLOCK_SIZE, _LEAST_READ))
    for text in lines:
        begin = skip_separators(text)
        if not kept and _EMPTY.fullmatch(text):
            dropped += count_lines(text)
            of_this = find_stated_rows(text)
            stated = stated if of_this is None else of_this
            continue
        kept += text
        row = text[begin : begin + 10]
        if row:
            break
    return bytes(kept) + lines.rest, dropped, row, stated
