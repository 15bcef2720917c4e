"""Live sources return what has arrived at once, and gather only a flood. The clock and the pipe are mostly fakes."""

import os
from contextlib import closing
from types import SimpleNamespace

import pytest

from filterkit.files import source as module
from filterkit.files.source import Source

ROW = b"1,2,yes\n"
MUCH = ROW * 1000  # of a flood


class Pipe:
    """Standard input that delivers texts, each when it is asked for or when a wait for it ends.

    Attributes
    ----------
    timeouts : for how long the reader has waited for more text, each time.
    now : the time; a wait that is in vain takes as long as it may, and all others a millisecond at most.
    """

    def __init__(self, *texts):
        self.buffer = self
        self._texts = list(texts)
        self.timeouts = []
        self.now = 0.0

    def fileno(self):
        raise OSError("it has none")

    def read1(self, size):
        text = self._texts.pop(0) if self._texts else b""
        if text is None:  # an empty pipe, for which a read waits
            return self.read1(size)
        if len(text) > size:
            self._texts.insert(0, text[size:])
        return text[:size]

    def select(self, readable, writable, special, timeout):
        self.timeouts.append(timeout)
        is_ready = not self._texts or self._texts[0] is not None  # the end can be read, too
        self.now += min(timeout, 0.001) if is_ready else timeout
        return (readable if is_ready else []), [], []

    def monotonic(self):
        return self.now


@pytest.fixture
def open_pipe(monkeypatch):
    def open_source(*texts):
        pipe = Pipe(*texts)
        monkeypatch.setattr(module, "sys", SimpleNamespace(stdin=pipe))
        monkeypatch.setattr(module, "select", pipe)
        monkeypatch.setattr(module, "time", pipe)
        return Source("-"), pipe

    return open_source


def test_a_row_is_returned_without_any_wait_when_the_pipe_is_empty(open_pipe):
    source, pipe = open_pipe(ROW, None, ROW + ROW, None, ROW, None)
    for text in (ROW, ROW + ROW, ROW):
        assert source.read(1 << 20) == text
        assert source.must_wait()
    assert pipe.timeouts == [0] * len(pipe.timeouts)
    assert source.read(1 << 20) == b""


def test_what_has_arrived_is_read_up_to_the_size_of_a_block(open_pipe):
    source, _ = open_pipe(ROW, ROW, ROW[:3], None, ROW[3:])
    assert source.read(1 << 20) == ROW + ROW + ROW[:3]
    source, _ = open_pipe(*[MUCH] * 10)
    assert source.read(4 * len(MUCH)) == 4 * MUCH
    assert not source.must_wait()
    assert source.read(1 << 20) == 6 * MUCH
    source, _ = open_pipe(b"\xef\xbb\xbf", None, ROW)
    assert source.read(1 << 20) == ROW


def test_more_of_a_flood_is_waited_for_a_millisecond_at_most(open_pipe):
    source, pipe = open_pipe(MUCH, None, ROW, None)
    assert source.read(1 << 20) == MUCH
    assert all(0 < timeout <= 0.001 for timeout in pipe.timeouts)
    pipe.timeouts.clear()
    assert source.read(1 << 20) == ROW
    assert pipe.timeouts == [0]


def test_the_more_has_arrived_the_longer_is_waited_for_more(open_pipe):
    """Work on it takes as long, and after a flood no row waits."""
    source, pipe = open_pipe(*[MUCH] * 20, None, ROW, None)
    assert source.read(1 << 20) == 20 * MUCH
    assert pipe.timeouts == sorted(pipe.timeouts)
    assert 0.005 < pipe.timeouts[-1] <= 0.02
    pipe.timeouts.clear()
    assert source.read(1 << 20) == ROW
    assert pipe.timeouts == [0]


def test_a_flood_is_not_gathered_for_long(open_pipe):
    """Each text comes before the wait for it is over."""
    source, pipe = open_pipe(MUCH, *[MUCH[:400]] * 1000)
    assert len(MUCH) < len(source.read(1 << 20)) < 10 * len(MUCH)
    assert 0.02 <= pipe.now < 0.022


@pytest.mark.parametrize(("n_texts", "longest"), [(1, 0.001), (20, 0.02)])
def test_a_pause_in_a_flood_is_waited_for_while_threads_work_on_it(n_texts, longest, open_pipe):
    source, pipe = open_pipe(*[MUCH] * n_texts, None, None)
    source.read(1 << 20)
    pipe.timeouts.clear()
    assert source.must_wait()
    assert 0 < pipe.timeouts[0] <= longest


@pytest.mark.posix
def test_peek_leaves_the_text_of_a_pipe_to_be_read():
    reading, writing = os.pipe()
    os.write(writing, b"\x1f\x8bab")
    os.close(writing)
    with closing(Source(f"/dev/fd/{reading}")) as source:
        os.close(reading)
        assert source.peek() == b"\x1f\x8bab" == source.read(100)
        assert source.peek() == source.read(100) == b""
