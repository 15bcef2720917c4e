"""How long formats take beside programs that do the same: JSON lines, Parquet and CSV beside Polars, XRFF beside expat.

    python -m benchmarks.formats [--rows N] [--pairs N] [--polars PYTHON]

Both sides have one thread, and run in turn (A B A B …) as whole processes, once each to warm up. For each work it
prints the median seconds of filterkit, and the median ratio of the pairs with the least and the largest, of the wall
clock and of CPU. `--polars` is the Python that has Polars, by default this one. The rows that both wrote are compared.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.timing import pin, run

POLARS = "import os, sys; os.environ['POLARS_MAX_THREADS'] = '1'; import polars as pl; i, o = sys.argv[1:]\n"
Z_SCORES = (
    "pl.read_parquet(i).with_columns((pl.col(pl.Float64) - pl.col(pl.Float64).mean()) / pl.col(pl.Float64).std())"
)
ARROW = "import sys, pyarrow.json as j; j.read_json(sys.argv[1], j.ReadOptions(use_threads=False))"
EXPAT = """import sys; from xml.parsers import expat
parser = expat.ParserCreate(); parser.buffer_text = True
parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = lambda *_: None
parser.ParseFile(open(sys.argv[1], 'rb'))"""

# The name of each work, its input and output, the stages of filterkit, the peer and its program.
WORKS = (
    ("JSON lines, read and written", "in.jsonl", "out.jsonl", (), "Polars", "pl.read_ndjson(i).write_ndjson(o)"),
    ("JSON lines, read and written", "in.jsonl", "out.jsonl", (), "Arrow, which only reads", ARROW),
    ("z-scores of Parquet", "in.parquet", "out.parquet", ("standardize",), "Polars", f"{Z_SCORES}.write_parquet(o)"),
    ("CSV to Parquet", "in.csv", "out.parquet", (), "Polars", "pl.read_csv(i).write_parquet(o)"),
    ("XRFF, read and written as ARFF", "in.xrff", "out.arff", (), "expat, with handlers that do nothing", EXPAT),
)


def make_inputs(folder: Path, rows: int) -> None:
    """Write a table of 20 Normal numbers of four decimals and a class in each format; XRFF has a tenth of the rows."""
    values = np.random.default_rng(1).normal(size=(rows, 20)).round(4)
    names = [f"x{number}" for number in range(20)]
    labels = np.where(values[:, 0] > 0, "yes", "no").tolist()
    with open(folder / "in.csv", "w") as csv, open(folder / "in.jsonl", "w") as lines:
        csv.write(",".join([*names, "class"]) + "\n")
        for row, label in zip(values.tolist(), labels, strict=True):
            csv.write(",".join(map(repr, row)) + f",{label}\n")
            lines.write(json.dumps({**dict(zip(names, row, strict=True)), "class": label}) + "\n")
    for name, stages in (("in.parquet", ()), ("in.xrff", ("head", str(rows // 10)))):
        run(filter_file(folder, "in.csv", name, stages))


def filter_file(folder: Path, source: str, output: str, stages: tuple[str, ...]) -> list[str]:
    """Return the command of filterkit."""
    options = ["--jobs", "1", "-o", str(folder / output), str(folder / source)]
    return [sys.executable, "-m", "filterkit", *options, *stages]


def count_equal_rows(ours: Path, theirs: Path) -> int:
    """Return the number of rows of two outputs, whose numbers are the same to 1e-9.

    Raises
    ------
    ValueError : they differ.
    """
    from filterkit import read

    one, other = read(ours), read(theirs)
    if len(one) != len(other) or not np.allclose(one.X, other.X, rtol=0, atol=1e-9):
        raise ValueError(f"{ours.name}: the outputs differ")
    return len(one)


def main() -> None:
    """Measure, and print a row of a table for each work."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--polars", default=sys.executable)
    options = parser.parse_args()
    pin(1)
    print("| work | filterkit, wall and CPU | beside | wall | CPU |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="filterkit-formats-") as name:
        folder = Path(name)
        make_inputs(folder, options.rows)
        for title, source, output, stages, peer, program in WORKS:
            ours = filter_file(folder, source, output, stages)
            theirs = [sys.executable, "-c", program, str(folder / source)]
            if peer == "Polars":
                theirs = [options.polars, "-c", POLARS + program, str(folder / source), str(folder / f"peer-{output}")]
            runs = [(run(ours)[0], run(theirs)[0]) for _ in range(options.pairs + 1)][1:]
            shown = []
            for field in ("seconds", "cpu"):
                ratios = [getattr(a, field) / getattr(b, field) for a, b in runs]
                shown.append(f"{median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})")
            seconds, cpu = (median(getattr(a, field) for a, _ in runs) for field in ("seconds", "cpu"))
            print(f"| {title} | {seconds:.2f} s, {cpu:.2f} s | {peer} | {' | '.join(shown)} |", flush=True)
            if peer == "Polars":
                count_equal_rows(folder / output, folder / f"peer-{output}")


if __name__ == "__main__":
    main()
