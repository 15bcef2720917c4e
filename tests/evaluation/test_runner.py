"""Evaluation: designs, tasks, folds, learning curves and results, also in several processes."""

import pickle
import re

import cases
import numpy as np
import pytest
from agreement import dense, make, sample
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import filterkit
from filterkit import Attribute, Batch, Chain, FilterkitError, Schema, UsageError
from filterkit.chains.crossfit import draw_folds
from filterkit.engines.processes import ProcessEngine
from filterkit.evaluation import runner as evaluation
from filterkit.evaluation.folds import Design, Splits
from filterkit.evaluation.runner import Evaluator, parse_named_chain, run
from filterkit.stages.learner import FittedLearner

BIT = ("0", "1")


def design(*texts, folds=3, **others):
    return Design(tuple(parse_named_chain(text) for text in texts or ("neighbors",)), folds, **others)


def three(counts=(12, 9, 6), classes=("a", "b", "c"), **options):
    """Rows of several classes, the first column the number of the row."""
    y = np.repeat(np.arange(len(counts)), counts)
    y = np.random.default_rng(1).permutation(y)
    return make(np.column_stack([np.arange(len(y)), y + np.arange(len(y)) % 3]), y, classes, **options)


def labelled(rows=40):
    """Rows with three labels, the last of which few have, between the features."""
    X, noise = np.random.default_rng(2).random((2, rows, 2))
    y = np.column_stack([X + noise > [1, 0.8], X[:, :1] + noise[:, :1] > 1.5]).astype(np.int8)
    names = [Attribute("p", "nominal", BIT), Attribute("x"), Attribute("q", "nominal", BIT)]
    schema = Schema("music", [*names, Attribute("z"), Attribute("few", "nominal", BIT)], labels=(0, 2, 4))
    return Batch(schema, X, y)


def without_seconds(results):
    return [result._replace(seconds=0) for result in results]


def evaluated(batch, plan):
    """The results of all parts."""
    return [result for _, results in run(Evaluator([("d", batch)], plan)) for result in results]


@pytest.fixture
def fits(monkeypatch):
    """The rows that the chains of every part are fitted on."""
    seen, try_chains = [], evaluation.try_chains

    def spy(chains, training, test, place, costs):
        seen.append(training)
        return try_chains(chains, training, test, place, costs)

    monkeypatch.setattr(evaluation, "try_chains", spy)
    return seen


@pytest.fixture
def tested(monkeypatch):
    """The fitted learner and the rows of every test."""
    seen, outcome = [], FittedLearner.outcome

    def spy(learner, batch):
        seen.append((learner, batch))
        return outcome(learner, batch)

    monkeypatch.setattr(FittedLearner, "outcome", spy)
    return seen


@pytest.fixture
def here(monkeypatch):
    """The parts that are evaluated in this process."""
    seen, evaluate = [], Evaluator.evaluate

    def spy(self, part):
        seen.append(part)
        return evaluate(self, part)

    spy.__name__ = "evaluate"  # by which other processes find it

    monkeypatch.setattr(Evaluator, "evaluate", spy)
    return seen


# ---- designs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "at least 2 folds, not 1"),
        ({"shares": (0.0, 0.5)}, "above 0 and ascend"),
        ({"shares": (0.5, 0.2)}, "above 0 and ascend"),
        ({"shares": (0.5, 0.5)}, "above 0 and ascend"),
        ({"shares": (0.5, 0.81)}, "5 folds leave 80% to train on, not 81%"),
        ({"chains": ()}, "give at least one chain"),
        ({"chains": (("a", "svm"), ("a", "l2 svm"))}, "two chains are named 'a'"),
    ],
)
def test_an_invalid_design_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        Design(**({"chains": (("a", "svm"),), "folds": 5} | options))


