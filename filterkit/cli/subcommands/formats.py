"""The subcommand ``formats``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import click

from filterkit.cli.declared import turn_into_command
from filterkit.cli.options import JsonOptions
from filterkit.cli.shell.printing import format_table_lines, print_document
from filterkit.errors import UsageError, quoted, suggestion
from filterkit.plugin.lookup import add_plugin_file_hint
from filterkit.plugin.registry import Registry
from filterkit.stages.options import describe_options


@turn_into_command("formats", JsonOptions)
@click.argument("names", metavar="[FORMAT]...", nargs=-1)
@click.pass_obj
def show_formats(known: Registry, /, names: tuple[str, ...], options: JsonOptions) -> None:
    """List all file formats, or explain one and its options.

    FORMAT is a name such as csv. --from and --to also take options, after a colon: csv:delimiter=;,nominal=a*
    """
    kinds: dict[str, Any] = {name: kind for name, kind in known.formats.items() if name[:1] not in "./"}
    for name in names:
        if name not in kinds:
            hint = suggestion(name, kinds) or "; see: filterkit formats"
            raise UsageError(f"formats: no format {quoted(name)}{add_plugin_file_hint(known, hint)}")
    described = [
        {
            "name": name,
            "title": kind.title,
            "read": kind.is_read(),
            "written": kind.is_written(),
            "endings": list(kind.endings),
            "help": inspect.getdoc(kind) or "",
            "losses": list(kind.losses),
            "options": describe_options(kind),
        }
        for name, kind in ((name, kinds[name]) for name in names or sorted(kinds))
    ]
    print_document(options.as_json, {"formats": described}, _explain_formats if names else _tabulate_formats)


def _tabulate_formats(document: dict[str, Any]) -> Iterator[str]:
    rows = [[each["name"], each["title"], *_describe_use_and_endings(each)] for each in document["formats"]]
    yield from format_table_lines([["format", "title", "use", "endings"], *rows], range(4))
    yield ""
    yield "More about one: filterkit formats NAME"


def _explain_formats(document: dict[str, Any]) -> Iterator[str]:
    """Yield lines with the use, the help and the options of each format."""
    for each in document["formats"]:
        use, endings = _describe_use_and_endings(each)
        yield f"{each['name']}: {each['title']} ({endings}), {use}"
        if each["help"]:
            yield from ("", *each["help"].splitlines())
        if each["losses"]:
            yield from ("", f"It cannot store: {', '.join(each['losses'])}.")
        if each["options"]:
            yield from ("", f"Options, as in {each['name']}:{each['options'][0]['option']}=VALUE:")
        for option in each["options"]:
            several = " Repeatable: a comma separates values." if option["repeatable"] else ""
            choices = (
                f"  [one of: {' '.join(map(_format_option_value, option['choices']))}]" if option["choices"] else ""
            )
            default = (
                "" if option["default"] in (None, []) else f"  [default: {_format_option_value(option['default'])}]"
            )
            yield f"  {option['option']:<10}  {option['help']}{several}{choices}{default}"


def _describe_use_and_endings(described: dict[str, Any]) -> tuple[str, str]:
    """Return two texts: "read", "written" or "read, written"; and the endings of the files of a format."""
    use = ", ".join(use for use in ("read", "written") if described[use])
    return use, ", ".join("a folder" if ending == "/" else ending for ending in described["endings"])


def _format_option_value(value: Any) -> str:
    """Return a value of an option as a user writes it after ``--from csv:``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ",".join(value)
    return {"\t": "tab", ",": "comma"}.get(value, str(value))
