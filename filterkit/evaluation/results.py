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
from filterkit.evaluation.comparison import (
    DIGITS,
    MethodRanks,
    adjust_p_values_by_holm,
    average_without_nan,
    choose_pairs_to_test,
    compute_corrected_t_test,
    compute_mean_and_standard_error,
    compute_signed_rank_test,
    rank_and_group_methods,
)
from filterkit.evaluation.confusion import PredictionCounts
from filterkit.evaluation.measure_names import LOSSES, OF_CLASSES, OF_NUMBERS
from filterkit.evaluation.runner import Result
from filterkit.files.source import Source

_LONGEST = 1 << 28  # characters of a cell, which may hold the confusion of thousands of classes
_MOST_FOLDS = 1_000_000  # bounds the memory for values, which are laid out by fold
_ENDING = "/"  # in the name of a chain, separates the method from its variant


def _parse_nonnegative_number(text: str) -> float:
    if not 0 <= (amount := json.loads(text)) < math.inf:
        raise ValueError
    return float(amount) if isinstance(amount, float) else int(amount)


def _parse_confusion_matrices(text: str) -> list[Any]:
    """Parse JSON: a list of [class, its values, [[true, predicted, weight], …]]; raise ValueError if it is not."""
    found = json.loads(text)
    for name, values, cells in found:
        if not all(isinstance(text, str) for text in (name, *values)):
            raise ValueError
        for true, predicted, weight in cells:
            codes = range(len(values))
            if true not in codes or predicted not in codes or not 0 < weight < math.inf:
                raise ValueError
    return list(found)


def _parse_predicted_numbers(text: str) -> list[Any]:
    found = json.loads(text)
    for name, *numbers in found:
        if not isinstance(name, str) or len(numbers) != 2 or not np.isfinite(np.array(numbers, float)).all():
            raise ValueError
    return list(found)


# The columns of a results file, which are fields of `Result`, and how each is parsed, with a ValueError or TypeError
# for what it cannot be: those before the measures, and those after, which may be missing or empty.
_KEYS: dict[str, Callable[[str], Any]] = {
    **{"data": str, "task": str, "fold": int, "share": float, "chain": str},
    **{"train_rows": int, "test_rows": int, "seconds": float},
}
_LATER: dict[str, Callable[[str], Any]] = {
    **{"split": str, "positive": str},
    **dict.fromkeys(("train_positives", "columns", "nonzeros"), _parse_nonnegative_number),
    **{"fold_name": str, "choice": str, "points": _parse_predicted_numbers, "confusion": _parse_confusion_matrices},
}
_OPTIONAL = ("fold_name", "choice", "points", "confusion")  # columns that only some files have