def test_the_share_may_be_all_that_the_folds_leave():
    assert design(folds=3, shares=(0.1, 2 / 3)).shares[-1] == 2 / 3
    assert design(folds=10, shares=(0.9,)).shares == (0.9,)


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: smv", "no stage 'smv'; did you mean 'svm'"),
        ("svm --cost 1", "svm: no such option '--cost'"),
        ("a: l2", "chain 'l2' must end in a learner: .*neighbors, predict, svm"),
        ("svm l2", "must end in a learner"),
        ("a: ", "must end in a learner"),
    ],
)
def test_an_invalid_chain_is_refused(text, message):
    with pytest.raises(UsageError, match=message):
        parse_named_chain(text)


# ---- tasks ----------------------------------------------------------------------------------------


def tasks(batch, **options):
    return list(dict.fromkeys(task for _, task, _ in Evaluator([("d", batch)], design(**options)).parts))


def test_classes_are_one_task_unless_asked_otherwise():
    assert tasks(sample("breast-cancer")) == tasks(sample("breast-cancer"), one_against_rest=True) == ["diagnosis"]
    assert tasks(three()) == ["class"]
    assert tasks(three(), one_against_rest=True) == ["a", "b", "c"]
    assert tasks(three(), one_against_rest=True, min_positives=9) == ["a", "b"]
    assert tasks(three(positive="b")) == tasks(three(positive="b"), one_against_rest=True) == ["b"]
    assert tasks(labelled()) == ["music"]
    few = int(labelled().y[:, 2].sum())
    assert tasks(labelled(), one_against_rest=True, min_positives=few) == ["p", "q", "few"]
    assert tasks(labelled(), one_against_rest=True, min_positives=few + 1) == ["p", "q"]


def test_a_class_without_rows_is_no_task():
    assert tasks(sample("unused-class-value"), one_against_rest=True) == ["low", "high"]


def test_one_class_is_evaluated_against_the_rest(fits):
    batch = three()
    Evaluator([("d", batch)], design(one_against_rest=True)).evaluate(("d", "b", 0))
    schema = fits[0].schema
    assert (schema.class_attribute.values, schema.positive) == (("rest", "b"), "b")
    assert schema.features == batch.schema.features
    rows = dense(fits[0])[:, 0].astype(int)
    assert (fits[0].y == (batch.y[rows] == 1)).all()


def test_a_class_may_be_named_rest(fits):
    evaluator = Evaluator([("d", three(classes=("a", "rest", "c")))], design(one_against_rest=True))
    for task in ("a", "rest"):
        assert evaluator.evaluate(("d", task, 0))
    first, second = (fit.schema.class_attribute.values for fit in fits)
    assert (first, second) == (("rest", "a"), ("other", "rest"))


def test_one_label_or_value_of_a_target_at_a_time_has_no_other_for_a_feature(fits):
    batch = labelled()
    attributes = list(batch.schema.attributes)
    attributes[4] = Attribute("few", "nominal", ("a", "b"))
    batch = batch.replace(schema=batch.schema.replace(attributes=attributes))
    evaluator = Evaluator([("d", batch)], design(one_against_rest=True))
    tasks = {"p": ("p", 0, 1), "q": ("q", 1, 1), "few=b": ("few", 2, 1)}
    assert list(dict.fromkeys(task for _, task, _ in evaluator.parts)) == list(tasks)
    for task, (name, column, code) in tasks.items():
        evaluator.evaluate(("d", task, 0))
        schema = fits[-1].schema
        assert [a.name for a in schema.attributes] == [a for a in ("p", "x", "q", "z", "few") if a in ("x", "z", name)]
        assert (schema.class_attribute.values, schema.labels) == (("rest", task), ())
        numbers = [batch.X.tolist().index(row) for row in fits[-1].X.tolist()]
        assert (fits[-1].y == (batch.y[numbers, column] == code)).all()


def test_rows_with_an_unknown_class_or_label_are_left_out():
    for batch, first in ((three(), np.s_[:5]), (labelled(), np.s_[:5, 1])):
        y = batch.y.copy()
        y[first] = -1
        known = batch.take(np.arange(5, len(batch)))
        hidden, known = (without_seconds(evaluated(each, design())) for each in (batch.replace(y=y), known))
        assert hidden == known


