"""The overview of a table: its rows, classes and attributes, and what deserves attention."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from filterkit.chains.queries import Query
from filterkit.chains.rows import Rows
from filterkit.counts.overview import Merging, Overview
from filterkit.data.batch import Batch, empty
from filterkit.data.schema import Schema
from filterkit.errors import make_class
from filterkit.exploration.ranking import Ranking

_NAMES = 20  # of the attributes of a warning
_FEW_ROWS = 20  # with fewer, that values are all different, or tell the class, says little
_RARE = 10  # rows of a class
_SHORT = 40  # characters of a text that may be an identifier


class Seen(NamedTuple):
    """A table, or a batch of it, seen once.

    Attributes
    ----------
    overview : of the attributes without the class.
    classes : float64 (classes,), the rows of each class; empty without a nominal class.
    unlabelled : the number of rows whose class, or a label of which, is missing.
    """

    overview: Overview
    classes: np.ndarray
    unlabelled: int


class Looking:
    """Looks at some rows.

    Parameters
    ----------
    rows : the rows.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._merging = Merging()
        target = rows.schema.class_attribute
        self._classes = np.zeros(len(target.values) if target is not None and target.kind == "nominal" else 0)
        self._unlabelled = 0

    def query(self) -> Query:
        """What it wants to know in one pass."""
        return Query(self._rows, _look_at, self._add)

    def _add(self, look: Seen) -> None:
        self._merging.add(look.overview)
        self._classes += look.classes
        self._unlabelled += look.unlabelled

    @cached_property
    def seen(self) -> Seen:
        """What was seen, from the end of the pass on."""
        overview = self._merging.merged() or Overview(empty(self._rows.schema))
        return Seen(overview, self._classes, self._unlabelled)


def _look_at(batch: Batch) -> Seen:
    target, y = batch.schema.class_attribute, batch.y
    counts = np.zeros(0)
    if target is not None and target.kind == "nominal" and y is not None:
        counts = np.bincount(y[y >= 0], minlength=len(target.values)).astype(np.float64)
    return Seen(Overview(batch), counts, int(np.count_nonzero(~batch.class_known)))


