"""Choose and order training rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from filterkit import Batch, StageError, TrainingStage, UsageError, option
from filterkit.plugin import (
    NAME_A_CLASS,
    Ints,
    Rows,
    choose_rows,
    itself,
    offer,
    parse_share,
    quoted,
    read_classes,
    take_rows,
)

_AT_ONCE = 1 << 16  # copies of rows
_LONGEST_FOLD = 100  # characters; Python refuses to convert thousands of digits to a number


class Head(TrainingStage):
    """Keep the first rows and read no further; later rows, as with ``--test``, all stay.

        filterkit in.arff head 10 shape

    If a stage before it, such as ``write``, needs all rows, they are read to the end. Weka's RemoveRange and
    RemovePercentage can keep the first rows, too; ``rows`` keeps any.
    """

    name = "head"

    rows: int | None = option(None, "Number of rows; all, if there are fewer.", minimum=0, bare=True)

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        left = self.rows or 0
        for batch in rows.map(itself, last=True):
            yield batch.rows(0, min(left, len(batch)))
            left = max(left - len(batch), 0)
            if not left and not rows.to_the_end:
                return


class Sample(TrainingStage):
    """Keep a random sample of the rows, stratified by class, as Weka's Resample and ReservoirSample do.

        filterkit in.arff sample --fraction 0.1 shape

    Each class keeps its share. With ``--bias 1`` all classes that have rows get the same number of rows, and with
    values between 0 and 1 something in between. Rows are drawn without replacement, or, with `--replace`, any number of
    times; the copies of a row follow each other. Shares are rounded to whole rows, the largest remainders up, so that
    their sum is right. Rows without a class are a stratum of their own; without a nominal class all rows are one
    stratum. The rows keep their order. Later rows, as with ``--test``, all stay. This takes 40 bytes of memory for each
    row.
    """

    name = "sample"

    fraction: str = option("", "Share of the rows to keep, as 1/4 or 0.25.", names="share")
    rows: int | None = option(None, "Number of rows to keep, instead of a share.", minimum=0, maximum=(1 << 31) - 1)
    replace: bool = option(False, "Draw with replacement.")
    bias: float = option(0.0, "From 0, the classes as they are, to 1, classes of equal size.", minimum=0, maximum=1)
    seed: int = option(0, "Seed for drawing.", minimum=0)

    def __post_init__(self) -> None:
        if bool(self.fraction) == (self.rows is not None):
            raise UsageError(f"{self.name}: say how many rows to keep, with either --fraction or --rows")
        self._share = parse_share(self.name, "--fraction", self.fraction) if self.fraction else 0

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        strata = read_classes(rows) + 1
        size = int((self._share * len(strata) * 2 + 1) / 2) if self.rows is None else self.rows
        if size > len(strata) and not (self.replace and len(strata)):
            hint = "" if self.replace else "; draw fewer, or use --replace"
            raise StageError(self.name, f"--rows {size}, but there are only {len(strata)} rows{hint}")
        counts = np.bincount(strata)
        wanted = self._compute_stratum_sizes(rows, counts, size)
        if self.replace:
            times = _count_draws_with_replacement(strata, counts, wanted, self.seed)
            for batch in rows.map(itself, last=True):
                ends = np.cumsum(times[batch.start : batch.start + len(batch)])
                size = max(_AT_ONCE, len(batch))  # copies that are put out together
                for first in range(0, ends[-1] if len(ends) else 0, size):
                    copies = np.arange(first, min(first + size, ends[-1]))
                    yield batch.take(np.searchsorted(ends, copies, side="right"))
            return
        order = np.argsort(np.random.default_rng(self.seed).random(len(strata)), kind="stable")
        yield from take_rows(rows, choose_rows(strata, wanted, order))

    def _compute_stratum_sizes(self, rows: Rows, counts: Ints, size: int) -> Ints:
        """Return how many of `size` rows to draw of each stratum: int64 (strata,).

        `counts`, int64 (strata,), has the number of rows without a class and then of each class; without a nominal
        class, 0 and the number of all rows. With ``--bias``, raise a StageError if the class is not nominal, or if a
        class has too few rows to draw without replacement.
        """
        n_rows = max(counts.sum(), 1)
        wanted, remainder = np.divmod(counts * size, n_rows)
        target = rows.schema.class_attribute
        if self.bias:
            if target is None or target.kind != "nominal":
                raise StageError(self.name, f"--bias needs a nominal class; {NAME_A_CLASS}")
            present = counts > 0
            present[:1] = False
            shares = (1 - self.bias) * counts / n_rows + self.bias * present / max(present.sum(), 1)
            exact = shares / (shares.sum() or 1.0) * size
            wanted = np.floor(exact + 1e-9).astype(np.int64)
            remainder = exact - wanted
        wanted[np.argsort(-remainder, kind="stable")[: size - wanted.sum()]] += 1  # the largest remainders up
        short = np.flatnonzero(wanted > counts)  # none without a bias, unless rows are replaced
        if len(short) and target is not None and not self.replace:
            at = short[0]
            what = f"class '{target.values[at - 1]}' has {counts[at]} of the {wanted[at]} rows to draw"
            raise StageError(self.name, f"{what}; draw fewer, or use --replace")
        return wanted


class KeepFold(TrainingStage):
    """Keep one fold of a stratified cross-validation, or all but one.

        filterkit in.arff split --fold 1/10 --rest shape

    Rows are dealt into folds class by class. Each fold has the same rows as in Weka's StratifiedRemoveFolds, but in
    their original order. Without a nominal class the folds are runs of rows, as in Weka's RemoveFolds. With a `--seed`
    above 0 the rows are shuffled before they are dealt (not as Weka shuffles). Later rows, as with ``--test``, all
    stay. This takes 40 bytes of memory for each row.
    """

    name = "split"

    fold: str = option("1/10", "Which fold to keep and the number of folds, as 3/10.")
    rest: bool = option(False, "Keep the other folds instead.")
    seed: int = option(0, "Seed for shuffling the rows first; 0 does not shuffle.", minimum=0)

    def __post_init__(self) -> None:
        number, _, folds = self.fold.partition("/")
        whole = number.isdecimal() and folds.isdecimal() and len(self.fold) <= _LONGEST_FOLD
        if not (whole and 1 <= int(number) <= int(folds) and int(folds) > 1):
            raise UsageError(
                f"{self.name}: --fold must be like 3/10, the third of 10 folds (of at least 2), not {quoted(self.fold)}"
            )
        self._number, self._folds = int(number) - 1, int(folds)

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        target = rows.schema.class_attribute
        classes = read_classes(rows)
        if self._folds > len(classes):
            raise StageError(self.name, f"--fold {self.fold}, but there are only {len(classes)} rows; use fewer folds")
        numbers = np.arange(len(classes))
        if self.seed:
            np.random.default_rng(self.seed).shuffle(numbers)
        own = np.zeros(len(numbers), bool)
        if target is not None and target.kind == "nominal":
            numbers = numbers[_order_rows_by_class_as_weka(classes[numbers])]
            own[self._number :: self._folds] = True
        else:
            own[np.array_split(np.arange(len(numbers)), self._folds)[self._number]] = True
        yield from take_rows(rows, np.sort(numbers[own != self.rest]))


class Shuffle(TrainingStage):
    """Put the rows in random order, as Weka's Randomize does; later rows, as with ``--test``, keep theirs.

        filterkit --seed 1 in.arff shuffle

    Rows that do not fit into the memory budget are sorted in a temporary file. Beyond the budget this takes 24 bytes of
    memory for each row.
    """

    name = "shuffle"
    known_as = "shuf"

    seed: int = option(0, "Seed for drawing.", minimum=0)

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        yield from take_rows(rows, np.random.default_rng(self.seed).permutation(len(read_classes(rows))))


def _count_draws_with_replacement(strata: Ints, counts: Ints, wanted: Ints, seed: int) -> Ints:
    """Draw rows of each stratum with replacement, and return how often each row is drawn: int64 (rows,).

    `strata`, int (rows,), has the stratum of each row; `counts` and `wanted`, int64 (strata,), how many rows each
    stratum has, and how many to draw.
    """
    times = np.zeros(len(strata), np.int64)
    members = np.argsort(strata, kind="stable")
    first = np.cumsum(counts) - counts
    random = np.random.default_rng(seed)
    for stratum in np.flatnonzero(wanted).tolist():
        for drawn in range(0, wanted[stratum], _AT_ONCE):
            some = random.integers(0, counts[stratum], min(_AT_ONCE, wanted[stratum] - drawn))
            np.add.at(times, members[first[stratum] + some], 1)
    return times


def _order_rows_by_class_as_weka(classes: Ints) -> Ints:
    """Return the indices of rows in the order of Weka's Instances.stratify, class after class: int64 (rows,).

    `classes` has the code of each row. Weka takes the class of the first row that is not yet grouped, and swaps its
    rows to the front one by one.
    """
    order = np.arange(len(classes))
    rows = order.data  # swaps single numbers in a tenth of the time that the array takes
    done = 0
    while done < len(order):
        for match in (done + np.flatnonzero(classes[order[done:]] == classes[order[done]])).tolist():
            rows[done], rows[match] = rows[match], rows[done]
            done += 1
    return order


filterkit_stages = offer(Head, Sample, KeepFold, Shuffle)
