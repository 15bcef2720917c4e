"""Chains: passes over the rows, strips, spools, jobs and blocks; general stages in between; errors."""

from functools import partial

import cases
import numpy as np
import pytest
from agreement import SAMPLES, columns, cut, dense, make, sample, transformed
from content import open_reader
from counted import counted_rows

import filterkit
from filterkit import Chain, ConversionWarning, FilterkitError, Fitted, Stage, StageError, testing
from filterkit.arff.blocks import BlockParser
from filterkit.arff.form import Arff
from filterkit.chains.rows import BatchSource, Rows
from filterkit.engines.local import LocalEngine
from filterkit.stages.columns import FittedColumns

PLENTY = 1 << 30


class Centre(Stage):
    """Subtract the mean from each column in two passes: one for the number of rows, one for the sums."""

    name = "centre"

    def fit(self, rows, schema):
        count = sum(len(batch) for batch in rows())
        return FittedCentre(schema, sum(dense(batch).sum(axis=0) for batch in rows()) / count)


class FittedCentre(Fitted):
    def __init__(self, schema, means):
        self.schema = schema.replace(sparse=False, zero=False)
        self.means = means

    def transform(self, batch):
        return batch.replace(schema=self.schema, X=dense(batch) - self.means)


# ---- passes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chain", "passes"),
    [
        ("", 0),
        ("l2", 0),
        ("shape bns shape bns", 1),
        ("shape l2 bns", 2),
        ("l2 shape", 1),
        ("shape l2 bns l2 shape bns l2", 3),
    ],
)
def test_fitting_reads_the_rows_as_few_times_as_possible(chain, passes):
    rows = counted_rows(cut(sample("mixed-sparse"), 7))
    filterkit.chain(chain).fit(rows)
    assert rows.source.passes == passes


def test_a_general_stage_may_read_the_rows_often_and_ends_a_run_of_column_stages():
    rows = counted_rows(cut(sample("iris"), 40))
    shape, bns = filterkit.chain("shape bns").stages
    Chain([shape, bns, Centre(), bns, shape]).fit(rows)
    assert rows.source.passes == 1 + 2 + 1


@pytest.mark.parametrize(("chain", "jobs"), [("l2", 1), ("shape l2 bns", 2)])
def test_text_is_parsed_once_however_often_rows_are_read(chain, jobs, monkeypatch):
    parsed = []
    parse = BlockParser.__call__

    def counting(self, block):
        parsed.append(block.line)
        return parse(self, block)

    monkeypatch.setattr(BlockParser, "__call__", counting)
    engine = LocalEngine(jobs)
    with open_reader(Arff(), str(SAMPLES / "iris.arff"), block_size=500) as reader:
        rows = Rows(BatchSource(reader.schema, partial(reader.map, engine=engine), engine, PLENTY))
        fitted = filterkit.chain(chain).fit(rows)
        sizes = list(rows.map(lambda batch: len(fitted.transform(batch)), last=True))
        rows.source.close()
    assert len(parsed) == len(set(parsed)) == len(sizes) > 5
    assert sum(sizes) == 150


# ---- the same output whatever the way --------------------------------------------------------------


@pytest.mark.parametrize(("name", "chain"), [("fortunes", "shape bns l2"), ("mixed-sparse", "shape --no-zero bns")])
def test_strips_of_columns_give_the_same_output(name, chain):
    """Also with weights that are not whole numbers, in blocks and in threads."""
    batch = columns(sample(name), np.arange(0, sample(name).schema.width, 40 if name == "fortunes" else 1))
    batch = batch.rows(0, min(len(batch), 150))
    batch = batch.replace(weights=np.random.default_rng(6).random(len(batch)))
    whole = transformed(chain, batch)
    passes = []
    for memory in (PLENTY, 2000 if name == "mixed-sparse" else 10_000, 0):
        rows = counted_rows(cut(batch, 37), LocalEngine(2))
        assert testing.same(filterkit.chain(chain).fit(rows, memory=memory).transform(batch), whole)
        passes.append(rows.source.passes)
    assert passes[0] < passes[1] < passes[2]


# ---- chains with stages of all kinds ----------------------------------------------------------------


def test_a_table_that_outgrows_the_budget_is_pushed_no_further(monkeypatch):
    # `shape` makes a column for each of thirty classes, so the table of what it puts out is 30 times as wide.
    classes = [f"c{code}" for code in range(30)]
    batch = make(np.random.default_rng(0).normal(size=(60, 8)), np.arange(60) % 30, classes)
    pushed, transform_table = [], FittedColumns.transform_table
    monkeypatch.setattr(
        FittedColumns, "transform_table", lambda self, table: pushed.append(len(table)) or transform_table(self, table)
    )
    chain = filterkit.chain("shape bns")
    out = chain.fit(batch).transform(batch)
    assert sum(pushed) == 8
    pushed.clear()
    np.testing.assert_array_equal(chain.fit(batch, memory=4 << 20).transform(batch).X, out.X)
    assert 0 < sum(pushed) < 8