def thresholds(seen: Seen) -> int:
    """About how many tests of a feature differ in their counts, for all features and classes together."""
    distinct = int(seen.overview.distinct_counts.sum())
    classes = max(len(seen.classes), 1)
    return min(distinct, (seen.overview.rows // 2) ** 2) * (1 if classes < 3 else classes)


def described(seen: Seen) -> dict[str, Any]:
    """The overview, as the page wants it."""
    overview, schema = seen.overview, seen.overview.schema
    target = schema.class_attribute
    kinds: dict[str, int] = {}
    for attribute in schema.attributes:
        kinds[attribute.kind] = kinds.get(attribute.kind, 0) + 1
    numeric = ~schema.nominal
    cells = overview.rows * int(np.count_nonzero(numeric))
    class_ = None
    if target is not None:
        class_ = {
            "name": target.name,
            "kind": target.kind,
            "labels": list(target.values),
            "rows": seen.classes,
            "missing": seen.unlabelled,
        }
    return {
        "rows": overview.rows,
        "weight": float(overview.weights[2]),
        "sparse": schema.sparse,
        "kinds": kinds,
        "missing": int(overview.missing.sum() + overview.absent.sum()) + seen.unlabelled,
        "zeros": float(overview.zeros[numeric].sum() / cells) if cells else None,
        "class": class_,
    }


def warnings(seen: Seen, features: Schema, ranking: Ranking | None) -> list[dict[str, Any]]:
    """What deserves attention, as the page wants it.

    Parameters
    ----------
    seen : the table.
    features : the schema of the rows that `ranking` is of.
    ranking : the features; None if there are none.
    """
    found = [*_of_classes(seen), *_of_columns(seen)]
    if ranking is not None and seen.overview.rows >= _FEW_ROWS:
        found += _of_features(features, ranking, seen)
    return found


def _of_classes(seen: Seen) -> Iterator[dict[str, Any]]:
    target = seen.overview.schema.class_attribute
    rows = seen.classes
    if not seen.overview.rows:
        yield _warning("empty", "There are no rows.", [])
    if target is None and seen.overview.schema.labels:
        names = [attribute.name for attribute in seen.overview.schema.label_attributes]
        yield _warning("class", "There are labels. To score features, name one of them with --class:", names)
        return
    if target is None:
        how = f"begin the chain with: {make_class('NAME')}"
        text = "There is no class, so only metrics that need none are shown. Name a nominal one with --class, or "
        yield _warning("class", f"{text}{how}", [])
        return
    if target.kind != "nominal":
        text = (
            "The class is a number, so only metrics that need none are shown. To see the others, leave --class out, and"
        )
        yield _warning("class", f"{text} begin the chain with: {make_class(target.name)}", [])
    unused = [target.values[code] for code in np.flatnonzero(rows == 0).tolist()]
    if unused and seen.overview.rows:
        yield _warning("unused", "No row is of these classes:", unused)
    rare = [target.values[code] for code in np.flatnonzero((rows > 0) & (rows < _RARE)).tolist()]
    if rare and len(rare) < len(rows):
        yield _warning("skew", f"These classes have fewer than {_RARE} rows:", rare)
    if seen.unlabelled:
        yield _warning("unlabelled", f"The class is missing in {seen.unlabelled:,} rows, which do not count.", [])


def _of_columns(seen: Seen) -> Iterator[dict[str, Any]]:
    overview = seen.overview
    names = [a.name for a in overview.schema.features]
    empty_ = np.flatnonzero(overview.missing == overview.rows)
    constant = np.flatnonzero((overview.distinct_counts == 1) & (overview.missing == 0))
    if not overview.rows:
        return
    if len(empty_):
        yield _warning("empty", "These attributes have no values:", [names[i] for i in empty_.tolist()])
    if len(constant):
        yield _warning(
            "constant", "These attributes have the same value in all rows:", [names[i] for i in constant.tolist()]
        )
    dull = {*empty_.tolist(), *constant.tolist()}
    groups = [" = ".join(names[i] for i in group) for group in overview.equal_columns() if group[0] not in dull]
    if groups:
        yield _warning("equal", "These attributes have the same value in each row:", groups)
    texts = [
        attribute.name
        for (attribute, span, count) in zip(overview.schema.passthrough, overview.spans, overview.distinct_texts)
        if attribute.kind == "string" and _FEW_ROWS <= overview.rows <= count and span[1] <= _SHORT
    ]
    if texts:
        yield _warning("id", "These texts differ in all rows, and may be identifiers:", texts)
    if overview.weights[0] != overview.weights[1]:
        low, high = overview.weights[:2].tolist()
        yield _warning("weights", f"Rows have weights from {low:g} to {high:g}; all counts here are weights.", [])


def _of_features(features: Schema, ranking: Ranking, seen: Seen) -> Iterator[dict[str, Any]]:
    names = [a.name for a in features.features]
    rows = seen.overview.rows
    same = (ranking.distinct >= rows) & (ranking.whole | features.nominal)
    if same.any():
        yield _warning(
            "id",
            "These attributes have another value in each row, and may be identifiers:",
            [names[i] for i in np.flatnonzero(same).tolist()],
        )
    first, classes = ranking.tests[0], int(np.count_nonzero(seen.classes))
    tells = ranking.pure & (ranking.distinct <= 2 * classes)
    if classes == 2:
        tells |= ((first.tp == first.pos) & (first.fp == 0)) | ((first.tp == 0) & (first.fp == first.neg))
    leaks = tells & ranking.varied & ~same & (classes > 1)
    if leaks.any():
        yield _warning(
            "leak",
            "Each of these attributes alone tells the class of every row. They may know what is to be predicted:",
            [names[i] for i in np.flatnonzero(leaks).tolist()],
        )


def _warning(kind: str, text: str, attributes: list[str]) -> dict[str, Any]:
    return {"kind": kind, "text": text, "attributes": attributes[:_NAMES], "count": len(attributes)}
