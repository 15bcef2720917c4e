"""The conformance kit against plugins that break its rules: each check finds its fault and says how to repair it."""

import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import click
import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import filterkit
from filterkit import Batch, ColumnStage, FilterkitError, Format, Metric, RowStage, testing
from filterkit.engines.processes import ProcessEngine
from filterkit.plugin import PAUSE, ClassSums, LocalEngine, Moments, SelectiveStage, Summary, map_numbers, quantiles
from filterkit.stages.metric_scaling import metric_stage
from filterkit.testing import SAMPLES, sample
from filterkit.testing.missing import with_holes
from filterkit.testing.stages import idle_options

# ---- stages --------------------------------------------------------------------------------------


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
        X = csr_array(batch.X.toarray() + 1) if batch.sparse else batch.X + 1
        return batch.replace(X=X)


class MakesDense(RowStage):
    """Make sparse rows dense, and say nothing of it in the schema."""

    name = "broken"

    def transform(self, batch: Batch) -> Batch:
        return batch.replace(X=batch.X.toarray())


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


class LiesAboutColumns(SelectiveStage):
    """Pass every row, and say that the columns come in another order."""

    name = "broken"

    def fit(self, rows, schema):
        return FittedLiesAboutColumns(schema)


class FittedLiesAboutColumns(filterkit.Fitted):
    def __init__(self, schema):
        self.schema, self.columns = schema, np.arange(schema.width)[::-1]

    def get_state(self):
        return {}

    def transform(self, batch):
        return batch


class FirstRow(Moments):
    """A statistic that depends on the order of rows: a value of the first."""

    from_tables = False

    @classmethod
    def of(cls, batch, columns, supervised, reader):
        made = super().of(batch, columns, supervised, reader)
        made.value = float(batch.in_form(False).X[0, 1]) if len(batch) else 0.0
        return made

    @classmethod
    def merge(cls, several, jobs=1):
        made = super().merge(several, jobs)
        made.value = several[0].value
        return made

    def some(self, low, high):
        made = super().some(low, high)
        made.value = self.value
        return made


class SeesOrder(ColumnStage):
    """Take off the first training value of all."""

    name = "broken"
    needs_class = False
    learns_from = FirstRow

    def fit_columns(self, table):
        return {"shift": np.full(len(table), table.value)}

    def apply(self, values, columns, state):
        return values - state["shift"][columns]


class KeepsOnItself(RowStage):
    """Divide by the number of training rows, which it keeps on itself."""

    name = "broken"
    rows = 1.0

    def fit(self, rows, schema):
        self.rows = float(sum(len(batch) for batch in rows())) or 1.0
        return super().fit(rows, schema)

    def transform(self, batch: Batch) -> Batch:
        return batch.replace(X=batch.X / self.rows)


class KeepsOnItsClass(RowStage):
    """Divide by an option, whose inverse the class keeps."""

    name = "broken"
    by: float = filterkit.option(2.0, "By what.")

    def __post_init__(self):
        super().__post_init__()
        type(self).inverse = 1 / self.by

    def transform(self, batch: Batch) -> Batch:
        return batch.replace(X=batch.X * self.inverse)


class ForgetsInCopies(KeepsOnItself):
    """Divide by an option, but by 1 in a copy."""

    by: float = filterkit.option(2.0, "By what.")

    def fit(self, rows, schema):
        return RowStage.fit(self, rows, schema)

    def __copy__(self):
        made = object.__new__(type(self))
        made.__dict__.update(by=1.0)
        return made

    def transform(self, batch: Batch) -> Batch:
        return batch.replace(X=batch.X / self.by)


class Spreads(filterkit.Stage):
    """Take the mean off each column, which one missing value makes missing."""

    name = "broken"

    def fit(self, rows, schema):
        X = np.vstack([np.zeros((1, schema.width)), *(batch.X for batch in rows())])
        return FittedSpreads(schema, X.mean(axis=0))

    def from_state(self, state, schema):
        return FittedSpreads(schema, state["mean"])


class FittedSpreads(filterkit.Fitted):
    def __init__(self, schema, mean):
        self.schema, self.mean = schema, mean

    def get_state(self):
        return {"mean": self.mean}

    def transform(self, batch):
        return batch.replace(X=np.where(batch.schema.nominal, batch.X, batch.X - self.mean))


class Misspells(RowStage):
    """Pass every row."""

    name = "broken"

    def most_colums(self, width):
        return width

    def transform(self, batch: Batch) -> Batch:
        return batch


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
    """Fail without a message."""

    name = "broken"

    def transform(self, batch: Batch) -> Batch:
        raise KeyError("what")


class LooksUpNothing(ColumnStage):
    """Add the number of rows, and forget which column a value is in."""

    name = "broken"
    needs_class = False

    def fit_columns(self, table):
        return {"low": np.full(len(table), float(table.totals.sum()))}

    def apply(self, values, columns, state):
        return values + state["low"]


class LearnsNothing(LooksUpNothing):
    """Clip to a limit that is no number."""

    def fit_columns(self, table):
        return {"low": np.full(len(table), np.nan)}

    def apply(self, values, columns, state):
        return np.maximum(values, state["low"][columns])


class KeepsSet(filterkit.Stage):
    """Keep what no file can hold."""

    name = "broken"

    def fit(self, rows, schema):
        return FittedSet(schema)

    def from_state(self, state, schema):
        return FittedSet(schema)


class FittedSet(filterkit.Fitted):
    def __init__(self, schema):
        self.schema = schema

    def get_state(self):
        return {"rows": 1, "seen": [{1, 2}]}

    def transform(self, batch):
        return batch


class NeverCalls(KeepsSet):
    """Read rows without a call."""

    def fit(self, rows, schema):
        return FittedSet(next(filterkit.plugin.equal_blocks(rows, schema)).schema)


class Crosses(RowStage):
    """Refuse a pair of options by an error of Python's."""

    name = "broken"

    low: float = filterkit.option(0.1, "The least.", minimum=0, maximum=1)
    high: float = filterkit.option(0.9, "The largest.", minimum=0, maximum=1)

    def __post_init__(self):
        super().__post_init__()
        if self.low > self.high:
            raise ValueError("low is larger than high")

    def transform(self, batch):
        return batch


class TakesTooFew(LooksUpNothing):
    """Forget an argument."""

    def apply(self, values, columns):
        return values


class Shouts(RowStage):
    """Make an option something else."""

    name = "broken"
    by: str = filterkit.option("X", "By what.")

    def __post_init__(self):
        super().__post_init__()
        self.by = self.by.upper()


