"""`select`: which columns stay, for every kind of limit."""

import warnings

import numpy as np
import pytest
from agreement import columns, dense, feature_names, make

import filterkit
from filterkit import StageError
from filterkit.plugin import ContingencyTable

# Four words: in rows 0-2, 0-1, 3-4 and 2, of three positive and three negative rows; a constant one; an absent one.
X = np.array(
    [
        [1, 2, 0, 0, 1, 0],
        [1, 1, 0, 0, 1, 0],
        [1, 0, 0, 1, 1, 0],
        [0, 0, 1, 0, 1, 0],
        [0, 0, 1, 0, 1, 0],
        [0, 0, 0, 0, 1, 0],
    ],
    float,
)
Y = [1, 1, 1, 0, 0, 0]


WORDS = make(X, Y, positive="yes", sparse=True)


def kept(batch, text):
    fitted = filterkit.chain(text).fit(batch)
    out = fitted.transform(batch)
    assert out.schema == fitted.schema
    names = feature_names(out)
    place = feature_names(batch)
    np.testing.assert_array_equal(dense(out), dense(batch)[:, [place.index(name) for name in names]])
    return names


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # acc2: a0 1, a1 2/3, a2 2/3, a3 1/3, the constant ones 0
        ("--by acc2 --top 2", "a0 a1"),  # a tie goes by order
        ("--by acc2 --top 99", "a0 a1 a2 a3 a4 a5"),
        ("--by acc2 --fraction 0.51", "a0 a1 a2 a3"),
        ("--by acc2 --fraction 0.001", "a0"),
        ("--by acc2 --min-score 1", "a0"),
        ("--by acc2 --sparsity 0.5", "a0"),  # 3 non-zeros in 6 rows
        ("--by acc2 --sparsity 0.834", "a0 a1"),
        ("--by acc2 --sparsity 100", "a0 a1 a2 a3 a4 a5"),
        ("--min-count 2", "a0 a1 a2 a4"),
        ("--max-fraction 0.5", "a0 a1 a2 a3 a5"),
        ("--min-count 1 --max-fraction 0.5", "a0 a1 a2 a3"),
        ("--min-count 1 --max-fraction 0.34 --by acc2 --top 1", "a1"),
        ("--by acc2 --top 1 --keep a3", "a0 a3"),
        ("--by acc2 --top 1 --keep a5 --keep a3 --keep class", "a0 a3 a5"),
        ("--by acc2 --top 3 --min-score 0.9", "a0"),
        ("--by bns --alpha 0 --top 1", "a2"),  # only features of the negative class
        ("--by dfreq --top 1", "a0"),  # the constant one is in more rows, but does not vary
    ],
)
def test_the_columns_within_the_limit_are_kept(options, expected, sparse):
    assert kept(WORDS if sparse else make(X, Y, positive="yes"), f"select {options}") == expected.split()


def with_scores(batch, scores):
    """The batch with the scores of each column."""
    features = [a._replace(scores=tuple(each)) for a, each in zip(batch.schema.features, scores, strict=True)]
    return batch.replace(schema=batch.schema.with_features(features, np.arange(len(features))))


# acc of a rare word of the negative class is below 0, that of an absent word 0.
RARE = make([[0, 0], [0, 1], [0, 1], [0, 0], [0, 0]], [1, 0, 0, 0, 0], positive="yes")
# Class a has three perfect words, b and c a good one each.
CLASSES = make(
    [[1, 1, 1, 0, 0]] * 4 + [[0, 0, 0, 1, 0]] * 3 + [[0] * 5] + [[0, 0, 0, 0, 1]] * 3 + [[0] * 5],
    [0] * 4 + [1] * 4 + [2] * 4,
    ("a", "b", "c"),
)
HUNDRED = make(np.arange(100)[:, None] < np.array([29, 30]), [0, 1] * 50)
WEIGHTED = make(X, Y, positive="yes", weights=[1, 1, 1, 1, 1, 5])
MISSING = make([[np.nan, 0], [1, 1], [0, 2]], [0, 1, 1], nominal=[1])  # missing values and first labels do not count
SCORES = [[("bns", 3.0)], [("bns", 1.0), ("own", 5.0)], [("bns", 2.0), ("own", 7.0)], []]
SCORED = with_scores(columns(WORDS, np.arange(4)), SCORES)
UNKNOWN = make(X, [1, 1, 1, 0, 0, -1], positive="yes")
NO_COLUMNS = make(np.empty((6, 0)), Y)


