"""`agree`: which rows stay, against the same folds by hand, and what is refused."""

import numpy as np
import pytest
from agreement import make, sample
from cases import fit, rows, training_rows

import filterkit
from filterkit import testing

NEAREST = "agree --chain 'neighbors --distance euclidean'"


def clusters(wrong=(3, 12)):
    """Ten rows near 0 and ten near 100, each group a class but for the rows `wrong`."""
    y = np.repeat([0, 1], 10)
    y[list(wrong)] = 1 - y[list(wrong)]
    return make(np.concatenate([np.arange(10), 100 + np.arange(10)])[:, None], y)


def test_rows_in_the_midst_of_another_class_are_dropped():
    batch = clusters()
    out = training_rows("agree --chain 'neighbors --k 3 --distance euclidean'", batch)
    assert out.X.ravel().tolist() == np.delete(batch.X.ravel(), [3, 12]).tolist()
    assert testing.same(training_rows(NEAREST, clusters(())), clusters(()))


@pytest.mark.parametrize("chain", ["standardize svm", "--positive"])
def test_each_fold_is_predicted_by_the_others(chain):
    """By leave-one-out every row is predicted by a chain that is fitted on all others."""
    batch = sample("iris").take(np.arange(0, 150, 8))
    if chain == "--positive":
        chain, batch = "standardize svm", batch.replace(schema=batch.schema.replace(positive="versicolor"))
    kept = []
    for i in range(len(batch)):
        out = (
            filterkit.chain(chain).fit(batch.take(np.delete(np.arange(len(batch)), i))).transform(batch.rows(i, i + 1))
        )
        found = filterkit.to_pandas(out)
        expected = found["class"][0]
        if batch.schema.positive is not None and expected != "versicolor":
            expected = "rest"
        kept += [i] if found["prediction"][0] == expected else []
    assert 0 < len(kept) < len(batch)
    assert testing.same(training_rows(f"agree --folds 19 --chain '{chain}'", batch), batch.take(np.array(kept)))


def test_a_class_of_two_rows_is_predicted_from_each_other():
    """The two rows of c lie among the other classes, and take their places with them."""
    batch = make(np.array([1, 1.1, 1.2, 5, 5.1, 5.2, 1.05, 5.05])[:, None], [0, 0, 0, 1, 1, 1, 2, 2], "abc")
    out = training_rows(f"{NEAREST} --folds 2", batch)
    assert out.X.ravel().tolist() == [1.1, 1.2, 5.1, 5.2]


def test_rounds_go_on_until_none_is_dropped():
    batch = sample("iris")
    chain = "agree --chain 'standardize neighbors' --folds 3"
    sizes = [len(training_rows(f"{chain} --rounds {rounds}", batch)) for rounds in (1, 2, 3, 20, 21)]
    assert 150 > sizes[0] >= sizes[1] >= sizes[2] >= sizes[3] == sizes[4]
    assert sizes[0] > sizes[3]


def test_rows_without_a_class_and_the_only_row_of_one_stay():
    batch = clusters()
    y = batch.y.copy()
    y[3], y[12] = -1, 2
    batch = make(batch.X, y, "abc")
    assert testing.same(training_rows("agree --chain 'neighbors --k 3 --distance euclidean'", batch), batch)
    assert len(training_rows(NEAREST, batch.take(np.array([], int)))) == 0


def test_texts_may_be_what_it_learns_from():
    texts = ["ham ham"] * 6 + ["spam spam"] * 6
    out = training_rows(
        "agree --chain 'words svm' --folds 4", rows({"t": texts, "class": ["a"] * 5 + ["b"] * 7}, texts=["t"])
    )
    assert out.y.tolist() == [0] * 5 + [1] * 6


def test_the_seed_decides_the_folds_whatever_the_blocks():
    batch = sample("iris")
    chain = "agree --chain 'standardize neighbors' --folds 2"
    assert not testing.same(training_rows(f"{chain} --seed 1", batch), fit(chain, batch)[1])
