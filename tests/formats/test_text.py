"""Text formats: the first line of an input."""

import pytest

from filterkit.errors import RowError
from filterkit.plugin import Source, first_line


def source_of(tmp_path, text):
    (tmp_path / "in.txt").write_bytes(text)
    return Source(str(tmp_path / "in.txt"))


@pytest.mark.parametrize(
    ("text", "line", "rest"),
    [
        (b"a b\n1 2\n3 4\n", "a b", b"1 2\n3 4\n"),
        (b"a b\r\n1 2\r\n", "a b", b"1 2\r\n"),
        (b"a b", "a b", b""),
        (b"\n1\n", "", b"1\n"),
        (b"", "", b""),
        ("\ufeffä\n1\n".encode(), "ä", b"1\n"),
    ],
)
def test_the_first_line_and_what_is_behind_it(text, line, rest, tmp_path):
    assert first_line(source_of(tmp_path, text)) == (line, rest)


def test_a_first_line_may_be_longer_than_what_is_read_at_once(tmp_path):
    head = " ".join(f"attribute_number_{number}" for number in range(20_000))
    source = source_of(tmp_path, f"{head}\n1 2\n".encode() + b"3 4\n" * 100_000)
    line, rest = first_line(source)
    assert line == head and rest.startswith(b"1 2\n")
    while more := source.read(1 << 16):
        rest += more
    assert len(rest) == 4 * 100_001


def test_a_first_line_that_is_no_text_is_named(tmp_path):
    with pytest.raises(RowError, match=r"in.txt:1: this is not UTF-8 text; say --encoding"):
        first_line(source_of(tmp_path, b"\xff\n"))
