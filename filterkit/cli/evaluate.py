"""The subcommand ``evaluate``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from filterkit.cli.inputs import check_input_options, open_input
from filterkit.cli.options import (
    ENGINE,
    FROM,
    ONCE,
    PROGRESS,
    SETTINGS,
    InputOptions,
    engine_of,
    input_options,
    jobs,
    seed,
    target_options,
)
from filterkit.cli.places import Goal, check_goals
from filterkit.cli.progress import FoldProgress
from filterkit.cli.results import MEASURE, PLOT, CommandWithMeasures, share_of, show, shown_measures
from filterkit.data.batch import Batch, concatenate, itself
from filterkit.engines.local import LocalEngine
from filterkit.engines.processes import ProcessEngine
from filterkit.errors import UsageError
from filterkit.files.endings import CSV, check_ending
from filterkit.files.output import open_output, together
from filterkit.plugin.formats import Formats
from filterkit.plugin.registry import Registry

if TYPE_CHECKING:
    from filterkit.evaluation.folds import Design
    from filterkit.evaluation.results import Results


@dataclass(kw_only=True, eq=False, repr=False)
class EvaluateOptions(InputOptions):
    """The options of ``evaluate``."""

    chains: tuple[str, ...]
    folds: int
    train: str | None
    one_against_rest: bool
    min_positives: int | None
    shown: tuple[str, ...]
    output: str | None
    journal: str | None
    plot: str | None
    jobs: int | None
    engine: str | None
    seed: int | None
    seed_of_stages: int | None
    progress: bool | None

    @property
    def outputs(self) -> list[Goal]:
        """The files to write."""
        paths = {"-o": self.output, "--journal": self.journal, "--plot": self.plot}
        return [Goal(option, path) for option, path in paths.items() if path is not None]


@click.command(cls=CommandWithMeasures, context_settings=SETTINGS)
@click.option(
    "--chain",
    "chains",
    metavar="[NAME: ]STAGES",
    multiple=True,
    required=True,
    help="A chain to evaluate, in quotes. Repeatable.",
)
@click.option("--folds", metavar="N", type=click.IntRange(2), default=10, show_default=True, help="Number of folds.")
@click.option(
    "--train",
    metavar="SHARES",
    help="Learning curves: train on these shares of all rows, as in 10%,20%. Larger parts contain smaller ones.",
)
@click.option("--one-against-rest", is_flag=True, help="Make each class or label a task of its own.")
@click.option(
    "--min-positives",
    metavar="N",
    type=click.IntRange(1),
    help="With --one-against-rest: skip classes with fewer than N rows.",
)
@MEASURE
@click.option("-o", "--output", metavar="FILE", **ONCE, help="Write the results of all folds to a CSV file.")
@click.option(
    "--journal",
    metavar="FILE",
    **ONCE,
    help="Keep each result in FILE at once. After an interruption the same command resumes from it.",
)
@PLOT
@target_options
@FROM
@input_options
@jobs("processes")
@ENGINE
@seed("folds and subsamples")
@PROGRESS
@click.argument("paths", metavar="DATA...", nargs=-1, required=True)
@click.pass_context
def evaluate(context: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """Compare chains by cross-validation.

    \b
        filterkit evaluate data.arff --chain "STAGE LEARNER" --chain "NAME: STAGE STAGE LEARNER"

    Each chain ends in a learner, and may have a NAME before a colon. All its stages are fitted on the training folds
    only. Folds are stratified by class. DATA is held in memory.

    Measures are computed on each fold and averaged over folds, then over tasks. ± is the standard error over tasks or,
    with a single task, over folds. Chains are compared by Wilcoxon's signed-rank test over tasks or, with a single
    task, by the corrected resampled t-test over folds (Nadeau and Bengio); Holm's method adjusts p for several
    comparisons.
    Three or more chains are also ranked over tasks by Friedman's test and Nemenyi's critical difference.
    """
    known: Registry = context.obj
    # Before the name of the subcommand, --seed is for stages too, as in a run of a chain.
    is_before = context.get_parameter_source("seed") is ParameterSource.DEFAULT_MAP
    options = EvaluateOptions(**given, seed_of_stages=given["seed"] if is_before else None)
    _check(paths, options, known)
    design = _design(options)
    data = [(name, _read(path, options, known)) for name, path in _names(paths).items()]
    results = _run(data, design, options, known)
    measures = shown_measures(results, options.shown)
    with together():
        if options.output is not None:
            with open_output(options.output) as out:
                out.write(results.text().encode("utf-8", "backslashreplace"))  # the name of a file may be no UTF-8
        if options.plot is not None:
            from filterkit.evaluation.plots import plot_curves

            plot_curves(results, measures, options.plot)
    if options.output != "-":
        show(results, measures)


def _check(paths: tuple[str, ...], options: EvaluateOptions, known: Registry) -> None:
    """Refuse options that contradict each other, and outputs that would be lost."""
    engine_of(known, options.engine, options.jobs).close()
    check_goals(options.outputs, paths, known.files)
    formats = Formats(known.formats, options.from_)
    kinds = [formats.of_input(path) for path in paths]
    check_input_options(paths, kinds, options)
    if options.output is not None:
        check_ending(options.output, CSV, "-o")
    if options.plot is not None:
        from filterkit.evaluation.plots import check_plot

        check_plot(options.plot)
    if options.min_positives and not options.one_against_rest:
        raise UsageError("evaluate: --min-positives needs --one-against-rest")


def _design(options: EvaluateOptions) -> Design:
    """How the options ask to compare chains."""
    from filterkit.evaluation.folds import Design
    from filterkit.evaluation.runner import named_chain

    return Design(
        tuple(named_chain(text, None, options.seed_of_stages) for text in options.chains),
        options.folds,
        tuple(share_of("--train", text) for text in options.train.split(",")) if options.train is not None else (),
        options.one_against_rest,
        options.min_positives or 1,
        options.seed or 0,
    )


def _names(paths: tuple[str, ...]) -> dict[str, str]:
    """The paths by short names: the last part without endings, or the whole path if two would be the same."""
    short = [path.rpartition("/")[2].partition(".")[0] or path for path in paths]
    return {path if short.count(name) > 1 else name: path for name, path in zip(short, paths)}


def _read(path: str, options: EvaluateOptions, known: Registry) -> Batch:
    """All rows of an input."""
    with open_input(path, options, Formats(known.formats, options.from_)) as reader:
        return concatenate(reader.map(itself, LocalEngine(1)), reader.schema)


def _run(data: list[tuple[str, Batch]], design: Design, options: EvaluateOptions, known: Registry) -> Results:
    """Evaluate what the journal does not have yet."""
    from filterkit.evaluation.journal import Journal
    from filterkit.evaluation.results import Results
    from filterkit.evaluation.runner import Evaluator, run

    evaluator = Evaluator(data, design)
    journal = Journal(options.journal, data, design) if options.journal is not None else None
    found = [] if journal is None else list(journal.results)
    done = set() if journal is None else journal.done
    progress = FoldProgress(options.progress)
    engine = engine_of(known, options.engine or ProcessEngine.name, options.jobs)
    try:
        for left, results in run(evaluator, engine, done):
            if journal is not None:
                journal.add(results)
            found += results
            progress.show(left)
    finally:
        engine.close()
        progress.close()
        if journal is not None:
            journal.close()
    order = {part: number for number, part in enumerate(evaluator.parts)}
    return Results(sorted(found, key=lambda result: order[result[:3]]))
