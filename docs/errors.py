"""Prints the reference of errors, docs/errors.md on the site, from the classes and from commands that fail."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

os.environ["FILTERKIT_NO_PLUGINS"] = "1"  # show what filterkit and its own plugins say

import filterkit
from filterkit import errors

INTRODUCTION = """\
# Errors and exit statuses

Printed by `python docs/errors.py` from the classes, and from commands that fail.

| exit status | when |
| --- | --- |
| 0 | The work is done. Also when the reader of a pipe, such as `head`, wants no more rows. |
| 1 | The data, a stage, a plugin or a file is at fault. |
| 2 | The command line is wrong. |
| 130 | Ctrl-C ended it. |
| 128 + N | Signal N ended it, as 143 for SIGTERM. |

A message is one or two lines on standard error. It names the file, the line, the attribute and the value where they are
known, and says what to do. `--debug` shows the traceback. If a run fails, none of its output files appears.

In Python, every error that filterkit raises on purpose is a `filterkit.FilterkitError`. A file that cannot be opened
also is the system's error, such as `FileNotFoundError`, so that either can be caught. `str(error)` is the message."""

_HEADER = "@relation r\n@attribute a numeric\n@attribute class {no,yes}\n@data\n"
FILES = {
    "good.arff": _HEADER + "1,no\n2,yes\n",
    "bad.arff": _HEADER + "1,no\noops,yes\n",
    "gap.arff": _HEADER + "?,no\n2,yes\n",
    "broken.py": "import filterkit\n\n\n@filterkit.hookimpl\ndef filterkit_stagse():\n    return []\n",
}
# What went wrong, and a command that shows it.
CAUSES = {
    "a file is missing": "none.arff l2",
    "a row cannot be read": "bad.arff l2",
    "the class is missing": "--class none good.arff bns",
    "a stage refuses the values": "gap.arff svm",
    "an attribute is unknown": "--class c good.arff bns",
    "a stage is unknown": "good.arff bsn",
    "an option is unknown": "good.arff select --tpo 5",
    "a value is out of range": "good.arff select --top 0",
    "the format of the output is unclear": "-o out.txt good.arff l2",
    "a plugin is wrong": "--plugin broken.py good.arff l2",
}


def reference() -> str:
    """The whole page."""
    lines = [INTRODUCTION, "", "## Classes of errors"]
    for kind in _classes():
        lines += ["", f"### {kind.__name__}", "", *_about(kind)]
    lines += ["", "## Warnings", "", "Warnings go to standard error, and do not change the exit status.", ""]
    lines += ["| warning | |", "| --- | --- |"]
    for name in dir(filterkit):
        kind = getattr(filterkit, name)
        if inspect.isclass(kind) and issubclass(kind, Warning):
            lines.append(f"| `{name}` | {' '.join((inspect.getdoc(kind) or '').partition(chr(10) * 2)[0].split())} |")
    lines += ["", "## Causes", "", "What common mistakes look like, with the exit status behind the arrow:"]
    return "\n".join([*lines, *_failures()]) + "\n"


def _classes() -> list[type[errors.FilterkitError]]:
    """The classes of errors in the order in which they are declared."""
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    found = [kind for kind in kinds if issubclass(kind, errors.FilterkitError)]
    return sorted(found, key=lambda kind: inspect.getsourcelines(kind)[1])


def _about(kind: type[errors.FilterkitError]) -> list[str]:
    """What there is to say about a class: its base, its exit status, its text and its attributes."""
    text, _, parameters = (inspect.getdoc(kind) or "").partition("\nParameters\n----------\n")
    text = re.sub(r"``([^`]+)``", r"`\1`", text.strip())
    place = f"`filterkit.{kind.__name__}`" if kind.__name__ in dir(filterkit) else f"`filterkit.errors.{kind.__name__}`"
    status = 2 if issubclass(kind, errors.UsageError) else 1
    lines = [f"{place}, a kind of `{kind.__mro__[1].__name__}`; exit status {status}.", "", text]
    if parameters:
        lines += ["", "```text", *parameters.strip().splitlines(), "```"]
    return lines


def _failures() -> list[str]:
    """What the commands of `CAUSES` print."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        for name, text in FILES.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        ends = pool.map(partial(_run, folder), CAUSES.values())
        lines = []
        for (cause, command), done in zip(CAUSES.items(), ends):
            lines += ["", f"{cause[0].upper()}{cause[1:]} → {done.returncode}:", ""]
            lines += ["```text", f"$ filterkit {command}", *done.stderr.splitlines(), "```"]
    return lines


def _run(folder: str, command: str) -> subprocess.CompletedProcess[str]:
    """Run the command with these words in a folder."""
    words = [sys.executable, "-m", "filterkit", *shlex.split(command)]
    return subprocess.run(words, cwd=folder, capture_output=True, encoding="utf-8", check=False)


if __name__ == "__main__":
    print(reference(), end="")
