"""Attributes: remove, keep, rename, reorder and number them, and say which is the class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from filterkit import (
    Attribute,
    Batch,
    FilterkitError,
    Fitted,
    RowStage,
    Schema,
    Stage,
    StageError,
    UsageError,
    hookimpl,
    option,
)
from filterkit.plugin import (
    Pattern,
    Rearrangement,
    attribute_numbers,
    chosen_attributes,
    find_class,
    quoted,
    suggestion,
)

KINDS = ("numeric", "nominal", "string", "date", "relational")


class Remove(Stage):
    """Remove attributes by name, pattern, number or type, as Weka's Remove, RemoveByName and RemoveType do.

        filterkit in.arff remove --attribute width

    An attribute that any of the options selects is removed. An option that selects none, or only the class, is an
    error. The class stays; with ``--class none`` it is an attribute like the others. Numbers count all attributes from
    1: ``--range 1-3,7,20-last``.
    """

    name = "remove"
    group = "Select attributes"

    attribute: tuple[str, ...] = option((), "Select the attribute of this name.", names="attribute")
    match: str = option("", "Select attributes whose whole name matches this regular expression.")
    range: str = option("", "Select attributes of these numbers, as 1-3,7,20-last.")
    type: str | None = option(None, "Select attributes of this type.", choices=KINDS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.attribute or self.match or self.range or self.type):
            raise UsageError(f"{self.name}: say which, with --attribute, --match, --range or --type")
        if self.match:
            Pattern(self.name, "--match", self.match)
        attribute_numbers(self.name, "--range", self.range)

    def fit(self, rows: Callable[[], Iterator[Batch]], schema: Schema) -> Fitted:
        removed = set()
        for flag, text, positions in self._choices(schema):
            if positions <= set(schema.targets):
                raise StageError(self.name, f"{flag}: {quoted(text)} selects only the class or labels, which stay")
            removed |= positions - set(schema.targets)
        return FittedKeep(self.name, schema, [i for i in range(len(schema.attributes)) if i not in removed])

    def _choices(self, schema: Schema) -> Iterator[tuple[str, str, set[int]]]:
        """The flag, the value and the positions of attributes of each option that is set.

        Raises
        ------
        StageError : an option selects no attribute.
        """
        names = list(schema.names)
        for name in self.attribute:
            if name not in names:
                raise StageError(self.name, f"there is no attribute {quoted(name)}{suggestion(name, names)}")
            yield "--attribute", name, {names.index(name)}
        if self.match:
            positions = set(np.flatnonzero(Pattern(self.name, "--match", self.match).matches(names)).tolist())
            if not positions:
                raise StageError(self.name, f"--match: no attribute has a name that matches {quoted(self.match)}")
            yield "--match", self.match, positions
        if self.range:
            yield "--range", self.range, attribute_numbers(self.name, "--range", self.range, len(names))
        if self.type:
            positions = {i for i, a in enumerate(schema.attributes) if a.kind == self.type}
            if not positions:
                raise StageError(self.name, f"--type: there is no {self.type} attribute")
            yield "--type", self.type, positions


class Keep(Remove):
    """Keep attributes by name, pattern, number or type, and class or labels; remove all others.

        filterkit in.arff keep --match 'count.*'

    An attribute that any of the options selects is kept. An option that selects none is an error. Numbers count all
    attributes from 1: ``--range 1-3,7,20-last``.
    """

    name = "keep"

    def fit(self, rows: Callable[[], Iterator[Batch]], schema: Schema) -> Fitted:
        kept = set(schema.targets).union(*(positions for _, _, positions in self._choices(schema)))
        return FittedKeep(self.name, schema, sorted(kept))


class FittedKeep(Fitted):
    """Keeps some attributes.

    Parameters
    ----------
    stage : the name of the stage, for messages.
    schema : of the incoming batches.
    kept : the positions of the attributes to keep, ascending.
    """

    def __init__(self, stage: str, schema: Schema, kept: list[int]) -> None:
        self._columns = np.flatnonzero(np.isin(schema.feature_indices, kept))
        self._passthrough = np.flatnonzero(np.isin(schema.passthrough_indices, kept)).tolist()
        if not kept:
            raise StageError(stage, "no attribute is left")
        place = {i: place for place, i in enumerate(kept)}
        self.schema = schema.replace(attributes=[schema.attributes[i] for i in kept], **schema.targets_at(place))

    def get_state(self) -> dict[str, Any]:
        return {}  # options and schema are enough to fit it again

    def transform(self, batch: Batch) -> Batch:
        X: Any = batch.csr.only(self._columns) if batch.sparse else batch.X[:, self._columns]
        passthrough = (
            batch.passthrough.select(self._passthrough) if batch.passthrough is not None and self._passthrough else None
        )
        return batch.replace(schema=self.schema, X=X, passthrough=passthrough)


class Rename(RowStage):
    """Rename attributes by replacing what a regular expression finds in their names, as Weka's RenameAttribute does.

        filterkit in.arff rename --find '^count' --replace number

    `\\1` in the replacement is the first group. The class is renamed, too. Two attributes of one name are an error, and
    so is an expression that finds nothing.
    """

    name = "rename"
    group = "Select attributes"

    find: str = option("", "The regular expression to look for.")
    replace: str = option("", "The replacement for each match.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.find:
            raise UsageError(f"{self.name}: say what to look for, with --find")
        Pattern(self.name, "--find", self.find)

    def output(self, schema: Schema) -> Schema:
        try:
            pattern, names = Pattern(self.name, "--find", self.find), [a.name for a in schema.attributes]
            if not any(pattern.found(names)):
                raise StageError(self.name, f"--find: no attribute has a match for {quoted(self.find)} in its name")
            names = pattern.replaced(names, self.replace)
            return schema.replace(attributes=[a._replace(name=name) for a, name in zip(schema.attributes, names)])
        except StageError:
            raise
        except FilterkitError as error:
            raise StageError(self.name, str(error)) from None

    def transform(self, batch: Batch) -> Batch:
        names = [a.name for a in self.output(batch.schema).passthrough]
        return (
            batch if batch.passthrough is None else batch.replace(passthrough=batch.passthrough.rename_columns(names))
        )


class Class(Stage):
    """Make an attribute the class, as Weka's ClassAssigner does; what was the class becomes an ordinary attribute.

        filterkit in.arff nominal --only count1 class count1

    The class must be nominal or numeric; ``nominal`` before this stage makes it so.
    """

    name = "class"
    group = "Select attributes"
    reads_class = True

    attribute: str | None = option(None, "Its name, its number from 1, first, last, or none for no class.", bare=True)

    def fit(self, rows: Callable[[], Iterator[Batch]], schema: Schema) -> Fitted:
        assert self.attribute is not None
        if schema.labels:
            raise StageError(self.name, "there are labels, which take the place of a class")
        try:
            place = find_class(schema.attributes, self.attribute)
            target = None if place is None else schema.attributes[place]
            if target is not None and target.kind not in ("nominal", "numeric"):
                name = target.name
                raise StageError(
                    self.name, f"'{name}' is a {target.kind} attribute; make it nominal first: nominal --only '{name}'"
                )
            positive = schema.positive if place == schema.class_index else None
            outgoing = schema.replace(class_index=place, positive=positive)
        except StageError:
            raise
        except FilterkitError as error:
            raise StageError(self.name, str(error).replace("--class", "").strip(" :")) from None
        return FittedClass(schema, outgoing)


class FittedClass(Fitted):
    """Moves the values of the class in and out of X."""

    def __init__(self, schema: Schema, outgoing: Schema) -> None:
        self.schema = outgoing
        self._rearrangement = Rearrangement(schema, outgoing, np.arange(len(schema.attributes)))

    def get_state(self) -> dict[str, Any]:
        return {}  # options and schema are enough to fit it again

    def transform(self, batch: Batch) -> Batch:
        return self._rearrangement.apply(batch)


class Reorder(Stage):
    """Put attributes into another order, as Weka's Reorder does.

        filterkit in.arff reorder --first length --last class

    Those that `--first` chooses come first, in the order in which they are chosen, those that `--last` chooses come
    last, and the others stay between them as they are. A choice is a name, pattern, range or type, as for `--only`. The
    class may move, too.
    """

    name = "reorder"
    group = "Select attributes"

    first: tuple[str, ...] = option((), "Put these attributes first.", names="attribute")
    last: tuple[str, ...] = option((), "Put these attributes last.", names="attribute")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.first or self.last):
            raise UsageError(f"{self.name}: say which, with --first or --last")

    def fit(self, rows: Callable[[], Iterator[Batch]], schema: Schema) -> Fitted:
        first, last = self._places(schema, "--first", self.first), self._places(schema, "--last", self.last)
        twice = set(first) & set(last)
        if twice:
            raise StageError(self.name, f"attribute '{schema.attributes[min(twice)].name}' cannot be first and last")
        ends = {*first, *last}
        order = [*first, *(i for i in range(len(schema.attributes)) if i not in ends), *last]
        place = {i: number for number, i in enumerate(order)}
        attributes = [schema.attributes[i] for i in order]
        targets = schema.targets_at(place)
        targets["labels"] = tuple(sorted(targets["labels"]))
        return FittedOrder(schema, schema.replace(attributes=attributes, **targets), order)

    def _places(self, schema: Schema, flag: str, choices: tuple[str, ...]) -> list[int]:
        """The positions that the choices mean, in their order."""
        places = [chosen_attributes(self.name, schema, [choice], flags=(flag, flag)) for choice in choices]
        return list(dict.fromkeys(place for several in places for place in several))


class FittedOrder(Fitted):
    """Attributes in another order."""

    def __init__(self, schema: Schema, outgoing: Schema, order: list[int]) -> None:
        self.schema = outgoing
        self._rearrangement = Rearrangement(schema, outgoing, order)

    def get_state(self) -> dict[str, Any]:
        return {}  # options and schema are enough to fit it again

    def transform(self, batch: Batch) -> Batch:
        return self._rearrangement.apply(batch)


class Id(Stage):
    """Add the number of each row as the first attribute, counted from 1, as Weka's AddID does.

        filterkit in.arff id

    Training rows have their number at this place in the chain, and later rows, as with ``--test``, that in their file.
    """

    name = "id"
    group = "Compute attributes"
    numbers_rows = True

    attribute: str = option("ID", "The name of the attribute.")

    def fit(self, rows: Callable[[], Iterator[Batch]], schema: Schema) -> Fitted:
        return FittedId(self, schema)


class FittedId(Fitted):
    """Adds the number of each row."""

    def __init__(self, stage: Id, schema: Schema) -> None:
        attributes = [Attribute(stage.attribute), *schema.attributes]
        try:
            self.schema = schema.replace(attributes=attributes, **schema.targets_at({i: i + 1 for i in schema.targets}))
        except FilterkitError as error:
            raise StageError(stage.name, f"{error}; see --attribute") from None
        self._rearrangement = Rearrangement(schema, self.schema, [-1, *range(len(schema.attributes))])

    def get_state(self) -> dict[str, Any]:
        return {}  # options and schema are enough to fit it again

    def transform(self, batch: Batch) -> Batch:
        numbers = np.arange(batch.start + 1, batch.start + len(batch) + 1, dtype=np.float64)
        return self._rearrangement.apply(batch, {0: numbers})


@hookimpl
def filterkit_stages() -> list[type[Stage]]:
    return [Class, Id, Keep, Remove, Rename, Reorder]
