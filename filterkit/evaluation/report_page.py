"""Makes the page of `filterkit report`: its data, described in filterkit/pages/report.js, and its plain tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from filterkit._version import __version__
from filterkit.errors import visible
from filterkit.evaluation.comparison import alike, critical_difference, friedman, holm, pairs_to_test, ranks
from filterkit.evaluation.measures import LOSSES, TITLES
from filterkit.evaluation.results import Confusion, Points, Results, joined_points, summed_confusions
from filterkit.pages.page import page

_DIGITS = 6  # decimal places of measures
_MOST_ROWS = 1000  # of the table of tasks
_MOST_CLOUDS = 60  # of predicted numbers
_MOST_CELLS = 200_000  # of all confusion matrices together


def report_page(results: Results, shown: Sequence[str], command: str, facts: Iterable[tuple[str, str]] = ()) -> bytes:
    """A page about results, as UTF-8.

    Parameters
    ----------
    results : of one or several evaluations.
    shown : the measures that the page shows at first; the others can be chosen.
    command : the command line that made the page.
    facts : how the results were made besides: a name and a text each.
    """
    measures = [name for name in results.measures if not np.isnan(results.values(name)).all()] or list(shown[:1])
    shown = [name for name in shown if name in measures] or measures[:1]
    tests = {name: [_tests(results, name, share) for share in range(len(results.shares))] for name in measures}
    matrices, notes = _matrices(results)
    points = [_points(each, results) for each in joined_points(results)[:_MOST_CLOUDS]]
    if len(results.tasks) > _MOST_ROWS:
        notes.append(f"The table of tasks has the first {_MOST_ROWS:,} of {len(results.tasks):,} tasks.")
    data = {
        "made": {"program": f"filterkit {__version__}", "command": command, "facts": [*_facts(results), *facts]},
        "notes": notes,
        "chains": results.chains,
        "shares": results.shares,
        "rows": _rows(results),
        "over": "tasks" if results.over_tasks else "folds",
        "units": len(results.tasks) if results.over_tasks else results.folds,
        "shown": list(shown),
        "measures": [{"name": name, "title": TITLES[name], "loss": name in LOSSES} for name in measures],
        "summary": {name: _rounded(results.summary(name)) for name in measures},
        "values": {name: _rounded(results.units(name)[:_MOST_ROWS]) for name in measures},
        "ranks": {name: [_ranks(results, name, share) for share in range(len(results.shares))] for name in measures},
        "wins": {name: [results.wins(name, share) for share in range(len(results.shares))] for name in measures},
        "tests": tests,
        "unpaired": results.unpaired(),
        "confusions": matrices,
        "points": points,
    }
    data_sets = list(dict.fromkeys(visible(data) for data, _ in results.tasks))
    title = f"Evaluation of {', '.join(data_sets[:3])}{', …' * (len(data_sets) > 3)}"
    return page("report", title, data | {"title": title}, _plain(results, shown, title, tests))


def _rounded(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.round(values, _DIGITS))


def _facts(results: Results) -> list[tuple[str, str]]:
    """What the results themselves say about how they were made."""
    rows = results.rows
    trained, tested = ([getattr(row, name) for row in rows] for name in ("train_rows", "test_rows"))
    return [
        ("data", ", ".join(dict.fromkeys(data for data, _ in results.tasks))),
        ("tasks", f"{len(results.tasks):,}"),
        ("folds", f"{results.folds:,}"),
        ("rows trained on", _range(trained)),
        ("rows tested on", _range(tested)),
        ("time to fit and predict", f"{sum(row.seconds for row in rows):,.1f} s"),
        *_choices(results),
    ]


def _choices(results: Results) -> list[tuple[str, str]]:
    """How often each chain was chosen."""
    found = results.choices()
    return [
        (f"chosen{f' of {share * 100:.3g}%' * (len(found) > 1)}", ", ".join(f"{name} {n}" for name, n in each.items()))
        for share, each in found.items()
    ]


def _range(numbers: list[int]) -> str:
    first, last = min(numbers), max(numbers)
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def _rows(results: Results) -> list[list[str]]:
    """What the rows of the table of tasks are: data and task, or the number of a fold."""
    if results.over_tasks:
        return [[data, task] for data, task in results.tasks[:_MOST_ROWS]]
    return [[f"fold {fold + 1}", ""] for fold in range(min(results.folds, _MOST_ROWS))]


def _ranks(results: Results, measure: str, share: int) -> dict[str, Any] | None:
    """The diagram of critical differences; None if there are fewer than three chains or two tasks."""
    values = results.ranked(measure, share)
    if len(results.chains) < 3 or not results.over_tasks or len(values) < 2:
        return None
    found = ranks(values).mean(axis=0)
    order = np.argsort(found, kind="stable")
    limit = critical_difference(values.shape[1], len(values))
    return {
        "tasks": len(values),
        "mean": np.round(found, 4),
        "limit": round(limit, 4),
        "p": friedman(values),
        "groups": [order[first : last + 1].tolist() for first, last in alike(found[order], limit)],
    }


def _tests(results: Results, measure: str, share: int) -> list[list[Any]]:
    """First and second chain, the second minus the first, and p, adjusted, of each tested pair."""
    pairs = pairs_to_test(len(results.chains))
    found = [results.compare_pair(measure, second, first, share) for first, second in pairs]
    adjusted = holm(np.array([p for _, p in found])).tolist()
    return [[*pair, difference, p] for pair, (difference, _), p in zip(pairs, found, adjusted)]


def _matrices(results: Results) -> tuple[list[dict[str, Any]], list[str]]:
    """The matrices of confusion, those of the largest share first, and what was left out."""
    found = summed_confusions(results)
    chains, shares = results.chains, results.shares
    kept: list[dict[str, Any]] = []
    cells = 0
    for each in sorted(found, key=lambda each: -each.share):
        cells += len(each.counts.weights)
        if cells > _MOST_CELLS:
            break
        kept.append(_matrix(each, chains.index(each.chain), shares.index(each.share)))
    left = len(found) - len(kept)
    return kept, [f"{left:,} of {len(found):,} confusion matrices are left out."] if left else []


def _matrix(found: Confusion, chain: int, share: int) -> dict[str, Any]:
    names = found.counts.names
    place = {name: number for number, name in enumerate(names)}
    cells = [[place[true], place[said], weight] for (true, said), weight in found.counts.weights.items()]
    return {"task": _task(found), "chain": chain, "share": share, "names": names, "cells": cells}


def _task(found: Confusion | Points) -> str:
    return " · ".join(dict.fromkeys(text for text in (found.data, found.task, found.group) if text))


def _points(found: Points, results: Results) -> dict[str, Any]:
    chain, share = results.chains.index(found.chain), results.shares.index(found.share)
    numbers = {"numbers": np.array(found.true), "predicted": np.array(found.predicted)}
    return {"task": _task(found), "chain": chain, "share": share, **numbers}


def _plain(results: Results, shown: Sequence[str], title: str, tests: dict[str, list[list[list[Any]]]]) -> str:
    """The means, the tests and the values of tasks as tables."""
    chains = results.chains
    over = "tasks" if results.over_tasks else "folds"
    parts = [f"<h1>{escape(title)}</h1>\n<p>This page shows more in a browser that runs its scripts.</p>\n"]
    summaries = [results.summary(name) for name in shown]
    head = ["chain", "trained on", *(TITLES[name] for name in shown)]
    rows = [
        [
            chain,
            f"{share * 100:.3g}%",
            *(" ± ".join(_number(x, ".3f") for x in each[c, s]) for each in summaries),
        ]
        for s, share in enumerate(results.shares)
        for c, chain in enumerate(chains)
    ]
    parts.append(_table(f"Means over {over} ± standard error", head, rows))
    last = len(results.shares) - 1
    rows = [
        [chains[first], chains[second], *(f"{_number(d, '+.3f')}, p = {_number(p, '.2g')}" for d, p in cells)]
        for number, (first, second) in enumerate(pairs_to_test(len(chains)))
        for cells in [[tests[name][last][number][2:] for name in shown]]
    ]
    if rows:
        head = ["first", "second", *(TITLES[name] for name in shown)]
        parts.append(_table("The second minus the first, with adjusted p", head, rows))
    values = results.units(shown[0])[:_MOST_ROWS, :, last]
    names = [" · ".join(filter(None, row)) for row in _rows(results)]
    rows = [[name, *(_number(value, ".3f") for value in line)] for name, line in zip(names, values.tolist())]
    parts.append(_table(f"{TITLES[shown[0]]} of each of the {over}", [over.removesuffix("s"), *chains], rows))
    return "".join(parts)


def _number(value: float, form: str) -> str:
    return "–" if value != value else format(value, form)


def _table(caption: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table as HTML."""
    cells = "".join(f'<th scope="col">{escape(visible(text))}</th>' for text in head)
    lines = ["".join(f"<td>{escape(visible(text))}</td>" for text in row) for row in rows]
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    return (
        f'<div class="scroller"><table><caption>{escape(caption)}</caption>\n<thead><tr>{cells}</tr></thead>\n'
        f"<tbody>\n{body}</tbody></table></div>\n"
    )
