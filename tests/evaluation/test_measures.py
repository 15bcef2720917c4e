"""The measures of a test fold: by hand, against scikit-learn, and ties against all orders of the tied rows."""

from fractions import Fraction
from itertools import groupby, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    brier_score_loss,
    cohen_kappa_score,
    confusion_matrix,
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

from filterkit.evaluation.measures import MEANINGS, MEASURES, OF_CLASSES, confusions, measures
from filterkit.evaluation.regression import OF_NUMBERS
from filterkit.stages.models import Outcome

NAN = float("nan")
OF_LABELS = ("one_error", "coverage", "ranking_loss", "lrap")


def outcome(truth, predicted=None, scores=None, exclusive=False):
    """An `Outcome` of rows, or of numbers for one task; without predictions, all are right."""
    truth = np.array(truth, bool)
    predicted = truth if predicted is None else np.array(predicted, bool)
    scores = predicted.astype(float) if scores is None else np.array(scores, float)
    return Outcome(*(a.reshape(len(a), -1) for a in (truth, predicted, scores)), exclusive)


def approx(*values):
    return pytest.approx(values, rel=1e-12, nan_ok=True)


def pick(found, *names):
    return tuple(found[name] for name in names)


def test_the_measures_have_these_names():
    names = "accuracy precision recall f1 micro_precision micro_recall micro_f1 sensitivity specificity auc p20 bep"
    assert tuple(names.split()) == OF_CLASSES[:12]
    later = "kappa mcc pr_auc log_loss brier hamming_loss subset_accuracy one_error coverage ranking_loss lrap cost"
    assert tuple(later.split()) == OF_CLASSES[12:]
    assert tuple(MEANINGS) == MEASURES == (*OF_CLASSES, *OF_NUMBERS)
    assert tuple(measures(outcome([1, 0]))) == OF_CLASSES
    assert all(type(value) is float for value in measures(outcome([[1, 0], [0, 1]])).values())


def test_without_scores_their_measures_are_unknown():
    given = outcome([1, 0, 1], [1, 1, 1])
    found = measures(given._replace(scores=None))
    of_scores = ("auc", "p20", "bep", "pr_auc", "log_loss", "brier", *OF_LABELS)
    assert pick(found, *of_scores) == approx(*[NAN] * len(of_scores))
    others = [name for name in OF_CLASSES if name not in of_scores]
    assert pick(found, *others) == approx(*pick(measures(given), *others))


def test_a_measure_has_the_same_value_if_asked_for_alone():
    given = outcome([[1, 0], [0, 1], [1, 1]], [[1, 1], [0, 1], [0, 1]], [[0.3, 0.1], [0.2, 0.2], [0.1, 1]])
    given = given._replace(probabilities=True)
    together = measures(given)
    for name in OF_CLASSES:
        assert measures(given, (name,)) == pytest.approx({name: together[name]}, rel=0, nan_ok=True)


def test_measures_of_one_task_worked_by_hand():
    """Highest first: + − + + − −, the first two predicted positive."""
    found = measures(outcome([1, 0, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0], [6, 5, 4, 3, 2, 1]))
    assert pick(found, "accuracy", "precision", "recall", "f1") == approx(3 / 6, 1 / 2, 1 / 3, 2 / 5)
    assert pick(found, "micro_precision", "micro_recall", "micro_f1") == approx(1 / 2, 1 / 3, 2 / 5)
    # 7 of 9 pairs are in order; there are 3 positive rows, and 2 of them are among the first 3.
    names = ("sensitivity", "specificity", "auc", "p20", "bep")
    assert pick(found, *names) == approx(1 / 3, 2 / 3, 7 / 9, 3 / 6, 2 / 3)


def test_measures_of_two_tasks_worked_by_hand():
    """First task: tp 1, fn 1, fp 0, tn 2; second: tp 2, fn 0, fp 1, tn 1."""
    truth, predicted = [[1, 1], [1, 0], [0, 1], [0, 0]], [[1, 1], [0, 1], [0, 1], [0, 0]]
    found = measures(outcome(truth, predicted))
    assert pick(found, "accuracy", "precision", "recall", "f1") == approx(6 / 8, 5 / 6, 3 / 4, (2 / 3 + 4 / 5) / 2)
    assert pick(found, "micro_precision", "micro_recall", "micro_f1", "specificity") == approx(
        3 / 4, 3 / 4, 3 / 4, 3 / 4
    )


