"""`filterkit.evaluate`: what the command ``evaluate`` does, for data in Python."""

from __future__ import annotations

import html
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from filterkit.chains.chain import Chain
from filterkit.data.batch import Batch
from filterkit.data.user_rows import Table, convert_to_batch
from filterkit.errors import UsageError, quoted
from filterkit.evaluation.costs import make_cost_matrix
from filterkit.evaluation.folds import EvaluationDesign, Fold
from filterkit.evaluation.journal import evaluate_folds_with_journal
from filterkit.evaluation.measure_names import MEASURES
from filterkit.evaluation.measures import check_measure
from filterkit.evaluation.predefined_folds import PredefinedFolds
from filterkit.evaluation.report_page import make_report_page
from filterkit.evaluation.results import Results
from filterkit.evaluation.runner import Evaluator, parse_named_chain
from filterkit.plugin.engines import make_engine
from filterkit.plugin.registry import get_registry
from filterkit.progress import in_notebook
from filterkit.stages.nothing_learned import NothingLearnedWarning

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Evaluation(Results):
    """Holds the results of `evaluate`; a notebook shows them as a page."""

    def __repr__(self) -> str:
        return f"<Evaluation of {len(self.chains)} chains on {len(self.tasks)} tasks, {self.n_folds} folds>"

    def _repr_html_(self) -> str:
        text = make_report_page(self, ("accuracy", "f1", "auc", "mae", "rmse", "r2"), "filterkit.evaluate").decode()
        return f'<iframe srcdoc="{html.escape(text)}" style="width: 100%; height: 40em; border: 0"></iframe>'


