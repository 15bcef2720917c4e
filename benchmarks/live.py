"""How long a row takes from standard input to standard output while the pipe stays open.

    python -m benchmarks.live [ROWS]

Sends rows one by one, each after the one before has come back, and prints the median and the longest time, for a chain
with nothing to fit and for a loaded one, of dense rows and of rows with text.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

HEADER = """@relation live
@attribute a numeric
@attribute b numeric
{}@attribute class {{no,yes}}
@data
"""
COMMAND = [sys.executable, "-m", "filterkit"]


def latencies(arguments: list[str], header: str, rows: list[str]) -> list[float]:
    """Seconds that each of `rows` takes through a process with these arguments."""
    with subprocess.Popen([*COMMAND, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(header)
        process.stdin.flush()
        found = []
        for number, row in enumerate(rows):
            began = time.perf_counter()
            process.stdin.write(row)
            process.stdin.flush()
            while process.stdout.readline().startswith(("@", "%", "\n")):
                pass
            if number:  # the first waits for the process to start
                found.append(time.perf_counter() - began)
            time.sleep(0.01)
        process.stdin.close()
        process.stdout.read()
    return found


def main(rows: str = "200") -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, more, text in (("numbers", "", ""), ("numbers and a text", "@attribute s string\n", "'some words',")):
            header = HEADER.format(more)
            lines = [f"{i},{i % 7},{text}{'no' if i % 2 else 'yes'}\n" for i in range(1, int(rows))]
            training, kept = Path(folder, "training.arff"), Path(folder, "chain")
            training.write_text(header + "".join(lines))
            fit = ["--save", str(kept), "-o", "/dev/null", str(training), "shape", "bns", "l2"]
            subprocess.run([*COMMAND, *fit], check=True)
            for name, arguments in (("l2", ["-", "l2"]), ("--load", ["--load", str(kept), "-"])):
                found = sorted(latencies(arguments, header, lines))
                middle, longest = found[len(found) // 2], found[-1]
                print(f"{name:8} {kind:20} median {middle * 1e3:6.1f} ms, longest {longest * 1e3:6.1f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:])
