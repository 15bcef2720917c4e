"""Text formats: the first line of an input, and records that cannot be read."""

import numpy as np
import pytest

from filterkit import Attribute, Batch, Schema
from filterkit.errors import RowError
from filterkit.files.lines import Block
from filterkit.plugin import Source, TextParser, first_line


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


def test_a_first_line_that_is_no_text_is_named(tmp_path):
    with pytest.raises(RowError, match=r"in.txt:1: this is not UTF-8 text; name its encoding"):
        first_line(source_of(tmp_path, b"\xff\n"))


class Numbers(TextParser):
    """Reads a number a line; `wrong` says what else happens."""

    def __init__(self, schema, rejects, wrong):
        super().__init__(schema, rejects)
        self.wrong = wrong

    def parse(self, text):
        if self.wrong == "attribute":
            self.digits  # noqa: B018
        if self.wrong == "name":
            undefined  # noqa: B018, F821
        return Batch(self.schema, np.array([[float(line)] for line in text.split()]))


@pytest.mark.parametrize(("wrong", "kind"), [("attribute", AttributeError), ("name", NameError)])
def test_a_mistake_in_a_parser_is_not_a_row_at_fault(wrong, kind):
    schema = Schema("r", [Attribute("a")])
    with pytest.raises(kind):
        Numbers(schema, True, wrong)(Block(b"1\n2\n", 1, "in.txt"))
    parsed = Numbers(schema, True, None)(Block(b"1\nx\n3\n", 1, "in.txt"))
    assert parsed.batch.X.tolist() == [[1], [3]] and [each.line for each in parsed.rejected] == [2]
