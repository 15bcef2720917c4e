"""`evaluate --choose`: the choice among chains sees the training rows alone."""

from dataclasses import replace

import numpy as np
import pytest
from agreement import make, sample
from sklearn.metrics import f1_score

import filterkit
from filterkit import Attribute, Batch, FilterkitError, Schema, UsageError
from filterkit.evaluation import choice
from filterkit.evaluation.choice import best_of
from filterkit.evaluation.folds import CHOSEN, Design, Splits, split_inner
from filterkit.evaluation.results import Results, read_results
from filterkit.evaluation.runner import Evaluator, parse_named_chain, run

NAN = np.nan


def design(*texts, folds=3, choose="f1", **others):
    return Design(tuple(parse_named_chain(text) for text in texts), folds, choose=choose, **others)


def evaluated(batch, plan, **others):
    return [result for _, results in run(Evaluator([("d", batch)], plan), **others) for result in results]


def without_seconds(results):
    return [result._replace(seconds=0) for result in results]


def of_chain(results, chain):
    return [result for result in results if result.chain == chain]


def noise(rows, columns, seed=0, **options):
    """Columns that say nothing about the class."""
    rng = np.random.default_rng(seed)
    return make(rng.normal(size=(rows, columns)), rng.permutation(np.arange(rows) % 2), **options)


# ---- the rule -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("merits", "best"),
    [
        ([[0.1, 0.3, 0.2]], 1),
        ([[0.1, 0.3], [0.5, 0.3]], 0),  # equal means: the first
        ([[0.6, 0.7], [0.6, 0.6], [0.6, 0.6], [0.6, 0.6], [0.7, 0.6]], 0),  # equal but for the order of the sum
        ([[0.5, 0.5 + 1e-14]], 0),
        ([[0.2, 0.3], [NAN, 0.0], [0.1, NAN]], 1),  # folds that are undefined for a chain do not count
        ([[NAN, 1.0]], 0),
        (np.empty((0, 3)), 0),
    ],
)
def test_the_best_mean_is_chosen_and_the_first_of_equals(merits, best):
    assert best_of(np.array(merits)) == best


# ---- against a plain loop -----------------------------------------------------------------------------


CHAINS = ("bare: svm --c 0.05", "scaled: standardize svm --c 0.05", "shaped: shape bns l2 svm --c 0.05")


def test_the_choice_is_that_of_a_plain_loop():
    """Each training part is dealt into five inner folds; weights count in fitting and in measuring."""
    batch = sample("breast-cancer").take(np.arange(0, 569, 3))
    X = np.column_stack([batch.X[:, :3], np.random.default_rng(0).normal(scale=100, size=len(batch))])
    schema = batch.schema.with_features(batch.schema.features[:4], np.arange(4))
    batch = batch.replace(schema=schema, X=X, weights=(np.arange(len(batch)) % 4).astype(float))
    plan = design(*CHAINS)
    results, splits = evaluated(batch, plan), Splits(batch.y, plan)
    for one in of_chain(results, CHOSEN):
        rows = splits.training(one.fold)
        part, inner = batch.take(rows), split_inner(batch.y, plan, None, rows, one.fold, 5)
        means = [np.mean([plain(text, part, inner, n) for n in range(5)]) for _, text in plan.chains]
        assert one.choice == plan.chains[int(np.argmax(np.round(means, 12)))][0]
        (same,) = (r for r in of_chain(results, one.choice) if r.fold == one.fold)
        assert one._replace(chain=same.chain, choice="", seconds=0) == same._replace(seconds=0)
        assert one.seconds > same.seconds
    others = evaluated(batch, replace(plan, choose=None))
    assert without_seconds(r for r in results if r.chain != CHOSEN) == without_seconds(others)


def plain(text, rows, inner, number):
    """F1 of a chain on one inner fold, by scikit-learn."""
    rows = rows.replace(schema=rows.schema.replace(positive="malignant"))
    fitted = filterkit.chain(text).fit(rows.take(inner.training(number)))
    held_out = rows.take(inner.test(number))
    out = fitted.transform(held_out)
    score = out.X[:, [a.name for a in out.schema.features].index("score@malignant")]
    truth = held_out.y == rows.schema.class_attribute.values.index("malignant")
    return f1_score(truth, score > 0, sample_weight=held_out.weights)


# ---- honest nesting -----------------------------------------------------------------------------------


def test_the_choice_never_sees_a_test_row(monkeypatch):
    """Nor do stages of inner folds see rows that are held out."""
    batch = noise(60, 2)
    batch.X[:, 0] = np.arange(60)
    seen, try_chains = {fold: [] for fold in range(3)}, choice.try_chains

    def spied(chains, training, test, place, costs):
        seen[int(place.split("fold ")[1][0]) - 1].append(
            [part.X[:, 0].astype(int).tolist() for part in (training, test)]
        )
        return try_chains(chains, training, test, place, costs)

    monkeypatch.setattr(choice, "try_chains", spied)
    plan = design("one: svm", "two: standardize svm", shares=(0.4,))
    evaluated(batch, plan)
    for fold, parts in seen.items():
        rows = Splits(batch.y, plan).training(fold, 0.4).tolist()
        assert len(parts) == 5
        assert all(sorted(training + test) == rows for training, test in parts)
        assert sorted(row for _, test in parts for row in test) == rows


