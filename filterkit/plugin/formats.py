"""Which format an input or output has: what the user says, or what the ending of its name says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from filterkit.errors import PATH, UsageError, add_plugin_hint, quoted, suggestion
from filterkit.files.endings import COMPRESSIONS, FORMATS_BY_ENDING, check_ending, find_ending_before_compression

if TYPE_CHECKING:
    from filterkit.formats.base import FileFormat

_DEFAULT = ".arff"  # the ending of the format of files without an ending, unless the user says something else


def find_format(text: str, known: Mapping[str, Any], by: str) -> FileFormat:
    """Find the format that a text names, with options or without: ``csv``, ``csv:delimiter=;``.

    An ending, with or without its dot, may replace the name. `known` has all formats, by name and ending. `by` is the
    option or argument that asks for the format, for messages. Raise UsageError if there is no such format, or it does
    not know an option or its value.
    """
    word, _, options = text.partition(":")
    word = word.strip().lower().removeprefix(".")
    found = known.get(word, known.get(f".{word}"))
    if found is None:
        names = sorted(name for name in known if name[:1] not in "./")
        hint = suggestion(word, names) or f"; known: {', '.join(names)}"
        in_python = not by.startswith("-")
        raise UsageError(f"{by}: no format {quoted(word)}{add_plugin_hint(hint, in_python)}")
    if options and not (isinstance(found, type) and fields(found)):
        raise UsageError(f"{by}: {found.name} has no options; leave out {quoted(options)}")
    from filterkit.formats.base import parse_format

    try:
        return parse_format(found, options) if isinstance(found, type) else found
    except UsageError as error:
        raise UsageError(f"{by} {error}") from None


class Formats:
    """The formats of the inputs and outputs of one command.

    `known`, also an attribute, has all formats, by name and ending. `from_text` and `to_text` are the values of the
    options ``--from`` and ``--to``, None without them. Raise UsageError if one names no format, or an unknown option.
    """

    def __init__(self, known: Mapping[str, Any], from_text: str | None = None, to_text: str | None = None) -> None:
        self.known = known
        self._in = None if from_text is None else find_format(from_text, known, "--from")
        self._out = None if to_text is None else find_format(to_text, known, "--to")

    def find_input_format(self, path: str, is_main: bool = True) -> FileFormat:
        """Find the format of an input: that of ``--from``, or else that of the ending of its name, or else ARFF.

        If the input is not the main one, an ending that a format has counts more than ``--from``. The ending of a
        folder is "/".
        """
        end = "/" if os.path.isdir(path) else find_ending_before_compression(path)
        return self._choose_format(end, self._in, is_main)

    def find_output_format(self, path: str, is_main: bool = True) -> FileFormat:
        """Find the format of an output: that of ``--to``, or else that of the ending of its name, or else ARFF.

        If the output is not the main one, an ending that a format has counts more than ``--to``.
        """
        return self._choose_format(find_ending_before_compression(path), self._out, is_main)

    def _choose_format(self, ending: str, chosen: FileFormat | None, is_main: bool) -> FileFormat:
        own = self.known.get(ending)  # None if no format has this ending
        if chosen is not None and (is_main or own is None or own.name == chosen.name):
            return chosen
        found: FileFormat | type[FileFormat] = own or self.known[_DEFAULT]
        return found() if isinstance(found, type) else found  # a `Format` is no class

    def format_misleading_name_warning(self, path: str) -> str:
        """Return the text of a warning if the ending of `path`, the file that standard output goes to, is misleading.

        The ending of a compression is misleading, and without ``--to`` that of any format but ARFF. Otherwise, return
        "".
        """
        end, name = find_ending_before_compression(path), quoted(os.path.basename(path), PATH)
        if path.lower().endswith(COMPRESSIONS):
            return f"standard output is not compressed, though it goes to {name}; say -o {name}"
        other = self.known.get(end)
        if self._out is not None or end in ("", _DEFAULT) or (other is None and end not in FORMATS_BY_ENDING):
            return ""
        title = FORMATS_BY_ENDING[end] if other is None else other.title
        hint = f"; say -o {name}" if other is not None and other.is_written() else ""
        return f"standard output is ARFF, though it goes to {name}, whose ending is that of {title}{hint}"


def check_output_ending(
    path: str, form: FileFormat, known: Mapping[str, Any], by: str = "", is_explicit: bool = False
) -> None:
    """Raise UsageError if a format cannot be written, or the file at `path` has the ending of another format.

    A path without an ending is fine. An ending that no format has is fine only if `is_explicit`, that is, if the user
    has named the format. `known` has all formats, by name and ending. `by` is the option, stage or function that writes
    the file, and begins the message; "" begins it with the path.
    """
    about, end = f"{by}: " if by else "", find_ending_before_compression(path)
    if not form.is_written():
        raise UsageError(f"{about}{quoted(path, PATH)}: {form.title} is only read, not written; write another format")
    if end in ("", *form.endings):
        return
    other = known.get(end)
    if _DEFAULT in form.endings:
        hint = "" if other is None else ", or say so with --to"
        check_ending(path, form.title, by, hint, other=None if other is None else other.title)
    elif end in FORMATS_BY_ENDING or other is not None:
        name = FORMATS_BY_ENDING[end] if other is None else other.title
        better = quoted(os.path.basename(path).removesuffix(end) + form.endings[0])
        raise UsageError(
            f"{about}{quoted(path, PATH)} would hold {form.title}, but its ending is that of {name}; name it {better}"
        )
    if not is_explicit:
        name = os.path.basename(path)
        better = quoted(name[: name.lower().rindex(end)] + ".arff")
        raise UsageError(f"{about}no format has the ending of {quoted(path, PATH)}; name it {better}, or say --to arff")
