"""The journal: an interrupted evaluation is resumed, and the journal of another evaluation is refused."""

import errno
import hashlib
import io
import json
import os
import re

import numpy as np
import pytest
from agreement import make, sample

from filterkit import Attribute, Batch, FilterkitError, Schema
from filterkit.evaluation.folds import Design
from filterkit.evaluation.journal import Journal
from filterkit.evaluation.measures import EARLY_MEASURES
from filterkit.evaluation.results import Results
from filterkit.evaluation.runner import Evaluator, named_chain, run

HALF = (1 / 3, 2 / 3)


CHAINS = (named_chain("neighbors"), named_chain("zero: l2 neighbors"))


def design(chains=CHAINS, folds=3, **others):
    return Design(chains, folds, **others)


def data():
    return [("iris", sample("iris")), ("sparse", sample("sparse-counts-multiclass"))]


def go_on(path, rows, plan, parts=None):
    """Open the journal and evaluate up to a number of parts that are not in it; returns its results."""
    journal = Journal(str(path), rows, plan)
    try:
        for number, (_, results) in enumerate(run(Evaluator(rows, plan), done=journal.done)):
            if number == parts:
                break
            journal.add(results)
    finally:
        journal.close()
    return journal.results


def comparable(results):
    return [(*result[:7], repr(result.values)) for result in results]


@pytest.fixture
def ran(monkeypatch):
    """A list of the parts that are evaluated."""
    seen, evaluate = [], Evaluator.evaluate

    def spy(evaluator, *part):
        seen.append(part)
        return evaluate(evaluator, *part)

    monkeypatch.setattr(Evaluator, "evaluate", spy)
    return seen


@pytest.fixture
def whole(tmp_path):
    """The journal of a whole evaluation of `data` by `design`."""
    path = tmp_path / "whole.journal"
    go_on(path, data(), design())
    return path


@pytest.mark.parametrize("shares", [(), HALF])
def test_an_interrupted_evaluation_is_resumed(shares, tmp_path, ran):
    plan, path = design(shares=shares, one_against_rest=True), tmp_path / "j"
    first = go_on(path, data(), plan, 4)
    assert len(first) == 4 * 2 * (len(shares) or 1)
    before = path.read_bytes()
    done = [*dict.fromkeys(result[:3] for result in first)]
    ran.clear()
    results = go_on(path, data(), plan)
    parts = Evaluator(data(), plan).parts
    assert sorted(ran) == sorted(set(parts) - set(done)) and len(ran) == len(parts) - 4
    assert path.read_bytes().startswith(before)
    undisturbed = [result for _, part in run(Evaluator(data(), plan)) for result in part]
    assert comparable(results) == comparable(undisturbed)
    ran.clear()
    assert list(map(repr, go_on(path, data(), plan))) == list(map(repr, results))  # as NaN is not equal to NaN
    assert not ran


def test_a_part_is_written_as_soon_as_it_is_done(tmp_path):
    rows, plan = [data()[0]], design()
    journal = Journal(str(tmp_path / "j"), rows, plan)
    for number, (_, results) in enumerate(run(Evaluator(rows, plan))):
        assert (tmp_path / "j").read_bytes().count(b"\n") == number + 1
        journal.add(results)
        assert (tmp_path / "j").read_bytes().endswith(b"}]\n")
    journal.close()


def test_results_are_read_back_exactly(tmp_path):
    plan = design(folds=2)
    rows = [("tiny", make(np.arange(9)[:, None], [0] * 7 + [1, 1], "ab"))]
    name = tmp_path / "ünicode\u2028.journal"
    first = go_on(name, rows, plan)
    again = Journal(str(name), rows, plan)
    again.close()
    assert repr(again.results) == repr(first)
    assert again.done == {("tiny", "class", 0), ("tiny", "class", 1)}


@pytest.mark.parametrize("cut", [1, 2, 40, -1], ids=["newline", "a byte", "much", "all but a byte"])
def test_a_part_whose_line_was_cut_off_is_evaluated_again(whole, cut, ran):
    lines = whole.read_bytes().splitlines(keepends=True)
    kept = b"".join(lines[:-1])
    whole.write_bytes(kept + lines[-1][: -cut if cut > 0 else 1])
    expected = [json.loads(line) for line in lines[1:]]
    results = go_on(whole, data(), design())
    assert ran == [tuple(expected[-1][0][key] for key in ("data", "task", "fold"))]
    assert len(results) == 12
    assert whole.read_bytes().startswith(kept)
    assert [json.loads(line)[0]["fold"] for line in whole.read_bytes().splitlines()[1:]] == [0, 1, 2, 0, 1, 2]