def test_groups_stay_together_in_inner_folds_too():
    y, groups = np.repeat(np.arange(24) % 2, 5), np.repeat(np.arange(24), 5)
    plan = design("svm", "neighbors")
    splits = Splits(y, plan, groups)
    for fold in range(3):
        rows = splits.training(fold)
        own, inner = groups[rows], split_inner(y, plan, groups, rows, fold, 5)
        assert not any(set(own[inner.training(n)]) & set(own[inner.test(n)]) for n in range(5))


def test_a_single_group_leaves_no_choice():
    batch = noise(12, 2)
    plan = design("svm", "neighbors", folds=2)
    assert split_inner(batch.y, plan, np.repeat([0, 1], 6), np.arange(6), 0, 5) is None
    assert choice.choose([("svm", None), ("neighbors", None)], "f1", batch, None, "here") == 0


# ---- what cannot be told ------------------------------------------------------------------------------


def test_inner_folds_without_a_positive_row_to_learn_from_are_left_out():
    """Both positive groups are in other outer folds; inside, holding one out leaves none."""
    groups = np.repeat(np.arange(6), 4)
    X = np.column_stack([groups, np.arange(24) % 7, np.arange(24) % 5]).astype(float)
    attributes = [Attribute("g"), Attribute("x"), Attribute("z"), Attribute("c", "nominal", ("n", "y"))]
    y = np.isin(groups, [1, 4]).astype(np.int32)
    batch = Batch(Schema("s", attributes, 3, "y"), X, y)
    results = evaluated(batch, design("svm", "neighbors", folds=2, group="g"))
    assert len(of_chain(results, CHOSEN)) == 2


def test_held_out_rows_without_weight_tell_nothing():
    batch = noise(30, 2)
    batch = batch.replace(weights=np.where(np.arange(30) % 5 < 2, 1.0, 0.0))
    results = evaluated(batch, design("svm", "neighbors"))
    assert len(of_chain(results, CHOSEN)) == 3


def test_a_measure_of_scores_cannot_choose_among_labels():
    alone = "alone: predict VotingClassifier --set estimators=GaussianNB,LinearSVC"
    with pytest.raises(FilterkitError, match="chain 'alone': auc needs scores, but its learner predicts only labels"):
        evaluated(noise(40, 2), design("plain: svm", alone, choose="auc"))


def test_an_error_names_the_inner_fold():
    batch = noise(40, 2)
    with pytest.raises(FilterkitError, match=r"^d, class, fold 1, inner fold 1, chain 'strict': svm: --folds 22: "):
        evaluated(batch, design("plain: svm", "strict: svm --c 1,2 --folds 22", folds=3))
    with pytest.raises(
        FilterkitError,
        match=r"^d, class, fold 1, inner fold 1, chain 'plain': brier needs probabilities, but its learner",
    ):
        evaluated(batch, design("plain: svm", "neighbors", choose="brier"))


@pytest.mark.parametrize(
    ("chains", "message"),
    [
        (("svm",), "give at least two chains to choose from"),
        (
            ("svm", "chosen: l2 svm"),
            "a chain is named 'chosen', which stands for the chosen chain; give it another name",
        ),
    ],
)
def test_a_design_without_a_choice_is_refused(chains, message):
    with pytest.raises(UsageError, match=f"^{message}$"):
        design(*chains)


# ---- classes, labels, test sets, engines, files -------------------------------------------------------


@pytest.mark.parametrize("one_against_rest", [False, True])
def test_labels_can_be_chosen_for(one_against_rest):
    chains = ("svm", "neighbors --k 1")
    results = evaluated(labelled(), design(*chains, one_against_rest=one_against_rest, folds=2))
    assert len(results) == 3 * len({(r.task, r.fold) for r in results})
    assert all(r.choice in chains for r in of_chain(results, CHOSEN))


def labelled(rows=60):
    rng = np.random.default_rng(2)
    X = rng.random((rows, 3))
    y = (X[:, :2] + rng.random((rows, 2)) > 1).astype(np.int8)
    names = [Attribute(f"a{j}") for j in range(3)] + [Attribute(n, "nominal", ("0", "1")) for n in "pq"]
    return Batch(Schema("s", names, labels=(3, 4)), X, y)


def test_a_test_set_has_no_part_in_the_choice():
    batch = sample("breast-cancer")
    training, test = batch.rows(0, 200), batch.rows(200, 260)
    plan = design("standardize svm", "neighbors")
    others = test.replace(X=test.X * -1)
    found = [Evaluator([("d", training)], plan, each).evaluate(("d", "diagnosis", 0))[-1] for each in (test, others)]
    assert found[0].chain == CHOSEN
    assert found[0].choice == found[1].choice and found[0].values != found[1].values


def test_results_keep_the_choices(tmp_path):
    results = Results(evaluated(sample("iris"), design("svm", "neighbors")))
    path = tmp_path / "r.csv"
    path.write_text(results.text(by_class=True))
    again = Results(read_results(str(path)))
    assert [row.choice for row in again.rows] == [row.choice for row in results.rows]
    assert again.choices() == results.choices() and sum(results.choices()[2 / 3].values()) == 3
