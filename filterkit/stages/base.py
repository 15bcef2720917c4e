"""Stage: what a step of a chain is.

A stage holds typed options, declared once as fields made by `option`. Fitting it gives a *fitted* object,
which knows the schema it puts out and transforms batches without changing itself or them:

- `RowStage`: nothing to fit; write `transform(batch)`.
- `ColumnStage` (in `filterkit.stages.columns`): fits every column from its part of a contingency table.
- `TrainingStage`: chooses, orders or keeps training rows; write `arrange(rows)`.
- `Stage`: anything; write `fit(rows)`, which may read the batches as often as it needs.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Protocol, TypeVar, dataclass_transform

from filterkit.data.batch import Batch
from filterkit.data.contract import broken, check_out, kind_of
from filterkit.data.schema import Schema
from filterkit.stages.options import check_option, converted, flag_of, option, options_of

T = TypeVar("T")


@dataclass_transform(kw_only_default=True, field_specifiers=(option,))
class Stage:
    """A named step of a chain with its options.

    The first line of a stage's docstring says what happens to the data and becomes its ``--help``.

    Attributes
    ----------
    name : the word for the stage in a chain: short, lower case.
    group : what it does, in a few words: the heading under which ``filterkit stages`` lists it.
    fills_missing : whether missing values may become others, as where they are imputed; the conformance kit asks
        all other stages to keep them.
    """

    name: ClassVar[str] = ""
    group: ClassVar[str] = "Others"
    fills_missing: ClassVar[bool] = False

    @property
    def needs_class(self) -> bool:
        """Whether fitting needs a nominal class; the chain then checks for one before it reads any row.

        Most stages know: ``needs_class = True``.
        """
        return False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Only for the fields: methods made by dataclass would take half a millisecond a stage at every start.
        dataclasses.dataclass(init=False, repr=False, eq=False)(cls)

    def __init__(self, **options: Any) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = field.default
            if field.name in options:
                value = converted(type(self), field, options.pop(field.name))
            setattr(self, field.name, value)
        if options:
            raise TypeError(f"{type(self).__name__} has no option {next(iter(options))!r}")
        self.__post_init__()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.words() == other.words()

    def __hash__(self) -> int:
        return hash(tuple(self.words()))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {' '.join(self.words())}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # A stage that a plugin offers is pickled by its name instead; see `filterkit.plugin.registry`.
        return _stage_again, (type(self), options_of(self))

    def __post_init__(self) -> None:
        """Check the options; a stage that has more to check calls this first."""
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            check_option(self.name, field, getattr(self, field.name))

    def fit(self, rows: Callable[[], Iterator[Batch]], schema: Schema) -> Fitted:
        """Learn from the training rows.

        Parameters
        ----------
        rows : each call gives the training batches anew, in order, as the stages before put them out.
        schema : theirs.
        """
        raise NotImplementedError(f"{type(self).__name__} has no fit")

    def from_state(self, state: dict[str, Any], schema: Schema) -> Fitted:
        """The fitted stage again, from a file.

        Parameters
        ----------
        state : what its `Fitted.get_state` gave; it may come from a damaged file, so check it.
        schema : of the batches that come in.

        The default is for stages that learn nothing from rows: it fits on none.
        """
        return self.fit(lambda: iter(()), schema)

    def words(self) -> list[str]:
        """The stage as the words of a command line, with only the options that differ from their default."""
        words, bare = [self.name], []
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.metadata["bare"]:
                bare.append(str(value))
            elif value != field.default:
                flag = flag_of(field)
                if isinstance(value, bool):
                    words.append(flag if value else "--no-" + flag[2:])
                else:
                    for each in value if isinstance(value, tuple) else (value,):
                        words += [flag, str(each)]
        return words + bare

    def written_files(self) -> list[str]:
        """The files that the stage writes, which are the values of the options declared with ``output=True``."""
        named = [getattr(self, f.name) for f in dataclasses.fields(self) if f.metadata["output"]]  # type: ignore[arg-type]
        return [path for path in named if path is not None]

    @classmethod
    def summary(cls) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(cls) or "").partition("\n")[0]


def _stage_again(stage: type[Stage], options: dict[str, Any]) -> Stage:
    """A stage of that class, for pickle."""
    return stage(**options)


class Fitted:
    """A fitted stage: knows the `schema` of the batches it puts out, and transforms batches.

    Attributes
    ----------
    schema : theirs.
    made_by : the stage that was fitted; the chain sets it.
    """

    schema: Schema
    made_by: Stage | None = None

    def transform(self, batch: Batch) -> Batch:
        """The batch that comes out for `batch`, which is left as it is; may run in any thread."""
        raise NotImplementedError(f"{type(self).__name__} has no transform")

    def get_state(self) -> dict[str, Any]:
        """What `Stage.from_state` needs to build this again, by name: arrays of float64, int64, int32 or bool, `Ragged`
        arrays, numbers, texts and lists of them."""
        raise NotImplementedError(f"{type(self).__name__} has no get_state")

    def transform_training(self, batch: Batch) -> Batch:
        """The batch that comes out for a batch of the rows fitted on, the first of which is number `batch.start`
        of them; the same as for any other rows unless a stage knows better."""
        return self.transform(batch)


class RowStage(Stage):
    """A stage with nothing to fit, which maps each batch by itself and keeps the schema.

    Write `transform`; if the schema changes, write `output` too.
    """

    group = "Change rows"

    def output(self, schema: Schema) -> Schema:
        """The schema of the batches put out for batches of `schema`."""
        return schema

    def transform(self, batch: Batch) -> Batch:
        """The batch that comes out for `batch`; every row by itself, whatever batch it is in."""
        raise NotImplementedError(f"{type(self).__name__} has no transform")

    def fit(self, rows: Callable[[], Iterator[Batch]], schema: Schema) -> Fitted:
        return FittedRows(self, self.output(schema))


class FittedRows(Fitted):
    """A row stage, ready to run."""

    def __init__(self, stage: RowStage, schema: Schema) -> None:
        self.stage = stage
        self.schema = schema

    def get_state(self) -> dict[str, Any]:
        return {}

    def transform(self, batch: Batch) -> Batch:
        out = self.stage.transform(batch)
        if not isinstance(out, Batch):
            raise broken(self.stage.name, f"transform gives {kind_of(out)}; return a Batch", type(self.stage))
        return out if out.schema is self.schema else out.replace(schema=self.schema)


def by_group(stages: Iterable[type[Stage]]) -> dict[str, list[type[Stage]]]:
    """The stages of each group, by name; groups in alphabetical order."""
    groups: dict[str, list[type[Stage]]] = {}
    for stage in sorted(stages, key=lambda stage: (stage.group, stage.name)):
        groups.setdefault(stage.group, []).append(stage)
    return groups


class Rows(Protocol):
    """Training rows: a schema, and a map over their batches that works in parallel and keeps the order.

    Attributes
    ----------
    schema : of the batches.
    jobs : how many threads may work on them.
    memory : bytes of budget for what a stage stores of them.
    to_the_end : whether they have to be read to the end, even by a stage that needs only the first.
    """

    @property
    def schema(self) -> Schema: ...

    @property
    def jobs(self) -> int: ...

    @property
    def memory(self) -> int: ...

    @property
    def to_the_end(self) -> bool: ...

    def map(self, function: Callable[[Batch], T], last: bool = False) -> Iterator[T]:
        """``function(batch)`` for every batch.

        Parameters
        ----------
        function : called in any thread.
        last : promises that the rows are not asked for again.

        From the second time on, `batch.start` is the number of the batch's first row.
        """


class TrainingStage(Stage):
    """A stage that chooses, orders or keeps the training rows; rows that come later pass as they are.

    Attributes
    ----------
    to_the_end : whether it has to see all rows, even if a stage behind it needs only the first; such a stage keeps
        what passes, and is left out of the trials of a learner.
    """

    group = "Choose training rows"
    to_the_end: ClassVar[bool] = False

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        """The training batches as they go on.

        Parameters
        ----------
        rows : the training rows; their `map` may be used as often as needed, the last time with ``last=True``.
        """
        raise NotImplementedError(f"{type(self).__name__} has no arrange")

    def fit(self, rows: Callable[[], Iterator[Batch]], schema: Schema) -> Fitted:
        return FittedRows(_Pass(), schema)


class _Pass(RowStage):
    """Every row as it is."""

    def transform(self, batch: Batch) -> Batch:
        return batch


def check_fitted(stage: Stage, fitted: Any) -> Fitted:
    """What `stage` gives as its fitted stage, which learns here who made it.

    Raises
    ------
    PluginError : it is none, or has no schema.
    """
    if not isinstance(fitted, Fitted):
        raise broken(stage.name, f"fit gives {kind_of(fitted)}; return a Fitted", type(stage))
    made_when_asked_for = hasattr(type(fitted), "schema")
    if not made_when_asked_for and not isinstance(vars(fitted).get("schema"), Schema):
        found = kind_of(vars(fitted).get("schema"))
        raise broken(stage.name, f"the schema of what fit gives is {found}; make it a Schema", type(stage))
    fitted.made_by = stage
    return fitted


def transform(stages: list[Fitted], batch: Batch, training: bool = False) -> Batch:
    """The batch that comes out of fitted `stages`, one after the other; with `training` for rows fitted on."""
    for stage in stages:
        out = stage.transform_training(batch) if training else stage.transform(batch)
        batch = out if stage.made_by is None else check_out(stage.made_by, stage.schema, out, batch)
    return batch