def test_a_first_line_that_was_cut_off_is_written_again(whole, ran):
    text = whole.read_bytes()
    whole.write_bytes(text[:50])
    assert len(go_on(whole, data(), design())) == 12
    assert len(ran) == 6 and whole.read_bytes().splitlines()[0] == text.splitlines()[0]


def test_lines_that_are_nested_too_deep_are_refused(whole):
    deep = b"[" * 100_000 + b"]" * 100_000 + b"\n"
    first = whole.read_bytes().splitlines(keepends=True)[0]
    for text, message in ((first + deep, r":2: damaged: '\[\["), (deep, ": this is no journal of an evaluation$")):
        whole.write_bytes(text)
        with pytest.raises(FilterkitError, match=message):
            go_on(whole, data(), design())


@pytest.mark.posix
def test_a_journal_is_a_file(tmp_path):
    """/dev/full can be read without an end, and a pipe would be waited for."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/full", "/dev/null"):
        with pytest.raises(FilterkitError, match=r"this is no file, and a journal must be one$"):
            go_on(path, data(), design())


def test_an_empty_file_becomes_a_journal(tmp_path):
    (tmp_path / "j").touch()
    assert len(go_on(tmp_path / "j", data(), design())) == 12


OTHERS = {
    "chains": design((CHAINS[0], ("zero", "l1 neighbors"))),
    "folds": design(folds=4),
    "shares": design(shares=HALF),
    "one against rest": design(one_against_rest=True),
    "one against rest, min positives": design(one_against_rest=True, min_positives=3),
    "seed": design(seed=1),
}


@pytest.mark.parametrize("what", OTHERS)
def test_another_evaluation_is_refused(what, whole):
    before = whole.read_bytes()
    message = re.escape(f"{whole}: this is of another evaluation (not the same {what}); name another file")
    with pytest.raises(FilterkitError, match=message):
        Journal(str(whole), data(), OTHERS[what])
    assert whole.read_bytes() == before


def changed():
    """Copies of the data, each with one change."""
    (name, iris), sparse = data()
    X, y = iris.X.copy(), iris.y.copy()
    X[140, 2] += 1e-9
    y[3] = 2
    attributes = list(iris.schema.attributes)
    attributes[0] = attributes[0]._replace(name="other")
    weights = np.ones(150)
    weights[0] = 2
    return {
        "value": [(name, iris.replace(X=X)), sparse],
        "class": [(name, iris.replace(y=y)), sparse],
        "attribute": [(name, iris.replace(schema=iris.schema.replace(attributes=attributes))), sparse],
        "weight": [(name, iris.replace(weights=weights)), sparse],
        "rows": [(name, iris.rows(0, 149)), sparse],
        "fewer": [(name, iris)],
        "more": [(name, iris), sparse, ("third", iris)],
        "name": [("other", iris), sparse],
        "sparse value": [(name, iris), ("sparse", sparse[1].replace(X=sparse[1].X * 2))],
    }


@pytest.mark.parametrize("what", changed())
def test_other_data_is_refused(what, whole):
    with pytest.raises(FilterkitError, match=r"of another evaluation \(not the same data\)"):
        Journal(str(whole), changed()[what], design())


@pytest.mark.parametrize("before", [None, "setosa"])
def test_another_positive_class_is_refused(before, tmp_path):
    go_on(tmp_path / "j", [("iris", sample("iris", positive=before))], design())
    with pytest.raises(FilterkitError, match=r"of another evaluation \(not the same data\)"):
        Journal(str(tmp_path / "j"), [("iris", sample("iris", positive="virginica"))], design())


@pytest.mark.parametrize("text", ["@relation r\n@data\n", "{}\n", "[]\n", '{"format": "other"}\n', "\n", "1\n2\n3"])
def test_another_file_is_refused_and_left_alone(text, tmp_path):
    path = tmp_path / "data.arff"
    path.write_text(text)
    with pytest.raises(FilterkitError, match=re.escape(f"{path}: this is no journal of an evaluation")):
        Journal(str(path), data(), design())
    assert path.read_text() == text


def test_a_file_of_one_line_without_an_end_is_left_alone(tmp_path):
    path = tmp_path / "precious"
    path.write_text("precious")
    with pytest.raises(FilterkitError, match="no journal"):
        Journal(str(path), data(), design())
    assert path.read_text() == "precious"


def test_a_binary_file_is_refused(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(b"\xff\xfe\x00\n")
    with pytest.raises(FilterkitError, match=re.escape(f"{path}: ")):
        Journal(str(path), data(), design())
    assert path.read_bytes() == b"\xff\xfe\x00\n"


@pytest.mark.parametrize("line", ['[{"data": "iris"}]', "[3]", "not json", '{"a": 1}', "null"])
def test_a_damaged_line_is_named(line, whole):
    lines = whole.read_text().splitlines()
    lines[2] = line
    whole.write_text("\n".join([*lines, ""]))
    with pytest.raises(FilterkitError, match=re.escape(f"{whole}:3: damaged: ") + re.escape(f"'{line}")):
        Journal(str(whole), data(), design())


@pytest.mark.posix
def test_a_place_that_cannot_be_written_is_named(tmp_path):
    for path, problem in [(tmp_path, "Is a directory"), (tmp_path / "no" / "j", "No such file or directory")]:
        with pytest.raises(FilterkitError, match=f"^{re.escape(str(path))}: {problem}"):
            Journal(str(path), data(), design())


class Full(io.StringIO):
    def write(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    journal = Journal(str(tmp_path / "j"), data(), design())
    journal.close()
    monkeypatch.setattr(journal, "_file", Full())
    with pytest.raises(FilterkitError, match="j: No space left on device"):
        journal.add([])


def test_a_journal_of_an_earlier_version_is_continued(tmp_path, ran):
    """It has fewer measures, and does not say on which rows a chain was measured, nor how often they were dealt."""
    rows, plan = [data()[0]], design()
    go_on(tmp_path / "j", rows, plan, 2)
    head, *parts = map(json.loads, (tmp_path / "j").read_text().splitlines())
    for name in ("repeats", "group"):
        del head[name]
    for each in [each for part in parts for each in part]:
        each["values"] = {name: each["values"][name] for name in EARLY_MEASURES}
        for name in ("split", "positive", "confusion", "positives", "columns", "nonzeros"):
            del each[name]
    (tmp_path / "j").write_text("".join(json.dumps(line) + "\n" for line in [head, *parts]))
    ran.clear()
    found = go_on(tmp_path / "j", rows, plan)
    assert (len(ran), len(found)) == (1, 6)
    again = Results(found)
    assert again.values("auc").shape == (1, 3, 2, 1) and np.isnan(again.values("kappa")[0, :2]).all()
    with pytest.raises(FilterkitError, match="not the same repeats"):
        go_on(tmp_path / "j", rows, design(repeats=2))


@pytest.mark.parametrize("kind", ["labels", "weights"])
def test_a_journal_of_an_earlier_version_is_refused_where_rows_were_dealt_or_counted_otherwise(tmp_path, kind):
    """Labels were not spread over folds, and the measures did not count weights."""
    name, batch = data()[0]
    if kind == "weights":
        batch = batch.replace(weights=np.full(len(batch), 2.0))
    else:
        target = Attribute("l", "nominal", ("0", "1"))
        features = [*batch.schema.features, target]
        y = (np.arange(len(batch)) % 2).astype(np.int8)[:, None]
        batch = Batch(Schema("r", features, labels=(len(features) - 1,)), batch.X, y)
    schema = batch.schema
    about = (schema.relation, schema.attributes, schema.targets, schema.positive, schema.zero)
    digest = hashlib.sha256(repr(about).encode())
    for part in (batch.X, batch.y, batch.weights):
        digest.update(b"-" if part is None else part.tobytes())
    go_on(tmp_path / "j", [(name, batch)], design(), 0)
    head = json.loads((tmp_path / "j").read_text())
    head["data"] = {name: digest.hexdigest()[:16]}
    (tmp_path / "j").write_text(json.dumps(head) + "\n")
    with pytest.raises(FilterkitError, match=r"another evaluation \(not the same data\); name another file"):
        go_on(tmp_path / "j", [(name, batch)], design())
