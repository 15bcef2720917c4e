"""The subcommand ``evaluate``."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import takewhile

import click

from filterkit.chains.chain import Chain
from filterkit.cli.declared import BEFORE, declare_command_option, turn_into_command
from filterkit.cli.destinations import PAGES, check_destinations, make_destinations
from filterkit.cli.inputs import check_options_fit_formats, open_input
from filterkit.cli.options import InputOptions, WorkOptions, declare_jobs_option, declare_seed_option, open_engine
from filterkit.cli.plan import make_alignment
from filterkit.cli.shell.streams import send_prints_to_stderr
from filterkit.cli.subcommands.results import (
    CommandThatExplainsMeasures,
    ResultsOptions,
    choose_measures,
    parse_training_share,
    print_results,
    write_report_page,
)
from filterkit.data.batch import Batch, concatenate
from filterkit.engines.processes import ProcessEngine
from filterkit.errors import PATH, UsageError, quoted
from filterkit.evaluation.costs import read_costs
from filterkit.evaluation.folds import EvaluationDesign
from filterkit.evaluation.journal import Journal, evaluate_folds_with_journal
from filterkit.evaluation.measure_names import MEASURES
from filterkit.evaluation.measures import check_measure
from filterkit.evaluation.plots import check_plot_options, write_figure
from filterkit.evaluation.predefined_folds import make_folds_from_splits
from filterkit.evaluation.results import Results
from filterkit.evaluation.runner import Evaluator, parse_named_chain
from filterkit.files.endings import CSV, check_ending, find_ending_before_compression
from filterkit.files.output import open_output
from filterkit.messages import write_message
from filterkit.plugin.formats import Formats
from filterkit.plugin.parsing import list_flags
from filterkit.plugin.registry import Registry


class EvaluateOptions(ResultsOptions, InputOptions, WorkOptions):
    """The options of ``evaluate``."""

    chains: tuple[str, ...] = declare_command_option(
        "A chain to evaluate, in quotes. Repeatable.", "--chain", metavar="[NAME: ]STAGES", required=True
    )
    folds: int = declare_command_option("Number of folds.", default=10, minimum=2)
    repeats: int = declare_command_option(
        "Repeat the cross-validation N times, with other folds each time.", default=1, minimum=1, maximum=10_000
    )
    group: str | None = declare_command_option(
        "Keep rows with the same value of this attribute in one fold. The chains do not see it.", metavar="ATTRIBUTE"
    )
    fold_column: str | None = declare_command_option(
        "Read the folds from this attribute: rows with the same value are one fold. The chains do not see it.",
        metavar="ATTRIBUTE",
    )
    splits: str | None = declare_command_option(
        "Read the folds from FILE, a table as of OpenML with the attributes type (TRAIN or TEST), rowid (a row of "
        "DATA, counted from 0), repeat, fold and, for a learning curve, sample.",
        metavar="FILE",
    )
    test: str | None = declare_command_option(
        "Instead of cross-validation, fit on DATA and test on FILE.", metavar="FILE"
    )
    choose: str | None = declare_command_option(
        "Also evaluate choosing between the chains: in each fold, take the chain that is best by this measure in "
        "a cross-validation of the training rows alone. The results are those of the chain 'chosen'.",
        metavar="MEASURE",
        type=click.Choice(MEASURES, case_sensitive=False),
    )
    costs: str | None = declare_command_option(
        "Show the mean cost of a prediction, by the cost matrix in FILE, in one of Weka's formats (.cost).",
        metavar="FILE",
    )
    by_class: bool = declare_command_option(
        "Show precision, recall and F1 of each class and, of at most 20 classes, the confusion matrix. With -o, "
        "write these to FILE, too; of a numeric class, the predictions."
    )
    train: str | None = declare_command_option(
        "Draw learning curves: also train on these shares of all rows, such as 10%,20%. Larger parts contain "
        "smaller ones.",
        metavar="SHARES",
    )
    one_against_rest: bool = declare_command_option(
        "Make each class or label a task of its own: this one against all others."
    )
    min_positives: int | None = declare_command_option(
        "With --one-against-rest: skip classes with fewer than N rows.", minimum=1
    )
    output: str | None = declare_command_option(
        'Write the results of all folds to FILE: as CSV, which "filterkit report" reads, or, if its name ends in '
        ".html, as a page for the browser with all tables and figures.",
        "-o --output",
        metavar="FILE",
    )
    journal: str | None = declare_command_option(
        "Store each result in FILE as soon as it is computed. After an interruption, the same command goes on "
        "from there.",
        metavar="FILE",
    )
    classes: tuple[str, ...] = declare_command_option(
        "The class attribute: its name, its number from 1, first, last or none; once, or once for each DATA in "
        "order.  [default: last, if nominal]",
        "-c --class",
        metavar="ATTRIBUTE",
    )
    positives: tuple[str, ...] = declare_command_option(
        "The class value that is positive; once, or once for each DATA.  [default: the rarer of two]",
        "--positive",
        metavar="VALUE",
    )
    seed: int | None = declare_seed_option("folds and subsamples")
    jobs: int | None = declare_jobs_option("processes")
    # These are no options: those of each DATA, and the seed of stages, if it is given before the subcommand's name.
    class_: str | None = None
    positive: str | None = None
    block_size: int | None = None
    seed_of_stages: int | None = None


class EvaluateCommand(CommandThatExplainsMeasures):
    """The command ``evaluate``. If a chain lacks its quotes, its error shows the chain with them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; first raise UsageError if a stage, and no option or file, follows the value of --chain."""
        own = {flag for option in self.params for flag in list_flags(option)}
        for i, (flag, next_word) in enumerate(zip(args, args[2:])):
            # a stage after the value of --chain: the chain lacks its quotes
            if flag == "--chain" and next_word in ctx.obj.stages and not os.path.exists(next_word):
                words = takewhile(
                    lambda word: word.partition("=")[0] not in own and not os.path.isfile(word), args[i + 1 :]
                )
                chain = " ".join(words)
                raise UsageError(f"evaluate: put the chain in quotes: --chain {quoted(chain, PATH)}")
        return super().parse_args(ctx, args)


@turn_into_command("evaluate", EvaluateOptions, EvaluateCommand)
@click.argument("paths", metavar="DATA...", nargs=-1, required=True)
@click.pass_context
def evaluate_chains(context: click.Context, /, paths: tuple[str, ...], options: EvaluateOptions) -> None:
    """Compare chains by cross-validation.

    \b
        filterkit evaluate data.arff --chain "STAGE LEARNER" --chain "NAME: STAGE STAGE LEARNER"

    A chain ends in a learner, and may have a NAME before a colon. All its stages are fitted on the training folds only.
    Folds are stratified by a nominal class or labels. Each DATA is a file, which filterkit holds in memory, and a task;
    with --one-against-rest, each of its classes or labels is a task.

    Measures are computed on each fold and averaged over folds, then over tasks. ± is the standard error over tasks or,
    with a single task, over folds. Chains are compared by Wilcoxon's signed-rank test over tasks or, with a single
    task, by the corrected resampled t-test over folds (Nadeau and Bengio); Holm's method adjusts p for several
    comparisons. Three or more chains are also ranked over tasks by Friedman's test and Nemenyi's critical difference.
    """
    known: Registry = context.obj
    # Before the name of the subcommand, --seed is for stages too, as in a run of a chain.
    options.seed_of_stages = options.seed if "seed" in context.meta.get(BEFORE, ()) else None
    formats = Formats(known.formats, options.from_)
    _check_options_and_outputs(paths, options, known, formats)
    _check_fold_options(context, paths, options)
    design = _make_evaluation_design(options, known)
    data = []
    # A file is called by the last part of its path without endings, unless another one has the same.
    short = [path.rpartition("/")[2].partition(".")[0] or path for path in paths]
    for number, path in enumerate(paths):
        name = path if short.count(short[number]) > 1 else short[number]
        class_, positive = (
            several[number if len(several) > 1 else 0] if several else None  # once for all, or once for each DATA
            for several in (options.classes, options.positives)
        )
        with open_input(path, replace(options, class_=class_, positive=positive), formats) as reader:
            data.append((name, concatenate(reader.batches(), reader.schema)))
        is_numeric = data[-1][1].schema.has_numeric_target
        for measure in options.shown:
            check_measure("--measure", measure, is_numeric)
        if options.choose is not None:
            check_measure("--choose", options.choose, is_numeric)
    results = _run_evaluation(data, design, options, known, formats)
    for message in results.list_warning_messages():
        write_message(f"filterkit: warning: {message}")
    measures = choose_measures(results, options.shown)
    if options.output is not None:
        _write_results(results, measures, options)
    try:
        if options.plot is not None:
            write_figure(options.figure or "curves", results, measures, options.plot)
    finally:  # a figure that cannot be drawn costs no results
        if options.output != "-":
            print_results(results, measures, options.by_class, options.as_json)


def _write_results(results: Results, measures: list[str], options: EvaluateOptions) -> None:
    """Write the results to ``--output``: as a page if its ending is that of a page, otherwise as CSV."""
    assert options.output is not None
    if find_ending_before_compression(options.output) in PAGES:
        if not options.by_class:
            results = Results(row._replace(confusion=None) for row in results.rows)
        own = {"fold column": options.fold_column, "splits": options.splits}
        facts = [(name, value) for name, value in own.items() if value is not None]
        if not facts:
            facts = [("folds dealt", f"{options.repeats} times"), ("seed", str(options.seed or 0))]
        facts += [("chosen by", options.choose)] if options.choose is not None else []
        facts += [("chain", text) for text in options.chains]
        write_report_page(results, measures, options.output, facts)
        return
    text = results.format_csv(options.by_class)
    with open_output(options.output) as out:
        out.write(text.encode("utf-8", "backslashreplace"))  # the name of a file may be no UTF-8


def _check_options_and_outputs(
    paths: tuple[str, ...], options: EvaluateOptions, known: Registry, formats: Formats
) -> None:
    """Raise UsageError if options contradict each other, or an output would be lost or overwrite an input."""
    open_engine(known, options).close()
    files: dict[str, str] = {}
    for path in paths:
        file = os.path.realpath(path)
        if file in files:
            raise UsageError(
                f"evaluate: {quoted(files[file], PATH)} and {quoted(path, PATH)} are the same file; name each DATA once"
            )
        files[file] = path
    inputs = [path for path in (*paths, options.test, options.splits, options.costs) if path is not None]
    outputs = make_destinations({"-o": options.output, "--journal": options.journal, "--plot": options.plot})
    check_destinations(outputs, inputs, known.files)
    check_options_fit_formats(options, paths, [formats.find_input_format(path) for path in paths])
    if options.output is not None:
        check_ending(options.output, CSV, "-o")
        if options.as_json and options.output == "-":
            raise UsageError("evaluate: --json and -o - both write to standard output; leave one out")
    check_plot_options(options.plot, options.figure)
    for flag, given in {"--class": options.classes, "--positive": options.positives}.items():
        if len(given) > 1 and len(given) != len(paths):
            raise UsageError(
                f"evaluate: {flag} is given {len(given)} times for {len(paths)} inputs; give it once, or once for each"
            )
    if options.min_positives and not options.one_against_rest:
        raise UsageError("evaluate: --min-positives needs --one-against-rest; add it")
    if options.costs is None and "cost" in (options.choose, *options.shown):
        raise UsageError("evaluate: the measure cost needs --costs FILE")
    if options.costs is not None and options.one_against_rest:
        raise UsageError("evaluate: --costs apply to all classes together; leave out --one-against-rest")


def _check_fold_options(context: click.Context, paths: tuple[str, ...], options: EvaluateOptions) -> None:
    """Raise UsageError if an option contradicts ``--fold-column``, ``--splits`` or ``--test``."""
    given = {"--fold-column": options.fold_column, "--splits": options.splits, "--test": options.test}
    flags = [flag for flag, value in given.items() if value is not None]
    if len(flags) > 1:
        raise UsageError(f"evaluate: {flags[0]} and {flags[1]} both say which rows to test on; leave one out")
    if not flags:
        return
    if options.test is not None:
        if len(paths) > 1:
            raise UsageError("evaluate: with --test, name only one DATA, on which the chains are fitted")
        if options.unseen == "extend":
            raise UsageError("evaluate: --unseen extend cannot be combined with --test; use --unseen missing instead")
        why = "cross-validation, but --test gives the rows to test on"
        wrong = [("repeats", options.repeats > 1), ("group", options.group), ("train", options.train)]
    else:
        why = f"folds drawn at random, but {flags[0]} gives the folds"
        from_user = click.core.ParameterSource.COMMANDLINE
        names = ("folds", "repeats", "group", "train")
        wrong = [(name, context.get_parameter_source(name) is from_user) for name in names]
    for name, is_set in wrong:
        if is_set:
            raise UsageError(f"evaluate: --{name} applies to {why}; leave one out")
    if options.splits is not None and len(paths) > 1:
        raise UsageError("evaluate: --splits gives the folds of one DATA; name only one")


def _make_evaluation_design(options: EvaluateOptions, known: Registry) -> EvaluationDesign:
    """Make the design of an evaluation from its options; print a warning if a stage cancels row weights.

    Costs and the folds of ``--splits`` are not in it yet.
    """
    chains = tuple(
        parse_named_chain(text, known, options.seed_of_stages, with_defaults=True) for text in options.chains
    )
    for name, text in chains:
        for message in Chain.parse(text, known).describe_cancelled_weights():
            write_message(f"filterkit: warning: chain {quoted(name)}: {message}")
    return EvaluationDesign(
        chains,
        options.folds,
        tuple(map(parse_training_share, options.train.split(","))) if options.train is not None else (),
        options.one_against_rest,
        options.min_positives or 1,
        options.seed or 0,
        options.repeats,
        options.group,
        options.choose,
        options.fold_column,
    )


def _run_evaluation(
    data: list[tuple[str, Batch]], design: EvaluationDesign, options: EvaluateOptions, known: Registry, formats: Formats
) -> Results:
    """Evaluate all chains, and return all results; those in the journal are not computed again.

    `data` are the name and rows of each DATA. The files of ``--test``, ``--splits`` and ``--costs`` are read first.
    Without ``--engine``, processes run the work, and `options.engine` is set to their name.
    """
    rows, first = data, data[0][1]
    test = own = None
    if options.test is not None:
        with open_input(options.test, options, formats, like=first.schema, is_main=False) as reader:
            alignment = make_alignment(reader, first.schema, options.unseen == "missing")
            test = concatenate(map(alignment.align, reader.batches()), first.schema)
        rows = [*data, ("--test", test)]
    if options.splits is not None:
        plain = InputOptions(class_="none", encoding=options.encoding)
        with open_input(options.splits, plain, Formats(known.formats)) as reader:
            own = make_folds_from_splits(concatenate(reader.batches(), reader.schema), len(first), options.splits)
        if untested := own.describe_rows_tested_unevenly():
            write_message(f"filterkit: warning: {options.splits}: {untested}")
        design = replace(design, splits=own.digest)
    if options.costs is not None:
        matrices = [read_costs(options.costs, each.schema) for _, each in data]
        design = replace(design, costs=tuple(map(tuple, matrices[0].tolist())))
    evaluator = Evaluator(data, design, test, own)
    for message in evaluator.warnings:
        write_message(f"filterkit: warning: {message}")
    options.engine = options.engine or ProcessEngine.name
    journal = Journal(options.journal, rows, design) if options.journal is not None else None
    with send_prints_to_stderr(), open_engine(known, options) as engine:
        return Results(evaluate_folds_with_journal(evaluator, engine, options.progress, journal))
