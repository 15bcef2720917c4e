"""Stages: options as declared, words, checks; the three bases, with tiny stages of their own."""

import numpy as np
import pytest
from agreement import make, sample
from cases import view

from filterkit import Attribute, Chain, ColumnStage, Fitted, Learner, RowStage, Stage, UsageError, option
from filterkit.plugin import Ragged

NAN = np.nan


class Every(RowStage):
    """Leave everything as it is."""

    name = "every"

    count: int = option(3, "A whole number.", minimum=1)
    share: float = option(0.5, "A number.", minimum=0)
    top_rows: int | None = option(None, "Two words; by default, as many as there are.", minimum=2)
    kind: str = option("one", "A word.", choices=("one", "two"))
    free: str = option("", "Any word.")
    flag: bool = option(False, "Off unless given.")
    pair: bool = option(True, "On unless taken back.")
    undecided: bool | None = option(None, "By the data.")

    def transform(self, batch):
        return batch


class Negate(RowStage):
    """Change the sign of every number, and rename the relation."""

    name = "negate"

    def output(self, schema):
        return schema.replace(relation="negated")

    def transform(self, batch):
        return batch.replace(X=-batch.X)


class Rank(ColumnStage):
    """Replace a value by how many distinct training values are less; `--twice` gives two columns of it.

    Columns without a value go. Missing becomes `--missing`.
    """

    name = "rank"
    needs_class = False

    twice: bool = option(False, "Put out each column twice.")
    missing: float = option(-1.0, "What missing becomes.")
    zero: bool | None = option(None, "What zero is afterwards.")

    def fit_columns(self, table):
        cells = table.with_zeros()
        special = np.full(len(table), self.output(table.schema).zero)
        return {
            "known": Ragged(cells.indptr, cells.values),
            "full": np.diff(cells.indptr) > 0,
            "special": special,
        }

    def output(self, schema):
        return schema if self.zero is None else schema.replace(zero=self.zero)

    def output_columns(self, schema, state, totals):
        assert totals.shape == (1,)
        return np.repeat(np.flatnonzero(state["full"]), 2 if self.twice else 1)

    def output_attributes(self, schema, state, columns, totals):
        suffix = ("", "'") if self.twice else ("",)
        return [Attribute(schema.features[j].name + s) for j in np.unique(columns) for s in suffix]

    def apply(self, values, columns, state):
        column = np.repeat(np.flatnonzero(state["full"]), 2 if self.twice else 1)[columns]
        rank = state["known"].search(column, values) - state["known"].indptr[column]
        rank = np.where((values == 0) & state["special"][column], 0, rank)
        return np.where(np.isnan(values), self.missing, rank)


def run(stage, batch):
    return Chain([stage]).fit(batch).transform(batch)


# ---- options -------------------------------------------------------------------------------------


def test_options_have_their_defaults_and_are_given_by_name():
    stage = Every(count=5, undecided=False)
    assert (stage.count, stage.top_rows, stage.pair, stage.undecided) == (5, None, True, False)
    with pytest.raises(TypeError):
        Every(5)
    with pytest.raises(TypeError, match="colour"):
        Every(colour=1)


def test_stages_are_equal_by_their_options():
    assert Every(count=5) == Every(count=5)
    assert Every(count=5) != Every(count=6)
    assert Every() != Negate()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, []),
        ({"count": 3, "kind": "one", "pair": True}, []),
        ({"count": 7}, ["--count", "7"]),
        ({"share": 0.25, "top_rows": 4}, ["--share", "0.25", "--top-rows", "4"]),
        ({"kind": "two", "free": "a b"}, ["--kind", "two", "--free", "a b"]),
        ({"flag": True, "pair": False}, ["--flag", "--no-pair"]),
        ({"undecided": False}, ["--no-undecided"]),
    ],
)
def test_words_are_the_name_and_the_options_that_are_not_defaults(options, words):
    assert Every(**options).words() == ["every", *words]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 0}, "every: --count must be at least 1, not 0"),
        ({"share": -0.5}, "every: --share must be at least 0, not -0.5"),
        ({"share": NAN}, "every: --share must be at least 0, not nan"),
        ({"top_rows": 1}, "every: --top-rows must be at least 2, not 1"),
        ({"kind": "three"}, "every: --kind must be one of one, two, not 'three'"),
    ],
)
def test_options_out_of_bounds_are_refused(options, message):
    with pytest.raises(UsageError) as caught:
        Every(**options)
    assert str(caught.value) == message


# ---- bases ---------------------------------------------------------------------------------------


BASES = [(Stage, "build"), (RowStage, "transform"), (ColumnStage, "fit_columns"), (Learner, "learn")]


@pytest.mark.parametrize(("base", "method"), BASES)
def test_a_base_class_names_the_method_that_is_missing(base, method):
    bare = type("Bare", (base,), {"name": "bare"})()
    assert bare.needs_class == (base is ColumnStage)
    with pytest.raises(NotImplementedError, match=f"Bare must define {method}"):
        run(bare, sample("iris"))
    with pytest.raises(NotImplementedError, match="Fitted must define transform"):
        Fitted().transform(sample("iris"))


def test_a_row_stage_maps_rows_and_may_change_the_schema():
    batch = sample("iris")
    out = run(Negate(), batch)
    np.testing.assert_array_equal(out.X, -batch.X)
    assert out.schema == batch.schema.replace(relation="negated")
    assert run(Every(), batch) is batch


RANKED = [[5, NAN, 2, 0], [3, NAN, 2, 0], [3, NAN, NAN, 7], [-4, NAN, 2, NAN]]


def test_a_column_stage_maps_each_column_and_may_drop_or_double_some(sparse):
    out = run(Rank(twice=True, zero=False, missing=9), make(RANKED, [0, 1, 1, -1], sparse=sparse))
    assert view(out) == {
        "a0": [2, 1, 1, 0],
        "a0'": [2, 1, 1, 0],
        "a2": [0, 0, 9, 0],
        "a2'": [0, 0, 9, 0],
        "a3": [0, 0, 1, 9],
        "a3'": [0, 0, 1, 9],
        "class": ["no", "yes", "yes", None],
    }


def test_while_zero_is_special_sparse_rows_stay_sparse_and_zeros_are_not_mapped():
    batch = make([[0, 5], [-1, 0], [-3, 5]], [0, 1, 0], sparse=True)
    out = run(Rank(), batch)
    assert out.sparse and out.schema.sparse and out.schema.zero
    assert out.X.toarray().tolist() == [[0, 1], [1, 0], [0, 1]]  # where zero is not special, the first 0 becomes 2
    assert out.X.nnz == 3  # -3 has rank 0, which is not stored
    assert out.X.indices.dtype == out.X.indptr.dtype == np.int32
    assert out.X.has_sorted_indices
    plain = run(Rank(zero=False), batch)
    assert not plain.sparse and not plain.schema.sparse
    assert plain.X.tolist() == [[2, 1], [1, 0], [0, 1]]


def test_dense_rows_stay_dense_even_if_zero_becomes_special():
    out = run(Rank(zero=True), make([[0], [4]], [0, 1]))
    assert out.schema.zero and not out.schema.sparse and not out.sparse


def test_no_column_may_be_left(sparse):
    out = run(Rank(), make([[NAN], [NAN]], [0, 1], sparse=sparse))
    assert view(out) == {"class": ["no", "yes"]} and out.X.shape == (2, 0)
