"""Runs the checks of the conformance kit on one thing that a plugin offers, and reports what they find."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from filterkit.data.batch import Batch
from filterkit.engines.engine import Engine
from filterkit.errors import StageError
from filterkit.formats.base import FileFormat
from filterkit.stages.base import Stage
from filterkit.testing import metrics, missing, stages
from filterkit.testing.engines import ENGINE_CHECKS
from filterkit.testing.findings import Findings, copy_batch_arrays, format_sample_names
from filterkit.testing.formats import FORMAT_CHECKS, check_reading_twice_and_without_class, write_rows_to_bytes
from filterkit.testing.subcommands import SUBCOMMAND_CHECKS, check_click_command_has_one_word_name, check_command_runs

if TYPE_CHECKING:
    import click

DECLARATION_CHECKS: list[Callable[[Stage], None]] = [
    stages.check_stage_name_and_help,
    stages.check_stage_method_names_and_arguments,
    stages.check_stage_can_be_remade_from_options,
    stages.check_options_are_stored,
    metrics.check_metric_of_stage,
]
CHECKS: list[Callable[[Stage, Batch], StageError | None]] = [
    stages.check_input_is_left_alone,
    stages.check_refusal_is_one_line_stage_error,
    stages.check_schema_is_what_comes_out,
    stages.check_columns_are_not_too_many,
    stages.check_fitting_again_is_the_same,
    stages.check_blocks_do_not_matter,
    stages.check_memory_does_not_matter,
    stages.check_zeros_stay_zeros,
    missing.check_missing_values_stay,
    missing.check_missing_values_do_not_spread,
    missing.check_numbers_stay_numbers,
    stages.check_a_saved_chain_is_the_same,
    stages.check_column_order_and_class_are_unused,
    stages.check_the_order_of_rows_does_not_matter,
    stages.check_missing_first_column_is_refused,
    stages.check_excepted_columns_are_left_alone,
    stages.check_other_instances_have_no_effect,
    stages.check_nothing_is_printed,
]
BASIC_CHECKS = frozenset(
    check.__name__
    for check in (
        stages.check_stage_method_names_and_arguments,
        stages.check_stage_can_be_remade_from_options,
        stages.check_options_are_stored,
        metrics.check_metric_of_stage,
        *CHECKS[: CHECKS.index(stages.check_memory_does_not_matter)],
        *FORMAT_CHECKS,
        *ENGINE_CHECKS,
        check_click_command_has_one_word_name,
    )
)


def check_stage(stage: Stage, data: Batch) -> StageError | None:
    """Run the `CHECKS` of a stage on some rows, in order; stop after the first of `BASIC_CHECKS` that fails.

    Return the error by which the stage refuses to be fitted on the rows, or None. Raise AssertionError if a check
    fails; the message names each check that does.
    """
    found = Findings(BASIC_CHECKS)
    found.run(CHECKS, stage, {"": data})
    found.raise_any()
    return stages.refusal(stage, data)


def check_declaration(stage: Stage) -> None:
    """Run the `DECLARATION_CHECKS` of a stage, in order; stop after the first of `BASIC_CHECKS` that fails.

    Raise AssertionError if a check fails; the message names each check that does.
    """
    found = Findings(BASIC_CHECKS)
    found.run(DECLARATION_CHECKS, stage)
    found.raise_any()


class Report:
    """The result of checking a stage, format, engine or command; true if it conforms.

    Parameters
    ----------
    about : what was checked, such as ``engine local``, for the beginning of each line.
    name : its name, with which messages of checks begin; lines leave it out.

    Attributes
    ----------
    about : as the parameter.
    findings : the failures of the checks.
    notes : further lines, such as the samples that a stage refuses.
    checked : how many checks were run on how many samples, in words.
    is_checked : whether enough was checked; False for a stage that refuses all samples.
    """

    def __init__(self, about: str, name: str) -> None:
        self.about, self._name = about, name
        self.findings = Findings(BASIC_CHECKS)
        self.notes: list[str] = []
        self.checked = ""
        self.is_checked = True

    def __bool__(self) -> bool:
        """Return whether enough was checked, and no check failed."""
        return self.is_checked and not self.findings

    def lines(self) -> Iterator[str]:
        """Yield a line for each note and for each failure, and one that says how much was checked."""
        yield from (f"{self.about}: {note}" for note in self.notes)
        for line in self.findings.lines():
            check, _, text = line.partition(": ")
            yield f"{self.about}: {check}: {text.removeprefix(f'{self._name}: ')}"
        count = len(self.findings)
        result = f"{count} finding{'s' * (count > 1)}" if count else "all well"
        rest = "; checks that build on what failed were left out" if self.findings.left_out else ""
        yield f"{self.about}: {result} in {self.checked}{rest}"


def report_stage(stage: Stage, samples: Mapping[str, Batch], debug: bool = False) -> Report:
    """Check a stage with its options on samples, and report the failures; `debug` raises the first exception instead.

    `samples` are batches by name. The report also has notes on samples that the stage refuses, and on options without
    effect. If the stage refuses all samples that have rows and columns, only its declaration is checked, and the report
    is false.
    """
    report = Report(" ".join(stage.words()), stage.name)
    own = f"{stage.name}: "
    refused: dict[str, list[str]] = {}
    for name, data in samples.items():
        with suppress(Exception):  # which the checks will find
            if error := stages.refusal(stage, copy_batch_arrays(data)):
                refused.setdefault(str(error).removeprefix(own), []).append(name)
    names = {name for several in refused.values() for name in several}
    report.findings.run(DECLARATION_CHECKS, stage, debug=debug)
    if all(name in names for name, data in samples.items() if len(data) and data.schema.width):
        report.is_checked = False
        report.checked = f"{len(DECLARATION_CHECKS)} checks of its declaration"
        report.notes = [f"no values were checked, as it refuses every sample with columns ({next(iter(refused))})"]
        return report
    report.findings.run(CHECKS, stage, samples, debug)
    report.notes = [f"refuses {', '.join(several)}: {reason}" for reason, several in refused.items()]
    for reason, several in report.findings.refusals.items():
        if later := [name for name in several if name not in names]:
            report.notes.append(
                f"refuses later rows like those of {format_sample_names(later)}: {reason.removeprefix(own)}"
            )
    if not report.findings and (idle := stages.list_options_without_effect(stage, samples.values())):
        report.notes.append(f"note: other values of {', '.join(idle)} make no difference on any sample")
    refusals = f", {len(names)} of which it refuses" if names else ""
    report.checked = (
        f"{len(CHECKS)} checks on {len(samples)} samples{refusals}, and {len(DECLARATION_CHECKS)} of its declaration"
    )
    return report


def report_format(
    form: FileFormat, samples: Mapping[str, Batch], files: Sequence[str] = (), debug: bool = False
) -> Report:
    """Check a format with its options, and report the failures; `debug` raises the first exception instead.

    The `samples`, batches by name, are written and read back; if the format refuses all, the report is false. Those of
    the `files` that have an ending of the format are read, and others are ignored.
    """
    report = Report(f"format {form.name} ({', '.join(map(str, form.endings))})", form.name)
    own = {os.path.basename(path): path for path in files if os.path.splitext(path)[1].lower() in form.endings}
    report.findings.run(FORMAT_CHECKS, form, samples, debug)
    report.findings.run([check_reading_twice_and_without_class], form, own, debug)
    if not form.is_written():
        report.checked = "its declaration" + (f" and {len(own)} file{'s' * (len(own) > 1)}" if own else "")
        if not own:
            report.notes.append("no rows were read; name such a file after the plugin")
        return report
    refused = []
    for name, data in samples.items():
        with suppress(Exception):  # which the checks will find
            refused += [name] * (write_rows_to_bytes(form, data) is None)
    if len(refused) == len(samples):
        report.is_checked = False
        report.notes.append("nothing was checked, as it refuses every sample")
    report.checked = f"{len(FORMAT_CHECKS)} checks on {len(samples)} samples"
    report.checked += f", {len(refused)} of which it refuses ({', '.join(refused)})" if refused else ""
    report.checked += "" if form.is_read() else "; it is only written"
    report.checked += f"; it loses {' and '.join(form.losses)}" if form.losses else ""
    return report


def report_engine(engine: type[Engine], debug: bool = False) -> Report:
    """Check an engine class, and report the failures; `debug` raises the first exception instead."""
    report = Report(f"engine {engine.name}", engine.name)
    report.findings.run(ENGINE_CHECKS, engine, debug=debug)
    report.checked = f"{len(ENGINE_CHECKS)} checks"
    return report


def report_subcommand(command: click.Command, arguments: Sequence[str] | None = None, debug: bool = False) -> Report:
    """Check a click command, and report the failures; `debug` raises the first exception instead.

    If nothing failed, run it with `arguments`, which may be empty; None does not run it.
    """
    report = Report(f"subcommand {command.name}", str(command.name))
    report.findings.run(SUBCOMMAND_CHECKS, command, debug=debug)
    report.checked = f"{len(SUBCOMMAND_CHECKS)} checks"
    if arguments is not None and not report.findings:
        report.findings.run([check_command_runs], command, {"": arguments}, debug)
        report.checked += " and a run"
    return report
