"""The subcommand ``formats``."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from filterkit.cli.options import SETTINGS
from filterkit.errors import UsageError, or_of_a_file, quoted, suggestion, visible
from filterkit.plugin.formats import is_format_read, is_format_written, title_of
from filterkit.plugin.registry import Registry


@click.command(context_settings=SETTINGS)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.pass_obj
def formats(known: Registry, names: tuple[str, ...]) -> None:
    """List all file formats, or explain one and its options.

    A NAME, with options behind a colon, is what --from and --to take: csv, or csv:delimiter=;,nominal=a*.
    """
    kinds = {name: kind for name, kind in known.formats.items() if name[:1] not in "./"}
    for name in names:
        if name == "arff":
            click.echo("arff: ARFF, as Weka reads and writes it (.arff, and names without an ending)")
            continue
        if name not in kinds:
            hint = suggestion(name, ["arff", *kinds]) or "; see: filterkit formats"
            raise UsageError(f"formats: no format {quoted(name)}{or_of_a_file(hint)}")
        click.echo(visible_lines(_explained(name, kinds[name])))
    if not names:
        rows = [("arff", "ARFF", "read, written", ".arff")]
        rows += [(name, title_of(kind), _ways(kind), _endings(kind)) for name, kind in sorted(kinds.items())]
        widths = [max(map(len, column)) for column in zip(*rows)]
        for row in rows:
            click.echo(visible("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip()))
        click.echo("\nAll about one: filterkit formats NAME")


def visible_lines(text: str) -> str:
    """`text` for a terminal, line by line."""
    return "\n".join(map(visible, text.splitlines()))


def _ways(kind: Any) -> str:
    ways = {"read": is_format_read(kind), "written": is_format_written(kind)}
    return ", ".join(way for way, holds in ways.items() if holds)


def _endings(kind: Any) -> str:
    return ", ".join("a folder" if ending == "/" else ending for ending in kind.endings)


def _explained(name: str, kind: Any) -> str:
    """What there is to say about a format."""
    import inspect

    from filterkit.formats.base import FileFormat

    lines = [f"{name}: {title_of(kind)} ({_endings(kind)}), {_ways(kind)}"]
    if not (isinstance(kind, type) and issubclass(kind, FileFormat)):
        return lines[0]
    lines += ["", *(inspect.getdoc(kind) or "").splitlines()]
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