@pytest.mark.parametrize("order", ["shape bns l2", "bns centre shape bns", "l2 shape centre l2"])
def test_a_chain_equals_its_stages_applied_one_by_one(order):
    batch = sample("mixed")
    stages = [Centre() if name == "centre" else filterkit.chain(name).stages[0] for name in order.split()]
    step = batch
    for stage in stages:
        step = Chain([stage]).fit(cut(step, 9)).transform(step)
    assert testing.same(Chain(stages).fit(cut(batch, 9)).transform(batch), step)


def test_a_stage_that_counts_without_the_class_takes_its_own_table():
    class Rank(filterkit.ColumnStage):
        """Replace each value by the number of smaller values in all rows."""

        name = "rank"
        needs_class = False

        def fit_columns(self, table):
            cells = table.with_zeros()
            return {
                "known": filterkit.plugin.Ragged(cells.indptr, cells.values),
                "less": filterkit.plugin.Ragged(cells.indptr, (cells.cumulative() - cells.counts)[:, 0]),
            }

        def apply(self, values, columns, state):
            return state["less"].values[state["known"].search(columns, values)]

    batch = make([[5], [3], [3], [4]], [0, 1, -1, -1])
    rows = counted_rows([batch])
    bns = filterkit.chain("bns").stages[0]
    fitted = Chain([Rank(), bns, Rank()]).fit(rows)
    assert rows.source.passes == 3  # of all rows, of those with a class, and again of all
    s = dict(fitted.stages[1].schema.features[0].scores)["bns"]
    ranked = fitted.stages[0].transform(batch)
    assert ranked.X.ravel().tolist() == [3, 0, 0, 2]
    assert fitted.stages[1].transform(ranked).X.ravel().tolist() == pytest.approx([s, 0, 0, 2 / 3 * s])
    assert fitted.transform(batch).X.ravel().tolist() == [3, 0, 0, 2]


# ---- words and errors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("class_index", "message"),
    [
        (None, "there is no class attribute, which it needs; .* --class"),
        (3, "it needs a nominal class, but 'petal width .* is numeric"),
    ],
)
def test_a_stage_that_needs_a_class_says_so_before_any_row_is_read(class_index, message):
    schema = sample("iris").schema.replace(class_index=class_index)
    with pytest.raises(StageError, match=f"^shape: {message}"):
        filterkit.chain("shape").fit(Rows(BatchSource(schema, None, LocalEngine(1), PLENTY)))


def test_a_value_that_was_read_as_missing_is_refused_when_that_is_not_asked_for():
    fitted = Chain([]).fit(cases.rows({"colour": ["a", "b"]}))
    batch = cases.rows({"colour": ["b", "c"]}, labels={"colour": tuple("abc")})
    with pytest.warns(ConversionWarning, match="attribute 'colour' is missing where it is 'c'"):
        np.testing.assert_array_equal(fitted.transform(batch, unseen="missing").X, [[1.0], [np.nan]])
    with pytest.raises(FilterkitError, match="not among those fitted on: 'c'"):
        fitted.transform(batch)


@pytest.mark.parametrize(
    ("chain", "jobs", "spool", "note"),
    [
        ("shape", 1, PLENTY, ""),
        ("l2", 2, PLENTY, ",x"),
        ("l2 shape", 2, PLENTY, ""),
        ("bns l2 shape", 1, 0, ""),
        ("outliers", 1, PLENTY, ""),
    ],
)
def test_an_error_names_the_row_of_the_file(tmp_path, chain, jobs, spool, note):
    """Stages of later passes, too: `bns` does not count the row, as its class is missing, and `l2` falls over it."""
    lines = [f"{i},{'ab'[i % 2]}{note}" for i in range(100)]
    lines[77] = f"Infinity,{'?' if chain.startswith('bns') else 'a'}{note}"
    header = "@relation odd\n@attribute n numeric\n@attribute c {a,b}\n" + "@attribute note string\n" * bool(note)
    (tmp_path / "odd.arff").write_text(f"{header}@data\n" + "\n".join(lines))
    engine = LocalEngine(jobs)
    with open_reader(Arff(), str(tmp_path / "odd.arff"), class_="c", block_size=60) as reader:
        rows = Rows(BatchSource(reader.schema, partial(reader.map, engine=engine), engine, spool))

        with pytest.raises(StageError, match=r"row 78: .*infinite") as caught:  # noqa: PT012 - either may raise it
            fitted = filterkit.chain(chain).fit(rows)
            list(rows.map(fitted.transform, last=True))
        rows.source.close()
    assert caught.value.row == 77
