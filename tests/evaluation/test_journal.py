"""The journal: an interrupted evaluation is resumed, and the journal of another evaluation is refused."""

import errno
import hashlib
import io
import json
import os
import re

import numpy as np
import pytest
from agreement import sample
from made_results import design, without_seconds

from filterkit import FilterkitError
from filterkit.evaluation.journal import Journal
from filterkit.evaluation.measure_names import OF_CLASSES
from filterkit.evaluation.results import Results
from filterkit.evaluation.runner import Evaluator, evaluate_task_folds

HALF = (1 / 3, 2 / 3)
CHAINS = ("neighbors", "zero: l2 neighbors")
DEEP = "[" * 100_000 + "]" * 100_000


def data():
    return [("iris", sample("iris")), ("sparse", sample("sparse-counts-multiclass"))]


def go_on(path, rows=None, plan=None, parts=None):
    """Open the journal and evaluate up to a number of parts that are not in it; returns its results.

    By default, all `data` is evaluated by both chains.
    """
    rows, plan = rows or data(), plan or design(*CHAINS)
    journal = Journal(str(path), rows, plan)
    for number, (_, results) in enumerate(
        evaluate_task_folds(Evaluator(rows, plan), done={row[:3] for row in journal.results})
    ):
        if number == parts:
            break
        journal.add_results(results)
        assert path.read_bytes().endswith(b"}]\n")  # at once
    journal.close()
    return journal.results


@pytest.fixture
def ran(spy):
    """The evaluators and parts that are evaluated."""
    return spy(Evaluator, "evaluate_task_fold")


@pytest.fixture(scope="module")
def text_of_whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("journal") / "whole"
    go_on(path)
    return path.read_bytes()


@pytest.fixture
def whole(text_of_whole, tmp_path):
    """The journal of a whole evaluation."""
    (tmp_path / "whole.journal").write_bytes(text_of_whole)
    return tmp_path / "whole.journal"


def test_an_interrupted_evaluation_is_resumed(tmp_path, ran):
    rows, path = data()[:1], tmp_path / "ünicode\u2028.journal"
    plan = design(*CHAINS, shares=HALF, one_against_rest=True)
    first = go_on(path, rows, plan, 4)
    assert len(first) == 4 * 2 * 2
    before = path.read_bytes()
    ran.clear()
    results = go_on(path, rows, plan)
    parts = Evaluator(rows, plan).task_folds
    assert sorted(part for _, part in ran) == sorted(set(parts) - {result[:3] for result in first})
    assert path.read_bytes().startswith(before)
    undisturbed = [result for _, part in evaluate_task_folds(Evaluator(rows, plan)) for result in part]
    assert repr(without_seconds(results)) == repr(without_seconds(undisturbed))
    ran.clear()
    assert repr(go_on(path, rows, plan)) == repr(results)
    assert not ran


@pytest.mark.parametrize("cut", [1, 40])
def test_a_part_whose_line_was_cut_off_is_evaluated_again(whole, cut, ran):
    text = whole.read_bytes()
    kept, last = text.splitlines(keepends=True)[:-1], json.loads(text.splitlines()[-1])
    whole.write_bytes(text[:-cut])
    assert len(go_on(whole)) == 12
    assert [part for _, part in ran] == [tuple(last[0][key] for key in ("data", "task", "fold"))]
    assert whole.read_bytes().splitlines(keepends=True)[:-1] == kept


@pytest.mark.parametrize("length", [0, 50])
def test_a_first_line_that_was_cut_off_is_written_again(whole, length):
    text = whole.read_bytes()
    whole.write_bytes(text[:length])
    assert len(go_on(whole)) == 12
    assert whole.read_bytes().splitlines()[0] == text.splitlines()[0]


# ---- refusals


@pytest.mark.parametrize(
    ("what", "other"),
    [
        ("chains", design(CHAINS[0], "zero: l1 neighbors")),
        ("folds", design(*CHAINS, folds=4)),
        ("shares", design(*CHAINS, shares=HALF)),
        ("one against rest, min positives", design(*CHAINS, one_against_rest=True, min_positives=3)),
        ("seed", design(*CHAINS, seed=1)),
    ],
)
def test_another_evaluation_is_refused(what, other, whole):
    before = whole.read_bytes()
    message = f"{whole}: this is the journal of another evaluation (not the same {what}); name another file"
    with pytest.raises(FilterkitError, match=re.escape(message)):
        go_on(whole, data(), other)
    assert whole.read_bytes() == before


def changed():
    """Copies of the data, each with one change."""
    (name, iris), sparse = data()
    X, y = iris.X.copy(), iris.y.copy()
    X[140, 2] += 1e-9
    y[3] = 2
    attributes = [iris.schema.attributes[0]._replace(name="other"), *iris.schema.attributes[1:]]
    for other in (
        iris.replace(X=X),
        iris.replace(y=y),
        iris.replace(schema=iris.schema.replace(attributes=attributes)),
        iris.replace(weights=np.arange(150.0)),
        sample("iris", positive="setosa"),
    ):
        yield [(name, other), sparse]
    yield [(name, iris)]
    yield [("other", iris), sparse]
    yield [(name, iris), ("sparse", sparse[1].replace(X=sparse[1].X * 2))]


