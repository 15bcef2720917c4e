"""What the subcommands ``evaluate`` and ``report`` share: means, tests and plots of `Results`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from click.core import ParameterSource

from filterkit.cli.declared import BEFORE, declare_command_option, format_option_as_words, join_for_shell
from filterkit.cli.options import JsonOptions
from filterkit.cli.shell.printing import format_table_lines, print_document
from filterkit.errors import UsageError, quoted
from filterkit.evaluation.comparison import choose_pairs_to_test
from filterkit.evaluation.measure_names import IN_UNITS, MEANINGS, MEASURES
from filterkit.evaluation.measures import check_measure, compute_error_measures
from filterkit.evaluation.plots import FIGURES
from filterkit.files.output import open_output

if TYPE_CHECKING:
    from filterkit.evaluation.confusion import PredictionCounts
    from filterkit.evaluation.results import Results

_SHOWN = ("accuracy", "precision", "recall", "f1", "auc")  # as many as fit on a terminal
_SHOWN_OF_NUMBERS = ("mae", "rmse", "r2", "pearson", "rrse")
_MOST_NAMED = 4  # positive classes in one line
_LEAST_TASKS = 6  # with five, even the most extreme ranks have p = 2 / 2⁵
MOST_SHOWN = 20  # classes in a table of how rows were predicted
_RATES = ("precision", "recall", "f1")


class ResultsOptions(JsonOptions):
    """The options of the commands that show results."""

    shown: tuple[str, ...] = declare_command_option(
        "Show this measure of those below, instead of the usual ones. Repeatable.",
        "--measure",
        metavar="NAME",
        type=click.Choice(MEASURES, case_sensitive=False),
    )
    plot: str | None = declare_command_option(
        "Draw a figure for a paper to a .png, .svg or .pdf file. Needs matplotlib.", metavar="FILE"
    )
    figure: str | None = declare_command_option(
        "The figure that --plot draws: curves (learning curves), ranks (critical differences), near-best (how "
        "often a method is near the best), confusion or, of a numeric class, predicted (against true numbers) or "
        "residuals.  [default: curves]",
        metavar="NAME",
        type=click.Choice(FIGURES),
    )


def write_report_page(results: Results, measures: list[str], path: str, facts: list[tuple[str, str]]) -> None:
    """Write a page about results, with the running command line and the `facts`, names and values, in its head.

    A fact is a pair such as ``("seed", "0")``. Raise FilterkitError if the file cannot be written.
    """
    from filterkit.evaluation.report_page import make_report_page

    lines = _format_result_lines(results, _make_results_document(results, measures))
    page = make_report_page(results, measures, format_running_command_line(), facts, lines)
    with open_output(path) as out:
        out.write(page)


def format_running_command_line() -> str:
    """Return the command line of the running subcommand: options in the order of its help, arguments last.

    Options from the defaults file, or before the name of the subcommand, are written before the name.
    """
    context = click.get_current_context()
    before, after = ["filterkit"], [str(context.info_name).rpartition(" ")[2]]
    last: list[str] = []
    for param in context.command.params:
        source = context.get_parameter_source(str(param.name))
        values: Any = context.params.get(str(param.name))
        if isinstance(param, click.Argument):
            last += values
        elif source in (ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP):
            is_before = source is ParameterSource.DEFAULT_MAP or param.name in context.meta.get(BEFORE, ())
            words = before if is_before else after
            words += format_option_as_words(param, values)
    return join_for_shell([*before, *after, *last])


class CommandThatExplainsMeasures(click.Command):
    """A command whose help ends with an explanation of the measures."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Measures"):
            formatter.write_dl(list(MEANINGS.items()))