class Results:
    """Holds the results of one or several evaluations.

    Attributes
    ----------
    rows : all results, ordered by data, task, fold, share and chain.
    tasks : the data set and the name of each task.
    chains : the names of the chains.
    methods : the names of the methods: those of the chains without their variants, such as ``bns`` for ``bns/500``.
    shares : the different values of `Result.share`, ascending.
    measures : the names of the measures of these results: those of classes, of numbers, or both.
    n_folds : the number of folds of a task, those of all repeats together.
    has_separate_test_set : whether the user gave the rows to test on, as by ``--test``: there is a single fold, and a
        single share, which is 1.
    has_several_tasks : whether there are several tasks; if so, chains are compared over tasks, and otherwise over
        folds.
    compared_count_and_unit : the number of tasks, and "tasks", if there are several; else that of folds, and "folds".
    can_be_ranked : whether there are enough results to rank chains: at least three chains and two tasks.
    """

    def __init__(self, rows: Iterable[Result]) -> None:
        self.rows = list(rows)
        self.tasks = list(dict.fromkeys((row.data, row.task) for row in self.rows))
        self.chains = list(dict.fromkeys(row.chain for row in self.rows))
        self.shares = sorted({row.share for row in self.rows})
        task, chain, share = ({key: i for i, key in enumerate(keys)} for keys in (self.tasks, self.chains, self.shares))
        # int64 (rows, 4): the indices of task, fold, chain and share of each row, its cell in `values`.
        self._cells = np.array(
            [(task[row.data, row.task], row.fold, chain[row.chain], share[row.share]) for row in self.rows], np.int64
        ).reshape(-1, 4)
        order = np.lexsort(self._cells.T[[2, 3, 1, 0]])
        self.rows = [self.rows[i] for i in order]
        self._cells = self._cells[order]
        self._values: dict[str, np.ndarray] = {}
        kinds = {row.is_numeric for row in self.rows}
        self.measures: tuple[str, ...] = OF_CLASSES * (False in kinds) + OF_NUMBERS * (True in kinds)
        self.n_folds = int(self._cells[:, 1].max(initial=0)) + 1
        self.has_separate_test_set = self.shares == [1.0] and self.n_folds == 1
        self.has_several_tasks = len(self.tasks) > 1
        self.compared_count_and_unit = (len(self.tasks), "tasks") if self.has_several_tasks else (self.n_folds, "folds")
        self.can_be_ranked = len(self.chains) > 2 and self.has_several_tasks
        self._shape = (len(self.tasks), self.n_folds, len(self.chains), len(self.shares))
        self.folds, self.units = self.n_folds, self.compared_count_and_unit  # their names in older programs
        # A name with blanks has no variant.
        self._method_of_chain = [name if " " in name else name.partition(_ENDING)[0] for name in self.chains]
        self.methods = list(dict.fromkeys(self._method_of_chain))

    def frame(self) -> Any:
        """Return a pandas data frame with a row for each result, and its measures; folds count from 1, as in files."""
        import pandas as pd

        columns = (*_KEYS, "positive", "fold_name", "choice")
        rows = [row._replace(fold=row.fold + 1) for row in self.rows]
        return pd.DataFrame([{name: getattr(row, name) for name in columns} | row.values for row in rows])

    def get_values_of_measure(self, measure: str) -> np.ndarray:
        """Return the values of a measure: float64 (tasks, folds, chains, shares), NaN where there is no result.

        The array is read-only, and the same at each call.
        """
        if measure not in self._values:
            cube = self._values[measure] = np.full(self._shape, np.nan)
            cube[tuple(self._cells.T)] = [row.values.get(measure, np.nan) for row in self.rows]
            cube.flags.writeable = False
        return self._values[measure]

    def compute_values_by_task_or_fold(self, measure: str) -> np.ndarray:
        """Compute the values by which chains are compared: float64 (tasks or folds, chains, shares).

        They are the means over the folds of each task or, if there is only one task, the values of its folds.
        """
        return self._average_folds_if_several_tasks(self.get_values_of_measure(measure))

    def _average_folds_if_several_tasks(self, values: np.ndarray) -> np.ndarray:
        """Return means over folds of values, float64 (tasks, folds, ...); of a single task, the values of its folds."""
        return average_axis_without_nan(values, 1) if self.has_several_tasks else values[0]

    def compute_best_mean_of_each_method(self, measure: str) -> np.ndarray:
        """Compute the largest mean over folds of any variant of each method at any share: float64 (tasks, methods).

        It is NaN where no variant has a value. Larger values of the measure must be better. Forman (2003) averages the
        best of each trial instead.
        """
        means = average_axis_without_nan(self.get_values_of_measure(measure), 1)
        owners = np.array(self._method_of_chain)
        # fmax passes over NaN
        best = [np.fmax.reduce(means[:, owners == method], axis=(1, 2)) for method in self.methods]
        return np.stack(best, axis=1)

    def compute_means_and_standard_errors(self, measure: str) -> np.ndarray:
        """Compute the mean of a measure over tasks, or over the folds of the only task, and its standard error.

        Return float64 (chains, shares, 2), the mean first.
        """
        values = self.compute_values_by_task_or_fold(measure)
        return np.moveaxis(np.apply_along_axis(compute_mean_and_standard_error, 0, values), 0, 2)

    def compare_chains(self, measure: str, first: int, second: int, share_index: int) -> tuple[float, float]:
        """Compare two chains by index at a share; return the mean of the first minus the second, and a p-value.

        Only results on the same test rows count. The p-value is of Wilcoxon's test over several tasks, and else of the
        t-test over folds that Nadeau and Bengio corrected; it is NaN if fewer than two tasks or folds count. The mean
        is NaN if none does.
        """
        cube, split = self.get_values_of_measure(measure)[..., share_index], self._test_split_ids[..., share_index]
        both = np.where((split[..., first] == split[..., second])[..., None], cube[..., [first, second]], np.nan)
        both[np.isnan(both).any(axis=-1)] = np.nan
        of_one, of_other = self._average_folds_if_several_tasks(both).T
        if self.has_several_tasks:
            return compute_signed_rank_test(of_one, of_other)
        chosen = np.isin(self._cells[:, 2], (first, second)) & (self._cells[:, 3] == share_index)
        ratios = [self.rows[i].test_rows / self.rows[i].train_rows for i in np.flatnonzero(chosen)]
        return compute_corrected_t_test(of_one, of_other, average_without_nan(np.array(ratios)))

    def compare_pairs_of_chains(self, measure: str, share_index: int) -> list[tuple[int, int, float, float]]:
        """Compare the pairs of `choose_pairs_to_test` at the share of this index.

        Return for each pair the index of the first chain, that of the second, the mean of the second minus the first,
        and the p-value, adjusted by Holm's method.
        """
        pairs = choose_pairs_to_test(len(self.chains))
        found = [self.compare_chains(measure, second, first, share_index) for first, second in pairs]
        adjusted = adjust_p_values_by_holm(np.array([p for _, p in found])).tolist()
        return [(*pair, difference, p) for pair, (difference, _), p in zip(pairs, found, adjusted)]

    def count_wins_and_ties(self, measure: str, share_index: int) -> np.ndarray:
        """Count the tasks, or folds of the only task, on which each chain is better than each other one, or equal.

        Return int64 (2, chains, chains): how often the chain of the row is better than that of the column, and how
        often they are equal, which means to 12 decimal places. Results on different test rows are not compared.
        """
        cube, split = self.get_values_of_measure(measure)[..., share_index], self._test_split_ids[..., share_index]
        cube = -cube if measure in LOSSES else cube
        found = []
        for one in range(len(self.chains)):
            difference = np.where(split == split[..., [one]], cube[..., [one]] - cube, np.nan)
            found.append(np.round(self._average_folds_if_several_tasks(difference), DIGITS))
        differences = np.stack(found, axis=1)  # (tasks or folds, chains, chains)
        return np.stack([(differences > 0).sum(axis=0), (differences == 0).sum(axis=0)])

    def rank_chains(self, measure: str, share_index: int) -> MethodRanks:
        """Return the ranks of the chains over tasks, by their means over folds, at the share of this index.

        Rank 1 is the best, which is the smallest value of a loss. A task is left out if a chain has no value there, or
        was measured on other test rows than the first chain.
        """
        cube, split = self.get_values_of_measure(measure)[..., share_index], self._test_split_ids[..., share_index]
        values = average_axis_without_nan(cube, 1) * (-1 if measure in LOSSES else 1)
        return rank_and_group_methods(
            values[(split == split[..., :1]).all(axis=(1, 2)) & ~np.isnan(values).any(axis=1)]
        )

    def has_unpaired_splits(self) -> bool:
        """Return whether two chains were measured on different test rows in folds of one number, as with two seeds."""
        split = self._test_split_ids
        largest = split.max(axis=2, keepdims=True, initial=-1)
        return bool(((split >= 0) & (split != largest)).any())

    def list_warning_messages(self) -> list[str]:
        """List a warning for each chain with `Result.warnings`, and for each group of chains with equal predictions."""
        found, by_predictions = [], dict[frozenset[Any], list[str]]()
        for chain in self.chains:
            rows = [row for row in self.rows if row.chain == chain and not row.choice]
            warned = [row for row in rows if row.warnings]
            if warned:
                where = f"in {len(warned):,} of {len(rows):,} fits"
                found.append(f"chain {quoted(chain)}, {where}, such as: {'; '.join(warned[0].warnings)}")
            if rows and all(row.predictions for row in rows):
                all_of_chain = frozenset((*row[:4], row.split, row.predictions) for row in rows)
                by_predictions.setdefault(all_of_chain, []).append(chain)
        for predictions, chains in by_predictions.items():
            if len(chains) > 1:
                names = f"{', '.join(map(quoted, chains[:-1]))} and {quoted(chains[-1])}"
                found.append(
                    f"the chains {names} predict the same for every test row, in all {len(predictions):,} fits"
                )
        return found

    @cached_property
    def _test_split_ids(self) -> np.ndarray:
        """A number for each set of test rows, int64 (tasks, folds, chains, shares); −1 where there is no result."""
        ids = np.full(self._shape, -1)
        ids[tuple(self._cells.T)] = np.unique([row.split for row in self.rows], return_inverse=True)[1]
        return ids

    def count_chosen_chains(self) -> dict[float, dict[str, int]]:
        """Count how often each chain was chosen, by share and then by name; {} if chains were not chosen.

        Each share has all chains, in their order, with 0 for those that were never chosen.
        """
        chosen = [row for row in self.rows if row.choice]
        names = list(dict.fromkeys([*self.chains, *(row.choice for row in chosen)]))
        names = [name for name in names if name not in {row.chain for row in chosen}]
        found = {share: dict.fromkeys(names, 0) for share in sorted({row.share for row in chosen})}
        for row in chosen:
            found[row.share][row.choice] += 1
        return found

    get_values, list_doubts = get_values_of_measure, list_warning_messages  # their names in older programs

    def format_csv(self, by_class: bool = False) -> str:
        """Return all results as the text of a CSV file; see `Result` for the columns.

        Folds count from 1, and a cell is empty if its value is NaN or unknown. With `by_class`, a further column has
        ``confusion`` or, if all results are of numbers, ``points``, as JSON.
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        is_written = {name: any(getattr(row, name) for row in self.rows) for name in ("fold_name", "choice")}
        if by_class:
            is_written["points" if all(row.is_numeric for row in self.rows) else "confusion"] = True
        head = [*_KEYS, *self.measures, *(name for name in _LATER if name not in _OPTIONAL or is_written.get(name))]
        writer.writerow(head)
        for row in self.rows:
            values = map((row._asdict() | row.values | {"fold": row.fold + 1}).get, head)
            cells = ["" if value is None or value != value else value for value in values]  # of NaN, too
            writer.writerow(
                [json.dumps(cell, ensure_ascii=False) if isinstance(cell, list) else cell for cell in cells]
            )
        return out.getvalue()


class PooledPredictions(NamedTuple):
    """Says how a chain predicted the class, a label or a target of the test rows of all folds of a task.

    Attributes
    ----------
    data, task, share, chain : as in `Result`.
    group : the name of the label or target; "" for the class.
    counts_or_numbers : `PredictionCounts`; of a number, float64 (2, rows), the true and the predicted numbers of
        some rows.
    """

    data: str
    task: str
    share: float
    chain: str
    group: str
    counts_or_numbers: Any


def pool_predictions_over_folds(results: Results, field: str) -> list[PooledPredictions]:
    """Add up the confusion matrices of all folds, or join their points, for each task, share and chain.

    `field` is ``confusion`` or ``points``. Return an entry for each class, label or target, in the order of `results`;
    [] if the results do not have the field.
    """
    found: dict[tuple[Any, ...], Any] = {}
    for row in results.rows:
        for group, *own in getattr(row, field) or ():
            key = (row.data, row.task, row.share, row.chain, group)
            if field == "confusion":
                found.setdefault(key, PredictionCounts()).add_cells(*own)
            else:
                found[key] = np.hstack([found.get(key, np.empty((2, 0))), own])
    return [PooledPredictions._make([*key, each]) for key, each in found.items()]


def average_axis_without_nan(values: np.ndarray, axis: int) -> np.ndarray:
    """Return the means of the values over an axis, without those that are NaN; a mean is NaN if all are."""
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN
        return np.asarray(np.nansum(values, axis) / np.count_nonzero(~np.isnan(values), axis))


def read_results_files(paths: Iterable[str]) -> Results:
    """Read several files that `Results.format_csv` wrote, and return their results as those of one evaluation.

    If two files have folds of a chain on one task with different test rows, as with two seeds, those of the second
    count as further folds. Raise FilterkitError if a chain has two results on the same test rows, or a file cannot be
    read.
    """
    files: dict[tuple[Any, ...], str] = {}  # by data, task, fold, share and chain
    splits: dict[tuple[str, str], dict[int, str]] = {}  # of each task, by fold
    rows: list[Result] = []
    for path in paths:
        tasks: dict[tuple[str, str], list[Result]] = {}
        for row in read_results_file(path):
            tasks.setdefault((row.data, row.task), []).append(row)
        for task, found in tasks.items():
            known = splits.setdefault(task, {})
            first = _choose_fold_offset(found, known, files)
            for row in found:
                row = row._replace(fold=row.fold + first)
                if (other := files.get(row[:5])) is not None:
                    where = f"{other} and {path} have" if other != path else f"{path} has"
                    about = f"two results of the chain {quoted(row.chain)} on one fold of {quoted(row.data)}"
                    raise FilterkitError(f"{where} {about}; leave one out")
                files[row[:5]] = path
                known.setdefault(row.fold, row.split)
                rows.append(row)
    return Results(rows)


def _choose_fold_offset(rows: list[Result], known_splits: dict[int, str], files: dict[tuple[Any, ...], str]) -> int:
    """Choose the number to add to the folds of a file, so that folds with equal test rows have one number.

    Folds with other test rows get new numbers, but only if a chain of the file has results under the old ones.

    Parameters
    ----------
    rows : the results of one task in the file.
    known_splits : the hashes of the test rows of this task in the files that were read before, by fold.
    files : the names of those files, by data, task, fold, share and chain.
    """
    for first in known_splits:
        own = [(row.fold + first, row.split) for row in rows]
        if own[0][0] in known_splits and all(known_splits.get(fold, split) == split for fold, split in own):
            return first  # the same test rows
    return max(known_splits) + 1 if any(row[:5] in files for row in rows) else 0


def read_results_file(path: str) -> list[Result]:
    """Read a file that `Results.format_csv` wrote, compressed or not, and return a `Result` for each row.

    Raise FilterkitError if the file cannot be read, or is not a file of results, or has none.
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
        raise FilterkitError(f"{source.name}: {error}; name a file that evaluate -o wrote") from None
    rows = []
    for number, line in lines:
        try:
            if None in line or None in line.values():  # too many cells, or too few
                raise ValueError
            names = OF_NUMBERS if line.get(OF_NUMBERS[0]) else OF_CLASSES
            cells = {name: parse(line[name]) for name, parse in _KEYS.items()}
            cells["fold"] -= 1
            is_possible = 0 <= cells["fold"] < _MOST_FOLDS and 0 < cells["share"] <= 1
            if not is_possible or min(cells["train_rows"], cells["test_rows"]) < 1:
                raise ValueError
            cells |= {name: parse(line[name]) for name, parse in _LATER.items() if line.get(name)}
            rows.append(Result(**cells, values={name: float(line.get(name) or "nan") for name in names}))
        except (KeyError, ValueError, TypeError, RecursionError):
            raise FilterkitError(
                f"{path}:{number}: this line is not a result of an evaluation; name a file that evaluate -o wrote"
            ) from None
    if not rows:
        raise FilterkitError(f"{path}: the file contains no results; name a file that evaluate -o wrote")
    return rows
