"""The subcommand ``info``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import click

from filterkit.chains.budget import DEFAULT_MEMORY
from filterkit.cli.declared import declare_command_option, turn_into_command
from filterkit.cli.inputs import check_options_fit_formats, open_input, open_rows_for_fitting
from filterkit.cli.options import FitOptions, InputOptions, JsonOptions, open_engine
from filterkit.cli.shell.printing import find_terminal_width, format_table_lines, print_document, shorten_to_width
from filterkit.counts.overview import Overview, describe_attributes
from filterkit.counts.record import RecordMerger
from filterkit.data.labels import find_targets
from filterkit.errors import StageError, quoted
from filterkit.plugin.formats import Formats
from filterkit.plugin.registry import Registry

T = TypeVar("T")

_SHOWN = 40  # attributes that the table has, unless it is asked for more
_LABELS = 4  # of a nominal attribute
_NAMES = 6  # of constant or equal attributes in a line
_NAME_WIDTH = 40  # of attributes, unless the terminal is narrow
_LEFT = ("name", "kind", "values")


class InfoOptions(JsonOptions, InputOptions, FitOptions):
    """The options of ``info``."""

    top: int = declare_command_option("Show the first N attributes.", default=_SHOWN, minimum=0)
    memory: int = DEFAULT_MEMORY  # this and the seed are no options
    seed: int | None = None


@turn_into_command("info", InfoOptions)
@click.argument("path", metavar="INPUT")
@click.pass_obj
def show_input(known: Registry, /, path: str, options: InfoOptions) -> None:
    """Show the rows, attributes and class of INPUT.

    The first lines say which format and which class the other commands would assume. The table shows the kind of each
    attribute, how many values are missing, how many are distinct, and a summary of the values. Below it are attributes
    without values, with the same value in all rows, or equal to others.

    With a numeric class, which --class chooses, the table also shows |r|, the size of Pearson's correlation of each
    attribute with the class. For a nominal attribute it is the mean over its labels, each as a 0/1 column.

    INPUT is read once, and memory does not grow with its rows. Every row counts as one, whatever its weight. Only
    correlations weigh rows and read INPUT again; standard input cannot be read twice, so it has none. Numbers of
    distinct values are exact up to 1,023 and for nominal attributes; larger ones are estimates, off by some 3 %.
    """
    formats = Formats(known.formats, options.from_)
    kind = formats.find_input_format(path)
    check_options_fit_formats(options, [path], [kind])
    plain = replace(options, class_="none", labels=None, positive=None)  # summarizes the class like other attributes
    with (
        open_engine(known, options) as engine,
        open_input(path, plain, formats) as reader,
        open_rows_for_fitting(reader, engine, options) as rows,
    ):
        class_ = reader.named_class if options.class_ is None and options.labels is None else options.class_
        merger = RecordMerger(Overview.of, reader.schema)
        for part in rows.map(merger.compute, last=True):
            merger.add(part)
        overview, is_rereadable = merger.merge(), path != "-" and not reader.live
    index, labels = find_targets(overview.schema.relation, overview.schema.attributes, class_, options.labels)
    document = _make_info_document(overview, path, kind.title, index, labels)
    if overview.rows and document["class"] is not None and document["class"]["kind"] == "numeric":
        if is_rereadable:
            _add_correlations(document, options, known, formats)
        else:
            document["remarks"].append(
                "no correlations with the class, because this input can be read only once; save it to a file"
            )
    print_document(options.as_json, document, partial(_format_info_lines, options))


def _add_correlations(document: dict[str, Any], options: InfoOptions, known: Registry, formats: Formats) -> None:
    """Score each feature by the first metric that takes a numeric class, and add the scores to the document.

    Each attribute gets its score by the name of the metric, and ``scored`` becomes this name. The input is read again.
    If the rows cannot be scored, add a line to ``remarks`` that says why. Without such a metric, change nothing.
    """
    from filterkit.chains.feature_scores import scores
    from filterkit.exploration.features import list_usable_metrics

    reader = open_input(document["file"], replace(options, class_=document["class"]["name"]), formats)
    metric = next((each.name for each in list_usable_metrics(reader.schema, known) if each.needs_class), None)
    if metric is None or not reader.schema.width:
        return
    try:
        with open_engine(known, options) as engine, open_rows_for_fitting(reader, engine, options) as rows:
            table = scores(rows, metric)
    except StageError as error:
        document["remarks"].append(f"no {metric} with the class: {str(error).removeprefix('scores: ')}")
        return
    score = dict(zip(table["attribute"].to_pylist(), table[metric].to_pylist()))
    document["scored"] = metric
    for attribute in document["attributes"]:
        if attribute["name"] in score:
            attribute[metric] = score[attribute["name"]]


def _make_info_document(
    overview: Overview, path: str, form: str, class_index: int | None, labels: tuple[int, ...]
) -> dict[str, Any]:
    """Make the document that ``info`` prints about an input, whose rows `overview` summarizes.

    `form` is the title of its format. `class_index` and `labels` are the positions, from 0, of the class and of the
    labels that other commands would assume; None and () without them. ``scored`` is None and ``remarks`` is [].
    """
    schema = overview.schema
    attributes = list(describe_attributes(overview))
    target = None
    if class_index is not None:
        of_class = attributes[class_index]
        more = ("labels",) if "labels" in of_class else ("missing", "least", "largest", "mean", "deviation")
        target = {key: of_class[key] for key in ("number", "name", "kind", *more)}
    constant = [each["name"] for each in attributes if each["distinct"] == 1 and not each["missing"]]
    empty = [each["name"] for each in attributes if each["missing"] == overview.rows]
    equal = [[schema.features[column].name for column in group] for group in overview.find_equal_columns()]
    unused = {a["name"]: [label for label, rows in a.get("labels", {}).items() if not rows] for a in attributes}
    low, high = overview.least_weight, overview.largest_weight
    is_weighted = (low, high) != (1, 1) and overview.rows
    return {
        "file": path,
        "format": form,
        "relation": schema.relation,
        "rows": overview.rows,
        "sparse": schema.sparse,
        "kinds": dict(Counter(each["kind"] for each in attributes)),
        "class": target,
        "labels": [schema.attributes[index].name for index in labels],
        "missing": sum(each["missing"] for each in attributes),
        "zeros": overview.share_of_zeros,
        "weights": {"least": low, "largest": high, "sum": float(overview.weight)} if is_weighted else None,
        "constant": constant,
        "empty": empty,
        "equal": [group for group in equal if group[0] not in {*empty, *constant}],
        "unused_labels": {name: of_none for name, of_none in unused.items() if of_none},
        "attributes": attributes,
        "scored": None,
        "remarks": [],
    }


def _format_info_lines(options: InfoOptions, document: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of text for the document of `_make_info_document`."""
    rows, attributes = document["rows"], document["attributes"]
    form = "sparse " if document["sparse"] else "dense "
    n_columns = sum(document["kinds"].get(kind, 0) for kind in ("numeric", "nominal"))
    if n_columns == (document["class"] is not None) + len(document["labels"]):  # no feature is a number or a label
        form = ""
    yield f"{document['file']}: {form}{document['format']}, relation {quoted(document['relation'])}"
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in document["kinds"].items())
    columns = _format_count_with_noun(len(attributes), "attribute")
    yield f"{_format_count_with_noun(rows, 'row')}, {columns}{': ' * bool(kinds)}{kinds}"
    yield _describe_class(options, document)
    if rows:
        zeros = document["zeros"]
        share = "" if zeros is None else f"; {zeros:.1%} of the numbers are zero"
        yield f"{_format_count_with_noun(document['missing'], 'missing value')}{share}"
        if document["weights"] is not None:
            yield "row weights from {least:g} to {largest:g}, {sum:g} in all".format(**document["weights"])
    yield ""
    yield from _format_attribute_table(attributes, options.top, document["scored"])
    notes = [*_format_notes_on_attributes(document)] if rows else []
    yield from ["", *notes] if notes else []