@pytest.mark.parametrize("other", list(changed()))
def test_other_data_is_refused(other, whole):
    with pytest.raises(FilterkitError, match=r"of another evaluation \(not the same data\)"):
        go_on(whole, other)


@pytest.mark.parametrize(
    "text", [b"@relation r\n@data\n", b'{"a": 1}\n', b"\n", b"precious", b"\xff\xfe\0\n", DEEP.encode() + b"\n"]
)
def test_another_file_is_refused_and_left_alone(text, tmp_path):
    (tmp_path / "precious").write_bytes(text)
    with pytest.raises(FilterkitError, match=re.escape(f"{tmp_path / 'precious'}: ")):
        go_on(tmp_path / "precious")
    assert (tmp_path / "precious").read_bytes() == text


@pytest.mark.parametrize("line", ['[{"data": "iris"}]', "[3]", "not json", '{"a": 1}', "null", DEEP])
def test_a_damaged_line_is_named(line, whole):
    lines = whole.read_text().splitlines()
    whole.write_text("\n".join([*lines[:2], line, *lines[3:], ""]))
    with pytest.raises(FilterkitError, match=re.escape(f"{whole}:3: this line is damaged: '{line[:30]}")):
        go_on(whole)


def test_a_fold_that_is_there_twice_is_named(whole):
    """As after two evaluations that wrote to one journal at once."""
    lines = whole.read_text().splitlines()
    whole.write_text("\n".join([*lines, lines[2], ""]))
    message = f"{whole}:{len(lines) + 1}: line 3 has results of this fold already; remove one"
    with pytest.raises(FilterkitError, match=f"^{re.escape(message)}$"):
        go_on(whole)


@pytest.mark.posix
def test_a_journal_is_a_file(tmp_path):
    """/dev/full can be read without an end, and a pipe would be waited for."""
    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path / "pipe"), "/dev/full"):
        with pytest.raises(FilterkitError, match=rf"^{path}: this is not a regular file, as a journal must be"):
            go_on(path)
    with pytest.raises(FilterkitError, match=f"^{re.escape(str(tmp_path))}: Is a directory"):
        go_on(tmp_path)


class Full(io.StringIO):
    def write(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    journal = Journal(str(tmp_path / "j"), data(), design())
    journal.close()
    monkeypatch.setattr(journal, "_file", Full())
    with pytest.raises(FilterkitError, match="j: No space left on device"):
        journal.add_results([])


# ---- earlier versions


def test_a_journal_of_an_earlier_version_is_continued(tmp_path, ran):
    """It has fewer measures, and does not say on which rows a chain was measured, nor how often they were dealt."""
    rows, path = data()[:1], tmp_path / "j"
    go_on(path, rows, parts=2)
    head, *parts = map(json.loads, path.read_text().splitlines())
    for name in ("repeats", "group"):
        del head[name]
    for each in [each for part in parts for each in part]:
        each["values"] = {name: each["values"][name] for name in OF_CLASSES[:12]}
        for name in ("split", "positive", "confusion", "train_positives", "columns", "nonzeros"):
            del each[name]
    path.write_text("".join(json.dumps(line) + "\n" for line in [head, *parts]))
    ran.clear()
    found = go_on(path, rows)
    assert (len(ran), len(found)) == (1, 6)
    again = Results(found)
    assert (
        again.get_values_of_measure("auc").shape == (1, 3, 2, 1)
        and np.isnan(again.get_values_of_measure("kappa")[0, :2]).all()
    )
    with pytest.raises(FilterkitError, match="not the same repeats"):
        go_on(path, rows, design(*CHAINS, repeats=2))


def test_a_journal_of_an_earlier_version_is_refused_where_weights_did_not_count(tmp_path):
    name, batch = data()[0]
    batch = batch.replace(weights=np.full(len(batch), 2.0))
    schema = batch.schema
    about = (schema.relation, schema.attributes, schema.targets, schema.positive, schema.zero)
    digest = hashlib.sha256(repr(about).encode())
    for part in (batch.X, batch.y, batch.weights):
        digest.update(part.tobytes())
    go_on(tmp_path / "j", [(name, batch)], parts=0)
    head = json.loads((tmp_path / "j").read_text()) | {"data": {name: digest.hexdigest()[:16]}}
    (tmp_path / "j").write_text(json.dumps(head) + "\n")
    with pytest.raises(FilterkitError, match=r"another evaluation \(not the same data\); name another file"):
        go_on(tmp_path / "j", [(name, batch)])
