"""Measures the engine dask: one worker beside two, the process that asks, and very many parts.

    python -m benchmarks.cluster [--runs N] [--data DIR] [--large]

``--large`` takes inputs of 400 and 460 MB and ten repeats of an evaluation, on which a cluster is worth its start.

The scheduler and the workers run before the clock starts. CPU seconds are those of the process that asks, and of the
workers; the scheduler's are told apart. Runs of the contenders alternate.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
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


def compare(
    what: str, words: list[str], contenders: dict[str, Cluster | None], runs: int, parts: Path | None = None
) -> None:
    """Print the medians of alternating runs, and the ratios of wall clocks to that of the last contender.

    `parts` is a folder that is emptied before each run.
    """
    found: dict[str, list[Measured]] = {name: [] for name in contenders}
    for number in range(runs + 1):
        for name, where in contenders.items():
            if parts:
                shutil.rmtree(parts, ignore_errors=True)
                parts.mkdir()
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
    options.add_argument("--large", action="store_true", help="takes large inputs")
    given = options.parse_args()
    with contextlib.ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        data = given.data or folder
        data.mkdir(exist_ok=True)
        one, two = opened.enter_context(cluster(1, str(folder))), opened.enter_context(cluster(2, str(folder)))
        (_large if given.large else _small)(data, folder, one, two, given.runs)


def _small(data: Path, folder: Path, one: Cluster, two: Cluster, runs: int) -> None:
    """Works of seconds."""
    dense, out = _made(data, "dense"), str(folder / "out.arff")
    where = {"dask, one worker": one, "one thread": None, "dask, two workers": two}
    compare(f"{dense.name}, {' '.join(CHAIN)}", ["-o", out, "--jobs", "1", str(dense), *CHAIN], where, runs)
    compare("evaluate, 3 x 10 folds", _evaluate(3), where, runs)
    for count in _PARTS:
        pattern = make_parts(data / f"parts-{count}", count)
        found = measure(["-o", out, pattern, *CHAIN], two)
        print(f"{count} parts, two workers: {found.text}; {found.seconds / count * 1e3:.1f} ms a part")


def _large(data: Path, folder: Path, one: Cluster, two: Cluster, runs: int) -> None:
    """Works of half a minute."""
    out, parts = str(folder / "out.arff"), folder / "parts"
    where: dict[str, Cluster | None] = {"dask, one worker": one, "dask, two workers": two}
    for kind, chain, goals in (
        ("distinct-20", ("standardize",), (out,)),
        ("sparse", CHAIN, (out, str(parts / "part-*.arff"))),
    ):
        source = _made(data, kind, "1000000")
        for goal in goals:
            what = f"{source.name}, {' '.join(chain)}, to {Path(goal).name}"
            compare(what, ["-o", goal, "--jobs", "1", str(source), *chain], where, runs, parts)
    compare("evaluate, 10 x 10 folds", _evaluate(10), where, runs)


def _made(data: Path, kind: str, *rows: str) -> Path:
    """An input of `benchmarks.inputs`, made if it is not there yet."""
    path = data / f"{'-'.join((kind, *rows))}.arff"
    if not path.exists():
        subprocess.run([sys.executable, "-m", "benchmarks.inputs", kind, str(path), *rows], check=True)
    return path


def _evaluate(repeats: int) -> list[str]:
    """The command that evaluates two chains on two data sets."""
    sets = [str(SAMPLES / f"{name}.arff") for name in ("digits", "breast-cancer")]
    chains = ["--chain", "l2 svm", "--chain", "standardize svm"]
    return ["evaluate", *sets, *chains, "--folds", "10", "--repeats", str(repeats), "--jobs", "1"]


if __name__ == "__main__":
    main()
