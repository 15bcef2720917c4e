"""Remove, keep, rename and reorder attributes, number rows, and choose the class."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from filterkit import Attribute, Built, FilterkitError, Schema, Stage, UsageError, option
from filterkit.plugin import (
    KINDS,
    Edit,
    Pattern,
    State,
    choose_attributes,
    find_class,
    offer,
    parse_attribute_numbers,
    quoted,
    suggestion,
)


class Remove(Stage):
    """Remove attributes by name, pattern, number or type, as Weka's Remove, RemoveByName and RemoveType do.

        filterkit in.arff remove --attribute width

    An attribute that any of the options selects is removed, but the class and labels stay. With ``--class none`` the
    class is an attribute like the others. An option that selects none, or only the class or labels, is an error.
    Numbers count all attributes from 1: ``--range 1-3,7,20-last``.
    """

    name = "remove"
    known_as = "delete drop"
    group = "Select attributes"
    keeps: ClassVar[bool] = False  # whether the attributes that the options select are kept, and not removed

    attribute: tuple[str, ...] = option((), "Select the attribute of this name.", names="attribute")
    match: str = option("", "Select attributes whose whole name matches this regular expression.", names="regex")
    range: str = option("", "Select attributes of these numbers, as 1-3,7,20-last.")
    type: str | None = option(None, "Select attributes of this type.", choices=KINDS)

    def __post_init__(self) -> None:
        if not (self.attribute or self.match or self.range or self.type):
            raise UsageError(f"{self.name}: name attributes with --attribute, --match, --range or --type")
        self._pattern = Pattern(self.name, "--match", self.match)
        parse_attribute_numbers(self.name, "--range", self.range)

    def build(self, schema: Schema, state: State) -> Built:
        selected, targets = set[int](), set(schema.targets)
        for flag, text, positions in self._find_positions_by_option(schema):
            if positions <= targets and not self.keeps:
                raise FilterkitError(
                    f"{flag}: {quoted(text)} selects only the class or labels, which stay; use --class none"
                )
            selected |= positions
        kept = [i for i in range(len(schema.attributes)) if i in targets or (i in selected) == self.keeps]
        if not kept:
            raise FilterkitError("no attribute is left; keep at least one")
        edit = Edit(schema)
        edit.take(kept)
        return edit.build()

    def _find_positions_by_option(self, schema: Schema) -> Iterator[tuple[str, str, set[int]]]:
        """Yield the flag, the value and the selected positions of each option that the user has set.

        A repeated option is yielded for each value. Raise FilterkitError if a value selects no attribute, or if a
        number is larger than that of the last attribute.
        """
        names = list(schema.names)
        for name in self.attribute:
            if name not in names:
                hint = suggestion(name, names) or "; filterkit info FILE lists them"
                raise FilterkitError(f"there is no attribute {quoted(name)}{hint}")
            yield "--attribute", name, {names.index(name)}
        if self.match:
            positions = set(np.flatnonzero(self._pattern.matches(names)).tolist())
            if not positions:
                hint = ""
                if fnmatch.filter(names, self.match):
                    hint = f"; in a regular expression, * is .*: {quoted(self.match.replace('*', '.*'))}"
                elif fnmatch.filter(names, f"*{self.match}*"):
                    hint = f"; for a part of a name write {quoted(f'.*{self.match}.*')}"
                raise FilterkitError(f"--match: no whole attribute name matches {quoted(self.match)}{hint}")
            yield "--match", self.match, positions
        if self.range:
            yield "--range", self.range, parse_attribute_numbers(self.name, "--range", self.range, len(names))
        if self.type:
            positions = {i for i, a in enumerate(schema.attributes) if a.kind == self.type}
            if not positions:
                raise FilterkitError(f"--type: there is no {self.type} attribute; filterkit info FILE lists the types")
            yield "--type", self.type, positions


class Keep(Remove):
    """Keep attributes by name, pattern, number or type, and the class or labels; remove all others.

        filterkit in.arff keep --match 'count.*'

    An attribute that any of the options selects is kept. An option that selects none is an error. Numbers count all
    attributes from 1: ``--range 1-3,7,20-last``.
    """

    name = "keep"
    keeps = True


class Rename(Stage):
    """Rename attributes by replacing what a regular expression finds in their names, as Weka's RenameAttribute does.

        filterkit in.arff rename --find '^count' --replace number

    `\\1` in the replacement is the first group. The class is renamed, too, if its name has a match. It is an error if
    two attributes get the same name, or if no name has a match.
    """

    name = "rename"
    group = "Select attributes"

    find: str = option("", "The regular expression to look for.", names="regex")
    replace: str = option("", "The replacement for each match.")

    def __post_init__(self) -> None:
        if not self.find:
            raise UsageError(f"{self.name}: give the text to look for with --find")
        self._pattern = Pattern(self.name, "--find", self.find)

    def build(self, schema: Schema, state: State) -> Built:
        names = list(schema.names)
        if not any(self._pattern.find_matches(names)):
            raise FilterkitError(f"--find: no name has a match for {quoted(self.find)}; filterkit info FILE lists them")
        edit = Edit(schema)
        for position, name in enumerate(self._pattern.replace_matches(names, self.replace)):
            if name != names[position]:
                edit.change(position, schema.attributes[position]._replace(name=name))
        return edit.build()


class SetClass(Stage):
    """Make an attribute the class, as Weka's ClassAssigner does; what was the class becomes an ordinary attribute.

        filterkit in.arff nominal --only count1 class count1

    The attribute must be nominal or numeric; put ``nominal`` before this stage for one of strings or dates.
    """

    name = "class"
    group = "Select attributes"
    reads_class = True

    attribute: str | None = option(None, "Its name, its number from 1, first, last, or none for no class.", bare=True)

    def build(self, schema: Schema, state: State) -> Built:
        assert self.attribute is not None
        if schema.labels:
            raise FilterkitError(
                "the data has labels instead of a class; leave out --labels, or if the relation's name says how many "
                "labels there are, name a class before the stages by --class"
            )
        try:
            position = find_class(schema.attributes, self.attribute)
        except FilterkitError as error:
            raise FilterkitError(str(error).replace("--class", "").strip(" :")) from None
        target = None if position is None else schema.attributes[position]
        if target is not None and target.kind not in ("nominal", "numeric"):
            name = quoted(target.name)
            hint = "name another" if target.kind == "relational" else f"make it nominal: nominal --only {name}"
            raise FilterkitError(f"a class is nominal or numeric, and {name} is {target.kind}; {hint}")
        positive = schema.positive if position == schema.class_index else None
        return Edit(schema).build(class_index=position, positive=positive)


class Reorder(Stage):
    """Put attributes into another order, as Weka's Reorder does.

        filterkit in.arff reorder --first length --last class

    The attributes that `--first` chooses come first and those that `--last` chooses last, in the order of the choices;
    the others stay in their order between them. A choice is a name, pattern, range or type, as for `--only`. The class
    may move, too.
    """

    name = "reorder"
    group = "Select attributes"

    first: tuple[str, ...] = option((), "Put these attributes first.", names="attribute")
    last: tuple[str, ...] = option((), "Put these attributes last.", names="attribute")

    def __post_init__(self) -> None:
        if not (self.first or self.last):
            raise UsageError(f"{self.name}: name attributes with --first or --last")

    def build(self, schema: Schema, state: State) -> Built:
        first, last = (
            dict.fromkeys(
                position
                for choice in choices
                for position in choose_attributes(self.name, schema, [choice], flags=(flag, flag))
            )
            for flag, choices in (("--first", self.first), ("--last", self.last))
        )
        twice = first.keys() & last.keys()
        if twice:
            raise FilterkitError(
                f"attribute '{schema.attributes[min(twice)].name}' cannot be first and last; leave one out"
            )
        middle = [i for i in range(len(schema.attributes)) if i not in first and i not in last]
        edit = Edit(schema)
        edit.take([*first, *middle, *last])
        return edit.build()


class Id(Stage):
    """Add the number of each row as the first attribute, counted from 1, as Weka's AddID does.

        filterkit in.arff id

    Training rows are counted at this point of the chain. Later rows, as with ``--test``, get their number in the file.
    """

    name = "id"
    group = "Compute attributes"
    numbers_rows = True

    attribute: str = option("ID", "The name of the attribute.")

    def build(self, schema: Schema, state: State) -> Built:
        edit = Edit(schema)
        edit.insert(0, Attribute(self.attribute), lambda batch: np.arange(1.0, len(batch) + 1) + batch.start)
        try:
            return edit.build()
        except FilterkitError as error:
            raise FilterkitError(f"{error}; use another name with --attribute") from None


filterkit_stages = offer(SetClass, Id, Keep, Remove, Rename, Reorder)
