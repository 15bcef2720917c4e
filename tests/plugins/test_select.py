"""`select`: which columns stay, for every kind of limit."""

import warnings

import numpy as np
import pytest
import reference_metrics as ref
from agreement import columns, dense, make, sample
from counted import counted_rows

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


def words(sparse=True):
    return make(X, Y, positive="yes", sparse=sparse)


def kept(batch, text):
    fitted = filterkit.chain(text).fit(batch)
    out = fitted.transform(batch)
    assert out.schema == fitted.schema
    names = [a.name for a in out.schema.features]
    place = [a.name for a in batch.schema.features]
    np.testing.assert_array_equal(dense(out), dense(batch)[:, [place.index(name) for name in names]])
    return names


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # acc2: a0 1, a1 2/3, a2 2/3, a3 1/3, the constant ones 0
        ("--by acc2 --top 1", "a0"),
        ("--by acc2 --top 2", "a0 a1"),  # a tie goes by order
        ("--by acc2 --top 3", "a0 a1 a2"),
        ("--by acc2 --top 99", "a0 a1 a2 a3 a4 a5"),
        ("--by acc2 --fraction 0.51", "a0 a1 a2 a3"),
        ("--by acc2 --fraction 0.001", "a0"),
        ("--by acc2 --min-score 0.6", "a0 a1 a2"),
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
    assert kept(words(sparse), f"select {options}") == expected.split()


def test_the_latest_score_decides():
    assert kept(words(), "dfreq --score-only select --top 2") == ["a0", "a1"]
    assert kept(words(), "bns --score-only select --top 2") == ["a0", "a1"]
    fitted = filterkit.chain("bns --score-only dfreq --score-only select --top 1").fit(words())
    assert [name for name, _ in fitted.schema.features[0].scores] == ["bns", "dfreq"]


def test_by_leaves_its_score():
    (attribute,) = filterkit.chain("select --by acc2 --top 1").fit(words()).schema.features
    assert attribute.scores == (("acc2", 1.0),)


def test_scores_travel_in_a_file(tmp_path):
    path = tmp_path / "scored.arff"
    data = sample("fortunes")
    chain = filterkit.chain("bns --score-only").fit(data)
    filterkit.write(chain.transform(data), str(path))
    again = filterkit.read(str(path))
    assert again.schema.attributes == chain.schema.attributes
    direct = filterkit.chain("select --by bns --top 50").fit(data).schema
    assert filterkit.chain("select --top 50").fit(again).schema.attributes == direct.attributes


def test_a_column_that_does_not_vary_never_comes_before_one_that_does():
    # acc of a rare negative-class word is below 0, that of an absent word 0.
    batch = make([[0, 0], [0, 1], [0, 1], [0, 0], [0, 0]], [1, 0, 0, 0, 0], positive="yes")
    scores = [dict(a.scores)["acc"] for a in filterkit.chain("acc --score-only").fit(batch).schema.features]
    assert scores[1] < scores[0] == 0
    assert kept(batch, "select --by acc --top 1") == ["a1"]


def test_classes_take_turns():
    # Class a has three perfect words, b and c a good one each.
    one = [[1, 1, 1, 0, 0]] * 4
    two = [[0, 0, 0, 1, 0]] * 3 + [[0, 0, 0, 0, 0]]
    three = [[0, 0, 0, 0, 1]] * 3 + [[0, 0, 0, 0, 0]]
    batch = make(one + two + three, [0] * 4 + [1] * 4 + [2] * 4, ("a", "b", "c"))
    assert kept(batch, "select --by acc2 --top 3") == ["a0", "a1", "a2"]
    assert kept(batch, "select --by acc2 --top 3 --spread") == ["a0", "a3", "a4"]
    assert kept(batch, "select --by acc2 --top 4 --spread") == ["a0", "a1", "a3", "a4"]


def test_shares_are_not_changed_by_rounding():
    batch = make(np.arange(100)[:, None] < np.array([29, 30]), [0, 1] * 50)
    assert kept(batch, "select --max-fraction 0.29") == ["a0"]
    assert kept(batch, "select --by dfreq --sparsity 0.59") == ["a0", "a1"]
    many = make(np.eye(100), [0, 1] * 50)
    assert len(kept(many, "select --by dfreq --fraction 0.07")) == 7  # 0.07 * 100 is a little more than 7


