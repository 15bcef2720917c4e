"""The benchmarks: every input can be read, and a work is run, checked and reported."""

import subprocess
import sys
from pathlib import Path

import pytest

import filterkit
from benchmarks import compare, inputs, report
from benchmarks.work import Contender, Target, Work
from benchmarks.works import Places

ROOT = Path(__file__).parent.parent

ROWS = {"dense": 40, "sparse": 40, "classes": 40, "wide": 2}
COLUMNS = {"wide": 1_000_000, "texts": 0, "distinct-20": 20, "distinct-50": 50, "sparse": 30_000, "dense": 50}


KINDS = [pytest.param(kind, marks=[pytest.mark.separate] * (kind == "wide")) for kind in inputs.MAKERS]


@pytest.mark.parametrize("kind", KINDS)
def test_an_input_can_be_read(kind, tmp_path):
    path, rows = tmp_path / "made.arff", ROWS.get(kind, 40)
    maker, _ = inputs.MAKERS[kind]
    path.write_bytes(b"".join(maker(rows)))
    batch = filterkit.read(path)
    assert len(batch) >= rows  # some makers only make whole pieces
    assert (batch.y >= 0).all()
    assert batch.schema.width == COLUMNS.get(kind, batch.schema.width)


def work(target, *checks):
    say = (sys.executable, "-c", "print('read 3 rows, done')")
    return Work(
        "say", "both say it", Contender("one", say, says=" 3 rows,"), Contender("two", say), target, checks=checks
    )


def test_a_work_is_run_and_reported(tmp_path):
    outcomes = [compare.compare(work(Target("at most", 1000, "cpu", peak)), 2) for peak in (2000, 1)]
    lines = report.versions(Places(tmp_path, tmp_path, None, None), [0, 1])
    for write in (report.plain, report.markdown):
        said = write(outcomes, lines)
        assert "filterkit" in said and "≤ 1000, ≤ 2,000 MB" in said
        assert "met: say; missed: say; failed: none" in said


def test_a_failed_check_is_reported():
    check = (sys.executable, "-c", "import sys; sys.exit('not the same')")
    failed = compare.compare(work(Target("at least"), check), 1)
    assert "say: FAILED" in report.plain([failed], []) and "not the same" in failed.failure


def test_all_works_are_listed():
    command = [sys.executable, "-m", "benchmarks", "--list"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {"chain-floor", "rows-shape", "classes-bns", "svm-rows"} <= {line.split()[0] for line in said.splitlines()}
