"""What the experiments share: arguments, data, running chains, and Markdown."""

from __future__ import annotations

import argparse
import lzma
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

import filterkit
from filterkit.engines.engine import count_available_cores
from filterkit.evaluation.comparison import compute_corrected_t_test
from filterkit.evaluation.folds import EvaluationDesign
from filterkit.evaluation.journal import Journal
from filterkit.evaluation.results import Results
from filterkit.evaluation.runner import Evaluator, evaluate_task_folds, parse_named_chain
from filterkit.plugin.engines import make_engine
from filterkit.plugin.registry import get_registry

TEXT = ("oh0", "oh5", "oh10", "oh15", "tr11", "tr12", "tr23")
CATEGORIES = 90  # of Reuters
UCI = ("credit-g", "diabetes", "ecoli", "glass", "iris", "letter", "optdigits", "sonar", "vehicle", "vowel", "wine")


def arguments(about: str) -> argparse.Namespace:
    """The options of an experiment: where data is, where the table goes, how many processes, how much is done."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--data", type=Path, required=True, help="folder with text/, uci/ and reuters/")
    parser.add_argument("--output", type=Path, help="the Markdown file; default: beside the script, under its name")
    parser.add_argument("--jobs", type=int, default=count_available_cores())
    parser.add_argument("--full", action="store_true", help="do all that the paper did, which may take hours")
    parser.add_argument(
        "--journals", type=Path, help="folder that keeps each result at once, so that an interrupted run can continue"
    )
    given = parser.parse_args()
    given.output = given.output or Path(sys.argv[0]).with_suffix(".md")
    return given


def text_sets(folder: Path, names: Sequence[str] = TEXT) -> list[tuple[str, filterkit.Batch]]:
    """The sets of word counts of documents."""
    return [(name, filterkit.read(str(folder / "text" / f"{name}.wc.arff.gz"))) for name in names]


def reuters(folder: Path, part: str, categories: Sequence[str] = ()) -> filterkit.Batch:
    """The documents of a part of Reuters-21578, ``train`` or ``test``, with all 90 categories or some as labels."""
    rows = filterkit.read(str(folder / "reuters" / f"reuters-{part}.arff.gz"), labels=CATEGORIES)
    if not categories:
        return rows
    words, labels = rows.schema.features, rows.schema.label_attributes
    chosen = [number for number, label in enumerate(labels) if label.name in categories]
    places = tuple(range(len(words), len(words) + len(chosen)))
    schema = filterkit.Schema(rows.schema.relation, [*words, *(labels[i] for i in chosen)], sparse=True, labels=places)
    return filterkit.Batch(schema, rows.X, rows.y[:, chosen])


def uci_sets(folder: Path, most: int, positives: int) -> tuple[list[tuple[str, filterkit.Batch]], set[tuple[str, str]]]:
    """The UCI sets, and the tasks with at least `positives` positive rows in the whole set.

    Of a set with more than `most` rows, a stratified sample is taken.
    """
    sets, tasks = [], set()
    for name in UCI:
        path = next((folder / "uci").glob(f"{name}.arff*"))
        rows = filterkit.read(str(path), class_="first" if name == "wine" else "last")
        values, counts = rows.schema.class_attribute.values, np.bincount(rows.y)
        if len(values) == 2 and counts.min() >= positives:
            tasks.add((name, rows.schema.class_attribute.name))
        tasks |= {(name, value) for value, count in zip(values, counts) if len(values) > 2 and count >= positives}
        if len(rows) > most:
            rows = filterkit.chain(f"sample --fraction {most / len(rows)}").fit_transform(rows)[1]
        sets.append((name, rows))
    return sets, tasks


def of_tasks(results: Results, tasks: set[tuple[str, str]]) -> Results:
    """The results of some tasks alone."""
    return Results(row for row in results.rows if (row.data, row.task) in tasks)


def compare(
    given: argparse.Namespace,
    name: str,
    data: list[tuple[str, filterkit.Batch]],
    chains: Iterable[str],
    plugins: tuple[str, ...] = (),
    test: filterkit.Batch | None = None,
    **design,
) -> Results:
    """Evaluate chains.

    Parameters
    ----------
    given : the options of the experiment.
    name : of the journal.
    data : data sets by name.
    chains : each as ``NAME: STAGES``.
    plugins : files of plugins that the chains need.
    test : the rows to test on; by default they are folds of the data.
    design : further arguments of `filterkit.evaluation.folds.EvaluationDesign`.
    """
    for path in plugins:
        get_registry().load_plugin_file(path)
    plan = EvaluationDesign(tuple(parse_named_chain(text) for text in chains), **design)
    journal = None
    if given.journals:
        os.makedirs(given.journals, exist_ok=True)
        digested = data if test is None else [*data, ("test", test)]
        journal = Journal(str(given.journals / f"{name}.jsonl"), digested, plan)
    rows = [] if journal is None else list(journal.results)
    began = said = time.monotonic()
    done = {row[:3] for row in rows}
    evaluator = Evaluator(data, plan, test)
    with make_engine("processes", given.jobs, get_registry()) as engine:
        for left, results in evaluate_task_folds(evaluator, engine, done):
            rows += results
            if journal is not None:
                journal.add_results(results)
            if time.monotonic() > said + 30 or not left:
                said = time.monotonic()
                print(f"{name}: {left} folds of tasks left after {said - began:.0f} s", file=sys.stderr)
    return Results(rows)


def store(given: argparse.Namespace, name: str, results: Results, measures: Sequence[str]) -> None:
    """Write some measures of the results into the folder ``results`` beside the page, for ``filterkit report``."""
    kept = [
        row._replace(seconds=round(row.seconds, 2), values={m: round(row.values.get(m, np.nan), 5) for m in measures})
        for row in results.rows
    ]
    folder = given.output.parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.csv.xz").write_bytes(lzma.compress(Results(kept).format_csv().encode()))


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; numbers with three decimals."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines) + "\n"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "–" if np.isnan(value) else f"{value:.3f}"
    return str(value)


def with_error(pair: Sequence[float] | np.ndarray) -> str:
    """Mean ± standard error."""
    return f"{pair[0]:.3f} ± {'–' if np.isnan(pair[1]) else f'{pair[1]:.3f}'}"


def difference(results: Results, measure: str, one: str, other: str, share: int = 0) -> str:
    """By how much `one` exceeds `other`, with p of Wilcoxon's signed-rank test over tasks."""
    chains = results.chains
    gap, p = results.compare_chains(measure, chains.index(one), chains.index(other), share)
    return _with_p(gap, p)


def difference_over_sets(results: Results, measure: str, one: str, other: str, share: int = 0) -> str:
    """The same with the mean of each data set as one observation."""
    units = results.compute_values_by_task_or_fold(measure)
    sets = [name for name, _ in results.tasks]
    means = np.array([np.nanmean(units[[name == each for each in sets]], axis=0) for name in dict.fromkeys(sets)])
    chains = results.chains
    gap, p = compute_corrected_t_test(means[:, chains.index(one), share], means[:, chains.index(other), share])
    return _with_p(gap, p)


def _with_p(gap: float, p: float) -> str:
    return f"{gap:+.3f} (p {'–' if np.isnan(p) else f'{p:.1g}'})"


def write(given: argparse.Namespace, text: str) -> None:
    """Write the report, and say where."""
    given.output.write_text(text, encoding="utf-8")
    print(f"wrote {given.output}", file=sys.stderr)