def _describe_class(options: InfoOptions, document: dict[str, Any]) -> str:
    """Return a line that says which class or labels other commands would assume."""
    target, labels = document["class"], document["labels"]
    if labels:
        return f"{_format_count_with_noun(len(labels), 'label')}: {_join_with_limit(labels, quoted)}"
    if target is None:
        asked = "" if options.class_ is not None else "; the last attribute is not nominal (--class names another)"
        return f"no class{asked}"
    is_last = options.class_ is None and target["number"] == len(document["attributes"])
    start = f"class {quoted(target['name'])}{', the last attribute' if is_last else ''}"
    values = _summarize_values(document["attributes"][target["number"] - 1])
    return f"{start}: {values}" if "labels" in target else f"{start}: numeric, {values or 'without values'}"


def _format_attribute_table(attributes: list[dict[str, Any]], top: int, metric: str | None) -> Iterator[str]:
    """Yield the lines of a table of the first `top` attributes, cut to the width of the terminal if there is one.

    The last line says how many attributes are left out, if any. `metric` is the key of a score that some attributes
    have; None if there are no scores.
    """
    width = find_terminal_width()
    name_width = _NAME_WIDTH if width is None else max(12, width // 4)
    scored = [] if metric is None else [metric]
    rows = []
    for each in attributes[:top]:
        about = "~" if each["distinct"] >= 1024 and each["kind"] != "nominal" else ""
        counts = f"{each['missing']:,}", f"{about}{each['distinct']:,}"
        scores = [f"{each[name]:.4f}" if name in each else "" for name in scored]
        rows.append(
            [
                str(each["number"]),
                shorten_to_width(each["name"], name_width),
                each["kind"],
                *counts,
                *scores,
                _summarize_values(each),
            ]
        )
    if rows:
        head = ["no", "name", "kind", "missing", "distinct", *scored, "values"]
        for line in format_table_lines([head, *rows], {head.index(each) for each in _LEFT}):
            yield type(line)(line if width is None else shorten_to_width(line, width))  # a heading stays one
    left = len(attributes) - len(rows)
    if left:
        what = "more attribute" if rows else "attribute"
        yield f"and {_format_count_with_noun(left, what)} (--top {len(attributes)} or --json)"


def _format_notes_on_attributes(document: dict[str, Any]) -> Iterator[str]:
    """Yield lines about attributes without values, constant and equal ones, and unused labels; then the remarks."""
    for key, what in (("empty", "no values"), ("constant", "the same value in all rows")):
        if document[key]:
            yield f"{what}: {_join_with_limit(document[key], quoted)}"
    if document["equal"]:
        equal = _join_with_limit(document["equal"], lambda group: " = ".join(map(quoted, group[:_NAMES])))
        yield f"equal: {equal}"
    if document["unused_labels"]:
        unused = [
            f"{quoted(name)} {{{_join_with_limit(labels)}}}" for name, labels in document["unused_labels"].items()
        ]
        yield f"labels that no row has: {_join_with_limit(unused)}"
    yield from document["remarks"]


def _summarize_values(attribute: dict[str, Any]) -> str:
    """Summarize the values of an attribute as a text; "" if it has no number, date, text or label.

    A nominal attribute shows its most frequent labels with their numbers of rows, ties in the declared order; a label
    that no row has counts 0. Others show the extremes: of numbers, with their mean and deviation, of dates, or of the
    lengths of texts.
    """
    if "labels" in attribute:
        ordered = sorted(attribute["labels"].items(), key=lambda pair: -pair[1])
        return _join_with_limit(ordered, lambda pair: "{} {:,}".format(*pair), _LABELS)
    if attribute["kind"] == "numeric":
        if attribute["least"] is None:
            return ""
        spread = f", deviation {attribute['deviation']:.4g}" if attribute["deviation"] is not None else ""
        infinite = f", {attribute['infinite']:,} infinite" if "infinite" in attribute else ""
        return f"{attribute['least']:.6g} to {attribute['largest']:.6g}, mean {attribute['mean']:.4g}{spread}{infinite}"
    keys, unit = (("least", "largest"), "") if attribute["kind"] == "date" else (("shortest", "longest"), " characters")
    low, high = (attribute[key] for key in keys)
    return "" if low is None else f"{low} to {high}{unit}"


def _join_with_limit(items: Sequence[T], format_item: Callable[[T], str] = str, limit: int = _NAMES) -> str:
    """Join the first `limit` items, as `format_item` formats them, by commas, and add how many more there are."""
    left = len(items) - limit
    return ", ".join([*map(format_item, items[:limit]), *([f"{left:,} more"] if left > 0 else [])])


def _format_count_with_noun(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
