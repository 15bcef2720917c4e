"""Every stage × every sample × every check of the kit, and the kit against stages that break its rules."""

import os
from pathlib import Path

import numpy as np
import pytest

import filterkit
from filterkit import Batch, ColumnStage, RowStage, testing
from filterkit.plugin.registry import registry

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
        *(f"write {os.devnull}", "sklearn --class sklearn.preprocessing.MaxAbsScaler"),
        *("adaboost-mh --rounds 5", "mp-boost --rounds 5"),
        *("svm", "svm --c 0.1,1 --calibrate --folds 2", "neighbors --k 3"),
        *("aisvm", "aisvm --until low --length squared --steps 2", "neighbors --distance euclidean"),
        *("sklearn --class sklearn.preprocessing.StandardScaler --set with_std=False",),
        *("select --by bns --top 2", "select --by ig --spread --top 1", "select --min-count 1 --max-fraction 0.9"),
    ]
]
FILES = sorted((Path(__file__).parents[2] / "arff_samples").glob("*.arff"))


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


class Forgets(RowStage):
    """Take a number off that fitting has found, and keep nothing of it."""

    name = "broken"

    def fit(self, rows, schema):
        return FittedForgets(self, schema, sum(len(batch) for batch in rows()))


class FittedForgets(filterkit.Fitted):
    def __init__(self, stage, schema, count):
        self.schema, self.count = schema, count

    def get_state(self):
        return {}

    def transform(self, batch):
        return batch.replace(X=batch.X - self.count)


class SeesClass(RowStage):
    """Add the class."""

    name = "broken"

    def transform(self, batch: Batch) -> Batch:
        return batch if batch.y is None else batch.replace(X=batch.X + batch.y[:, None])


class SeesOrder(ColumnStage):
    """Add how often it has been fitted, as if the order of rows had told it."""

    name = "broken"

    def fit_columns(self, table):
        return {"shift": np.full(len(table), 0.0)}

    def finish(self, schema, state, totals):
        fitted = super().finish(schema, state, totals)
        SeesOrder.calls = getattr(SeesOrder, "calls", 0) + 1
        fitted.state["shift"] = fitted.state["shift"] + SeesOrder.calls
        return fitted

    def apply(self, values, columns, state):
        return values + state["shift"][columns]


class TakesAnything(RowStage):
    """Take rows of any header."""

    name = "broken"

    def transform(self, batch: Batch) -> Batch:
        return batch


class Rambles(RowStage):
    """Fail with two lines."""

    name = "broken"

    def transform(self, batch: Batch) -> Batch:
        raise filterkit.StageError(self.name, "one line\nand another")


class Crashes(RowStage):
    """Fail without a word."""

    name = "broken"

    def transform(self, batch: Batch) -> Batch:
        raise KeyError("what")


class Rounds(RowStage):
    """Change its own option."""

    name = "broken"
    size: float = filterkit.option(1.0, "How much.")

    def __post_init__(self):
        self.size += 1

    def transform(self, batch: Batch) -> Batch:
        return batch


class Silent(RowStage):
    name = "broken"

    def transform(self, batch: Batch) -> Batch:
        return batch


class HelplessOption(RowStage):
    """Do nothing."""

    name = "broken"
    size: float = filterkit.option(1.0, "")

    def transform(self, batch: Batch) -> Batch:
        return batch


class TrainingByBatch(filterkit.TrainingStage):
    """Keep the first row of every batch."""

    name = "broken"

    def arrange(self, rows):
        yield from rows.map(lambda batch: batch.rows(0, 1), last=True)


class MovesZeroOfColumns(ColumnStage):
    """Lift every value to one."""

    name = "broken"

    def fit_columns(self, table):
        return {"nothing": np.zeros(len(table))}

    def apply(self, values, columns, state):
        return np.maximum(values, 1.0)


def test_a_column_stage_that_moves_a_special_zero_is_refused():
    """Sparse rows would keep it, and the table would not."""
    for name in ("sparse-two-classes", "sparse-many-classes"):
        with pytest.raises(
            filterkit.FilterkitError, match="broken turns zero into something else where zero is special"
        ):
            testing.check_zeros_stay_zeros(MovesZeroOfColumns(), testing.sample(name))
    testing.check_zeros_stay_zeros(MovesZeroOfColumns(), testing.sample("dense-two-classes"))


def test_rows_of_another_header_are_refused_even_if_the_stage_would_take_them(monkeypatch):
    """The chain refuses them; a chain that did not would be found."""
    monkeypatch.setattr("filterkit.chains.chain.FittedChain.transform", lambda self, batch: batch)
    with pytest.raises(AssertionError, match="broken transforms rows of another header"):
        testing.check_another_header_is_refused(TakesAnything(), testing.sample("dense-two-classes"))


BROKEN = [
    (testing.check_blocks_do_not_matter, DependsOnBatch(), "dense-two-classes"),
    (testing.check_input_is_left_alone, ChangesInput(), "dense-two-classes"),
    (testing.check_fitting_again_is_the_same, Remembers(), "dense-two-classes"),
    (testing.check_zeros_stay_zeros, MovesZero(), "sparse-two-classes"),
    (testing.check_schema_is_what_comes_out, LosesColumn(), "dense-two-classes"),
    (testing.check_blocks_do_not_matter, TrainingByBatch(), "dense-two-classes"),
    (testing.check_a_kept_chain_is_the_same, Forgets(), "dense-two-classes"),
    (testing.check_columns_are_matched_by_name, SeesClass(), "dense-two-classes"),
    (testing.check_the_order_of_rows_does_not_matter, SeesOrder(), "dense-two-classes"),
    (testing.check_errors_are_clear, Rambles(), "dense-two-classes"),
    (testing.check_errors_are_clear, Crashes(), "dense-two-classes"),
    (testing.check_options_come_back, Rounds(), "dense-two-classes"),
    (testing.check_help_is_there, Silent(), "dense-two-classes"),
    (testing.check_help_is_there, HelplessOption(), "dense-two-classes"),
]


@pytest.mark.parametrize(("check", "stage", "name"), BROKEN, ids=lambda value: getattr(value, "__name__", None))
def test_the_kit_finds_what_is_broken(check, stage, name):
    with pytest.raises(AssertionError, match="broken"):
        check(stage, testing.sample(name))