def parse_training_share(text: str) -> float:
    """Parse a share of ``--train``, such as 10% or 0.1, as a number from 0 to 1.

    Raise UsageError if the text is no such share, or is 1 without a percent sign, which might mean one percent.
    """
    is_percent = text.strip().endswith("%")
    try:
        share = float(text.strip().removesuffix("%")) / (100 if is_percent else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1 or (share == 1 and not is_percent):  # 1 may be meant as one percent
        raise UsageError(f"--train: {quoted(text)} is not a share such as 10% or 0.1")
    return share


def choose_measures(results: Results, chosen: tuple[str, ...]) -> list[str]:
    """Return the names of the measures to show: the `chosen` ones or, if there are none, those that suit the class.

    The latter include micro F1 if it differs from F1 and from accuracy, and the cost if there are costs. Raise
    UsageError if the results do not have a chosen measure.
    """
    for name in chosen:
        if name not in results.measures:
            check_measure("--measure", name, results.rows[0].is_numeric)
    if chosen:
        return list(chosen)
    score_all_classes = [row.values for row in results.rows if not row.is_numeric]
    is_new = any(values["micro_f1"] not in (values["f1"], values["accuracy"]) for values in score_all_classes)
    of_numbers = _SHOWN_OF_NUMBERS * (len(score_all_classes) < len(results.rows))
    has_costs = any(not math.isnan(values["cost"]) for values in score_all_classes)
    return [*_SHOWN * bool(score_all_classes), *["micro_f1"] * is_new, *["cost"] * has_costs, *of_numbers]


def print_results(results: Results, measures: list[str], by_class: bool, as_json: bool) -> None:
    """Print means of measures, differences between chains, their ranks and, if `by_class`, rates of each class."""
    found = _make_results_document(results, measures)
    if by_class:
        found["classes"] = _compute_class_rates_of_chains(results)
    print_document(as_json, found, partial(_format_result_lines, results))


def _make_results_document(results: Results, measures: list[str]) -> dict[str, Any]:
    """Make the document of results: means, and if there are any, choices, differences and ranks of chains."""
    summaries = {measure: results.compute_means_and_standard_errors(measure).tolist() for measure in measures}
    found: dict[str, Any] = {
        "measures": measures,
        "over": results.compared_count_and_unit[1],
        "means": [
            {"chain": chain, "train": share}
            | {measure: dict(zip(("mean", "error"), summary[c][n])) for measure, summary in summaries.items()}
            for n, share in enumerate(results.shares)
            for c, chain in enumerate(results.chains)
        ],
    }
    if choices := results.count_chosen_chains():
        found["choices"] = [{"train": share, "chains": chosen} for share, chosen in choices.items()]
    if len(results.chains) > 1 and not results.has_separate_test_set:
        found["differences"] = _compute_differences_between_chains(results, measures)
    if results.can_be_ranked:
        found["ranks"] = _compute_ranks_of_chains(results, measures)
    return found


def _format_result_lines(results: Results, found: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of text for the document of `_make_results_document`, and for its ``classes`` if it has any."""
    measures = found["measures"]
    yield from _format_means(results, measures, found["means"])
    if "choices" in found:
        yield ""
        yield "How often each chain was chosen, by cross-validation of the training rows alone"
        head = ["train", *found["choices"][0]["chains"]]
        rows = [[_format_percentage(each["train"]), *map(str, each["chains"].values())] for each in found["choices"]]
        yield from format_table_lines([head, *rows], ())
    if "differences" in found:
        yield from _format_differences(results, measures, found["differences"])
    if "ranks" in found:
        yield from _format_ranks(measures, found["ranks"])
    for each in found.get("classes", ()):
        where = "on the test set" if results.has_separate_test_set else "sums over folds"
        chain, share = quoted(each["chain"]), _format_percentage(each["train"])
        yield ""
        yield f"{each['data']}, {each['task']}, chain {chain}, trained on {share}: {where}"
        for target in each["targets"]:
            yield from tabulate_class_rates(target["target"] or "class", target["classes"])


def _format_means(results: Results, measures: list[str], means: list[dict[str, Any]]) -> Iterator[str]:
    over, folds = "{} {}".format(*results.compared_count_and_unit), f"{results.n_folds} folds"
    title = f"Means over {over}{f' of {folds} each' if over != folds else ''} ± standard error over {over}"
    yield "Measures on the test set" if results.has_separate_test_set else title
    rows = [
        [
            each["chain"],
            _format_percentage(each["train"]),
            *(f"{_format_measure(m, each[m]['mean'])} ±{_format_measure(m, each[m]['error'])}" for m in measures),
        ]
        for each in means
    ]
    yield from format_table_lines([["chain", "train", *measures], *rows], range(1))
    if positive := _describe_positive_class(results):
        yield positive


def _describe_positive_class(results: Results) -> str:
    """Return a line that says which class is positive; "" if that is unknown, or all classes are numeric."""
    values = {(row.data, row.task): row.positive for row in results.rows if row.split and not row.is_numeric}
    if not values:
        return ""
    if len(set(values.values())) == 1:
        value = next(iter(values.values()))
        return f"(positive is {quoted(value)})" if value else "(each class or label in turn is positive)"
    texts = [f"{quoted(value) if value else 'each in turn'} in {data}" for (data, _), value in values.items()]
    texts = list(dict.fromkeys(texts))
    return f"(positive is {', '.join(texts[:_MOST_NAMED])}{', …' * (len(texts) > _MOST_NAMED)})"


def _compute_class_rates_of_chains(results: Results) -> list[dict[str, Any]]:
    """Compute the rates of each class (`compute_rates_by_class`), summed over folds.

    Return a dict for each task, share of training rows and chain; its ``targets`` has an entry for each target.
    """
    from filterkit.evaluation.results import pool_predictions_over_folds

    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for data, task, share, chain, target, counts in pool_predictions_over_folds(results, "confusion"):
        part = {"data": data, "task": task, "chain": chain, "train": share, "targets": []}
        whole = found.setdefault((data, task, share, chain), part)
        whole["targets"].append({"target": target or None, "classes": compute_rates_by_class(counts)})
    return [*found.values()]


def tabulate_error_measures(target_names: Sequence[str], sums: np.ndarray) -> list[str]:
    """Return the lines of a table of error measures: a row for each numeric target.

    `sums` is the result of `sum_error_terms`.
    """
    rates = compute_error_measures(sums)
    rows = [[name, *(_format_measure(m, float(rates[m][i])) for m in rates)] for i, name in enumerate(target_names)]
    return format_table_lines([["class", *rates], *rows], range(1))


def compute_rates_by_class(counts: PredictionCounts) -> list[dict[str, Any]]:
    """Return a dict for each class: precision, recall, F1, ``support`` and ``predicted``.

    Classes that no row has or was predicted to have are left out. A rate is NaN if its denominator is 0. The support is
    the weight of the rows of the class, and ``predicted`` is a dict of this weight by predicted class, without zeros.
    """
    names, matrix = counts.true_or_predicted_values, counts.confusion_matrix
    true, guess, right = matrix.sum(axis=1), matrix.sum(axis=0), np.diagonal(matrix)
    rates = [
        np.divide(part, whole, out=np.full(len(names), np.nan), where=whole > 0)
        for part, whole in ((right, guess), (right, true), (2 * right, true + guess))
    ]
    return [
        {"class": name}
        | {key: float(rate[i]) for key, rate in zip(_RATES, rates)}
        | {
            "support": float(true[i]),
            "predicted": {s: counts.weights[name, s] for s in names if (name, s) in counts.weights},
        }
        for i, name in enumerate(names)
    ]


def tabulate_class_rates(title: str, rates: list[dict[str, Any]]) -> list[str]:
    """Return the lines of a table of `rates`, the result of `compute_rates_by_class`; `title` is the head of the names.

    Up to `MOST_SHOWN` classes also get the confusion matrix.
    """
    names = [each["class"] for each in rates]
    shown = names if len(names) <= MOST_SHOWN else []  # a wider table could not be read
    rows = [
        [
            each["class"],
            *(_format_number_or_dash(each[rate], ".3f") for rate in _RATES),
            f"{each['support']:g}",
            *(f"{each['predicted'].get(said, 0.0):g}" for said in shown),
        ]
        for each in rates
    ]
    head = [title, *_RATES, "support", *(f"as {name}" for name in shown)]
    return format_table_lines([head, *rows], range(1))


def _compute_differences_between_chains(results: Results, measures: list[str]) -> list[dict[str, Any]]:
    """Compute how pairs of chains differ: a dict for each share of training rows and pair.

    It has the two chains and, by measure, the mean of the second minus the first and its p-value.
    """
    rows: list[dict[str, Any]] = []
    for n, share in enumerate(results.shares):
        for found in zip(*(results.compare_pairs_of_chains(measure, n) for measure in measures)):
            first, second = (results.chains[number] for number in found[0][:2])
            of_measures = {m: {"difference": mean, "p": p} for m, (_, _, mean, p) in zip(measures, found)}
            rows.append({"first": first, "second": second, "train": share} | of_measures)
    return rows


def _format_differences(results: Results, measures: list[str], found: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a title with the test and its limits, and a table of `_compute_differences_between_chains`."""
    chains, (count, units) = len(results.chains), results.compared_count_and_unit
    pairs = choose_pairs_to_test(chains)
    test = "Wilcoxon's signed-rank test" if results.has_several_tasks else "the corrected resampled t-test"
    against = "; each chain against the first" if len(pairs) < chains * (chains - 1) // 2 else ""
    adjusted = f"; p adjusted for {len(pairs)} comparisons (Holm)" if len(pairs) > 1 else ""
    yield ""
    yield f"Second chain minus first, with p of {test} over {count} {units}{against}{adjusted}"
    if results.has_several_tasks and len(results.tasks) < _LEAST_TASKS:
        yield f"(with fewer than {_LEAST_TASKS} tasks p is never below 0.05)"
    if len({data for data, _ in results.tasks}) < len(results.tasks):
        yield "(tasks of one data set share its rows, so p is smaller than it should be)"
    if results.has_unpaired_splits():
        yield "(chains that were measured on different folds, as of different seeds, are not paired)"
    rows = [
        [
            each["first"],
            each["second"],
            _format_percentage(each["train"]),
            *(
                f"{_format_measure(m, each[m]['difference'], '+')} p={_format_number_or_dash(each[m]['p'], '.2g')}"
                for m in measures
            ),
        ]
        for each in found
    ]
    yield from format_table_lines([["first", "second", "train", *measures], *rows], range(2))


def _compute_ranks_of_chains(results: Results, measures: list[str]) -> list[dict[str, Any]]:
    """Compute the mean rank of each chain over tasks, with Friedman's test and Nemenyi's critical difference.

    Return a dict for each share of training rows. It has the share as ``train`` and, by measure, a dict with
    ``mean_ranks`` by chain, ``friedman_p`` and ``critical_difference``.
    """
    found: list[dict[str, Any]] = []
    for n, share in enumerate(results.shares):
        of_share: dict[str, Any] = {"train": share}
        for measure in measures:
            ranks = results.rank_chains(measure, n)
            of_share[measure] = {
                "mean_ranks": dict(zip(results.chains, ranks.mean_ranks.tolist())),
                "friedman_p": ranks.friedman_p,
                "critical_difference": ranks.critical_difference,
            }
        found.append(of_share)
    return found


def _format_ranks(measures: list[str], found: list[dict[str, Any]]) -> Iterator[str]:
    yield ""
    yield "Mean ranks over tasks (1 is best), with p of Friedman's test. Chains whose ranks differ by at least the"
    yield "critical difference (Nemenyi's test) differ at the level 0.05."
    rows = []
    for of_share in found:
        share, columns = _format_percentage(of_share["train"]), [of_share[measure] for measure in measures]
        for chain in columns[0]["mean_ranks"]:
            rows.append([chain, share, *(_format_number_or_dash(each["mean_ranks"][chain], ".2f") for each in columns)])
        rows.append(["Friedman's p", share, *(_format_number_or_dash(each["friedman_p"], ".2g") for each in columns)])
        limits = (_format_number_or_dash(each["critical_difference"], ".2f") for each in columns)
        rows.append(["critical difference", share, *limits])
    yield from format_table_lines([["chain", "train", *measures], *rows], range(1))


def _format_number_or_dash(value: float, form: str) -> str:
    return "–" if value != value else format(value, form)


def _format_measure(measure: str, value: float, sign: str = "") -> str:
    """Format a value of a measure with three decimals; "–" for NaN. `sign` is "" or, for differences, "+".

    If the measure is in the unit of the class, a value between -0.001 and 0.001, except 0, has three digits instead.
    """
    is_small = measure in IN_UNITS and 0 < abs(value) < 0.001
    return _format_number_or_dash(value, f"{sign}.3{'g' if is_small else 'f'}")


def _format_percentage(share: float) -> str:
    return f"{share * 100:.3g}%"
