"""Prints the reference of all stages, docs/stages.md on the site, from their declarations."""

from __future__ import annotations

import inspect
import os
from itertools import groupby
from operator import attrgetter

os.environ["FILTERKIT_NO_PLUGINS"] = "1"  # document the bundled stages alone

from filterkit.data.attribute_choice import CHOICE_HELP
from filterkit.plugin.registry import get_registry
from filterkit.stages.base import Stage
from filterkit.stages.metric_scaling import METRIC_HELP, SCALING_HELP, ClassAgainstRestScaling, MetricScaling
from filterkit.stages.options import list_option_fields, make_flag

CHOICE = f"""\
Stages that work on columns have the options `--only` and `--except`. Such a stage then works as though the other
columns did not exist, and these pass unchanged; what comes out takes the place of what went in.

{CHOICE_HELP}"""


def reference() -> str:
    """The whole page."""
    ordered = sorted(get_registry().stages.values(), key=attrgetter("group", "name"))
    groups = {group: list(stages) for group, stages in groupby(ordered, attrgetter("group"))}
    parts = [
        "# Stages",
        "",
        "Printed by `python docs/stages.py` from the declarations. On the command line: `filterkit stages NAME`.",
        "Formulas are in [formulas.md](formulas.md).",
        "",
        "| group | stages |",
        "| --- | --- |",
    ]
    for group, stages in groups.items():
        names = ", ".join(f"[{stage.name}](#{stage.name})" for stage in stages)
        parts.append(f"| [{group}](#{group.lower().replace(' ', '-')}) | {names} |")
    parts += ["", "## Choose attributes", "", CHOICE]
    for group, stages in groups.items():
        parts += ["", f"## {group}"]
        if any(issubclass(stage, MetricScaling) for stage in stages):
            parts += ["", *_about_metrics()]
        for stage in stages:
            parts += ["", f"### {stage.name}", "", *_about(stage)]
    return "\n".join(parts) + "\n"


def _about_metrics() -> list[str]:
    """What all stages of metrics have in common."""
    return [
        "Stages whose help begins with *Scale by a score* compute it by a metric. This holds for all of them,",
        "but those that score a column as a whole have no thresholds:",
        "",
        METRIC_HELP,
        "",
        "Unless another table is given below, their options are:",
        "",
        *_options(ClassAgainstRestScaling),
    ]


def _about(stage: type[Stage]) -> list[str]:
    """The help of a stage, without what is said once for all metrics."""
    text = inspect.getdoc(stage) or ""
    if issubclass(stage, MetricScaling):
        text = text.removesuffix(METRIC_HELP).removesuffix(SCALING_HELP).rstrip()
    options = [] if issubclass(stage, ClassAgainstRestScaling) else _options(stage)
    return [text, "", *options] if options else [text]


def _options(stage: type[Stage]) -> list[str]:
    """A table of the options of a stage."""
    fields = list_option_fields(stage)
    lines = ["| option | default | |", "| --- | --- | --- |"] if fields else []
    for field in fields:
        flag = field.name.upper() if field.metadata["bare"] else make_flag(field)
        kinds = "\\|".join(field.metadata["choices"])
        default = "" if field.default in (None, "", ()) else field.default
        if isinstance(field.default, bool):
            default = "yes" if field.default else "no"
        lines.append(f"| `{flag}{' ' + kinds if kinds else ''}` | {default} | {field.metadata['help']} |")
    return lines


if __name__ == "__main__":
    print(reference(), end="")