def test_accuracy_of_targets_is_of_rows_and_targets():
    """Two targets: of the first, with three values, two of four rows are right; of the second three."""
    truth = [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0]]
    predicted = [[1, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1]]
    assert measures(outcome(truth, predicted, exclusive=np.array([0, 0, 0, 1])))["accuracy"] == 5 / 8


def test_measures_if_nothing_is_predicted_positive():
    found = measures(outcome([1, 0], [0, 0], [0.2, 0.1]))
    names = ("precision", "recall", "f1", "micro_precision", "micro_f1", "specificity", "auc")
    assert pick(found, *names) == (0, 0, 0, 0, 0, 1, 1)


def test_a_task_without_positive_rows_is_left_out():
    one = outcome([1, 0, 1, 0], [1, 1, 0, 0], [4, 3, 2, 1])
    absent = np.zeros((4, 1), bool)
    two = Outcome(
        np.hstack([one.truth, absent]), np.hstack([one.predicted, ~absent]), np.hstack([one.scores] * 2), False
    )
    alone, both = measures(one), measures(two)
    for name in ("precision", "recall", "f1", "sensitivity", "micro_recall", "auc", "p20", "bep"):
        assert both[name] == alone[name]
    # False positives of such a task still count in the measures over all tasks.
    assert pick(both, "specificity", "micro_precision", "micro_f1", "accuracy") == approx(1 / 4, 1 / 6, 1 / 4, 1 / 4)


def test_a_task_without_negative_rows_is_left_out():
    found = measures(outcome([[1, 1], [1, 0]], [[1, 1], [0, 1]], [[2, 2], [1, 1]]))
    assert pick(found, "specificity", "auc") == (0, 1)
    assert pick(found, "precision", "recall", "bep") == approx(3 / 4, 3 / 4, 1)


def test_measures_without_positive_or_negative_rows_are_nan():
    negative, positive = measures(outcome([0, 0], [0, 1])), measures(outcome([1, 1], [0, 1]))
    of_all_rows = ("accuracy", "specificity", "hamming_loss", "subset_accuracy")
    assert pick(negative, *of_all_rows) == (1 / 2,) * 4
    assert all(np.isnan(value) for name, value in negative.items() if name not in of_all_rows)
    assert {name for name, value in positive.items() if np.isnan(value)} == {
        *("specificity", "auc", "kappa", "mcc", "log_loss", "brier", *OF_LABELS, "cost")
    }


