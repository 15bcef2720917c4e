"""Looks stages and metrics up by name, and says what to write instead of a name that nobody offers."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from filterkit.errors import StageError, UsageError, add_plugin_hint, quoted, suggestion
from filterkit.plugin.registry import Registry, get_registry
from filterkit.stages.options import list_option_fields, make_flag

if TYPE_CHECKING:
    from filterkit.counts.metric import Metric
    from filterkit.stages.base import Stage

OWN_OPTIONS_FIRST = "; options of filterkit itself go before the input"  # the end of a message about one after a stage


def find_stage(known: Registry, name: str) -> type[Stage]:
    """Find the stage class of this name.

    Raise UsageError, which suggests a similar name, if there is none, and PluginError if two plugins claim the name, or
    the plugin that lists it is broken.
    """
    if name not in known.stages:
        known.load_all_plugins()  # one may offer what its entry points do not list
    if name in known.stages:
        return known.stages[name]
    raise UsageError(f"no stage {quoted(name)}{_explain_unknown_stage(known, name)}")


def find_metric(name: str) -> Metric:
    """Find the metric of this name, among all plugins.

    Raise UsageError, which suggests a similar name, if there is none, and PluginError if two plugins claim the name, or
    the plugin that lists it is broken.
    """
    from filterkit.stages.metric_scaling import MetricScaling

    known = get_registry()
    stage = known.stages.get(name)
    if stage is None or not issubclass(stage, MetricScaling):
        raise UsageError(f"no metric {quoted(name)}{suggest_known_names(known, name, known.metrics)}")
    return stage.metric


def _explain_unknown_stage(known: Registry, name: str) -> str:
    """Return the end of a message about an unknown stage: what to write instead, or where to look."""
    words = name.replace(",", " ").replace("|", " ").split()
    if name.startswith("-"):
        flag = name.partition("=")[0]
        return OWN_OPTIONS_FIRST if flag in known.flags else "; the options of a stage go after its name"
    if len(words) > 1 and words[0] in known.stages:
        return f"; write stages and options as words of their own: {' '.join(words)}"
    if name in known.subcommands:
        return f", but a subcommand; write it first: filterkit {name}"
    answers = (stage.answer_unknown_stage(name) for stage in known.stages.values())
    hint = next(filter(None, answers), "") or _suggest_weka_equivalent(name, known.stages)
    if hint:
        return hint
    lines = map_option_values_to_stage_words(known)
    if (bare := name.rpartition(".")[2]) in lines:
        return f"; write: {lines[bare]}"
    hint = suggestion(name, {*known.stages, *lines.values()})
    if not hint and os.path.isfile(name):
        return ", but a file; several files that make one input are given as a pattern in quotes, '*.arff'"
    if not hint and os.path.splitext(name)[1].lower() in known.formats:
        return f"; to write a file, say: -o {shlex.quote(name)}"
    if not hint and any(plugin.problem for plugin in known.plugins):
        return "; some plugins are broken, see: filterkit plugins"
    return add_plugin_file_hint(known, hint or "; see: filterkit stages")


def map_option_values_to_stage_words(known: Registry) -> dict[str, str]:
    """Map each value that an option of a stage suggests for completion to a text: the stage, the option and the value.

    For example, the value ``Ridge`` is mapped to ``predict Ridge``. This loads all plugins with stages.
    """
    lines: dict[str, str] = {}
    for name, stage in known.stages.items():
        for field in list_option_fields(stage):
            if field.metadata["completions"]:
                start = name if field.metadata["bare"] else f"{name} {make_flag(field)}"
                lines |= {word: f"{start} {word}" for word in field.metadata["completions"]({})}
    return lines


def add_mending_stages_to_error(known: Registry, error: StageError) -> None:
    """Add the names of the stages that would mend the refused rows to the message of an error.

    These are the stages whose `mends` equals ``error.lacks``. Then set ``error.lacks`` to "", so that a second call
    adds nothing.
    """
    if error.lacks:  # else no plugin needs to be loaded
        names = [name for name, stage in sorted(known.stages.items()) if stage.mends == error.lacks]
        error.message += f", such as {' or '.join(names)}" * bool(names)
        error.lacks = ""


def suggest_known_names(known: Registry, name: str, names: Mapping[str, Any]) -> str:
    """Return the end of a message about an unknown name: a similar one of `names`, or the list of all."""
    return add_plugin_file_hint(known, suggestion(name, names) or f"; known: {', '.join(sorted(names))}")


def add_plugin_file_hint(known: Registry, hint: str) -> str:
    """Return `hint`; unless it ends in "?" or the user has loaded a plugin from a file, add how to load one."""
    return hint if known.files else add_plugin_hint(hint, in_python=not known.flags)


def _suggest_weka_equivalent(name: str, stages: Mapping[str, type[Stage]]) -> str:
    """Return ``"; Weka's X is 'y' here"`` if the help of a stage y names Weka's class X, else "".

    `name` is X in any case, with or without its package and the end ``AttributeEval``. Up to three stages are named.
    """
    from inspect import getdoc

    asked = re.escape(name.rpartition(".")[2].lower().removesuffix("attributeeval"))
    # The class is a word with a capital in a sentence such as "as Weka's Remove and RemoveByName do".
    pattern = rf"(?i)Weka's [^.;:]*\b(?-i:(?=[A-Z])){asked}(AttributeEval)?\b"
    texts = {stage: " ".join((getdoc(made) or "").split()) for stage, made in stages.items() if asked}
    found = [stage for stage, text in texts.items() if re.search(pattern, text)]
    if not found:
        return ""
    return f"; Weka's {name.rpartition('.')[2]} is {' or '.join(map(quoted, found[:3]))} here"
