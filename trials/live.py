"""Sends a live stream through a loaded chain, and compares what comes out with the chain applied in one go.

    python -m trials live --seconds 1800

One process writes rows into a pipe: at a steady rate, in halves, in bursts, slowly, and after pauses. The command reads
the pipe, and this process reads what the command writes, line by line. No row may be lost, changed or held back, and
the memory, the open files and the threads of the command may not grow.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import select
import subprocess
import sys
import tempfile
import threading
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from trials import ROOT

CHAIN = ["impute", "words", "--keep", "20", "shape", "bns", "l2"]
PATIENCE = 1.0  # seconds that a row may take outside of bursts
_DISTINCT = 997  # rows, which begin again after the last
PHASES = ("steady", "halves", "burst", "pause", "slow")
LASTS = {"steady": 14, "halves": 4, "pause": 0, "slow": 8}  # seconds
CYCLE = 30.0  # seconds that the phases take together, if there is time for them
_MEGABYTES = 25  # by which memory may grow
SENT = np.dtype([("time", "f8"), ("rows", "i8"), ("phase", "i8")])  # a write of the process that makes the rows
_START = 60.0  # seconds that the command may take to start
_END = 120.0  # seconds that it may take to end


class Measured(NamedTuple):
    """What a process holds at a moment: megabytes of memory, open files, threads."""

    megabytes: float
    files: int
    threads: int


class Table(NamedTuple):
    """A file, cut into its head and its rows, which end in line ends."""

    head: bytes
    rows: list[bytes]

    @classmethod
    def read(cls, path: Path) -> Table:
        """Cut the file at `path`; a closing comment is left out."""
        lines = path.read_bytes().splitlines(True)
        begin = lines.index(b"@data\n") + 1 if path.suffix == ".arff" else path.suffix == ".csv"
        rows = lines[begin:]
        return cls(b"".join(lines[:begin]), [row for row in rows if not row.startswith(b"% ")])

    @property
    def beginning(self) -> bytes:
        """The head as a stream begins with it: not with filterkit's own comment, which promises a number of rows."""
        return b"% a stream\n" * (self.head[:1] == b"%") + self.head

    def stream(self, count: int) -> Iterator[bytes]:
        """The text of the head and so many rows, which begin again after the last."""
        yield self.beginning
        whole, rest = divmod(count, len(self.rows))
        yield from itertools.repeat(b"".join(self.rows), whole)
        yield b"".join(self.rows[:rest])


def made_rows(path: Path, seed: int) -> None:
    """Write a table of numbers, labels, texts and missing values."""
    rng = random.Random(seed)
    words = ["the", "food", "science", "star", "eat", "cell", "time", "love", "war", "king"]
    lines = [b"@relation live", *(b"@attribute %c numeric" % name for name in b"abc")]
    lines += [b"@attribute colour {red,green,blue}", b"@attribute said string", b"@attribute class {yes,no}", b"@data"]
    for _ in range(_DISTINCT):
        row = [repr(round(rng.gauss(0, 10), 3)) if rng.random() < 0.95 else "?" for _ in range(3)]
        said = " ".join(rng.choices(words, k=rng.randint(1, 6)))
        row += [rng.choice(("red", "green", "blue", "?")), f"'{said}'", rng.choice(("yes", "no", "?"))]
        lines.append(",".join(row).encode())
    path.write_bytes(b"\n".join(lines) + b"\n")


def live(
    seconds: float,
    seed: int = 1,
    form: str = "arff",
    rate: float = 200,
    patience: float = PATIENCE,
    through: Callable[[list[str]], list[str]] = list,
    prepared: Prepared | None = None,
) -> tuple[list[str], list[str]]:
    """Send rows through the command for a time.

    Parameters
    ----------
    seconds, seed : how long, and what the rows are made from.
    form : the format that comes in and goes out.
    rate : rows a second in the steady phase.
    patience : seconds that a row may take outside of bursts.
    through : what is run, from the usual command.
    prepared : what `prepare` has made; by default it is made anew.

    Returns
    -------
    figures, and what is wrong, a line each.
    """
    with tempfile.TemporaryDirectory(prefix="live-") as name:
        usual, given, expected = prepared or prepare(Path(name), seed, form)
        stream = _Stream(through(usual), given, Path(name, "sent"), seconds, rate)
        stream.run(expected)
        sent = np.fromfile(Path(name, "sent"), SENT)
        wrong = [*stream.wrong]
        count = int(sent["rows"].sum())
        if len(stream.received) != count:
            wrong.append(f"{count} rows went in, and {len(stream.received)} came out")
        if _checksum(usual, Table.read(given).stream(count)) != stream.checksum:
            wrong.append("the output is not that of the same rows in one go")
        figures = [f"{given.suffix[1:]}: {count} rows in {seconds:.0f} s, SHA-256 {stream.checksum[:16]}…"]
        delays, late = _delays(sent, np.array(stream.received), patience)
        grown, more = _grown(stream.measured)
        return [*figures, *delays, *grown], [*wrong, *late, *more]


