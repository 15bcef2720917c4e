"""The page of ``filterkit explore`` where scripts do not run: its main facts, and a table of the best features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import numpy as np

from filterkit.errors import visible

_ROWS = 100  # of the table
_NUMBERS = ["mean", "deviation", "least", "lower quartile", "median", "upper quartile", "largest"]


def render_without_scripts(data: Mapping[str, Any]) -> str:
    """Render what the page shows where scripts do not run, a fragment of HTML: main facts, and the 100 best features.

    Parameters
    ----------
    data : what the page shows, see the first comment of ``explore.js``.
    """
    return "\n".join(
        [*_render_overview(data), *_render_notes(data), *_render_features(data), *_render_stages(data), ""]
    )


def _render_overview(data: Mapping[str, Any]) -> Iterator[str]:
    seen = data["overview"]
    yield f"<h1>{_escape(data['relation'] or data['file'])}</h1>"
    if data["chain"]:
        yield f"<p>Chain: <code>{_escape(data['chain'])}</code></p>"
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in seen["kinds"].items())
    counts = f"{seen['rows']:,} rows; attributes: {kinds}; {seen['missing']:,} missing values."
    yield f"<p>{_escape(data['file'])}: {counts}</p>"
    class_ = seen["class"] or {"labels": []}
    if "mean" in class_:
        numbers = [class_["mean"], class_["deviation"], *class_["quantiles"]]
        yield from _render_table(f"Class {class_['name']}", _NUMBERS, iter([[f"{each:.6g}" for each in numbers]]))
    elif len(class_["labels"]):
        rows = zip(class_["labels"], class_["rows"])
        yield from _render_table(
            f"Class {class_['name']}", ["value", "rows"], ([label, f"{n:,.0f}"] for label, n in rows)
        )


def _render_notes(data: Mapping[str, Any]) -> Iterator[str]:
    items = [f"{each['text']} {', '.join(each['attributes'])}" for each in data["warnings"]]
    items += data["notes"]
    if items:
        yield "<ul>" + "".join(f"<li>{_escape(item)}</li>" for item in items) + "</ul>"


def _render_features(data: Mapping[str, Any]) -> Iterator[str]:
    features, metrics = data["features"], [metric["name"] for metric in data["metrics"]]
    if not metrics:
        return
    scores = np.asarray(features["scores"][metrics[0]], np.float64)
    order = np.argsort(-scores, kind="stable")  # NaN comes last
    shown = order[:_ROWS].tolist()
    tests = features["points"]
    head = ["rank", "feature", *(["class", "test", "tp", "fp"] if data["tasks"] else []), *metrics]
    rows = []
    for number, at in enumerate(shown, 1):
        own = int(features["point"][metrics[0]][at])
        point = int(tests["start"][at]) + own
        row = [str(number), features["name"][at]]
        if own < 0 or not data["tasks"]:
            row += [""] * (len(head) - len(metrics) - 2)
        else:
            row.append(data["tasks"][int(tests["task"][point])]["label"])
            label = tests["label"].get(str(point))
            row.append(f"≥ {float(tests['threshold'][point]):.6g}" if label is None else f"= {label}")
            row += [f"{float(tests[name][point]):.6g}" for name in ("tp", "fp")]
        rows.append([*row, *(_format_number(features["scores"][name][at]) for name in metrics)])
    yield from _render_table(
        f"The {len(shown)} best of {features['total']:,} features by {metrics[0]}", head, iter(rows)
    )


def _render_stages(data: Mapping[str, Any]) -> Iterator[str]:
    names = ["columns", "rows", "nonzero", "missing"]
    rows = ([each["words"] or "input", *(f"{each[name]:,}" for name in names)] for each in data["stages"])
    yield from _render_table("What comes out of each stage", ["stage", *names], rows)


def _render_table(caption: str, head: list[str], rows: Iterator[list[str]]) -> Iterator[str]:
    yield f"<table><caption>{_escape(caption)}</caption>"
    yield "<thead><tr>" + "".join(f'<th scope="col">{_escape(cell)}</th>' for cell in head) + "</tr></thead><tbody>"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{_escape(cell)}</td>" for cell in row) + "</tr>"
    yield "</tbody></table>"


def _format_number(value: float) -> str:
    return "" if np.isnan(value) else f"{float(value):.4g}"


def _escape(text: str) -> str:
    return escape(visible(text))
