"""CSV, TSV and JSON lines: text with a row on each line."""

from filterkit.plugin import offer

from .form import Csv, Tsv
from .json_lines import JsonLines

filterkit_formats = offer(Csv, Tsv, JsonLines)
