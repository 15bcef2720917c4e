"""The subcommand ``formats``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import click

from filterkit.cli.options import SETTINGS
from filterkit.cli.shell.printing import JSON, print_found
from filterkit.cli.shell.text_table import aligned
from filterkit.errors import UsageError, or_of_a_file, quoted, suggestion, visible
from filterkit.plugin.registry import Registry
from filterkit.stages.options import describe_options


@click.command(context_settings=SETTINGS)
@JSON
@click.argument("names", metavar="[FORMAT]...", nargs=-1)
@click.pass_obj
def formats(known: Registry, names: tuple[str, ...], as_json: bool) -> None:
    """List all file formats, or explain one and its options.

    A FORMAT, with options behind a colon, is what --from and --to take: csv, or csv:delimiter=;,nominal=a*.
    """
    kinds = {name: kind for name, kind in known.formats.items() if name[:1] not in "./"}
    for name in names:
        if name not in kinds:
            hint = suggestion(name, [*kinds]) or "; see: filterkit formats"
            raise UsageError(f"formats: no format {quoted(name)}{or_of_a_file(hint, False)}")
    asked = list(names or sorted(kinds))
    print_found(
        as_json,
        lambda: {"formats": [_about(name, kinds[name]) for name in asked]},
        lambda: _lines(asked, kinds) if names else _listed(asked, kinds),
    )


def _about(name: str, kind: Any) -> dict[str, Any]:
    """What ``--json`` says of a format."""
    return {
        "name": name,
        "title": kind.title,
        "read": kind.is_read(),
        "written": kind.is_written(),
        "endings": list(kind.endings),
        "options": describe_options(kind),
    }


def _lines(names: list[str], kinds: dict[str, Any]) -> Iterator[str]:
    """All about some formats."""
    for name in names:
        yield from map(visible, _explained(name, kinds[name]).splitlines())


def _listed(names: list[str], kinds: dict[str, Any]) -> Iterator[str]:
    """A line for each format."""
    rows = [["format", "title", "use", "endings"]]
    for name in names:
        kind = kinds[name]
        rows.append([name, kind.title, _ways(kind), _endings(kind)])
    yield from aligned(rows, range(4))
    yield ""
    yield "All about one: filterkit formats NAME"


def _ways(kind: Any) -> str:
    ways = {"read": kind.is_read(), "written": kind.is_written()}
    return ", ".join(way for way, holds in ways.items() if holds)


def _endings(kind: Any) -> str:
    return ", ".join("a folder" if ending == "/" else ending for ending in kind.endings)


def _explained(name: str, kind: Any) -> str:
    """What there is to say about a format."""
    import inspect

    lines = [f"{name}: {kind.title} ({_endings(kind)}), {_ways(kind)}"]
    if documentation := inspect.getdoc(kind):
        lines += ["", *documentation.splitlines()]
    if kind.losses:
        lines += ["", f"It cannot store: {', '.join(kind.losses)}."]
    fields = dataclasses.fields(kind)
    if fields:
        lines += ["", f"Options, as in {name}:{kind.shown(fields[0])}=VALUE:"]
    for field in fields:
        default = field.default
        shown = "" if default in (None, ()) else f"  [default: {_shown(default)}]"
        choices = field.metadata["choices"]
        words = f"  [one of: {' '.join(map(_shown, choices))}]" if choices else ""
        several = " Repeatable: a comma separates values." if default == () or isinstance(default, tuple) else ""
        lines.append(f"  {kind.shown(field):<10}  {field.metadata['help']}{several}{words}{shown}")
    return "\n".join(lines)


def _shown(value: Any) -> str:
    """A default value as a user would write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ",".join(value)
    return {"\t": "tab", ",": "comma"}.get(value, str(value))