def test_rows_count_by_weight():
    batch = make(X, Y, positive="yes", weights=[1, 1, 1, 1, 1, 5])
    assert kept(batch, "select --min-count 3") == ["a0", "a4"]
    assert kept(batch, "select --max-fraction 0.3") == ["a0", "a1", "a2", "a3", "a5"]
    assert kept(batch, "select --by acc2 --sparsity 0.3") == ["a0"]  # 3 of 10


def test_missing_values_and_first_labels_do_not_count_as_occurrences():
    batch = make([[np.nan, 0], [1, 1], [0, 2]], [0, 1, 1], nominal=[1])
    assert kept(batch, "select --min-count 2") == ["a1"]
    assert kept(batch, "select --min-count 1") == ["a0", "a1"]


@pytest.mark.parametrize("by", ["bns", "f1"])
def test_a_ranking_equals_the_plain_one(by):
    batch = columns(sample("fortunes", positive="science"), np.arange(0, 2011, 40)).rows(0, 300)
    kinds, classes = [a.kind for a in batch.schema.features], list(batch.schema.class_attribute.values)
    scores = ref.scores(by, dense(batch).tolist(), kinds, batch.y.tolist(), classes, positive="science")
    varied = (dense(batch) != dense(batch)[:1]).any(axis=0)
    order = sorted(range(len(scores)), key=lambda c: (not varied[c], -round(scores[c], 9), c))
    names = [a.name for a in batch.schema.features]
    for count in (1, 10, 30):
        assert kept(batch, f"select --by {by} --top {count}") == [names[c] for c in sorted(order[:count])]


def test_it_needs_as_much_memory_as_the_metric_that_it_selects_by():
    """Weights of more than 32 classes are sparse, and a metric of two classes makes no array of them."""
    batch = make(np.arange(1.0, 241).reshape(80, 3), np.arange(80) % 40, [f"c{i}" for i in range(40)])
    table = ContingencyTable.of(batch, np.arange(3), True, "test")
    by, alone, scorer = (
        filterkit.chain(text).stages[0] for text in ("select --by bns --top 1", "select --top 1", "bns")
    )
    assert by.working_bytes(table) == scorer.working_bytes(table) < table.working_bytes
    assert alone.working_bytes(table) == table.working_bytes


def test_one_pass_serves_a_scorer_and_select():
    rows = counted_rows([words()])
    filterkit.chain("shape bns select --top 2 l2").fit(rows)
    assert rows.source.passes == 1


def test_the_latest_scorer_need_not_have_scored_every_column():
    scores = {"a0": [("bns", 3.0)], "a1": [("bns", 1.0), ("own", 5.0)], "a2": [("bns", 2.0), ("own", 7.0)], "a3": []}
    batch = columns(words(), np.arange(4))
    features = [a._replace(scores=tuple(scores[a.name])) for a in batch.schema.features]
    batch = batch.replace(schema=batch.schema.with_features(features, np.arange(4)))
    assert kept(batch, "select --top 1") == ["a2"]
    assert kept(batch, "select --top 2") == ["a1", "a2"]
    assert kept(batch, "select --min-score 6") == ["a2"]


@pytest.mark.parametrize("limit", ["--top 2", "--fraction 0.5", "--sparsity 3"])
def test_selecting_from_no_columns_gives_none(limit):
    batch = make(np.empty((6, 0)), Y)
    assert kept(batch, f"select {limit}") == kept(batch, f"select --by bns {limit}") == []


def test_rows_without_class_count_if_no_class_is_needed():
    batch = make(X, [1, 1, 1, 0, 0, -1], positive="yes")
    assert kept(batch, "bns --score-only select --min-count 6") == ["a4"]
    assert kept(batch, "select --by bns --top 6 --min-count 5") == ["a4"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select --top 2", "^select: the columns have no scores; put a scorer before it, or say --by METRIC"),
        ("select --min-count 100", "^select: no column is left; loosen the limits"),
        ("select --by bns --min-score 99", "^select: no column is left"),
        ("select --by bns --top 1 --keep nobody", "^select: --keep: no attribute 'nobody'$"),
        ("select --by bns --top 1 --keep aa3", "^select: --keep: no attribute 'aa3'; did you mean 'a3'"),
    ],
)
def test_data_that_cannot_be_selected_from_is_refused(text, message):
    with pytest.raises(StageError, match=message):
        filterkit.chain(text).fit(words())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "select --by ig --top 2",
            "select: 3 columns have the score 0 by ig, and the first 1 of them in the input are kept",
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
