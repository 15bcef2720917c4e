"""The subcommand ``info``."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import click
import numpy as np

from filterkit.cli.inputs import check_input_options, open_input
from filterkit.cli.options import (
    BLOCK_SIZE,
    ENGINE,
    FROM,
    PROGRESS,
    SETTINGS,
    InputOptions,
    engine_of,
    input_options,
    jobs,
    target_options,
)
from filterkit.cli.shell.printing import JSON, print_found
from filterkit.cli.shell.text_table import Heading, aligned, cut
from filterkit.counts.overview import Overview, describe_attributes
from filterkit.counts.record import RecordMerger
from filterkit.data.labels import find_targets
from filterkit.data.schema import Attribute, Schema
from filterkit.errors import quoted, visible
from filterkit.plugin.formats import Formats
from filterkit.plugin.registry import Registry
from filterkit.progress import ReadingProgress

_SHOWN = 40  # attributes that the table has, unless it is asked for more
_LABELS = 4  # of a nominal attribute
_NAMES = 6  # of constant or equal attributes in a line
_NAME_WIDTH = 40  # of attributes, unless the terminal is narrow
_LEFT = ("name", "kind", "values")


@dataclass(kw_only=True, eq=False, repr=False)
class InfoOptions(InputOptions):
    """The options of ``info``."""

    as_json: bool
    top: int
    jobs: int | None
    engine: str | None
    progress: bool | None


@click.command(context_settings=SETTINGS)
@JSON
@click.option(
    "--top", metavar="N", type=click.IntRange(0), default=_SHOWN, show_default=True, help="Show the first N attributes."
)
@FROM
@target_options
@input_options
@jobs("threads")
@ENGINE
@BLOCK_SIZE
@PROGRESS
@click.argument("path", metavar="INPUT")
@click.pass_obj
def info(known: Registry, /, path: str, **given: Any) -> None:
    """Show the rows, attributes and class of INPUT.

    For each attribute the table shows its kind, the numbers of missing and of distinct values, and what these are like.
    Attributes that are constant, empty or equal to others are listed, too.

    INPUT is read once, in an amount of memory that its rows do not change. Rows count once, whatever their weight.
    Numbers of distinct values are exact up to 1,023 and for nominal attributes. Larger ones are estimates, off by some
    3 %, and at most as large as the number of values. The first lines say which format and which class the other
    commands would assume.
    """
    options = InfoOptions(**given)
    formats = Formats(known.formats, options.from_)
    kind = formats.of_input(path)
    check_input_options([path], [kind], options)
    overview, class_ = _look(path, options, known, formats)
    index, labels = find_targets(overview.schema.relation, overview.schema.attributes, class_, options.labels)
    found = _Found(overview, path, kind.title, index, labels)
    print_found(options.as_json, found.as_json, lambda: found.lines(options))


def _look(path: str, options: InfoOptions, known: Registry, formats: Formats) -> tuple[Overview, str | int | None]:
    """The overview of an input, whose class is an attribute like the others; and the choice of its class."""
    plain = replace(options, class_="none", labels=None, positive=None)
    shown = ReadingProgress(options.progress)
    with engine_of(known, options.engine, options.jobs) as engine, open_input(path, plain, formats) as reader:
        class_ = reader.named_class if options.class_ is None and options.labels is None else options.class_
        try:
            merger = RecordMerger(Overview.of, reader.schema)
            for overview in shown.watch(reader.map(merger.compute, engine), reader):
                merger.add(overview)
            return merger.merge(), class_
        finally:
            shown.close()


class _Found:
    """What is known of an input, to be printed.

    Parameters
    ----------
    overview : of all rows.
    path : of the input.
    form : the name of its format.
    class_index : the position of the class that other commands would assume, or None.
    labels : the positions of the labels.
    """

    def __init__(
        self, overview: Overview, path: str, form: str, class_index: int | None, labels: tuple[int, ...]
    ) -> None:
        self.overview = overview
        self.schema: Schema = overview.schema
        self.path = path
        self.form = form
        self.target: Attribute | None = None if class_index is None else self.schema.attributes[class_index]
        self.labels = [self.schema.attributes[place].name for place in labels]
        self.attributes = list(describe_attributes(overview))
        self.of_target = None if class_index is None else self.attributes[class_index]

    @property
    def kinds(self) -> dict[str, int]:
        """How many attributes there are of each kind."""
        found: dict[str, int] = {}
        for attribute in self.attributes:
            found[attribute["kind"]] = found.get(attribute["kind"], 0) + 1
        return found

    @property
    def missing(self) -> int:
        """The number of missing values."""
        return sum(attribute["missing"] for attribute in self.attributes)

    @property
    def empty(self) -> list[str]:
        """The attributes without a value."""
        return [a["name"] for a in self.attributes if a["missing"] == self.overview.rows]

    @property
    def constant(self) -> list[str]:
        """The attributes with the same value in all rows."""
        return [a["name"] for a in self.attributes if a["distinct"] == 1 and not a["missing"]]

    @property
    def equal(self) -> list[list[str]]:
        """Groups of attributes with the same values, constant and empty ones left out."""
        dull = {*self.empty, *self.constant}
        features = self.schema.features
        groups = [[features[column].name for column in group] for group in self.overview.find_equal_columns()]
        return [group for group in groups if group[0] not in dull]

    @property
    def unused(self) -> dict[str, list[str]]:
        """The labels that no row has, by attribute."""
        found = {a["name"]: [label for label, rows in a.get("labels", {}).items() if not rows] for a in self.attributes}
        return {name: labels for name, labels in found.items() if labels}

    @property
    def zeros(self) -> float | None:
        """The share of zeros among the values of numeric attributes; None if there are none."""
        numeric = ~self.schema.nominal
        cells = self.overview.rows * int(np.count_nonzero(numeric))
        return float(self.overview.zeros[numeric].sum() / cells) if cells else None

    @property
    def weights(self) -> dict[str, float] | None:
        """The instance weights; None if all are 1."""
        low, high = self.overview.least_weight, self.overview.largest_weight
        is_weighted = (low, high) != (1, 1) and self.overview.rows
        return {"least": low, "largest": high, "sum": float(self.overview.weight)} if is_weighted else None

    def as_json(self) -> dict[str, Any]:
        """All of it, for `json.dump`."""
        target = None
        if self.of_target is not None:
            target = {key: self.of_target[key] for key in ("number", "name", "kind")}
            more = ("labels",) if "labels" in self.of_target else ("missing", "least", "largest", "mean", "deviation")
            target |= {key: self.of_target[key] for key in more}
        return {
            "file": self.path,
            "format": self.form,
            "relation": self.schema.relation,
            "rows": self.overview.rows,
            "sparse": self.schema.sparse,
            "kinds": self.kinds,
            "class": target,
            "labels": self.labels,
            "missing": self.missing,
            "zeros": self.zeros,
            "weights": self.weights,
            "constant": self.constant,
            "empty": self.empty,
            "equal": self.equal,
            "unused_labels": self.unused,
            "attributes": self.attributes,
        }

    def lines(self, options: InfoOptions) -> Iterator[str]:
        """The text for a terminal."""
        rows, kinds = self.overview.rows, ", ".join(f"{count:,} {kind}" for kind, count in self.kinds.items())
        form = "sparse " if self.schema.sparse else "dense "
        if self.schema.width == (self.target is not None) + len(self.labels):  # no feature is a number or a label
            form = ""
        yield visible(f"{self.path}: {form}{self.form}, relation {quoted(self.schema.relation)}")
        yield f"{_counted(rows, 'row')}, {_counted(len(self.attributes), 'attribute')}" + (
            f": {kinds}" if kinds else ""
        )
        yield visible(self._target_line(options))
        if rows:
            zeros = self.zeros
            share = "" if zeros is None else f"; {zeros:.1%} of the numbers are zero"
            yield f"{_counted(self.missing, 'missing value')}{share}"
            if self.weights is not None:
                yield "row weights from {least:g} to {largest:g}, {sum:g} in all".format(**self.weights)
        yield ""
        yield from self._table(options.top)
        notes = list(self._notes())
        yield from ["", *notes] if notes else []

    def _target_line(self, options: InfoOptions) -> str:
        if self.labels:
            return f"{_counted(len(self.labels), 'label')}: {_some(self.labels)}"
        if self.target is None:
            asked = "" if options.class_ is not None else "; the last attribute is not nominal (--class names another)"
            return f"no class{asked}"
        assert self.of_target is not None
        is_last = options.class_ is None and self.of_target is self.attributes[-1]
        how = ", the last attribute" if is_last else ""
        values = self.of_target.get("labels")
        if values is None:
            return f"class {quoted(self.target.name)}{how}: numeric, {_values(self.of_target) or 'without values'}"
        return f"class {quoted(self.target.name)}{how}: {_shares(values)}"

    def _table(self, top: int) -> Iterator[str]:
        """The first attributes, a line each; on a terminal not longer than that is wide."""
        width = shutil.get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else None
        head = ["no", "name", "kind", "missing", "distinct", "values"]
        rows = [[*map(str, self._cells(a))] for a in islice(self.attributes, min(top, len(self.attributes)))]
        if rows:
            name = _NAME_WIDTH if width is None else max(12, width // 4)
            rows = [[cut(cell, name) if at == 1 else cell for at, cell in enumerate(row)] for row in rows]
            for line in aligned([head, *rows], {head.index(each) for each in _LEFT}):
                shown = line if width is None else cut(line, width)
                yield Heading(shown) if isinstance(line, Heading) else shown
        left = len(self.attributes) - len(rows)
        if left:
            what = "more attribute" if rows else "attribute"
            yield f"and {_counted(left, what)} (--top {len(self.attributes)} or --json)"

    def _cells(self, attribute: dict[str, Any]) -> tuple[object, ...]:
        distinct = attribute["distinct"]
        about = "~" if distinct >= 1024 and attribute["kind"] != "nominal" else ""
        start = (attribute["number"], attribute["name"], attribute["kind"], f"{attribute['missing']:,}")
        return (*start, f"{about}{distinct:,}", _values(attribute))

    def _notes(self) -> Iterator[str]:
        """What deserves attention."""
        for what, names in (("no values", self.empty), ("the same value in all rows", self.constant)):
            if names and self.overview.rows:
                yield visible(f"{what}: {_some(names)}")
        equal = [" = ".join(map(quoted, group[:_NAMES])) for group in self.equal]
        if equal:
            yield visible(f"equal: {_listed(equal)}")
        unused = [f"{quoted(name)} {{{_listed(labels)}}}" for name, labels in self.unused.items()]
        if unused and self.overview.rows:
            yield visible(f"labels that no row has: {_listed(unused)}")


def _values(attribute: dict[str, Any]) -> str:
    """What the values of an attribute are like."""
    if "labels" in attribute:
        return _shares(attribute["labels"])
    if attribute["kind"] == "numeric":
        if attribute["least"] is None:
            return ""
        spread = f", deviation {attribute['deviation']:.4g}" if attribute["deviation"] is not None else ""
        infinite = f", {attribute['infinite']:,} infinite" if "infinite" in attribute else ""
        return f"{attribute['least']:.6g} to {attribute['largest']:.6g}, mean {attribute['mean']:.4g}{spread}{infinite}"
    keys, unit = (("least", "largest"), "") if attribute["kind"] == "date" else (("shortest", "longest"), " characters")
    low, high = (attribute[key] for key in keys)
    return "" if low is None else f"{low} to {high}{unit}"


def _shares(counts: dict[str, int]) -> str:
    """The most frequent labels with their numbers of rows, those declared first before others on a tie."""
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    found = [f"{label} {rows:,}" for label, rows in ordered[:_LABELS]]
    return ", ".join([*found, *([f"{len(ordered) - _LABELS:,} more"] if len(ordered) > _LABELS else [])])


def _some(names: list[str]) -> str:
    return _listed([*map(quoted, names[:_NAMES])], len(names))


def _listed(texts: list[str], count: int | None = None) -> str:
    """The first of `texts`, and how many more there are, of `count` in all."""
    left = (len(texts) if count is None else count) - _NAMES
    return ", ".join([*texts[:_NAMES], *([f"{left:,} more"] if left > 0 else [])])


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
