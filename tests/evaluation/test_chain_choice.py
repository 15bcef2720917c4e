"""`evaluate --choose`: the choice among chains sees the training rows alone."""

from dataclasses import replace

import numpy as np
import pytest
from agreement import feature_names, make, sample
from made_results import design, evaluated, labelled, without_seconds
from sklearn.metrics import f1_score

import filterkit
from filterkit import FilterkitError
from filterkit.evaluation import trial
from filterkit.evaluation.folds import CHOSEN, DrawnFolds, draw_inner_folds
from filterkit.evaluation.results import Results
from filterkit.evaluation.runner import Evaluator


def of_chain(results, chain):
    return [result for result in results if result.chain == chain]


def noise(rows, **options):
    """Columns that say nothing about the class."""
    rng = np.random.default_rng(0)
    return make(rng.normal(size=(rows, 2)), rng.permutation(np.arange(rows) % 2), **options)


CHAINS = ("bare: svm --c 0.05", "scaled: standardize svm --c 0.05")


def test_the_choice_is_that_of_a_plain_loop():
    """Each training part is dealt into five inner folds; weights count in fitting and in measuring."""
    batch = sample("breast-cancer").take(np.arange(0, 569, 5))
    X = np.column_stack([batch.X[:, :3], np.random.default_rng(0).normal(scale=100, size=len(batch))])
    schema = batch.schema.with_features(batch.schema.features[:4], np.arange(4))
    batch = batch.replace(schema=schema, X=X, weights=(np.arange(len(batch)) % 4).astype(float))
    plan = design(*CHAINS, folds=2, choose="f1")
    results, folds = evaluated(batch, plan), DrawnFolds(batch.y, plan)
    for one in of_chain(results, CHOSEN):
        (rows,) = folds.make_fold(one.fold).training
        part, inner = batch.take(rows), draw_inner_folds(batch.y, plan, None, rows, one.fold, 5)
        means = [np.mean([plain(text, part, inner, n) for n in range(5)]) for _, text in plan.chains]
        assert one.choice == plan.chains[int(np.argmax(np.round(means, 12)))][0]
        (same,) = (r for r in of_chain(results, one.choice) if r.fold == one.fold)
        assert one._replace(chain=same.chain, choice="", seconds=0) == same._replace(seconds=0)
        assert one.seconds > same.seconds
    chosen = [one.choice for one in of_chain(results, CHOSEN)]
    assert Results(results).count_chosen_chains() == {1 / 2: {name: chosen.count(name) for name, _ in plan.chains}}
    others = evaluated(batch, replace(plan, choose=None))
    assert without_seconds(r for r in results if r.chain != CHOSEN) == without_seconds(others)


def plain(text, rows, inner, number):
    """F1 of a chain on one inner fold, by scikit-learn."""
    rows = rows.replace(schema=rows.schema.replace(positive="malignant"))
    fold = inner.make_fold(number)
    fitted = filterkit.chain(text).fit(rows.take(fold.training[0]))
    held_out = rows.take(fold.test)
    out = fitted.transform(held_out)
    score = out.X[:, feature_names(out).index("score@malignant")]
    truth = held_out.y == rows.schema.class_attribute.values.index("malignant")
    return f1_score(truth, score > 0, sample_weight=held_out.weights)


def test_the_choice_never_sees_a_test_row(spy):
    """Nor do stages of inner folds see rows that are held out."""
    batch = noise(60)
    batch.X[:, 0] = np.arange(60)
    tried = spy(trial, "fit_and_predict_chains")
    plan = design("svm", "standardize svm", choose="f1", shares=(0.4,))
    evaluated(batch, plan)
    for fold in range(3):
        rows = DrawnFolds(batch.y, plan).make_fold(fold).training[0].tolist()
        parts = [[part.X[:, 0].tolist() for part in call[1:3]] for call in tried[5 * fold : 5 * fold + 5]]
        assert all(sorted(training + test) == rows for training, test in parts)
        assert sorted(row for _, test in parts for row in test) == rows
    assert len(tried) == 15


def test_groups_stay_together_in_inner_folds_too():
    y, groups = np.repeat(np.arange(24) % 2, 5), np.repeat(np.arange(24), 5)
    plan = design()
    (rows,) = DrawnFolds(y, plan, groups).make_fold(0).training
    own, inner = groups[rows], draw_inner_folds(y, plan, groups, rows, 0, 5)
    inner_folds = map(inner.make_fold, range(5))
    assert not any(set(own[fold.training[0]]) & set(own[fold.test]) for fold in inner_folds)


# ---- what cannot be told ------------------------------------------------------------------------------


def test_a_single_group_leaves_no_choice():
    batch = noise(12)
    assert draw_inner_folds(batch.y, design(folds=2), np.repeat([0, 1], 6), np.arange(6), 0, 5) is None
    assert trial.choose_chain_by_inner_folds([("svm", None), ("neighbors", None)], "f1", batch, None, "here") == 0


# Both positive groups are in other outer folds; inside, holding one out leaves none to learn from.
GROUPS = np.repeat(np.arange(6), 4)
X = np.column_stack([GROUPS, np.arange(24) % 7, np.arange(24) % 5])
# Of some inner folds, no held-out row has a weight.
WITHOUT_WEIGHT = noise(30).replace(weights=np.where(np.arange(30) % 5 < 2, 1.0, 0.0))


@pytest.mark.parametrize(
    ("batch", "options"),
    [
        (make(X, np.isin(GROUPS, [1, 4]), positive="yes"), {"folds": 2, "group": "a0"}),
        (WITHOUT_WEIGHT, {}),
        (labelled(60), {}),
        (labelled(60), {"one_against_rest": True, "min_positives": 6}),
    ],
)
def test_each_part_has_a_choice(batch, options):
    results = evaluated(batch, design("svm", "neighbors", choose="f1", **options))
    assert len(results) == 3 * len({(r.task, r.fold) for r in results})
    assert all(r.choice in ("svm", "neighbors") for r in of_chain(results, CHOSEN))


@pytest.mark.parametrize(
    ("chain", "measure", "message"),
    [
        (
            "predict VotingClassifier --set estimators=GaussianNB,LinearSVC",
            "auc",
            "chain 'other': auc needs scores, but its learner predicts only labels",
        ),
        ("svm --c 1,2 --folds 22", "f1", "^d, class, fold 1, inner fold 1, chain 'other': svm: --folds 22: "),
        ("svm", "brier", "^d, class, fold 1, inner fold 1, chain 'other': brier needs probabilities, but its learner"),
    ],
)
def test_an_error_names_the_inner_fold(chain, measure, message):
    with pytest.raises(FilterkitError, match=message):
        evaluated(noise(40), design(f"other: {chain}", "neighbors", choose=measure))


# ---- test sets ----------------------------------------------------------------------------------------


def test_a_test_set_has_no_part_in_the_choice():
    batch = sample("breast-cancer")
    training, test = batch.rows(0, 200), batch.rows(200, 260)
    plan = design("standardize svm", "neighbors", choose="f1")
    others = test.replace(X=test.X * -1)
    found = [
        Evaluator([("d", training)], plan, each).evaluate_task_fold(("d", "diagnosis", 0))[-1]
        for each in (test, others)
    ]
    assert found[0].chain == CHOSEN
    assert found[0].choice == found[1].choice and found[0].values != found[1].values
