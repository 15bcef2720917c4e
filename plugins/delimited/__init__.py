"""CSV, TSV and JSON lines: text with a row on each line."""

from filterkit import hookimpl
from filterkit.plugin import FileFormat

from .form import Csv, Tsv
from .json_lines import JsonLines


@hookimpl
def filterkit_formats() -> list[type[FileFormat]]:
    return [Csv, Tsv, JsonLines]
