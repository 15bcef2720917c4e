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

from filterkit import FilterkitError
from filterkit.evaluation.folds import Design
from filterkit.evaluation.journal import Journal
from filterkit.evaluation.measures import OF_CLASSES
from filterkit.evaluation.results import Results
from filterkit.evaluation.runner import Evaluator, parse_named_chain, run

HALF = (1 / 3, 2 / 3)


CHAINS = (parse_named_chain("neighbors"), parse_named_chain("zero: l2 neighbors"))


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

    def spy(evaluator, part):
        seen.append(part)
        return evaluate(evaluator, part)

    monkeypatch.setattr(Evaluator, "evaluate", spy)
    return seen


@pytest.fixture(scope="module")
def text_of_whole(tmp_path_factory):
    """The bytes of the journal of a whole evaluation of `data` by `design`."""
    path = tmp_path_factory.mktemp("journal") / "whole"
    go_on(path, data(), design())
    return path.read_bytes()


@pytest.fixture
def whole(text_of_whole, tmp_path):
    """The journal of a whole evaluation of `data` by `design`."""
    (tmp_path / "whole.journal").write_bytes(text_of_whole)
    return tmp_path / "whole.journal"


def test_an_interrupted_evaluation_is_resumed(tmp_path, ran):
    plan, path = design(shares=HALF, one_against_rest=True), tmp_path / "j"
    first = go_on(path, data(), plan, 4)
    assert len(first) == 4 * 2 * 2
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


@pytest.mark.parametrize("cut", [1, 40])
def test_a_part_whose_line_was_cut_off_is_evaluated_again(whole, cut, ran):
    text = whole.read_bytes()
    kept, last = text.splitlines(keepends=True)[:-1], json.loads(text.splitlines()[-1])
    whole.write_bytes(text[:-cut])
    assert len(go_on(whole, data(), design())) == 12
    assert ran == [tuple(last[0][key] for key in ("data", "task", "fold"))]
    assert whole.read_bytes().splitlines(keepends=True)[:-1] == kept
    whole.write_bytes(text[:50])  # of the first line
    assert len(go_on(whole, data(), design())) == 12
    assert whole.read_bytes().splitlines()[0] == text.splitlines()[0]


def test_lines_that_are_nested_too_deep_are_refused(whole):
    deep = b"[" * 100_000 + b"]" * 100_000 + b"\n"
    first = whole.read_bytes().splitlines(keepends=True)[0]
    for text, message in ((first + deep, r":2: damaged: '\[\["), (deep, ": this is not a journal of an evaluation$")):
        whole.write_bytes(text)
        with pytest.raises(FilterkitError, match=message):
            go_on(whole, data(), design())


@pytest.mark.posix
def test_a_journal_is_a_file(tmp_path):
    """/dev/full can be read without an end, and a pipe would be waited for."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/full", "/dev/null"):
        with pytest.raises(FilterkitError, match=r"this is not a regular file, as a journal must be$"):
            go_on(path, data(), design())


OTHERS = {
    "chains": design((CHAINS[0], ("zero", "l1 neighbors"))),
    "folds": design(folds=4),
    "shares": design(shares=HALF),
    "one against rest": design(one_against_rest=True),
    "one against rest, min positives": design(one_against_rest=True, min_positives=3),
    "seed": design(seed=1),
}


def test_another_evaluation_is_refused(whole):
    before = whole.read_bytes()
    for what, other in OTHERS.items():
        message = re.escape(
            f"{whole}: this is the journal of another evaluation (not the same {what}); name another file"
        )
        with pytest.raises(FilterkitError, match=message):
            Journal(str(whole), data(), other)
    assert whole.read_bytes() == before


def changed():
    """Copies of the data, each with one change."""
    (name, iris), sparse = data()
    X, y = iris.X.copy(), iris.y.copy()
    X[140, 2] += 1e-9
    y[3] = 2
    attributes = [iris.schema.attributes[0]._replace(name="other"), *iris.schema.attributes[1:]]
    return {
        "value": [(name, iris.replace(X=X)), sparse],
        "class": [(name, iris.replace(y=y)), sparse],
        "attribute": [(name, iris.replace(schema=iris.schema.replace(attributes=attributes))), sparse],
        "weight": [(name, iris.replace(weights=np.arange(150.0))), sparse],
        "fewer": [(name, iris)],
        "name": [("other", iris), sparse],
        "sparse value": [(name, iris), ("sparse", sparse[1].replace(X=sparse[1].X * 2))],
        "positive class": [(name, sample("iris", positive="setosa")), sparse],
    }


def test_other_data_is_refused(whole):
    for other in changed().values():
        with pytest.raises(FilterkitError, match=r"of another evaluation \(not the same data\)"):
            Journal(str(whole), other, design())


@pytest.mark.parametrize("text", [b"@relation r\n@data\n", b'{"a": 1}\n', b"\n", b"precious", b"\xff\xfe\0\n"])
def test_another_file_is_refused_and_left_alone(text, tmp_path):
    (tmp_path / "precious").write_bytes(text)
    with pytest.raises(FilterkitError, match=re.escape(f"{tmp_path / 'precious'}: ")):
        Journal(str(tmp_path / "precious"), data(), design())
    assert (tmp_path / "precious").read_bytes() == text


def test_a_damaged_line_is_named(whole):
    lines = whole.read_text().splitlines()
    for line in ('[{"data": "iris"}]', "[3]", "not json", '{"a": 1}', "null"):
        whole.write_text("\n".join([*lines[:2], line, *lines[3:], ""]))
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
        each["values"] = {name: each["values"][name] for name in OF_CLASSES[:12]}
        for name in ("split", "positive", "confusion", "train_positives", "columns", "nonzeros"):
            del each[name]
    (tmp_path / "j").write_text("".join(json.dumps(line) + "\n" for line in [head, *parts]))
    ran.clear()
    found = go_on(tmp_path / "j", rows, plan)
    assert (len(ran), len(found)) == (1, 6)
    again = Results(found)
    assert again.values("auc").shape == (1, 3, 2, 1) and np.isnan(again.values("kappa")[0, :2]).all()
    with pytest.raises(FilterkitError, match="not the same repeats"):
        go_on(tmp_path / "j", rows, design(repeats=2))


def test_a_journal_of_an_earlier_version_is_refused_where_weights_did_not_count(tmp_path):
    name, batch = data()[0]
    batch = batch.replace(weights=np.full(len(batch), 2.0))
    schema = batch.schema
    about = (schema.relation, schema.attributes, schema.targets, schema.positive, schema.zero)
    digest = hashlib.sha256(repr(about).encode())
    for part in (batch.X, batch.y, batch.weights):
        digest.update(part.tobytes())
    go_on(tmp_path / "j", [(name, batch)], design(), 0)
    head = json.loads((tmp_path / "j").read_text()) | {"data": {name: digest.hexdigest()[:16]}}
    (tmp_path / "j").write_text(json.dumps(head) + "\n")
    with pytest.raises(FilterkitError, match=r"another evaluation \(not the same data\); name another file"):
        go_on(tmp_path / "j", [(name, batch)], design())


def test_an_empty_file_becomes_a_journal(tmp_path):
    (tmp_path / "j").touch()
    assert len(go_on(tmp_path / "j", data(), design())) == 12
