"""Cross-validation of chains that end in a learner.

For each data set, task and fold, every chain is fitted with all its stages on the training rows and measured on the
test rows. Each point of a learning curve uses a share of the training rows that contains the smaller shares; the test
rows stay the same (Forman and others 2009, section 4).
"""

from __future__ import annotations

import hashlib
import re
import shlex
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from typing import Any, NamedTuple

import numpy as np

from filterkit.chains.batch_sizes import estimate_row_bytes
from filterkit.chains.chain import Chain
from filterkit.data.batch import Batch, concatenate
from filterkit.engines.engine import Engine
from filterkit.errors import NAME_A_TARGET, FilterkitError, UsageError, format_chain_that_makes_class, quoted
from filterkit.evaluation.confusion import list_confusion_matrices
from filterkit.evaluation.folds import CHOSEN, DrawnFolds, EvaluationDesign, Fold, draw_inner_folds
from filterkit.evaluation.measure_names import OF_NUMBERS
from filterkit.evaluation.measures import list_true_and_predicted_numbers, measures
from filterkit.evaluation.predefined_folds import PredefinedFolds, make_folds_from_attribute, split_off_attribute
from filterkit.evaluation.properties import count_positives_columns_and_nonzeros
from filterkit.evaluation.trial import INNER_FOLDS, choose_chain_by_inner_folds, fit_and_predict_chains
from filterkit.plugin.parsing import parse_stages
from filterkit.plugin.registry import Registry, get_registry
from filterkit.stages.base import TrainingStage
from filterkit.stages.learner import REST, Learner
from filterkit.stages.models import choose_label_tasks

TaskFold = tuple[str, str, int]  # data, task and fold
_BYTES_OF_ANY_PART = 1 << 17  # the overhead of a part takes as long as this many bytes of rows
_STARTUP = 1.5  # seconds that imports may take in the first part
_WORTH_AN_ENGINE = 3.0  # seconds of work from which starting processes pays


class Result(NamedTuple):
    """Says how well one chain predicted the test rows of one fold, and on what it was trained.

    Attributes
    ----------
    data, task, chain : the names of the data set, of what is predicted, and of the chain.
    fold : the number of the fold, from 0.
    share : the share of all rows that the chain was fitted on. For folds that the user gives, the rows of the largest
        point of the learning curve count as all, so it is 1 without a curve and with ``--test``.
    train_rows, test_rows : the numbers of rows.
    seconds : the time that fitting and predicting took.
    values : the measures by name, see `filterkit.evaluation.measures.measures`.
    split : a hash of the numbers of the test rows; results are compared only if it is equal. "" if it is unknown.
    positive : the class that is positive; "" if each of several is in turn, or if it is unknown.
    confusion : what `list_confusion_matrices` returns; None for numbers, or if it is unknown.
    choice : the name of the chain that was chosen, if `chain` is `CHOSEN`; else "".
    train_positives, columns, nonzeros : see `count_positives_columns_and_nonzeros`; None if they are unknown.
    predictions : a hash of the predictions; "" if it is unknown, as in files.
    warnings : those of `Trial`; none in files.
    fold_name : the name of a fold that the user has given, such as ``repeat 0, fold 3``; "" if the fold was drawn.
    points : what `list_true_and_predicted_numbers` returns, for a numeric class or targets; None for others, or if it
        is unknown.
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
    split: str = ""
    positive: str = ""
    confusion: list[Any] | None = None
    choice: str = ""
    train_positives: int | None = None
    columns: int | None = None
    nonzeros: float | None = None
    predictions: str = ""
    warnings: Sequence[str] = ()
    fold_name: str = ""
    points: list[Any] | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether numbers were predicted, not classes or labels."""
        return OF_NUMBERS[0] in self.values


