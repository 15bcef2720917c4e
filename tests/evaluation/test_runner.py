"""Evaluation: designs, tasks, folds, learning curves and results, also in several processes."""

import pickle
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from agreement import dense, make, sample
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, hamming_loss, recall_score, roc_auc_score

import filterkit
from filterkit import Attribute, Batch, Chain, FilterkitError, Schema, UsageError
from filterkit.chains.crossfit import draw_folds
from filterkit.engines.processes import ProcessEngine
from filterkit.evaluation import folds
from filterkit.evaluation import runner as evaluation
from filterkit.evaluation.folds import Design, Splits
from filterkit.evaluation.runner import Evaluator, named_chain, run
from filterkit.stages.learner import FittedLearner

BIT = ("0", "1")


def design(*texts, folds=3, **others):
    return Design(tuple(named_chain(text) for text in texts or ("neighbors",)), folds, **others)


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


# ---- designs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "at least 2 folds, not 1"),
        ({"folds": 0}, "at least 2 folds, not 0"),
        ({"shares": (0.0, 0.5)}, "above 0 and ascend"),
        ({"shares": (0.5, 0.2)}, "above 0 and ascend"),
        ({"shares": (0.5, 0.5)}, "above 0 and ascend"),
        ({"shares": (-0.1,)}, "above 0 and ascend"),
        ({"shares": (0.5, 0.81)}, "5 folds leave 80% to train on, not 81%"),
        ({"folds": 2, "shares": (0.9,)}, "2 folds leave 50% to train on, not 90%"),
        ({"chains": ()}, "there must be chains"),
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
        ("shape bns l2 svm", "shape bns l2 svm", "shape bns l2 svm"),
        ("best: shape svm --c 0.1,1", "best", "shape svm --c 0.1,1"),
        ("bns/500:  select --by bns --top 500 svm ", "bns/500", "select --by bns --top 500 svm"),
        ("remove --match 'a: b' svm", "remove --match 'a: b' svm", "remove --match 'a: b' svm"),
    ],
)
def test_a_chain_has_a_name(text, name, stages):
    assert named_chain(text) == (name, str(Chain.parse(stages)))


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
        named_chain(text)


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


def test_a_class_without_rows_or_with_all_is_no_task():
    assert tasks(sample("unused-class-value"), one_against_rest=True) == ["low", "high"]
    with pytest.raises(FilterkitError, match=r"^d: no class has "):
        tasks(make([[1], [2]], [0, 0], "abc"), one_against_rest=True)


def test_a_class_with_too_few_positive_rows_is_no_task():
    with pytest.raises(FilterkitError, match=r"^d: no class has 13 rows"):
        tasks(three(), one_against_rest=True, min_positives=13)


def test_one_class_is_evaluated_against_the_rest(fits):
    batch = three()
    Evaluator([("d", batch)], design(one_against_rest=True)).evaluate("d", "b", 0)
    schema = fits[0].schema
    assert (schema.class_attribute.values, schema.positive) == (("rest", "b"), "b")
    assert schema.features == batch.schema.features
    rows = dense(fits[0])[:, 0].astype(int)
    assert (fits[0].y == (batch.y[rows] == 1)).all()


def test_a_class_may_be_named_rest(fits):
    evaluator = Evaluator([("d", three(classes=("a", "rest", "c")))], design(one_against_rest=True))
    for task in ("a", "rest"):
        assert evaluator.evaluate("d", task, 0)
    first, second = (fit.schema.class_attribute.values for fit in fits)
    assert (first, second) == (("rest", "a"), ("other", "rest"))


def test_one_label_at_a_time_has_no_other_label_for_a_feature(fits):
    batch = labelled()
    evaluator = Evaluator([("d", batch)], design(one_against_rest=True))
    for number, name in enumerate(("p", "q", "few")):
        evaluator.evaluate("d", name, 0)
        schema = fits[-1].schema
        assert [a.name for a in schema.attributes] == [a for a in ("p", "x", "q", "z", "few") if a in ("x", "z", name)]
        assert (schema.class_attribute.name, schema.positive, schema.labels) == (name, name, ())
        assert [a.name for a in schema.features] == ["x", "z"]
        place = [batch.X.tolist().index(row) for row in fits[-1].X.tolist()]
        assert (fits[-1].y == batch.y[place, number]).all()


