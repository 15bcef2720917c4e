"""The option ``--explain``: what a command line would do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from filterkit.chains.budget import spool_share, statistic_share
from filterkit.chains.explain import Explanation, explain, format_bytes
from filterkit.cli.inputs import Work, open_input, training_rows
from filterkit.cli.plan import Job, check
from filterkit.cli.shell.printing import print_found
from filterkit.cli.shell.text_table import aligned
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
    with training_rows(reader, Work(job.engine, options.memory, False)) as rows:
        found = explain(job.stages, rows.schema)
        print_found(
            options.as_json,
            lambda: _document(reader.name, reader.schema, found, options.memory),
            lambda: _lines(reader.name, reader.schema, found, options.memory),
        )


def _document(name: str, schema: Schema, found: Explanation, memory: int) -> dict[str, Any]:
    """What ``--json`` says."""
    return {
        "input": name,
        "columns": schema.width,
        "class": None if schema.class_attribute is None else schema.class_attribute.name,
        "labels": len(schema.labels),
        "steps": [{"passes": step.passes, "stages": list(step.stages), "how": step.how} for step in found.steps],
        "streams": _streams(found),
        "tables": found.tables,
        "bytes_of_rows": spool_share(memory),
        "columns_out": None if found.schema is None else found.schema.width,
        "most_columns_out": found.most,
    }


def _streams(found: Explanation) -> bool:
    """Whether each row is written as soon as it has been read."""
    return all(step.passes == 0 for step in found.steps)


def _lines(name: str, schema: Schema, found: Explanation, memory: int) -> Iterator[str]:
    target = schema.class_attribute
    end = "no class" if target is None else f"class {quoted(target.name)}"
    end = f"{len(schema.labels)} labels" if schema.labels else end
    yield visible(f"{name}: {schema.width:,} columns, {end}")
    yield ""
    steps = [[_passes(step.passes), " ".join(step.stages), step.how] for step in found.steps]
    yield from aligned([["passes", "stages", "how"], *steps, ["1", "", "transform and write the rows"]], {0, 1, 2})
    yield ""
    if _streams(found):
        yield "Rows stream: each is written as soon as it has been read."
    else:
        bound = format_bytes(spool_share(memory))
        yield f"Between passes, up to {bound} of rows wait in memory, and more in a temporary folder."
    if found.tables:
        bound = format_bytes(statistic_share(memory))
        yield f"Up to {bound} of a table are taken at once; a larger one takes a pass for each strip of columns."
    out = "the columns that come out depend on the rows"
    if found.schema is not None:
        out = f"{_counted(found.schema.width)} come{'s' * (found.schema.width == 1)} out"
    elif found.most is not None:
        out = f"at most {_counted(found.most)} come{'s' * (found.most == 1)} out"
    yield out[0].upper() + out[1:] + "."


def _counted(columns: int) -> str:
    return f"{columns:,} column{'s' * (columns != 1)}"


def _passes(passes: int | str) -> str:
    return str(passes or "")
