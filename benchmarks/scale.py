"""Counts what a part costs on a Dask cluster: tasks, bytes moved, CPU and the memory of the process that asks.

    python -m benchmarks.scale [--parts 200,2000,10000] [--data DIR]

Each part is a small file, and a task of its own. The same numbers of parts are run once more without files: workers
make the rows. What `predicted` says of the last number of parts, from the first ones, stands beside what was measured.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.cluster import CHAIN, Cluster, _cpu, cluster
from benchmarks.timing import run

_ROWS, _COLUMNS = 100, 20
_MERGED = 8  # statistics, at once


class Cost(NamedTuple):
    """What one run takes.

    Attributes
    ----------
    parts : how many there were.
    seconds : by the wall clock.
    asking, working, scheduling : CPU seconds of the process that asks, the workers and the scheduler.
    memory : the peak of the process that asks, in bytes.
    tasks : that the scheduler saw.
    at_once : the most tasks that it knew at the same time.
    moved : bytes from worker to worker.
    """

    parts: int
    seconds: float
    asking: float
    working: float
    scheduling: float
    memory: int
    tasks: int
    at_once: int
    moved: int

    @property
    def text(self) -> str:
        each = 1e3 / self.parts
        return (
            f"{self.parts:6,} parts: {self.seconds:.1f} s; {self.tasks:,} tasks, {self.tasks / self.parts:.2f} a part, "
            f"{self.tasks / self.seconds:,.0f} a second, at most {self.at_once:,} at once; CPU a part: asking "
            f"{self.asking * each:.2f} ms, workers {self.working * each:.2f} ms, scheduler "
            f"{self.scheduling * each:.2f} ms; {self.memory / 1e6:.0f} MB; {self.moved / 1e6:.1f} MB between workers"
        )


def predicted_tasks(parts: int) -> int:
    """The tasks of `CHAIN` on parts whose rows wait in the memory of the workers.

    In the first pass, each part is worked on, its small result comes back, and its rows and its table become results
    of their own; each merge has a result and its size; in the last pass, each part is worked on.
    """
    merges, left = 0, parts
    while left >= _MERGED:
        merges += left // _MERGED
        left = left // _MERGED + left % _MERGED
    return 5 * parts + 2 * (merges + (left > 1)) + 4  # three functions, and the fit


def predicted_memory(few: Cost, more: Cost, parts: int) -> float:
    """The bytes of the process that asks for so many parts, if each takes as much as between `few` and `more`."""
    return more.memory + (more.memory - few.memory) / (more.parts - few.parts) * (parts - more.parts)


def depth(parts: int) -> int:
    """How often the table of a part is merged until it is the table of all."""
    return math.ceil(math.log(parts, _MERGED))


def _watch(dask_scheduler: Any) -> None:
    """Count the tasks of a scheduler from now on."""
    from dask.utils import key_split
    from distributed import SchedulerPlugin

    class Counts(SchedulerPlugin):
        def __init__(self) -> None:
            self.done: Counter[str] = Counter()
            self.most = 0

        def transition(self, key: Any, start: str, finish: str, *_: Any, **__: Any) -> None:
            if finish == "memory" and start == "processing":
                self.done[key_split(key)] += 1
            self.most = max(self.most, len(dask_scheduler.tasks))

    dask_scheduler.add_plugin(Counts(), name="counts", idempotent=False)


def _watched(dask_scheduler: Any) -> tuple[dict[str, int], int]:
    """The tasks counted, by their functions, and the most at once."""
    counts = dask_scheduler.plugins["counts"]
    dask_scheduler.remove_plugin("counts")
    return dict(counts.done), counts.most


def _received(dask_worker: Any) -> int:
    """The bytes that a worker has got from others."""
    found = sum(each["total"] for each in dask_worker.transfer_incoming_log)
    dask_worker.transfer_incoming_log.clear()
    return int(found)


def measure(of: Cluster, command: list[str], parts: int) -> Cost:
    """Run a command whose work the cluster does."""
    import distributed

    with distributed.Client(scheduler_file=of.file) as client:
        client.run(_received)
        client.run_on_scheduler(_watch)
        before = _cpu(of.workers), _cpu([of.scheduler])
        done, _ = run(command)
        after = _cpu(of.workers), _cpu([of.scheduler])
        tasks, most = client.run_on_scheduler(_watched)
        moved = sum(client.run(_received).values())
    print("    tasks:", ", ".join(f"{count:,} {name}" for name, count in sorted(tasks.items())))
    return Cost(
        parts,
        done.seconds,
        done.cpu,
        after[0] - before[0],
        after[1] - before[1],
        done.memory,
        sum(tasks.values()),
        most,
        moved,
    )


def make_files(folder: Path, count: int) -> tuple[str, int]:
    """Files of a hundred rows and the same number of bytes each; returns their pattern, and that number."""
    import numpy as np

    folder.mkdir(exist_ok=True)
    names = "".join(f"@attribute a{column} numeric\n" for column in range(_COLUMNS))
    size = 16 << 10
    for number in range(count):
        path = folder / f"part-{number:05d}.arff"
        if path.exists():
            continue
        cells = np.random.default_rng(number).integers(0, 1000, (_ROWS, _COLUMNS)).astype(str).tolist()
        rows = "".join(f"{','.join(row)},{'pq'[i % 2]}\n" for i, row in enumerate(cells))
        text = f"@relation parts\n{names}@attribute class {{p,q}}\n@data\n{rows}"
        path.write_text(text + "%" * (size - len(text) - 1) + "\n")
    return str(folder / "part-*.arff"), size


def _made(function: Any, schema: Any, number: int) -> Any:
    """The result for a part that has no file."""
    import numpy as np

    from filterkit.data.batch import Batch

    X = np.random.default_rng(number).integers(0, 1000, (_ROWS, _COLUMNS)).astype(float)
    return function(Batch(schema, X, np.arange(_ROWS, dtype=np.int32) % 2))


def simulate(parts: int, file: str) -> None:
    """Fit the chain and transform the rows of parts that workers make; no rows come to this process."""
    import filterkit
    from filterkit.chains.rows import BatchSource, Rows
    from filterkit.plugin.engines import make_engine
    from filterkit.plugin.registry import get_registry

    features = [filterkit.Attribute(f"a{column}") for column in range(_COLUMNS)]
    schema = filterkit.Schema("parts", [*features, filterkit.Attribute("class", "nominal", ("p", "q"))], _COLUMNS)
    with make_engine(f"dask:{file}", 1, get_registry()) as engine:

        def once(function: Any) -> Any:
            return engine.map(partial(_made, function, schema), range(parts))

        rows = Rows(BatchSource(schema, once, engine, 1 << 27))
        _, out = filterkit.chain(" ".join(CHAIN)).fit_rows(rows, 1 << 30)
        assert sum(out.map(len, last=True)) == parts * _ROWS
        rows.source.close()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    options.add_argument("--parts", default="200,2000,10000")
    options.add_argument("--data", type=Path, help="keeps the inputs")
    options.add_argument("--simulate", nargs=2, metavar=("PARTS", "FILE"), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.simulate:
        from benchmarks import scale  # workers do not know what is in this file by the name __main__

        scale.simulate(int(given.simulate[0]), given.simulate[1])
        return
    numbers = [int(word) for word in given.parts.split(",")]
    with contextlib.ExitStack() as opened:
        folder = opened.enter_context(tempfile.TemporaryDirectory())
        data = given.data or Path(folder)
        data.mkdir(exist_ok=True)
        os.environ["DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH"] = "10000000"  # so that workers log all transfers
        of = opened.enter_context(cluster(2, folder))
        program = str(Path(sys.executable).with_name("filterkit"))
        found: dict[str, list[Cost]] = {"files": [], "no files": []}
        for parts in numbers:
            pattern, size = make_files(data / f"scale-{parts}", parts)
            words = ["--engine", f"dask:{of.file}", "--block-size", str(size), "-o", os.path.join(folder, "out.arff")]
            for what, command in (
                ("files", [program, *words, pattern, *CHAIN]),
                ("no files", [sys.executable, "-m", "benchmarks.scale", "--simulate", str(parts), of.file]),
            ):
                found[what].append(measure(of, command, parts))
                print(f"{what:9s} {found[what][-1].text}", flush=True)
    for what, costs in found.items():
        print(f"predicted, {what}:")
        for number, cost in enumerate(costs):
            text = f"  {cost.parts:,} parts, merged {depth(cost.parts)} times: {predicted_tasks(cost.parts):,} tasks"
            if number >= 2:
                memory = predicted_memory(costs[0], costs[1], cost.parts)
                text += f", {memory / 1e6:.0f} MB; found {cost.memory / 1e6:.0f} MB"
            print(f"{text}; found {cost.tasks:,} tasks")


if __name__ == "__main__":
    main()