def targets():
    """The rows of `labelled` with a target of three values in place of the last label."""
    batch = labelled()
    attributes = list(batch.schema.attributes)
    attributes[4] = Attribute("few", "nominal", ("a", "b", "c"))
    y = np.column_stack([batch.y[:, :2], np.arange(len(batch)) % 3]).astype(np.int8)
    return batch.replace(schema=batch.schema.replace(attributes=attributes), y=y)


def test_each_value_of_a_target_is_a_task(fits):
    batch = targets()
    evaluator = Evaluator([("d", batch)], design(one_against_rest=True))
    for number, name in enumerate(("few=a", "few=b", "few=c")):
        evaluator.evaluate("d", name, 0)
        target = fits[-1].schema.class_attribute
        assert (target.name, target.values) == ("few", ("rest", name))
        place = [batch.X.tolist().index(row) for row in fits[-1].X.tolist()]
        assert (fits[-1].y == (batch.y[place, 2] == number)).all()
    assert {task for _, task, _ in evaluator.parts} == {"p", "q", "few=a", "few=b", "few=c"}


def test_targets_are_evaluated_jointly():
    (result,) = Evaluator([("d", targets())], design("neighbors --k 3")).evaluate("d", "music", 0)
    cells = result.values["accuracy"] * result.test_rows * 3  # a row and target is right or wrong
    assert cells == pytest.approx(round(cells))


def test_labels_can_be_evaluated_jointly(fits):
    (result,) = Evaluator([("d", labelled())], design("neighbors --k 3")).evaluate("d", "music", 0)
    assert [a.name for a in fits[0].schema.label_attributes] == ["p", "q", "few"]
    assert (result.train_rows, result.test_rows) == (len(fits[0]), 40 - len(fits[0]))


@pytest.mark.parametrize("one_against_rest", [False, True])
def test_rows_of_unknown_class_are_left_out(one_against_rest):
    batch = three()
    hidden = batch.replace(y=np.where(np.arange(len(batch)) % 4 == 0, -1, batch.y).astype(np.int32))
    known = batch.take(np.flatnonzero(np.arange(len(batch)) % 4))
    plan = design(one_against_rest=one_against_rest)
    assert without_seconds(evaluated(hidden, plan)) == without_seconds(evaluated(known, plan))


def test_rows_with_an_unknown_label_are_left_out():
    batch = labelled()
    y = batch.y.copy()
    y[:5, 1] = -1
    results = evaluated(batch.replace(y=y), design())
    assert {result.train_rows + result.test_rows for result in results} == {35}


def test_there_must_be_a_class():
    with pytest.raises(
        FilterkitError, match=r"^d: there is no class and there are no labels to predict; name the class"
    ):
        Evaluator([("d", sample("iris", class_="none"))], design())


def test_fewer_rows_than_folds_are_refused():
    with pytest.raises(FilterkitError, match="d: 4 rows are too few for 5 folds"):
        Evaluator([("d", make([[1], [2], [3], [4]], [0, 0, 1, 1]))], design(folds=5))


def test_the_same_class_is_positive_in_all_folds(tested):
    evaluated(make(np.random.default_rng(0).random((101, 2)), np.repeat([0, 1], [50, 51])), design(folds=10))
    assert {learner.tasks.names for learner, _ in tested} == {("no",)}


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
        assert before <= set(splits.training(fold, (folds - 1) / folds).tolist()) <= whole


def test_a_small_share_has_a_row_of_every_class():
    y = np.repeat([0, 1, 2], [90, 6, 4])
    assert np.bincount(y[Splits(y, design()).training(0, 0.02)]).tolist() == [2, 1, 1]


