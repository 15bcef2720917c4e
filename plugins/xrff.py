"""XRFF: Weka's XML, with everything that ARFF holds and the class marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from filterkit import Attribute, Batch, FilterkitError, Schema
from filterkit.plugin import (
    PAUSE,
    ArffLines,
    ArffRowParser,
    DateFormat,
    FileFormat,
    Opening,
    RowError,
    Source,
    Table,
    Writer,
    arff_row,
    format_number,
    offer,
    parse_bag,
    parse_number,
    quoted,
    split_rows,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_PART = 1 << 20  # bytes of the ARFF text of a part
_LONGEST = 1 << 28  # bytes of a row or declaration
_LONGEST_TAG = 1 << 24  # bytes; before expat 2.6, the time grows with the square of the length
_DEEPEST = 100  # how deep relational attributes may be nested
_CELLS = 1 << 18  # values that are formatted at once
_DATE = "yyyy-MM-dd'T'HH:mm:ss"  # the format of a date that says none
_KINDS = ("numeric", "date", "nominal", "string", "relational")
_SCORE = "score:"  # begins the names of properties that hold scores

# What stands in an element is read once it is complete: that of a row, and that of an attribute.
_ROW = ["dataset", "body", "instances", "instance"]
_ATTRIBUTE = ["dataset", "header", "attributes", "attribute"]

_DECLARATIONS = """\
<!DOCTYPE dataset
[
   <!ELEMENT dataset (header,body)>
   <!ATTLIST dataset name CDATA #REQUIRED>
   <!ATTLIST dataset version CDATA "3.5.3">
   <!ELEMENT header (notes?,attributes)>
   <!ELEMENT body (instances)>
   <!ELEMENT notes ANY>
   <!ELEMENT attributes (attribute+)>
   <!ELEMENT attribute (labels?,metadata?,attributes?)>
   <!ATTLIST attribute name CDATA #REQUIRED>
   <!ATTLIST attribute type (numeric|date|nominal|string|relational) #REQUIRED>
   <!ATTLIST attribute format CDATA #IMPLIED>
   <!ATTLIST attribute class (yes|no) "no">
   <!ELEMENT labels (label*)>
   <!ELEMENT label ANY>
   <!ATTLIST label xml:space (default|preserve) "default">
   <!ELEMENT metadata (property*)>
   <!ELEMENT property ANY>
   <!ATTLIST property name CDATA #REQUIRED>
   <!ELEMENT instances (instance*)>
   <!ELEMENT instance (value*)>
   <!ATTLIST instance type (normal|sparse) "normal">
   <!ATTLIST instance weight CDATA #IMPLIED>
   <!ELEMENT value (#PCDATA|instances)*>
   <!ATTLIST value index CDATA #IMPLIED>
   <!ATTLIST value missing (yes|no) "no">
   <!ATTLIST value xml:space (default|preserve) "default">
]
>
"""


class Xrff(FileFormat):
    """XRFF, the XML of Weka, which holds all that ARFF does and marks the class.

    Rows are sparse if the first one is. Blanks around a text do not belong to it, as in Weka, unless its element says
    xml:space="preserve". Entities are refused.
    """

    name = "xrff"
    title = "XRFF"
    endings = (".xrff",)
    textual = True
    rounds = True

    def open(self, opening: Opening) -> XrffTable:
        source = opening.text()
        try:
            return XrffTable(opening, source)
        except BaseException:
            source.close()
            raise

    def writer(self, schema: Schema, precision: int | None) -> Writer:
        return XrffWriter(schema, precision)


class XrffTable(Table):
    """An opened XRFF file. Raises RowError if the text is not XRFF."""

    omits_texts = True
    _source: Source

    def __init__(self, opening: Opening, source: Source) -> None:
        self._source = self._closes = source
        self._opening = opening
        self._document = document = XrffDocument(source, None if opening.encoding == "utf-8" else "utf-8")
        while not document.rows and document.read_and_parse(1 << 16):
            pass
        if document.attributes is None:
            raise RowError("this is not XRFF: it declares no attributes", source=source.name)
        super().__init__(document.relation, document.attributes)
        self.class_ = document.class_
        self.classless = document.class_ is None
        self.sparse = bool(document.is_sparse)
        self.live, self.size = source.live, source.size

    def parts(self) -> Iterator[ArffLines]:
        document, size = self._document, self._opening.block_size or _PART
        going = True
        while going:
            if document.rows and (document.size >= size or self._source.live):
                yield document.pop_rows()
            if self._source.must_wait():
                yield PAUSE
            going = document.read_and_parse(min(max(size, 64), 1 << 18))
        if document.rows:
            yield document.pop_rows()

    def parser(self, schema: Schema) -> ArffRowParser:
        return ArffRowParser(schema, self._opening.rejects)


class XrffDocument:
    """An XRFF document, read and parsed piece by piece.

    Parameters
    ----------
    source : the text.
    encoding : the encoding of the text; None for the one that the document declares.

    Attributes
    ----------
    relation : the name of the relation; "" before it has been read, and if the document has none.
    attributes : the declared attributes; None before the last declaration has been read.
    class_ : the name of the attribute that is marked as the class; None if none is.
    is_sparse : whether the first row is sparse; None before it has been read.
    rows : the parsed rows that `pop_rows` has not returned yet, as ARFF.
    size : the number of characters of `rows`, with line ends.
    """

    def __init__(self, source: Source, encoding: str | None) -> None:
        from xml.etree.ElementTree import TreeBuilder  # only this format needs it
        from xml.parsers import expat

        self.relation = ""
        self.attributes: tuple[Attribute, ...] | None = None
        self.class_: str | None = None
        self.is_sparse: bool | None = None
        self.rows: list[str] = []
        self.size = self._unfinished = self._n_read = 0
        self._path: list[str] = []  # the tags of the elements that have begun, from the root to that at work
        self._element: Element | None = None  # the row or declaration at work
        self._line = self._begin = 0  # the number of its first line, and of the bytes before it
        self._numbers: list[int] = []
        self._source, self._expat, self._builder = source, expat, TreeBuilder()
        self._parser = parser = expat.ParserCreate(encoding)
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start_element, self._end_element
        parser.CharacterDataHandler = self._builder.data
        parser.EntityDeclHandler = self._refuse_entity
        self._is_over = False
        self._declared: list[Attribute] = []

    def read_and_parse(self, n_bytes: int) -> bool:
        """Read and parse about `n_bytes` bytes of the document, or more in a long tag; return whether more may come.

        Parsed declarations and rows go to the attributes of this object. Raise RowError if the document is not
        well-formed XML or not XRFF, or if a tag or row is too long.
        """
        if self._is_over:
            return False
        # The parser reads an unfinished tag from its beginning with each piece, so pieces grow with it.
        text = self._source.read(max(n_bytes, min(self._unfinished, _LONGEST_TAG + 1 - self._unfinished)))
        self._is_over = not text
        self._n_read += len(text)
        try:
            self._parser.Parse(text, not text)
        except self._expat.ExpatError as error:
            about = self._expat.ErrorString(error.code)
            raise RowError(
                f"this is not well-formed XML ({about})", source=self._source.name, line=error.lineno
            ) from None
        self._unfinished = self._n_read - max(self._parser.CurrentByteIndex, 0)
        if self._unfinished > _LONGEST_TAG:
            raise self._make_error(f"a tag or comment is longer than {_LONGEST_TAG >> 20} MB; shorten it")
        if self._n_read - self._begin > _LONGEST:
            raise self._make_error(f"a row is longer than {_LONGEST >> 20} MB; shorten it")
        return bool(text)

    def pop_rows(self) -> ArffLines:
        """Remove the parsed rows, at least one, from `rows`; return them as lines of ARFF, with their line numbers."""
        part = ArffLines(
            ("\n".join(self.rows) + "\n").encode("utf-8", "surrogatepass"),
            np.array(self._numbers, np.int64),
            self._source.name,
        )
        self.rows, self._numbers, self.size = [], [], 0
        return part

    def _make_error(self, message: str, attribute: str | None = None) -> RowError:
        """Return, without raising it, an error in the line where the current row or declaration begins.

        Between rows and declarations, its line is where the parser is.
        """
        line = self._line or self._parser.CurrentLineNumber
        return RowError(message, source=self._source.name, line=line, attribute=attribute)

    def _refuse_entity(self, name: str, *_: Any) -> None:
        raise self._make_error(
            f"it declares the entity {quoted(name)}, and entities are refused; write its text instead"
        )

    def _start_element(self, tag: str, xml_attributes: dict[str, str]) -> None:
        if not self._path:
            if tag != "dataset":
                raise self._make_error(f"this is not XRFF: the root element must be dataset, not {quoted(tag)}")
            self.relation = xml_attributes.get("name", "")
        element = self._builder.start(tag, xml_attributes)
        self._path.append(tag)
        if self._path == _ROW[:2] and self.attributes is None:
            raise self._make_error("this is not XRFF: the rows come before the attributes")
        if self._path in (_ROW, _ATTRIBUTE):
            self._element, self._line = element, self._parser.CurrentLineNumber
            self._parser.StartElementHandler = self._builder.start  # until the element ends
        elif len(self._path) == 3:
            self._parent = element

    def _end_element(self, tag: str) -> None:
        element = self._builder.end(tag)
        if element is self._element:
            if tag == "attribute":
                self._declared.append(self._read_attribute(element))
                if element.get("class") == "yes":
                    self.class_ = element.get("name")
            else:
                assert self.attributes is not None
                self.rows.append(self._format_row_as_arff(element, self.attributes))
                self._numbers.append(self._line)
                self.size += len(self.rows[-1]) + 1
                if self.is_sparse is None:
                    self.is_sparse = element.get("type") == "sparse"
            self._parent.clear()
            self._element, self._line, self._begin = None, 0, self._parser.CurrentByteIndex
            self._parser.StartElementHandler = self._start_element
        elif self._element is not None:
            return
        elif self._path == _ATTRIBUTE[:3]:
            if not self._declared:
                raise self._make_error("it declares no attributes; declare at least one")
            self.attributes, self._declared = tuple(self._declared), []
        self._path.pop()

    def _read_attribute(self, element: Element, depth: int = 1) -> Attribute:
        name, kind = element.get("name"), element.get("type", "")
        if name is None:
            raise self._make_error('an attribute has no name; write <attribute name="…">')
        if kind not in _KINDS:
            raise self._make_error(f"the type must be one of {', '.join(_KINDS)}, not {quoted(kind)}", name)
        numbers: dict[str, float] = {}
        for each in element.iterfind("metadata/property"):
            word, text = each.get("name", ""), _read_text(each).strip()
            if word == "weight" or word.startswith(_SCORE):
                number = parse_number(text)
                if number is None or number != number:
                    raise self._make_error(
                        f"the property {quoted(word)} is {quoted(text)}, which is not a number; write a number", name
                    )
                numbers[word] = number
        inner: tuple[Attribute, ...] = ()
        for each in element.iterfind("attributes"):
            if depth > _DEEPEST:
                raise self._make_error(f"relational attributes are nested more than {_DEEPEST} deep")
            inner = tuple(self._read_attribute(a, depth + 1) for a in each.iterfind("attribute"))
        return Attribute(
            name,
            kind,
            tuple(map(_read_text, element.iterfind("labels/label"))) if kind == "nominal" else (),
            element.get("format") or _DATE if kind == "date" else "",
            inner if kind == "relational" else (),
            numbers.pop("weight", 1.0),
            tuple((word.removeprefix(_SCORE), number) for word, number in numbers.items()),
        )

    def _format_row_as_arff(self, element: Element, attributes: tuple[Attribute, ...]) -> str:
        is_sparse, width = element.get("type") == "sparse", len(attributes)
        texts: list[str | None] = []
        positions: list[int] = []
        for value in element.iterfind("value"):
            position = len(texts)
            if is_sparse:
                index = value.get("index", "").strip()
                if not (index.isascii() and index.isdigit() and len(index) < 10):
                    raise self._make_error(f"the index of a value must be a whole number from 1, not {quoted(index)}")
                position = int(index) - 1
                if not 0 <= position < width:
                    raise self._make_error(
                        f"index {position + 1} is out of range: the attributes are numbered from 1 to {width}"
                    )
                positions.append(position)
            elif position == width:
                raise self._make_error(f"a row has more values than the {width} attributes; remove the others")
            texts.append(self._format_value_as_arff(value, attributes[position]))
        return arff_row(texts, positions if is_sparse else None, element.get("weight"))

    def _format_value_as_arff(self, element: Element, attribute: Attribute) -> str | None:
        """Return the text of the value in an element, without quotes, or the rows of a bag as ARFF; None for missing.

        Raise RowError if the element contains rows, but the attribute is not relational.
        """
        rows = element.find("instances") if len(element) else None
        if rows is not None and attribute.kind != "relational":
            raise self._make_error(
                "the value contains rows, but the attribute is not relational; declare it so, or write one value",
                attribute.name,
            )
        if element.get("missing") == "yes":
            return None
        if attribute.kind == "relational":
            return "\n".join(
                self._format_row_as_arff(row, attribute.attributes) for row in element.iterfind("instances/instance")
            )
        return _read_text(element)


def _read_text(element: Element) -> str:
    """Return the text of an element without that of elements inside, stripped unless it says xml:space="preserve"."""
    text = element.text or ""
    if len(element):
        text = "".join([text, *(inner.tail or "" for inner in element)])
    return text if element.get("xml:space") == "preserve" else text.strip()


# Writing

# What XML cannot hold, and what has to be written otherwise.
_FORBIDDEN_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}
)
_BETWEEN, _MISSING = "\x01", "\x02"  # stand between numbers, and for missing ones, until they are replaced


def escape_xml(text: str) -> str:
    """Return a text with the special characters of XML escaped; raise FilterkitError if XML cannot hold it."""
    impossible = _FORBIDDEN_CHARACTER.search(text)
    if impossible is not None:
        raise FilterkitError(
            f"XRFF cannot hold the character U+{ord(impossible[0]):04X}, as in {quoted(text)}; write another format"
        )
    return text.translate(_ESCAPES)


def make_element(tag: str, text: str, xml_attributes: str = "") -> str:
    """Return an XML element with a text inside, which is escaped; `xml_attributes` are such as `` name="a"``.

    Raise FilterkitError if XML cannot hold the text.
    """
    space = "" if text == text.strip() else ' xml:space="preserve"'
    return f"<{tag}{xml_attributes}{space}>{escape_xml(text)}</{tag}>"


class XrffWriter(Writer):
    """Writes XRFF, a row on each line; raises FilterkitError if there are no attributes.

    `header` and `format_batch` raise FilterkitError for characters that XML cannot hold, and `format_batch` for dates
    that their format cannot hold.
    """

    def __init__(self, schema: Schema, precision: int | None) -> None:
        super().__init__(schema)
        if not schema.attributes:
            raise FilterkitError("XRFF cannot hold rows without attributes; keep at least one")
        self._precision = precision

    def header(self) -> bytes:
        schema = self.schema
        lines = [
            '<?xml version="1.0" encoding="utf-8"?>',
            _DECLARATIONS,
            f'<dataset name="{escape_xml(schema.relation)}" version="3.5.3">',
            "<header>",
            *_format_attribute_declarations(schema.attributes, schema.class_attribute),
            "</header>",
            "<body>",
            "<instances>",
        ]
        return ("\n".join(lines) + "\n").encode()

    def end(self, out: IO[bytes]) -> None:
        out.write(b"</instances>\n</body>\n</dataset>\n")

    def format_batch(self, batch: Batch) -> list[bytes | memoryview]:
        if self.schema.sparse:
            return [self._format_sparse_rows(batch.in_form(True))] if len(batch) else []
        return [self._format_dense_rows(part) for part in split_rows(batch, _CELLS)]

    def _format_dense_rows(self, batch: Batch) -> bytes:
        import pyarrow as pa

        from filterkit.plugin import join_rows, round_significant, row_texts, take_texts, to_columns

        pairs = zip(self.schema.attributes, to_columns(batch))
        line: list[Any] = [pa.array([make_row_start_tag(weight) for weight in batch.row_weights.tolist()], pa.string())]
        for is_numeric, group in groupby(pairs, lambda pair: pair[0].kind == "numeric"):
            if is_numeric:
                values = round_significant(np.column_stack([column for _, column in group]), self._precision)
                line += ["<value>", row_texts(values, _BETWEEN, _MISSING), "</value>"]
                continue
            for attribute, column in group:
                if attribute.kind == "nominal":
                    elements = [make_value_element(code, attribute) for code in (*range(len(attribute.values)), None)]
                    line.append(take_texts(elements, column))
                else:
                    line.append(pa.array([make_value_element(value, attribute) for value in column], pa.string()))
        text = bytes(join_rows(*line, "</instance>\n")).replace(_BETWEEN.encode(), b"</value><value>")
        return text.replace(f"<value>{_MISSING}</value>".encode(), b'<value missing="yes"/>')

    def _format_sparse_rows(self, batch: Batch) -> bytes:
        """Return the text of the rows of a sparse batch, without values that are zero or the first label."""
        from filterkit.plugin import round_significant, to_columns

        schema, csr, attributes, target = self.schema, batch.csr, self.schema.attributes, self.schema.class_index
        positions = schema.feature_indices[csr.indices].tolist()
        values = round_significant(csr.data, self._precision).tolist()
        elements = [make_value_element(v, attributes[i], f' index="{i + 1}"') for i, v in zip(positions, values)]
        apart = [*schema.passthrough_indices, *([] if target is None else [target])]
        columns = dict(zip(apart, to_columns(batch, apart)))
        if target is not None and attributes[target].kind == "numeric":
            columns[target] = round_significant(columns[target], self._precision)
        lines = []
        for row, weight in enumerate(batch.row_weights.tolist()):
            part = slice(*csr.indptr[row : row + 2])
            found = [*zip(positions[part], elements[part])]
            found += [
                (i, make_value_element(column[row], attributes[i], f' index="{i + 1}"'))
                for i, column in columns.items()
                if i != target or column[row] != 0
            ]
            lines += [make_row_start_tag(weight, True), *(element for _, element in sorted(found)), "</instance>\n"]
        return "".join(lines).encode()


def _format_attribute_declarations(attributes: Any, target: Attribute | None = None) -> Iterator[str]:
    """Yield the lines that declare attributes in XRFF; `target` is the class, which is marked, or None."""
    yield "<attributes>"
    for a in attributes:
        mark = ' class="yes"' if target is not None and a.name == target.name else ""
        form = f' format="{escape_xml(a.format)}"' if a.kind == "date" else ""
        numbers = [("weight", a.weight)] if a.weight != 1 else []
        numbers += [(_SCORE + metric, score) for metric, score in a.scores]
        inner = []
        if a.kind == "nominal":
            inner += ["<labels>", *(make_element("label", label) for label in a.values), "</labels>"]
        if numbers:
            inner.append("<metadata>")
            inner += [make_element("property", format_number(n), f' name="{escape_xml(name)}"') for name, n in numbers]
            inner.append("</metadata>")
        if a.kind == "relational":
            inner += _format_attribute_declarations(a.attributes)
        begin = f'<attribute name="{escape_xml(a.name)}" type="{a.kind}"{form}{mark}'
        if inner:
            yield from (f"{begin}>", *inner, "</attribute>")
        else:
            yield f"{begin}/>"
    yield "</attributes>"


def make_row_start_tag(weight: float, is_sparse: bool = False) -> str:
    """Return the XML tag with which a row of this weight begins; 1 is not written."""
    kind = ' type="sparse"' if is_sparse else ""
    return f"<instance{kind}>" if weight == 1 else f'<instance{kind} weight="{format_number(weight)}">'


_get_date_format = lru_cache(DateFormat)


def make_value_element(value: Any, attribute: Attribute, xml_attributes: str = "") -> str:
    """Return the XML element of a value of an attribute; None and NaN are missing.

    `value` is a float, the index of a label, the milliseconds of a date since 1970, a string, or the rows of a bag as
    ARFF. `xml_attributes` is the element's attributes, such as `` index="1"``. Raise FilterkitError if the format of a
    date loses a part of it, or if XML cannot hold a character.
    """
    if value is None or value != value:
        return f'<value{xml_attributes} missing="yes"/>'
    if attribute.kind == "numeric":
        return f"<value{xml_attributes}>{format_number(value)}</value>"
    if attribute.kind == "relational":
        return f"<value{xml_attributes}>{make_bag_element(value, attribute)}</value>"
    text = value
    if attribute.kind == "nominal":
        text = attribute.values[int(value)]
    elif attribute.kind == "date":
        form = _get_date_format(attribute.format)
        text = form.format(value)
        if form.parse(text) != value:
            raise FilterkitError(
                f"attribute {quoted(attribute.name)}: its date format {quoted(attribute.format)} would lose a part of "
                f"a date; give it one such as {_DATE}.SSS"
            )
    return make_element("value", text, xml_attributes)


def make_bag_element(text: str, attribute: Attribute) -> str:
    """Return the XML of a bag: `text` is the value of the relational `attribute`, rows of ARFF.

    Raise FilterkitError if a row cannot be read, or in the cases of `make_value_element`.
    """
    found = ["<instances>"]
    for row in parse_bag(text, attribute):
        found.append(make_row_start_tag(row.weight, row.sparse))
        for position, value in row.values.items():
            xml_attributes = f' index="{position + 1}"' if row.sparse else ""
            found.append(make_value_element(value, attribute.attributes[position], xml_attributes))
        found.append("</instance>")
    return "".join([*found, "</instances>"])


filterkit_formats = offer(Xrff)
