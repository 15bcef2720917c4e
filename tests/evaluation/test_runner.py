"""Evaluation: designs, tasks, folds, learning curves and results, also in several processes."""

import pickle
import re

import cases
import numpy as np
import pytest
from agreement import dense, feature_names, make, sample
from estimators import weighted
from hypothesis import given
from hypothesis import strategies as st
from made_results import design, evaluated, labelled, without_seconds
from sklearn.metrics import roc_auc_score

import filterkit
from filterkit import Attribute, Chain, FilterkitError, UsageError
from filterkit.chains.crossfit import draw_folds
from filterkit.engines.processes import ProcessEngine
from filterkit.evaluation import runner as evaluation
from filterkit.evaluation.folds import DrawnFolds
from filterkit.evaluation.runner import Evaluator, evaluate_task_folds, parse_named_chain
from filterkit.stages.learner import FittedLearner


def three(counts=(12, 9, 6), classes=("a", "b", "c"), **options):
    """Rows of several classes, the first column the number of the row."""
    y = np.repeat(np.arange(len(counts)), counts)
    y = np.random.default_rng(1).permutation(y)
    return make(np.column_stack([np.arange(len(y)), y + np.arange(len(y)) % 3]), y, classes, **options)


def numbers(rows=30):
    """Rows whose class is three times their first column, and 7 in each tenth row."""
    X = np.random.default_rng(1).normal(size=(rows, 2))
    y = np.where(np.arange(rows) % 10, 3 * X[:, 0], 7.0)
    return make(X, y, None)


@pytest.fixture
def fits(spy):
    """The arguments with which the chains of every part are tried: chains, training rows, and others."""
    return spy(evaluation, "fit_and_predict_chains")


@pytest.fixture
def tested(spy):
    """The fitted learner and the rows of every test."""
    return spy(FittedLearner, "predict_outcome")


# ---- designs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chains", "options", "message"),
    [
        (["svm"], {"folds": 1}, "folds must be at least 2, not 1"),
        (["svm"], {"repeats": 0}, "repeats must be a whole number from 1"),
        (["svm"], {"shares": (0.0, 0.5)}, "above 0 and ascend"),
        (["svm"], {"shares": (0.5, 0.5)}, "above 0 and ascend"),
        (["svm"], {"folds": 5, "shares": (0.5, 0.81)}, "5 folds leave 80% to train on, not 81%"),
        (["a: svm", "a: l2 svm"], {}, "two chains are named 'a'"),
        (["svm"], {"choose": "f1"}, "choosing between chains needs at least two chains"),
        (["svm", "chosen: l2 svm"], {"choose": "f1"}, "a chain is named 'chosen', which stands for the chosen chain;"),
        (["a: smv"], {}, "no stage 'smv'; did you mean 'svm'"),
        (["svm --cost 1"], {}, "svm: no such option '--cost'"),
        (["a: svm l2"], {}, "chain 'svm l2' must end in a learner: .*neighbors, predict, svm"),
        (["a: "], {}, "must end in a learner"),
    ],
)
def test_an_invalid_design_is_refused(chains, options, message):
    with pytest.raises(UsageError, match=message):
        design(*chains, **options)


@pytest.mark.parametrize(
    ("text", "name", "stages"),
    [
        ("svm", "svm", "svm"),
        ("bns/500:  select --by bns --top 500 svm ", "bns/500", "select --by bns --top 500 svm"),
        ("remove --match 'a: b' svm", "remove --match 'a: b' svm", "remove --match 'a: b' svm"),
    ],
)
def test_a_chain_has_a_name(text, name, stages):
    assert parse_named_chain(text) == (name, str(Chain.parse(stages)))


# ---- tasks ----------------------------------------------------------------------------------------

FEW = int(labelled().y[:, 2].sum())


@pytest.mark.parametrize(
    ("batch", "least", "together", "apart"),
    [
        (sample("breast-cancer"), 1, ["diagnosis"], ["diagnosis"]),
        (sample("unused-class-value"), 1, ["class"], ["low", "high"]),
        (three(), 1, ["class"], ["a", "b", "c"]),
        (three(), 9, ["class"], ["a", "b"]),
        (three(positive="b"), 1, ["b"], ["b"]),
        (labelled(), FEW, ["music"], ["p", "q", "few"]),
        (labelled(), FEW + 1, ["music"], ["p", "q"]),
    ],
)
def test_classes_are_one_task_unless_asked_otherwise(batch, least, together, apart):
    for one_against_rest, expected in ((False, together), (True, apart)):
        plan = design(one_against_rest=one_against_rest, min_positives=least)
        assert list(dict.fromkeys(task for _, task, _ in Evaluator([("d", batch)], plan).task_folds)) == expected