def parse_named_chain(
    text: str, known: Registry | None = None, seed: int | None = None, with_defaults: bool = False
) -> tuple[str, str]:
    """Parse the name and the stages of a chain; return the name, and the stages as text with all options.

    Parameters
    ----------
    text : ``NAME: STAGES``, where the name has no blanks and no colon; or the stages alone, which then are the name,
        too.
    known : the plugins; None for those of this process.
    seed : the seed for stages that draw random numbers and have no ``--seed`` of their own; None for their default.
    with_defaults : whether options that the text leaves out have the values of the defaults file. If that changes a
        chain without a name, its name has these values, too.

    Raises
    ------
    UsageError : a stage or option is unknown, the last stage is not a learner, or a stage writes its rows to a file,
        which every fold would overwrite.
    """
    known = known or get_registry()
    match = re.fullmatch(r"\s*([^\s:]*):\s*(.*)", text, re.S)
    name, stages = (match[1], match[2]) if match else (text.strip(), text)
    if not name and match:
        raise UsageError(f"chain {quoted(text)} has no name before the colon; add one, or leave out the colon")
    try:
        words = shlex.split(stages)
        chain = Chain(parse_stages(words, known, seed, with_defaults))
        if not match and with_defaults and known.defaults and chain.stages != parse_stages(words, known, seed):
            name = str(chain)
    except UsageError as error:
        fault = error
        first, _, rest = name.partition(" ")
        if not match and rest and first not in known.stages:
            with suppress(UsageError, ValueError):  # the first error tells more
                if isinstance(parse_stages(shlex.split(rest), known)[-1], Learner):
                    fault = UsageError(
                        f"chain {quoted(name)}: {quoted(first)} is not a stage; if it is the name of the chain, put a "
                        f"colon after it: {quoted(f'{first}: {rest}')}"
                    )
        raise fault from None
    except ValueError as error:  # from shlex, of a quote that is not closed
        raise UsageError(f"chain {quoted(text)}: {error}; correct its quotes") from None
    if not chain.stages or not isinstance(chain.stages[-1], Learner):
        learners = sorted(s.name for s in known.stages.values() if issubclass(s, Learner))
        raise UsageError(f"chain {quoted(stages)} must end in a learner: {', '.join(learners)}")
    for stage in chain.stages:
        if isinstance(stage, TrainingStage) and stage.to_the_end:
            raise UsageError(
                f"chain {quoted(name)}: '{stage.name}' would overwrite its file in each fold; leave it out"
            )
    return name, str(chain)


def select_rows_with_known_class(
    data: Batch, problem_if_empty: str = "there are no rows with a known class or labels; name another class"
) -> Batch:
    """Return the rows whose class or labels are known; raise FilterkitError if there are none, or nothing to predict.

    `problem_if_empty` is the message if there are none.
    """
    if data.y is None:
        raise FilterkitError(f"there is no class and there are no labels to predict; {NAME_A_TARGET}")
    if not data.class_known.any():
        raise FilterkitError(problem_if_empty)
    return data.take(np.flatnonzero(data.class_known))


def _split_data_into_tasks(data: Batch, design: EvaluationDesign, training: Batch) -> Iterator[tuple[str, Batch]]:
    """Yield the name and the rows of each task of a data set: a single one, or one for each class or label.

    Only the `training` rows decide which class is rarer, or has enough rows. Raise FilterkitError if no class or label
    can be a task, or a number is to be predicted one against the rest.
    """
    schema, target, y = data.schema, data.schema.class_attribute, training.y
    assert y is not None
    if schema.has_numeric_target:
        if design.one_against_rest:
            raise FilterkitError(
                "--one-against-rest applies to classes and labels, but a number is predicted; leave it out"
            )
        yield (schema.relation if target is None else target.name), data
        return
    names = list(schema.label_values.names if target is None else target.values)
    if not design.one_against_rest or (target is not None and (len(names) == 2 or schema.positive is not None)):
        if target is not None and len(names) == 2 and schema.positive is None:  # the same for all folds
            first, second = np.bincount(y, training.weights, 2).tolist()
            data = data.replace(schema=schema.replace(positive=names[0 if first < second else 1]))
        yield (schema.relation if target is None else schema.positive or target.name), data
        return
    if target is None:
        tasks = choose_label_tasks(training)
        rows = dict(zip(tasks.codes.tolist(), tasks.truth(training).sum(axis=0).tolist()))
    else:
        rows = dict(enumerate(np.bincount(y, minlength=len(names)).tolist()))
    chosen = [i for i, count in rows.items() if design.min_positives <= count < len(training) and count]
    if not chosen:
        raise FilterkitError(
            f"no class or label has at least {design.min_positives} rows, but not all rows; choose a smaller "
            "--min-positives"
        )
    for i in chosen:
        yield names[i], _relabel_one_against_rest(data, i, names[i])


def _relabel_one_against_rest(data: Batch, code: int, name: str) -> Batch:
    """Return the rows with another class, which has two values: `name`, and one for the rest.

    The new class stands in the place of the class or label, and other labels are left out. `code` is the index of
    `name` among the values of the class or, if there are labels, in `Schema.label_values`.
    """
    schema = data.schema
    assert data.y is not None
    values = (REST if name != REST else "other", name)
    known = schema.label_values
    target = schema.labels[known.labels[code]] if schema.labels else schema.class_index
    assert target is not None
    attributes = list(schema.attributes)
    attributes[target] = attributes[target]._replace(kind="nominal", values=values)
    stays = [i for i in range(len(attributes)) if i == target or i not in schema.targets]
    schema = schema.replace(
        attributes=[attributes[i] for i in stays], class_index=stays.index(target), positive=name, labels=()
    )
    y = data.y == code if data.y.ndim == 1 else data.y[:, known.labels[code]] == known.codes[code]
    return data.replace(schema=schema, y=y.astype(np.int32))


