"""The machines of trials/: each finds nothing in a short run, and finds a defect that is put in on purpose."""

import tempfile
import threading
from pathlib import Path

import pytest

from trials import against_weka, fuzz, round_trips, soak, targets
from trials.generate import common_files, files
from trials.limits import SIZES

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.separate


def test_made_files_are_read_as_weka_reads_them(weka39, weka36):
    assert against_weka.search(lambda data: against_weka.against_weka(data, weka39), files(), 1, 20)[1] is None
    assert against_weka.search(lambda data: against_weka.written(data, weka39, weka36), files(), 2, 10)[1] is None


def test_made_files_are_read_in_the_same_way_by_both_paths_and_by_liac_arff():
    assert against_weka.search(against_weka.against_itself, files(), 1, 40)[1] is None
    assert against_weka.search(against_weka.against_liac, common_files(), 1, 40)[1] is None


@pytest.fixture
def quoted_rows_lose_their_last_value(monkeypatch):
    """A fast path that takes the last value of a dense row with quotes as missing."""
    from filterkit.arff import fast

    parse = fast.parse_block

    def parse_wrongly(text, layout):
        found = parse(text, layout)
        batch = None if found is None else found.batch
        if batch is None or batch.sparse or b"'" not in text or not len(batch) or not batch.X.shape[1]:
            return found
        X = batch.X.copy()
        X[-1, -1] = float("nan")
        return found._replace(batch=batch.replace(X=X))

    monkeypatch.setattr(fast, "parse_block", parse_wrongly)


def test_a_wrong_fast_path_is_found_and_the_file_made_small(quoted_rows_lose_their_last_value):
    _, data = against_weka.search(against_weka.against_itself, common_files(), 1, 50)
    assert data is not None
    assert against_weka.against_itself(data).startswith("the fast path: {")
    assert len(data) < 160  # hypothesis makes other files of it where other modules are imported
    tried, data, said = fuzz.blind("rows", 60, 1, 100)
    assert tried <= 100
    assert said.startswith("Finding: the fast path")
    assert len(data) < 40


def test_a_reader_that_differs_from_weka_is_found(weka39, monkeypatch):
    outcome = against_weka.outcome

    def without_weights(path, *arguments, **options):
        found = outcome(path, *arguments, **options)
        return found if isinstance(found, str) else found | {"rows": [r | {"weight": 1.0} for r in found["rows"]]}

    monkeypatch.setattr(against_weka, "outcome", without_weights)
    _, data = against_weka.search(lambda data: against_weka.against_weka(data, weka39), files(), 1, 300)
    assert data is not None
    assert b"{" in data


@pytest.mark.parametrize("target", targets.TARGETS)
def test_changed_bytes_lead_to_no_finding(target):
    assert fuzz.blind(target, 60, 1, 20)[1:] == (None, "")


def test_what_was_found_is_kept(tmp_path):
    """The archive is the same for the same files."""
    (tmp_path / "found").mkdir()
    for name, data in (("b", b"2\n"), ("a", b""), ("c", bytes(5000))):
        (tmp_path / "found" / name).write_bytes(data)
    assert fuzz.pack(tmp_path / "found", tmp_path / "kept.tar.xz") == 3
    fuzz.unpack(tmp_path / "kept.tar.xz", tmp_path / "again")
    assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == {
        "a": b"",
        "b": b"2\n",
        "c": bytes(5000),
    }
    fuzz.pack(tmp_path / "again", tmp_path / "twice.tar.xz")
    assert (tmp_path / "twice.tar.xz").read_bytes() == (tmp_path / "kept.tar.xz").read_bytes()
    fuzz.unpack(tmp_path / "none.tar.xz", tmp_path / "empty")
    assert [*(tmp_path / "empty").iterdir()] == []


@pytest.mark.parametrize("target", ["header", "rows", "saved"])
def test_kept_files_are_sound(target, tmp_path):
    """Every twentieth of those that reached new code."""
    fuzz.unpack(targets.CORPUS / f"{target}.tar.xz", tmp_path / "kept")
    files = sorted((tmp_path / "kept").iterdir())[::20]
    assert len(files) > 20
    assert [path.name for path in files if fuzz.failure(targets.TARGETS[target], path.read_bytes())] == []


