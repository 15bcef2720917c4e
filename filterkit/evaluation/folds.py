"""The design of an evaluation, and how it splits the rows of a data set into training and test rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from filterkit.chains.crossfit import draw_folds
from filterkit.errors import UsageError, find_repeated, quoted
from filterkit.stages.strata import choose_rows

_INNER = 1  # part of the seed of inner folds, so that it differs from that of subsamples
CHOSEN = "chosen"  # the name, in results, of the chain that each training part chooses


@dataclass(frozen=True)
class EvaluationDesign:
    """Says how an evaluation compares chains: which chains, how rows are split into folds, and what is predicted.

    Attributes
    ----------
    chains : the name and the text of each chain.
    folds : the number of folds of the cross-validation, which is stratified by labels or the class, unless it is
        numeric.
    shares : the shares of all rows to train on, ascending; if empty, the share that is outside a fold.
    one_against_rest : whether each of several classes, or each label, is a task of its own.
    min_positives : how many rows a class or label must have to be a task.
    seed : the seed for folds and subsamples; stages that draw random numbers have their own seeds.
    repeats : how often the rows are dealt into folds anew.
    group : the name of an attribute whose equal values stay in one fold; no chain sees it. None if there is none.
    fold_column : the name of an attribute whose values are folds; no chain sees it. None if folds are drawn.
    splits : a hash of the folds of a file of splits; None if there is none.
    choose : the measure by which one of the chains is also chosen in each fold, on the training rows alone; None if
        none is chosen.
    costs : the cost of predicting each class where another is true, by true and predicted class; None without costs.

    Raises
    ------
    UsageError : a number is out of range, the shares do not ascend or exceed what is outside a fold, there is no chain,
        two have one name, or there is no choice between them.
    """

    chains: tuple[tuple[str, str], ...]
    folds: int = 10
    shares: tuple[float, ...] = ()
    one_against_rest: bool = False
    min_positives: int = 1
    seed: int = 0
    repeats: int = 1
    group: str | None = None
    choose: str | None = None
    fold_column: str | None = None
    splits: str | None = None
    costs: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        if self.folds < 2:
            raise UsageError(f"folds must be at least 2, not {self.folds}")
        if self.repeats < 1 or self.seed < 0 or self.repeats % 1 or self.seed % 1:
            raise UsageError(
                "repeats must be a whole number from 1, and seed a whole number from 0, but they are "
                f"{self.repeats} and {self.seed}"
            )
        if list(self.shares) != sorted(set(self.shares)) or min(self.shares, default=1) <= 0:
            found = ",".join(f"{share * 100:g}%" for share in self.shares)
            raise UsageError(f"the shares to train on must be above 0 and ascend, as in 10%,20%, not {found}")
        if self.shares and self.shares[-1] > self.largest_training_share + 1e-9:
            most, asked = (f"{share * 100:.3g}%" for share in (self.largest_training_share, self.shares[-1]))
            raise UsageError(
                f"{self.folds} folds leave {most} to train on, not {asked}; take more folds or a smaller share"
            )
        names = [name for name, _ in self.chains]
        if not names:
            raise UsageError("give at least one chain to compare")
        twice = find_repeated(names)
        if twice is not None:
            raise UsageError(f"two chains are named {quoted(twice)}; give each a name of its own, as NAME: STAGES")
        if self.choose is not None:
            if len(names) < 2:
                raise UsageError("choosing between chains needs at least two chains; add another one")
            if CHOSEN in names:
                raise UsageError(
                    f"a chain is named {quoted(CHOSEN)}, which stands for the chosen chain; give it another name"
                )

    @property
    def largest_training_share(self) -> float:
        """The share of all rows that are outside a fold, which is the largest share to train on."""
        return (self.folds - 1) / self.folds


class Fold(NamedTuple):
    """Says which rows of a data set to train and to test on.

    Attributes
    ----------
    name : its name in a results file, such as ``repeat 0, fold 3``; "" if the fold was drawn.
    test : int64 (n,), the numbers of the rows to test on, from 0, ascending.
    training : the numbers of the rows to train on, int64 (n,), ascending. The list has an array for each point of a
        learning curve; without a curve, it has one.
    """

    name: str
    test: np.ndarray
    training: list[np.ndarray]


class DrawnFolds:
    """Draws the folds of a data set for cross-validation at random.

    Parameters
    ----------
    y : what is spread evenly over the folds: int (rows,), the codes of classes from 0; or bool (rows, labels), whether
        a row has each label.
    design : how many folds and repeats there are, their shares, and the seed.
    groups : int (rows,): rows of the same number stay in one fold. None if there are no groups.

    Attributes
    ----------
    count : the number of folds of all repeats.
    shares : the shares of all rows to train on, ascending.
    has_empty_fold : whether a fold has no rows to test on.
    n_rows : the number of rows.
    n_untested : the number of rows that are in no fold, because each is the only one of its class.
    """

    def __init__(self, y: np.ndarray, design: EvaluationDesign, groups: np.ndarray | None = None) -> None:
        self._y = y if y.ndim == 1 else np.zeros(len(y), np.int32)
        self._design = design
        self.count = design.folds * design.repeats
        self.shares = design.shares or (design.largest_training_share,)
        seeds = [design.seed, *(_derive_seed(design.seed, repeat) for repeat in range(1, design.repeats))]
        self._fold_of_row = [_assign_folds_to_rows(y, groups, design.folds, seed) for seed in seeds]
        self.has_empty_fold = any(len(np.unique(fold)) < design.folds for fold in self._fold_of_row)
        self.n_rows = len(y)
        self.n_untested = int(np.count_nonzero(self._fold_of_row[0] == design.folds))

    def make_fold(self, number: int) -> Fold:
        """Make fold `number`, from 0, with the rows to train on for each of the `shares`.

        Of each class, the share of all its rows is taken, but at least one row; with labels, the share of all rows. A
        larger share contains all rows of a smaller one. A share as large as `EvaluationDesign.largest_training_share`
        is all rows outside the fold.
        """
        repeat, own = divmod(number, self._design.folds)
        is_test = self._fold_of_row[repeat] == own
        outside = np.flatnonzero(~is_test)
        order = np.random.default_rng([self._design.seed, number]).permutation(len(outside))
        training = []
        for share in self.shares:
            rows = outside
            if share < self._design.largest_training_share - 1e-9:  # rounding could leave out rows of a class
                most = np.maximum(np.rint(share * np.bincount(self._y)), 1)
                rows = outside[choose_rows(self._y[outside], most, order)]
            training.append(rows)
        return Fold("", np.flatnonzero(is_test), training)


def draw_inner_folds(
    strata: np.ndarray,
    design: EvaluationDesign,
    groups: np.ndarray | None,
    rows: np.ndarray,
    fold_number: int,
    n_folds: int,
) -> DrawnFolds | None:
    """Split the training rows of a fold into inner folds, stratified, and with each group in one inner fold.

    Parameters
    ----------
    strata, groups : those of all rows, as `y` and `groups` of `DrawnFolds`.
    design : how all rows are split.
    rows : int (n,), the numbers of the training rows.
    fold_number : the number of the outer fold; the seed of the inner folds depends on it.
    n_folds : the number of inner folds; there are fewer if there are fewer training rows or groups.

    Returns
    -------
    The inner folds, whose row numbers are indices of `rows`; None if there are fewer than two rows or groups.
    """
    groups = None if groups is None else groups[rows]
    most = min(n_folds, len(rows) if groups is None else len(np.unique(groups)))
    if most < 2:
        return None
    seed = _derive_seed(design.seed, fold_number, _INNER)
    return DrawnFolds(strata[rows], replace(design, folds=most, repeats=1, shares=(), seed=seed), groups)


def _derive_seed(*numbers: int) -> int:
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])


def _assign_folds_to_rows(y: np.ndarray, groups: np.ndarray | None, n_folds: int, seed: int) -> np.ndarray:
    """Return the fold of each row, int32 (rows,), from 0; `n_folds` if the row is in no fold.

    See `DrawnFolds` for `y` and `groups`. With groups, classes are spread evenly only as far as the groups allow; the
    rows of labels, or of classes that all have fewer than `n_folds` rows, are spread as one class.
    """
    if groups is None:
        return draw_folds(y, n_folds, seed) if y.ndim == 1 else _assign_folds_to_multilabel_rows(y, n_folds, seed)
    from sklearn.model_selection import StratifiedGroupKFold

    if y.ndim > 1 or np.bincount(y).max(initial=0) < n_folds:  # which StratifiedGroupKFold refuses
        y = np.zeros(len(y), np.int32)
    fold = np.empty(len(y), np.int32)
    splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed % (1 << 32))
    with warnings.catch_warnings(action="ignore"):  # of rare classes, which are in some folds only
        for number, (_, rows) in enumerate(splitter.split(y, y, groups)):
            fold[rows] = number
    return fold


def _assign_folds_to_multilabel_rows(truth: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """Return the fold of each row, int32 (rows,), from 0, so that each label is spread evenly.

    `truth` is bool (rows, labels), whether a row has each label. The method is that of Sechidis and others (2011), but
    all rows of a label are dealt at once, the rarest label first, and rows without a label last. A row that is in no
    fold yet goes to the fold that has fewest rows of the label. Rows with the same labels follow each other, so that
    they go to different folds.
    """
    rng = np.random.default_rng(seed)
    fold = np.full(len(truth), -1, np.int32)
    _, kind = np.unique(np.packbits(truth, axis=1), axis=0, return_inverse=True)
    order = rng.permutation(len(truth))
    order = order[np.argsort(kind.ravel()[order], kind="stable")]
    for label in [*np.argsort(truth.sum(axis=0), kind="stable").tolist(), None]:
        chosen = np.ones(len(truth), bool) if label is None else truth[:, label]
        rows = order[(chosen & (fold < 0))[order]]
        have = np.bincount(fold[chosen & (fold >= 0)], minlength=n_folds)
        in_fold = np.bincount(fold[fold >= 0], minlength=n_folds)
        # A fold that has h of the rows takes turns from h on, so that folds with fewer come first.
        turns = (have[:, None] + np.arange(-(-len(rows) // n_folds) + int(have.max()) + 1)).ravel()
        owner = np.repeat(np.arange(n_folds), len(turns) // n_folds)
        fold[rows] = owner[np.lexsort((rng.permutation(n_folds)[owner], in_fold[owner], turns))[: len(rows)]]
    return fold
