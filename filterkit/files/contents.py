"""Inputs that are not a table, or not text in UTF-8, as their first bytes show."""

from __future__ import annotations

# First bytes, and what an input is that begins with them, and what to do.
_NO_TABLES = (
    (b"<!doctype html", "a page of HTML, perhaps of an error: look at it, and download the data again"),
    (b"<html", "a page of HTML, perhaps of an error: look at it, and download the data again"),
    (b"version https://git-lfs.github.com/", "a pointer of Git LFS to the data: run git lfs pull"),
)
_NO_TEXTS = (
    (b"\x1f\x8b", "compressed by gzip; give the file a name that ends in .gz, or decompress it with gzip -dc"),
    (b"BZh", "compressed by bzip2; give the file a name that ends in .bz2, or decompress it with bzip2 -dc"),
    (b"\xfd7zXZ\x00", "compressed by xz; give the file a name that ends in .xz, or decompress it with xz -dc"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd; give the file a name that ends in .zst, or decompress it with zstd -dc"),
    (b"PK\x03\x04", "a zip archive: unpack it, save a table of Excel as CSV, or give a saved chain to --load"),
    (b"\xd0\xcf\x11\xe0", "an Excel file: save the table as CSV"),
    (b"PAR1", "Parquet: say --from parquet"),
    (b"ARROW1", "Arrow: say --from arrow"),
    (b"\xff\xfe", "text in UTF-16: say --encoding utf-16"),
    (b"\xfe\xff", "text in UTF-16: say --encoding utf-16"),
)


def describe_non_table(first_bytes: bytes) -> str:
    """Return, for messages, that an input is HTML or a Git LFS pointer, and what to do; "" if it does not begin so.

    `first_bytes` are at least 200 bytes, or the whole input. The text goes on after "this is", such as "a pointer of
    Git LFS to the data: run git lfs pull".
    """
    small = first_bytes[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return next((what for mark, what in _NO_TABLES if small.startswith(mark)), "")


def describe_non_text(first_bytes: bytes) -> str:
    """Return, for messages, in which other form than UTF-8 text an input is, and what to do; "" if none is recognised.

    `first_bytes` are the beginning of the input. It is recognised as HTML, a Git LFS pointer, compressed data, a zip
    archive, Excel, Parquet, Arrow or UTF-16. XML in UTF-16 also gives "", because its readers find the encoding
    themselves. The text goes on after "this is", such as "text in UTF-16: say --encoding utf-16".
    """
    if first_bytes[2:4] in (b"<\0", b"\0<"):  # XML in UTF-16 says so itself
        return ""
    return describe_non_table(first_bytes) or next(
        (what for mark, what in _NO_TEXTS if first_bytes.startswith(mark)), ""
    )
