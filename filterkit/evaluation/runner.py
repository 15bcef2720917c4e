"""Evaluation: chains that end in a learner, compared by cross-validation.

For each data set, task and fold every chain is fitted on the training part, all its stages, and measured on the rest.
A point of a learning curve takes some of the training part, each more than the one before it and all that it has; the
test part stays (Forman and others 2009, section 4).
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing
from typing import NamedTuple

import numpy as np

from filterkit.chains.chain import Chain
from filterkit.data.batch import Batch
from filterkit.engines.processes import in_processes
from filterkit.errors import FilterkitError, StageError, UsageError, not_nominal, quoted
from filterkit.evaluation.folds import Design, Splits
from filterkit.evaluation.measures import measures
from filterkit.messages import show_warnings
from filterkit.plugin.parsing import parse_stages
from filterkit.plugin.registry import Registry, registry
from filterkit.stages.base import TrainingStage, transform
from filterkit.stages.learner import REST, FittedLearner, Learner

Part = tuple[str, str, int]  # data, task and fold
_STARTUP = 1.5  # seconds that the first part may take for imports
_WORTH_PROCESSES = 3.0  # seconds of work for which processes are started


class Result(NamedTuple):
    """What one chain reached on one test part.

    Attributes
    ----------
    data, task, fold, share, chain : which; the share of all rows that it was fitted on.
    train_rows, test_rows : how many.
    seconds : that fitting and predicting took.
    values : of `filterkit.evaluation.measures.measures`.
    """

    data: str
    task: str
    fold: int
    share: float
    chain: str
    train_rows: int
    test_rows: int
    seconds: float
    values: dict[str, float]


def named_chain(text: str, known: Registry | None = None, seed: int | None = None) -> tuple[str, str]:
    """Name and text of a chain: ``NAME: STAGES``, or the stages alone, which then are the name too.

    Parameters
    ----------
    text : the name has no blanks.
    known : the plugins, by default those of this process.
    seed : for stages that draw random numbers and say none.

    Raises
    ------
    UsageError : an unknown stage or option, no learner at the end, or a stage that keeps rows, of every fold anew.
    """
    known = known or registry()
    match = re.fullmatch(r"\s*([^\s:]*):\s*(.*)", text, re.S)
    name, stages = (match[1], match[2]) if match else (text.strip(), text)
    if not name and match:
        raise UsageError(f"chain {quoted(text)} has no name before the colon")
    try:
        chain = Chain(parse_stages(shlex.split(stages), known, seed))
    except ValueError as error:  # of shlex: a quote is not closed
        raise UsageError(f"chain {quoted(text)}: {error}") from None
    if not chain.stages or not isinstance(chain.stages[-1], Learner):
        learners = sorted(s.name for s in known.stages.values() if issubclass(s, Learner))
        raise UsageError(f"chain {quoted(stages)} must end in a learner: {', '.join(learners)}")
    for stage in chain.stages:
        if isinstance(stage, TrainingStage) and stage.to_the_end:
            raise UsageError(f"chain {quoted(name)}: '{stage.name}' would keep the rows of the last fold; leave it out")
    return name, str(chain)


def _known(data: Batch) -> Batch:
    """The rows whose class or labels are known."""
    target = data.schema.class_attribute
    if target is not None and target.kind != "nominal":
        raise FilterkitError(f"there is no nominal class to predict: {not_nominal(target.name, target.kind)}")
    if data.y is None:
        raise FilterkitError("there is no nominal class and there are no labels to predict; see --class and --labels")
    return data.take(np.flatnonzero(data.class_known))


def _strata(data: Batch, task: Batch) -> np.ndarray:
    """The codes by which the rows of a task of some data are spread: the class in full, a label, or nothing."""
    assert data.y is not None and task.y is not None
    y = data.y if data.y.ndim == 1 else task.y
    return y if y.ndim == 1 else np.zeros(len(y), np.int32)


def _tasks(data: Batch, design: Design) -> Iterator[tuple[str, Batch]]:
    """The tasks of some data, each a name and its rows."""
    schema, target = data.schema, data.schema.class_attribute
    y = data.y
    assert y is not None
    names = [a.name for a in schema.label_attributes] if target is None else list(target.values)
    if not design.one_against_rest or (target is not None and (len(names) == 2 or schema.positive is not None)):
        if target is not None and len(names) == 2 and schema.positive is None:  # for all folds the same
            first, second = np.bincount(y, data.weights, 2).tolist()
            data = data.replace(schema=schema.replace(positive=names[0 if first < second else 1]))
        yield (schema.relation if target is None else schema.positive or target.name), data
        return
    rows = y.sum(axis=0) if target is None else np.bincount(y, minlength=len(names))
    chosen = [i for i in range(len(names)) if design.min_positives <= rows[i] < len(data) and rows[i]]
    if not chosen:
        raise FilterkitError(f"no class has {design.min_positives} rows, and others beside it")
    for i in chosen:
        yield names[i], _against_rest(data, i, names[i])


def _against_rest(data: Batch, number: int, name: str) -> Batch:
    """The rows with one class or label as a class of two values."""
    schema = data.schema
    assert data.y is not None
    values = (REST if name != REST else "other", name)
    place = schema.labels[number] if schema.labels else schema.class_index
    assert place is not None
    attributes = list(schema.attributes)
    attributes[place] = attributes[place]._replace(kind="nominal", values=values)
    kept = [i for i in range(len(attributes)) if i == place or i not in schema.targets]
    schema = schema.replace(
        attributes=[attributes[i] for i in kept], class_index=kept.index(place), positive=name, labels=()
    )
    y = data.y == number if data.y.ndim == 1 else data.y[:, number] == 1
    return data.replace(schema=schema, y=y.astype(np.int32))


class Evaluator:
    """Data sets and chains, ready to be evaluated part by part, a part being a fold of a task.

    Parameters
    ----------
    data : name and rows of each data set; all are held in memory.
    design : how.

    Attributes
    ----------
    data, design : as given.
    parts : data, task and fold of each part.
    """

    def __init__(self, data: Iterable[tuple[str, Batch]], design: Design) -> None:
        self.data = list(data)
        self.design = design
        self._chains = [(name, Chain.parse(text)) for name, text in design.chains]
        self._tasks: dict[tuple[str, str], tuple[Batch, Splits]] = {}
        for name, rows in self.data:
            try:
                rows = _known(rows)
                for task, batch in _tasks(rows, design):
                    splits = Splits(_strata(rows, batch), design) if design.folds <= len(batch) else None
                    if splits is None or not all(len(splits.test(fold)) for fold in range(design.folds)):
                        rows_are = "1 row is" if len(batch) == 1 else f"{len(batch)} rows are"
                        raise FilterkitError(f"{rows_are} too few for {design.folds} folds")
                    self._tasks[name, task] = batch, splits
            except FilterkitError as error:
                raise FilterkitError(f"{name}: {error}") from None
        self.parts = [(*key, fold) for key in self._tasks for fold in range(design.folds)]

    def evaluate(self, data: str, task: str, fold: int) -> list[Result]:
        """All chains at all shares on one fold.

        Raises
        ------
        FilterkitError : a chain fails; says which and where.
        """
        batch, splits = self._tasks[data, task]
        test = batch.take(splits.test(fold))
        results = []
        for share in self.design.shares or (None,):
            training = batch.take(splits.training(fold, share)).replace(start=0)
            shown = share or self.design.most
            for name, chain in self._chains:
                began = time.perf_counter()
                try:
                    fitted = chain.fit(training)
                    learner = fitted.stages[-1]
                    assert isinstance(learner, FittedLearner)
                    outcome = learner.outcome(transform(fitted.stages[:-1], test))
                    if not len(outcome.truth):
                        raise StageError(chain.stages[-1].name, "all rows to test on have the weight 0")
                except StageError as error:
                    error.row = None  # it counts the rows of a part
                    raise FilterkitError(f"{data}, {task}, fold {fold + 1}, chain {quoted(name)}: {error}") from None
                seconds = time.perf_counter() - began
                rows = (len(training), len(test))
                results.append(Result(data, task, fold, shown, name, *rows, seconds, measures(outcome)))
        return results


def run(
    evaluator: Evaluator, jobs: int = 1, done: Collection[Part] = (), plugins: Iterable[str] = ()
) -> Iterator[tuple[int, list[Result]]]:
    """Evaluate all parts but those `done`: for each, in any order, how many parts there are still, and its results.

    Parameters
    ----------
    evaluator : what there is to evaluate.
    jobs : processes to use, if there is work for more than one.
    done : data, task and fold of parts that are not wanted.
    plugins : files with plugins that the chains need.
    """
    parts = [part for part in evaluator.parts if part not in done]
    began = time.perf_counter() + _STARTUP
    for number, part in enumerate(parts):
        left = len(parts) - number
        if number and jobs > 1 and (time.perf_counter() - began) / number * left > _WORTH_PROCESSES:
            given = (evaluator.data, evaluator.design, tuple(plugins))
            found = in_processes(_evaluate, parts[number:], min(jobs, left), _prepare, *given)
            with closing(found):
                for finished, results in enumerate(found, 1):
                    yield left - finished, results
            return
        yield left - 1, evaluator.evaluate(*part)


_evaluator: Evaluator  # of a process that works for another


def _prepare(data: list[tuple[str, Batch]], design: Design, plugins: tuple[str, ...]) -> None:
    global _evaluator
    show_warnings()
    for path in plugins:
        registry().add_file(path)
    _evaluator = Evaluator(data, design)


def _evaluate(part: Part) -> list[Result]:
    return _evaluator.evaluate(*part)
