"""CSV and TSV: text with a row on each line, whose values are separated by a character."""

from filterkit import hookimpl
from filterkit.plugin import FileFormat

from .form import Csv, Tsv


@hookimpl
def filterkit_formats() -> list[type[FileFormat]]:
    return [Csv, Tsv]