def test_subsamples_are_drawn_anew_for_each_fold_and_seed():
    y = np.zeros(60, int)
    one, other = (Splits(y, design(folds=2, seed=seed)) for seed in (0, 1))
    drawn = {tuple(splits.training(fold, 0.25)) for splits in (one, other) for fold in (0, 1)}
    assert len(drawn) == 4 and all(len(rows) == 15 for rows in drawn)
    assert (one.test(0) != other.test(0)).any()
    assert not set(one.training(0, 0.25)) & set(one.test(0))


def test_the_largest_share_is_all_that_the_fold_leaves():
    splits = Splits(np.zeros(23, int), design(folds=5))
    for fold in range(5):
        assert (splits.training(fold, 0.8) == splits.training(fold)).all()


def test_a_curve_has_one_test_part(tested):
    plan = design("standardize neighbors", "neighbors", shares=(0.1, 0.3, 2 / 3))
    results = Evaluator([("d", three())], plan).evaluate("d", "class", 1)
    assert [(result.share, result.chain) for result in results] == [
        (share, name) for share in plan.shares for name, _ in plan.chains
    ]
    assert [result.train_rows for result in results[::2]] == [3, 9, 18]
    own = draw_folds(three().y, 3, 0) == 1
    for _, rows in tested[1::2]:  # of the chain that leaves values alone
        assert (dense(rows) == dense(three())[own]).all()


@pytest.mark.parametrize("rows", [30, 31])
def test_the_share_without_a_curve_is_that_of_the_folds(rows):
    batch = sample("iris").take(np.arange(rows) * 4)
    assert {result.share for result in evaluated(batch, design())} == {2 / 3}


# ---- repeats, groups, labels and test sets ---------------------------------------------------------


PLAN = Design((("a", "b"),), 3, seed=5)


def folds_of(y, **changes):
    """The fold of each row in each repeat, (repeats, rows)."""
    groups = changes.pop("groups", None)
    plan = replace(PLAN, **changes)
    splits, fold = Splits(y, plan, groups), np.full((plan.repeats, len(y)), -1)
    for number in range(splits.count):
        repeat, own = number // plan.folds, number % plan.folds
        assert (fold[repeat, splits.test(number)] == -1).all()
        fold[repeat, splits.test(number)] = own
        assert set(splits.training(number)) == set(range(len(y))) - set(splits.test(number))
    assert (fold >= 0).all()
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
    for fold in folds_of(y, repeats=2, groups=groups):
        assert all(len(set(fold[groups == group])) == 1 for group in range(30))
        assert np.bincount(fold[y == 1]).tolist() == [16, 12, 12] or np.bincount(fold[y == 1]).max() <= 16


@pytest.mark.parametrize("seed", range(5))
def test_every_label_is_spread_evenly(seed):
    """The rarest as evenly as can be, and the others nearly."""
    truth = np.random.default_rng(seed).random((300, 5)) < [0.02, 0.1, 0.3, 0.5, 0.9]
    (fold,) = folds_of(truth, seed=seed)
    apart = np.array([np.ptp(np.bincount(fold[label], minlength=3)) for label in truth.T])
    assert apart[truth.sum(axis=0).argmin()] <= 1 and apart.max() <= 4
    assert np.ptp(np.bincount(fold)) <= 2