def test_precision_is_taken_of_the_20_highest_scores():
    """Ranks 1 to 19 hold 10 positive rows; 1 of the 4 rows that tie for rank 20 is positive."""
    truth = [1] * 10 + [0] * 9 + [0, 1, 0, 0] + [1] * 30
    scores = list(range(100, 81, -1)) + [50] * 4 + list(range(30))
    assert measures(outcome(truth, scores=scores))["p20"] == pytest.approx((10 + 1 / 4) / 20, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_measures_of_several_tasks_equal_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random((60, 4)) < [0.2, 0.5, 0.8, 0.4]
    scores = np.round(rng.normal(size=truth.shape) + truth, seed % 3)  # many ties, some, hardly any
    predicted = scores > [0.5, 0.9, 0, 99]  # nothing is predicted positive for the last
    found = measures(Outcome(truth, predicted, scores, False))
    macro = precision_recall_fscore_support(truth, predicted, average="macro", zero_division=0)[:3]
    micro = precision_recall_fscore_support(truth, predicted, average="micro", zero_division=0)[:3]
    assert pick(found, "precision", "recall", "f1") == approx(*macro)
    assert pick(found, "micro_precision", "micro_recall", "micro_f1") == approx(*micro)
    assert found["accuracy"] == pytest.approx(1 - hamming_loss(truth, predicted), rel=1e-12)
    assert found["auc"] == pytest.approx(roc_auc_score(truth, scores, average="macro"), rel=1e-12)
    assert found["specificity"] == pytest.approx(recall_score(~truth, ~predicted, average="macro"), rel=1e-12)
    assert found["sensitivity"] == found["recall"]


@pytest.mark.parametrize("weighted", [False, True])
def test_measures_of_labels_equal_those_of_scikit_learn(weighted):
    """Some rows have no label, some have all, and scores tie."""
    rng = np.random.default_rng(1)
    truth, scores = rng.random((60, 5)) < 0.3, np.round(rng.random((60, 5)), 1)
    truth[:3], truth[3:6] = False, True
    weights = rng.integers(1, 4, 60).astype(float) if weighted else None
    given = Outcome(truth, scores > 0.5, scores, False, weights)
    found = measures(given)
    one_error = [0 if all(row[s == s.max()]) else 1 for row, s in zip(truth, scores)]
    assert pick(found, *OF_LABELS, "hamming_loss", "subset_accuracy") == approx(
        np.average(one_error, weights=weights),
        coverage_error(truth, scores, sample_weight=weights) - np.average(truth.any(axis=1), weights=weights),
        label_ranking_loss(truth, scores, sample_weight=weights),
        label_ranking_average_precision_score(truth, scores, sample_weight=weights),
        hamming_loss(truth, given.predicted, sample_weight=weights),
        accuracy_score(truth, given.predicted, sample_weight=weights),
    )


def test_measures_of_the_order_of_labels_worked_by_hand():
    """The right labels of the first row are second and third of three; those of the second are first and tied."""
    found = measures(outcome([[0, 1, 1], [1, 1, 0]], [[1, 1, 0], [1, 1, 0]], [[0.9, 0.8, 0.1], [0.9, 0.2, 0.2]]))
    expected = (1 / 2, (2 + 2) / 2, (1 + 1 / 2) / 2, ((1 / 2 + 2 / 3) / 2 + (1 + 2 / 3) / 2) / 2)
    assert pick(found, *OF_LABELS) == approx(*expected)
    assert pick(found, "accuracy", "hamming_loss", "subset_accuracy") == approx(4 / 6, 2 / 6, 1 / 2)


@pytest.mark.parametrize("exclusive", [True, np.array([0, 0, 1])])
def test_the_order_of_classes_and_targets_is_not_measured(exclusive):
    truth = [[0, 1, 1], [1, 0, 1]]
    found = measures(outcome(truth, scores=np.zeros((2, 3)))._replace(exclusive=exclusive))
    assert pick(found, *OF_LABELS) == approx(*[NAN] * 4)


def test_the_cost_is_the_mean_by_weight():
    given = outcome([1, 0])._replace(costs=np.array([2.0, -1.0]))
    assert measures(given)["cost"] == 0.5
    assert measures(given._replace(weights=np.array([3.0, 1.0])))["cost"] == 1.25


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 5])
def test_measures_of_a_nominal_class_equal_those_of_scikit_learn(classes, weighted):
    rng = np.random.default_rng(classes)
    p = rng.dirichlet(np.ones(classes), 80)
    y, guess = rng.integers(0, classes, 80), p.argmax(axis=1)
    w = rng.random(80) + 0.1 if weighted else np.ones(80)
    truth, predicted = (np.eye(classes, dtype=bool)[each] for each in (y, guess))
    given = Outcome(truth, predicted, p, True, w if weighted else None, True)
    found = measures(given)
    accuracy = accuracy_score(y, guess, sample_weight=w)
    names = ("micro_f1", "kappa", "mcc", "log_loss", "accuracy", "pr_auc", "auc", "precision", "recall", "f1", "brier")
    assert pick(found, *names) == approx(
        accuracy,
        cohen_kappa_score(y, guess, sample_weight=w),
        matthews_corrcoef(y, guess, sample_weight=w),
        log_loss(y, p, sample_weight=w),
        accuracy,
        *[metric(truth, p, sample_weight=w) for metric in (average_precision_score, roc_auc_score)],
        *precision_recall_fscore_support(y, guess, average="macro", zero_division=0, sample_weight=w)[:3],
        np.average(((p - truth) ** 2).sum(axis=1), weights=w),
    )
    (matrix,) = confusions(given)
    np.testing.assert_allclose(matrix[:-1, :-1], confusion_matrix(y, guess, sample_weight=w), rtol=1e-12)
    assert not matrix[-1].any() and not matrix[:, -1].any()
    if classes == 2:  # as a single task
        one = measures(Outcome(truth[:, 1:], predicted[:, 1:], p[:, 1:], True, given.weights, True))
        assert pick(one, *names[1:5]) == approx(*pick(found, *names[1:5]))
        assert one["brier"] == pytest.approx(brier_score_loss(y, p[:, 1], sample_weight=w), rel=1e-12)