def test_an_exception_that_is_no_error_of_filterkit_is_found(monkeypatch):
    def parse(*arguments):
        raise IndexError("a mistake")

    monkeypatch.setattr("filterkit_plugins.expressions.stages.parse_expression", parse)
    tried, data, said = fuzz.blind("expression", 60, 1, 10)
    assert (tried, data, said.partition("\n")[0]) == (1, b"", "IndexError: a mistake")


SMALL = [soak.SAMPLES / f"{name}.arff" for name in ("iris", "mixed-sparse")]
CHAINS = ["shape", "bns", "l2", "impute", "standardize", "head 25", "shuffle", "id", "words --hash 9"]


@pytest.fixture
def patient(monkeypatch):
    """Runs chains again that took long, as they do on a busy machine."""
    monkeypatch.setattr(soak, "_LONG", 1e9)


@pytest.mark.posix
@pytest.mark.usefixtures("patient")
def test_chains_write_the_same_whatever_the_settings():
    counts, wrong = soak.soak(1e9, 3, CHAINS, 2, SMALL)
    assert wrong == []
    assert counts["chains"] == 2
    assert counts["exit 0"] >= 1


@pytest.mark.posix
@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("defect", ["blocks", "file", "thread", "folder"])
def test_what_depends_on_blocks_or_stays_behind_is_found(defect, monkeypatch):
    from filterkit_plugins.row_norms import RowNormalizer

    transform, kept = RowNormalizer.transform, []
    end = threading.Event()

    def wrongly(self, batch):
        out = transform(self, batch)
        if defect == "blocks":
            return out.replace(X=out.X * len(batch)) if not out.sparse else out
        if defect == "file":
            kept.append(open(__file__))
        elif defect == "thread":
            threading.Thread(target=end.wait, name="left", daemon=True).start()
        else:
            kept.append(tempfile.mkdtemp())
        return out

    monkeypatch.setattr(RowNormalizer, "transform", wrongly)
    _, wrong = soak.soak(1e9, 1, ["l2"], 1, SMALL[:1])
    end.set()
    for each in kept:
        if defect == "file":
            each.close()
    wanted = {"blocks": "wrote: ", "file": "files left: ", "thread": "threads left: left", "folder": "temporary left: "}
    assert wrong
    assert any(wanted[defect] in line for line in wrong)


@pytest.mark.posix
@pytest.mark.usefixtures("patient")
def test_memory_that_grows_from_chain_to_chain_is_found(monkeypatch):
    kept, usual = [], soak.run

    def leaking(*arguments):
        kept.append(bytearray(b"x") * (24 << 20))
        return usual(*arguments)

    monkeypatch.setattr(soak, "run", leaking)
    _, wrong = soak.soak(1e9, 1, ["binary"], tries=4, files=[ROOT / "arff_samples" / "iris.arff"])
    assert [line.partition(" by ")[0] for line in wrong] == ["memory grew"]


def test_what_limits_are_measured_of_works():
    for thing in SIZES:
        thing(3)


def test_made_tables_change_only_with_a_word():
    record = round_trips.round_trips(4, 31)
    assert record.wrong == {}
    assert {form for form, what, _ in record.counts if what == "tables"} == set(round_trips.FORMATS)


@pytest.mark.parametrize("defect", ["value", "weights of rows"])
def test_a_change_without_a_word_is_found(defect, monkeypatch):
    """Numbers that lose their last digits, and a warning that is not given."""
    if defect == "value":
        from filterkit_plugins.delimited.writing import DelimitedWriter

        numbers = DelimitedWriter._format_number_rows
        monkeypatch.setattr(DelimitedWriter, "_format_number_rows", lambda self, X: numbers(self, X.round(3)))
    else:
        monkeypatch.setattr("filterkit.formats.losses.write_message", lambda text: None)
    wrong = round_trips.round_trips(8, 1).wrong
    assert any(line.startswith(f"csv: {defect}, table ") for line in wrong.values())