# ---- folds and learning curves --------------------------------------------------------------------

CODES = st.lists(st.integers(0, 3), min_size=6, max_size=60).map(np.array)


@given(CODES, st.integers(2, 5), st.integers(0, 2))
def test_every_row_is_tested_once(y, folds, seed):
    """Except the only row of a class, which is always in the training part."""
    splits = Splits(y, design(folds=folds, seed=seed))
    parts = [splits.test(fold) for fold in range(folds)]
    alone = np.flatnonzero(np.bincount(y)[y] == 1)
    assert sorted([*np.concatenate(parts), *alone]) == list(range(len(y)))
    for fold, part in enumerate(parts):
        assert sorted([*part, *splits.training(fold)]) == list(range(len(y)))
    counts = np.array([np.bincount(y[part], minlength=4) for part in parts])
    assert (np.ptp(counts, axis=0) <= 1).all() and np.ptp(counts.sum(axis=1)) <= 1 + len(alone)


@given(CODES, st.integers(2, 5), st.integers(0, 2))
def test_more_training_rows_have_all_of_fewer(y, folds, seed):
    splits = Splits(y, design(folds=folds, seed=seed))
    counts = np.bincount(y)
    for fold in range(folds):
        whole = set(splits.training(fold).tolist())
        outside = np.bincount(y[list(whole)], minlength=len(counts))
        before = set()
        for share in (0.05, 0.2, 0.4):
            rows = splits.training(fold, share)
            assert (np.diff(rows) > 0).all()
            assert before <= set(rows.tolist()) <= whole
            before = set(rows.tolist())
            asked = np.minimum(np.maximum(np.rint(share * counts), 1), outside)
            assert (np.bincount(y[rows], minlength=len(counts)) == np.where(counts > 0, asked, 0)).all()
        assert set(splits.training(fold, (folds - 1) / folds).tolist()) == whole


# ---- repeats, groups, labels and test sets ---------------------------------------------------------


