"""How long a row takes from standard input to standard output while the pipe stays open, and how many rows a flood has.

    python -m benchmarks.live [--rows N] [--flood N] [--pairs N] [--against FOLDER]

For a chain with nothing to fit and for a loaded one, of dense rows and of rows with text, it sends

- rows one by one, each when the one before has come back, at once or after 10 ms, and prints rows a second, and the
  median, 99 % and longest time of a row;
- a flood of rows in blocks of 64 kB, and one that is written line by line, and prints rows a second.

With `--against`, another checkout of filterkit does the same in turn (A B A B …), and ratios of the pairs are printed.
Its `.venv` runs it: with that of this checkout it would have this checkout's plugins.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import IO, Any

import numpy as np

HEADER = """@relation live
@attribute a numeric
@attribute b numeric
{}@attribute class {{no,yes}}
@data
"""
ROOT = Path(__file__).resolve().parent.parent
BLOCKS = "import os, sys\nwith open(sys.argv[1], 'rb') as f:\n while text := f.read(1 << 16): os.write(1, text)"
LINES = "import os, sys\nwrite = os.write\nfor line in open(sys.argv[1], 'rb').readlines(): write(1, line)"


def start(checkout: Path, arguments: list[str], stdin: int | IO[bytes] | None) -> subprocess.Popen[bytes]:
    """Start filterkit of a checkout, with the Python of its ``.venv`` if that is not this one."""
    python = sys.executable if checkout == ROOT else str(checkout / ".venv/bin/python")
    return subprocess.Popen([python, "-m", "filterkit", *arguments], stdin=stdin, stdout=subprocess.PIPE, cwd=checkout)


def measure_latencies(checkout: Path, arguments: list[str], header: str, rows: list[str], pause: float) -> Any:
    """Return the seconds that each of `rows` takes through a process, with a pause after each."""
    with start(checkout, arguments, subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(header.encode())
        seconds = []
        for row in rows:
            began = time.perf_counter()
            process.stdin.write(row.encode())
            process.stdin.flush()
            while process.stdout.readline().startswith((b"@", b"%", b"\n")):
                pass
            seconds.append(time.perf_counter() - began)
            time.sleep(pause)
        process.stdin.close()
        process.stdout.read()
    return np.array(seconds[len(seconds) // 10 :])  # the first wait for the process to start, and to import


def measure_flood(checkout: Path, arguments: list[str], producer: str, path: Path) -> float:
    """Return the rows a second that come out while a producer writes a file to the pipe as fast as it can."""
    with subprocess.Popen([sys.executable, "-c", producer, str(path)], stdout=subprocess.PIPE) as source:
        process = start(checkout, arguments, source.stdout)
        assert source.stdout is not None and process.stdout is not None
        source.stdout.close()
        n_rows, began = 0, 0.0
        while text := process.stdout.read1(1 << 20):  # type: ignore[attr-defined]
            if began:
                n_rows += text.count(b"\n")
            else:  # what comes before the clock starts does not count
                began = time.perf_counter()
        seconds = time.perf_counter() - began
        process.wait()
        process.stdout.close()
    return n_rows / seconds


def compare(what: str, measure: Callable[[Path], float], checkouts: list[Path], n_pairs: int) -> None:
    """Measure checkouts in turn, and print the median of each, and that of the ratios of pairs with two checkouts."""
    figures = [[measure(each) for each in checkouts] for _ in range(n_pairs)]
    text = ", ".join(f"{median(column):,.0f}" for column in zip(*figures))
    if len(checkouts) == 2:
        ratios = [this / other for this, other in figures]
        text += f"; ratio {median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
    print(f"{what}: {text} rows/s", flush=True)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000, help="how many are sent one by one")
    parser.add_argument("--flood", type=int, default=2_000_000, help="how many a flood has")
    parser.add_argument("--pairs", type=int, default=5, help="how often a flood is measured")
    parser.add_argument("--against", type=Path, help="another checkout of filterkit")
    options = parser.parse_args()
    checkouts = [ROOT, *([options.against.resolve()] if options.against else [])]
    with tempfile.TemporaryDirectory() as folder:
        for kind, more, text in (("numbers", "", ""), ("numbers and a text", "@attribute s string\n", "'some words',")):
            header = HEADER.format(more)
            lines = [f"{i},{i % 7},{text}{'no' if i % 2 else 'yes'}\n" for i in range(1, options.rows + 1)]
            training, chain, flood = (Path(folder, name) for name in ("training.arff", "chain", "flood.arff"))
            training.write_text(header + "".join(lines))
            fit = ["--save", str(chain), "-o", "/dev/null", str(training), "shape", "bns", "l2"]
            subprocess.run([sys.executable, "-m", "filterkit", *fit], check=True)
            flood.write_text(header + "".join(lines) * -(-options.flood // options.rows))
            for name, arguments in (("l2", ["-", "l2"]), ("--load", ["--load", str(chain), "-"])):
                for pause in (0.0, 0.01):
                    for checkout in checkouts:
                        seconds = measure_latencies(checkout, arguments, header, lines, pause)
                        middle, most, longest = np.percentile(seconds, (50, 99, 100)) * 1e3
                        said = f"median {middle:.2f} ms, 99 % within {most:.2f} ms, longest {longest:.2f} ms"
                        rate = f"{1 / seconds.mean():,.0f} rows/s, " if not pause else ""
                        print(f"{name}, {kind}, one by one{' after 10 ms' if pause else ''}: {rate}{said}", flush=True)
                for way, producer in (("in blocks", BLOCKS), ("line by line", LINES)):

                    def measure(
                        checkout: Path, arguments: list[str] = arguments, producer: str = producer, path: Path = flood
                    ) -> float:
                        return measure_flood(checkout, arguments, producer, path)

                    compare(f"{name}, {kind}, flood {way}", measure, checkouts, options.pairs)


if __name__ == "__main__":
    main()