def evaluate(
    data: Batch | Table | Mapping[str, Batch | Table],
    chains: Mapping[str, str | Chain] | Iterable[str | Chain],
    *,
    class_: str | None = None,
    folds: int | Iterable[tuple[Any, Any]] = 10,
    repeats: int = 1,
    seed: int = 0,
    group: str | None = None,
    choose: str | None = None,
    costs: str | os.PathLike[str] | ArrayLike | None = None,
    test: Batch | Table | None = None,
    jobs: int = 1,
    progress: bool | None = None,
) -> Evaluation:
    """Compare chains that end in a learner by cross-validation, as the command ``evaluate`` does.

    Parameters
    ----------
    data : a batch, a data frame or another table, which becomes a batch as for `Chain.fit`; or several by name.
    chains : the chains by name, each as written on the command line or as a `Chain`; or a list of them or a single one,
        where the text of a chain is its name.
    class_ : the name of the class attribute. None: the batches have a class or labels.
    folds : how many folds to deal the rows into, stratified unless the class is numeric; or for each fold the numbers
        of the rows to train on and of those to test on, as the method ``split`` of scikit-learn's splitters yields
        them.
    repeats : how often the rows are dealt into folds anew.
    seed : the seed for drawing the folds; stages have seeds of their own.
    group : the name of an attribute; rows with the same value stay in one fold, and no chain sees it. None: no groups.
    choose : a measure by which one of the chains is chosen in each fold, on the training rows alone. Its results are
        those of a further chain, ``chosen``. None: no such chain.
    costs : what it costs to predict each class (second axis) where another is true, (classes, classes) in the order of
        the header, or the path of a file of Weka's (.cost), for the measure ``cost``. None: no costs.
    test : rows to test on, with the attributes of `data`; the chains are fitted on all rows of `data`, which must be a
        single data set, and `folds` does not count. None: a cross-validation.
    jobs : the number of processes, which start only if there is work for seconds.
    progress : whether to show how many folds are done. None: only in a notebook.

    Returns
    -------
    The results; ``frame()`` makes a data frame of them, and a notebook shows them as a page.

    Raises
    ------
    FilterkitError : there is no class, a chain fails, or there are too few rows.
    UsageError : a chain is unknown or does not end in a learner, or the arguments contradict each other.

    Warns
    -----
    NothingLearnedWarning : stages of a chain have learned nothing, its learner has no scores, or several chains predict
        the same for every row.
    UserWarning : rows are in no fold, because each is the only one of its class.
    """
    if isinstance(data, Mapping):
        batches = {str(name): convert_to_batch(rows) for name, rows in data.items()}
        if len(batches) < len(data):
            raise UsageError("two data sets have names that are the same as text; give each a name of its own")
    else:
        rows = convert_to_batch(data)
        batches = {rows.schema.relation: rows}
    if not batches:
        raise UsageError("give at least one data set to evaluate on")
    first = next(iter(batches.values()))
    set_class = Chain.parse([] if class_ is None else ["class", str(class_)])
    if test is not None:
        if len(batches) > 1:
            raise UsageError(f"test needs exactly one data set, not {len(batches)}; evaluate them one by one")
        test = set_class.fit(first).transform(convert_to_batch(test, first.schema))
    batches = {name: set_class.fit(batch).transform(batch) for name, batch in batches.items()}
    if isinstance(chains, (str, Chain)):
        chains = [chains]
    named = chains.items() if isinstance(chains, Mapping) else [(str(chain), chain) for chain in chains]
    texts = tuple((name, parse_named_chain(str(chain))[1]) for name, chain in named)
    own = None
    if isinstance(folds, Iterable):
        if len(batches) > 1 or repeats != 1 or group is not None or test is not None:
            raise UsageError(
                "folds as row numbers need one data set, and cannot be combined with repeats, group or test"
            )
        own, folds = _make_folds_from_pairs(folds, len(first)), 10
    elif not (is_number := isinstance(folds, Real)) or folds % 1:
        hint = "; pass what its split yields" if hasattr(folds, "split") else ""
        found = folds if is_number else type(folds).__name__
        raise UsageError(f"folds must be a whole number or pairs of row numbers, not {found}{hint}")
    if choose is not None:
        if choose not in MEASURES or (choose == "cost" and costs is None):
            needs = "needs costs" if choose == "cost" else f"must be one of {', '.join(MEASURES)}"
            raise UsageError(f"choose={quoted(str(choose))} {needs}")
        check_measure("choose:", choose, any(batch.schema.has_numeric_target for batch in batches.values()))
    matrices = [] if costs is None else [make_cost_matrix(costs, batch.schema).tolist() for batch in batches.values()]
    design = EvaluationDesign(
        texts,
        int(folds),
        seed=seed,
        repeats=repeats,
        group=group,
        choose=choose,
        costs=tuple(map(tuple, matrices[0])) if matrices else None,
    )
    evaluator = Evaluator(batches.items(), design, test, own)
    for message in evaluator.warnings:
        warnings.warn(message, stacklevel=2)
    with make_engine("processes", jobs, get_registry()) as engine:
        evaluation = Evaluation(
            evaluate_folds_with_journal(evaluator, engine, in_notebook() if progress is None else progress)
        )
    for message in evaluation.list_warning_messages():
        warnings.warn(NothingLearnedWarning(message), stacklevel=2)
    return evaluation


def _make_folds_from_pairs(pairs: Iterable[tuple[Any, Any]], n_rows: int) -> PredefinedFolds:
    """Make folds of the pairs that a splitter of scikit-learn yields: the row numbers to train on, and to test on.

    Raise UsageError if there is no pair, or one is not of two lists of row numbers from 0, neither empty, without a row
    in common.
    """
    folds = []
    for number, pair in enumerate(pairs, 1):
        where = f"folds: fold {number} must be"
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise UsageError(f"{where} a pair: the numbers of the rows to train on, and of those to test on")
        training, test = map(np.asarray, pair)
        for rows in (training, test):
            is_of_numbers = rows.dtype.kind in "iu" and rows.ndim == 1 and len(rows) > 0
            if not is_of_numbers or rows.min() < 0 or rows.max() >= n_rows:
                raise UsageError(f"{where} two lists of row numbers from 0 to {n_rows - 1:,}, neither of them empty")
        training, test = (np.sort(rows).astype(np.int64) for rows in (training, test))
        if len(both := np.intersect1d(training, test)):
            raise UsageError(f"folds: fold {number} trains and tests on row {both[0]}; leave it out of one list")
        folds.append(Fold(f"fold {number}", test, [training]))
    if not folds:
        raise UsageError("folds is empty; give at least one pair of row numbers")
    return PredefinedFolds(folds, n_rows)
