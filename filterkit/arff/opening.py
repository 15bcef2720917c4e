"""Opening an ARFF file: its header, and what the schema of other data and the values of its rows change of it."""

from __future__ import annotations

from contextlib import closing
from itertools import chain

from filterkit.arff.beginning import read_header
from filterkit.arff.blocks import BlockParser
from filterkit.arff.layout import Layout
from filterkit.arff.table import ArffTable
from filterkit.data.schema import Schema
from filterkit.data.unseen import add_values, adopt_fitted_labels, drop_unknown_values, find_unknown_values
from filterkit.errors import FilterkitError
from filterkit.files.lines import Block
from filterkit.files.source import Source
from filterkit.files.urls import is_url
from filterkit.formats.base import Opening
from filterkit.formats.notes import KEEL_MISSING, UNSEEN, describe_added


def open_table(opening: Opening) -> ArffTable:
    """Open an ARFF file; a further file of an input must have the attributes of the first.

    Raises
    ------
    FilterkitError : the file cannot be read, or has other attributes than the first.
    """
    source = Source(opening.path, opening.encoding)
    if opening.first is not None:
        assert isinstance(opening.first, ArffTable)
        table = opening.first.further.open(source)
        table.attributes, table.sparse = opening.first.attributes, opening.first.sparse
        return table
    header, line, rest = read_header(source, opening)
    table = ArffTable(header, source, rest, line, opening)
    if opening.like is not None and not table.sparse:  # a sparse row omits the first label, or the first text
        table.attributes = adopt_fitted_labels(table.attributes, opening.like)
    if opening.like is not None and opening.unseen:
        table.attributes = drop_unknown_values(table.attributes, opening.like, table.sparse)
    if opening.extend:
        added = _find_undeclared(opening, source)
        table.attributes = add_values(table.declared, added)
        more = [describe_added(source.name, table.attributes[i].name, values) for i, values in added.items()]
        table.notes = (*more, *table.notes)
    return table


def _find_undeclared(opening: Opening, source: Source) -> dict[int, list[str]]:
    """Return the values in rows and in further headers that the header does not declare, by attributes' positions.

    Raises
    ------
    FilterkitError : the input cannot be read twice, or a row cannot be read; closes the source.
    """
    found: dict[int, list[str]] = {}
    first: ArffTable | None = None
    try:
        if source.size is None and not is_url(opening.path):
            what = "--unseen extend reads it twice, and it is a pipe; save it to a file first"
            raise FilterkitError(f"{source.name}: {what}")
        for path in opening.paths:
            once = opening._replace(path=path, class_="none", like=None, first=first, unseen=True, extend=False)
            with closing(open_table(once)) as table:
                if first is None:
                    first, attributes = table, table.attributes
                    layout = Layout(Schema("", attributes, sparse=table.sparse))
                    parser = BlockParser(layout, opening.rejects, opening.lenient, True)
                for block in chain([Block(b"", 1, "")], table.parts()):
                    new = [(note.position, note.text) for note in parser(block).notes if note.kind == UNSEEN]
                    if not block.text:
                        new = list(find_unknown_values(table.declared, attributes))
                    for position, value in new:
                        values = found.setdefault(position, [])
                        if value not in values and not (opening.lenient and value.lower() == KEEL_MISSING):
                            values.append(value)
                    if new:  # the fast path reads these values from now on
                        attributes = add_values(first.attributes, found)
                        now = Layout(Schema("", attributes, sparse=first.sparse))
                        parser = BlockParser(now, opening.rejects, opening.lenient, True, layout)
    except FilterkitError:
        source.close()
        raise
    return {position: values for position, values in found.items() if values}
