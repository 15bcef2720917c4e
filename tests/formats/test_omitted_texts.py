"""Sparse rows that omit a text before the first one of the input: what is read ahead for them, and what waits where."""

import tracemalloc

import pytest
from content import outcome

import filterkit
from filterkit.engines.local import LocalEngine
from filterkit.engines.processes import ProcessEngine


def test_memory_does_not_grow_with_what_waits(tmp_path):
    header = "@relation r\n@attribute a numeric\n@attribute s string\n@data\n"
    row = f"{{0 1.{1:01000}}}\n"
    (tmp_path / "t.arff").write_text(header + row * 2000 + "{1 y}\n")
    for _ in filterkit.batches(tmp_path / "t.arff"):  # so that everything is imported
        pass
    tracemalloc.start()
    try:
        assert sum(map(len, filterkit.batches(tmp_path / "t.arff", block_size=50_000))) == 2001
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("last", "expected"),
    [("{1 x,2 y}\n", "'t': ['y', "), ("{1 x}\n", "'t': ['z', "), ("{9 x}\n", "p0.arff:195: index 9 is out of range")],
)
def test_rows_and_errors_are_the_same_wherever_parts_are_read(last, expected, tmp_path, quick_processes):
    header = "@relation r\n@attribute a numeric\n@attribute s string\n@attribute t string\n@data\n"
    for number, rows in enumerate(["{0 1}\n{0 2,2 ?}\n" * 90 + "{1 ?}\n" * 9 + last + "{0 3}\n" * 20, "{}\n{2 z}\n"]):
        (tmp_path / f"p{number}.arff").write_text(header + rows)
    with ProcessEngine(2) as processes:
        found = [
            outcome(tmp_path / "p*.arff", engine, block_size=size, class_="none")
            for engine, size in [(LocalEngine(1), None), (LocalEngine(1), 1), (LocalEngine(2), 99), (processes, 99)]
        ]
    assert found == [found[0]] * 4 and expected in found[0][0]
