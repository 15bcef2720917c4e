"""The conformance kit: what plugins must hold to, for their authors and for filterkit itself.

    import pytest
    from filterkit.testing import SAMPLES, check_declaration, check_stage, sample

    def test_declaration():
        check_declaration(MyStage())

    @pytest.mark.parametrize("name", SAMPLES)
    def test_conformance(name):
        refusal = check_stage(MyStage(), sample(name))
        if refusal:
            pytest.skip(str(refusal))

A check raises an `AssertionError` whose message says how to repair the plugin. A stage may refuse a sample with a
`StageError`, and a format with a `FilterkitError`, but then it must always refuse it.

`DECLARATION_CHECKS` take a stage; `CHECKS` a stage and a sample; `FORMAT_CHECKS` a `Format` and a sample;
`ENGINE_CHECKS` an engine class; `SUBCOMMAND_CHECKS` a click command. A metric is checked as the stage that it becomes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from filterkit.data.batch import Batch, same
from filterkit.engines.engine import Engine
from filterkit.errors import StageError
from filterkit.formats.base import FileFormat
from filterkit.formats.simple import Format
from filterkit.stages.base import Stage
from filterkit.testing.engines import (
    check_engine_is_declared,
    check_failures_come_in_their_place,
    check_few_items_are_taken_ahead,
    check_kept_results_are_merged,
    check_order_is_kept,
    check_output_is_that_of_local,
    check_pauses_are_passed_on,
)
from filterkit.testing.formats import (
    check_a_missing_file_is_an_error,
    check_blocks_come_back,
    check_class_comes_back,
    check_format_is_declared,
    check_reading,
    check_rows_come_back,
    check_writing_is_the_same_again,
)
from filterkit.testing.metrics import check_scores_are_numbers
from filterkit.testing.missing import check_missing_values_stay
from filterkit.testing.samples import SAMPLES, sample
from filterkit.testing.stages import (
    check_a_saved_chain_is_the_same,
    check_another_header_is_refused,
    check_blocks_do_not_matter,
    check_columns_are_matched_by_name,
    check_errors_are_clear,
    check_fitting_again_is_the_same,
    check_help_is_there,
    check_input_is_left_alone,
    check_memory_does_not_matter,
    check_options_can_be_set,
    check_options_come_back,
    check_schema_is_what_comes_out,
    check_the_order_of_rows_does_not_matter,
    check_unchosen_columns_stay,
    check_zeros_stay_zeros,
    cut,
    fit,
    refusal,
)
from filterkit.testing.subcommands import (
    check_command_has_a_name,
    check_command_has_help,
    check_command_refuses_unknown_options,
)

if TYPE_CHECKING:
    import click

DECLARATION_CHECKS: list[Callable[[Stage], None]] = [
    check_options_come_back,
    check_options_can_be_set,
    check_help_is_there,
    check_scores_are_numbers,
]
CHECKS: list[Callable[[Stage, Batch], None]] = [
    check_blocks_do_not_matter,
    check_memory_does_not_matter,
    check_input_is_left_alone,
    check_fitting_again_is_the_same,
    check_zeros_stay_zeros,
    check_missing_values_stay,
    check_schema_is_what_comes_out,
    check_a_saved_chain_is_the_same,
    check_columns_are_matched_by_name,
    check_the_order_of_rows_does_not_matter,
    check_another_header_is_refused,
    check_unchosen_columns_stay,
    check_errors_are_clear,
]
FORMAT_CHECKS: list[Callable[[Format | FileFormat, Batch], None]] = [
    check_format_is_declared,
    check_rows_come_back,
    check_class_comes_back,
    check_blocks_come_back,
    check_writing_is_the_same_again,
    check_a_missing_file_is_an_error,
]
ENGINE_CHECKS: list[Callable[[type[Engine]], None]] = [
    check_engine_is_declared,
    check_order_is_kept,
    check_failures_come_in_their_place,
    check_pauses_are_passed_on,
    check_few_items_are_taken_ahead,
    check_kept_results_are_merged,
    check_output_is_that_of_local,
]
SUBCOMMAND_CHECKS: list[Callable[[click.Command], None]] = [
    check_command_has_a_name,
    check_command_has_help,
    check_command_refuses_unknown_options,
]


def check_stage(stage: Stage, data: Batch) -> StageError | None:
    """Run all `CHECKS` of a stage on some rows.

    Returns
    -------
    The error by which the stage refuses to be fitted on the rows, or None.

    Raises
    ------
    AssertionError : a check fails; the message names each check that does.
    """
    _run([partial(check, stage, data) for check in CHECKS])
    return refusal(stage, data)


def check_declaration(stage: Stage) -> None:
    """Run all `DECLARATION_CHECKS` of a stage.

    Raises
    ------
    AssertionError : a check fails; the message names each check that does.
    """
    _run([partial(check, stage) for check in DECLARATION_CHECKS])


def _run(checks: list[partial[None]]) -> None:
    """Run all checks and report those that fail together."""
    failures: dict[str, Exception] = {}
    for check in checks:
        try:
            check()
        except Exception as error:  # an assertion, or whatever the plugin fails with
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            failures[f"{check.func.__name__}: {kind}{error}"] = error
    if failures:
        raise AssertionError("\n".join(failures)) from next(iter(failures.values()))


__all__ = [
    "CHECKS",
    "DECLARATION_CHECKS",
    "ENGINE_CHECKS",
    "FORMAT_CHECKS",
    "SAMPLES",
    "SUBCOMMAND_CHECKS",
    "check_declaration",
    "check_reading",
    "check_stage",
    "cut",
    "fit",
    "refusal",
    "same",
    "sample",
]
__all__ += [check.__name__ for check in (*DECLARATION_CHECKS, *CHECKS)]
__all__ += [check.__name__ for check in (*FORMAT_CHECKS, *ENGINE_CHECKS, *SUBCOMMAND_CHECKS)]
