"""Runs a chain, in three steps: plan, fit, write."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from filterkit._version import __version__
from filterkit.chains.chain import Chain, FittedChain, summarize_learned
from filterkit.chains.rows import Rows
from filterkit.cli.inputs import name_input_in_errors, transform_new_rows
from filterkit.cli.options import RunOptions
from filterkit.cli.plan import Job, OpenTransfer, check_and_open_job, make_job
from filterkit.cli.shell.streams import send_prints_to_stderr
from filterkit.errors import UsageError
from filterkit.files.descriptors import find_path_of_descriptor
from filterkit.files.output import open_output, rename_outputs_together
from filterkit.formats.output import OutputForm, RowWriter
from filterkit.messages import write_message
from filterkit.plugin.registry import Registry

if TYPE_CHECKING:
    from filterkit.cli.parts import OutputParts


def run_chain(path: str, words: list[str], options: RunOptions, known: Registry) -> None:
    """Fit the chain that `words` describe, or load one, and write the transformed rows as the options say.

    `path` is the input. With ``--explain``, only print how the chain would be fitted. Raise UsageError if the command
    line is wrong, and FilterkitError if an input, a stage or an output fails.
    """
    began = time.perf_counter()
    job = make_job(path, words, options, known)
    chain = Chain(job.stages)
    for message in chain.describe_cancelled_weights():
        write_message(f"filterkit: warning: {message}")
    if options.as_json and not options.explain:
        raise UsageError("--json needs --explain or a subcommand; to write rows as JSON lines, use --to jsonl")
    if options.explain:
        from filterkit.cli.explain import print_how_chain_is_fitted

        print_how_chain_is_fitted(job)
        return
    if any(each.output == "-" for each in job.written) and (
        message := job.formats.format_misleading_name_warning(find_path_of_descriptor(1))
    ):
        write_message(f"filterkit: warning: {message}")
    with ExitStack() as opened:
        opened.enter_context(job.engine)
        opened.enter_context(rename_outputs_together())
        plan = check_and_open_job(job, opened)
        opened.enter_context(send_prints_to_stderr())
        in_parts = {}
        if job.part_size is not None:
            from filterkit.cli.parts import find_outputs_in_parts, print_if_all_outputs_exist

            in_parts = find_outputs_in_parts(job)
            if print_if_all_outputs_exist(job, in_parts):
                return
        fitted, training = plan.loaded, plan.training
        steps: list[FittingStep] = []
        if training is not None:
            steps.append((0, time.perf_counter(), training))
            fitted, training = chain.fit_rows(
                training, options.memory, lambda done, rows: steps.append((done, time.perf_counter(), rows))
            )
            if options.save is not None:
                from filterkit.chains import saved

                with open_output(options.save, ignore_broken_pipe=True) as file:
                    file.write(saved.encode_chain(fitted))
        assert fitted is not None
        for each in plan.transfers:
            if each.transfer in job.written:
                what = write_output_and_describe_size(job, each, fitted, training, in_parts)
                lines = describe_fitted_stages(steps, fitted, each.reader.count) if each.alignment is None else ()
                for line in (*lines, f"{what}, {time.perf_counter() - began:.2f} s") if options.verbose else ():
                    write_message(f"filterkit: {line}")
    if plan.rejects is not None:
        count = plan.rejects.count
        where = f", and {'is' if count == 1 else 'are'} in {options.rejects}" if count else ""
        write_message(f"filterkit: {count} row{'s' * (count != 1)} could not be read{where}")


def write_output_and_describe_size(
    job: Job, opened: OpenTransfer, fitted: FittedChain, training: Rows | None, in_parts: Mapping[str, OutputParts]
) -> str:
    """Write the output of a transfer, and return a text for ``--verbose``.

    It is such as ``x.arff: 150 rows``, with the name of the input, or, for training rows ``150 rows, 4 features to 3``.
    If the chain ends in a learner, also print how well it predicts the rows of a ``--test`` or, with ``--predictions``
    or ``--errors``, of any transfer. `training` are the training rows as `fitted` transformed them, None with
    ``--load``. `in_parts` are the outputs that are written in parts, by path.
    """
    options, (transfer, reader, alignment) = job.options, opened
    rows, measured = training, None
    if alignment is not None:
        rows = transform_new_rows(reader, alignment, fitted, job.engine, options, options.writes_predictions)
        if options.writes_predictions or transfer.option == "--test":
            from filterkit.cli.predictions import PredictionCountingRows  # which imports what learners need
            from filterkit.stages.learner import FittedLearner

            if rows.stages and isinstance(rows.stages[-1], FittedLearner):
                measured = PredictionCountingRows(rows, rows.stages[-1])
    assert rows is not None
    source = measured or rows
    schema, sparse = fitted.schema, options.sparse
    if sparse is None:
        sparse = fitted.incoming.sparse or schema.sparse
    if options.writes_predictions:
        from filterkit.cli.predictions import (
            make_predictions_batch,
            make_predictions_schema,
            print_predictions_and_count_rows,
        )

        assert measured is not None
        schema, sparse = make_predictions_schema(measured.learner), False
        measured.convert = partial(make_predictions_batch, schema, measured.learner, options.errors)

    def count_rows_for_last_comment(n_written: int) -> int | None:
        if reader.may_be_cut:
            return None
        is_whole = rows.source.all_read() and not options.writes_predictions
        return reader.count if is_whole and reader.count is not None else n_written

    mapped = partial(source.map, last=True)
    ignore_broken_pipe = transfer != job.written[-1] or bool(options.rejects or job.stage_outputs)
    comments = (*reader.history, f"filterkit {__version__}: {job.format_command(transfer)}")
    form = OutputForm(transfer.output_format, schema, sparse, options.precision, transfer.later, comments)
    with name_input_in_errors(reader):
        if transfer.output in in_parts:
            count = in_parts[transfer.output].write_parts_and_count_rows(form, source, fitted, measured is not None)
        elif options.writes_predictions and transfer.output == "-" and options.to is None:
            count = print_predictions_and_count_rows(schema, mapped, ignore_broken_pipe, options.precision)
        else:
            writer = RowWriter(form)
            with open_output(transfer.output, ignore_broken_pipe) as out:
                count = writer.write(out, mapped, count_rows_for_last_comment)
    if measured is not None:
        measured.print_prediction_counts(reader.name)
    if transfer.later:
        return f"{reader.name}: {count} rows"
    return f"{count} rows, {len(reader.schema.features)} features to {fitted.schema.width}"


# How many stages were fitted so far, when (`time.perf_counter`), and the rows that come out of them.
FittingStep: TypeAlias = tuple[int, float, Rows]


def describe_fitted_stages(steps: list[FittingStep], chain: FittedChain, count: int | None) -> Iterator[str]:
    """Yield a line about each stage of a fitted chain, for ``--verbose``, once the training rows are written.

    The `steps` say when stages were fitted; the first is the beginning, and [] stands for a loaded chain, which gets no
    lines. `count` is the number of training rows; None if they were not read to the end. A line then has a number of
    rows only if a training stage has counted those that it kept.
    """
    before = chain.incoming
    names = [stage.name for stage in chain.chain.stages]
    for (first, since, _), (done, until, rows) in pairwise(steps):
        for index in range(first, done):
            fitted = chain.stages[index]
            others = names[first:index] + names[index + 1 : done]
            together = f" together with {', '.join(others)}" if others else ""
            left = count if rows.source.n_arranged is None else rows.source.n_arranged
            figures = [
                _format_change(before.width, fitted.schema.width, "column"),
                f"learned {summarize_learned(fitted, before)}",
                f"{until - since:.2f} s{together}",
            ]
            if left is not None:  # otherwise the input was not read to its end
                figures.insert(0, _format_change(count, left, "row"))
            yield f"{names[index]}: {', '.join(figures)}"
            before, count = fitted.schema, left


def _format_change(before: int | None, after: int | None, what: str) -> str:
    """Return a text such as ``4 to 12 columns``, or ``4 columns`` if the numbers are equal or one is None (unknown)."""
    numbers = [f"{number:,}" for number in dict.fromkeys((before, after)) if number is not None]
    return f"{' to '.join(numbers)} {what}{'s' * (after != 1)}"
