"""Column stages: what a fitted one makes of rows and of their table, and what is refused from a file."""

import json

import numpy as np
import pytest
from cases import rows

from filterkit import Attribute, Batch, Chain, ColumnStage, FilterkitError, PluginError, Schema, StageError
from filterkit.counts.table import ContingencyTable
from filterkit.stages.columns import FittedColumns

LABELS = Attribute("c", "nominal", ("x", "y", "z"))
SCHEMA = Schema("r", [Attribute("a"), LABELS])
BATCH = Batch(SCHEMA, np.array([[1.0, 0.0], [2.0, 2.0], [2.0, np.nan]]), None)


class Floor(ColumnStage):
    """Replace numbers by whether they are at least 2."""

    name = "floor"
    needs_class = False

    def fit_columns(self, table):
        return {"nominal": table.nominal}

    def apply(self, values, columns, state):
        return np.where(np.isnan(values) | state["nominal"][columns], values, (values >= 2).astype(float))


class Sides(Floor):
    """Make labels of numbers."""

    name = "sides"

    def output_attributes(self, schema, state, columns, totals):
        return [a if a.values else Attribute(a.name, "nominal", ("low", "high")) for a in schema.features]

    def output_nominal(self, schema, state):
        return np.ones(schema.width, bool)


class Shared(ColumnStage):
    """Multiply each column by the number of rows in which all columns are known; learn from whole rows."""

    name = "shared"
    needs_class = False

    def fit_rows(self, rows, schema):
        known = sum(int((~np.isnan(batch.X)).all(axis=1).sum()) for batch in rows())
        return {"known": np.full(schema.width, known)}

    def apply(self, values, columns, state):
        return values * state["known"][columns]


class First(ColumnStage):
    """Keep the first column."""

    name = "first"
    needs_class = False

    def fit_columns(self, table):
        return {"number": table.columns}

    def output_columns(self, schema, state, totals):
        return np.arange(1)


def fitted(stage):
    (made,) = Chain([stage]).fit(BATCH).stages
    assert isinstance(made, FittedColumns)
    return made


def state_in_a_file(made):
    """The state as a file gives it back."""
    state = made.get_state()
    return state | {"attributes": json.loads(json.dumps(state["attributes"]))}


def cells(table):
    """For each column its values with their counts, and the number of missing ones."""
    full = table.with_zeros()
    parts = np.split(np.arange(len(full.values)), full.indptr[1:-1])
    found = [dict(zip(full.values[part].tolist(), full.counts[part, 0].tolist())) for part in parts]
    return list(zip(found, full.missing[:, 0].tolist()))


def test_the_table_of_labels_that_are_made_is_the_table_that_is_pushed_through():
    made = fitted(Sides())
    table = ContingencyTable.of(BATCH, np.arange(2), False, "test")
    of_output = ContingencyTable.of(made.transform(BATCH), np.arange(made.schema.width), False, "test")
    assert cells(made.transform_table(table)) == cells(of_output)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state.nominal": np.array([True])}, "the nominal of sides does not match its columns"),
        ({"state.nominal": None}, "the nominal of sides does not match its columns"),
        ({"source": np.array([0, 2])}, "the columns of sides do not match its attributes"),
        ({"source": np.array([0.0, 1.0])}, "the columns of sides do not match its attributes"),
        # Numbers would pass as they are, and 7 would be the eighth of two labels.
        (
            {"state.nominal": np.array([True, True])},
            "sides gives the nominal 'a' values that are not codes of its labels",
        ),
    ],
    ids=str,
)
def test_a_state_that_does_not_fit_is_refused(change, message):
    with pytest.raises(FilterkitError, match=message):
        Sides().from_state(state_in_a_file(fitted(Sides())) | change, SCHEMA)


class Grow(Floor):
    """Multiply by a large number."""

    name = "grow"

    def apply(self, values, columns, state):
        return values * 1e308


@pytest.mark.filterwarnings("error")
def test_a_value_that_becomes_no_number_is_named_with_its_row(sparse):
    fitted = Chain([Grow()]).fit(rows({"a": [1, 0, 1], "b": [0, 1, 1]}, sparse=sparse, zero=sparse))
    later = rows({"a": [1, 1, 0, 1], "b": [1, 0, 7, 1]}, sparse=sparse, zero=sparse)
    said = "^grow: row 43: attribute 'b' has the value 7, for which the result is not a finite number"
    with pytest.raises(StageError, match=said):
        fitted.transform(later.replace(start=40))


def test_a_column_stage_may_learn_from_whole_rows():
    out = fitted(Shared()).transform(BATCH)
    np.testing.assert_array_equal(out.X, BATCH.X * 2)
    (confined,) = Chain([Shared(only=("a",))]).fit(BATCH).stages
    np.testing.assert_array_equal(confined.transform(BATCH).X, BATCH.X * [3, 1])


def test_what_it_learns_from_rows_has_an_entry_for_each_column():
    class Short(Shared):
        name = "short"

        def fit_rows(self, rows, schema):
            return {"known": np.zeros(1)}

    with pytest.raises(PluginError, match="'known' of fit_rows has 1 entries for 2 columns"):
        fitted(Short())


def test_a_stage_that_only_drops_columns_needs_no_apply():
    np.testing.assert_array_equal(fitted(First()).transform(BATCH).X, BATCH.X[:, :1])