class _Task(NamedTuple):
    """Holds the rows of a data set with a class or labels to predict, and their folds.

    Attributes
    ----------
    name : the name of the task.
    rows : the rows, all with a known class or labels.
    folds : their folds.
    strata, groups : those of the rows, as `y` and `groups` of `DrawnFolds`.
    size : about how many bytes the rows take, plus a constant for the overhead of a fold.
    """

    name: str
    rows: Batch
    folds: DrawnFolds | PredefinedFolds
    strata: np.ndarray
    groups: np.ndarray | None
    size: int


class Evaluator:
    """Evaluates chains on data sets, one fold of one task after the other.

    Parameters
    ----------
    data : the name and the rows of each data set; all are held in memory.
    design : how the chains are compared.
    test : the rows to test on, in the schema of the only data set, all of whose rows are then trained on; None for a
        cross-validation.
    predefined : the folds of the only data set; None if they are drawn, or made by `EvaluationDesign.fold_column`.

    Attributes
    ----------
    data, design, test, predefined : the parameters.
    task_folds : the data set, the task and the number of each fold of each task.
    work : the estimated work by task fold, in bytes: those of the rows of its task, plus a constant for the overhead.
    warnings : a text about each data set that has rows in no fold.

    Raises
    ------
    FilterkitError : a data set has no class, or too few rows; or the class is numeric in some data sets only.
    """

    def __init__(
        self,
        data: Iterable[tuple[str, Batch]],
        design: EvaluationDesign,
        test: Batch | None = None,
        predefined: PredefinedFolds | None = None,
    ) -> None:
        self.data = list(data)
        self.predefined = predefined
        self.design = design
        self.test = test
        self._chains = [(name, Chain.parse(text)) for name, text in design.chains]
        self._tasks: dict[tuple[str, str], _Task] = {}
        for name, rows in self.data:
            try:
                for task in self._make_tasks(rows):
                    self._tasks[name, task.name] = task
            except FilterkitError as error:
                raise FilterkitError(f"{name}: {error}") from None
        kinds = {rows.schema.has_numeric_target: name for name, rows in self.data}
        if len(kinds) > 1:
            raise FilterkitError(
                f"the class is numeric in {kinds[True]}, but not in {kinds[False]}; evaluate them separately"
            )
        self.task_folds = [(*key, fold) for key, task in self._tasks.items() for fold in range(task.folds.count)]
        self.work = {part: self._tasks[part[:2]].size for part in self.task_folds}
        folds = {name: task.folds for (name, _), task in self._tasks.items()}
        self.warnings = [
            f"{name}: {each.n_untested:,} of {each.n_rows:,} rows are tested in no fold: the only ones of their classes"
            for name, each in folds.items()
            if isinstance(each, DrawnFolds) and each.n_untested
        ]

    def _make_tasks(self, data: Batch) -> Iterator[_Task]:
        design, predefined, groups, test = self.design, self.predefined, None, self.test
        rows = select_rows_with_known_class(data)
        if predefined is not None:
            predefined = predefined.select_rows(data.class_known)
        elif test is not None:
            test = select_rows_with_known_class(test, "no row to test on has a known class; name other rows")
            numbers = np.arange(len(rows) + len(test))
            predefined = PredefinedFolds([Fold("", numbers[len(rows) :], [numbers[: len(rows)]])], len(numbers))
        elif design.group is not None:
            groups, values, rows = split_off_attribute(rows, design.group, "group")
            if len(values) < design.folds:
                raise FilterkitError(
                    f"group {quoted(design.group)}: {design.folds} folds need as many values, but it has "
                    f"{len(values)}; choose fewer folds"
                )
        elif design.fold_column is not None:
            predefined, rows = make_folds_from_attribute(rows, design.fold_column)
        seen = rows
        rows = seen if test is None else concatenate([seen, test], seen.schema)
        for name, batch in _split_data_into_tasks(rows, design, seen):
            # What is spread evenly over folds: the classes, or all labels at once; of numbers, nothing.
            assert rows.y is not None and batch.y is not None
            strata = np.zeros(len(rows), np.int32)
            if not rows.schema.has_numeric_target:
                y = rows.y if rows.y.ndim == 1 else batch.y
                strata = y if y.ndim == 1 else choose_label_tasks(batch).truth(batch)
            folds = predefined or (DrawnFolds(strata, design, groups) if design.folds <= len(batch) else None)
            if folds is None or (isinstance(folds, DrawnFolds) and folds.has_empty_fold):
                rows_are = "1 row is" if len(batch) == 1 else f"{len(batch)} rows are"
                raise FilterkitError(f"{rows_are} too few for {design.folds} folds; choose fewer folds")
            size = _BYTES_OF_ANY_PART + int(estimate_row_bytes(batch).sum())
            yield _Task(name, batch, folds, strata, groups, size)

    def __reduce__(self) -> tuple[Any, ...]:
        # The tasks, which hold the rows again, are not pickled, but made again.
        return Evaluator, (self.data, self.design, self.test, self.predefined)

    def evaluate_task_fold(self, task_fold: TaskFold) -> list[Result]:
        """Evaluate all chains on one of the `task_folds`; return a result for each share to train on and each chain.

        With `EvaluationDesign.choose`, each share has a further result, that of the chosen chain. Raise FilterkitError
        if a chain fails, or has changed the class so that it predicts classes instead of numbers, or the reverse; the
        message names data, task, fold and chain.
        """
        data, task, number = task_fold
        _, batch, folds, strata, groups, _ = self._tasks[data, task]
        fold = folds.make_fold(number)
        test, split = batch.take(fold.test), hashlib.sha256(fold.test.astype("<i8").tobytes()).hexdigest()[:8]
        prefix = f"{data}, {task}, {fold.name or f'fold {number + 1}'}"  # of messages
        is_numeric = batch.schema.has_numeric_target
        results: list[Result] = []
        costs = None if self.design.costs is None else np.array(self.design.costs)
        for share, chosen in zip(folds.shares, fold.training):
            training = batch.take(chosen).replace(start=0)
            positives, columns, nonzeros = count_positives_columns_and_nonzeros(training)
            trials = fit_and_predict_chains(self._chains, training, test, prefix, costs)
            of_chains = []
            for (name, _), trial in zip(self._chains, trials):
                outcome = trial.outcome
                if outcome.is_numeric != is_numeric:
                    kind, other = ("numeric", "classes") if is_numeric else ("nominal", "numbers")
                    first = (
                        "make it nominal in a run of its own: "
                        f"filterkit -o NEW.arff FILE {format_chain_that_makes_class(quoted(task))}"
                        if is_numeric
                        else "leave out stages that change the class, and change it before evaluate"
                    )
                    raise FilterkitError(
                        f"{prefix}, chain {quoted(name)}: it predicts {other}, but the class is {kind}; {first}"
                    )
                predicted = outcome.predicted if is_numeric else np.packbits(outcome.predicted)
                of_chains.append(
                    Result(
                        *(data, task, number, share, name, len(training), len(test), trial.seconds),
                        *(measures(outcome), split, batch.schema.positive or ""),
                        confusion=None if is_numeric else list_confusion_matrices(trial.learner, outcome, batch.schema),
                        train_positives=positives,
                        columns=columns,
                        nonzeros=nonzeros,
                        predictions=hashlib.sha256(predicted.tobytes()).hexdigest()[:16],
                        warnings=trial.warnings,
                        fold_name=fold.name,
                        points=list_true_and_predicted_numbers(trial.learner.tasks.names, outcome)
                        if is_numeric
                        else None,
                    )
                )
            results += of_chains
            if self.design.choose is not None:
                began = time.perf_counter()
                inner = draw_inner_folds(strata, self.design, groups, chosen, number, INNER_FOLDS)
                best = of_chains[
                    choose_chain_by_inner_folds(self._chains, self.design.choose, training, inner, prefix, costs)
                ]
                seconds = time.perf_counter() - began + best.seconds
                results.append(best._replace(chain=CHOSEN, seconds=seconds, choice=best.chain))
        return results