def test_one_class_is_evaluated_against_the_rest_which_has_another_name(fits):
    batch = three(classes=("a", "rest", "c"))
    evaluator = Evaluator([("d", batch)], design(one_against_rest=True))
    for code, (task, other) in enumerate([("a", "rest"), ("rest", "other")]):
        evaluator.evaluate_task_fold(("d", task, 0))
        training = fits[-1][1]
        assert (training.schema.class_attribute.values, training.schema.positive) == ((other, task), task)
        assert training.schema.features == batch.schema.features
        rows = dense(training)[:, 0].astype(int)
        assert (training.y == (batch.y[rows] == code)).all()


def test_one_label_or_value_of_a_target_at_a_time_has_no_other_for_a_feature(fits):
    batch = labelled()
    attributes = list(batch.schema.attributes)
    attributes[4] = Attribute("few", "nominal", ("a", "b"))
    batch = batch.replace(schema=batch.schema.replace(attributes=attributes))
    evaluator = Evaluator([("d", batch)], design(one_against_rest=True))
    tasks = {"p": ("p", 0, 1), "q": ("q", 1, 1), "few=b": ("few", 2, 1)}
    assert list(dict.fromkeys(task for _, task, _ in evaluator.task_folds)) == list(tasks)
    for task, (name, column, code) in tasks.items():
        evaluator.evaluate_task_fold(("d", task, 0))
        training = fits[-1][1]
        expected = [a for a in ("p", "x", "q", "z", "few") if a in ("x", "z", name)]
        assert list(training.schema.names) == expected
        assert (training.schema.class_attribute.values, training.schema.labels) == (("rest", task), ())
        rows = [batch.X.tolist().index(row) for row in training.X.tolist()]
        assert (training.y == (batch.y[rows, column] == code)).all()


@pytest.mark.parametrize(("batch", "first"), [(three(), np.s_[:5]), (labelled(), np.s_[:5, 1])])
def test_rows_with_an_unknown_class_or_label_are_left_out(batch, first):
    y = batch.y.copy()
    y[first] = -1
    known = batch.take(np.arange(5, len(batch)))
    hidden, known = (without_seconds(evaluated(each, design())) for each in (batch.replace(y=y), known))
    assert hidden == known


# ---- folds and learning curves --------------------------------------------------------------------

CODES = st.lists(st.integers(0, 3), min_size=6, max_size=60).map(np.array)


@given(CODES, st.integers(2, 5), st.integers(0, 2))
def test_every_row_is_tested_once_and_more_training_rows_have_all_of_fewer(y, folds, seed):
    """Except the only row of a class, which is always in the training part."""
    shares = [share for share in (0.05, 0.2, 0.4) if share < (folds - 1) / folds] + [(folds - 1) / folds]
    drawn = DrawnFolds(y, design(folds=folds, seed=seed, shares=tuple(shares)))
    parts = [drawn.make_fold(fold).test for fold in range(folds)]
    alone = np.flatnonzero(np.bincount(y)[y] == 1)
    assert sorted([*np.concatenate(parts), *alone]) == list(range(len(y)))
    counts = np.array([np.bincount(y[part], minlength=4) for part in parts])
    assert (np.ptp(counts, axis=0) <= 1).all() and np.ptp(counts.sum(axis=1)) <= 1 + len(alone)
    whole = np.bincount(y, minlength=4)
    for fold, part in enumerate(parts):
        training = drawn.make_fold(fold).training[-1]
        assert sorted([*part, *training]) == list(range(len(y)))
        before = set()
        for share, rows in zip(shares, drawn.make_fold(fold).training, strict=True):
            assert (np.diff(rows) > 0).all()
            assert before <= set(rows) <= set(training)
            before = set(rows)
            if share < (folds - 1) / folds:
                asked = np.minimum(np.maximum(np.rint(share * whole), whole > 0), whole - counts[fold])
                assert (np.bincount(y[rows], minlength=4) == asked).all()
        assert before == set(training)


