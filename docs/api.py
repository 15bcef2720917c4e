"""Prints the reference of all public names, docs/api.md on the site, from their docstrings."""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from functools import cached_property
from typing import Any

MODULES = {
    "filterkit": "Names for everybody: `import filterkit`.",
    "filterkit.plugin": "Further names for authors of plugins: `import filterkit.plugin`.",
    "filterkit.testing": "The conformance kit, for tests of plugins: `import filterkit.testing`. A check raises an "
    "AssertionError that says what is wrong and how to repair it.",
}
_PREFACE = """\
What is not listed here is private and may change at any time. An argument `plugins` is for filterkit's own command;
leave it out, and the plugins of this process count: those that are installed, and those of `load_plugin`."""
# Public values that cannot have a docstring.
VALUES = {
    "plugin": "The module `filterkit.plugin`, [below](#filterkitplugin).",
    "COMBINATIONS": "The ways to combine the scores of several classes, for `combine_scores`: max, mean and weighted.",
    "EVERY": "How a field of a `Statistic` merges: bool (k,), whether it is true of every batch.",
    "LARGEST": "How a field of a `Statistic` merges: (k,), the largest value.",
    "LEAST": "How a field of a `Statistic` merges: (k,), the least value.",
    "MERGED": "How a field of a `Statistic` merges: by the method `merge` of its own class, as `ExactSums` has it.",
    "SUM_FOR_ALL": "How a field of a `Statistic` merges: as `SUM_OF_PARTS`, of all columns together.",
    "SUM_OF_PARTS": "How a field of a `Statistic` merges: (k, …, parts), the sum, of parts as by `exact_parts`.",
    "Ends": "The type of a function of a text that begins with a record: int64 offsets after the end of each, "
    "ascending. What follows the last one is the beginning of a record.",
    "BASIC_CHECKS": "The names of the checks after which, if they fail, others would report the same mistake again.",
    "CHECKS": "The checks of a stage on a sample: functions of both, in the order in which they are best run.",
    "DECLARATION_CHECKS": "The checks of a stage without any rows.",
    "ENGINE_CHECKS": "The checks of an engine class.",
    "FORMAT_CHECKS": "The checks of a `Format`, or of a `FileFormat` with its options, on a sample.",
    "SUBCOMMAND_CHECKS": "The checks of a click command; none of them runs it.",
    "SAMPLES": "The samples: ARFF text by name. `sample(name)` gives one as a batch.",
    "Matrix": "The type of `Batch.X`: a float64 `numpy.ndarray` or `scipy.sparse.csr_array`, (rows, columns).",
    "NAME_A_CLASS": "What a message says to do where there is no class.",
    "PAUSE": "An item for an engine to hand on: the next item may take long to come.",
    "State": "The type of what `ColumnStage.fit_columns` returns: a dict of arrays and `Ragged`s by name.",
    "hookimpl": "The decorator that marks a function as [a hook](plugin-reference.md#the-hooks) of a plugin.",
}


def reference() -> str:
    """The whole page."""
    lines = ["# Public names", "", "Printed by `python docs/api.py` from the docstrings.", ""]
    lines += _PREFACE.splitlines()
    for name, about in MODULES.items():
        module = importlib.import_module(name)
        lines += ["", f"## {name}", "", *textwrap.wrap(about, 120, break_on_hyphens=False)]
        for public in module.__all__:
            if not public.startswith("__"):
                lines += ["", f"### {public}", "", *_about(public, getattr(module, public))]
    return "\n".join(lines) + "\n"


def _about(name: str, value: Any) -> list[str]:
    """What there is to say about a public name."""
    if name in VALUES:
        return textwrap.wrap(VALUES[name], 120, break_on_hyphens=False)
    lines = ["```python", _signature(name, value), "```", "", *_text(inspect.getdoc(value) or "")]
    if inspect.isclass(value):
        members = {member: inspect.getattr_static(value, member) for member in vars(value) if member[0] != "_"}
        for member, what in members.items():
            if _is_documented(what):
                lines += _member(member, what)
    return lines


def _member(name: str, member: Any) -> list[str]:
    """What there is to say about a method or property: an item of a list."""
    function = getattr(member, "__func__", member)
    called = _signature(name, function, isinstance(member, staticmethod)) if inspect.isfunction(function) else name
    text = inspect.getdoc(member) or "See its base class."
    first, _, rest = text.partition("\n\n")
    item = f"- `{called}`: {' '.join(first.split())}"
    lines = ["", *textwrap.wrap(item, 120, subsequent_indent="  ", break_on_hyphens=False)]
    more = "\n".join(_text(rest)).strip("\n").splitlines()
    return lines + [f"  {line}".rstrip() for line in (["", *more] if more else [])]


def _signature(name: str, value: Any, is_bound: bool = True) -> str:
    """How to call it, without annotations; without the first parameter unless it `is_bound`."""
    if inspect.isclass(value) and issubclass(value, BaseException):
        return name
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()][not is_bound :]
    return name + str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _text(docstring: str) -> list[str]:
    """A docstring as Markdown: its sections are lists."""
    parts = re.split(r"^(\w+)\n-+\n", docstring, flags=re.M)
    lines = parts[0].rstrip().splitlines()
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        lines += ["", f"*{title}*", "", "```text", *body.strip("\n").splitlines(), "```"]
    return lines


def _is_documented(member: Any) -> bool:
    return isinstance(member, (property, cached_property, staticmethod, classmethod)) or inspect.isfunction(member)


if __name__ == "__main__":
    print(reference(), end="")
