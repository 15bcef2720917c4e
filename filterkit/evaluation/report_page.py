"""The page of `filterkit report`. Its script, filterkit/pages/report.js, describes the data that it gets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from html import escape
from typing import Any

import numpy as np

from filterkit._version import __version__
from filterkit.errors import visible
from filterkit.evaluation.measure_names import LOSSES, TITLES
from filterkit.evaluation.results import PooledPredictions, Results, pool_predictions_over_folds
from filterkit.pages.page import make_page

_DIGITS = 6  # decimal places of measures
_MOST_ROWS = 1000  # rows of the table of tasks
_MOST_CLOUDS = 60  # scatter plots of predicted numbers
_MOST_CELLS = 200_000  # cells of all confusion matrices together


def make_report_page(
    results: Results,
    measures_shown: Sequence[str],
    command: str,
    facts: Iterable[tuple[str, str]] = (),
    text_lines: Iterable[str] = (),
) -> bytes:
    """Make an HTML page about results, as UTF-8.

    The page shows `measures_shown` at first; other measures can be chosen. Measures without any value are left out. The
    page says by which `command` it was made, and lists `facts` about the evaluation, pairs of a name and a text. It
    shows `text_lines` where scripts do not run.
    """
    measures = [name for name in results.measures if not np.isnan(results.get_values_of_measure(name)).all()] or list(
        measures_shown[:1]
    )
    measures_shown = [name for name in measures_shown if name in measures] or measures[:1]

    matrices, notes = _select_confusion_matrices_for_page(results)
    if results.has_several_tasks:
        rows = [[data, task] for data, task in results.tasks]
    else:
        rows = [[f"fold {fold + 1}", ""] for fold in range(results.n_folds)]
    if len(results.tasks) > _MOST_ROWS:
        notes.append(f"The table of tasks has the first {_MOST_ROWS:,} of {len(results.tasks):,} tasks.")
    data_sets = list(dict.fromkeys(visible(data) for data, _ in results.tasks))
    title = f"Evaluation of {', '.join(data_sets[:3])}{', …' * (len(data_sets) > 3)}"
    comparisons: dict[str, Callable[[str, int], Any]] = {
        "ranks": partial(_make_rank_diagram_data, results),
        "wins": results.count_wins_and_ties,
        "tests": results.compare_pairs_of_chains,
    }
    data = {
        "title": title,
        "made": {
            "program": f"filterkit {__version__}",
            "command": command,
            "facts": [*_list_facts_of_results(results), *facts],
        },
        "notes": notes,
        "chains": results.chains,
        "shares": results.shares,
        "rows": rows[:_MOST_ROWS],
        "over": results.compared_count_and_unit[1],
        "units": len(rows),
        "shown": list(measures_shown),
        "measures": [{"name": name, "title": TITLES[name], "loss": name in LOSSES} for name in measures],
        "summary": {name: np.round(results.compute_means_and_standard_errors(name), _DIGITS) for name in measures},
        "values": {
            name: np.round(results.compute_values_by_task_or_fold(name)[:_MOST_ROWS], _DIGITS) for name in measures
        },
        **{
            key: {name: [function(name, share) for share in range(len(results.shares))] for name in measures}
            for key, function in comparisons.items()
        },
        "unpaired": results.has_unpaired_splits(),
        "confusions": matrices,
        "points": [
            _get_task_chain_and_share(each, results) | dict(zip(("numbers", "predicted"), each.counts_or_numbers))
            for each in pool_predictions_over_folds(results, "points")[:_MOST_CLOUDS]
        ],
    }
    head = f"<h1>{escape(title)}</h1>\n<p>This page shows more in a browser that runs its scripts.</p>\n"
    text = escape("\n".join(map(visible, text_lines)))
    return make_page("report", title, data, f"{head}<pre>{text}</pre>\n")


def _list_facts_of_results(results: Results) -> list[tuple[str, str]]:
    rows, choices = results.rows, results.count_chosen_chains()
    sizes = ([row.train_rows for row in rows], [row.test_rows for row in rows])
    ends = (dict.fromkeys((min(each), max(each))) for each in sizes)  # one number if both are equal
    trained, tested = (" to ".join(f"{number:,}" for number in each) for each in ends)
    return [
        ("data", ", ".join(dict.fromkeys(data for data, _ in results.tasks))),
        ("tasks", f"{len(results.tasks):,}"),
        ("folds", f"{results.n_folds:,}"),
        ("rows trained on", trained),
        ("rows tested on", tested),
        ("time to fit and predict", f"{sum(row.seconds for row in rows):,.1f} s"),
        *(
            (f"chosen{f' of {share * 100:.3g}%' * (len(choices) > 1)}", ", ".join(f"{c} {n}" for c, n in each.items()))
            for share, each in choices.items()
        ),
    ]


def _make_rank_diagram_data(results: Results, measure: str, share_index: int) -> dict[str, Any] | None:
    """Return what report.js draws as a diagram of ranks; None if too few results can be ranked.

    It takes at least three chains, and two tasks on which all chains have a value.
    """
    if not results.can_be_ranked or (found := results.rank_chains(measure, share_index)).n_tasks < 2:
        return None
    return {
        "tasks": found.n_tasks,
        "mean": np.round(found.mean_ranks, 4),
        "limit": round(found.critical_difference, 4),
        "p": found.friedman_p,
        "groups": found.groups,
    }


def _select_confusion_matrices_for_page(results: Results) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the data of the confusion matrices for which there is room, those of the largest shares first.

    Also return a list of one note, which says how many are left out; [] if none is.
    """
    pooled = sorted(pool_predictions_over_folds(results, "confusion"), key=lambda each: -each.share)
    n_chosen = np.searchsorted(
        np.cumsum([len(each.counts_or_numbers.weights) for each in pooled]), _MOST_CELLS, side="right"
    )
    chosen = [
        _get_task_chain_and_share(each, results)
        | {"names": each.counts_or_numbers.true_or_predicted_values, "cells": each.counts_or_numbers.confusion_cells}
        for each in pooled[:n_chosen]
    ]
    left = len(pooled) - len(chosen)
    return chosen, [f"{left:,} of {len(pooled):,} confusion matrices are left out."] if left else []


def _get_task_chain_and_share(pooled: PooledPredictions, results: Results) -> dict[str, Any]:
    task = " · ".join(dict.fromkeys(text for text in (pooled.data, pooled.task, pooled.group) if text))
    return {"task": task, "chain": results.chains.index(pooled.chain), "share": results.shares.index(pooled.share)}
