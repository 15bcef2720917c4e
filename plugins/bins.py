"""Cut numbers into bins: equal width, equal frequency, and the minimum description length of Fayyad and Irani."""

from __future__ import annotations

import itertools

import numpy as np

from filterkit import Attribute, ColumnStage, Schema, StageError, option
from filterkit.plugin import (
    ContingencyTable,
    Floats,
    Ints,
    Ragged,
    State,
    find_mdl_cuts,
    find_run_begins,
    format_number,
    offer,
)


class Bins(ColumnStage):
    """Turn each number into the nominal bin that it lies in, as Weka's Discretize filters do.

        filterkit in.arff bins

    Each bin excludes its lower cut point and includes its upper one; the first and the last bin have no outer limit.

    - `mdl` cuts a range half-way between two training values, where the entropy of the classes is least, and then both
      parts in the same way. It stops where a cut does not shorten the description of the classes (U. Fayyad, K. Irani,
      *Multi-Interval Discretization of Continuous-Valued Attributes for Classification Learning*, IJCAI 1993; as
      Weka's supervised Discretize). A column without a useful cut has one bin.
    - `width` makes `--bins` bins of equal width between the least and the largest training value.
    - `frequency` makes `--bins` bins with about the same number of training rows. Each cut is half-way between two
      values, where the number of rows below comes nearest to its equal share. A column with few distinct values gets
      fewer bins.

    A constant column has one bin. Labels name the cut points with six decimals, as in Weka, or with more digits where
    six would blur them.

    Rows count by weight. Missing values do not count and stay missing; nominal columns stay as they are. Where zero is
    special (sparse input), zero must lie in the first bin, as it does for counts; a cut below 0 is an error.
    """

    name = "bins"
    known_as = "binning cut qcut"
    group = "Encode values"

    method: str = option("mdl", "How to find the cut points.", choices=("mdl", "width", "frequency"))
    bins: int = option(10, "Number of bins, for width and frequency.", minimum=1, maximum=10_000)

    def __post_init__(self) -> None:
        self.needs_class = self.method == "mdl"

    def fit_columns(self, table: ContingencyTable) -> State:
        cells = table.with_zeros()
        columns = np.flatnonzero(~cells.nominal & (np.diff(cells.indptr) > 1))
        if self.method == "width":
            column, cuts = self._find_equal_width_cuts(cells, columns)
        else:
            is_mdl = self.method == "mdl"
            last = np.sort(find_mdl_cuts(cells)) if is_mdl else self._find_equal_frequency_ends(cells, columns)
            low, high = cells.values[last], cells.values[last + 1]
            with np.errstate(over="ignore"):
                middle = low + high
            column, cuts = cells.column_of_cell[last], np.where(np.isinf(middle), low / 2 + high / 2, middle / 2)
        once = find_run_begins(column, cuts)  # they ascend in each column
        column, cuts = column[once], cuts[once]
        if table.schema.zero and (cuts < 0).any():
            at = np.flatnonzero(cuts < 0)[0]
            name = table.schema.features[table.columns[column[at]]].name
            raise StageError(
                self.name,
                f"attribute '{name}' has a cut point below 0, but zeros of sparse rows must be in the first bin; make "
                "a dense file first: filterkit --dense -o NEW.arff FILE",
            )
        return {"cuts": Ragged(np.searchsorted(column, np.arange(len(cells) + 1)), cuts), "nominal": cells.nominal}

    def _find_equal_width_cuts(self, cells: ContingencyTable, columns: Ints) -> tuple[Ints, Floats]:
        """Return the column, int64 (n,), and the value, float64 (n,), of each cut that makes bins of equal width.

        `columns`, int64, are the columns to cut, numeric ones with at least two values. Each has ``--bins`` − 1 cuts,
        which ascend, but some may be equal by rounding.
        """
        low, high = cells.values[cells.indptr[columns]], cells.values[cells.indptr[columns + 1] - 1]
        step = np.arange(1, self.bins)
        unit = np.where(high / 2 - low / 2 > np.finfo(np.float64).max / 2, 0.5, 1.0)  # a range may overflow
        unit[np.maximum(np.abs(low), np.abs(high)) < 1e-290] = 2.0**64  # or a width have few digits
        low, high = low * unit, high * unit
        cuts = (low[:, None] + (high / self.bins - low / self.bins)[:, None] * step) / unit[:, None]
        return np.repeat(columns, len(step)), cuts.ravel()

    def _find_equal_frequency_ends(self, cells: ContingencyTable, columns: Ints) -> Ints:
        """Return where to cut columns into bins of about equally many rows: int64 (columns × (``--bins`` − 1),).

        For each column in turn, these are the indices in `cells` of the last cell of each bin but the last; some may be
        equal. A cell is a value of a column. `columns`, int64, are numeric columns with at least two values.
        """
        running = np.cumsum(cells.rows)
        begin = np.concatenate([[0.0], running])[cells.indptr[:-1]]
        total = running[cells.indptr[columns + 1] - 1] - begin[columns]
        wanted = (begin[columns, None] + total[:, None] * np.arange(1, self.bins) / self.bins).ravel()
        column = np.repeat(columns, self.bins - 1)
        # The last cell that may end a bin is the one before the column's last.
        at = np.clip(np.searchsorted(running, wanted), cells.indptr[column], cells.indptr[column + 1] - 2)
        before = np.maximum(at - 1, cells.indptr[column])
        is_nearer = np.abs(running[before] - wanted) <= np.abs(running[at] - wanted)
        return np.asarray(np.where(is_nearer, before, at))

    def output_attributes(self, schema: Schema, state: State, columns: Ints, totals: Floats) -> list[Attribute]:
        cuts = np.split(state["cuts"].values, state["cuts"].indptr[1:-1])
        return [
            a if a.kind == "nominal" else Attribute(a.name, "nominal", _name_bins(own.tolist()), weight=a.weight)
            for a, own in zip(schema.features, cuts)
        ]

    def output_nominal(self, schema: Schema, state: State) -> np.ndarray:
        return np.ones(schema.width, bool)

    def apply(self, values: Floats, columns: Ints, state: State) -> Floats:
        cuts = state["cuts"]
        number = (cuts.search(columns, values) - cuts.indptr[columns]).astype(np.float64)
        return np.where(np.isnan(values) | state["nominal"][columns], values, number)


def _name_bins(cuts: list[float]) -> tuple[str, ...]:
    if not cuts:
        return ("all",)
    # Six decimals, as in Weka's labels, or more digits if six would blur the cuts.
    for short in ([round(cut, 6) for cut in cuts], [float(f"{cut:.15g}") for cut in cuts], cuts):
        close = all(abs(end - cut) <= abs(cut) * 1e-4 for end, cut in zip(short, cuts))
        if close and len(set(short)) == len(cuts):
            break
    ends = list(map(format_number, short))
    inner = [f"({low}-{high}]" for low, high in itertools.pairwise(ends)]
    return (f"(-inf-{ends[0]}]", *inner, f"({ends[-1]}-inf)")


filterkit_stages = offer(Bins)
