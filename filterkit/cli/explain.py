"""The option ``--explain``: what a command line would do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from filterkit.chains.budget import SPOOL_DIVISOR, STATISTIC_DIVISOR
from filterkit.chains.explain import explain_fitting
from filterkit.cli.inputs import name_input_in_errors, open_input
from filterkit.cli.plan import Job, check_options_and_outputs
from filterkit.cli.shell.printing import format_table_lines, print_document
from filterkit.errors import UsageError, quoted


def print_how_chain_is_fitted(job: Job) -> None:
    """Check a job, open its input, and print how the chain would be fitted.

    Raise UsageError if the command line is wrong, and FilterkitError if the input cannot be read, or a stage that
    learns nothing cannot work on its columns.
    """
    options = job.options
    if options.load is not None:
        raise UsageError(
            "--explain cannot be combined with --load: the saved chain is fitted already; see: filterkit stages FILE"
        )
    check_options_and_outputs(job)
    with open_input(job.path, options, job.formats) as reader, name_input_in_errors(reader):
        found = explain_fitting(job.stages, reader.schema)
    schema = reader.schema
    document = {
        "input": reader.name,
        "columns": schema.width,
        "class": getattr(schema.class_attribute, "name", None),
        "labels": len(schema.labels),
        "steps": [{"passes": each.passes, "stages": list(each.stages), "how": each.how} for each in found.steps],
        "streams": all(step.passes == 0 for step in found.steps),  # each row is written as soon as it has been read
        "tables": found.tables,
        "bytes_of_rows": options.memory // SPOOL_DIVISOR,
        "bytes_of_tables": options.memory // STATISTIC_DIVISOR,
        "columns_out": getattr(found.schema, "width", None),
        "most_columns_out": found.most,
    }
    print_document(options.as_json, document, _format_fitting_explanation)


def _format_fitting_explanation(document: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of text for the document that `print_how_chain_is_fitted` prints."""
    target = "no class" if document["class"] is None else f"class {quoted(document['class'])}"
    if document["labels"]:
        target = f"{document['labels']} labels"
    n_columns = document["columns"]
    yield f"{document['input']}: {n_columns:,} column{'s' * (n_columns != 1)}, {target}"
    yield ""
    steps = [[str(step["passes"] or ""), " ".join(step["stages"]), step["how"]] for step in document["steps"]]
    yield from format_table_lines(
        [["passes", "stages", "how"], *steps, ["1", "", "transform and write the rows"]], {0, 1, 2}
    )
    yield ""
    if document["streams"]:
        yield "Rows stream: each is written as soon as it has been read."
    else:
        bound = _format_byte_count(document["bytes_of_rows"])
        yield f"Between passes, up to {bound} of rows wait in memory, and more in a temporary folder."
    if document["tables"]:
        bound = _format_byte_count(document["bytes_of_tables"])
        yield f"Up to {bound} of a table are taken at once; a larger one takes a pass for each strip of columns."
    width, most = document["columns_out"], document["most_columns_out"]
    if width is None and most is None:
        yield "The columns that come out depend on the rows."
        return
    limit, count = ("At most ", most) if width is None else ("", width)
    yield f"{limit}{count:,} column{'s' * (count != 1)} come{'s' * (count == 1)} out."


def _format_byte_count(size: int) -> str:
    """Format a number of bytes with up to three digits and a binary unit, such as ``128 MB``, or as ``12 bytes``."""
    for unit, factor in (("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)):
        if size >= factor:
            return f"{float(f'{size / factor:.3g}'):g} {unit}"  # not 1e+03
    return f"{size} bytes"
