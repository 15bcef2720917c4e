"""Standardized numbers by Polars or DuckDB, on one thread: an ARFF file of numbers and a class, read and written.

    python benchmarks/peer_frames.py polars IN.arff OUT.arff
    python benchmarks/peer_frames.py duckdb IN.arff OUT.arff

Deviations are those of a sample (n - 1), as in Weka. The header is copied.
"""

from __future__ import annotations

import os
import sys


def main(peer: str, source: str, output: str) -> None:
    """Write the header of the source, and its standardized rows."""
    header = []
    with open(source, encoding="utf-8") as file:
        for line in file:
            header.append(line)
            if line.lower().startswith("@data"):
                break
    names = [line.split()[1] for line in header if line.lower().startswith("@attribute")]
    with open(output, "w", encoding="utf-8") as file:
        file.writelines(header)
    {"polars": _polars, "duckdb": _duckdb}[peer](source, output, len(header), names)


def _polars(source: str, output: str, skip: int, names: list[str]) -> None:
    os.environ["POLARS_MAX_THREADS"] = "1"
    import polars as pl

    frame = pl.read_csv(source, has_header=False, skip_rows=skip, new_columns=names)
    frame = frame.with_columns([(pl.col(name) - pl.col(name).mean()) / pl.col(name).std() for name in names[:-1]])
    with open(output, "ab") as file:
        frame.write_csv(file, include_header=False)


def _duckdb(source: str, output: str, skip: int, names: list[str]) -> None:
    import duckdb

    database = duckdb.connect()
    database.execute("set threads=1")
    kinds = ",".join(f"'{name}':'{'DOUBLE' if name != names[-1] else 'VARCHAR'}'" for name in names)
    database.execute(
        f"create temp table t as select * from read_csv('{source}', header=false, skip={skip}, columns={{{kinds}}})"
    )
    found = database.execute(
        "select " + ",".join(f"avg({name}), stddev_samp({name})" for name in names[:-1]) + " from t"
    )
    row = found.fetchone()
    assert row is not None
    columns = ",".join(
        f"({name} - ({row[2 * i]!r})) / {row[2 * i + 1]!r} as {name}" for i, name in enumerate(names[:-1])
    )
    rows = output + ".rows"
    database.execute(f"copy (select {columns}, {names[-1]} from t) to '{rows}' (header false)")
    with open(output, "ab") as file, open(rows, "rb") as more:
        while text := more.read(1 << 20):
            file.write(text)
    os.unlink(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
