"""The command on an engine that pickles functions, items and results: it writes the same bytes as in threads."""

import gzip

import pytest
from command import run

PLUGIN = '''
import numpy as np
import filterkit
from filterkit.plugin import Moments


class Center(filterkit.ColumnStage):
    """Subtract the mean of each column."""

    name = "center"
    needs_class = False
    learns_from = Moments

    def output(self, schema):
        return schema.replace(zero=False)

    def fit_columns(self, moments):
        return {"mean": np.where(moments.nominal, 0.0, moments.mean())}

    def apply(self, values, columns, state):
        return values - state["mean"][columns]


def halved(tp, fp, pos, neg):
    """Half of the difference of the rates."""
    return (tp / pos - fp / neg) / 2


@filterkit.hookimpl
def filterkit_stages():
    return [Center]


@filterkit.hookimpl
def filterkit_metrics():
    return [filterkit.Metric("halved", halved)]
'''

WITHOUT_CLASS = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c {n,p}\n@data\n" + "".join(
    f"{i % 7},{i % 11 - 5},{'?' if i % 3 == 0 else 'np'[i * i % 5 > 2]}\n" for i in range(900)
)
BROKEN = WITHOUT_CLASS.replace("\n3,", "\nx,").replace("\n5,", "\n5,5,")
CHAINS = [
    "range halved --score-only select --top 2 l1",
    "center standardize svm --c 0.1,1 --folds 2",
    "shuffle impute sample --fraction 1/2 head 40 shape --cross-fit 3 bns",
]


def command(folder, engine, options, source, chain):
    """What the command writes: standard output, exit status, messages, and other files."""
    rejects, saved = folder / "rejects.arff", folder / "saved.fk"
    words = [*engine, "--plugin", "plugin.py", *options, source, *chain.split()]
    done = run(*words, cwd=folder)
    found = [done.stdout.replace(" ".join(engine), ""), done.returncode, done.stderr]
    for path in (rejects, saved):
        found.append(path.read_bytes() if path.exists() else None)
        path.unlink(missing_ok=True)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("elsewhere")
    (path / "plugin.py").write_text(PLUGIN)
    for name, text in {"unlabelled": WITHOUT_CLASS, "broken": BROKEN}.items():
        (path / f"{name}.arff").write_text(text)
    (path / "packed.arff.gz").write_bytes(gzip.compress(WITHOUT_CLASS.encode()))
    return path


THREADS, PROCESSES = ["--engine", "local", "--jobs", "1"], ["--engine", "processes", "--jobs", "2"]
SMALL = ["--memory", "20KB", "--block-size", "2KB"]


@pytest.mark.parametrize("chain", CHAINS)
def test_chains_write_the_same(folder, chain):
    expected, found = (command(folder, engine, SMALL, "unlabelled.arff", chain) for engine in (THREADS, PROCESSES))
    assert found == expected


@pytest.mark.parametrize(
    ("options", "source", "chain"),
    [
        (["--rejects", "rejects.arff"], "broken.arff", "standardize"),
        (["--lenient"], "broken.arff", "range"),
        ([], "broken.arff", "l2"),
        (["--save", "saved.fk"], "packed.arff.gz", "shape halved"),
        (["-o", "saved.fk", "--test", "unlabelled.arff", "-"], "unlabelled.arff", "bns select --top 1"),
    ],
)
def test_other_runs_and_errors_are_the_same(folder, options, source, chain):
    expected, found = (command(folder, engine, [*SMALL, *options], source, chain) for engine in (THREADS, PROCESSES))
    assert found == expected
