"""The overview of a table: its rows, classes and attributes, and what deserves attention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import compress
from typing import Any

import numpy as np

from filterkit.counts.numeric_class import NumericClass
from filterkit.counts.overview import Overview
from filterkit.counts.quantiles import quantiles
from filterkit.counts.table import ContingencyTable
from filterkit.data.schema import Schema
from filterkit.errors import format_chain_that_makes_class
from filterkit.exploration.ranking import Ranking

_NAMES = 20  # of the attributes of a warning
_FEW_ROWS = 20  # with fewer, that values are all different, or tell the class, says little
_BINS = 30  # of the histogram of a numeric class
_RARE = 10  # rows of a class
_SHORT = 40  # characters of a text that may be an identifier


def describe_overview(overview: Overview) -> dict[str, Any]:
    """Return ``overview`` of the page: counts of rows, attributes and missing values, the share of zeros, the class.

    The class is None without one; of a numeric one, `describe_numeric_class` returns more entries.
    """
    schema, target = overview.schema, overview.schema.class_attribute
    class_ = None
    if target is not None:
        class_ = {
            "name": target.name,
            "kind": target.kind,
            "labels": list(target.values),
            "rows": overview.class_rows.astype(np.float64),
            "missing": overview.unlabelled,
        }
    return {
        "rows": overview.rows,
        "weight": float(overview.weight),
        "sparse": schema.sparse,
        "kinds": Counter(attribute.kind for attribute in schema.attributes),
        "missing": int(overview.missing.sum() + overview.passthrough_missing.sum()) + overview.unlabelled,
        "zeros": overview.share_of_zeros,
        "class": class_,
    }


def describe_numeric_class(table: ContingencyTable) -> dict[str, Any]:
    """Return what ``class`` in ``overview`` of the page says of the values of a numeric class; {} without values.

    It has ``mean``, ``deviation`` (whose divisor is the weight of the rows), ``quantiles`` (of 0, 25, 50, 75 and
    100 %), and a histogram of 30 bins: ``edges``, float64 (31,), and ``counts``, float64 (30,). Rows count by weight.
    `table` has one column, the values of the class.
    """
    cells, class_ = table.with_zeros(), NumericClass.from_table(table)
    if not len(cells.values):
        return {}
    halves = cells.values / 2  # whose range does not overflow
    low, high = halves[0], halves[-1]
    narrow = 2 * _BINS * np.spacing(max(-low, high))  # float64 has too few numbers in it to divide it into bins
    if (high - low or 1.0) < narrow:  # np.histogram makes a range of one value 1 wide
        low, high = low - narrow, high + narrow
    counts, edges = np.histogram(halves, _BINS, (low, high), weights=cells.rows)
    return {
        "mean": class_.mean,
        "deviation": class_.deviation,
        "quantiles": quantiles(table, np.linspace(0, 1, 5).tolist(), "inverted_cdf")[0],
        "edges": edges * 2,
        "counts": counts,
    }


def list_warnings(overview: Overview, features: Schema, ranking: Ranking | None) -> list[dict[str, Any]]:
    """Return ``warnings`` of the page, what deserves attention in a table.

    Each is a dictionary: ``kind``, a word; ``text``, a sentence; ``attributes``, the first 20 of the things that it is
    about; and ``count``, the number of all these things. They are names of attributes or class values, or groups of
    equal attributes as ``a = b``. There are none if the warning is about the whole table.

    Parameters
    ----------
    overview : the overview of the table.
    features : the schema of the features in `ranking`.
    ranking : the scored features. Warnings of features are left out if it is None, or if there are fewer than 20 rows.
    """
    warnings = [*_list_class_warnings(overview)]
    if overview.rows:
        warnings += _list_column_warnings(overview)
    if ranking is not None and overview.rows >= _FEW_ROWS:
        warnings += _list_feature_warnings(features, ranking, overview)
    return [
        {"kind": kind, "text": text, "attributes": (names or [])[:_NAMES], "count": len(names or [])}
        for kind, text, names in warnings
        if names != []
    ]


# The kind and text of each warning, and the attributes or labels that it lists: None if it lists none. A warning of an
# empty list is left out.
_Warnings = Iterator[tuple[str, str, list[str] | None]]


def _list_class_warnings(overview: Overview) -> _Warnings:
    target, rows = overview.schema.class_attribute, overview.class_rows
    if not overview.rows:
        yield "empty", "There are no rows.", None
    if target is None and overview.schema.labels:
        names = [attribute.name for attribute in overview.schema.label_attributes]
        yield "class", "There are labels. To score features, name one of them with --class:", names
        return
    if target is None:
        how = f"begin the chain with: {format_chain_that_makes_class('NAME')}"
        text = "There is no class, so only metrics that need none are shown. Name one with --class, or, if it is text,"
        yield "class", f"{text} {how}", None
        return
    if overview.rows:
        yield "unused", "No row is of these classes:", [*compress(target.values, rows == 0)]
    rare = [*compress(target.values, (rows > 0) & (rows < _RARE))]
    if len(rare) < len(rows):
        yield "skew", f"These classes have fewer than {_RARE} rows:", rare
    if overview.unlabelled:
        yield "unlabelled", f"The class is missing in {overview.unlabelled:,} rows, which do not count.", None


def _list_column_warnings(overview: Overview) -> _Warnings:
    names = [attribute.name for attribute in overview.schema.features]
    empty = overview.missing == overview.rows
    constant = (overview.distinct_counts == 1) & (overview.missing == 0)
    yield "empty", "These attributes have no values:", [*compress(names, empty)]
    yield "constant", "These attributes have the same value in all rows:", [*compress(names, constant)]
    groups = [group for group in overview.find_equal_columns() if not (empty | constant)[group[0]]]
    texts = [" = ".join(names[column] for column in group) for group in groups]
    yield "equal", "These attributes have the same value in each row:", texts
    texts = [
        attribute.name
        for (attribute, longest, count) in zip(
            overview.schema.passthrough, overview.longest, overview.distinct_text_counts
        )
        if attribute.kind == "string" and _FEW_ROWS <= overview.rows <= count and longest <= _SHORT
    ]
    yield "id", "These texts differ in all rows, and may be identifiers:", texts
    low, high = overview.least_weight, overview.largest_weight
    if low != high:
        yield "weights", f"Rows have weights from {low:g} to {high:g}; all counts here are weights.", None


def _list_feature_warnings(features: Schema, ranking: Ranking, overview: Overview) -> _Warnings:
    names = [attribute.name for attribute in features.features]
    differs = (ranking.distinct >= overview.rows) & (ranking.only_whole_numbers | features.nominal)
    text = "These attributes have another value in each row, and may be identifiers:"
    yield "id", text, [*compress(names, differs)]
    tp, fp, pos, neg = (each[:, 0] for each in ranking.best_tests[2:6])
    classes = np.count_nonzero(overview.class_rows)
    separates = ranking.determines_class & (ranking.distinct <= 2 * classes)
    if classes == 2:
        separates |= ((tp == pos) & (fp == 0)) | ((tp == 0) & (fp == neg))
    text = "Each of these attributes alone tells the class of every row. They may know what is to be predicted:"
    yield "leak", text, [*compress(names, separates & ranking.varied & ~differs & (classes > 1))]