class Prepared(NamedTuple):
    """The `usual` command with its saved chain, the rows that are `given`, and what becomes of them in one go."""

    usual: list[str]
    given: Path
    expected: Table


def prepare(folder: Path, seed: int, form: str) -> Prepared:
    """Make rows, and fit a chain to them, in a folder."""
    command, made = [sys.executable, "-m", "filterkit"], folder / "rows.arff"
    made_rows(made, seed)
    saved, given, out = folder / "saved.chain", folder / f"given.{form}", folder / f"out.{form}"
    for words in (
        ["--save", str(saved), "-o", str(folder / "trained.arff"), str(made), *CHAIN],
        ["-o", str(given), str(made)],
        ["--load", str(saved), "-o", str(out), str(given)],
    ):
        subprocess.run([*command, *words], check=True, cwd=folder)
    return Prepared([*command, "--load", str(saved), "--from", form, "--to", form, "-"], given, Table.read(out))


class _Stream:
    """A stream from the process that makes rows through the command.

    Attributes
    ----------
    received : when each row came out.
    checksum : of all that came out.
    measured : what the command held, once in a while.
    wrong : what is wrong.
    """

    def __init__(self, command: list[str], given: Path, sent: Path, seconds: float, rate: float) -> None:
        self._command = command
        self._producer = [sys.executable, "-m", "trials.live", str(given), str(sent), str(seconds), str(rate)]
        self._every = min(1.0, seconds / 40)  # seconds
        self.received = array("d")
        self.checksum = ""
        self.measured: list[Measured] = []
        self.wrong: list[str] = []

    def run(self, expected: Table) -> None:
        """Send the rows, and compare each line with the row that is expected; they begin again after the last."""
        producer = subprocess.Popen(self._producer, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
        with tempfile.TemporaryFile() as said:
            options = {"stdin": producer.stdout, "stdout": subprocess.PIPE, "stderr": said}
            process = subprocess.Popen(self._command, **options)  # type: ignore[call-overload]
            assert producer.stdout is not None
            producer.stdout.close()
            watch = threading.Thread(target=self._watch, args=(process,))

            def begun() -> None:
                watch.start()
                assert producer.stdin is not None
                producer.stdin.close()

            try:
                self._read(process.stdout, expected, begun)
                status = process.wait(_END)
            except subprocess.TimeoutExpired:
                self.wrong.append(f"the command has not ended {_END:.0f} s after its output")
                status = 0
            finally:
                for each in (process, producer):
                    each.kill()
                    each.wait()
                if watch.is_alive():
                    watch.join()
            said.seek(0)
            text = said.read().decode("utf-8", "replace").strip()
        if status or text:
            self.wrong.append(f"the command ended with status {status} and said: {text[:300]}")

    def _read(self, out: IO[bytes], expected: Table, begun: Callable[[], object]) -> None:
        """Read the output, of whose head only the number of lines is compared; `begun` is called at the first row."""
        seen, differ = hashlib.sha256(), 0
        wanted = itertools.cycle(expected.rows)
        with closing(out):
            for number, line in enumerate(out):
                now = time.monotonic()
                seen.update(line)
                if number < expected.head.count(b"\n") or line.startswith(b"% "):
                    continue
                if not self.received:
                    begun()
                self.received.append(now)
                row = next(wanted)
                differ += line != row
                if differ == 1 and line != row:
                    self.wrong.append(f"row {len(self.received)}: {line[:200]!r} instead of {row[:200]!r}")
        self.checksum = seen.hexdigest()
        if differ > 1:
            self.wrong.append(f"{differ} rows differ")

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Measure the command until it ends."""
        while process.poll() is None:
            found = _measured(process.pid)
            if found is not None:
                self.measured.append(found)
            time.sleep(self._every)


def _measured(number: int) -> Measured | None:
    """What a process holds now; None if it has ended."""
    about = Path("/proc", str(number))
    try:
        pages = int((about / "statm").read_text().split()[1])
        files, threads = (len(list((about / name).iterdir())) for name in ("fd", "task"))
    except OSError:
        return None
    return Measured(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, files, threads)


def _checksum(command: list[str], texts: Iterable[bytes]) -> str:
    """The checksum of what the command writes when it gets a text in one go."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None

    def give(stream: IO[bytes]) -> None:
        with suppress(BrokenPipeError), stream:
            stream.writelines(texts)

    giver = threading.Thread(target=give, args=(process.stdin,))
    giver.start()
    seen = hashlib.sha256()
    while text := process.stdout.read(1 << 20):
        seen.update(text)
    giver.join()
    process.stdout.close()
    process.wait()
    return seen.hexdigest()


def _delays(sent: Any, received: Any, patience: float) -> tuple[list[str], list[str]]:
    """How long rows took in each phase, and which took too long."""
    count = min(len(received), int(sent["rows"].sum()))
    times, phases = (np.repeat(sent[name], sent["rows"])[:count] for name in ("time", "phase"))
    delays = received[:count] - times
    figures = []
    for number, phase in enumerate(PHASES):
        some = delays[phases == number] * 1000
        if len(some):
            median, most, worst = np.percentile(some, (50, 99, 100))
            what = f"{len(some)} rows, {median:.1f} ms in the median, 99 % within {most:.1f} ms, worst {worst:.1f} ms"
            figures.append(f"{phase}: {what}")
    late = np.flatnonzero((delays > patience) & (phases != PHASES.index("burst")))
    late = late[late > 0]  # the first row waits for the command to start
    if not len(late):
        return figures, []
    worst = late[np.argmax(delays[late])]
    return figures, [f"{len(late)} rows took longer than {patience} s; row {worst + 1} took {delays[worst]:.1f} s"]


def _grown(measured: Sequence[Measured]) -> tuple[list[str], list[str]]:
    """What the command held in the second and in the last quarter of the time, and what has grown."""
    quarter = len(measured) // 4
    if quarter < 2:
        return [], ["the command could not be measured"]
    early, late = (np.array(some) for some in (measured[quarter : 2 * quarter], measured[-quarter:]))
    figures, wrong = [], []
    for name, before, after, more in zip(Measured._fields, early.T, late.T, Measured(_MEGABYTES, 2, 2)):
        text = f"{name}: {before.max():.0f} at most in the second quarter, {after.max():.0f} in the last"
        figures.append(text)
        if after.max() > before.max() + more:
            wrong.append(f"more and more {text}")
    return figures, wrong


def produce(given: Path, sent: Path, seconds: float, rate: float) -> None:
    """Write rows to standard output for a time, and to `sent` when and how many, as records of `SENT`.

    The time begins when standard input ends, which says that the first row has come through; or after a minute.
    """
    table = Table.read(given)
    scale = min(1.0, seconds / CYCLE)
    rows = itertools.cycle(table.rows)
    with open(sent, "wb", buffering=0) as notes:

        def send(text: bytes, count: int, phase: int) -> None:
            notes.write(np.array([(time.monotonic(), count, phase)], SENT).tobytes())
            _write(text)

        _write(table.beginning)
        send(next(rows), 1, 0)
        select.select([0], [], [], _START)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for phase, name in enumerate(PHASES):
                if name == "burst":
                    count = int(25 * rate * scale)
                    send(b"".join(itertools.islice(rows, count)), count, phase)
                    continue
                if name == "pause":
                    time.sleep(4 * scale)
                each = {"steady": 1 / rate, "halves": 10 / rate, "pause": 1.0, "slow": 0.5 * scale}[name]
                for _ in range(max(1, int(LASTS[name] * scale / each))):
                    row = next(rows)
                    if name == "halves":
                        half = len(row) // 2
                        _write(row[:half])
                        row = row[half:]
                        time.sleep(each / 2)
                    send(row, 1, phase)
                    time.sleep(each)


def _write(text: bytes) -> None:
    """Write to standard output at once."""
    left = memoryview(text)
    while left:
        left = left[os.write(1, left) :]


if __name__ == "__main__":
    produce(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))
