"""What several tests share: places of data, the Wekas to compare with, and a batch as plain values."""

import math
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from hypothesis import settings

from filterkit import batches
from filterkit.arff import exact, reader
from filterkit.data.batch import concatenate

ROOT = Path(__file__).resolve().parent.parent

# No test depends on how fast the machine is.
settings.register_profile("filterkit", deadline=None)
settings.load_profile("filterkit")


def pytest_collection_modifyitems(items):
    """Skip what needs POSIX on other systems."""
    if os.name == "posix":
        return
    for item in items:
        if item.get_closest_marker("posix"):
            item.add_marker(pytest.mark.skip(reason="needs a POSIX system"))


@pytest.fixture(scope="session")
def arff_samples():
    """The folder of small ARFF files that belongs to the project."""
    return ROOT / "arff_samples"


@pytest.fixture(scope="session")
def shared_data():
    """The folder of larger and odd data sets that lies beside the project."""
    return _existing(ROOT.parent / "shared" / "data")


@pytest.fixture(scope="session")
def weka39():
    """The Java class path of Weka 3.9."""
    script = _existing(ROOT.parent / "shared" / "peers" / "get-weka")
    _need_java()
    run = subprocess.run([script, "3.9"], capture_output=True, text=True, timeout=300)
    if run.returncode:
        pytest.skip(f"{script} 3.9 failed: {run.stderr.strip()[-200:]}")
    return run.stdout.strip()


@pytest.fixture(scope="session")
def weka36():
    """The Java class path of Weka 3.6, as Debian installs it."""
    _need_java()
    return str(_existing(Path("/usr/share/java/weka.jar")))


def _existing(path):
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path


def _need_java():
    if shutil.which("java") is None:
        pytest.skip("java is not installed")


@pytest.fixture(params=["exact", "fast"])
def way(request, monkeypatch):
    """Both ways to read rows: the exact path alone, and the fast path wherever it takes a block."""
    monkeypatch.setattr(reader, "SMALL", 1 << 62 if request.param == "exact" else 0)
    monkeypatch.setattr(reader, "ODD", 0)
    return request.param


def load(path, block_size=1 << 20, **options):
    """The file as one batch that was read in blocks of that size, by default with no class."""
    parts = list(batches(str(path), **({"class_": "none"} | options), block_size=block_size))
    if parts:
        return concatenate(parts, parts[0].schema)
    with reader.Reader(str(path), **({"class_": "none"} | options)) as source:
        return concatenate([], source.schema)


def content(batch):
    """A batch without class as plain values that can be compared, in the form of the odd files' JSON."""
    schema = batch.schema
    X = batch.X.toarray() if batch.sparse else batch.X
    columns = {}
    for column, position in enumerate(schema.feature_indices.tolist()):
        columns[position] = [_value(schema.attributes[position], value) for value in X[:, column].tolist()]
    for attribute, column in zip(
        schema.passthrough, [] if batch.passthrough is None else batch.passthrough.columns, strict=True
    ):
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
                "values": [_value(a, row.values.get(i, 0.0)) for i, a in enumerate(attribute.attributes)],
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


@pytest.fixture
def guard():
    """Ends a test that would take hours: what takes time that grows with the square of a text of some megabytes."""

    def end(*_):
        raise TimeoutError("this takes far too long")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