@pytest.mark.parametrize(
    ("batch", "chain", "expected"),
    [
        (WORDS, "bns --score-only dfreq --score-only select --top 2", "a0 a1"),
        (RARE, "select --by acc --top 1", "a1"),  # the other column does not vary
        (CLASSES, "select --by acc2 --top 3", "a0 a1 a2"),
        (CLASSES, "select --by acc2 --top 3 --spread", "a0 a3 a4"),
        (CLASSES, "select --by acc2 --top 4 --spread", "a0 a1 a3 a4"),
        (HUNDRED, "select --max-fraction 0.29", "a0"),
        (HUNDRED, "select --by dfreq --sparsity 0.59", "a0 a1"),
        # 0.07 * 100 is a little more than 7
        (make(np.eye(100), [0, 1] * 50), "select --by dfreq --fraction 0.07", "a0 a1 a2 a3 a4 a5 a6"),
        (WEIGHTED, "select --min-count 3", "a0 a4"),
        (WEIGHTED, "select --max-fraction 0.3", "a0 a1 a2 a3 a5"),
        (WEIGHTED, "select --by acc2 --sparsity 0.3", "a0"),  # 3 of 10
        (MISSING, "select --min-count 2", "a1"),
        (MISSING, "select --min-count 1", "a0 a1"),
        # The latest scorer need not have scored every column.
        (SCORED, "select --top 2", "a1 a2"),
        (SCORED, "select --min-score 6", "a2"),
        # Rows without a class count if no class is needed.
        (UNKNOWN, "bns --score-only select --min-count 6", "a4"),
        (UNKNOWN, "select --by bns --top 6 --min-count 5", "a4"),
        (NO_COLUMNS, "select --top 2", ""),
        (NO_COLUMNS, "select --fraction 0.5", ""),
        (NO_COLUMNS, "select --by bns --sparsity 3", ""),
    ],
)
def test_the_columns_of_a_chain_that_are_kept(batch, chain, expected):
    assert kept(batch, chain) == expected.split()


def test_it_needs_as_much_memory_as_the_metric_that_it_selects_by():
    """Weights of more than 32 classes are sparse, and a metric of two classes makes no array of them."""
    batch = make(np.arange(1.0, 241).reshape(80, 3), np.arange(80) % 40, [f"c{i}" for i in range(40)])
    table = ContingencyTable.of(batch, np.arange(3), True, "test")
    by, alone, scorer = (
        filterkit.chain(text).stages[0] for text in ("select --by bns --top 1", "select --top 1", "bns")
    )
    assert by.working_bytes(table) == scorer.working_bytes(table) < table.working_bytes
    assert alone.working_bytes(table) == table.working_bytes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select --top 2", "^select: no column has a score; say --by METRIC, or put a metric"),
        ("select --min-count 100", "^select: no column meets all limits; loosen them"),
        ("select --by bns --top 1 --keep nobody", "^select: --keep: no attribute 'nobody'; filterkit info FILE"),
        ("select --by bns --top 1 --keep aa3", "^select: --keep: no attribute 'aa3'; did you mean 'a3'"),
    ],
)
def test_data_that_cannot_be_selected_from_is_refused(text, message):
    with pytest.raises(StageError, match=message):
        filterkit.chain(text).fit(WORDS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "select --by ig --top 2",
            "select: 3 columns have the score 0 by ig, and the first 1 of them in the input are kept; keep fewer",
        ),
        ("ig --score-only select --fraction 1/2", "select: 3 columns have the score 0 by ig, and the first 1 of them"),
        ("select --by ig --top 1", None),
        ("select --by ig --top 4", None),  # all that tie; a constant column ranks after them
        ("select --by ig --min-score 0", None),
    ],
)
def test_a_choice_by_ties_at_zero_is_told(text, message):
    X = [[1, 0, 0, 0, 7], [1, 1, 1, 1, 7], [0, 0, 0, 0, 7], [0, 1, 1, 1, 7]]
    batch = make(np.array(X)[:, [1, 0, 2, 3, 4]], [0, 0, 1, 1])
    chain = filterkit.chain(text.replace("1/2", "0.4"))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        chain.fit(batch)
    assert [str(each.message)[: len(message or "")] for each in told] == ([message] if message else [])
