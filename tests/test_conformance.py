"""Every stage × every sample × every check of the kit, and the kit against stages that break its rules."""

from pathlib import Path

import numpy as np
import pytest

import filterkit
from filterkit import Batch, ColumnStage, RowStage, testing
from filterkit.plugins import registry

STAGES = [
    filterkit.chain(text).stages[0]
    for text in [
        *("shape", "shape --zero", "shape --no-zero --neighbors 1", "bns", "bns --score-only", "l2", "binary"),
        *("shape --method logodds --prior class", "shape --method isotonic", "l1", "max --norm 2", "tfidf", "range"),
        *("standardize", "impute", "ordinal --real", "ordinal", "onehot", "label --positive yes", "words --keep 3"),
        *("bins", "bins --method frequency --bins 3"),
        *("remove --type string --range 1", "keep --range 1-2", "rename --find a --replace bb"),
        *("ig --combine mean", "chi", "dfreq", "rand", "fisher --alpha 0.3", "normal --subset 1/2"),
        *("shape --cross-fit 2", "shape --cross-fit 3 --auto --zero", "shape --auto", "shape --except ?"),
        *("head 2", "sample --fraction 1/2", "split --fold 2/2", "split --fold 1/2 --rest --seed 1", "shuffle"),
        *("write /dev/null",),
        *("select --by bns --top 2", "select --by ig --spread --top 1", "select --min-count 1 --max-fraction 0.9"),
    ]
]
FILES = sorted((Path(__file__).parent.parent / "arff_samples").glob("*.arff"))


def test_every_stage_is_in_the_list():
    # Of the metrics, which differ only in a formula, each kind is.
    assert {stage.name for stage in STAGES} | set(registry().metrics) == set(registry().stages)


@pytest.mark.parametrize("check", testing.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("stage", STAGES, ids=str)
@pytest.mark.parametrize("name", testing.SAMPLES)
def test_samples_of_the_kit(stage, name, check):
    check(stage, testing.sample(name))


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.stem)
def file_sample(request):
    data = filterkit.read(str(request.param), class_="first" if request.param.stem == "wine" else None)
    return data.rows(0, min(len(data), 120))  # single-row blocks take their time


@pytest.mark.parametrize("check", testing.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("stage", STAGES, ids=str)
def test_sample_files(stage, file_sample, check):
    check(stage, file_sample)


class DependsOnBatch(RowStage):
    """Centre each batch."""

    name = "broken"

    def transform(self, batch: Batch) -> Batch:
        return batch.replace(X=batch.X - batch.X.mean(axis=0))


class ChangesInput(RowStage):
    """Double in place."""

    name = "broken"

    def transform(self, batch: Batch) -> Batch:
        batch.X[...] *= 2
        return batch


class Remembers(ColumnStage):
    """Add the number of times it was fitted."""

    name = "broken"
    fits = 0

    def fit_columns(self, table):
        Remembers.fits += 1
        return {"shift": np.full(len(table), float(Remembers.fits))}

    def apply(self, values, columns, state):
        return values + state["shift"][columns]


class MovesZero(RowStage):
    """Add one to everything."""

    name = "broken"

    def transform(self, batch: Batch) -> Batch:
        X = batch.X.toarray() + 1 if batch.sparse else batch.X + 1
        return batch.replace(X=X)


class LosesColumn(RowStage):
    """Drop the last column without saying so."""

    name = "broken"

    def transform(self, batch: Batch) -> Batch:
        return batch.replace(X=batch.X[:, :-1])


@pytest.mark.parametrize(
    ("check", "stage", "name"),
    [
        (testing.check_blocks_do_not_matter, DependsOnBatch(), "dense-two-classes"),
        (testing.check_input_is_left_alone, ChangesInput(), "dense-two-classes"),
        (testing.check_fitting_again_is_the_same, Remembers(), "dense-two-classes"),
        (testing.check_zeros_stay_zeros, MovesZero(), "sparse-two-classes"),
        (testing.check_schema_is_what_comes_out, LosesColumn(), "dense-two-classes"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_the_kit_finds_what_is_broken(check, stage, name):
    with pytest.raises(AssertionError, match="broken"):
        check(stage, testing.sample(name))
