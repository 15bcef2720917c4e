import gzip
from contextlib import closing
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filterkit.errors import FilterkitError
from filterkit.files.lines import LINE_END
from filterkit.files.source import Source
from filterkit.files.stretches import Stretch, cut_into_stretches

PIECES = st.sampled_from([b"1,2", b"x", b"\n", b"\r\n", b"\r", b"\\\n", b"\\", b"\\\\\n", b"", b"%", b"'a\\\nb'"])

MOST_JOBS = 1 << 30  # for which a stretch is as short as it may be


def read(path, first, size):
    """The texts of all stretches of a file."""
    with closing(Source(str(path))) as source:
        return [each.read()[0].text for each in cut_into_stretches(source, first, size, MOST_JOBS)]


@given(st.lists(PIECES, max_size=40), st.integers(1, 30), st.integers(0, 8))
def test_stretches_of_any_size_hold_every_byte_once_and_are_cut_between_lines(tmp_path_factory, pieces, size, first):
    path = tmp_path_factory.getbasetemp() / "stretches.txt"
    text = b"".join(pieces)
    path.write_bytes(text)
    found = read(path, min(first, len(text)), size)
    assert b"".join(found) == text[first:]
    for each, following in pairwise(found):
        ends = [end.end() for end in LINE_END.finditer(each + following)]
        assert not each or not following or len(each) in ends


def test_stretches_are_many_for_small_inputs_and_long_for_large_ones():
    mega, giga = 1 << 20, 1 << 30

    def size(total, jobs):
        source = SimpleNamespace(path="a", name="a", length=lambda: total)
        return next(cut_into_stretches(source, 0, mega, jobs)).end

    assert size(10 * mega, 2) == mega  # a block at least
    assert size(48 * mega, 2) == 3 * mega  # eight for each job
    assert size(giga, 2) == size(64 * giga, 2) == 8 * mega
    assert size(1000 * giga, 1000) == 1000 * giga // 10_000  # ten thousand at most


def test_a_line_may_be_longer_than_many_stretches(tmp_path):
    text = b"1\n" + b"9" * 300_000 + b"\n2\n"
    (tmp_path / "a").write_bytes(text)
    assert [len(each) for each in read(tmp_path / "a", 0, 50_000)] == [300_003, 0, 0, 0, 0, 0, 2]


@pytest.mark.parametrize(("text", "length"), [("1\n2\n3\n4\n", 8), ("1\n234", 6)])
def test_a_file_that_changes_meanwhile_is_an_error(text, length, tmp_path, monkeypatch):
    (tmp_path / "a.arff").write_text(text)
    monkeypatch.setattr(Source, "length", lambda source: length)  # as when it is opened
    with pytest.raises(FilterkitError, match="the file changed while it was read"):
        Stretch(str(tmp_path / "a.arff"), "a.arff", 6, 0, 0, 3).read()


def test_a_file_that_a_worker_does_not_see_is_named_with_what_to_do(tmp_path):
    away = Stretch(str(tmp_path / "away.arff"), "away.arff", 6, 0, 0, 6)
    with pytest.raises(FilterkitError, match=r"away\.arff: a worker does not find it at .*; put it where all"):
        away.read()


@pytest.mark.parametrize(
    ("name", "encoding", "length"), [("a", "utf-8", 2), ("a", "latin-1", None), ("a.gz", "utf-8", None)]
)
def test_only_plain_files_have_stretches(name, encoding, length, tmp_path):
    (tmp_path / name).write_bytes(gzip.compress(b"1\n") if name == "a.gz" else b"1\n")
    source = Source(str(tmp_path / name), encoding)
    assert source.length() == length
    source.close()
