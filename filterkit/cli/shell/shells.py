"""Completion in bash, zsh and fish: the scripts that ask filterkit, and the answers as each shell wants them.

``_FILTERKIT_COMPLETE=bash_source filterkit`` prints the script, as with any program that uses click. The script calls
``_FILTERKIT_COMPLETE=bash_complete filterkit`` with the command line, and gets one line for each word that may stand at
the cursor.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from filterkit.cli.shell.completion import Completions, find_completions
from filterkit.errors import quoted

_SHELLS = ("bash", "zsh", "fish")  # the script of each is a file, completion.bash and so on


def print_completions_or_script(request: str, words: list[str]) -> int:
    """Print what a shell asks for, and return the exit status: 2 for an unknown request, 1 if printing fails, else 0.

    Parameters
    ----------
    request : the name of a shell and ``_source``, such as ``bash_source``, which asks for its script, or the name and
        ``_complete``, which asks for the words that may stand at the cursor.
    words : for zsh and fish, the words after the name of the command, up to the cursor; for bash, one text, the line up
        to the cursor.
    """
    from filterkit.messages import write_message

    shell, _, what = request.partition("_")
    if shell not in _SHELLS or what not in ("source", "complete"):
        shells = ", ".join(f"{each}_source" for each in _SHELLS)
        write_message(f"filterkit: _FILTERKIT_COMPLETE is {quoted(request)}; write one of {shells}", is_error=True)
        return 2
    if what == "source":
        from importlib.resources import files

        lines = files("filterkit.cli.shell").joinpath(f"completion.{shell}").read_text("utf-8").splitlines()
    else:
        lines = list(
            _format_completions_for_bash(words[0] if words else "")
            if shell == "bash"
            else _format_completions_for_zsh_or_fish(shell, words)
        )
    try:
        print("\n".join(lines), flush=True) if lines else None
    except OSError:
        return 1
    return 0


def _find_completions_quietly(words: list[str], begun: str) -> Completions:
    """Find the words that may stand at the cursor, and print nothing, because that would spoil the line.

    The arguments are those of `find_completions`. On any error, return no words.
    """
    from contextlib import redirect_stderr, redirect_stdout
    from io import StringIO

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):  # a plugin may print when it is imported
        try:
            from filterkit.plugin.registry import get_registry

            text = os.environ.get("_FILTERKIT_AFTER", "")  # fish does not pass it
            at = parse_shell_line(text)
            begins_word = text[:1].isspace()  # otherwise the first word belongs to that at the cursor
            after = [*at.words, at.begun][0 if begins_word else 1 :]
            after = list(takewhile(lambda word: word[:1] not in ("|", ";", "&", "<", ">"), after))  # of this command
            return find_completions(words, begun, after, get_registry())
        except (Exception, SystemExit):
            return Completions([])


def _format_completions_for_zsh_or_fish(shell: str, words: list[str]) -> Iterator[str]:
    """Yield the lines for zsh or fish: the kind ("open" or "plain"), word and help of each completion, between tabs.

    If the word may be the name of a file, the last line is "files", a tab, and the part of the word before the cursor.
    `words` end at the cursor.
    """
    *before, begun = words or [""]
    if shell == "fish":
        begun = parse_shell_line(begun).begun
    found = _find_completions_quietly(before, begun)
    for word in found.words:
        yield "\t".join(["open" if word.is_open else "plain", word.text, word.help])
    if found.is_file:
        yield f"files\t{begun}"


def _format_completions_for_bash(line: str) -> Iterator[str]:
    """Yield the lines for bash: each is a text to replace what stands between the last word break and the cursor."""
    at = parse_shell_line(line, os.environ.get("COMP_WORDBREAKS", ""))
    found = _find_completions_quietly(at.words[1:], at.begun)
    for word in found.words:
        yield _end_word_for_bash(quote_for_bash(word.text[at.n_fixed :], at.open_quote), at.open_quote, word.is_open)
    if found.is_file:
        start = re.match(r"--[a-z-]+=", at.begun)
        before = "" if start is None else start[0]
        for path in _list_paths_starting_with(at.begun[len(before) :]):
            text = (before + path)[at.n_fixed :]
            home = "~" if text.startswith("~/") and not at.open_quote else ""
            rest = home + quote_for_bash(text.removeprefix(home), at.open_quote)
            yield _end_word_for_bash(rest, at.open_quote, path.endswith("/"))


def _end_word_for_bash(text: str, open_quote: str, is_open: bool) -> str:
    """Return a word followed by a blank, unless it is open or in quotes.

    `open_quote` is the quote that the word is in, or "". bash adds the closing quote, except to a word that ends in
    this quote, which gets it here.
    """
    if open_quote:
        return text + open_quote if text.endswith(open_quote) else text
    return text if is_open else f"{text} "


def _list_paths_starting_with(begun: str) -> list[str]:
    """List the paths of files and folders that start with `begun`, sorted; a folder ends with a slash.

    Hidden ones are listed only if the name in `begun` starts with a dot. [] if the folder cannot be read.
    """
    folder, slash, name = begun.rpartition("/")
    searched = os.path.expanduser(folder + slash) or "."
    try:
        with os.scandir(searched) as entries:
            found = [(each.name, each.is_dir()) for each in entries if each.name.startswith(name)]
    except OSError:
        return []
    names = sorted((each, is_folder) for each, is_folder in found if each.isprintable())
    return [f"{folder}{slash}{each}{'/' * is_folder}" for each, is_folder in names if name or not each.startswith(".")]


class Cursor(NamedTuple):
    """The words around the cursor of a line.

    Attributes
    ----------
    words : the words before the one at the cursor, without quotes.
    begun : the part of the word at the cursor that is before it, without quotes.
    open_quote : the quote that is open at the cursor; "" without one.
    n_fixed : the number of characters at the start of `begun` that bash leaves alone; a completion replaces the rest.
    """

    words: list[str]
    begun: str
    open_quote: str
    n_fixed: int


def parse_shell_line(line: str, word_breaks: str = "") -> Cursor:
    """Divide a line of a shell, which ends at the cursor, into words without quotes.

    `word_breaks` is ``COMP_WORDBREAKS`` of bash: a completion replaces only what follows the last of these characters.
    """
    words: list[str] = []
    word, quote_, n_fixed, is_begun = "", "", 0, False
    characters = iter(line)
    for c in characters:
        if quote_:
            if c == quote_:
                quote_ = ""
            elif c == "\\" and quote_ == '"':
                following = next(characters, "")
                word += following if following in '\\"$`' else c + following
            else:
                word += c
        elif c in " \t\n":
            if is_begun:
                words.append(word)
            word, n_fixed, is_begun = "", 0, False
            continue
        elif c in "'\"":
            quote_, n_fixed = c, len(word)
        elif c == "\\":
            word += next(characters, "")
        else:
            word += c
            n_fixed = len(word) if c in word_breaks else n_fixed
        is_begun = True
    return Cursor(words, word, quote_, n_fixed)


def quote_for_bash(text: str, open_quote: str) -> str:
    """Escape a text for a line of bash; `open_quote` is the quote that it is in, or ""."""
    if open_quote == "'":
        return text.replace("'", "'\\''")
    if open_quote == '"':
        return re.sub(r'([\\"$`])', r"\\\1", text)
    return re.sub(r"([^\w@%+=:,./-])", r"\\\1", text)
