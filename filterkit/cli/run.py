"""The main job, in three steps: plan, fit, write."""

from __future__ import annotations

import time
from contextlib import ExitStack
from functools import partial

from filterkit.chains.chain import Chain, FittedChain
from filterkit.chains.rows import Mapping, TrainingRows
from filterkit.cli.inputs import naming
from filterkit.cli.options import Options
from filterkit.cli.plan import Job, Plan, Training, make_plan, resolve
from filterkit.cli.writing import ChainWriter, Transformed, command_comment, words_of_options, words_of_stages
from filterkit.files.output import open_output, together
from filterkit.files.rejects import Rejects
from filterkit.messages import say
from filterkit.plugin.registry import Registry


def run(path: str, words: list[str], options: Options, known: Registry) -> None:
    """Pass the rows of an input through a chain of stages to an output.

    Parameters
    ----------
    path : the input.
    words : the chain: names of stages, each with its options.
    options : of the command.
    known : all plugins.

    Raises
    ------
    UsageError : the command line is wrong.
    FilterkitError : an input, a stage or an output fails.
    """
    began = time.perf_counter()
    job = resolve(path, words, options, known)
    if options.explain:
        from filterkit.cli.explain import print_explanation

        print_explanation(job)
        return
    with ExitStack() as opened:
        opened.enter_context(job.engine)
        opened.enter_context(together())
        plan = make_plan(job, opened)
        if plan.training is not None:
            fitted, rows = fit(job, plan.training)
        else:
            assert plan.loaded is not None
            fitted, rows = plan.loaded, None
        write(job, plan, fitted, rows, began)
    if plan.rejects is not None:
        _tell_rejects(plan.rejects, options)


def fit(job: Job, training: Training) -> tuple[FittedChain, TrainingRows]:
    """Fit the chain, and save it if asked. Returns it, and the training rows as they come out of it."""
    fitted, rows = Chain(job.stages).fit_rows(training.rows, job.options.memory)
    if job.options.save is not None:
        from filterkit.chains import saved

        with open_output(job.options.save, onward=True) as file:
            file.write(saved.to_bytes(fitted))
    return fitted, rows


def write(job: Job, plan: Plan, fitted: FittedChain, rows: TrainingRows | None, began: float) -> None:
    """Write all outputs of rows.

    Parameters
    ----------
    job, plan : what to do.
    fitted : the chain.
    rows : the training rows as they come out of it; None with ``--load``.
    began : when the run did, for ``--verbose``.
    """
    options, writer = job.options, ChainWriter(fitted, job.options, job.formats)
    command = [*words_of_options(options), job.path, *words_of_stages(job.stages)]

    def done(what: str) -> None:
        if options.verbose:
            say(f"filterkit: {what}, {time.perf_counter() - began:.2f} s")

    if plan.training is not None and rows is not None:
        reader = plan.training.reader
        history = [*reader.history, command_comment(command)]
        onward = bool(plan.later or job.goals_of_stages or options.rejects)
        count = writer.write(options.output, partial(rows.map, last=True), history, reader, onward)
        done(f"{count} rows, {len(reader.schema.features)} features to {fitted.schema.width}")
    for number, (reader, alignment, output, is_main) in enumerate(plan.later, 1):
        this = ["--test", reader.path, output, *command]
        if plan.training is None:
            this = [*words_of_options(options), reader.path]
        from filterkit.cli.measured import measured  # which imports what learners need

        with naming(reader):
            mapping: Mapping = Transformed(reader, alignment, fitted, job.engine)
            tells = None if is_main else measured(mapping, fitted.stages)
            mapping = tells or mapping
            onward = options.rejects is not None or number < len(plan.later)
            comments = [*reader.history, command_comment(this)]
            count = writer.write(output, mapping, comments, reader, onward, is_main, later=True)
        if tells is not None:
            tells.tell(reader.name)
        done(f"{reader.name}: {count} rows")


def _tell_rejects(rejects: Rejects, options: Options) -> None:
    """Report how many rows could not be read, and where they are."""
    rows, are = ("row", "is") if rejects.count == 1 else ("rows", "are")
    where = f", and {are} in {options.rejects}" if rejects.count else ""
    say(f"filterkit: {rejects.count} {rows} could not be read{where}")
