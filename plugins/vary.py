"""Keep the columns that vary."""

from __future__ import annotations

import numpy as np

from filterkit import ColumnStage, Schema, option
from filterkit.plugin import ContingencyTable, Floats, Ints, State, offer


class RemoveUselessColumns(ColumnStage):
    """Keep the columns that vary, as Weka's RemoveUseless does.

        filterkit in.arff vary

    A column goes if its training values are all missing, or all equal but for missing ones. With ``--equal X``, it goes
    if at least the share X of its known values is equal. A nominal column also goes if more distinct labels occur in it
    than `--distinct` times the number of its known values, as in an attribute with the names of rows. Zeros count; rows
    count by weight. The class stays.
    """

    name = "vary"
    group = "Select attributes"
    needs_class = False

    equal: float = option(1.0, "Remove columns of which this share of the values is equal.", minimum=0, maximum=1)
    distinct: float = option(0.99, "Remove nominal columns above this share of distinct labels.", minimum=0, maximum=1)

    def fit_columns(self, table: ContingencyTable) -> State:
        zeros = table.zeros.sum(axis=1)
        known = table.totals.sum() - table.missing.sum(axis=1)
        most = zeros.copy()
        np.maximum.at(most, table.column_of_cell, table.rows)
        labels = np.diff(table.indptr) + (zeros > 0)
        useless = (labels < 2) | (most >= self.equal * known) | (table.nominal & (labels > self.distinct * known))
        return {"kept": ~useless}

    def most_columns(self, width: int | None) -> int | None:
        return width

    def output_columns(self, schema: Schema, state: State, totals: Floats) -> Ints:
        return np.flatnonzero(state["kept"])


filterkit_stages = offer(RemoveUselessColumns)
