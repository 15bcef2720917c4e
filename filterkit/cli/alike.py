"""``report --like DATA``: how chains did on the tasks that are most like the rows of a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from filterkit.cli.inputs import open_input
from filterkit.cli.options import InputOptions
from filterkit.cli.printing import print_found
from filterkit.cli.text_table import aligned
from filterkit.data.batch import empty
from filterkit.engines.local import LocalEngine
from filterkit.errors import FilterkitError
from filterkit.evaluation.advice import Rated, cases_of, nearest, rated
from filterkit.evaluation.properties import Properties, properties_of
from filterkit.evaluation.results import Results
from filterkit.evaluation.runner import known_rows
from filterkit.plugin.formats import Formats
from filterkit.plugin.registry import Registry

_MEANINGS = dict(zip(Properties._fields, ("rows", "positive", "columns", "values other than zero in a row")))


def compare_like(
    path: str, options: InputOptions, results: Results, measure: str, known: Registry, as_json: bool
) -> None:
    """Print how the chains did by a measure on the tasks that are most like the rows of a file.

    Raises
    ------
    FilterkitError : the file cannot be read, or no row of it has a class; or the results do not say what the training
        rows were like, or have no task on which all chains can be compared.
    """
    like = _properties(path, options, known)
    cases = [case for case in cases_of(results) if (case.properties.positives is None) == (like.positives is None)]
    cases = nearest(cases, like)
    if not cases:
        lack = "predict no number" if like.positives is None else "do not say how many rows were positive"
        raise FilterkitError(f"--like: the results {lack}; evaluate again")
    chains = rated(results, cases, measure)
    if not chains:
        raise FilterkitError(
            f"--like: on none of the tasks all chains have {measure}; choose another --measure, or name fewer files"
        )
    facts = {name: value for name, value in like._asdict().items() if value is not None}
    columns = [[getattr(case.properties, name) for case in cases] for name in facts]
    meanings = [_MEANINGS[name] for name in facts]
    found: dict[str, Any] = {
        "data": facts,
        "tasks": len(cases),
        "sets": len({results.tasks[case.task][0] for case in cases}),
        "ranges": {name: [min(each), max(each)] for name, each in zip(facts, columns)},
        "measure": measure,
        "chains": [each._asdict() for each in chains],
    }

    def lines() -> Iterator[str]:
        yield f"{path}: " + ", ".join(f"{_number(value)} {what}" for value, what in zip(facts.values(), meanings))
        tasks = f"The {_several(found['tasks'], 'task')} of {_several(found['sets'], 'data set')} most like it"
        ranges = (f"{_range(*ends)} {what}" for ends, what in zip(found["ranges"].values(), meanings))
        yield f"{tasks}: " + ", ".join(ranges)
        yield ""
        head = ["chain", "rank", measure, "minus the first", "better, equal, worse"]
        yield from aligned([head, *map(_cells, chains)], range(1))

    print_found(as_json, lambda: found, lines)


def _properties(path: str, options: InputOptions, known: Registry) -> Properties:
    with open_input(path, options, Formats(known.formats, None)) as reader:
        try:
            known_rows(empty(reader.schema))
        except FilterkitError as error:
            raise FilterkitError(f"{reader.name}: {error}") from None
        found = properties_of(reader.map(known_rows, LocalEngine(1)))
    if not found.rows:
        raise FilterkitError(f"{path}: the class of no row is known")
    return found


def _cells(each: Rated) -> list[str]:
    shown = [each.chain, f"{each.rank:.2f}", f"{each.mean:.3f} ±{each.error:.3f}"]
    if each.gap != each.gap:  # the first
        return [*shown, "", ""]
    return [*shown, f"{each.gap:+.3f} p={each.p:.2g}", f"{each.better}, {each.equal}, {each.worse}"]


def _several(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count > 1)}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def _range(low: float, high: float) -> str:
    return _number(low) if low == high else f"{_number(low)} to {_number(high)}"