def test_subsamples_are_drawn_anew_for_each_fold_and_seed():
    y = np.zeros(60, int)
    one, other = (DrawnFolds(y, design(folds=2, seed=seed, shares=(0.25,))) for seed in (0, 1))
    assert len({tuple(drawn.make_fold(fold).training[0]) for drawn in (one, other) for fold in (0, 1)}) == 4
    assert (one.make_fold(0).test != other.make_fold(0).test).any()


def folds_of(y, groups=None, **options):
    """The fold of each row in each repeat, (repeats, rows)."""
    plan = design(seed=5, **options)
    drawn = DrawnFolds(y, plan, groups)
    fold = np.full((plan.repeats, len(y)), -1)
    for number in range(drawn.count):
        fold[number // 3, drawn.make_fold(number).test] = number % 3
    return fold


def test_each_repeat_deals_the_rows_anew_and_the_first_as_without_repeats():
    y = np.arange(60) % 3
    fold = folds_of(y, repeats=3)
    assert (fold[0] == folds_of(y)[0]).all()
    assert len(np.unique(fold, axis=0)) == 3
    for each in fold:
        assert (np.bincount(each * 3 + y) >= 6).all()


def test_rows_of_one_group_stay_in_one_fold_and_classes_are_spread():
    groups = np.repeat(np.arange(30), 4)
    y = (groups % 3 == 0).astype(int)
    for fold in folds_of(y, groups, repeats=2):
        assert all(len(set(fold[groups == group])) == 1 for group in range(30))
        assert np.bincount(fold[y == 1]).max() <= 16


def test_every_label_is_spread_evenly():
    """The rarest as evenly as can be, and the others nearly."""
    truth = np.random.default_rng(0).random((300, 5)) < [0.02, 0.1, 0.3, 0.5, 0.9]
    (fold,) = folds_of(truth)
    apart = np.array([np.ptp(np.bincount(fold[label], minlength=3)) for label in truth.T])
    assert apart[truth.sum(axis=0).argmin()] <= 1 and apart.max() <= 4
    assert np.ptp(np.bincount(fold)) <= 2


@pytest.mark.parametrize("name", ["person", "text"])
def test_the_attribute_of_the_groups_is_not_seen_by_chains(name, fits):
    people = [i // 4 for i in range(24)]
    data = {"text": [f"p{each}" for each in people], "person": people, "x": [0, 1] * 12, "class": ["n", "y"] * 12}
    evaluated(cases.rows(data, texts=("text",)), design(group=name))
    assert [a.name for a in fits[0][1].schema.attributes] == [each for each in data if each != name]


def test_a_curve_tests_the_same_rows_at_each_share(tested):
    plan = design("standardize neighbors", "neighbors", shares=(0.1, 0.3, 2 / 3))
    results = Evaluator([("d", three())], plan).evaluate_task_fold(("d", "class", 1))
    assert [(row.share, row.chain) for row in results] == [(s, name) for s in plan.shares for name, _ in plan.chains]
    assert [row.train_rows for row in results[::2]] == [3, 9, 18]
    own = draw_folds(three().y, 3, 0) == 1
    for _, test in tested[1::2]:  # of the chain that leaves values alone
        assert (dense(test) == dense(three())[own]).all()


# ---- results --------------------------------------------------------------------------------------


def reference(batch, text, test):
    """Accuracy and AUC, or the mean error, of the rows with the numbers `test`, from the columns that come out."""
    others = np.setdiff1d(np.arange(len(batch)), test)
    out = filterkit.chain(text).fit(batch.take(others)).transform(batch.take(test))
    names = feature_names(out)
    said = dense(out)[:, [i for i, name in enumerate(names) if name.startswith("prediction")]]
    if batch.schema.has_numeric_target:
        return {"mae": float(np.average(abs(said[:, 0] - out.y), weights=out.weights))}
    scores = dense(out)[:, [i for i, name in enumerate(names) if re.match("(score|probability)@", name)]]
    truth = out.y.reshape(len(out), -1)
    accuracy = float((said == truth).mean())
    if batch.y.ndim == 1:
        truth = np.eye(len(batch.schema.class_attribute.values))[out.y]
        truth = truth[:, [np.bincount(batch.y).argmin()]] if scores.shape[1] == 1 else truth
    return {"accuracy": accuracy, "auc": roc_auc_score(truth, scores)}


@pytest.mark.parametrize(
    ("batch", "text"),
    [
        (sample("breast-cancer").rows(0, 190), "shape --cross-fit 3 bns l2 svm --c 0.1,1 --calibrate --folds 2"),
        (sample("iris"), "neighbors --k 5 --distance euclidean"),
        (labelled(150), "standardize svm"),
        (weighted(numbers()), "standardize predict Ridge"),
    ],
    ids=["two", "three", "labels", "numbers"],
)
def test_results_equal_those_of_a_plain_computation(batch, text):
    plan = design(text, seed=4)
    evaluator = Evaluator([("d", batch)], plan)
    y = np.zeros(len(batch), int) if batch.schema.has_numeric_target else batch.y
    drawn = DrawnFolds(y if y.ndim == 1 else y.astype(bool), plan)
    for part in evaluator.task_folds:
        (result,) = evaluator.evaluate_task_fold(part)
        expected = reference(batch, text, drawn.make_fold(part[2]).test)
        assert {key: result.values[key] for key in expected} == pytest.approx(expected, abs=1e-12, rel=0)
        assert result[:5] == (*part, 2 / 3, text) and result.seconds > 0


def test_a_test_set_is_predicted_by_what_all_other_rows_teach():
    batch = sample("breast-cancer")
    evaluator = Evaluator([("d", batch.rows(0, 400))], design("standardize svm"), batch.rows(400, 569))
    assert evaluator.task_folds == [("d", "diagnosis", 0)]
    (result,) = pickle.loads(pickle.dumps(evaluator)).evaluate_task_fold(evaluator.task_folds[0])
    assert (result.share, result.train_rows, result.test_rows, result.positive) == (1.0, 400, 169, "malignant")
    expected = reference(batch, "standardize svm", np.arange(400, 569))
    assert {key: result.values[key] for key in expected} == pytest.approx(expected, abs=1e-12, rel=0)
    ((name, values, cells),) = result.confusion
    assert (name, values, sum(count for *_, count in cells)) == ("", ["malignant", "benign"], 169)


def test_the_same_class_is_positive_in_all_folds(tested):
    evaluated(make(np.random.default_rng(0).random((101, 2)), np.repeat([0, 1], [50, 51])), design(folds=10))
    assert {learner.tasks.names for learner, _ in tested} == {("no",)}


def test_folds_of_numbers_are_drawn_from_all_rows_alike():
    data = numbers(31)
    data.y[4] = np.nan
    made = Evaluator([("d", data)], design("predict Ridge", repeats=2, shares=(0.1, 2 / 3)))
    assert made.task_folds == [("d", "class", fold) for fold in range(6)]
    fold = draw_folds(np.zeros(30, int), 3, 0)
    part, found = made.evaluate_task_fold(("d", "class", 1))
    assert (part.train_rows, found.train_rows, found.test_rows, found.positive) == (3, 20, 10, "")
    ((name, true, said),) = found.points
    assert name == "class" and true == data.y[~np.isnan(data.y)][fold == 1].tolist() and len(said) == 10
    assert found.confusion is found.train_positives is None


# ---- runs -----------------------------------------------------------------------------------------


def test_a_run_yields_every_part_once():
    data = [("one", three()), ("two", sample("iris"))]
    plan = design("neighbors", "l2 neighbors", one_against_rest=True)
    found = list(evaluate_task_folds(Evaluator(data, plan)))
    assert [left for left, _ in found] == list(range(17, -1, -1))
    names = {"one": ["a", "b", "c"], "two": ["setosa", "versicolor", "virginica"]}
    parts = [(data, task, fold) for data in names for task in names[data] for fold in range(3)]
    assert [results[0][:3] for _, results in found] == parts
    assert [[result.chain for result in results] for _, results in found] == [["neighbors", "l2 neighbors"]] * 18
    assert list(evaluate_task_folds(Evaluator(data, plan), done=parts)) == []


def test_processes_give_the_same_results(spy, monkeypatch, quick_processes):
    data = [("iris", sample("iris")), ("sparse", sample("sparse-counts-multiclass"))]
    plan = design("standardize neighbors", "neighbors --k 3", shares=(0.3, 2 / 3), seed=5)
    alone = list(evaluate_task_folds(Evaluator(data, plan)))
    monkeypatch.setattr(evaluation, "_WORTH_AN_ENGINE", 0)
    monkeypatch.setattr(evaluation, "_STARTUP", 0)
    here = spy(Evaluator, "evaluate_task_fold")
    with ProcessEngine(2) as engine:
        together = list(evaluate_task_folds(Evaluator(data, plan), engine, done={("iris", "class", 1)}))
    # The smallest; the others are evaluated in processes.
    assert [part for _, part in here] == [("sparse", "topic", 0)]
    assert [left for left, _ in together] == [4, 3, 2, 1, 0]
    expected = {repr(without_seconds(results)) for _, results in alone if results[0][:3] != ("iris", "class", 1)}
    assert {repr(without_seconds(results)) for _, results in together} == expected


def test_processes_start_before_the_large_data(spy, monkeypatch, quick_processes):
    """A small part that comes later tells that large ones are left, and these are evaluated in processes."""
    large = make(np.arange(12000.0).reshape(600, 20), np.arange(600) % 2)
    data = [("large", large), ("small", make(np.arange(30.0)[:, None], np.arange(30) % 2))]
    clock = iter(range(1000))
    monkeypatch.setattr(evaluation.time, "perf_counter", lambda: float(next(clock)))
    monkeypatch.setattr(evaluation, "_STARTUP", 0)
    here = spy(Evaluator, "evaluate_task_fold")
    with ProcessEngine(2) as engine:
        found = [results[0][:3] for _, results in evaluate_task_folds(Evaluator(data, design()), engine)]
    assert [part for _, part in here] == [("small", "class", 0)]
    assert sorted(found) == sorted(Evaluator(data, design()).task_folds)


# ---- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"d": numbers()}, {"one_against_rest": True}, "d: --one-against-rest applies to classes and labels, but"),
        ({"d": numbers(), "e": three()}, {}, "the class is numeric in d, but not in e; evaluate them separately"),
        ({"d": numbers().replace(y=np.full(30, np.nan))}, {}, "d: there are no rows with a known class or labels"),
        ({"d": sample("iris", class_="none")}, {}, "d: there is no class and there are no labels to predict; name the"),
        (
            {"d": make([[1], [2]], [0, 0], "abc")},
            {"one_against_rest": True},
            "d: no class or label has at least 1 rows",
        ),
        ({"d": three()}, {"one_against_rest": True, "min_positives": 13}, "d: no class or label has at least 13 rows"),
        (
            {"d": three()},
            {"group": "a1", "folds": 7},
            "d: group 'a1': 7 folds need as many values, but it has 5; choose fewer",
        ),
    ],
)
def test_what_cannot_be_evaluated_is_refused(data, options, message):
    with pytest.raises(FilterkitError) as caught:
        Evaluator(list(data.items()), design("neighbors", "l2 neighbors", **options))
    assert str(caught.value).startswith(message)


MISSING = make(np.where(np.arange(30) == 25, np.nan, np.arange(30))[:, None], np.arange(30) % 2)
SIX = make(np.arange(6)[:, None], [0, 0, 0, 1, 1, 1])
WITHOUT_WEIGHT = SIX.replace(weights=np.where(draw_folds(SIX.y, 3, 0) == 1, 0.0, 1.0))


@pytest.mark.parametrize(
    ("data", "chain", "message"),
    [
        (
            numbers(),
            "nominal --only class svm",
            "fold 1, chain .*: it predicts classes, but the class is numeric; make it",
        ),
        (three((9, 9), "ab"), "class a0 neighbors", "fold 1, chain .*: it predicts numbers, but the class is nominal;"),
        (MISSING, "neighbors", "fold ., chain 'neighbors': neighbors: (row 26: )?attribute 'a0' is missing"),
        (WITHOUT_WEIGHT, "neighbors", "fold 2"),
        (SIX, "few: head 2 neighbors", "fold 1, chain 'few': neighbors: the training rows are all of one class, which"),
    ],
)
def test_what_fails_is_named(data, chain, message):
    with pytest.raises(FilterkitError, match=f"^d, class, {message}"):
        evaluated(data, design(chain))