@pytest.mark.parametrize("exclusive", [True, False])
def test_a_row_of_weight_3_counts_like_three_rows(exclusive):
    rng = np.random.default_rng(4)
    scores = np.round(rng.random((40, 3)), 1) / 2
    truth = np.eye(3, dtype=bool)[rng.integers(0, 3, 40)]
    predicted = np.eye(3, dtype=bool)[scores.argmax(axis=1)] if exclusive else scores > 0.2
    times = rng.integers(1, 4, 40)
    weighted = Outcome(truth, predicted, scores, exclusive, times.astype(float), True)
    copied = Outcome(*(np.repeat(each, times, axis=0) for each in weighted[:3]), exclusive, None, True)
    assert measures(weighted) == pytest.approx(measures(copied), rel=1e-12, nan_ok=True)


def test_losses_are_of_probabilities_alone():
    """p of the true class: 0.8, and 0.4 of a class that no training row has, for which the model has none."""
    given = Outcome(*(np.array(a) for a in ([[True, False]], [[True, False]], [[0.8, 0.2]])), True, None, True)
    assert pick(measures(given), "log_loss", "brier") == approx(-np.log(0.8), 0.08)
    absent = given._replace(truth=np.zeros((1, 2), bool))
    assert pick(measures(absent), "log_loss", "brier") == approx(52 * np.log(2), 0.64 + 0.04 + 1)
    for scores in (given._replace(probabilities=False), given._replace(scores=np.array([[1.5, 0]]))):
        assert pick(measures(scores), "log_loss", "brier") == approx(NAN, NAN)


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


def orders(truth, scores):
    """Every order of the rows, as truths, in which scores do not rise: all orders within each group of ties."""
    rows = sorted(range(len(truth)), key=lambda i: -scores[i])
    groups = [list(group) for _, group in groupby(rows, key=lambda i: scores[i])]
    for parts in product(*(list(permutations(group)) for group in groups)):
        yield [truth[i] for part in parts for i in part]


def mean_precision(truth, scores, k):
    """The precision of the first k rows, over all orders."""
    each = [Fraction(sum(map(bool, order[:k])), k) for order in orders(truth, scores)]
    return float(sum(each) / len(each))


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=6).filter(
        lambda rows: any(positive for positive, _ in rows)
    )
)
def test_ties_are_averaged_over_every_order(rows):
    truth, scores = zip(*rows, strict=True)
    found = measures(outcome(truth, scores=scores))
    assert found["bep"] == pytest.approx(mean_precision(truth, scores, sum(truth)), rel=1e-12, abs=1e-15)
    assert found["p20"] == pytest.approx(sum(truth) / len(truth), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_ties_across_rank_20_are_averaged_over_every_order(seed):
    """17 rows have ranks of their own; six tie for ranks 18 to 20 and beyond; more rows follow."""
    rng = np.random.default_rng(seed)
    truth = rng.random(27) < 0.4
    truth[17:23] = rng.permutation([1] * (1 + seed % 5) + [0] * (5 - seed % 5)).astype(bool)
    scores = np.concatenate([np.arange(17) + 9.0, np.full(6, 7.5), np.arange(4.0)])
    expected = mean_precision(truth.tolist(), scores.tolist(), 20)
    assert 0 < expected < 1
    shuffled = rng.permutation(27)
    assert measures(outcome(truth[shuffled], scores=scores[shuffled]))["p20"] == pytest.approx(expected, rel=1e-12)


def test_auc_and_precision_depend_only_on_the_order_of_scores():
    truth = [1, 0, 1, 0, 0, 1]
    plain = measures(outcome(truth, truth, [5, 5, 4, 3, 2, 1]))
    assert measures(outcome(truth, truth, [np.inf, np.inf, 1e300, 0, -1e-300, -np.inf])) == plain
    assert measures(outcome([1, 0], [1, 0], [0.0, -0.0]))["auc"] == 0.5


def test_invalid_outcomes_are_refused():
    one = outcome([1, 0])
    for wrong, message in [
        (one._replace(predicted=np.ones((2, 2), bool)), "shape"),
        (one._replace(scores=np.ones((3, 1))), "shape"),
        (Outcome(np.ones((0, 2), bool), np.ones((0, 2), bool), np.ones((0, 2)), True), "no rows"),
        (one._replace(truth=np.ones((2, 1))), "bool"),
        (one._replace(scores=np.array([[1], [NAN]])), "NaN"),
    ]:
        with pytest.raises(ValueError, match=message):
            measures(wrong)