class Stumbles(RowStage):
    """Fail for other values of an option."""

    name = "broken"
    top: int = filterkit.option(1, "How many.")

    def __post_init__(self):
        self.first = ["only"][self.top - 1]


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


class TwoWords(TakesAnything):
    """Pass every row under a name of two words."""

    name = "broken words"


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


class Hoards(filterkit.Stage):
    """Add how many rows fit into memory."""

    name = "broken"

    def fit(self, rows, schema):
        return AddsNumber(schema, float(min(rows.memory // 8, sum(len(batch) for batch in rows()))))


class AddsNumber(filterkit.Fitted):
    def __init__(self, schema, number):
        self.schema, self.number = schema, number

    def transform(self, batch):
        return batch.replace(X=batch.X + self.number)


def test_a_column_stage_that_moves_a_special_zero_is_refused():
    """Otherwise sparse rows would keep zeros that the table has not."""
    for name in ("sparse-two-classes", "sparse-many-classes"):
        with pytest.raises(
            filterkit.FilterkitError,
            match=r"^broken: apply turns zero into something else where zero is special; return 0 for 0",
        ):
            testing.check_zeros_stay_zeros(MovesZeroOfColumns(), testing.sample(name))
    testing.check_zeros_stay_zeros(MovesZeroOfColumns(), testing.sample("dense-two-classes"))
    with pytest.raises(filterkit.FilterkitError, match=r"^broken: apply gives NaN for 0 .*; is NaN in its state\?"):
        testing.check_zeros_stay_zeros(LearnsNothing(), testing.sample("sparse-two-classes"))


def test_rows_of_another_header_are_refused_even_if_the_stage_would_take_them(monkeypatch):
    """The chain refuses them; the check would find a chain that does not."""
    monkeypatch.setattr("filterkit.chains.chain.FittedChain.transform", lambda self, batch: batch)
    with pytest.raises(AssertionError, match="broken transforms rows of another header"):
        testing.check_another_header_is_refused(TakesAnything(), testing.sample("dense-two-classes"))


# Of each check on data, what it finds.
class Multiplies(RowStage):
    """Turn all rows by a product of matrices, whose last digits depend on how many rows there are."""

    name = "broken"

    def transform(self, batch: Batch) -> Batch:
        width = batch.schema.width
        turn = np.sin(np.arange(1.0, width * width + 1)).reshape(width, width)
        return batch.replace(X=batch.in_form(False).X @ turn)


class Doubles(ColumnStage):
    """Make two columns of each, and say that there are as many as before."""

    name = "broken"
    needs_class = False

    def fit_columns(self, table):
        return {}

    def apply(self, values, columns, state):
        return values

    def output_columns(self, schema, state, totals):
        return np.repeat(np.arange(schema.width), 2)

    def output_attributes(self, schema, state, columns, totals):
        return [filterkit.Attribute(f"{a.name}{end}") for a in schema.features for end in ("+", "-")]

    def most_columns(self, width):
        return width


class RenamesOnly(Doubles):
    """Give all columns new names, and say nothing of the columns."""

    output_columns = ColumnStage.output_columns

    def output_attributes(self, schema, state, columns, totals):
        return [filterkit.Attribute(f"new {a.name}") for a in schema.features]


class MakesNominal(RenamesOnly):
    """Make all columns nominal, and say nothing of their kind."""

    def output_attributes(self, schema, state, columns, totals):
        return [filterkit.Attribute(a.name, "nominal", ("a", "b")) for a in schema.features]


class IsNeverMadeAgain(Forgets):
    """The same, where what fitting has found is kept, and nothing is made of it."""

    def fit(self, rows, schema):
        return KeptCount(self, schema, sum(len(batch) for batch in rows()))


class KeptCount(FittedForgets):
    def get_state(self):
        return {"count": self.count}


class NeedsTable(ColumnStage):
    """Ask a summary for quantiles."""

    name = "broken"
    learns_from = Summary

    def fit_columns(self, summary):
        return {"middle": quantiles(summary, [0.5])[:, 0]}

    def apply(self, values, columns, state):
        return values


class Mistypes(TakesAnything):
    """Use what is not there."""

    def transform(self, batch):
        return batch.replace(X=batch.Y)


class TakesRoots(RowStage):
    """Give the square root of each number."""

    name = "broken"

    def transform(self, batch):
        with np.errstate(invalid="ignore"):
            return map_numbers(batch, np.sqrt)


BROKEN = [
    (testing.check_blocks_do_not_matter, Multiplies(), "many-digits"),
    (testing.check_columns_are_not_too_many, Doubles(), "dense-two-classes"),
    (testing.check_a_saved_chain_is_the_same, IsNeverMadeAgain(), "dense-two-classes"),
    (testing.check_unchosen_columns_stay, LiesAboutColumns(), "dense-two-classes"),
    (testing.check_blocks_do_not_matter, DependsOnBatch(), "dense-two-classes"),
    (testing.check_memory_does_not_matter, Hoards(), "dense-two-classes"),
    (testing.check_input_is_left_alone, ChangesInput(), "dense-two-classes"),
    (testing.check_fitting_again_is_the_same, Remembers(), "dense-two-classes"),
    (testing.check_zeros_stay_zeros, MovesZero(), "sparse-two-classes"),
    (testing.check_schema_is_what_comes_out, LosesColumn(), "dense-two-classes"),
    (testing.check_schema_is_what_comes_out, MakesDense(), "sparse-two-classes"),
    (testing.check_blocks_do_not_matter, TrainingByBatch(), "dense-two-classes"),
    (testing.check_a_saved_chain_is_the_same, Forgets(), "dense-two-classes"),
    (testing.check_columns_are_matched_by_name, SeesClass(), "dense-two-classes"),
    (testing.check_the_order_of_rows_does_not_matter, SeesOrder(), "dense-two-classes"),
    (testing.check_fitting_again_is_the_same, KeepsOnItself(), "dense-two-classes"),
    (testing.check_options_are_kept_apart, KeepsOnItsClass(), "dense-two-classes"),
    (testing.check_options_are_kept_apart, ForgetsInCopies(), "dense-two-classes"),
    (testing.check_missing_values_do_not_spread, Spreads(), "dense-two-classes"),
    (testing.check_numbers_stay_numbers, TakesRoots(), "dense-two-classes"),
    (testing.check_errors_are_clear, Rambles(), "dense-two-classes"),
    (testing.check_errors_are_clear, Crashes(), "dense-two-classes"),
]


# Of each check of the declaration, what it finds.
class Initializes(TakesAnything):
    """Take an option as scikit-learn's classes do."""

    name = "broken"

    def __init__(self, base=2):
        super().__init__()
        self.base = base


MISDECLARED = [
    (testing.check_options_come_back, Initializes()),
    (testing.check_options_come_back, Rounds()),
    (testing.check_options_can_be_set, Shouts()),
    (testing.check_options_can_be_set, Stumbles()),
    (testing.check_help_is_there, Silent()),
    (testing.check_help_is_there, HelplessOption()),
    (testing.check_help_is_there, TwoWords()),
    (testing.check_methods_are_known, Misspells()),
]


@pytest.mark.parametrize(("check", "stage", "name"), BROKEN, ids=lambda value: getattr(value, "__name__", None))
def test_the_kit_finds_a_broken_stage(check, stage, name):
    with pytest.raises(AssertionError, match="broken"):
        check(stage, testing.sample(name))
    with pytest.raises(AssertionError, match=rf"(?m)^{check.__name__}: .*broken"):
        testing.check_stage(stage, testing.sample(name))


@pytest.mark.parametrize(("check", "stage"), MISDECLARED, ids=lambda value: getattr(value, "__name__", None))
def test_the_kit_finds_invalid_declarations(check, stage):
    with pytest.raises(AssertionError, match="broken"):
        check(stage)
    with pytest.raises(AssertionError, match=rf"^{check.__name__}: .*broken"):
        testing.check_declaration(stage)


class Refuses(RowStage):
    """Refuse all rows."""

    name = "broken"

    def transform(self, batch: Batch) -> Batch:
        raise filterkit.StageError(self.name, "not today")


def test_a_refusal_is_returned():
    data = testing.sample("dense-two-classes")
    assert str(testing.check_stage(Refuses(), data)) == "broken: not today"
    assert str(testing.refusal(Refuses(), data)) == "broken: not today"
    assert testing.check_stage(TakesAnything(), data) is testing.refusal(TakesAnything(), data) is None


class RefusesHalf(Refuses):
    """Refuse batches of more than one row."""

    def transform(self, batch: Batch) -> Batch:
        return super().transform(batch) if len(batch) > 1 else batch


def test_a_refusal_that_depends_on_blocks_is_found():
    with pytest.raises(AssertionError, match=r"^check_blocks_do_not_matter: broken refuses these rows in one block"):
        testing.check_stage(RefusesHalf(), testing.sample("dense-two-classes"))


class RefusesLaterRows(RowStage):
    """Refuse rows without a class."""

    name = "broken"

    def transform(self, batch: Batch) -> Batch:
        if batch.y is None or (batch.y < 0).any():
            raise filterkit.StageError(self.name, "a class is missing")
        return batch


def test_a_stage_may_refuse_later_rows():
    data = testing.sample("dense-two-classes")
    assert testing.check_stage(RefusesLaterRows(), data) is None
    refusals = [check(RefusesLaterRows(), data) for check in testing.CHECKS]
    assert {str(each) for each in refusals if each} == {"broken: a class is missing"}


class Fails(TakesAnything):
    """Fail with an unexpected error."""

    def transform(self, batch):
        return {}[batch.schema.width]


class FailsTwice(DependsOnBatch):
    """Centre each batch, with an option without help."""

    size: float = filterkit.option(1.0, "")


def findings(stage, names=SAMPLES):
    found = testing.Findings(testing.BASIC_CHECKS)
    found.run(testing.DECLARATION_CHECKS, stage)
    found.run(testing.CHECKS, stage, {name: sample(name) for name in names})
    return list(found.lines()), found


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        (Fails(), r"check_errors_are_clear: broken fails with KeyError: 3 \(test_checks\.py, line \d+\); if the rows"),
        (
            Mistypes(),
            r"check_errors_are_clear: broken fails with AttributeError: .* 'Y' \(.*\); this is a mistake in its",
        ),
        (NeedsTable(), r"check_errors_are_clear: broken fails .*; learns_from = Summary gives a Summary, which has"),
        (
            RenamesOnly(),
            "check_.*: broken: output_attributes gives columns new names; write output_columns, too, which says which",
        ),
        (MakesNominal(), "check_.*: broken: output_attributes gives columns another kind; write output_nominal, too"),
        (
            IsNeverMadeAgain(),
            "check_a_saved_chain_is_the_same: broken has no from_state: write it, to make the fitted stage again from",
        ),
        (ChangesInput(), "check_input_is_left_alone: broken changes the batch that it is given: work on a copy"),
        (LosesColumn(), "check_schema_is_what_comes_out: broken: X has 2 columns, but the schema 3 features"),
        (KeepsOnItself(), "check_fitting_again_is_the_same: broken gives other values once it has been fitted again"),
        (
            KeepsOnItsClass(),
            "check_options_are_kept_apart: broken gives other values once there are stages with",
        ),
        (Spreads(), "check_missing_values_do_not_spread: broken: one missing value among the training rows makes all"),
        (
            KeepsSet(),
            r"check_a_.*: broken cannot be saved: the 'seen' of .* \(Object of type set .*\)",
        ),
        (
            NeverCalls(),
            r"check_errors_are_clear: broken fails with TypeError: .*: write rows\(\)",
        ),
        (
            TakesTooFew(),
            r"check_.*: broken: TakesTooFew.apply takes .self, values, columns.; write def apply.self, values, ",
        ),
        (Crosses(), r"check_options_can_be_set: broken: low=1.0 fails with ValueError: .*; raise a UsageError that"),
        (Misspells(), "check_methods_are_known: broken: filterkit does not use Misspells.most_colums; did you mean"),
        (Shouts(), "check_options_can_be_set: broken: of by='a b', 'A B' is kept: keep options as they were given"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_one_cause_gives_one_finding(stage, said):
    """On all samples of numbers, whatever else the cause leads to."""
    lines, found = findings(stage, ["dense-two-classes", "dense-three-classes", "no-class", "one-row"])
    assert len(lines) == len(found) == 1 and re.match(said, lines[0]), lines


class StoresZeros(RowStage):
    """Take one off what is not zero, and keep the zeros that become of it."""

    name = "broken"

    def transform(self, batch):
        if not batch.sparse:
            return batch.replace(X=np.where(batch.X != 0, batch.X - 1, 0.0))
        X = batch.X.copy()
        X.data -= 1
        return batch.replace(X=X)


def test_zeros_that_a_stage_stores_are_dropped():
    data = sample("zeros-and-ones")
    assert testing.check_stage(StoresZeros(), data) is None
    _, out = filterkit.Chain([StoresZeros()]).fit_transform(data)
    assert out.sparse and not len(out.csr.data) and out.csr.indptr.tolist() == [0] * (len(data) + 1)


class WantsRows(RowStage):
    """Fail for a single row."""

    name = "broken"

    def transform(self, batch):
        return batch.replace(X=batch.X + [0][len(batch) == 1])


def test_an_exception_gives_one_finding_whichever_check_meets_it():
    for names in (["one-row", "dense-two-classes"], ["dense-two-classes", "one-row"]):
        lines, _ = findings(WantsRows(), names)
        assert len(lines) == 1 and " IndexError: list index out of range" in lines[0], lines
    lines, _ = findings(LooksUpNothing(), ["dense-two-classes", "no-class", "one-row"])
    assert len(lines) == 1 and "; look up the state by column: state[name][columns]" in lines[0], lines
    lines, _ = findings(MixesColumns(), ["dense-two-classes", "one-row", "no-rows"])
    assert len(lines) == 1 and "it gets the numbers of outgoing columns, and the state has an" in lines[0], lines


class WritesFile(TakesAnything):
    """Write a file for each batch."""

    path: str = filterkit.option(os.devnull, "Where to.", output=True)

    def transform(self, batch):
        with open(self.path, "w") as file:
            file.write("something")
        return batch


def test_no_check_writes_a_file_of_another_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines, _ = findings(WritesFile())
    assert lines == [] == idle_options(WritesFile(), [sample("one-row")]) == list(tmp_path.iterdir())


def test_two_causes_give_two_findings():
    lines, found = findings(FailsTwice(), ["dense-two-classes", "dense-three-classes", "no-class", "one-row"])
    assert [line.partition(":")[0] for line in lines] == ["check_help_is_there", "check_blocks_do_not_matter"]
    assert lines[1].endswith(" (dense-two-classes, dense-three-classes, no-class)") and found.left_out


def test_a_finding_does_not_spoil_the_samples_of_later_checks():
    data = sample("dense-two-classes")
    found = testing.Findings()
    found.run(testing.CHECKS, ChangesInput(), {"x": data})
    assert len(found) > 1 and testing.same(data, sample("dense-two-classes"))


# ---- missing values ------------------------------------------------------------------------------


class Zeroes(RowStage):
    """Put 0 in the place of what is missing."""

    name = "broken"

    def transform(self, batch):
        if not batch.sparse:
            return batch.replace(X=np.nan_to_num(batch.X))
        X = batch.X.copy()
        X.data = np.nan_to_num(X.data)
        X.eliminate_zeros()
        return batch.replace(X=X)


class Imputes(Zeroes):
    """Put 0 in the place of what is missing, which is what it is for."""

    fills_missing = True


class Compares(ColumnStage):
    """Say whether a value is above zero, of which NaN is not."""

    name = "broken"
    needs_class = False

    def fit_columns(self, table):
        return {"nominal": table.nominal}

    def apply(self, values, columns, state):
        return np.where(state["nominal"][columns], values, values > 0).astype(np.float64)


class Fans(Compares):
    """The same, in two columns of other names."""

    def output_columns(self, schema, state, totals):
        return np.repeat(np.arange(schema.width), 2)

    def output_attributes(self, schema, state, columns, totals):
        return [filterkit.Attribute(f"{a.name}{end}") for a in schema.features for end in ("+", "-")]

    def apply(self, values, columns, state):
        return (values > 0).astype(np.float64)


class MixesColumns(Fans):
    """Look the outgoing columns up in what is known of the incoming ones."""

    def apply(self, values, columns, state):
        return np.where(state["nominal"][columns], values, values + 1)


class Renames(Zeroes):
    """The same, where every attribute has a new name."""

    def output(self, schema):
        return schema.with_features(
            [filterkit.Attribute(f"new {a.name}") for a in schema.features], np.arange(schema.width)
        )


class Classifies(RowStage):
    """Take the first class for what is missing."""

    name = "broken"

    def transform(self, batch):
        return batch if batch.y is None else batch.replace(y=np.maximum(batch.y, 0).astype(batch.y.dtype))


class Inverts(RowStage):
    """Give 1 / v under new names."""

    name = "broken"

    def output(self, schema):
        attributes = [filterkit.Attribute(f"1/{a.name}") for a in schema.features]
        return schema.with_features(attributes, np.arange(schema.width), sparse=False, zero=False)

    def transform(self, batch):
        with np.errstate(divide="ignore"):
            return batch.replace(X=1 / batch.in_form(False).X)


class Blanks(TakesRoots):
    """Make negative numbers missing, which is what it is for."""

    makes_missing = True


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        (TakesRoots(), "^broken makes nan of -0.5 for 'b': give a number, refuse such values with a StageError"),
        (Inverts(), r"^broken makes inf of the row \[0.0, 0.0, 3.0\] for '1/a': give a number"),
    ],
)
def test_numbers_that_become_missing_or_infinite_are_found(stage, message):
    with pytest.raises(AssertionError, match=message):
        testing.check_numbers_stay_numbers(stage, sample("dense-two-classes"))
    testing.check_numbers_stay_numbers(Blanks(), sample("dense-two-classes"))


@pytest.mark.parametrize("stage", [Zeroes(), Compares(), Fans()], ids=lambda stage: type(stage).__name__)
@pytest.mark.parametrize("name", ["dense-two-classes", "sparse-two-classes", "all-kinds", "no-class", "multi-label"])
def test_missing_values_that_vanish_are_found(stage, name):
    message = r"^broken turns the missing values of '.*' into .*: keep NaN, or declare fills_missing = True"
    with pytest.raises(AssertionError, match=message):
        testing.check_missing_values_stay(stage, sample(name))


@pytest.mark.parametrize("name", ["dense-two-classes", "sparse-two-classes", "all-kinds", "no-class", "multi-label"])
def test_missing_values_that_vanish_under_new_names_are_found(name):
    with pytest.raises(AssertionError, match=r"^broken turns a row of missing values into numbers, as 0 for 'new "):
        testing.check_missing_values_stay(Renames(), sample(name))


@pytest.mark.parametrize("name", ["dense-two-classes", "sparse-two-classes", "all-kinds", "multi-label"])
def test_a_class_filled_in_for_a_missing_one_is_found(name):
    with pytest.raises(AssertionError, match=r"^broken gives a row a class that it does not have"):
        testing.check_missing_values_stay(Classifies(), sample(name))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_stage_that_says_so_may_fill_missing_values(name):
    testing.check_missing_values_stay(Imputes(), sample(name))


def test_sample_holes_are_in_every_column_and_fill_one_row():
    for name in ("dense-two-classes", "sparse-many-classes"):
        data, holed = sample(name), with_holes(sample(name))
        X = holed.in_form(False).X
        assert np.isnan(X).any(axis=0).all() and np.isnan(X[-1]).all() and not np.isnan(X).all(axis=0).any()
        known = ~np.isnan(X)
        assert (X[known] == data.in_form(False).X[known]).all() and holed.sparse == data.sparse
        assert (holed.y[::2] == -1).all() and (holed.y[1::2] == data.y[1::2]).all()


# ---- metrics -------------------------------------------------------------------------------------


def precision(tp, fp, pos, neg):
    """0 / 0 of a feature that is in no row."""
    return tp / (tp + fp)


def odds(tp, fp, pos, neg):
    """Infinite for a feature that all positive rows have."""
    return tp / (pos - tp)


def difference(tp, fp, pos, neg):
    """0 / 0 where there are as many of both classes."""
    return tp * (pos - neg) / (pos - neg)


def rows_without(tp, fp, pos, neg):
    """0 / 0 of a constant feature."""
    return (pos - tp) / (pos + neg - tp - fp)


def whole(tp, fp, pos, neg):
    """Infinite for weights below one."""
    return tp / np.floor(pos)


def ranked(tp, fp, pos, neg):
    """The largest of all features is 1."""
    return tp / max(tp.max(), 1.0)


def in_place(tp, fp, pos, neg):
    """Change the counts."""
    tp /= pos
    return tp


METRICS = [
    (Metric("broken", precision), r"score of the metric is nan for tp=0, fp=0, pos=1, neg=1: return a finite number"),
    (Metric("broken", odds), r"score of the metric is inf for tp=1, fp=0, pos=1, neg=1"),
    (Metric("broken", difference), r"score of the metric is nan for tp=0, fp=0, pos=1, neg=1"),
    (Metric("broken", rows_without), r"score of the metric is nan for tp=1, fp=1, pos=1, neg=1"),
    (Metric("broken", whole), r"score of the metric is nan for tp=0, fp=0, pos=0\.5, neg=0\.25"),
    (Metric("broken", ranked), r"depends on the other features"),
    (Metric("broken", in_place), r"fails with ValueError: .*read-only; work on copies"),
    (Metric("broken", lambda tp, fp, pos, neg: tp.tolist()), r"gives list for 4 features: return a float64 for each"),
    (Metric("broken", lambda tp, fp, pos, neg: tp > fp), r"gives bool of shape \(4,\) for 4 features"),
    (Metric("broken", lambda tp, fp, pos, neg: tp[:1]), r"gives float64 of shape \(1,\) for 4 features"),
    (Metric("broken", lambda tp, fp, pos, neg: {}[0]), r"fails with KeyError: 0"),
    (
        Metric("broken", lambda tp, fp, pos, neg: tp, classes=lambda counts, totals: counts[:, 0] / counts.sum(axis=1)),
        r"classes of the metric is nan for counts=\[0\.0, 0\.0, 0\.0\] of totals=\[2\.0, 3\.0, 4\.0\]",
    ),
    (Metric("broken", lambda tp, fp, pos, neg: tp / neg, needs_class=False), r"is nan for tp=0, fp=0, pos=1, neg=0"),
    (
        Metric("broken", lambda tp, fp, pos, neg: tp, by_column=lambda columns, seed: np.log(columns)),
        r"by_column of the metric is -inf for column 0 and seed 0",
    ),
    (
        Metric("broken", lambda tp, fp, pos, neg: tp, by_column=lambda c, seed: c / c.max()),
        r"by_column of the metric depends on the other features",
    ),
    (
        Metric(
            "broken",
            lambda tp, fp, pos, neg: tp,
            classes=lambda counts, totals: counts.max(axis=1),
            class_sums=ClassSums(lambda counts, totals: counts, lambda sums, rows, totals: sums),
        ),
        r"for counts=\[0\.0, 1\.0, 1\.0\] of totals=\[2\.0, 3\.0, 4\.0\], class_sums gives 2 and classes 1: let both",
    ),
    (
        Metric("broken", lambda tp, fp, pos, neg: -((fp - neg / 2) ** 2), best_at_ends=True),
        r"the score at fp=\d+ is larger than at lower and at higher fp: leave best_at_ends False",
    ),
    (
        Metric("broken", lambda tp, fp, pos, neg: tp, bound=lambda t, tp, f, fp, pos, neg: t + 0),
        r"the score of tp=1, fp=0, pos=1 and neg=1 is larger than the bound of ranges with these counts, which is 0",
    ),
]


@pytest.mark.parametrize(("metric", "message"), METRICS)
def test_a_metric_that_is_no_number_is_found(metric, message):
    with pytest.raises(AssertionError, match="^broken: .*" + message):
        testing.check_scores_are_numbers(metric_stage(metric)())


# ---- formats -------------------------------------------------------------------------------------


def columns(batch):
    """An Arrow table that has all that a batch has."""
    return filterkit.to_arrow(batch, weights="the weight")


def read(path, class_, positive):
    with pa.ipc.open_file(path) as file:
        for number in range(file.num_record_batches):
            yield batch_of(pa.table(file.get_batch(number)), class_, positive)


def batch_of(table, class_, positive):
    return filterkit.from_arrow(table, class_=class_, positive=positive, weights="the weight")


def write(batches, out):
    writer = None
    for batch in batches:
        table = columns(batch).combine_chunks()
        writer = writer or pa.ipc.new_file(out, table.schema, options=pa.ipc.IpcWriteOptions(unify_dictionaries=True))
        (record,) = table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
        writer.write_batch(record)
    writer.close()


def form(read=read, write=write, **options):
    return Format("Broken", (".broken",), read, write, **options)


def reading(change):
    """The format with what it reads changed."""
    return form(read=lambda *arguments: map(change, read(*arguments)))


def writing(change):
    """The format with what it writes changed."""
    return form(write=lambda batches, out: write(map(change, batches), out))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("check", testing.FORMAT_CHECKS, ids=lambda check: check.__name__)
def test_a_sound_format_conforms(check, name):
    check(form(), sample(name))


@pytest.mark.parametrize("check", testing.FORMAT_CHECKS, ids=lambda check: check.__name__)
def test_a_format_may_refuse_be_only_read_or_only_written(check):
    def refuse(batches, out):
        raise FilterkitError("it holds none of these")

    for name in ("dense-two-classes", "all-kinds"):
        for each in (form(write=refuse), form(write=None), form(read=None)):
            check(each, sample(name))


def renamed(batch):
    attributes = [a._replace(name=f"x{i}") for i, a in enumerate(batch.schema.attributes)]
    passing = batch.passthrough
    if passing is not None:
        passing = passing.rename_columns([a.name for a in attributes if a.kind in ("string", "date", "relational")])
    return batch.replace(schema=batch.schema.replace(attributes=attributes), passthrough=passing)


def unlabelled(batch):
    """All attributes that are no numbers as strings."""
    table = filterkit.to_arrow(batch.replace(weights=None))
    arrays = [c if pa.types.is_floating(c.type) else c.cast(pa.string()) for c in table.columns]
    kinds = {name: "string" for name, array in zip(table.column_names, arrays) if not pa.types.is_floating(array.type)}
    strings = filterkit.from_arrow(pa.table(arrays, names=table.column_names), class_="none", kinds=kinds)
    return strings.replace(weights=batch.weights)


def test_declared_losses_are_allowed():
    losing = form(read=lambda *arguments: map(renamed, map(unlabelled, read(*arguments))), losses=("names", "kinds"))
    for check in testing.FORMAT_CHECKS:
        for name in SAMPLES:
            check(losing, sample(name))
    light = form(read=lambda *a: (batch.replace(weights=None) for batch in read(*a)), losses=("weights",))
    for check in testing.FORMAT_CHECKS:
        check(light, sample("all-kinds"))


def closing(batches, out):
    write(batches, out)
    out.close()


def first_only(batches, out):
    write(iter([next(batches)]), out)


COUNT = iter(range(1 << 30))


def numbered(batches, out):
    write(batches, out)
    out.write(str(next(COUNT)).encode())


def failing(batches, out):
    raise KeyError("x")


def greets(batches, out):
    list(batches)
    out.write(b"hello")


def rambling(batches, out):
    raise FilterkitError("two\nlines")


def changed(batch):
    return batch.replace(X=np.where(batch.schema.nominal, batch.X, batch.X * (1 + 1e-15)))


def against_rest(batch):
    """The rows with the classes 0 and 1, if one is positive."""
    schema = batch.schema
    if schema.positive is None:
        return batch
    target = schema.class_attribute._replace(values=("rest", schema.positive))
    attributes = [*schema.attributes[:-1], target]
    return batch.replace(schema=schema.replace(attributes=attributes), y=batch.y)


def pairwise(batches, out):
    write(({None: batch}[batch.schema.positive] for batch in batches), out)


POSITIVE = testing.check_a_positive_class_is_written
ROWS, CLASS, BLOCKS = testing.check_rows_come_back, testing.check_class_comes_back, testing.check_blocks_come_back
WRITTEN, AGAIN, MISSING, DECLARED = (
    testing.check_rows_are_written,
    testing.check_writing_is_the_same_again,
    testing.check_a_missing_file_is_an_error,
    testing.check_format_is_declared,
)
FORMATS = [
    (DECLARED, Format("", (".x",), read), "a format needs a name"),
    (DECLARED, Format("Broken", (), read), r"endings must be like \('\.parquet',\), and \(\) is not"),
    (DECLARED, Format("Broken", (".X",), read), "endings must be like"),
    (DECLARED, Format("Broken", ("x",), read), "endings must be like"),
    (DECLARED, Format("Broken", ".x", read), "endings must be like"),
    (DECLARED, Format("Broken", (".x",)), "is neither read nor written"),
    (DECLARED, Format("Broken", (".x",), write), "write does not take path, class_, positive; the function that reads"),
    (DECLARED, form(write=read), "read does not take batches, out; the function that reads comes before"),
    (DECLARED, form(losses=("rows",)), "losses may be names, kinds, labels, weights, columns, and not rows"),
    (ROWS, reading(lambda batch: batch.rows(0, 1)), "1 rows come back of 6"),
    (ROWS, reading(lambda batch: batch.replace(weights=None)), "instance weights are lost: keep them, refuse rows"),
    (ROWS, reading(renamed), "'n' comes back as 'x0': keep it, refuse it"),
    (ROWS, reading(unlabelled), "the nominal 'c' is string: keep it"),
    (ROWS, reading(lambda batch: batch.replace(X=np.nan_to_num(batch.X))), "the values of 'n' come back changed"),
    (
        ROWS,
        reading(lambda batch: batch.replace(X=np.round(batch.X, 3))),
        "the values of 'n' come back changed where numbers have many digits",
    ),
    (ROWS, writing(changed), "the values of 'n' come back changed"),
    (ROWS, form(write=first_only, read=lambda *_: [sample("one-row")]), "1 rows come back of 6"),
    (
        ROWS,
        form(write=failing),
        r"write fails with KeyError: 'x' \(test_checks\.py, line \d+\); if the format",
    ),
    (ROWS, form(write=rambling), "an error must be one line"),
    (ROWS, form(write=closing), "write closes the stream"),
    (ROWS, form(read=lambda *_: []), "reading with the class none fails with FilterkitError: .*it has no batch"),
    (
        ROWS,
        form(read=lambda *_: [None]),
        "reading with the class none fails with FilterkitError: .*expected a Batch, found None",
    ),
    (
        CLASS,
        form(read=lambda path, class_, positive: read(path, "none", None)),
        "asked for the class 'class' and gives",
    ),
    (CLASS, form(read=lambda path, class_, positive: read(path, class_, None)), "does not pass the positive class on"),
    (CLASS, reading(lambda batch: batch.replace(y=np.zeros_like(batch.y))), "other classes come back"),
    (POSITIVE, writing(against_rest), "the labels of 'class' are .*rest.*yes.* where one class is positive: keep it"),
    (POSITIVE, form(write=pairwise), r"write fails with KeyError: 'yes' \(test_checks\.py, line"),
    (BLOCKS, form(write=first_only), "write does not ask for all batches"),
    (BLOCKS, form(read=lambda *a: [next(read(*a))]), "2 rows come back of 6 when they were written in several"),
    (AGAIN, form(write=numbered), "writing the same rows twice gives other bytes"),
    (AGAIN, form(write=lambda batches, out: list(batches)), "write leaves the file empty"),
    (AGAIN, form(write=first_only), None),  # of one batch it takes all
    (WRITTEN, form(write=greets, read=None), "write gives the same bytes for 6 rows as for none: write every row"),
    (MISSING, form(read=lambda *_: [sample("one-row")]), "a file that is not there is read as if it were"),
]


@pytest.mark.parametrize(("check", "broken", "message"), FORMATS, ids=lambda value: getattr(value, "__name__", None))
def test_a_broken_format_is_found(check, broken, message):
    if message is None:
        check(broken, sample("all-kinds"))
        return
    with pytest.raises(AssertionError, match=message):
        check(broken, sample("all-kinds"))


def drifting(batch):
    return batch.replace(X=np.where(batch.schema.nominal, batch.X, batch.X + next(COUNT)))


def test_a_read_only_format_is_checked_with_a_file(tmp_path):
    path = str(tmp_path / "a.broken")
    with open(path, "wb") as out:
        write(iter([sample("all-kinds")]), out)
    testing.check_reading(form(write=None), path)
    for found, message in (
        (lambda *a: map(drifting, read(*a)), "twice gives other rows"),
        (lambda path, class_, positive: read(path, "class", None), "gives a class though it was asked for none"),
        (lambda path, class_, positive: [next(read(path, class_, None)).rows(0, 5 + (class_ is None))], "other rows"),
        (lambda *_: None, "fails with FilterkitError: .*read gives None; yield batches"),
    ):
        with pytest.raises(AssertionError, match=message):
            testing.check_reading(form(read=found, write=None), path)


# ---- engines -------------------------------------------------------------------------------------


class Sound(LocalEngine):
    """An engine of its own `map`."""

    name = "sound"

    def map(self, function, items):
        with ThreadPoolExecutor(self.jobs) as pool:
            running = []
            try:
                items = iter(items)
                while True:
                    try:
                        item = next(items)
                    except StopIteration:
                        break
                    except Exception:
                        yield from (future.result() for future in running)
                        running = []
                        raise
                    if item is PAUSE:
                        yield from (future.result() for future in running)
                        running = []
                        yield PAUSE
                        continue
                    running.append(pool.submit(function, item))
                    if len(running) > self.jobs:
                        yield running.pop(0).result()
                yield from (future.result() for future in running)
            finally:
                for future in running:
                    future.cancel()


@pytest.mark.parametrize("check", testing.ENGINE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("engine", [LocalEngine, Sound], ids=lambda engine: engine.name)
def test_a_sound_engine_conforms(check, engine):
    check(engine)


def engine(map=None, **members):
    """An engine whose `map` is another."""
    return type("Broken", (LocalEngine,), {"name": "broken", **({"map": map} if map else {}), **members})


def as_ready(self, function, items):
    results = [function(item) for item in items]
    yield from results[1::2] + results[::2]


def all_at_once(self, function, items):
    results = [item if item is PAUSE else function(item) for item in items]
    yield from results


def a_list(self, function, items):
    return [function(item) for item in items]


def swallows(self, function, items):
    for item in items:
        try:
            yield item if item is PAUSE else function(item)
        except Exception:
            return


def fails_at_once(self, function, items):
    taken = []
    try:
        for item in items:
            taken.append(item if item is PAUSE else function(item))
    except Exception as error:
        raise error
    yield from taken


def other_failure(self, function, items):
    try:
        for item in items:
            yield item if item is PAUSE else function(item)
    except Exception as error:
        raise RuntimeError("lost") from error


def works_on_pauses(self, function, items):
    for item in items:
        yield function(item)


def forgets_pauses(self, function, items):
    for item in items:
        if item is not PAUSE:
            yield function(item)


def behind(self, function, items):
    """One result behind the items."""
    waiting = []
    for item in items:
        waiting.append(item if item is PAUSE else function(item))
        if len(waiting) > 1:
            yield waiting.pop(0)
    yield from waiting


def goes_on(self, function, items):
    items = iter(items)
    try:
        for item in items:
            yield item if item is PAUSE else function(item)
    finally:
        for _ in zip(range(3), items):
            threading.Event().wait(0)


def without_the_last(self, function, items):
    waiting = []
    for item in items:
        yield from waiting
        waiting = [item if item is PAUSE else function(item)]


ORDER, FAILURES, PAUSES = (
    testing.check_order_is_kept,
    testing.check_failures_come_in_their_place,
    testing.check_pauses_are_passed_on,
)


def only_jobs(self, jobs):
    LocalEngine.__init__(self, jobs)


def counts(self, jobs, options="1"):
    LocalEngine.__init__(self, int(options))


def one_at_a_time(self, function, items):
    self.function = function  # that of the map which began last
    yield from (self.function(item) for item in items)


AHEAD, KEPT, OUTPUT, ENGINE = (
    testing.check_few_items_are_taken_ahead,
    testing.check_kept_results_are_merged,
    testing.check_output_is_that_of_local,
    testing.check_engine_is_declared,
)
ENGINES = [
    (ENGINE, engine(name=""), "needs a name without blanks"),
    (ENGINE, engine(name="a b"), "needs a name without blanks"),
    (
        ENGINE,
        type("Bare", (), {"name": "broken", "map": a_list}),
        r"cannot be made with a number of jobs \(.*derive",
    ),
    (ENGINE, engine(__init__=lambda self, jobs: None), "broken: jobs is None"),
    (ENGINE, engine(__init__=only_jobs), r"broken takes no text of options: leave __init__ out, or write def __init__"),
    (ENGINE, engine(__init__=counts), r"with the options 'no such option' it fails with ValueError.*; raise a filterk"),
    (ENGINE, engine(a_list), "broken: map gives no generator; write it with yield"),
    (ORDER, engine(as_ready), "results of 2 items are not in their order"),
    (ORDER, engine(without_the_last), "map gives 0 results for 1 items: yield function"),
    (
        ORDER,
        engine(one_at_a_time),
        r"with 1 jobs a map whose items are the results of another gives .* and not \[0, -1, ",
    ),
    (ORDER, engine(lambda self, function, items: (item for item in items)), "whose squares are asked for: yield"),
    (FAILURES, engine(swallows), "with 1 jobs what the function raise is lost"),
    (FAILURES, engine(fails_at_once), "an exception of the function comes after 0 results; 7 come before it"),
    (FAILURES, engine(other_failure), "what the function raise becomes RuntimeError"),
    (FAILURES, engine(behind), "an exception of the function comes after 6 results"),
    (PAUSES, engine(works_on_pauses), "the function is called with PAUSE; pass it on"),
    (PAUSES, engine(forgets_pauses), r"there comes \[-1, -2, -3.* and not \[-1, -2, PAUSE"),
    (PAUSES, engine(all_at_once), "the item behind a PAUSE is asked for before the results in front of it"),
    (PAUSES, engine(behind), "the item behind a PAUSE is asked for before"),
    (AHEAD, engine(all_at_once), "5000 items are taken before the second result is asked for"),
    (AHEAD, engine(goes_on), "items are taken after the map was closed"),
    (KEPT, engine(keep=lambda self, function: lambda item: 1), "a kept result has no nbytes"),
    (KEPT, engine(reduce=lambda self, merge, kept: merge(kept[1:])), r"with 1 jobs kept results are merged to array"),
    (OUTPUT, engine(without_the_last), r"fails with 1 jobs: PluginError: the engine broken: map gives \d+ results for"),
    (OUTPUT, engine(as_ready), "the sample .* with 1 jobs"),
]


@pytest.mark.parametrize("sound", [LocalEngine, ProcessEngine])
@pytest.mark.parametrize("check", testing.ENGINE_CHECKS, ids=lambda check: check.__name__)
def test_engines_of_filterkit_pass_all_checks(check, sound, quick_processes, monkeypatch):
    if sound is ProcessEngine:  # whose processes take a while to start
        monkeypatch.setattr("filterkit.testing.engines._JOBS", (2,))
    check(sound)


@pytest.mark.parametrize(("check", "broken", "message"), ENGINES)
def test_a_broken_engine_is_found(check, broken, message):
    with pytest.raises(AssertionError, match=message):
        check(broken)


# ---- subcommands ---------------------------------------------------------------------------------


def command(name="mine", help="Do what it does.", options=(), **settings):
    return click.Command(name, params=list(options), help=help, callback=lambda **_: 1 / 0, **settings)


class Failing(click.Command):
    """A command that cannot show its help."""

    def format_help(self, context, formatter):
        raise KeyError("what")


GROUP = click.Group("mine", help="Do things.", commands=[command("first"), command("second", help=None)])
NAME, HELP, UNKNOWN, BODY = (
    testing.check_command_has_a_name,
    testing.check_command_has_help,
    testing.check_command_refuses_unknown_options,
    testing.check_command_does_something,
)


@click.command("idle")
@click.option("--size", help="How much.")
def idle(size):
    """Do nothing."""


COMMANDS = [
    (BODY, idle, "idle does nothing: its function has no body; write one"),
    (BODY, click.Command("mine", help="Do it."), "mine does nothing"),
    (BODY, click.Group("mine", help="Do things."), "mine is a group without commands"),
    (BODY, click.Group("mine", help="Do things.", commands=[idle]), "mine idle does nothing"),
    (NAME, len, "is no click command: decorate it"),
    (NAME, command(None), "the name None is not one word"),
    (NAME, command("two words"), "the name 'two words' is not one word"),
    (NAME, command("--flag"), "the name '--flag' is not one word"),
    (HELP, command(help=None), "mine does not say what it does: give the function a docstring"),
    (HELP, command(options=[click.Option(["--size"])]), "mine: the option --size has no help"),
    (HELP, Failing("mine", help="Do it."), "mine --help fails with KeyError: 'what'"),
    (HELP, command(add_help_option=False), "mine --help fails with NoSuchOption"),
    (HELP, GROUP, "mine second does not say what it does"),
    (UNKNOWN, command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True}), None),
    (
        UNKNOWN,
        command(options=[click.Option(["--no-such-option-at-all"], is_flag=True)]),
        "mine takes an option that it does not",
    ),
]


class WritesNothing(filterkit.plugin.FileFormat):
    """A format whose method is misspelt."""

    name, title, endings = "kv", "Kv", (".kv",)

    def open(self, opening):
        return opening

    def write(self, schema, precision):
        return schema


class Closes(LocalEngine):
    """An engine whose method takes something else."""

    name = "closes"

    def map(self, function):
        return function


def test_methods_of_formats_and_engines_are_known():
    with pytest.raises(AssertionError, match=r"kv: filterkit does not use WritesNothing\.write; did you mean writer"):
        testing.check_format_is_declared(WritesNothing(), sample("one-row"))
    with pytest.raises(AssertionError, match=r"Closes.map takes \(self, function\); write def map\(self, function, it"):
        testing.check_engine_is_declared(Closes)


def test_a_subcommand_takes_what_its_options_give():
    option = click.Option(["--size"], help="How much.")
    for function, fits in ((lambda path: print(path), False), (lambda size: print(size), True)):
        wrong = click.Command("mine", help="Do it.", params=[option], callback=function)
        if fits:
            testing.check_command_does_something(wrong)
            continue
        with pytest.raises(AssertionError, match=r"mine: its function takes \(path\) and no size, which --size gives"):
            testing.check_command_does_something(wrong)


@pytest.mark.parametrize(("check", "broken", "message"), COMMANDS)
def test_a_broken_subcommand_is_found(check, broken, message):
    if message is None:
        check(broken)
        return
    with pytest.raises(AssertionError, match=message):
        check(broken)


@pytest.mark.parametrize("check", testing.SUBCOMMAND_CHECKS, ids=lambda check: check.__name__)
def test_a_sound_subcommand_conforms_and_is_not_run(check):
    check(command(options=[click.Option(["--size"], help="How much."), click.Argument(["path"])]))
    check(click.Group("mine", help="Do things.", commands=[command("first"), command("second")]))


def running(function, **settings):
    """A command that takes paths and calls a function with them."""
    arguments = [click.Argument(["paths"], nargs=-1)]
    return click.Command("mine", help="Do it.", params=arguments, callback=lambda paths: function(paths), **settings)


def refuse_it(paths):
    raise FilterkitError("there are no rows")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (len, "^mine a.arff: prints nothing, and changes no file among its arguments: print what it finds"),
        (lambda paths: 1 / 0, "^mine a.arff: fails with ZeroDivisionError: .*; raise a FilterkitError that says"),
        (refuse_it, "^mine a.arff: ends with the error: there are no rows$"),
        (lambda paths: click.get_current_context().exit(3), "^mine a.arff: ends with status 3"),
    ],
)
def test_a_run_of_a_broken_subcommand_is_found(function, message):
    with pytest.raises(AssertionError, match=message):
        testing.check_command_runs(running(function), ["a.arff"])


def test_a_run_of_a_sound_subcommand_prints_or_writes(tmp_path):
    path = tmp_path / "out.txt"
    assert testing.check_command_runs(running(lambda paths: click.echo(paths[0])), ["a.arff"]) == "a.arff\n"
    assert testing.check_command_runs(running(lambda paths: path.write_text("x")), [str(path)]) == ""


def test_every_check_is_tried_on_something_broken():
    found = {check for check, *_ in chain(FORMATS, ENGINES, COMMANDS, BROKEN, MISDECLARED)}
    found |= {testing.check_missing_values_stay, testing.check_scores_are_numbers}
    found |= {testing.check_another_header_is_refused}  # which only a broken chain breaks
    of_stages = (testing.DECLARATION_CHECKS, testing.CHECKS)
    others = (testing.FORMAT_CHECKS, testing.ENGINE_CHECKS, testing.SUBCOMMAND_CHECKS)
    assert found == {check for checks in (*of_stages, *others) for check in checks}


def test_a_sample_is_read_as_written():
    assert isinstance(sample("one-row"), Batch) and len(sample("one-row")) == 1
