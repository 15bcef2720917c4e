"""Stages, the steps of a chain.

A stage has typed options, which are declared as fields by `option`. Fitting it gives a *fitted stage*, which knows the
schema of its output, and transforms batches without changing itself or them. The base classes are:

- `RowStage`, with nothing to fit: write `transform(batch)`.
- `ColumnStage` (in `filterkit.stages.columns`), which fits each column from its part of a contingency table.
- `TrainingStage`, which chooses, orders or writes training rows: write `arrange(rows)`.
- `Stage`, for anything else: write `build(schema, state)`, which says what becomes of the rows, and, if that depends on
  the training rows, `fit_rows(rows, schema)`, which returns the state and may read the batches as often as it needs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar

from filterkit.data.batch import Batch, itself
from filterkit.data.contract import blame_stage_for_errors, check_output_batch, describe_type, make_contract_error
from filterkit.data.schema import Schema
from filterkit.errors import NAME_A_CLASS, FilterkitError, StageError, explain_not_nominal, quoted
from filterkit.stages.options import OptionOwner, list_option_fields, make_flag

if TYPE_CHECKING:
    import numpy as np

    from filterkit.stages.learned import LearnedTable

T = TypeVar("T")

# What a stage has learned, by name: arrays, `Ragged` arrays, numbers, texts, and lists of these. That of a column stage
# has arrays and `Ragged` arrays alone, each with an entry for every column of X.
State = dict[str, Any]


def make_missing_member_error(instance: object, method: str) -> NotImplementedError:
    """Return, without raising it, the error that the class of `instance` lacks a method or attribute that it must have.

    If an attribute of `instance` has a similar name, the message suggests that this one is misspelt.
    """
    from difflib import get_close_matches

    close = get_close_matches(method, [name for name in dir(instance) if name != method], n=1, cutoff=0.8)
    hint = f"; is {quoted(close[0])} misspelt?" if close else ""
    return NotImplementedError(f"{type(instance).__name__} must define {method}{hint}")


@dataclasses.dataclass(eq=False, repr=False)
class Batches:
    """Reads the training batches for a stage, as often as it needs.

    Read the batches to their end each time: otherwise rows may be lost, and the next reading raises PluginError.

    Attributes
    ----------
    read : a function that returns the batches, in order. A stage calls the object itself, which also numbers the rows.
    memory : bytes that a stage may hold of what it computes, copies included, while it reads: a quarter of `--memory`.
        What the stage learns must not depend on them.
    jobs : the number of threads that may work on the batches.
    inner_splits : for a stage with `inner_folds`: a function that yields two batches for each fold that has rows, the
        training rows outside the fold, and those in it. The stages before have transformed both, and were fitted on
        the rows outside the fold alone; but those up to the last stage that sets the class or the labels were fitted
        on all rows. The default yields nothing.
    """

    read: Callable[[], Iterator[Batch]]
    memory: int
    jobs: int = 1
    inner_splits: Callable[[], Iterator[tuple[Batch, Batch]]] = lambda: iter(())

    def __call__(self) -> Iterator[Batch]:
        """Yield the training batches, in order; `Batch.start` counts the rows before each."""
        start = 0
        for batch in self.read():
            yield batch.replace(start=start)
            start += len(batch)

    def __iter__(self) -> Iterator[Batch]:
        raise TypeError("rows is a function; call it, as in: for batch in rows()")


class Built(NamedTuple):
    """Says what a stage makes of batches of one schema: the schema of the new batches, and a function to make them.

    Attributes
    ----------
    schema : of the outgoing batches.
    transform : a function of a batch, which returns one of `schema` with the same number of rows, in the same order,
        without changing the batch. It may be called in any thread, and with a batch of no rows.
    columns, growth : as the attributes of `Fitted`.
    """

    schema: Schema
    transform: Callable[[Batch], Batch]
    columns: np.ndarray | None = None
    growth: float = 1.0


NUMERIC_CLASS = "a numeric class"  # see `Stage.mends`


class Stage(OptionOwner):
    """A named step of a chain with its options.

    The first line of a stage's docstring says what happens to the data and becomes its ``--help``. A stage that a
    plugin offers is pickled by its name; whoever unpickles it needs the plugin, too.

    Attributes
    ----------
    name : the word for the stage in a chain: short, lower case.
    known_as : what pandas, a shell and others call it: words in lower case without hyphens, separated by blanks. If a
        user writes one of them, the message names the stage.
    group : the heading under which ``filterkit stages`` lists it.
    fills_missing : whether it may replace missing values; the conformance kit checks that all other stages keep them.
    mends : what it accepts and others refuse, whose messages then name it: ``missing values`` or ``nominal columns`` if
        it makes numbers of them, ``a numeric class`` if it scores columns by one. "" for none of these.
    scores_columns : whether it ranks or scales columns by a score. If it refuses a numeric class, its message then
        advises a score that accepts one.
    makes_missing : whether it may turn numbers into missing or infinite values; the kit checks that all other stages
        do not.
    reads_class : whether it uses the class of the rows that it transforms, for example to make the class an ordinary
        attribute. All other stages may use the class only while they are fitted.
    numbers_rows : whether it uses `batch.start` of the rows that it transforms. Rows that come straight from an input
        then pass the chain in one thread.
    weighs_columns : whether it multiplies each column by a weight of its own, which stages after it should see.
    cancels_weights : whether it divides each column by its range or spread, which cancels weights from the stage before
        it. The command line warns of a chain in which such a stage follows one that weighs columns.
    needs_class : whether fitting needs a class, nominal unless `numeric_class`; the chain checks that before it fits
        the stage.
    numeric_class : whether the class that fitting needs may be numeric, too.
    """

    name: ClassVar[str] = ""
    known_as: ClassVar[str] = ""
    group: ClassVar[str] = "Others"
    fills_missing: ClassVar[bool] = False
    mends: ClassVar[str] = ""
    scores_columns: ClassVar[bool] = False
    makes_missing: ClassVar[bool] = False
    reads_class: ClassVar[bool] = False
    numbers_rows: ClassVar[bool] = False
    # Where options decide, `__post_init__` may set these on the stage; without types, they are no options themselves.
    weighs_columns = False
    cancels_weights = False
    needs_class = False
    numeric_class = False

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.words() == other.words()

    def __hash__(self) -> int:
        return hash(tuple(self.words()))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {' '.join(self.words())}>"

    def fit_rows(self, rows: Batches, schema: Schema) -> State:
        """Learn from the training rows, and return the state: all that `build` needs besides the options.

        The default returns {}: the stage then does the same to each row, whatever the training rows are.

        Parameters
        ----------
        rows : each call returns the training batches again, in order, as they come out of the stages before.
        schema : of these batches.

        Returns
        -------
        dict of arrays of float64, int64, int32 or bool, `Ragged` arrays, numbers, texts, and lists of these, by name.

        Raises
        ------
        StageError : the stage cannot be fitted on these rows.
        """
        return {}

    def build(self, schema: Schema, state: State) -> Built:
        """Return the schema of the outgoing batches, and the function that transforms a batch.

        The function may be a closure: the result is never pickled or saved, but built again from the state.

        Parameters
        ----------
        schema : of the incoming batches.
        state : what `fit_rows` returned; check it, because it may come from a damaged file.

        Raises
        ------
        FilterkitError : the stage cannot work on such batches, or the state contradicts itself or the schema.
        """
        raise make_missing_member_error(self, "build")

    def fit(self, rows: Batches, schema: Schema) -> Fitted:
        """Learn from the training rows by `fit_rows`, and return the stage fitted on them, which `build` builds.

        Override this method and `from_state` if the fitted stage is to treat training rows in another way than later
        ones. Raise StageError if the stage cannot be fitted on these rows, and PluginError if `fit_rows` returns no
        dict, or `build` no `Built`.
        """
        state = self.fit_rows(rows, schema)
        if not isinstance(state, dict):
            raise make_contract_error(self, f"fit_rows returns {describe_type(state)}; return a dict")
        return FittedStage(self, schema, state)

    def inner_folds(self) -> int:
        """Return the number of folds of training rows on which the stage tries itself in `fit`; 0 for no trials."""
        return 0

    def most_columns(self, width: int | None) -> int | None:
        """Return the most columns that may come out, whatever the rows are; None if there is no limit.

        ``--explain`` shows it. `width` is the most columns that may come in; None if there is no limit.
        """
        return None

    def from_state(self, state: State, schema: Schema) -> Fitted:
        """Rebuild the fitted stage from a saved state; a damaged state may lead to any exception.

        By default the stage is built by `build`. If it overrides `fit`, it is fitted on no rows instead, and `state` is
        ignored, which is right only for a stage that learns nothing from rows.

        Parameters
        ----------
        state : what `Fitted.get_state` returned; an override checks it, because the file may be damaged.
        schema : of the incoming batches.
        """
        if type(self).fit is not Stage.fit:
            return self.fit(Batches(lambda: iter(()), 0), schema)
        return FittedStage(self, schema, state)

    @classmethod
    def answer_unknown_stage(cls, name: str) -> str:
        """Return what to add to the message that there is no stage `name`; "" for nothing.

        Every stage is asked. By default, one whose `known_as` contains the word answers with its own name.
        """
        word = name.lower().replace("-", "").replace("_", "")
        return f"; here it is: {cls.name}" if word in vars(cls).get("known_as", "").split() else ""

    def words(self) -> list[str]:
        """Return the stage as words of a command line: its name, arguments, and options that are not the default.

        Arguments are the values of options that are written without a flag.
        """
        words, bare = list[str](), list[str]()
        for field in list_option_fields(self):
            value = getattr(self, field.name)
            if field.metadata["bare"]:
                bare.append(str(value))
            elif value != field.default:
                flag = make_flag(field)
                if isinstance(value, bool):
                    words.append(flag if value else "--no-" + flag[2:])
                else:
                    for each in value if isinstance(value, tuple) else (value,):
                        words += [flag, str(each)]
        return [self.name, *words, "--", *bare] if bare and bare[0].startswith("-") else [self.name, *bare, *words]

    def written_files(self) -> list[str]:
        """Return the paths of the files that the stage writes: the options with ``output=True`` that are not None."""
        paths = [getattr(self, f.name) for f in dataclasses.fields(self) if f.metadata["output"]]
        return [path for path in paths if path is not None]


class Fitted:
    """A fitted stage, which transforms batches.

    Attributes
    ----------
    schema : of the outgoing batches.
    columns : int64 (outgoing columns,), ascending: the number, from 0, of the incoming column of X whose place each
        outgoing column takes; several may take one place. This matters only under `--only` or `--except`, where the
        incoming columns are the chosen ones, and others stay between them. None: if the outgoing columns have the names
        of the incoming ones, in the same order, each takes the place of its namesake; otherwise all take the place of
        the first incoming column.
    made_by : the stage that was fitted; the chain sets it. None for none; the transformed batches are then not checked.
    growth : how many outgoing values a value of X becomes, on average. If that is above 1, the stage may get a long
        batch in several pieces.
    state : what `Stage.from_state` needs to rebuild the fitted stage, by name: arrays of float64, int64, int32 or bool,
        `Ragged` arrays, numbers, texts, and lists of these. None: it cannot be saved.
    """

    schema: Schema
    columns: np.ndarray | None = None
    growth: float = 1.0
    made_by: Stage | None = None
    state: State = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        words = type(self).__name__ if self.made_by is None else " ".join(self.made_by.words())
        return f"<Fitted: {words}>"

    def transform(self, batch: Batch) -> Batch:
        """Transform a batch, without changing it, into one of `schema` with the same number of rows, in the same order.

        It may be called in any thread, and with a batch of no rows.
        """
        raise make_missing_member_error(self, "transform")

    def get_state(self) -> State:
        """Return what a saved chain stores: by default, `state`. Raise NotImplementedError if that is None."""
        if self.state is None:
            raise make_missing_member_error(self, "state")
        return self.state

    def describe(self, incoming: Schema, top: int | None = None) -> list[LearnedTable]:
        """Return tables of what the stage has learned: by default of its state, or [] if it has none.

        Parameters
        ----------
        incoming : the schema of the incoming batches.
        top : the most rows of each table; None for all. A table of single numbers and texts is never cut.
        """
        from filterkit.stages.learned import make_state_tables

        try:
            return make_state_tables(self.get_state(), incoming, top)
        except NotImplementedError:
            return []

    def transform_training(self, batch: Batch) -> Batch:
        """Transform a batch of training rows, by default as `transform` does; `batch.start` numbers its first row.

        The result has the schema `schema`, and the same number of rows, in the same order.
        """
        return self.transform(batch)


class RowStage(Stage):
    """A stage with nothing to fit, which transforms each row by itself.

    Write `transform`, and `output` if the schema changes.
    """

    group = "Change rows"

    def output(self, schema: Schema) -> Schema:
        """Return the schema of the outgoing batches; by default `schema`, that of the incoming batches."""
        return schema

    def most_columns(self, width: int | None) -> int | None:
        return width if type(self).output is RowStage.output else None

    def transform(self, batch: Batch) -> Batch:
        """Transform a batch into a new one with the same number of rows, in the same order.

        No row may depend on the other rows of the batch. The result may keep the schema of `batch`, because the chain
        sets the one that `output` returns. The method may be called in any thread, and with a batch of no rows.
        """
        raise make_missing_member_error(self, "transform")

    def growth(self, schema: Schema) -> float:
        """Return `Fitted.growth`: how many outgoing values a value of X becomes, on average. Override it if many."""
        return 1.0

    def build(self, schema: Schema, state: State) -> Built:
        return Built(self.output(schema), self.transform, growth=self.growth(schema))


class FittedStage(Fitted):
    """A fitted stage that transforms batches by the function of the `Built` that `Stage.build` returns.

    Raise StageError if `build` raises FilterkitError, and PluginError if it returns something else than a `Built`.

    Parameters
    ----------
    stage : the stage.
    incoming : the schema of the incoming batches.
    state : what the stage has learned.
    """

    def __init__(self, stage: Stage, incoming: Schema, state: State) -> None:
        self.stage = stage
        self.incoming = incoming
        self.state = state
        with name_stage_in_errors(stage):
            built = stage.build(incoming, state)
        if not isinstance(built, Built):
            raise make_contract_error(stage, f"build returns {describe_type(built)}; return a Built")
        self.schema, self._transform, self.columns, self.growth = built

    def __reduce__(self) -> tuple[Any, ...]:
        return FittedStage, (self.stage, self.incoming, self.state), {"made_by": self.made_by}

    def transform(self, batch: Batch) -> Batch:
        with name_stage_in_errors(self.stage):
            out = self._transform(batch)
        if not isinstance(out, Batch):
            raise make_contract_error(self.stage, f"transform returns {describe_type(out)}; return a Batch")
        return out if out.schema is self.schema else out.replace(schema=self.schema)


@contextmanager
def name_stage_in_errors(stage: Stage) -> Iterator[None]:
    """Return a context that turns a `FilterkitError` raised in it into a `StageError` of the stage.

    An exception of any other class passes unchanged, even if the class derives from `FilterkitError`.
    """
    try:
        yield
    except FilterkitError as error:
        if type(error) is not FilterkitError:
            raise
        raise StageError(stage.name, str(error)) from None


class Rows(Protocol):
    """Training rows: a schema, and a map over their batches that works in parallel and keeps the order.

    Attributes
    ----------
    schema : of the batches.
    jobs : the number of threads that may work on the batches.
    memory : the bytes of rows that a stage may hold in memory.
    to_the_end : whether even a stage that needs only the first rows must read all rows.
    """

    schema: Schema
    jobs: int
    memory: int
    to_the_end: bool

    def map(self, function: Callable[[Batch], T], last: bool = False) -> Iterator[T]:
        """Yield ``function(batch)`` for every batch, in order.

        Read each pass but the last to its end: later passes read what the first has stored, and raise PluginError if
        that may not be all. From the second pass on, `batch.start` is the number, from 0, of the first row of the
        batch; in the first pass it may be 0 instead.

        Parameters
        ----------
        function : is called in any thread or process, so the function and its results must be picklable.
        last : promises that this is the last pass, which may end early.
        """


class TrainingStage(Stage):
    """A stage that chooses, orders or writes the training rows; later rows pass unchanged.

    Attributes
    ----------
    to_the_end : whether it must see all rows, even if a stage after it needs only the first, because it writes them.
        Such a stage is left out of the trials of a learner.
    """

    group = "Choose training rows"
    to_the_end: ClassVar[bool] = False

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        """Yield batches of the training rows for the next stage; their schema must be that of `rows`.

        Parameters
        ----------
        rows : the training rows; call their `map` as often as needed, the last time with ``last=True``.
        """
        raise make_missing_member_error(self, "arrange")

    def most_columns(self, width: int | None) -> int | None:
        return width

    def build(self, schema: Schema, state: State) -> Built:
        return Built(schema, itself)


def learns_nothing(stage: Stage) -> bool:
    """Return whether a stage certainly does the same to all rows, whatever the training rows are.

    That is so if it writes `build`, but neither `fit` nor `fit_rows`, and is no training stage.
    """
    kind = type(stage)
    is_built = kind.build is not Stage.build and kind.fit is Stage.fit
    return is_built and kind.fit_rows is Stage.fit_rows and not isinstance(stage, TrainingStage)


def check_class(stage: Stage, schema: Schema, in_chain: bool = True) -> None:
    """Raise a `StageError` if `stage` needs a class, and `schema` has none, or labels instead.

    Likewise if the class is numeric, and the stage needs a nominal one. `in_chain` says whether the message may suggest
    a stage that makes such a class first.
    """
    if not stage.needs_class:
        return
    target = schema.class_attribute
    if schema.labels:
        raise StageError(
            stage.name,
            "it needs a class, but the data has labels; name one of them with --class, and remove the others",
        )
    if target is None:
        how = NAME_A_CLASS if in_chain else "name one with --class (in Python class_=)"
        raise StageError(stage.name, f"there is no class attribute, which it needs; {how}")
    if target.kind == "nominal" or stage.numeric_class:
        return
    if stage.scores_columns:
        name = quoted(target.name)
        nominal = f"if its numbers stand for classes, put before it: nominal --only {name}; else " * in_chain
        how = f"{name} is {target.kind}; {nominal}take a score of {NUMERIC_CLASS}"
        raise StageError(stage.name, f"it needs a nominal class, but {how}", lacks=NUMERIC_CLASS)
    raise StageError(stage.name, f"it needs a nominal class, but {explain_not_nominal(target.name, target.kind)}")


def check_fitted_and_set_made_by(stage: Stage, fitted: Any) -> Fitted:
    """Check `fitted`, which the `fit` of a stage returned, set its `made_by` to the stage, and return it.

    Raise PluginError if it is no `Fitted`, or its `schema` is no `Schema`. A property `schema` is not checked.
    """
    if not isinstance(fitted, Fitted):
        raise make_contract_error(stage, f"fit returns {describe_type(fitted)}; return a Fitted")
    is_property = hasattr(type(fitted), "schema")  # which may take long to compute: leave it alone
    if not is_property and not isinstance(vars(fitted).get("schema"), Schema):
        found = describe_type(vars(fitted).get("schema"))
        raise make_contract_error(stage, f"the schema of what fit returns is {found}; make it a Schema")
    fitted.made_by = stage
    return fitted


def transform(stages: Iterable[Fitted], batch: Batch, training: bool = False) -> Batch:
    """Return a batch, transformed by fitted stages in order; if `training`, by their `transform_training`.

    Without stages, return the batch itself. Raise PluginError if a stage returns something else than a batch of its
    schema with as many rows; a stage without `made_by` is not checked. An unexpected error of a stage is raised as it
    is, with a note that names the stage.
    """
    for stage in stages:
        with blame_stage_for_errors(stage.made_by):
            out = stage.transform_training(batch) if training else stage.transform(batch)
        batch = out if stage.made_by is None else check_output_batch(stage.made_by, stage.schema, out, batch)
    return batch
