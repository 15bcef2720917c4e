"""Files written and read for tests, and their content as plain values."""

import http.server
import math
import threading
import warnings
from contextlib import contextmanager
from functools import partial

from filterkit import FilterkitError
from filterkit.arff import exact
from filterkit.arff.form import Arff
from filterkit.data.batch import concatenate, itself
from filterkit.formats.base import Opening
from filterkit.formats.reader import Reader


def open_reader(form, path, rejects=None, part_size=None, complete=False, unseen="error", **options):
    """A reader; the options are fields of an `Opening`, but `unseen` is that of ``--unseen``."""
    opening = Opening(str(path), unseen=unseen == "missing", extend=unseen == "extend", **options)
    return Reader(form, opening, rejects, part_size, complete)


def load(path, block_size=1 << 20, **options):
    """The file as one batch that was read in blocks of that size, by default with no class."""
    with open_reader(Arff(), path, block_size=block_size, **({"class_": "none"} | options)) as reader:
        return concatenate(list(reader.batches()), reader.schema)


def outcome(pattern, engine, form=None, **options):
    """What an engine reads of an input, by default of ARFF, as text, or its error; and the warnings."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with open_reader(form or Arff(), pattern, **options) as reader:
                rows = concatenate(list(reader.map(itself, engine)), reader.schema)
            texts = rows.passthrough and rows.passthrough.to_pydict()
            found = repr((rows.sparse, rows.in_form(False).X.tolist(), texts, rows.y is None or rows.y.tolist()))
        except FilterkitError as error:
            found = str(error)
    return found, [str(each.message) for each in warned]


def content(batch):
    """A batch without class as plain values that can be compared, in the form of the odd files' JSON."""
    schema = batch.schema
    X = batch.X.toarray() if batch.sparse else batch.X
    columns = {}
    for column, position in enumerate(schema.feature_indices.tolist()):
        columns[position] = [_value(schema.attributes[position], value) for value in X[:, column].tolist()]
    passing = [] if batch.passthrough is None else batch.passthrough.columns
    for attribute, column in zip(schema.passthrough, passing, strict=True):
        texts = column.cast("int64").to_pylist() if attribute.kind == "date" else column.to_pylist()
        columns[schema.attributes.index(attribute)] = [_value(attribute, text) for text in texts]
    weights = [1.0] * len(batch) if batch.weights is None else batch.weights.tolist()
    rows = [
        {"weight": weight, "values": [columns[i][row] for i in range(len(schema.attributes))]}
        for row, weight in enumerate(weights)
    ]
    return {"relation": schema.relation, "attributes": declarations(schema.attributes), "rows": rows}


def declarations(attributes):
    """Attributes as plain values."""
    return [
        {"name": a.name, "type": a.kind, "weight": a.weight}
        | ({"values": list(a.values)} if a.kind == "nominal" else {})
        | ({"format": a.format} if a.kind == "date" else {})
        | ({"attributes": declarations(a.attributes)} if a.kind == "relational" else {})
        for a in attributes
    ]


def _value(attribute, value):
    if value is None or value != value:
        return None
    if attribute.kind == "nominal":
        return attribute.values[int(value)]
    if attribute.kind == "relational":
        return [
            {
                "weight": row.weight,
                "values": [
                    _value(a, row.values.get(i, "" if a.kind == "relational" else 0.0))
                    for i, a in enumerate(attribute.attributes)
                ],
            }
            for row in exact.parse_bag(value, attribute)
        ]
    if attribute.kind == "string":
        return value
    return float(value) if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def write_text(folder, text, name="t.arff"):
    """A file of that text or bytes in `folder`; returns its path."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def arff_of_numbers(rows):
    """The text of an ARFF file with two numeric attributes, of which one is missing here and there, and a class."""
    lines = "".join(f"{i if i % 7 else '?'},{i * i % 13},{'pq?'[i % 3]}\n" for i in range(rows))
    return "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c {p,q}\n@data\n" + lines


@contextmanager
def served(folder, answer=None):
    """The URL of a web server of a folder, whose pages for folders list their files; or one with one answer to all."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def send_head(self):
            return super().send_head() if answer is None else self.send_error(answer)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