def folds_of(y, groups=None, **options):
    """The fold of each row in each repeat, (repeats, rows)."""
    plan = design(seed=5, **options)
    splits = Splits(y, plan, groups)
    fold = np.full((plan.repeats, len(y)), -1)
    for number in range(splits.count):
        fold[number // 3, splits.test(number)] = number % 3
        assert set(splits.training(number)) == set(range(len(y))) - set(splits.test(number))
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


def test_the_attribute_of_the_groups_is_not_seen_by_chains(fits):
    people = [i // 4 for i in range(24)]
    data = {"text": [f"p{each}" for each in people], "person": people, "x": [0, 1] * 12, "class": ["n", "y"] * 12}
    for name in ("person", "text"):
        fits.clear()
        evaluated(cases.rows(data, texts=("text",)), design(group=name))
        assert [a.name for a in fits[0].schema.attributes] == [each for each in data if each != name]


def test_a_test_set_is_predicted_by_what_all_other_rows_teach():
    batch, numbers = sample("breast-cancer"), np.arange(400, 569)
    evaluator = Evaluator([("d", batch.rows(0, 400))], design("standardize svm"), batch.rows(400, 569))
    assert evaluator.parts == [("d", "diagnosis", 0)]
    (result,) = pickle.loads(pickle.dumps(evaluator)).evaluate(evaluator.parts[0])
    assert (result.share, result.train_rows, result.test_rows, result.positive) == (1.0, 400, 169, "malignant")
    expected = reference(batch, "standardize svm", numbers)
    assert {key: result.values[key] for key in expected} == pytest.approx(expected, abs=1e-12, rel=0)
    ((name, values, cells),) = result.confusion
    assert (name, values, sum(count for *_, count in cells)) == ("", ["malignant", "benign"], 169)


# ---- results --------------------------------------------------------------------------------------


def reference(batch, text, test):
    """Accuracy and AUC of the rows with the numbers `test`, from the columns that the chain puts out."""
    others = np.setdiff1d(np.arange(len(batch)), test)
    out = filterkit.chain(text).fit(batch.take(others)).transform(batch.take(test))
    names = [a.name for a in out.schema.features]
    said = dense(out)[:, [i for i, name in enumerate(names) if name.startswith("prediction")]]
    scores = dense(out)[:, [i for i, name in enumerate(names) if re.match("(score|probability)@", name)]]
    truth = out.y.reshape(len(out), -1)
    accuracy = float((said == truth).mean())
    if batch.y.ndim == 1:
        truth = np.eye(len(batch.schema.class_attribute.values))[out.y]
        truth = truth[:, [np.bincount(batch.y).argmin()]] if scores.shape[1] == 1 else truth
    return {"accuracy": accuracy, "auc": roc_auc_score(truth, scores)}


def two_of_fortunes():
    """Sparse rows of two classes."""
    batch = filterkit.chain("label --positive science").fit_transform(sample("fortunes"))[1]
    return batch.take(np.arange(0, 1307, 3))


@pytest.mark.parametrize(
    ("batch", "text"),
    [
        (lambda: sample("breast-cancer"), "shape --cross-fit 3 bns l2 svm --c 0.1,1 --calibrate --folds 2"),
        (lambda: sample("iris"), "neighbors --k 5 --distance euclidean"),
        (two_of_fortunes, "binary bns l2 svm"),
        (lambda: labelled(150), "standardize svm"),
    ],
    ids=["two", "three", "sparse", "labels"],
)
def test_results_equal_those_of_a_plain_computation(batch, text):
    batch, plan = batch(), design(text, seed=4)
    evaluator = Evaluator([("d", batch)], plan)
    splits = Splits(batch.y if batch.y.ndim == 1 else batch.y.astype(bool), plan)
    for part in evaluator.parts:
        (result,) = evaluator.evaluate(part)
        expected = reference(batch, text, splits.test(part[2]))
        assert {key: result.values[key] for key in expected} == pytest.approx(expected, abs=1e-12, rel=0)
        assert result[:5] == (*part, 2 / 3, text) and result.seconds > 0


# ---- runs -----------------------------------------------------------------------------------------


def test_a_run_yields_every_part_once():
    data = [("one", three()), ("two", sample("iris"))]
    plan = design("neighbors", "l2 neighbors", one_against_rest=True)
    found = list(run(Evaluator(data, plan)))
    assert [left for left, _ in found] == list(range(17, -1, -1))
    names = {"one": ["a", "b", "c"], "two": ["setosa", "versicolor", "virginica"]}
    parts = [(data, task, fold) for data in names for task in names[data] for fold in range(3)]
    assert [results[0][:3] for _, results in found] == parts
    assert [[result.chain for result in results] for _, results in found] == [["neighbors", "l2 neighbors"]] * 18
    assert list(run(Evaluator(data, plan), done=parts)) == []


def test_a_chain_that_fails_is_named():
    """The rows but row 0 begin with rows of one class; by this seed, row 0 is tested in fold 2."""
    batch = make(np.arange(41)[:, None], np.repeat([1, 0, 1], [1, 20, 20]))
    seed = next(seed for seed in range(20) if draw_folds(batch.y, 3, seed)[0] == 1)
    found = []
    with pytest.raises(FilterkitError) as caught:
        found.extend(run(Evaluator([("d", batch)], design("neighbors", "few: head 5 neighbors", seed=seed))))
    message = "the training rows are all of one class, which leaves nothing to learn"
    assert str(caught.value) == f"d, class, fold 2, chain 'few': neighbors: {message}"
    assert type(caught.value) is FilterkitError and len(found) == 1


def test_processes_give_the_same_results(here, monkeypatch, quick_processes):
    data = [("iris", sample("iris")), ("sparse", sample("sparse-counts-multiclass"))]
    plan = design("standardize neighbors", "neighbors --k 3", shares=(0.3, 2 / 3), seed=5)
    alone = list(run(Evaluator(data, plan)))
    monkeypatch.setattr(evaluation, "_WORTH_AN_ENGINE", 0)
    monkeypatch.setattr(evaluation, "_STARTUP", 0)
    here.clear()
    with ProcessEngine(2) as engine:
        together = list(run(Evaluator(data, plan), engine, done={("iris", "class", 1)}))
    assert here == [("sparse", "topic", 0)]  # the smallest; the others are evaluated in processes
    assert [left for left, _ in together] == [4, 3, 2, 1, 0]
    expected = {repr(without_seconds(results)) for _, results in alone if results[0][:3] != ("iris", "class", 1)}
    assert {repr(without_seconds(results)) for _, results in together} == expected


def test_processes_start_before_the_large_data_whatever_the_order(here, monkeypatch, quick_processes):
    """Small parts tell that large ones are left, and these are evaluated in processes, the largest first."""
    large = make(np.arange(12000.0).reshape(600, 20), np.arange(600) % 2)
    small = make(np.arange(30.0)[:, None], np.arange(30) % 2)
    clock = iter(range(1000))
    monkeypatch.setattr(evaluation.time, "perf_counter", lambda: float(next(clock)))
    monkeypatch.setattr(evaluation, "_STARTUP", 0)
    for data in ([("small", small), ("large", large)], [("large", large), ("small", small)]):
        here.clear()
        with ProcessEngine(2) as engine:
            found = [results[0][:3] for _, results in run(Evaluator(data, design()), engine)]
        assert here == [("small", "class", 0)]
        assert sorted(found) == sorted(Evaluator(data, design()).parts)


def test_a_column_may_be_called_like_a_prediction():
    """A column named probability, shaped for each class, is named probability@a."""
    batch = three()
    attributes = [Attribute("probability"), *batch.schema.attributes[1:]]
    batch = batch.replace(schema=batch.schema.replace(attributes=attributes))
    assert Evaluator([("d", batch)], design("shape neighbors")).evaluate(("d", "class", 0))


def test_an_error_names_no_row_but_the_invalid_one():
    X = np.arange(30.0)[:, None]
    X[25] = np.nan
    with pytest.raises(FilterkitError, match=r"chain 'neighbors': neighbors: (row 26: )?attribute 'a0' is missing"):
        evaluated(make(X, np.arange(30) % 2), design())


def test_a_fold_without_weight_is_named():
    batch = make(np.arange(6)[:, None], [0, 0, 0, 1, 1, 1])
    own = draw_folds(batch.y, 3, 0) == 1
    with pytest.raises(FilterkitError, match=r"d, class.*fold 2"):
        evaluated(batch.replace(weights=np.where(own, 0.0, 1.0)), design())


# ---- numbers ---------------------------------------------------------------------------------------------------


def numbers(rows=30, name="n"):
    """Rows whose class is three times their first column, and 7 in each tenth row."""
    X = np.random.default_rng(1).normal(size=(rows, 2))
    y = np.where(np.arange(rows) % 10, 3 * X[:, 0], 7.0)
    return Batch(Schema("made", [Attribute("a"), Attribute("b"), Attribute(name)], 2), X, y)


def test_folds_of_numbers_are_drawn_from_all_rows_alike():
    data = numbers(31)
    data.y[4] = np.nan
    made = Evaluator([("d", data)], design("predict Ridge", repeats=2))
    assert made.parts == [("d", "n", fold) for fold in range(6)]
    fold = draw_folds(np.zeros(30, int), 3, 0)
    (found,) = made.evaluate(("d", "n", 1))
    assert (found.train_rows, found.test_rows, found.positive, found.train_positives) == (20, 10, "", None)
    ((name, true, said),) = found.points
    assert name == "n" and true == data.y[~np.isnan(data.y)][fold == 1].tolist() and len(said) == 10
    assert found.confusion is None


def test_a_curve_tests_the_same_rows_at_each_share(tested):
    plan = design("standardize neighbors", "neighbors", shares=(0.1, 0.3, 2 / 3))
    results = Evaluator([("d", three())], plan).evaluate(("d", "class", 1))
    assert [(row.share, row.chain) for row in results] == [(s, name) for s in plan.shares for name, _ in plan.chains]
    assert [row.train_rows for row in results[::2]] == [3, 9, 18]
    own = draw_folds(three().y, 3, 0) == 1
    for _, test in tested[1::2]:  # of the chain that leaves values alone
        assert (dense(test) == dense(three())[own]).all()
    made = Evaluator([("d", numbers(40))], design("predict Ridge", folds=4, shares=(0.1, 0.5)))
    assert [row.train_rows for row in made.evaluate(("d", "n", 0))] == [4, 20]


def test_the_chain_with_the_smaller_error_is_chosen():
    chains = ("predict DummyRegressor", "predict LinearRegression", "predict Ridge --set alpha=1000.0")
    made = Evaluator([("d", numbers(60))], design(*chains, choose="medae"))
    assert [row.choice for row in made.evaluate(("d", "n", 0))] == ["", "", "", "predict LinearRegression"]


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"d": numbers()}, {"one_against_rest": True}, "d: --one-against-rest applies to classes and labels, but"),
        ({"d": numbers(), "e": three()}, {}, "the class is numeric in d, but not in e; evaluate them separately"),
        ({"d": numbers().replace(y=np.full(30, np.nan))}, {}, "d: 0 rows are too few for 3 folds"),
        ({"d": make([[1], [2]], [0, 1])}, {}, "d: 2 rows are too few for 3 folds"),
        ({"d": sample("iris", class_="none")}, {}, "d: there is no class and there are no labels to predict; name the"),
        ({"d": make([[1], [2]], [0, 0], "abc")}, {"one_against_rest": True}, "d: no class has "),
        ({"d": three()}, {"one_against_rest": True, "min_positives": 13}, "d: no class has 13 rows"),
        ({"d": three()}, {"group": "class"}, "d: group 'class': this attribute is to be predicted"),
        ({"d": three()}, {"group": "d"}, "d: group 'd': there is no such attribute"),
        ({"d": three()}, {"group": "a1", "folds": 7}, "d: group 'a1': 5 values are too few for 7 folds"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(data, options, message):
    with pytest.raises(FilterkitError) as caught:
        Evaluator(list(data.items()), design("neighbors", "l2 neighbors", **options))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("data", "chain", "message"),
    [
        (numbers(), "nominal --only n svm", "it predicts classes, but the class is numeric; make it nominal in a run"),
        (three((9, 9), "ab"), "class a0 neighbors", "it predicts numbers, but the class is nominal; change"),
    ],
)
def test_chains_predict_what_the_class_has(data, chain, message):
    made = Evaluator([("d", data)], design(chain))
    with pytest.raises(FilterkitError, match=f"^d, (n|class), fold 1, chain '{chain}': {message}"):
        made.evaluate(made.parts[0])


def test_constant_numbers_have_errors_and_no_correlation():
    made = Evaluator([("d", numbers().replace(y=np.full(30, 0.3)))], design("neighbors"))
    (found,) = made.evaluate(("d", "n", 0))
    assert (found.values["mae"], np.isnan(found.values["r2"]), np.isnan(found.values["pearson"])) == (0, True, True)


def test_the_same_class_is_positive_in_all_folds(tested):
    evaluated(make(np.random.default_rng(0).random((101, 2)), np.repeat([0, 1], [50, 51])), design(folds=10))
    assert {learner.tasks.names for learner, _ in tested} == {("no",)}


def test_subsamples_are_drawn_anew_for_each_fold_and_seed():
    y = np.zeros(60, int)
    one, other = (Splits(y, design(folds=2, seed=seed)) for seed in (0, 1))
    drawn = {tuple(splits.training(fold, 0.25)) for splits in (one, other) for fold in (0, 1)}
    assert len(drawn) == 4 and all(len(rows) == 15 for rows in drawn)
    assert (one.test(0) != other.test(0)).any()
    assert not set(one.training(0, 0.25)) & set(one.test(0))
