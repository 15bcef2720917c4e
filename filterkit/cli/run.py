"""The main job, in three steps: plan, fit, write."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from filterkit.chains.cancelled import find_cancelled_weights
from filterkit.chains.chain import Chain, FittedChain
from filterkit.chains.rows import Rows
from filterkit.cli.comments import list_command_words, make_command_comment
from filterkit.cli.inputs import Work, add_source_to_errors, transform_later_rows
from filterkit.cli.options import Options
from filterkit.cli.plan import Job, Plan, Training, make_plan, resolve
from filterkit.cli.shell.streams import send_prints_to_stderr
from filterkit.cli.verbose import StageTimes
from filterkit.cli.writing import ChainWriter
from filterkit.errors import UsageError
from filterkit.files.descriptors import find_written_path
from filterkit.files.output import open_output, rename_together
from filterkit.messages import say
from filterkit.plugin.registry import Registry

if TYPE_CHECKING:
    from filterkit.cli.parts import OutputParts


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
    for message in find_cancelled_weights(job.stages):
        say(f"filterkit: warning: {message}")
    if options.as_json and not options.explain:
        raise UsageError("--json needs --explain or a subcommand; to write rows as JSON lines, use --to jsonl")
    if options.explain:
        from filterkit.cli.explain import print_explanation

        print_explanation(job)
        return
    if "-" in [destination.path for destination in job.row_destinations] and (
        message := job.formats.describe_misleading_name(find_written_path(1))
    ):
        say(f"filterkit: warning: {message}")
    with ExitStack() as opened:
        opened.enter_context(job.engine)
        opened.enter_context(rename_together())
        plan = make_plan(job, opened)
        opened.enter_context(send_prints_to_stderr())
        in_parts = {}
        if job.part_size is not None:
            from filterkit.cli.parts import all_parts_exist, outputs_in_parts

            in_parts = outputs_in_parts(job)
            if all_parts_exist(job, in_parts):
                return
        times = StageTimes()
        if plan.training is not None:
            fitted, rows = fit(job, plan.training, times)
        else:
            assert plan.loaded is not None
            fitted, rows = plan.loaded, None
        write(job, plan, fitted, rows, in_parts, times, began)
    if plan.rejects is not None:
        count = plan.rejects.count
        where = f", and {'is' if count == 1 else 'are'} in {options.rejects}" if count else ""
        say(f"filterkit: {count} row{'s' * (count != 1)} could not be read{where}")


def fit(job: Job, training: Training, times: StageTimes) -> tuple[FittedChain, Rows]:
    """Fit the chain, and save it if asked. Return it, and the training rows as they come out of it."""
    fitted, rows = Chain(job.stages).fit_rows(training.rows, job.options.memory, times)
    if job.options.save is not None:
        from filterkit.chains import saved

        with open_output(job.options.save, onward=True) as file:
            file.write(saved.encode_chain(fitted))
    return fitted, rows


def write(
    job: Job,
    plan: Plan,
    fitted: FittedChain,
    rows: Rows | None,
    in_parts: dict[str, OutputParts],
    times: StageTimes,
    began: float,
) -> None:
    """Write all outputs of rows.

    Parameters
    ----------
    job, plan : what to do.
    fitted : the chain.
    rows : the training rows as they come out of it; None with ``--load``.
    in_parts : the outputs that are written in parts, by their paths.
    times, began : of the stages and when the run began, for ``--verbose``.
    """
    options, writer = job.options, ChainWriter(fitted, job.options, job.formats)

    def done(what: str) -> None:
        if options.verbose:
            say(f"filterkit: {what}, {time.perf_counter() - began:.2f} s")

    if plan.training is not None and rows is not None and options.predictions is None:
        reader = plan.training.reader
        path = options.output
        history = [*reader.history, make_command_comment(list_command_words(job, job.path, path, later=False))]
        onward = bool(plan.later or job.stage_destinations or options.rejects)
        count = writer.write(path, rows, history, reader, onward, in_parts=in_parts.get(path))
        if options.verbose:
            for line in times.lines(fitted, reader.count):
                say(f"filterkit: {line}")
        done(f"{count} rows, {len(reader.schema.features)} features to {fitted.schema.width}")
    for number, (reader, alignment, output, is_main) in enumerate(plan.later, 1):
        from filterkit.cli.measured import measure_rows  # which imports what learners need

        with add_source_to_errors(reader):
            work = Work(job.engine, options.memory, options.progress)
            outgoing = transform_later_rows(reader, alignment, fitted, work, options.predictions is not None)
            measured = measure_rows(outgoing) if options.predictions is not None or not is_main else None
            parts = in_parts.get(output)
            if parts is not None:
                parts.again = measured is not None
            onward = options.rejects is not None or number < len(plan.later)
            comments = [*reader.history, make_command_comment(list_command_words(job, reader.path, output, later=True))]
            if options.predictions is not None:
                from filterkit.cli.predictions import PredictedRows, print_predictions

                assert measured is not None
                found = PredictedRows(measured, options.predictions == "errors")
                if output == "-" and options.to is None:
                    count = print_predictions(found, onward)
                else:
                    count = writer.write(output, found, comments, reader, onward, later=True, predictions=found.schema)
            else:
                count = writer.write(output, measured or outgoing, comments, reader, onward, is_main, True, parts)
        if measured is not None:
            measured.print_counts(reader.name)
        done(f"{reader.name}: {count} rows")
