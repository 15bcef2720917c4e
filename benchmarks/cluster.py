"""Measures the engine dask: one worker beside two, the process that asks, and very many parts.

    python -m benchmarks.cluster [--runs N] [--data DIR]

The scheduler and the workers run before the clock starts. CPU seconds are those of the process that asks, and of the
workers; the scheduler's are told apart. Runs of the contenders alternate.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.timing import run

CHAIN = ("shape", "bns", "l2")
SAMPLES = Path(__file__).resolve().parent.parent / "arff_samples"
_PARTS = (200, 2000)


class Cluster(NamedTuple):
    """A running scheduler: the path of its file, and the numbers of its process and of those of its workers."""

    file: str
    scheduler: int
    workers: list[int]


@contextlib.contextmanager
def cluster(workers: int, folder: str) -> Iterator[Cluster]:
    """A scheduler and workers of one thread each, in processes of their own."""
    file = os.path.join(folder, f"scheduler-{workers}.json")
    place = ["--scheduler-file", file, "--host", "127.0.0.1"]
    started = [_started("dask_scheduler", *place, "--port", "0", "--dashboard-address", "127.0.0.1:0")]
    while not os.path.exists(file):
        time.sleep(0.1)
    started += [
        _started("dask_worker", *place, "--nthreads", "1", "--no-nanny", "--no-dashboard") for _ in range(workers)
    ]
    try:
        time.sleep(5)
        yield Cluster(file, started[0].pid, [process.pid for process in started[1:]])
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def _started(module: str, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"distributed.cli.{module}", *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _cpu(processes: list[int]) -> float:
    """The CPU seconds that processes have used so far."""
    ticks = 0
    for number in processes:
        words = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Measured(NamedTuple):
    """Wall clock, and CPU seconds of the process that asks, of the workers and of the scheduler; its peak memory."""

    seconds: float
    asking: float
    working: float
    scheduling: float
    memory: int

    @property
    def text(self) -> str:
        return (
            f"{self.seconds:6.2f} s; CPU seconds {self.asking:.2f} + workers {self.working:.2f} + scheduler "
            f"{self.scheduling:.2f}; {self.memory // 10**6} MB"
        )


def measure(words: list[str], of: Cluster | None) -> Measured:
    """Run the command once, on a cluster or by local threads."""
    engine = ["--engine", f"dask:{of.file}"] if of else []
    at = 1 if words[0] == "evaluate" else 0
    before = (_cpu(of.workers), _cpu([of.scheduler])) if of else (0.0, 0.0)
    done, _ = run([str(Path(sys.executable).with_name("filterkit")), *words[:at], *engine, *words[at:]])
    after = (_cpu(of.workers), _cpu([of.scheduler])) if of else (0.0, 0.0)
    return Measured(done.seconds, done.cpu, after[0] - before[0], after[1] - before[1], done.memory)


def compare(what: str, words: list[str], contenders: dict[str, Cluster | None], runs: int) -> None:
    """Print the medians of alternating runs, and the ratios of wall clocks to that of the last contender."""
    found: dict[str, list[Measured]] = {name: [] for name in contenders}
    for number in range(runs + 1):
        for name, where in contenders.items():
            measured = measure(words, where)
            if number:
                found[name].append(measured)
    print(f"{what}, median of {runs}:")
    last = list(found.values())[-1]
    for name, several in found.items():
        median = Measured(*(statistics.median(column) for column in zip(*several, strict=True)))
        ratios = sorted(one.seconds / two.seconds for one, two in zip(several, last, strict=True))
        spread = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        print(f"  {name:18s} {median._replace(memory=int(median.memory)).text}; {spread} x the last")


def make_parts(folder: Path, count: int) -> str:
    """Part files of a hundred rows of twenty numbers; returns their pattern."""
    folder.mkdir(exist_ok=True)
    rng = random.Random(1)
    names = "".join(f"@attribute a{j} numeric\n" for j in range(20))
    for number in range(count):
        rows = "".join(",".join(f"{rng.gauss(0, 1):.2f}" for _ in range(20)) + f",{'pq'[i % 2]}\n" for i in range(100))
        text = f"@relation parts\n{names}@attribute class {{p,q}}\n@data\n{rows}"
        (folder / f"part-{number:05d}.arff").write_text(text)
    return str(folder / "part-*.arff")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--data", type=Path, help="keeps the inputs")
    given = options.parse_args()
    with contextlib.ExitStack() as opened:
        folder = opened.enter_context(tempfile.TemporaryDirectory())
        data = given.data or Path(folder)
        data.mkdir(exist_ok=True)
        dense = data / "dense.arff"
        if not dense.exists():
            subprocess.run([sys.executable, "-m", "benchmarks.inputs", "dense", str(dense)], check=True)
        one, two = opened.enter_context(cluster(1, folder)), opened.enter_context(cluster(2, folder))
        out = str(Path(folder, "out.arff"))
        where = {"dask, one worker": one, "one thread": None, "dask, two workers": two}
        compare(f"{dense.name}, {' '.join(CHAIN)}", ["-o", out, "--jobs", "1", str(dense), *CHAIN], where, given.runs)
        sets = [str(SAMPLES / f"{name}.arff") for name in ("digits", "breast-cancer")]
        words = [
            "evaluate",
            *sets,
            "--chain",
            "l2 svm",
            "--chain",
            "standardize svm",
            "--folds",
            "10",
            "--repeats",
            "3",
            "--jobs",
            "1",
        ]
        compare("evaluate", words, where, given.runs)
        for count in _PARTS:
            pattern = make_parts(data / f"parts-{count}", count)
            found = measure(["-o", out, pattern, *CHAIN], two)
            print(f"{count} parts, two workers: {found.text}; {found.seconds / count * 1e3:.1f} ms a part")


if __name__ == "__main__":
    main()
