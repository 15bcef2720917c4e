"""The beginning of an ARFF input: reading its header, and finding its first row."""

from __future__ import annotations

import re

from filterkit.arff.header import Header, HeaderPieces, parse_header, skip_separators_and_comments
from filterkit.errors import ArffError, RowError
from filterkit.files.contents import describe_non_text
from filterkit.files.endings import find_other_format
from filterkit.files.lines import WholeLinePieces, count_lines
from filterkit.files.source import Source
from filterkit.formats.base import Opening
from filterkit.formats.text import BLOCK_SIZE

_NO_ROWS = re.compile(rb"(?:[\x00-\x20]++|%[^\r\n]*+)*+")  # commas alone are a row, of missing values
_LEAST_READ = 4096  # bytes that are read at once before the first row


def read_header(source: Source, opening: Opening, already_read: bytes = b"") -> tuple[Header, int, bytes]:
    """Read the header of an ARFF file; `already_read` is what has been read from the source already, b"" for nothing.

    Return the header, the number of the ``@data`` line, and as much of the text after ``@data`` as has been read. If
    `opening.lenient`, correct declarations that Weka refuses. Close the source and raise RowError if there is no valid
    header, or if a line is longer than 256 MB.
    """
    size = max(opening.block_size or BLOCK_SIZE, _LEAST_READ)
    text = already_read or source.read(size)
    lines = WholeLinePieces(source, text, size)
    pieces = HeaderPieces(lines, opening.lenient)
    try:
        _refuse_non_arff_text(text)
        try:
            header, line, begun = parse_header(pieces)
        except ArffError as error:
            from filterkit.arff.lenient_header import read_header_leniently, suggest_lenient_reading

            if not opening.lenient:
                error.message += suggest_lenient_reading(pieces, error)
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
    """Return advice to append to an error message if the file may have another format; "" if nothing suggests one.

    `name` is the name of the file; its ending may be that of another format. `text` is the beginning of the file.
    """
    other = find_other_format(name)
    if other is not None:
        read_as = f"; its ending is that of {other}, but it is read as ARFF: convert it first"
        how = ", as jq -c '.[]' does to JSON lines," if other == "JSON" else ","
        return f"{read_as}{how} or load a plugin that reads {other}"
    begin = text[skip_separators_and_comments(text) :][:2]  # perhaps with a quote
    hint = '; if this is not ARFF, say its format with --from ("filterkit formats" lists them)'
    return hint if begin and b"@" not in begin else ""


def _refuse_non_arff_text(text: bytes) -> None:
    """Raise ArffError if `text`, the beginning of a file, is no text, or does not begin with ``@relation``.

    Comments and blanks may come before it. Ten bytes or fewer after them are accepted, because they may be cut off.
    """
    if what := describe_non_text(text):
        raise ArffError(f"this is {what}")
    before = skip_separators_and_comments(text)
    line = text[before : before + 200]
    if len(line) > 10 and not line.lower().startswith((b"@relation", b"'@relation", b'"@relation')):
        start = count_lines(text[:before]) + 1
        parse_header(iter(line.splitlines()[:1]), start)
        raise ArffError("expected @relation at the beginning", line=start)


def read_to_first_row(
    source: Source, already_read: bytes, opening: Opening, keep_comments: bool = False
) -> tuple[bytes, int, bytes]:
    """Read a file until its first row, or its header, begins; comments, blank lines and commas may come before it.

    Parameters
    ----------
    source : the rest of the file.
    already_read : the text that has been read from `source` before.
    opening : tells the size of the pieces to read.
    keep_comments : whether to return all text that has been read. Otherwise, pieces at its beginning that have only
        comments and blank lines are left out, except the last piece, whose last comment may state the number of rows.

    Returns
    -------
    text : `already_read` and what has been read after it, without what is left out.
    n_lines : how many lines have been left out.
    row : ten bytes from the beginning of the row or header on, or fewer; b"" if the file has neither.
    """
    kept, n_lines, row = bytearray(), 0, b""
    lines = WholeLinePieces(source, already_read, max(opening.block_size or BLOCK_SIZE, _LEAST_READ))
    while not row and (piece := next(lines, b"")):
        if not keep_comments and _NO_ROWS.fullmatch(kept):
            n_lines += count_lines(bytes(kept))
            kept.clear()
        kept += piece
        row = piece[skip_separators_and_comments(piece) :][:10]
    return bytes(kept) + lines.rest, n_lines, row
