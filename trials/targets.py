"""What is given any bytes whatever: each target passes, or raises what shows a mistake in filterkit.

An error that filterkit raises on purpose, a `FilterkitError`, is no finding. Any other exception is one, and so is a
warning of numpy. A target that compares two things raises `Finding`.
"""

from __future__ import annotations

import functools
import io
import shlex
import zipfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from content import content, declarations

import filterkit
from filterkit import FilterkitError
from filterkit.arff.form import Arff
from filterkit.data.batch import empty
from filterkit.formats.base import Opening
from filterkit.formats.reader import Reader
from filterkit.plugin.parsing import parse_stages
from filterkit.plugin.registry import get_registry
from trials import SAMPLES
from trials.reading import kept, outcome, the_exact_path, the_fast_path

NAME = b"\n@@@ "  # begins the name of a member in what `saved` is given


class Finding(AssertionError):
    """Two things differ that must be equal."""


def header(data: bytes) -> None:
    """The header of ARFF text, read strictly and leniently. What is written of it reads back to the same."""
    path = kept(data, "header.arff")
    for lenient in (True, False):
        try:
            with Reader(Arff(), Opening(str(path), class_="none", lenient=lenient)) as reader:
                schema = reader.schema
        except FilterkitError:
            continue
        written = kept(b"", "written.arff")
        filterkit.write(empty(schema), written)
        again = filterkit.read(written, class_="none").schema
        _same("the header written again", declarations(schema.attributes), declarations(again.attributes))
        _same("the relation written again", schema.relation, again.relation)


HEADERS = (
    b"@attribute a numeric\n@attribute b {x,'y z',\"q'\"}\n@attribute c numeric\n",
    b"@attribute a string\n@attribute b numeric\n@attribute c {0,1}\n",
    b"@attribute a numeric\n",
    b"@attribute a date yyyy-MM-dd\n@attribute b numeric\n@attribute c string\n",
    b"@attribute a relational\n@attribute x numeric\n@attribute y {p,q}\n@end a\n@attribute b numeric\n",
    b"".join(b"@attribute a%d numeric\n" % number for number in range(30)),
)


def rows(data: bytes) -> None:
    """Rows of ARFF text after one of `HEADERS`, which the first byte chooses: both paths, and any block size, agree."""
    head = HEADERS[data[0] % len(HEADERS)] if data else HEADERS[0]
    lenient = bool(data and data[0] & 0x80)
    path = kept(b"@relation r\n" + head + b"@data\n" + data[1:], "rows.arff")
    with the_exact_path():
        exact = outcome(path, lenient=lenient)
        small = outcome(path, 1, lenient=lenient)
    with the_fast_path():
        fast = outcome(path, lenient=lenient)
    _same("the fast path", exact, fast)
    _same("blocks of a line", exact, small)


def words(data: bytes) -> None:
    """The words of a chain, as in a file of ``--chain``. What stages say of themselves parses to the same stages."""
    try:
        given = shlex.split(data.decode("utf-8", "replace"), comments=True)
    except ValueError:
        return
    try:
        stages = parse_stages([word for word in given if word != "--help"], get_registry())
    except FilterkitError:
        return
    said = [word for stage in stages for word in stage.words()]
    again = [word for stage in parse_stages(said, get_registry()) for word in stage.words()]
    _same("the stages parsed again", said, again)


@functools.cache
def _mixed() -> filterkit.Batch:
    return filterkit.read(SAMPLES / "mixed.arff")


def expression(data: bytes) -> None:
    """An expression of ``where`` and of ``set``, on rows with all types."""
    text = data.decode("utf-8", "replace").replace("\0", "")
    for words in (["where", text], ["set", f"new={text}"]):
        try:
            filterkit.chain(shlex.join(words)).fit_transform(_mixed())
        except FilterkitError:
            continue


def saved(data: bytes) -> None:
    """A saved chain: the members of its archive, each after a line with its name. Loaded, it transforms rows."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for member in data.split(NAME)[1:]:
            name, _, inside = member.partition(b"\n")
            archive.writestr(zipfile.ZipInfo(name.decode("utf-8", "replace") or "-"), inside)
    try:
        fitted = filterkit.load(io.BytesIO(packed.getvalue()))
        fitted.transform(_mixed())
    except FilterkitError:
        return


def unpacked(archive: bytes) -> bytes:
    """The file of a saved chain as `saved` takes it."""
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        return b"".join(NAME + name.encode() + b"\n" + members.read(name) for name in members.namelist())


FORMATS = ("csv", "tsv", "jsonl", "libsvm", "xrff", "parquet", "arrow")


def formats(data: bytes) -> None:
    """A file of another format, which the first byte chooses. As ARFF it reads back to the same."""
    name = FORMATS[data[0] % len(FORMATS)] if data else FORMATS[0]
    path = kept(data[1:], f"table.{name}")
    try:
        with patch("filterkit_plugins.svmlight._MOST_FOUND", 1 << 16):  # attributes; millions take seconds
            batch = filterkit.read(path, format=name, class_="none")
        written = kept(b"", "written.arff")
        filterkit.write(batch, written)
    except FilterkitError:
        return
    _same("the table written as ARFF", content(batch), outcome(written))


def _same(what: str, expected: object, found: object) -> None:
    """Refuse other values; -0 is another value than 0."""
    if repr(expected) != repr(found):
        one, other = repr(expected), repr(found)
        at = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
        begin = max(at - 60, 0)
        raise Finding(f"{what}: {one[begin : at + 80]} and then {other[begin : at + 80]}")


TARGETS: dict[str, Callable[[bytes], None]] = {
    function.__name__: function for function in (header, rows, words, expression, saved, formats)
}
CORPUS = Path(__file__).parent / "corpus"


def corpus(target: str) -> list[bytes]:
    """What is known to be worth trying."""
    return [path.read_bytes() for path in sorted((CORPUS / target).iterdir()) if path.name != ".gitkeep"]
