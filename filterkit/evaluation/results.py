"""The results of evaluations: averages, comparisons, and results as a file."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from filterkit.errors import FilterkitError, quoted
from filterkit.evaluation.comparison import DIGITS, paired, signed_rank, spread
from filterkit.evaluation.confusion import PredictionCounts, add_confusion
from filterkit.evaluation.measures import EARLY_MEASURES, LOSSES, OF_CLASSES
from filterkit.evaluation.regression import OF_NUMBERS
from filterkit.evaluation.runner import Result
from filterkit.files.source import Source

_LATER = ("split", "positive")  # after the measures, because earlier versions did not write them
_PROPERTIES = ("train_positives", "columns", "nonzeros")  # after these, because 0.1.0 did not write them
_CONFUSION = "confusion"  # the last column, in files that have it
_CHOICE = "choice"  # before it, in files of evaluations that choose a chain
_POINTS = "points"  # instead of it, if numbers are predicted
_FOLD_NAME = "fold_name"  # before it, in files of evaluations whose folds were given
_LONGEST = 1 << 28  # characters of a cell, which may hold the confusion of thousands of classes
_MOST_FOLDS = 1_000_000  # bounds the memory for values, which are laid out by fold
_KEYS = ("data", "task", "fold", "share", "chain", "train_rows", "test_rows", "seconds")
_ENDING = "/"  # in the name of a chain, separates the method from its variant


class Results:
    """The results of one or several evaluations.

    Attributes
    ----------
    rows : all results, ordered by data, task, fold, share and chain.
    tasks : the data set and the name of each task.
    chains : the names of the chains.
    shares : the shares of all rows that were trained on, ascending.
    """

    def __init__(self, rows: Iterable[Result]) -> None:
        self.rows = list(rows)
        self.tasks = list(dict.fromkeys((row.data, row.task) for row in self.rows))
        self.chains = list(dict.fromkeys(row.chain for row in self.rows))
        self.shares = sorted({row.share for row in self.rows})
        place = [{key: i for i, key in enumerate(keys)} for keys in (self.tasks, self.chains, self.shares)]
        self._places = np.array(
            [(place[0][row.data, row.task], row.fold, place[1][row.chain], place[2][row.share]) for row in self.rows],
            np.int64,
        ).reshape(-1, 4)
        order = np.lexsort(self._places.T[[2, 3, 1, 0]])
        self.rows = [self.rows[i] for i in order]
        self._places = self._places[order]
        self._values: dict[str, np.ndarray] = {}

    def frame(self) -> Any:
        """Return a pandas data frame with a row for each result; folds count from 1, as in files."""
        import pandas as pd

        columns = (*_KEYS, "positive", "fold_name", "choice")
        rows = [row._replace(fold=row.fold + 1) for row in self.rows]
        return pd.DataFrame([{name: getattr(row, name) for name in columns} | row.values for row in rows])

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures of these results: those of classes, of numbers, or both."""
        kinds = {row.is_numeric for row in self.rows}
        return OF_CLASSES * (False in kinds) + OF_NUMBERS * (True in kinds)

    @property
    def is_of_test_set(self) -> bool:
        """Return whether all rows of the data were trained on, and others tested."""
        return self.shares == [1.0] and self.folds == 1

    @property
    def folds(self) -> int:
        """The number of folds, those of all repeats counted."""
        return int(self._places[:, 1].max(initial=0)) + 1

    def values(self, measure: str) -> np.ndarray:
        """float64 (tasks, folds, chains, shares), NaN where there is no result."""
        if measure not in self._values:
            cube = np.full((len(self.tasks), self.folds, len(self.chains), len(self.shares)), np.nan)
            cube[tuple(self._places.T)] = [row.values.get(measure, np.nan) for row in self.rows]
            cube.flags.writeable = False
            self._values[measure] = cube
        return self._values[measure]

    def units(self, measure: str) -> np.ndarray:
        """float64 (units, chains, shares): the values by which chains are compared.

        A unit is a task, averaged over its folds; or a fold, if there is only one task.
        """
        cube = self.values(measure)
        return mean(cube, 1) if self.over_tasks else cube[0]

    def methods(self) -> list[str]:
        """The names of the methods, which are the names of chains without their variant: ``bns`` of ``bns/500``."""
        return list(dict.fromkeys(map(_method, self.chains)))

    def best_of_methods(self, measure: str) -> np.ndarray:
        """float64 (tasks, methods): the best mean over folds of any variant of a method at any share.

        Forman (2003) averages the best of each trial instead.
        """
        means = mean(self.values(measure), 1)
        owners = [_method(name) for name in self.chains]
        best = np.full((len(self.tasks), len(self.methods())), -np.inf)
        for number, method in enumerate(self.methods()):
            own = means[:, [owner == method for owner in owners]]
            best[:, number] = np.where(np.isnan(own), -np.inf, own).max(axis=(1, 2))
        return np.where(np.isinf(best), np.nan, best)

    def summary(self, measure: str) -> np.ndarray:
        """float64 (chains, shares, 2): the mean over the units, and its standard error."""
        units = self.units(measure)
        pairs = [[spread(units[:, c, s]) for s in range(units.shape[2])] for c in range(units.shape[1])]
        return np.array(pairs).reshape(*units.shape[1:], 2)

    @property
    def over_tasks(self) -> bool:
        """Whether the units are tasks; otherwise they are the folds of the only one."""
        return len(self.tasks) > 1

    def compare_pair(self, measure: str, one: int, other: int, share: int) -> tuple[float, float]:
        """Return the mean of chain `one` minus chain `other` over the units at a share, and the p-value of a test.

        The test is Wilcoxon's over tasks, and otherwise the t-test over folds that Nadeau and Bengio corrected. Results
        on different splits are not paired.
        """
        cube, split = self.values(measure)[..., share], self._splits[..., share]
        both = np.where((split[..., one] == split[..., other])[..., None], cube[..., [one, other]], np.nan)
        both[np.isnan(both).any(axis=-1)] = np.nan
        if self.over_tasks:
            return signed_rank(*mean(both, 1).T)
        return paired(both[0, :, 0], both[0, :, 1], self._ratio(one, other, share))

    def wins(self, measure: str, share: int) -> np.ndarray:
        """int64 (2, chains, chains): on how many units each chain (second axis) is better than, or equal to, another.

        Results on different splits are not compared; means that agree to 12 decimal places are equal.
        """
        cube, split = self.values(measure)[..., share], self._splits[..., share]
        cube = -cube if measure in LOSSES else cube
        found = []
        for one in range(len(self.chains)):
            difference = np.where(split == split[..., [one]], cube[..., [one]] - cube, np.nan)
            found.append(np.round(mean(difference, 1) if self.over_tasks else difference[0], DIGITS))
        differences = np.stack(found, axis=1)  # (units, chains, chains)
        return np.stack([(differences > 0).sum(axis=0), (differences == 0).sum(axis=0)])

    def ranked(self, measure: str, share: int) -> np.ndarray:
        """float64 (tasks, chains): the means over folds from which chains are ranked, larger values being better.

        Tasks are left out for which a chain has no value, or was measured on another split than the first chain.
        """
        cube, split = self.values(measure)[..., share], self._splits[..., share]
        values = mean(cube, 1) * (-1 if measure in LOSSES else 1)
        return np.asarray(values[(split == split[..., :1]).all(axis=(1, 2)) & ~np.isnan(values).any(axis=1)])

    def unpaired(self) -> bool:
        """Whether two chains were measured on different splits of one task, as different seeds make them."""
        split = self._splits
        return any(
            ((split[:, :, [c]] != split) & (split >= 0) & (split[:, :, [c]] >= 0)).any() for c in range(split.shape[2])
        )

    def doubts(self) -> list[str]:
        """Messages about chains that have learned nothing, and about chains that predict the same throughout."""
        found, alike = [], dict[frozenset[Any], list[str]]()
        for chain in self.chains:
            rows = [row for row in self.rows if row.chain == chain and not row.choice]
            warned = [row for row in rows if row.warnings]
            if warned:
                where = f"in {len(warned):,} of {len(rows):,} fits"
                found.append(f"chain {quoted(chain)}, {where}, such as: {'; '.join(warned[0].warnings)}")
            if rows and all(row.predictions for row in rows):
                said = frozenset((row.data, row.task, row.fold, row.share, row.split, row.predictions) for row in rows)
                alike.setdefault(said, []).append(chain)
        for said, chains in alike.items():
            if len(chains) > 1:
                names = f"{', '.join(map(quoted, chains[:-1]))} and {quoted(chains[-1])}"
                found.append(f"the chains {names} predict the same for every test row, in all {len(said):,} fits")
        return found

    @cached_property
    def _splits(self) -> np.ndarray:
        """int64 (tasks, folds, chains, shares): equal numbers for equal splits of a task; −1 without a result."""
        cube = np.full((len(self.tasks), self.folds, len(self.chains), len(self.shares)), -1)
        cube[tuple(self._places.T)] = np.unique([row.split for row in self.rows], return_inverse=True)[1]
        return cube

    def _ratio(self, one: int, other: int, share: int) -> float:
        """The mean number of test rows for each training row of two chains."""
        chosen = np.isin(self._places[:, 2], (one, other)) & (self._places[:, 3] == share)
        return float(np.mean([self.rows[i].test_rows / self.rows[i].train_rows for i in np.flatnonzero(chosen)]))

    def choices(self) -> dict[float, dict[str, int]]:
        """How often each chain was chosen, by share and name; empty if none was chosen.

        All chains are named for each share, in their order, also those that were never chosen.
        """
        chosen = [row for row in self.rows if row.choice]
        names = list(dict.fromkeys([*self.chains, *(row.choice for row in chosen)]))
        names = [name for name in names if name not in {row.chain for row in chosen}]
        found = {share: dict.fromkeys(names, 0) for share in sorted({row.share for row in chosen})}
        for row in chosen:
            found[row.share][row.choice] += 1
        return found

    def text(self, by_class: bool = False) -> str:
        """All results as CSV; `by_class` adds a column with `Result.confusion`, or `Result.points`, as JSON."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        has_choices = any(row.choice for row in self.rows)
        has_names = any(row.fold_name for row in self.rows)
        kept = _POINTS if all(row.is_numeric for row in self.rows) else _CONFUSION
        optional = {_FOLD_NAME: has_names, _CHOICE: has_choices, kept: by_class}
        last = [name for name, is_written in optional.items() if is_written]
        writer.writerow([*_KEYS, *self.measures, *_LATER, *_PROPERTIES, *last])
        for row in self.rows:
            row = row._replace(fold=row.fold + 1)
            values = (row.values.get(name, np.nan) for name in self.measures)
            measured = ("" if np.isnan(value) else repr(value) for value in values)
            properties = ["" if each is None else each for each in (row.positives, row.columns, row.nonzeros)]
            choice = [*([row.fold_name] if has_names else []), *([row.choice] if has_choices else [])]
            counts = [json.dumps(getattr(row, kept), ensure_ascii=False)] if by_class else []
            writer.writerow([*row[: len(_KEYS)], *measured, row.split, row.positive, *properties, *choice, *counts])
        return out.getvalue()


def _method(chain: str) -> str:
    """The method of a chain; a chain whose name has blanks has no variants."""
    return chain if " " in chain else chain.partition(_ENDING)[0]


class Points(NamedTuple):
    """The true and the predicted numbers of some rows of all folds; names are as in `Confusion`."""

    data: str
    task: str
    share: float
    chain: str
    group: str
    true: list[float]
    predicted: list[float]


class Confusion(NamedTuple):
    """How the rows of each class were predicted, summed over folds.

    Attributes
    ----------
    data, task, share, chain : as in `Result`.
    group : the name of the label or target; empty for the class.
    counts : the sums.
    """

    data: str
    task: str
    share: float
    chain: str
    group: str
    counts: PredictionCounts


def summed_confusions(results: Results) -> list[Confusion]:
    """The confusion of each task, share, chain and label, in the order of the results; empty if they do not have it."""
    sums: dict[tuple[str, str, float, str], dict[str, PredictionCounts]] = {}
    for row in results.rows:
        if row.confusion is not None:
            whole = sums.setdefault((row.data, row.task, row.share, row.chain), {})
            add_confusion(whole, row.confusion)
    return [Confusion(*key, group, counts) for key, groups in sums.items() for group, counts in groups.items()]


def joined_points(results: Results) -> list[Points]:
    """The points of each task, share, chain and target, in the order of the results; empty if they do not have them."""
    found: dict[tuple[str, str, float, str, str], Points] = {}
    for row in results.rows:
        for group, *numbers in row.points or ():
            key = (row.data, row.task, row.share, row.chain, group)
            for known, more in zip(found.setdefault(key, Points(*key, [], []))[-2:], numbers):
                known.extend(more)
    return list(found.values())


def mean(values: np.ndarray, axis: int) -> np.ndarray:
    """The mean over an axis without NaN; NaN where no value is left."""
    there = ~np.isnan(values)
    count = there.sum(axis=axis)
    total = np.where(there, values, 0.0).sum(axis=axis)
    return np.asarray(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))


def _cell(line: dict[str, str], name: str) -> str:
    """A cell of a results file; one of a measure that earlier versions did not have is empty."""
    return line[name] if name in EARLY_MEASURES else line.get(name, "")


def _known(line: dict[str, str], name: str, kind: Callable[[str], Any]) -> Any:
    """A property in a line of a results file, None if it has none.

    Raises
    ------
    ValueError : it is negative, infinite or no number.
    """
    text = line.get(name) or ""
    found = kind(text) if text else None
    if found is not None and not 0 <= found < math.inf:
        raise ValueError
    return found


def _confusion_in(line: dict[str, str]) -> list[Any] | None:
    """The confusion in a line of a results file, None if it has none.

    Raises
    ------
    ValueError, TypeError : what is there is no confusion.
    """
    found = json.loads(line.get(_CONFUSION) or "null")
    if found is None:
        return None
    for name, values, cells in found:
        if not all(isinstance(text, str) for text in (name, *values)):
            raise ValueError
        for true, said, weight in cells:
            places = range(len(values))
            if true not in places or said not in places or not 0 < weight < math.inf:
                raise ValueError
    return list(found)


def _points_in(line: dict[str, str]) -> list[Any] | None:
    """The points in a line of a results file, None if it has none.

    Raises
    ------
    ValueError, TypeError : what is there are no points.
    """
    found = json.loads(line.get(_POINTS) or "null")
    for name, *numbers in found or ():
        if not isinstance(name, str) or len(numbers) != 2 or not np.isfinite(np.array(numbers, float)).all():
            raise ValueError
    return found  # type: ignore[no-any-return]


def read_several(paths: Iterable[str]) -> Results:
    """The results in several files together.

    Folds of a task that another file has, too, but with other test rows, as of another seed, are further folds.

    Raises
    ------
    FilterkitError : two files have results of one chain on the same test rows; or as for `read_results`.
    """
    files: dict[tuple[Any, ...], str] = {}  # by data, task, fold, share and chain
    splits: dict[tuple[str, str], dict[int, str]] = {}  # of each task, by fold
    rows: list[Result] = []
    for path in paths:
        tasks: dict[tuple[str, str], list[Result]] = {}
        for row in read_results(path):
            tasks.setdefault((row.data, row.task), []).append(row)
        for task, found in tasks.items():
            known = splits.setdefault(task, {})
            first = _first_fold(found, known, files)
            for row in found:
                row = row._replace(fold=row.fold + first)
                if (other := files.get(row[:5])) is not None:
                    where = f"{other} and {path} have" if other != path else f"{path} has"
                    about = f"two results of the chain {quoted(row.chain)} on one fold of {quoted(row.data)}"
                    raise FilterkitError(f"{where} {about}; leave one of them out")
                files[row[:5]] = path
                known.setdefault(row.fold, row.split)
                rows.append(row)
    return Results(rows)


def _first_fold(rows: list[Result], known: dict[int, str], files: dict[tuple[Any, ...], str]) -> int:
    """The number that the first fold of a file gets.

    Parameters
    ----------
    rows : of one task, from a file.
    known : the splits of this task in the files before, by fold.
    files : those before, by data, task, fold, share and chain of their rows.
    """
    for first in known:
        own = [(row.fold + first, row.split) for row in rows]
        if own[0][0] in known and all(known.get(fold, split) == split for fold, split in own):
            return first  # the same test rows
    return max(known) + 1 if any(row[:5] in files for row in rows) else 0


def read_results(path: str) -> list[Result]:
    """The results in a file that `Results.text` wrote, compressed or not.

    Raises
    ------
    FilterkitError : the file cannot be read, or has no results in it.
    """
    source = Source(path)
    try:
        text = b"".join(iter(lambda: source.read(1 << 20), b""))
    finally:
        source.close()
    try:
        csv.field_size_limit(_LONGEST)
        reader = csv.DictReader(io.StringIO(text.decode(), newline=""), strict=True)
        lines = [(reader.line_num, line) for line in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FilterkitError(f"{source.name}: {error}") from None
    rows = []
    for number, line in lines:
        try:
            names = OF_NUMBERS if line.get(OF_NUMBERS[0]) else OF_CLASSES
            values = {name: float("nan" if _cell(line, name) == "" else line[name]) for name in names}
            counts = (int(line["train_rows"]), int(line["test_rows"]), float(line["seconds"]))
            place = (line["data"], line["task"], int(line["fold"]) - 1, float(line["share"]), line["chain"])
            if abs(place[2]) >= _MOST_FOLDS:
                raise ValueError
            found, points = _confusion_in(line), _points_in(line)
            properties = [_known(line, name, kind) for name, kind in zip(_PROPERTIES, (int, int, float))]
        except (KeyError, ValueError, TypeError, RecursionError):
            raise FilterkitError(f"{path}:{number}: these are no results of an evaluation") from None
        split, positive, choice, fold_name = (line.get(name) or "" for name in (*_LATER, _CHOICE, _FOLD_NAME))
        row = Result(*place, *counts, values, split, positive, found, choice, *properties)
        rows.append(row._replace(fold_name=fold_name, points=points))
    if not rows:
        raise FilterkitError(f"{path}: there are no results in it")
    return rows
