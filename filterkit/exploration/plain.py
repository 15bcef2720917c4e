"""The page of ``filterkit explore`` where scripts do not run: its main facts, and a table of the best features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import numpy as np

from filterkit.errors import visible

_ROWS = 100  # of the table


def render_noscript_fragment(data: Mapping[str, Any]) -> str:
    """Return the HTML that the page shows where scripts do not run: main facts, and a table of the 100 best features.

    The best are those by the first metric; without a metric, there is no table. `data` is what the page shows, see the
    first comment of ``explore.js``.
    """
    seen = data["overview"]
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in seen["kinds"].items())
    lines = [f"{data['file']}: {seen['rows']:,} rows; attributes: {kinds}; {seen['missing']:,} missing values."]
    if data["chain"]:
        lines.append(f"Chain: {data['chain']}")
    lines += [f"{each['text']} {', '.join(each['attributes'])}" for each in data["warnings"]]
    lines += data["notes"]
    parts = [f"<h1>{_escape(data['relation'] or data['file'])}</h1>", *(f"<p>{_escape(line)}</p>" for line in lines)]
    return "\n".join([*parts, *_render_feature_table(data), ""])


def _render_feature_table(data: Mapping[str, Any]) -> Iterator[str]:
    features, metrics = data["features"], [metric["name"] for metric in data["metrics"]]
    if not metrics:
        return
    scores = np.array([features["scores"][name] for name in metrics], np.float64)
    order = np.argsort(-scores[0], kind="stable")[:_ROWS].tolist()  # NaN comes last
    yield f"<table><caption>The {len(order)} best of {features['total']:,} features by {metrics[0]}</caption>"
    yield "<tr>" + "".join(f'<th scope="col">{_escape(name)}</th>' for name in ("rank", "feature", *metrics)) + "</tr>"
    for rank, at in enumerate(order, 1):
        texts = [features["name"][at], *("" if np.isnan(score) else f"{score:.4g}" for score in scores[:, at])]
        yield f"<tr><td>{rank}</td>" + "".join(f"<td>{_escape(text)}</td>" for text in texts) + "</tr>"
    yield "</table>"


def _escape(text: str) -> str:
    return escape(visible(text))
