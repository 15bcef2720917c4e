"""What the command does while something fails."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

import filterkit


class Job(NamedTuple):
    """A command line, run in a folder where only its outputs will be; its inputs are in ``../given``.

    Attributes
    ----------
    name : for findings.
    words : of the command.
    stays : names of files that a run which is stopped leaves on purpose, so that the next one goes on with them.
    workers : whether it starts further processes.
    feed : the input that goes through a pipe to its standard input, if any.
    prints : whether its result goes to standard output, after its files are complete.
    varies : whether its outputs have times in them.
    """

    name: str
    words: str
    stays: tuple[str, ...] = ()
    workers: bool = False
    feed: str = ""
    prints: bool = False
    varies: bool = False


IN = "../given/in.arff"
SMALL = "../given/small.arff"
EVALUATE = f"evaluate {SMALL} --chain 'l2 neighbors' --chain 'bns svm' --folds 3 --measure f1"
JOBS = [
    Job("rows", f"--block-size 10kB -o out.arff {IN} l2"),
    Job("fit", f"--block-size 10kB --save s.chain -o out.arff {IN} shape bns l2"),
    Job("spool", f"--block-size 10kB --memory 1MB -o out.arff {IN} shape normal l2"),
    Job("cross-fit", f"--block-size 10kB --memory 1MB -o out.arff {IN} shape --cross-fit 3 l2"),
    Job(
        "outputs",
        f"--block-size 10kB --rejects bad.txt --test {IN} later.arff -o out.arff {IN} write w.csv shuffle standardize",
    ),
    Job("load", f"--block-size 10kB --load ../given/kept.chain -o out.arff {IN}"),
    Job("words", "--block-size 10kB -o out.arff ../given/text.arff words --keep 100 tfidf l2"),
    Job("parquet", "-o out.parquet ../given/in.parquet standardize"),
    Job("csv", "-o out.jsonl ../given/in.csv.gz standardize"),
    Job("packed", f"-o out.arff.zst {IN} binary"),
    Job("parts", f"--block-size 30kB -o 'part-*.arff' {IN} l2", ("*",), varies=True),
    Job("pipe", "--block-size 10kB -o out.arff - l2", feed="in.arff"),
    Job("print", f"--block-size 10kB {IN} write w.csv l2", prints=True),
    Job("scores", f"scores {IN} bns ig", prints=True),
    Job("explore", f"explore {SMALL} bns l2 -o page.html", varies=True),
    Job("evaluate", f"{EVALUATE} --jobs 2 -o results.html", workers=True, prints=True, varies=True),
    Job("journal", f"{EVALUATE} --jobs 2 --journal j.txt -o r.html", ("j.txt",), True, prints=True, varies=True),
    Job("processes", f"--engine processes --jobs 2 -o out.arff {IN} shape bns l2", workers=True),
    Job("dask", f"--engine dask --jobs 2 -o out.arff {IN} shape bns l2", workers=True),
]


def make_inputs(folder: Path, rows: int = 5000) -> None:
    """Write what the jobs read, from a seed."""
    rng = random.Random(1)
    names = [f"@attribute a{number} numeric" for number in range(6)]
    lines = ["@relation r", *names, "@attribute c {x,y}", "@data"]
    for _ in range(rows):
        lines.append(",".join([*(str(rng.randrange(100)) for _ in names), rng.choice("xy")]))
    (folder / "in.arff").write_text("\n".join(lines) + "\n")
    (folder / "small.arff").write_text("\n".join(lines[:308]) + "\n")
    words = [f"w{number}" for number in range(300)]
    texts = ["@relation t", "@attribute s string", "@attribute c {x,y}", "@data"]
    texts += [f"'{' '.join(rng.choices(words, k=12))}',{rng.choice('xy')}" for _ in range(rows // 2)]
    (folder / "text.arff").write_text("\n".join(texts) + "\n")
    data = filterkit.read(folder / "in.arff")
    filterkit.write(data, folder / "in.parquet")
    filterkit.write(data, folder / "in.csv.gz")
    filterkit.save(filterkit.chain("standardize l2").fit(data), folder / "kept.chain")
