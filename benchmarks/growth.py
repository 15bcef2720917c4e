"""Works with many rows, classes or columns: neither time nor memory may grow faster than the data.

One thread each, ``--memory 256MB``, and as a rule 150 MB more for Python, its libraries and the batches at work.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from benchmarks.work import Command, Contender, Input, Skipped, Target, Work

HERE = Path(__file__).resolve().parent
PEAK = 256 + 150
# What is fitted on 1,000,000 x 20 numbers; with the CPU seconds a row at most 1.3 times those of 100,000 rows.
STAGES = {
    "standardize": ("standardize",),
    "range": ("range",),
    "impute": ("impute",),
    "select": ("select", "--by", "ig", "--top", "5"),
    "bins": ("bins",),
    "shape": ("shape", "bns", "l2"),
    "cross-fit": ("shape", "--cross-fit", "5"),
}
Made = Callable[..., Input]
Filterkit = Callable[..., Command]


def works(data: Path, made: Made, filterkit: Filterkit, weka39: str | None) -> Iterator[Work | Skipped]:
    """All works, in order.

    Parameters
    ----------
    data : the folder for outputs.
    made : returns an input by its path, kind and number of rows.
    filterkit : returns a command line by input, output, options and stages.
    weka39 : the class path of Weka 3.9, or None.
    """

    def contender(label: str, source: Input, stages: tuple[str, ...], output: Path | None = None) -> Contender:
        command = filterkit(
            source.path, str(output or "/dev/null"), "--jobs", "1", "--memory", "256MB", "--verbose", stages=stages
        )
        return Contender(label, command, output, says=" rows,")

    few = made(data / "distinct-100k.arff", "distinct-20", "100000")
    many = made(data / "distinct-1m.arff", "distinct-20")
    table = made(data / "distinct-50.arff", "distinct-50")
    for peer, limit in (("polars", 0.6), ("duckdb", 1.2)):
        yield _frames(data, peer, limit, table, contender)
    for name, stages in STAGES.items():
        yield Work(
            f"rows-{name}",
            f"distinct numbers, 20 columns: {' '.join(stages)}",
            contender("filterkit, 1,000,000 rows", many, stages),
            contender("filterkit, 100,000 rows", few, stages),
            Target("at most", 13, "cpu", PEAK),
            inputs=(many, few),
            slow=True,
        )
    classes = {count: made(data / f"labels-{count}.arff", f"labels-{count}") for count in (2, 200, 2000)}
    for name, count, target in (
        ("shape", 200, Target("at most", None, "cpu", 400)),
        ("bns", 2000, Target("at most", 12, "cpu", PEAK)),
        ("ig", 2000, Target("at most", 12, "cpu", PEAK)),
    ):
        yield Work(
            f"classes-{name}",
            f"20,000 rows x 10,000 words: {name}",
            contender(f"filterkit, {count:,} classes", classes[count], (name,)),
            contender("filterkit, 2 classes", classes[2], (name,)),
            target,
            inputs=(classes[count], classes[2]),
        )
    yield _wide(data, made(data / "wide.arff", "wide"), weka39, contender)
    text = made(data / "texts.arff", "texts")
    yield Work(
        "ngrams",
        "50,000 texts: words --ngrams 2",
        contender("filterkit words --ngrams 2", text, ("words", "--ngrams", "2")),
        contender("filterkit words", text, ("words",)),
        Target("at most", None, "cpu", PEAK),
        inputs=(text,),
    )
    join_all_rows, some = made(data / "vectors.arff", "vectors"), made(data / "vectors-12500.arff", "vectors", "12500")
    yield Work(
        "svm-rows",
        "unit vectors of 20,000 words: svm",
        contender("filterkit, 50,000 rows", join_all_rows, ("svm",)),
        contender("filterkit, 12,500 rows", some, ("svm",)),
        Target("at most", None, "cpu", PEAK),
        inputs=(join_all_rows, some),
    )


def _frames(data: Path, peer: str, limit: float, table: Input, contender: Callable[..., Contender]) -> Work | Skipped:
    """A library of data frames, which reads the rows as CSV."""
    if find_spec(peer) is None:
        return Skipped(f"zscore-{peer}", f"{peer} is not installed")
    ours, theirs = data / f"zscore-{peer}-filterkit.arff", data / f"zscore-{peer}.arff"
    return Work(
        f"zscore-{peer}",
        "distinct numbers, 200,000 x 50: standardize, one thread each",
        contender("filterkit", table, ("standardize",), ours),
        Contender(peer, (sys.executable, str(HERE / "peer_frames.py"), peer, str(table.path), str(theirs)), theirs),
        Target("at least", limit, "cpu", 256),
        inputs=(table,),
        checks=((sys.executable, "-m", "benchmarks.checks", "rows", str(ours), str(theirs), "1e-9"),),
    )


def _wide(data: Path, source: Input, weka39: str | None, contender: Callable[..., Contender]) -> Work | Skipped:
    if weka39 is None:
        return Skipped("wide", "no Weka 3.9 (--weka39) or no Java")
    ours, theirs = data / "wide-filterkit.arff", data / "wide-weka.arff"
    name = "weka.filters.unsupervised.instance.RemoveRange"
    peer = ("java", "-cp", weka39, name, "-R", "2-last", "-i", str(source.path), "-o", str(theirs))
    return Work(
        "wide",
        "1,000,000 attributes: the first row",
        contender("filterkit head 1", source, ("head", "1"), ours),
        Contender("Weka 3.9 RemoveRange", peer, theirs),
        Target("at least", None, "cpu", 350),
        inputs=(source,),
        checks=((sys.executable, "-m", "benchmarks.checks", "count", str(ours), str(theirs)),),
    )
