"""Stage: what a step of a chain is.

A stage holds typed options, declared once as fields made by `option`. Fitting it gives a *fitted* object,
which knows the schema it puts out and transforms batches without changing itself or them:

- `RowStage`: nothing to fit; write `transform(batch)`.
- `ColumnStage` (in `filterkit.columns`): fits every column from its part of a contingency table.
- `TrainingStage`: chooses, orders or keeps training rows; write `arrange(rows)`.
- `Stage`: anything; write `fit(rows)`, which may read the batches as often as it needs.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from filterkit.batch import Batch
from filterkit.errors import UsageError, quoted
from filterkit.schema import Schema

if TYPE_CHECKING:
    from filterkit.rows import Rows


def option(
    default: Any,
    help: str,
    *,
    choices: tuple[str, ...] = (),
    minimum: float | None = None,
    maximum: float | None = None,
    bare: bool = False,
) -> Any:
    """Declare an option of a stage, as the value of an annotated class attribute.

    Parameters
    ----------
    default : its value when not given; None means "decided by the data", which `help` explains.
    help : one sentence for ``--help`` and the reference page.
    choices : the words allowed, for a text option.
    minimum, maximum : the least and the largest number allowed, themselves allowed too.
    bare : whether it stands behind the stage's options without a flag, and has to be given; at most one is.

    The type comes from the annotation: ``int``, ``float``, ``str`` or ``bool``, or one of them ``| None``;
    ``tuple[str, ...]`` is an option that may be repeated. The attribute `top_rows` is ``--top-rows`` on the
    command line; a bool is a pair ``--x/--no-x``, or a plain flag ``--x`` if it defaults to False.
    """
    return dataclasses.field(
        default=default,
        kw_only=True,
        metadata={"help": help, "choices": choices, "minimum": minimum, "maximum": maximum, "bare": bare},
    )


@dataclass_transform(kw_only_default=True, field_specifiers=(option,))
class Stage:
    """A named step of a chain with its options.

    The first line of a stage's docstring says what happens to the data and becomes its ``--help``.

    Attributes
    ----------
    name : the word that stands in a chain: short, lower case.
    needs_class : whether fitting needs a nominal class; the chain then checks it before any row is read.
    """

    name: ClassVar[str] = ""
    needs_class: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Only for the fields: methods made by dataclass would take half a millisecond a stage at every start.
        dataclasses.dataclass(init=False, repr=False, eq=False)(cls)

    def __init__(self, **options: Any) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            setattr(self, field.name, options.pop(field.name, field.default))
        if options:
            raise TypeError(f"{type(self).__name__} has no option {next(iter(options))!r}")
        self.__post_init__()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.words() == other.words()

    def __hash__(self) -> int:
        return hash(tuple(self.words()))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {' '.join(self.words())}>"

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

    def restore(self, kept: dict[str, Any], schema: Schema) -> Fitted:
        """The fitted stage again, from a file.

        Parameters
        ----------
        kept : what its `Fitted.kept` gave; it may come from a damaged file, so check it.
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

    @classmethod
    def summary(cls) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(cls) or "").partition("\n")[0]


def flag_of(field: dataclasses.Field[Any]) -> str:
    """The flag of an option; a name that is a word of Python has an underscore behind it."""
    return "--" + field.name.removesuffix("_").replace("_", "-")


def check_option(stage: str, field: dataclasses.Field[Any], value: Any) -> None:
    """Raise a `UsageError` that names stage, option, what is allowed and what was given."""
    flag = flag_of(field)
    choices, minimum, maximum = (field.metadata[key] for key in ("choices", "minimum", "maximum"))
    if field.metadata["bare"]:
        flag = field.name.upper()
        if value is None:
            raise UsageError(f"{stage}: {flag} is missing")
    if choices and value is not None and value not in choices:
        raise UsageError(f"{stage}: {flag} must be one of {', '.join(choices)}, not {quoted(str(value))}")
    if minimum is not None and value is not None and not value >= minimum:
        raise UsageError(f"{stage}: {flag} must be at least {_shown(minimum)}, not {value}")
    if maximum is not None and value is not None and not value <= maximum:
        raise UsageError(f"{stage}: {flag} must be at most {_shown(maximum)}, not {value}")


def _shown(limit: float) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit:g}"


class Fitted:
    """A fitted stage: knows the `schema` of the batches it puts out, and transforms batches."""

    schema: Schema

    def transform(self, batch: Batch) -> Batch:
        """The batch that comes out for `batch`, which is left as it is; may run in any thread."""
        raise NotImplementedError(f"{type(self).__name__} has no transform")

    def kept(self) -> dict[str, Any]:
        """What `Stage.restore` needs to make this again: arrays of float64, int64, int32 or bool, `Ragged`s, numbers,
        texts and lists of them, by name."""
        raise NotImplementedError(f"{type(self).__name__} has no kept")

    def transform_training(self, batch: Batch) -> Batch:
        """The batch that comes out for a batch of the rows fitted on, the first of which is number `batch.start`
        of them; the same as for any other rows unless a stage knows better."""
        return self.transform(batch)


class RowStage(Stage):
    """A stage with nothing to fit, which maps each batch by itself and keeps the schema.

    Override `output` too if the schema changes.
    """

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

    def kept(self) -> dict[str, Any]:
        return {}

    def transform(self, batch: Batch) -> Batch:
        out = self.stage.transform(batch)
        return out if out.schema is self.schema else out.replace(schema=self.schema)


class TrainingStage(Stage):
    """A stage that chooses, orders or keeps the training rows; rows that come later pass as they are.

    Attributes
    ----------
    to_the_end : whether it has to see all rows, even if a stage behind it needs only the first; such a stage keeps
        what passes, and is left out of the trials of a learner.
    """

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


def transform(stages: list[Fitted], batch: Batch) -> Batch:
    """The batch that comes out of fitted `stages`, one after the other."""
    for stage in stages:
        batch = stage.transform(batch)
    return batch
