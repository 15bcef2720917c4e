"""The conformance kit: what plugins must hold to, for their authors and for filterkit itself.

    import pytest
    from filterkit.testing import CHECKS, SAMPLES, sample

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    @pytest.mark.parametrize("name", SAMPLES)
    def test_my_stage(check, name):
        check(MyStage(), sample(name))

A check raises an `AssertionError` whose message says how to repair the plugin. A stage may refuse a sample with a
`StageError`, and a format with a `FilterkitError`; then it must do so always, and the check has nothing more to ask.

`CHECKS` are for a stage, a metric's too, and a sample; `FORMAT_CHECKS` for a `Format` and a sample; `ENGINE_CHECKS` for
an engine class; `SUBCOMMAND_CHECKS` for a click command.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from filterkit.data.batch import Batch, same
from filterkit.engines.local import LocalEngine
from filterkit.files.formats import Format
from filterkit.stages.base import Stage
from filterkit.testing.engines import (
    check_engine_is_declared,
    check_failures_come_in_their_place,
    check_few_items_are_taken_ahead,
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
    check_a_kept_chain_is_the_same,
    check_another_header_is_refused,
    check_blocks_do_not_matter,
    check_columns_are_matched_by_name,
    check_errors_are_clear,
    check_fitting_again_is_the_same,
    check_help_is_there,
    check_input_is_left_alone,
    check_options_come_back,
    check_schema_is_what_comes_out,
    check_the_order_of_rows_does_not_matter,
    check_zeros_stay_zeros,
    cut,
    fit,
)
from filterkit.testing.subcommands import (
    check_command_has_a_name,
    check_command_has_help,
    check_command_refuses_unknown_options,
)

if TYPE_CHECKING:
    import click

CHECKS: list[Callable[[Stage, Batch], None]] = [
    check_blocks_do_not_matter,
    check_input_is_left_alone,
    check_fitting_again_is_the_same,
    check_zeros_stay_zeros,
    check_missing_values_stay,
    check_schema_is_what_comes_out,
    check_a_kept_chain_is_the_same,
    check_columns_are_matched_by_name,
    check_the_order_of_rows_does_not_matter,
    check_another_header_is_refused,
    check_errors_are_clear,
    check_scores_are_numbers,
    check_options_come_back,
    check_help_is_there,
]
FORMAT_CHECKS: list[Callable[[Format, Batch], None]] = [
    check_format_is_declared,
    check_rows_come_back,
    check_class_comes_back,
    check_blocks_come_back,
    check_writing_is_the_same_again,
    check_a_missing_file_is_an_error,
]
ENGINE_CHECKS: list[Callable[[type[LocalEngine]], None]] = [
    check_engine_is_declared,
    check_order_is_kept,
    check_failures_come_in_their_place,
    check_pauses_are_passed_on,
    check_few_items_are_taken_ahead,
    check_output_is_that_of_local,
]
SUBCOMMAND_CHECKS: list[Callable[[click.Command], None]] = [
    check_command_has_a_name,
    check_command_has_help,
    check_command_refuses_unknown_options,
]
__all__ = [
    "CHECKS",
    "ENGINE_CHECKS",
    "FORMAT_CHECKS",
    "SAMPLES",
    "SUBCOMMAND_CHECKS",
    "check_reading",
    "cut",
    "fit",
    "same",
    "sample",
]
__all__ += [check.__name__ for check in (*CHECKS, *FORMAT_CHECKS, *ENGINE_CHECKS, *SUBCOMMAND_CHECKS)]