def evaluate_task_folds(
    evaluator: Evaluator, engine: Engine | None = None, done: Collection[TaskFold] = ()
) -> Iterator[tuple[int, list[Result]]]:
    """Evaluate all folds of tasks that are not `done`; yield for each how many are left, and its results.

    This thread begins with the smallest ones. If the rest will take seconds, an engine evaluates it, the largest
    first.

    Parameters
    ----------
    evaluator : the data sets and chains; its `task_folds` are evaluated.
    engine : evaluates folds if there is enough work and it has several jobs; None leaves all work to this thread.
    done : those to leave out.
    """
    parts = sorted((part for part in evaluator.task_folds if part not in done), key=evaluator.work.__getitem__)
    sizes = [evaluator.work[part] for part in parts]
    began = time.perf_counter()
    for number, part in enumerate(parts):
        left, seconds = len(parts) - number, time.perf_counter() - began - _STARTUP
        seconds_left = seconds / sum(sizes[:number]) * sum(sizes[number:]) if number else 0.0
        if engine is not None and engine.jobs > 1 and seconds_left > _WORTH_AN_ENGINE:
            with closing(engine.map_as_done(evaluator.evaluate_task_fold, parts[number:][::-1])) as found:
                for finished, results in enumerate(found, 1):
                    yield left - finished, results
            return
        yield left - 1, evaluator.evaluate_task_fold(part)