def test_the_attribute_of_the_groups_is_not_seen_by_chains(fits):
    for at in ("person", "text"):
        rows = 24
        X = np.column_stack([np.arange(rows) // 4, np.arange(rows) % 2]).astype(float)
        attributes = [Attribute("person"), Attribute("x"), Attribute("c", "nominal", ("n", "y"))]
        batch = Batch(Schema("g", attributes, 2), X, np.arange(rows, dtype=np.int32) % 2)
        if at == "text":
            table = pa.table({"text": [f"p{i // 4}" for i in range(rows)]})
            attributes.insert(0, Attribute("text", "string"))
            batch = Batch(Schema("g", attributes, 3), X, batch.y, None, table)
        fits.clear()
        evaluated(batch, replace(design("neighbors"), group=at))
        assert [a.name for a in fits[0].schema.attributes] == [a.name for a in attributes if a.name != at]
    for name, problem in [("c", "it is what is to be predicted"), ("d", "there is no such attribute")]:
        with pytest.raises(FilterkitError, match=rf"^d: --group '{name}': {problem}$"):
            Evaluator([("d", batch)], replace(design("neighbors"), group=name))
    with pytest.raises(FilterkitError, match=r"^d: --group 'text': 6 values are too few for 7 folds$"):
        Evaluator([("d", batch)], replace(design("neighbors", folds=7), group="text"))


def test_a_test_set_is_predicted_by_what_all_other_rows_teach():
    batch = sample("breast-cancer")
    training, test = batch.take(np.arange(0, 400)), batch.take(np.arange(400, 500))
    evaluator = Evaluator([("d", training)], design("standardize svm"), test)
    assert evaluator.parts == [("d", "diagnosis", 0)]
    (result,) = pickle.loads(pickle.dumps(evaluator)).evaluate(*evaluator.parts[0])
    assert (result.share, result.train_rows, result.test_rows, result.positive) == (1.0, 400, 100, "malignant")
    out = filterkit.chain("standardize svm").fit(training).transform(test)
    said = dense(out)[:, [a.name for a in out.schema.features].index("prediction")]
    assert result.values["accuracy"] == (said == test.y).mean()
    ((name, values, cells),) = result.confusion
    assert (name, values) == ("", ["malignant", "benign"])
    code = batch.schema.class_attribute.values.index("malignant")
    assert cells[0] == [0, 0, float(((said == code) & (test.y == code)).sum())]


# ---- results --------------------------------------------------------------------------------------


def reference(batch, text, folds, seed, fold):
    """Accuracy, f1, recall and auc of one fold, from the columns that the chain puts out and by scikit-learn."""
    own = np.zeros(len(batch), bool)
    plan = Design((("a", "b"),), folds, seed=seed)
    own[Splits(batch.y if batch.y.ndim == 1 else batch.y.astype(bool), plan).test(fold)] = True
    if batch.y.ndim == 1:
        assert (own == (draw_folds(batch.y, folds, seed) == fold)).all()
    if batch.schema.positive:
        batch = against_others(batch)
    test = batch.take(np.flatnonzero(own))
    out = filterkit.chain(text).fit(batch.take(np.flatnonzero(~own))).transform(test)
    names = [a.name for a in out.schema.features]
    scores = dense(out)[:, [i for i, name in enumerate(names) if re.match("(score|probability)@", name)]]
    said = dense(out)[:, [i for i, name in enumerate(names) if name.startswith("prediction")]].astype(int)
    truth = test.y
    if truth.ndim == 1:
        classes = len(batch.schema.class_attribute.values)
        truth, said = (np.eye(classes, dtype=int)[codes] for codes in (truth, said[:, 0]))
        accuracy = accuracy_score(truth, said)
        if classes == 2:
            positive = [int(np.bincount(batch.y).argmin())]
            truth, said = truth[:, positive], said[:, positive]
    else:
        accuracy = 1 - hamming_loss(truth, said)
    average = {"average": "macro" if truth.shape[1] > 1 else "binary"}
    return {
        "accuracy": accuracy,
        "f1": f1_score(truth, said, **average),
        "recall": recall_score(truth, said, **average),
        "auc": roc_auc_score(truth, scores),
    }


def against_others(batch):
    """The batch with two classes: the positive one and all others."""
    schema, target = batch.schema, batch.schema.class_attribute
    attributes = list(schema.attributes)
    attributes[schema.class_index] = target._replace(values=("others", schema.positive))
    y = batch.y == target.values.index(schema.positive)
    return batch.replace(schema=schema.replace(attributes=attributes), y=y.astype(np.int32))


@pytest.mark.parametrize(
    ("batch", "text"),
    [
        (lambda: sample("breast-cancer"), "standardize svm"),
        (lambda: sample("breast-cancer"), "shape --cross-fit 3 bns l2 svm --c 0.1,1 --calibrate --folds 2"),
        (lambda: sample("wine", class_="first"), "shape bns l2 svm"),
        (lambda: sample("iris"), "neighbors --k 5 --distance euclidean"),
        (lambda: sample("digits").rows(0, 400), "sample --fraction 1/2 neighbors --k 3"),
        (lambda: sample("fortunes", positive="science").take(np.arange(0, 1307, 3)), "binary bns l2 svm"),
        (lambda: labelled(150), "standardize svm"),
    ],
    ids=["two", "tuned", "three", "neighbors", "sampled", "sparse", "labels"],
)
def test_results_equal_those_of_a_plain_computation(batch, text):
    batch, folds = batch(), 3
    evaluator = Evaluator([("d", batch)], design(text, folds=folds, seed=4))
    ((name, task),) = {(name, task) for name, task, _ in evaluator.parts}
    for fold in range(folds):
        (result,) = evaluator.evaluate(name, task, fold)
        expected = reference(batch, text, folds, 4, fold)
        assert {key: result.values[key] for key in expected} == pytest.approx(expected, abs=1e-12, rel=0)
        assert result[:5] == ("d", task, fold, 2 / 3, text)
        assert result.seconds > 0


@pytest.mark.parametrize("text", ["svm", "standardize shape bns l2 svm --c 0.1,1 --folds 2"])
def test_values_and_classes_of_test_rows_are_not_learned(text, tested, monkeypatch):
    """Changing the values and classes of test rows does not change what is learned."""
    batch = sample("iris")
    fold = draw_folds(batch.y, 3, 0)
    monkeypatch.setattr(folds, "draw_folds", lambda *_: fold)
    own = fold == 1
    X = np.where(own[:, None], 7 - 3 * batch.X[::-1], batch.X)
    other = batch.replace(X=X, y=np.where(own, (batch.y + 1) % 3, batch.y).astype(np.int32))
    first, second = (Evaluator([("d", rows)], design(text)).evaluate("d", "class", 1) for rows in (batch, other))
    kept = [learner.get_state() for learner, _ in tested]
    assert (kept[0]["coefficients"] == kept[1]["coefficients"]).all() and kept[0]["coefficients"].any()
    assert (kept[0]["intercepts"] == kept[1]["intercepts"]).all()
    assert first[0].values != second[0].values


@pytest.mark.parametrize("shares", [(), (0.2, 0.5)])
def test_no_row_is_trained_on_and_tested(shares, fits, tested):
    batch = three()
    evaluated(batch, design("neighbors", "sample --fraction 0.6 neighbors", shares=shares))
    assert 2 * len(fits) == len(tested) == 3 * 2 * max(len(shares), 1)
    for training, (_, test) in zip([rows for rows in fits for _ in range(2)], tested, strict=True):
        inside, outside = set(dense(training)[:, 0]), set(dense(test)[:, 0])
        assert not inside & outside
        assert shares or inside | outside == set(range(len(batch)))


# ---- runs -----------------------------------------------------------------------------------------


def test_a_run_yields_every_part_once():
    data = [("one", three()), ("two", sample("iris"))]
    plan = design("neighbors", "l2 neighbors", one_against_rest=True)
    found = list(run(Evaluator(data, plan)))
    assert [left for left, _ in found] == list(range(17, -1, -1))
    assert all(len({result[:3] for result in results}) == 1 for _, results in found)
    names = {"one": ["a", "b", "c"], "two": ["setosa", "versicolor", "virginica"]}
    parts = [(data, task, fold) for data in names for task in names[data] for fold in range(3)]
    assert [results[0][:3] for _, results in found] == parts == Evaluator(data, plan).parts
    assert [[result.chain for result in results] for _, results in found] == [["neighbors", "l2 neighbors"]] * 18


def test_parts_already_done_are_left_out():
    data, plan = [("d", three())], design()
    done = {("d", "class", 0), ("d", "class", 2), ("other", "class", 1)}
    ((left, results),) = run(Evaluator(data, plan), done=done)
    assert (left, results[0][:3]) == (0, ("d", "class", 1))
    assert list(run(Evaluator(data, plan), done=Evaluator(data, plan).parts)) == []


def failing():
    """Rows whose training part without row 0 begins with rows of one class; and the seed for which that is fold 2."""
    y = np.repeat([1, 0, 1], [1, 20, 20])
    batch = make(np.arange(41)[:, None], y)
    seed = next(seed for seed in range(20) if draw_folds(batch.y, 3, seed)[0] == 1)
    return batch, seed


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_chain_that_fails_is_named(jobs, monkeypatch, quick_processes):
    monkeypatch.setattr(evaluation, "_WORTH_AN_ENGINE", 0)
    monkeypatch.setattr(evaluation, "_STARTUP", 0)
    batch, seed = failing()
    plan = design("neighbors", "few: head 5 neighbors", seed=seed)
    found = []
    with pytest.raises(FilterkitError) as caught, ProcessEngine(jobs) as engine:
        found.extend(results for _, results in run(Evaluator([("d", batch)], plan), engine))
    message = "the training rows are all of one class, which leaves nothing to learn"
    assert str(caught.value) == f"d, class, fold 2, chain 'few': neighbors: {message}"
    assert type(caught.value) is FilterkitError
    assert [results[0].fold for results in found][:1] == [0]


def test_processes_give_the_same_results(monkeypatch, quick_processes):
    data = [("iris", sample("iris")), ("sparse", sample("sparse-counts-multiclass"))]
    plan = design("standardize neighbors", "neighbors --k 3", shares=(0.3, 2 / 3), seed=5)
    alone = list(run(Evaluator(data, plan)))
    monkeypatch.setattr(evaluation, "_WORTH_AN_ENGINE", 0)
    monkeypatch.setattr(evaluation, "_STARTUP", 0)
    here, evaluate = [], Evaluator.evaluate

    def spy(self, *part):
        here.append(part)
        return evaluate(self, *part)

    monkeypatch.setattr(Evaluator, "evaluate", spy)
    with ProcessEngine(2) as engine:
        together = list(run(Evaluator(data, plan), engine, done={("iris", "class", 1)}))
    assert here == [("sparse", "topic", 0)]  # the smallest; the others are evaluated in processes
    assert [left for left, _ in together] == [4, 3, 2, 1, 0]
    expected = {repr(without_seconds(results)) for _, results in alone if results[0][:3] != ("iris", "class", 1)}
    assert {repr(without_seconds(results)) for _, results in together} == expected


def test_processes_start_before_the_large_data_whatever_the_order(monkeypatch, quick_processes):
    """Small parts tell that large ones are left, and these are evaluated in processes, the largest first."""
    large = make(np.arange(12000.0).reshape(600, 20), np.arange(600) % 2)
    small = make(np.arange(30.0)[:, None], np.arange(30) % 2)
    plan = design()
    here, evaluate = [], Evaluator.evaluate

    def spy(self, *part):
        here.append(part)
        return evaluate(self, *part)

    monkeypatch.setattr(Evaluator, "evaluate", spy)
    clock = iter(range(1000))
    monkeypatch.setattr(evaluation.time, "perf_counter", lambda: float(next(clock)))
    monkeypatch.setattr(evaluation, "_STARTUP", 0)
    for data in ([("small", small), ("large", large)], [("large", large), ("small", small)]):
        here.clear()
        with ProcessEngine(2) as engine:
            found = [results[0][:3] for _, results in run(Evaluator(data, plan), engine)]
        assert here == [("small", "class", 0)]
        assert sorted(found) == sorted(Evaluator(data, plan).parts)


def test_a_column_may_be_called_like_a_prediction():
    """A column named probability, shaped for each class, is named probability@a."""
    batch = three()
    attributes = [Attribute("probability"), *batch.schema.attributes[1:]]
    batch = batch.replace(schema=batch.schema.replace(attributes=attributes))
    assert Evaluator([("d", batch)], design("shape neighbors")).evaluate("d", "class", 0)


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
    data = data.replace(y=np.where(np.arange(31) == 4, np.nan, data.y))
    made = Evaluator([("d", data)], design("predict Ridge", repeats=2))
    assert made.parts == [("d", "n", fold) for fold in range(6)]
    fold = draw_folds(np.zeros(30, int), 3, 0)
    for number in range(3):
        (found,) = made.evaluate("d", "n", number)
        assert (found.train_rows, found.test_rows, found.positive, found.positives) == (20, 10, "", None)
        assert found.confusion is None
        ((name, true, said),) = found.points
        known = data.y[~np.isnan(data.y)]
        assert name == "n" and true == known[fold == number].tolist() and len(said) == 10


def test_learning_curves_of_numbers_take_any_rows():
    made = Evaluator([("d", numbers(40))], design("predict Ridge", folds=4, shares=(0.1, 0.5)))
    assert [row.train_rows for row in made.evaluate("d", "n", 0)] == [4, 20]


def test_the_chain_with_the_smaller_error_is_chosen():
    chains = ("predict DummyRegressor", "predict LinearRegression", "predict Ridge --set alpha=1000.0")
    made = Evaluator([("d", numbers(60))], design(*chains, choose="medae"))
    assert [row.choice for row in made.evaluate("d", "n", 0)] == ["", "", "", "predict LinearRegression"]


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (
            {"d": numbers()},
            {"choose": "f1"},
            "d: --choose f1 is a measure of classes, and a number is predicted",
        ),
        ({"d": three()}, {"choose": "rmse"}, "d: --choose rmse is a measure of numbers, and classes are predicted"),
        ({"d": numbers()}, {"one_against_rest": True}, "d: --one-against-rest is of classes and labels, and a number"),
        ({"d": numbers(), "e": three()}, {}, "a number is to be predicted in d, and not in e; evaluate them apart"),
        ({"d": numbers(2)}, {}, "d: 2 rows are too few for 3 folds"),
        ({"d": numbers().replace(y=np.full(30, np.nan))}, {}, "d: 0 rows are too few for 3 folds"),
    ],
)
def test_what_does_not_fit_numbers_is_refused(data, options, message):
    with pytest.raises(FilterkitError) as caught:
        Evaluator(list(data.items()), design("neighbors", "l2 neighbors", **options))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("data", "chain", "message"),
    [
        (
            numbers(),
            "nominal --only n svm",
            "it predicts classes, and the class is numeric; change the class",
        ),
        (three((9, 9), "ab"), "class a0 neighbors", "it predicts numbers, and the class is nominal; change"),
        (
            numbers(),
            "svm",
            "svm: it predicts classes and labels, and 'n' is numeric; for numbers write: predict",
        ),
        (
            numbers(),
            "bns predict Ridge",
            "bns: it needs a nominal class, and 'n' is numeric; if its numbers stand for",
        ),
    ],
)
def test_chains_predict_what_the_class_has(data, chain, message):
    made = Evaluator([("d", data)], design(chain))
    with pytest.raises(FilterkitError) as caught:
        made.evaluate_part(made.parts[0])
    assert str(caught.value).startswith(f"{', '.join(map(str, made.parts[0][:2]))}, fold 1, chain '{chain}': {message}")


def test_constant_numbers_have_errors_and_no_correlation():
    made = Evaluator([("d", numbers().replace(y=np.full(30, 0.3)))], design("neighbors"))
    (found,) = made.evaluate("d", "n", 0)
    assert (found.values["mae"], np.isnan(found.values["r2"]), np.isnan(found.values["pearson"])) == (0, True, True)
