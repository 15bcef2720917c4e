"""The option ``--explain``: what a command line would do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from filterkit.chains.budget import spool_share, statistic_share
from filterkit.chains.explain import Explanation, explain, format_bytes
from filterkit.cli.inputs import open_input, open_rows_to_fit
from filterkit.cli.plan import Job, check
from filterkit.cli.shell.printing import print_document
from filterkit.cli.shell.text_table import align_rows
from filterkit.data.schema import Schema
from filterkit.errors import UsageError, quoted, visible


def print_explanation(job: Job) -> None:
    """Check a job, open its input, and print how the chain would be fitted.

    Raises
    ------
    UsageError : the command line is wrong.
    FilterkitError : the input cannot be read.
    """
    options = job.options
    if options.load is not None:
        raise UsageError("--explain cannot be combined with --load: the saved chain is fitted already")
    check(job)
    reader = open_input(job.path, options, job.formats)
    with open_rows_to_fit(reader, job.engine, replace(options, progress=False)) as rows:
        found = explain(job.stages, rows.schema)
        print_document(options.as_json, _describe(reader.name, reader.schema, found, options.memory), _format_lines)


def _describe(name: str, schema: Schema, found: Explanation, memory: int) -> dict[str, Any]:
    """Describe how a chain would be fitted, as the document."""
    return {
        "input": name,
        "columns": schema.width,
        "class": None if schema.class_attribute is None else schema.class_attribute.name,
        "labels": len(schema.labels),
        "steps": [{"passes": step.passes, "stages": list(step.stages), "how": step.how} for step in found.steps],
        "streams": all(step.passes == 0 for step in found.steps),  # each row is written as soon as it has been read
        "tables": found.tables,
        "bytes_of_rows": spool_share(memory),
        "bytes_of_tables": statistic_share(memory),
        "columns_out": None if found.schema is None else found.schema.width,
        "most_columns_out": found.most,
    }


def _format_lines(document: dict[str, Any]) -> Iterator[str]:
    """Write the document as text."""
    target = "no class" if document["class"] is None else f"class {quoted(document['class'])}"
    if document["labels"]:
        target = f"{document['labels']} labels"
    n_columns = document["columns"]
    yield visible(f"{document['input']}: {n_columns:,} column{'s' * (n_columns != 1)}, {target}")
    yield ""
    steps = [[str(step["passes"] or ""), " ".join(step["stages"]), step["how"]] for step in document["steps"]]
    yield from align_rows([["passes", "stages", "how"], *steps, ["1", "", "transform and write the rows"]], {0, 1, 2})
    yield ""
    if document["streams"]:
        yield "Rows stream: each is written as soon as it has been read."
    else:
        bound = format_bytes(document["bytes_of_rows"])
        yield f"Between passes, up to {bound} of rows wait in memory, and more in a temporary folder."
    if document["tables"]:
        bound = format_bytes(document["bytes_of_tables"])
        yield f"Up to {bound} of a table are taken at once; a larger one takes a pass for each strip of columns."
    width, most = document["columns_out"], document["most_columns_out"]
    if width is None and most is None:
        yield "The columns that come out depend on the rows."
        return
    limit, count = ("At most ", most) if width is None else ("", width)
    yield f"{limit}{count:,} column{'s' * (count != 1)} come{'s' * (count == 1)} out."
