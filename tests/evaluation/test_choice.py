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
from filterkit.evaluation.folds import CHOSEN, Design, Splits
from filterkit.evaluation.results import Results, read_results
from filterkit.evaluation.runner import Evaluator, named_chain, run
from filterkit.stages.learner import Learner

NAN = np.nan


def design(*texts, folds=3, choose="f1", **others):
    return Design(tuple(named_chain(text) for text in texts), folds, choose=choose, **others)


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
        ([[-0.5, -0.2]], 1),
        ([[NAN, 1.0]], 0),
    ],
)
def test_the_best_mean_is_chosen_and_the_first_of_equals(merits, best):
    assert best_of(np.array(merits)) == best


def test_without_folds_the_first_is_chosen():
    assert best_of(np.empty((0, 3))) == 0


# ---- against a plain loop -----------------------------------------------------------------------------


CHAINS = ("bare: svm --c 0.05", "scaled: standardize svm --c 0.05", "shaped: shape bns l2 svm --c 0.05")


@pytest.mark.parametrize("choose", ["f1", "auc"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_choice_is_that_of_a_plain_loop(choose, weighted):
    """Each training part is dealt into five inner folds; weights count in fitting and in measuring."""
    batch = sample("breast-cancer").take(np.arange(0, 569, 3))
    X = np.column_stack([batch.X[:, :3], np.random.default_rng(0).normal(scale=100, size=len(batch))])
    batch = batch.replace(schema=batch.schema.with_features(batch.schema.features[:4], np.arange(4)), X=X)
    if weighted:
        batch = batch.replace(weights=(np.arange(len(batch)) % 4).astype(float))
    plan = design(*CHAINS, choose=choose)
    results = evaluated(batch, plan)
    splits = Splits(batch.y, plan)
    names = [name for name, _ in plan.chains]
    found = []
    for fold in range(3):
        rows = splits.training(fold)
        inner = splits.inner(fold, 1.0, 5)
        part = batch.take(rows)
        means = [np.mean([plain(text, part, inner, n, choose) for n in range(5)]) for _, text in plan.chains]
        found.append(names[int(np.argmax(np.round(means, 12)))])
    assert [result.choice for result in of_chain(results, CHOSEN)] == found
    for one in of_chain(results, CHOSEN):
        (same,) = (r for r in of_chain(results, one.choice) if r.fold == one.fold)
        assert one._replace(chain=same.chain, choice="", seconds=0) == same._replace(seconds=0)
        assert one.seconds > same.seconds


def plain(text, rows, inner, number, choose):
    """The measure of a chain on one inner fold, by scikit-learn."""
    from sklearn.metrics import roc_auc_score

    schema = rows.schema.replace(positive="malignant")
    rows = rows.replace(schema=schema)
    fitted = filterkit.chain(text).fit(rows.take(inner.training(number)))
    held_out = rows.take(inner.test(number))
    out = fitted.transform(held_out)
    score = np.asarray(out.X)[:, [a.name for a in out.schema.features].index("score@malignant")]
    truth = held_out.y == schema.class_attribute.values.index("malignant")
    if choose == "auc":
        return roc_auc_score(truth, score, sample_weight=held_out.weights)
    return f1_score(truth, score > 0, sample_weight=held_out.weights)


def test_the_same_chain_may_be_chosen_always_or_never():
    """The class is an exclusive or, which no linear classifier of the bare columns can learn."""
    rng = np.random.default_rng(1)
    X = rng.choice([-1.0, 1.0], (120, 2)) + rng.normal(scale=0.1, size=(120, 2))
    batch = make(X, X[:, 0] * X[:, 1] > 0)
    for texts in (("bare: svm", "right: neighbors"), ("right: neighbors", "bare: svm")):
        for choose in ("accuracy", "f1", "auc", "kappa"):
            results = evaluated(batch, design(*texts, choose=choose, shares=(0.3, 0.6)))
            assert {result.choice for result in of_chain(results, CHOSEN)} == {"right"}
            assert all(result.values["accuracy"] == 1 for result in of_chain(results, CHOSEN))
            assert Results(results).choices() == {
                share: {texts[0].partition(":")[0]: 3 * (texts[0][0] == "r")} | {"right": 3} | {"bare": 0}
                for share in (0.3, 0.6)
            }


def test_a_smaller_loss_is_better():
    batch = sample("breast-cancer").take(np.arange(0, 569, 4))
    texts = ("far: sample --fraction 0.2 neighbors --k 1", "near: standardize neighbors --k 9")
    results = evaluated(batch, design(*texts, choose="log_loss"))
    assert {result.choice for result in of_chain(results, CHOSEN)} == {"near"}
    means = {c: np.mean([r.values["log_loss"] for r in of_chain(results, c)]) for c in ("far", "near")}
    assert means["near"] < means["far"] / 2


# ---- honest nesting -----------------------------------------------------------------------------------


def test_on_noise_the_chosen_chain_is_as_good_as_chance():
    """Each of ten chains knows one column of noise. The best on the test rows looks good; the chosen one cannot."""
    texts = [f"c{j}: keep --attribute a{j} svm" for j in range(10)]
    chosen, best = [], []
    for seed in range(4):
        results = evaluated(noise(80, 10, seed), design(*texts, choose="auc", folds=4))
        aucs = np.array([[r.values["auc"] for r in of_chain(results, f"c{j}")] for j in range(10)])
        chosen += [r.values["auc"] for r in of_chain(results, CHOSEN)]
        best += aucs.max(axis=0).tolist()
        # What the choice sees is no better than what it gets: it would be if test rows had a part in it.
        assert {r.choice for r in of_chain(results, CHOSEN)} - {"c0"}
    assert np.mean(best) > 0.65
    assert abs(np.mean(chosen) - 0.5) < 2.5 * np.std(chosen, ddof=1) / np.sqrt(len(chosen))


def test_the_choice_never_sees_a_test_row(monkeypatch):
    """Nor do stages of inner folds see rows that are held out, or rows of weight 0 count."""
    batch = noise(60, 2)
    batch = batch.replace(X=np.column_stack([np.arange(60.0), batch.X[:, 1]]))
    seen = []

    def spied(chains, training, test, place, costs):
        seen.append((place, training.X[:, 0].astype(int), test.X[:, 0].astype(int)))
        return try_chains(chains, training, test, place, costs)

    try_chains = choice.try_chains
    monkeypatch.setattr(choice, "try_chains", spied)
    plan = design("one: svm", "two: standardize svm", shares=(0.4,))
    evaluated(batch, plan)
    splits = Splits(batch.y, plan)
    assert len(seen) == 3 * 5
    for fold in range(3):
        rows = splits.training(fold, 0.4).tolist()
        parts = [each for each in seen if f"fold {fold + 1}," in each[0].partition(", inner")[0] + ","]
        assert len(parts) == 5
        for _, training, test in parts:
            assert sorted([*training, *test]) == rows and not set(training) & set(test)
        assert sorted(row for _, _, test in parts for row in test) == rows


def test_groups_stay_together_in_inner_folds_too(monkeypatch):
    """Rows of a group are copies of each other: one that is split would make the nearest row look perfect."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(24), 5)
    X = np.repeat(rng.normal(size=(24, 6)), 5, axis=0)
    y = np.repeat(rng.permutation(np.arange(24) % 2), 5)
    attributes = [Attribute("person"), *(Attribute(f"a{j}") for j in range(6)), Attribute("c", "nominal", ("n", "y"))]
    batch = Batch(Schema("g", attributes, 7), np.column_stack([person, X]), y.astype(np.int32))
    seen = []

    def spied(merits):
        seen.append(merits)
        return best_of(merits)

    monkeypatch.setattr(choice, "best_of", spied)
    texts = ("few: neighbors --k 1", "many: neighbors --k 41")
    evaluated(batch, design(*texts, choose="accuracy", group="person"))
    assert np.mean([merits[:, 0].mean() for merits in seen]) < 0.75
    seen.clear()
    evaluated(batch, design(*texts, choose="accuracy"))
    assert np.mean([merits[:, 0].mean() for merits in seen]) > 0.95


# ---- what cannot be told ------------------------------------------------------------------------------


def test_a_single_group_leaves_no_choice():
    batch = noise(12, 2)
    splits = Splits(batch.y, design("svm", "neighbors", folds=2), np.repeat([0, 1], 6))
    assert splits.inner(0, 1.0, 5) is None
    assert choice.choose([("svm", None), ("neighbors", None)], "f1", batch, None, "here") == 0


@pytest.mark.parametrize("rows", [6, 7, 9])
def test_few_rows_have_fewer_inner_folds(rows):
    """Of very few positive rows some inner folds have none, where F1 is undefined."""
    batch = make(np.arange(rows)[:, None], np.arange(rows) % 3 == 0)
    results = evaluated(batch, design("svm", "neighbors --k 1", folds=2))
    assert all(result.choice for result in of_chain(results, CHOSEN))


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
    with pytest.raises(FilterkitError, match="chain 'alone': auc needs scores, and its learner predicts labels alone"):
        evaluated(noise(40, 2), design("plain: svm", alone, choose="auc"))


def test_an_error_names_the_inner_fold():
    batch = noise(40, 2)
    with pytest.raises(FilterkitError, match=r"^d, class, fold 1, inner fold 1, chain 'strict': svm: 22 folds: "):
        evaluated(batch, design("plain: svm", "strict: svm --c 1,2 --folds 22", folds=3))
    with pytest.raises(
        FilterkitError,
        match=r"^d, class, fold 1, inner fold 1, chain 'plain': brier needs probabilities, and its learner",
    ):
        evaluated(batch, design("plain: svm", "neighbors", choose="brier"))


@pytest.mark.parametrize(
    ("chains", "message"),
    [
        (("svm",), "there must be several chains to choose from"),
        (("svm", "chosen: l2 svm"), "a chain is named 'chosen', which is the name of what is chosen"),
    ],
)
def test_a_design_without_a_choice_is_refused(chains, message):
    with pytest.raises(UsageError, match=f"^{message}$"):
        design(*chains)


# ---- classes, labels, test sets, engines, files -------------------------------------------------------


def test_classes_labels_and_targets_can_be_chosen_for():
    chains = ("svm", "neighbors --k 1")
    for one_against_rest in (False, True):
        plan = design(*chains, one_against_rest=one_against_rest, folds=2)
        for batch in (sample("iris"), labelled()):
            results = evaluated(batch, plan)
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
    training, test = batch.take(np.arange(0, 200)), batch.take(np.arange(200, 260))
    plan = design("standardize svm", "neighbors")
    shuffled = test.replace(y=test.y[::-1].copy(), X=test.X * -1)
    found = [Evaluator([("d", training)], plan, each).evaluate("d", "diagnosis", 0)[-1] for each in (test, shuffled)]
    assert [each.chain for each in found] == [CHOSEN, CHOSEN]
    assert found[0].choice == found[1].choice and found[0].values != found[1].values


def test_results_keep_the_choices(tmp_path):
    results = Results(evaluated(sample("iris"), design("svm", "neighbors")))
    path = tmp_path / "r.csv"
    path.write_text(results.text(by_class=True))
    again = Results(read_results(str(path)))
    assert again.choices() == results.choices() and len(results.choices()) == 1
    assert sum(results.choices()[2 / 3].values()) == 3
    assert [row.choice for row in again.rows] == [row.choice for row in results.rows]
    plain = Results(evaluated(sample("iris"), replace(design("svm", "neighbors"), choose=None)))
    assert "choice" not in plain.text().partition("\n")[0] and plain.choices() == {}


def test_other_chains_have_the_results_that_they_have_without_a_choice():
    plan = design("svm", "neighbors", shares=(0.2, 0.5))
    chosen = evaluated(sample("iris"), plan)
    assert without_seconds(r for r in chosen if r.chain != CHOSEN) == without_seconds(
        evaluated(sample("iris"), replace(plan, choose=None))
    )


def test_a_learner_with_its_own_inner_folds_may_be_chosen():
    batch = sample("breast-cancer").take(np.arange(0, 569, 4))
    results = evaluated(batch, design("standardize svm --c 0.01,1 --calibrate", "neighbors", choose="brier"))
    assert all(r.choice for r in of_chain(results, CHOSEN))
    assert issubclass(type(filterkit.chain("svm").stages[0]), Learner)
