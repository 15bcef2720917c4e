"""Sparse rows that omit a text before the first one of the input: what is read ahead for them, and what waits where."""

import tracemalloc

import pytest

import filterkit
from filterkit.arff.form import Arff
from filterkit.data.batch import concatenate, itself
from filterkit.engines.local import LocalEngine
from filterkit.engines.processes import ProcessEngine
from filterkit.formats.reader import Reader


def test_memory_does_not_grow_with_what_waits(tmp_path):
    header = (
        "@relation r\n" + "".join(f"@attribute a{i} numeric\n" for i in range(200)) + "@attribute s string\n@data\n"
    )
    row = "{" + ",".join(f"{i} 1" for i in range(200)) + "}\n"
    (tmp_path / "t.arff").write_text(header + row * 6000 + "{200 y}\n")
    with Reader(Arff(), str(tmp_path / "t.arff"), block_size=100_000) as reader:
        tracemalloc.start()
        try:
            n_rows = sum(reader.map(len, LocalEngine(1)))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert n_rows == 6001
    assert peak < 5_000_000


@pytest.mark.parametrize("last", ["{1 x,2 y}\n", "{1 x}\n", "{9 x}\n"])
def test_rows_and_errors_are_the_same_wherever_parts_are_read(last, tmp_path):
    header = "@relation r\n@attribute a numeric\n@attribute s string\n@attribute t string\n@data\n"
    for number, rows in enumerate(["{0 1}\n{0 2,2 ?}\n" * 90 + "{1 ?}\n" * 9 + last + "{0 3}\n" * 20, "{}\n{2 z}\n"]):
        (tmp_path / f"p{number}.arff").write_text(header + rows)
    outcomes = []
    with ProcessEngine(2) as processes:
        for engine, size in [(LocalEngine(1), None), (LocalEngine(1), 1), (LocalEngine(2), 99), (processes, 99)]:
            with Reader(Arff(), str(tmp_path / "p*.arff"), block_size=size) as reader:
                try:
                    rows = concatenate(list(reader.map(itself, engine)), reader.schema)
                    outcomes.append((rows.X.toarray().tolist(), rows.passthrough.to_pydict()))
                except filterkit.FilterkitError as error:
                    outcomes.append(str(error).removeprefix(str(tmp_path)))
    assert all(outcome == outcomes[0] for outcome in outcomes)
    if "9" in last:
        assert outcomes[0].startswith("/p0.arff:195: index 9 is out of range")
    else:
        assert outcomes[0][1]["t"][0] == ("y" if "y" in last else "z")
