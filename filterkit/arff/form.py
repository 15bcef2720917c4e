"""Arff: the format ARFF, read and written as Weka does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filterkit.data.schema import Schema
from filterkit.formats.base import FileFormat, Opening, Writer

if TYPE_CHECKING:
    from filterkit.arff.table import ArffTable


class Arff(FileFormat):
    """ARFF as Weka reads and writes it. Files with no ending, or an unknown one, are read as ARFF, too."""

    name = "arff"
    title = "ARFF"
    endings = (".arff",)
    textual = lenient = rounds = has_both_forms = has_header = is_trusted = True

    def open(self, opening: Opening) -> ArffTable:
        from filterkit.arff.table import open_table

        return open_table(opening)

    def writer(self, schema: Schema, precision: int | None) -> Writer:
        from filterkit.arff.writer import ArffWriter

        return ArffWriter(schema, precision)
