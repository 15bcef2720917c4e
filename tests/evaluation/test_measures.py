"""The measures of a test fold: by hand, against scikit-learn, and ties against all orders of the tied rows."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    brier_score_loss,
    cohen_kappa_score,
    coverage_error,
    hamming_loss,
    label_ranking_average_precision_score,
    label_ranking_loss,
    log_loss,
    matthews_corrcoef,
    precision_recall_fscore_support,
    recall_score,
    roc_auc_score,
)

from filterkit.evaluation.measure_names import MEANINGS, MEASURES, OF_CLASSES, OF_NUMBERS
from filterkit.evaluation.measures import measures
from filterkit.stages.models import Outcome

NAN = float("nan")
OF_LABELS = ("one_error", "coverage", "ranking_loss", "lrap")


def outcome(truth, predicted=None, scores=None, exclusive=False):
    """An `Outcome` of rows, or of numbers for one task; without predictions, all are right."""
    truth = np.array(truth, bool)
    predicted = truth if predicted is None else np.array(predicted, bool)
    scores = predicted.astype(float) if scores is None else np.array(scores, float)
    return Outcome(*(a.reshape(len(a), -1) for a in (truth, predicted, scores)), exclusive)


def approx(expected):
    return pytest.approx(expected, rel=1e-12, nan_ok=True)


def pick(found, *names):
    return tuple(found[name] for name in names)


def test_the_measures_have_these_names():
    names = "accuracy precision recall f1 micro_precision micro_recall micro_f1 sensitivity specificity auc p20 bep "
    names += "kappa mcc pr_auc log_loss brier hamming_loss subset_accuracy one_error coverage ranking_loss lrap cost"
    assert names == " ".join(OF_CLASSES)
    assert tuple(MEANINGS) == MEASURES == (*OF_CLASSES, *OF_NUMBERS)
    assert all(type(value) is float for value in measures(outcome([[1, 0], [0, 1]])).values())


def test_without_scores_their_measures_are_unknown():
    given = outcome([1, 0, 1], [1, 1, 1])
    of_scores = dict.fromkeys(("auc", "p20", "bep", "pr_auc", "log_loss", "brier", *OF_LABELS), NAN)
    assert measures(given._replace(scores=None)) == approx(measures(given) | of_scores)


# Of two targets, the first with three values: two of four rows are right, and of the second three.
TARGETS = outcome(
    [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0]],
    [[1, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1]],
    exclusive=np.array([0, 0, 0, 1]),
)
# The probability of the true class: 0.8, and 0.4 of a class that no training row has, for which the model has none.
LIKELY = outcome([[1, 0]], None, [[0.8, 0.2]], True)._replace(probabilities=True)
COSTLY = outcome([1, 0])._replace(costs=np.array([2.0, -1.0]))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        # Ranks 1 to 19 hold 10 positive rows; 1 of the 4 rows that tie for rank 20 is positive.
        (
            outcome([1] * 10 + [0] * 10 + [1, 0, 0, 1, 1], scores=[*range(29, 10, -1), 9, 9, 9, 9, 1, 0]),
            {"p20": 10.25 / 20},
        ),
        (TARGETS, {"accuracy": 5 / 8}),
        (  # Nothing is predicted positive.
            outcome([1, 0], [0, 0], [0.2, 0.1]),
            {"precision": 0, "f1": 0, "micro_precision": 0, "micro_f1": 0, "specificity": 1, "auc": 1},
        ),
        (  # The first task has no negative rows.
            outcome([[1, 1], [1, 0]], [[1, 1], [0, 1]], [[2, 2], [1, 1]]),
            {"specificity": 0, "auc": 1, "precision": 3 / 4, "recall": 3 / 4, "bep": 1},
        ),
        (  # The second has no positive rows; its false positives count in the measures over all tasks.
            outcome(
                [[1, 0], [0, 0], [1, 0], [0, 0]], [[1, 1], [1, 1], [0, 1], [0, 1]], [[4, 4], [3, 3], [2, 2], [1, 1]]
            ),
            {"precision": 1 / 2, "recall": 1 / 2, "auc": 3 / 4, "p20": 1 / 2}
            | {"specificity": 1 / 4, "micro_precision": 1 / 6, "micro_f1": 1 / 4, "accuracy": 1 / 4},
        ),
        (LIKELY._replace(truth=np.zeros((1, 2), bool)), {"log_loss": 52 * np.log(2), "brier": 0.64 + 0.04 + 1}),
        (LIKELY._replace(probabilities=False), {"log_loss": NAN, "brier": NAN}),
        (LIKELY._replace(scores=np.array([[1.5, 0]])), {"log_loss": NAN, "brier": NAN}),
        (LIKELY._replace(scores=np.array([[1.0, 0.0]])), {"brier": 0}),
        (COSTLY, {"cost": 0.5}),
        (COSTLY._replace(weights=np.array([3.0, 1.0])), {"cost": 1.25}),
        # The order of classes and of targets is not measured.
        (outcome([[0, 1, 1], [1, 0, 1]], exclusive=True), dict.fromkeys(OF_LABELS, NAN)),
        (TARGETS, dict.fromkeys(OF_LABELS, NAN)),
    ],
)
def test_measures_worked_by_hand(given, expected):
    assert measures(given, tuple(expected)) == approx(expected)


def test_measures_without_positive_or_negative_rows_are_nan():
    negative, positive = measures(outcome([0, 0], [0, 1])), measures(outcome([1, 1], [0, 1]))
    of_all_rows = dict.fromkeys(("accuracy", "specificity", "hamming_loss", "subset_accuracy"), 1 / 2)
    assert negative == approx(dict.fromkeys(OF_CLASSES, NAN) | of_all_rows)
    assert {name for name, value in positive.items() if np.isnan(value)} == {
        *("specificity", "auc", "kappa", "mcc", "log_loss", "brier", *OF_LABELS, "cost")
    }


@pytest.mark.parametrize("seed", range(3))
def test_measures_of_several_tasks_equal_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random((60, 4)) < [0.2, 0.5, 0.8, 0.4]
    scores = np.round(rng.normal(size=truth.shape) + truth, seed % 3)  # many ties, some, hardly any
    predicted = scores > [0.5, 0.9, 0, 99]  # nothing is predicted positive for the last
    found = measures(Outcome(truth, predicted, scores, False))
    macro = precision_recall_fscore_support(truth, predicted, average="macro", zero_division=0)[:3]
    micro = precision_recall_fscore_support(truth, predicted, average="micro", zero_division=0)[:3]
    assert pick(found, "precision", "recall", "f1") == approx(macro)
    assert pick(found, "micro_precision", "micro_recall", "micro_f1") == approx(micro)
    assert found["accuracy"] == approx(1 - hamming_loss(truth, predicted))
    assert found["auc"] == approx(roc_auc_score(truth, scores, average="macro"))
    assert found["specificity"] == approx(recall_score(~truth, ~predicted, average="macro"))
    assert found["sensitivity"] == found["recall"]


def test_measures_of_labels_equal_those_of_scikit_learn():
    """Some rows have no label, some have all, and scores tie."""
    rng = np.random.default_rng(1)
    truth, scores = rng.random((60, 5)) < 0.3, np.round(rng.random((60, 5)), 1)
    truth[:3], truth[3:6] = False, True
    given = Outcome(truth, scores > 0.5, scores, False)
    found = measures(given)
    one_error = [not all(row[s == s.max()]) for row, s in zip(truth, scores)]
    assert pick(found, *OF_LABELS, "hamming_loss", "subset_accuracy") == approx(
        (
            np.mean(one_error),
            coverage_error(truth, scores) - truth.any(axis=1).mean(),
            label_ranking_loss(truth, scores),
            label_ranking_average_precision_score(truth, scores),
            hamming_loss(truth, given.predicted),
            accuracy_score(truth, given.predicted),
        )
    )


@pytest.mark.parametrize("classes", [2, 5])
def test_measures_of_a_nominal_class_equal_those_of_scikit_learn(classes):
    rng = np.random.default_rng(classes)
    p = rng.dirichlet(np.ones(classes), 80)
    y, guess = rng.integers(0, classes, 80), p.argmax(axis=1)
    truth, predicted = (np.eye(classes, dtype=bool)[each] for each in (y, guess))
    given = Outcome(truth, predicted, p, True, None, True)
    found = measures(given)
    names = ("kappa", "mcc", "log_loss", "accuracy", "pr_auc", "auc", "precision", "recall", "f1", "brier")
    assert pick(found, *names) == approx(
        (
            cohen_kappa_score(y, guess),
            matthews_corrcoef(y, guess),
            log_loss(y, p),
            accuracy_score(y, guess),
            average_precision_score(truth, p),
            roc_auc_score(truth, p),
            *precision_recall_fscore_support(y, guess, average="macro", zero_division=0)[:3],
            ((p - truth) ** 2).sum(axis=1).mean(),
        )
    )
    if classes == 2:  # as a single task
        one = measures(Outcome(truth[:, 1:], predicted[:, 1:], p[:, 1:], True, None, True))
        assert pick(one, *names[:4]) == approx(pick(found, *names[:4]))
        assert one["brier"] == approx(brier_score_loss(y, p[:, 1]))


@pytest.mark.parametrize("exclusive", [True, False])
def test_a_row_of_weight_3_counts_like_three_rows(exclusive):
    rng = np.random.default_rng(4)
    scores = np.round(rng.random((40, 3)), 1) / 2
    truth = np.eye(3, dtype=bool)[rng.integers(0, 3, 40)]
    predicted = np.eye(3, dtype=bool)[scores.argmax(axis=1)] if exclusive else scores > 0.2
    times = rng.integers(1, 4, 40)
    weighted = Outcome(truth, predicted, scores, exclusive, times.astype(float), True)
    copied = Outcome(*(np.repeat(each, times, axis=0) for each in weighted[:3]), exclusive, None, True)
    assert measures(weighted) == approx(measures(copied))


def test_scores_that_are_equal_but_for_rounding_tie():
    """A sum in another order differs in its last digits; scores that differ more are ordered."""
    one, other = 0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1
    assert one != other
    for least in (1.0, 1e-6, -1e200):
        assert measures(outcome([1, 0], [1, 0], [one * least, other * least]))["auc"] == 0.5
        assert measures(outcome([1, 0], [1, 0], [one * least, one * least * (1 + 1e-11)]))["auc"] == (least < 0)
    # A difference of two scores of ordinary size is 0 only in theory, but a small probability is one.
    near_zero = outcome([1, 0, 1, 0], None, [0.3 - (0.1 + 0.2), 0.0, 0.5, 0.6])
    assert measures(near_zero)["auc"] == (0.5 + 1) / 4
    assert measures(near_zero._replace(scores=np.abs(near_zero.scores), probabilities=True))["auc"] == (1 + 1) / 4


def mean_precision(truth, scores, k):
    """The precision of the first k rows, over all orders in which scores do not rise."""
    orders = [
        order
        for order in permutations(range(len(truth)))
        if all(scores[one] >= scores[other] for one, other in pairwise(order))
    ]
    return sum(truth[row] for order in orders for row in order[:k]) / (k * len(orders))


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=6).filter(
        lambda rows: any(positive for positive, _ in rows)
    )
)
def test_ties_are_averaged_over_every_order(rows):
    truth, scores = zip(*rows, strict=True)
    found = measures(outcome(truth, scores=scores))
    assert found["bep"] == approx(mean_precision(truth, scores, sum(truth)))
    assert found["p20"] == approx(sum(truth) / len(truth))


def test_auc_and_precision_depend_only_on_the_order_of_scores():
    truth = [1, 0, 1, 0, 0, 1]
    plain = measures(outcome(truth, truth, [5, 5, 4, 3, 2, 1]))
    assert measures(outcome(truth, truth, [np.inf, np.inf, 1e300, 0, -1e-300, -np.inf])) == plain
    assert measures(outcome([1, 0], [1, 0], [0.0, -0.0]))["auc"] == 0.5


ONE = outcome([1, 0])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (ONE._replace(predicted=np.ones((2, 2), bool)), "shape"),
        (ONE._replace(scores=np.ones((3, 1))), "shape"),
        (Outcome(*[np.ones((0, 2), bool)] * 3, True), "at least one row and one task"),
        (ONE._replace(truth=np.ones((2, 1))), "bool"),
        (ONE._replace(scores=np.array([[1], [NAN]])), "NaN"),
    ],
)
def test_invalid_outcomes_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        measures(wrong)
