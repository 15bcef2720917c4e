"""Turn ordinal features into binary ones (Esuli and Sebastiani, ECIR 2009)."""

from __future__ import annotations

import numpy as np

from filterkit import Attribute, ColumnStage, Schema, StageError, option
from filterkit.plugin import ContingencyTable, Floats, Ints, Ragged, State, expand_ranges, offer

_MOST = 5_000_000  # columns
_ALL = 1 << 40  # levels, more than any column has


class AtLeastIndicators(ColumnStage):
    """Turn each column of counts into 0/1 columns "at least v", one for every value v that it has in training.

        filterkit in.arff ordinal --only count1

    Each distinct non-zero training value v of a column gives a column ``name>=v`` (Esuli and Sebastiani 2009, section
    2). A value above all of them gives 1 in each. `--levels all` takes every whole number from 1 to the largest value
    instead. A column that is always zero in training disappears. Zeros stay zero, but give 1 where v is negative.
    Missing values are missing in every column; nominal columns stay as they are.

    Training values that are negative or not whole are refused unless `--real` is given; `--levels all` refuses values
    that are not whole even then. Where zero is special (sparse input) negative values are always refused, because zero
    is larger than they are and would become a 1.
    """

    name = "ordinal"
    group = "Encode values"
    needs_class = False

    levels: str = option("observed", "Which values become thresholds.", choices=("observed", "all"))
    max_levels: int | None = option(None, "Use only the N lowest of each column.  [default: all]", minimum=1)
    real: bool = option(False, "Accept numbers that are not counts, too.")

    def fit_columns(self, table: ContingencyTable) -> State:
        column = table.column_of_cell
        values = table.values
        numeric = ~table.nominal[column]
        bad = (values < 0) & (table.schema.zero or not self.real)
        bad |= (values != np.rint(values)) & (not self.real or self.levels == "all")
        for at in np.flatnonzero(bad & numeric)[:1].tolist():
            name = table.schema.features[table.columns[column[at]]].name
            hint = "; use a dense file and --levels observed" if self.real else "; --real takes numbers"
            raise StageError(self.name, f"attribute '{name}' has the value {values[at]:g}, which is not a count{hint}")
        counts = np.diff(table.indptr)
        if self.levels == "all":
            counts = np.zeros(len(table), np.int64)
            np.maximum.at(counts, column[numeric], np.clip(values[numeric], 0, _ALL).astype(np.int64))
        counts = np.where(table.nominal, 1, np.minimum(counts, min(self.max_levels or _ALL, _ALL)))
        if self.levels == "all":
            if counts.sum(dtype=np.float64) > _MOST:
                most = counts.argmax()
                name = table.schema.features[table.columns[most]].name
                raise StageError(
                    self.name,
                    f"--levels all would make more than {_MOST:,} columns, most of them of attribute '{name}', whose "
                    f"largest value is {table.extremes()[1][most]:g}; --max-levels N leaves out all but the N lowest",
                )
            levels = expand_ranges(np.ones_like(counts), counts).astype(np.float64)
            levels[np.repeat(table.nominal, counts)] = np.nan
        else:
            first = np.where(table.nominal, len(values), table.indptr[:-1])
            levels = np.append(values, np.nan)[expand_ranges(first, counts)]
        return {"levels": Ragged.from_lengths(counts, levels)}

    def output_columns(self, schema: Schema, state: State, totals: Floats) -> Ints:
        return np.repeat(np.arange(schema.width), state["levels"].lengths)

    def output_attributes(self, schema: Schema, state: State, columns: Ints, totals: Floats) -> list[Attribute]:
        attributes = []
        for column, level in zip(columns.tolist(), state["levels"].values.tolist()):
            attribute = schema.features[column]
            if level == level:
                text = str(int(level)) if level == int(level) else repr(level)
                attribute = Attribute(f"{attribute.name}>={text}", weight=attribute.weight)
            attributes.append(attribute)
        return attributes

    def apply(self, values: Floats, columns: Ints, state: State) -> Floats:
        threshold = state["levels"].values[columns]
        return np.where(np.isnan(values) | np.isnan(threshold), values, (values >= threshold).astype(np.float64))


filterkit_stages = offer(AtLeastIndicators)
