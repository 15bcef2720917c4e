"""Passes over rows: how many there are, and weights that cannot be counted."""

import pickle

import numpy as np
import pytest
from agreement import cut, make, sample
from counted import counted_rows, rows_in_memory

import filterkit
from filterkit.chains.saved import encode_chain
from filterkit.engines.local import LocalEngine


def test_a_stage_that_needs_no_class_counts_the_rows_that_have_none():
    rows = rows_in_memory([make([[1], [2], [9]], [0, 1, -1])])
    found, _ = filterkit.chain("bns --score-only range").fit_rows(rows)
    assert found.stages[1].get_state()["state.span"].tolist() == [8]


# ---- weights that cannot be counted -----------------------------------------------------------------------

USING_WEIGHTS = [
    "impute",
    "standardize",
    "range",
    "shape --cross-fit 2",
    "bins",
    "bns",
    "fisher",
    "tfidf",
    "select --by ig --top 1",
    "normal",
    "svm --c 1,2 --folds 2",
    "aisvm",
    "neighbors",
    "adaboost-mh",
    "mp-boost",
]
ROWS = [[0, 1], [1, 0], [1, 1], [0, 1]], [0, 1, 1, 0]


@pytest.mark.parametrize("step", [1, 4])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, 1e308, 1], r"row 3: the instance weight 1e\+308 cannot be counted; weights may add up to 2\^43"),
        ([1, 1, 1e13, np.inf], r"row 3: the instance weight 1e\+13 cannot be counted; weights may add up to 2\^43"),
        ([1, -1, 1, 1], r"row 2: the instance weight -1 cannot be counted; it must be finite and at least 0"),
        ([1, np.inf, 1, 1], r"row 2: the instance weight inf cannot be counted; it must be finite and at least 0"),
        ([4e12] * 4, r"the instance weights add up to 1.6e\+13, but no more than 2\^43, about 8.8e\+12, can be"),
        ([1e-320] * 4, r"the instance weights are .*e-321 on average, which is too little to be counted exactly"),
        ([1e-13, 0, 1e-13, 1e-13], r"the instance weights are 1e-13 on average, which is too little to be counted"),
    ],
)
def test_weights_that_cannot_be_counted_are_refused(step, weights, message):
    for text in USING_WEIGHTS:
        with pytest.raises(filterkit.StageError, match=f"^{text.split()[0]}: {message}"):
            filterkit.chain(text).fit(cut(make(*ROWS, weights=weights), step))


@pytest.mark.parametrize("weights", [[2.0**41] * 4, [2.0**-40] * 4, [0.0, -0.0, 1, 1], [2.0**42, 1e-300, 0, 1]])
def test_weights_at_the_limits_are_counted(weights):
    for text in ("range", "bins", "bns", "svm", "neighbors"):
        filterkit.chain(text).fit(cut(make(*ROWS, weights=weights), 2))


@pytest.mark.parametrize("text", ["standardize", "bns"])
def test_a_weight_too_small_to_be_counted_is_taken_as_zero(text):
    """Probabilities from expectation maximisation, used as weights, can be as small."""
    X, y = [[1, 2], [2, np.nan], [3, 1], [7, 7]], [0, 1, 1, 0]
    one, other = (
        encode_chain(filterkit.chain(text).fit(make(X, y, weights=[1, 1, 1, small]))) for small in (2.0**-65, 0)
    )
    assert one == other


class Handle:
    """Stands for a result that is kept elsewhere."""

    def __init__(self, result):
        self.text, self.nbytes = pickle.dumps(result), result.nbytes


def taken(item):
    """An item with the results that handles stand for."""
    if isinstance(item, Handle):
        return pickle.loads(item.text)
    return type(item)(map(taken, item)) if type(item) in (tuple, list) else item


class Keeping(LocalEngine):
    """Keeps results elsewhere; this process must not fetch them."""

    def map(self, function, items):
        return super().map(function, map(taken, items))

    def keep(self, function):
        return lambda item: Handle(function(item))


def fitted_with(text, batch, memory, engine=LocalEngine):
    """The saved chain, and in how many passes it was found."""
    rows = counted_rows(cut(batch, 20), engine(1), 0)
    found, _ = filterkit.chain(text).fit_rows(rows, memory)
    return encode_chain(found), rows.source.passes


def test_a_table_of_all_columns_serves_all_stages_and_a_strip_serves_one():
    batch = sample("wine", "first")
    for text in ("shape bns", "shape bns ig standardize", "select --by ig --top 3 bns"):
        assert fitted_with(text, batch, 1 << 30)[1] == 1, text
    strips = fitted_with("shape", batch, 20_000)[1]
    assert 4 < strips < fitted_with("shape bns", batch, 20_000)[1]
    for text, passes in (("standardize", 1), ("impute range standardize", 3)):
        assert fitted_with(text, batch, 100_000)[1] == passes, text


@pytest.mark.parametrize(
    "text", ["shape bns standardize", "shape rand select --top 3 ig", "tfidf shape --only *length* bns"]
)
def test_the_budget_does_not_change_what_is_learned(text):
    batch = sample("iris").take(np.arange(0, 150, 3))
    expected = fitted_with(text, batch, 1 << 30)[0]
    assert fitted_with(text, batch, 20_000)[0] == expected
    assert fitted_with(text, batch, 5_000, Keeping)[0] == expected
