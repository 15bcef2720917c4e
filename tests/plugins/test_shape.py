"""`shape`: numbers worked by hand, and agreement with the plain reference."""

import numpy as np
import pytest
from agreement import (
    FRACTIONS,
    assert_agrees,
    batches,
    columns,
    dense,
    make,
    sample,
    samples,
    shared,
    tables,
    texts,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import filterkit
from filterkit import StageError, UsageError

NAN = np.nan


def shaped(train, labels, asked, options="", weights=None, nominal=False, sparse=False):
    """Shape one column of '+' and '-' rows, '+' positive; the images of the values `asked`."""
    y = ["-+".index(label) for label in labels]
    batch = make(
        [[v] for v in [*train, *asked]],
        [*y, *[-1] * len(asked)],
        weights=None if weights is None else [*weights, *[1] * len(asked)],
        nominal=[0] if nominal else [],
        sparse=sparse,
        positive="yes",
    )
    fitted = filterkit.chain(f"shape {options}").fit(batch.rows(0, len(train)))
    return dense(fitted.transform(batch))[len(train) :, 0]


def close(expected):
    return pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


# ---- by hand -------------------------------------------------------------------------------------


def test_neighbours_come_value_by_value_and_the_last_pro_rata():
    # n = 2; 1 has 1 of 2 positive, 2 has 1 of 1, 3 has 1 of 3.
    #   1: own 1/2; above: all of 2, 1/3 of 3.    pos 1 + 1 + 1/3 = 7/3, rows 4: (10/3)/6 = 5/9
    #   2: own 1/1; below: 1; above: 2/3 of 3.    pos 1 + 1 + 2/3 = 8/3, rows 5: (11/3)/7 = 11/21
    #   3: own 1/3; below: all of 2, 1/2 of 1.    pos 1 + 1 + 1/2 = 5/2, rows 5: (7/2)/7 = 1/2
    got = shaped([1, 1, 2, 3, 3, 3], "+-++--", [1, 2, 3], "--neighbors 2")
    assert got.tolist() == close([5 / 9, 11 / 21, 1 / 2])


def test_estimates_are_linear_between_training_values_and_constant_beyond():
    # as above: half-way (5/9 + 11/21)/2 = 34/63; a quarter from 11/21 to 1/2 is 29/56
    got = shaped([1, 1, 2, 3, 3, 3], "+-++--", [1.5, 2.25, -7, 0, 10], "--neighbors 2")
    assert got.tolist() == close([34 / 63, 29 / 56, 5 / 9, 5 / 9, 1 / 2])


def test_values_within_a_level_stretch_are_not_stored():
    # Without neighbors and with one row each, p is 2/3 of a '+' and 1/3 of a '-'.
    train, labels = [1, 2, 3, 4, 5, 6], "++++--"
    batch = make([[v] for v in train], ["-+".index(label) for label in labels], positive="yes")
    fitted = filterkit.chain("shape --neighbors 0 --no-zero").fit(batch)
    assert fitted.stages[0].state["knots"].values.tolist() == [1, 4, 5, 6]
    assert shaped(train, labels, [0, 1, 2, 2.5, 4, 5, 6, 7], "--neighbors 0 --no-zero").tolist() == close(
        [2 / 3] * 5 + [1 / 3] * 3
    )


def test_nominal_values_are_all_stored():
    assert shaped([0, 1, 2, 1], "++++", [0, 1, 2], "--no-zero", nominal=True).tolist() == close([2 / 3, 3 / 4, 2 / 3])
    assert shaped([0, 1, 2], "+++", [1, 3], "--no-zero", nominal=True).tolist() == close([2 / 3, 4 / 5])


def test_fifteen_neighbours_on_either_side_by_default():
    # at 2: pos 1, rows 1 + 15 + 15: 2/33
    got = shaped([1] * 20 + [2] + [3] * 20, "-" * 20 + "+" + "-" * 20, [2])
    assert got.tolist() == close([2 / 33])


def test_rows_count_by_weight():
    # n = 1; weight 2 positive at 1, 1/2 negative at 2, 4 negative at 3; a positive of weight 0 at 3.
    #   1: pos 2, rows 2 + 1/2 + 1/2 (1/8 of 3): 3/5
    #   2: pos 1 (half of 1), rows 1/2 + 1 + 1: 4/9
    #   3: pos 1/2 (1/4 of 1), rows 4 + 1/2 + 1/2: 3/14
    got = shaped([1, 2, 3, 3], "+--+", [1, 2, 3, 1.5], "--neighbors 1", weights=[2, 0.5, 4, 0])
    assert got.tolist() == close([3 / 5, 4 / 9, 3 / 14, 47 / 90])


@pytest.mark.parametrize("sparse", [False, True])
def test_a_special_zero_has_its_own_bin_and_is_subtracted(sparse):
    # n = 0: p(0) = 2/6, p(1) = 2/3, p(2) = 1/3, the class share (2+1)/(6+2) = 3/8.
    #   0.5 and -1 take p(1); 1.5 is half-way, 1/2; missing, never seen: 3/8 - 1/3
    got = shaped([0, 0, 0, 0, 1, 2], "---++-", [0, 1, 2, 0.5, -1, 1.5, 9, NAN], "--neighbors 0 --zero", sparse=sparse)
    assert got.tolist() == close([0, 1 / 3, 0, 1 / 3, 1 / 3, 1 / 6, 0, 1 / 24])
    assert got[[0, 2, 6]].tolist() == [0, 0, 0]


def test_a_special_zero_is_no_neighbour():
    # n = 1: p(1) = p(2): pos 1, rows 2: 1/2, less p(0) = 1/3
    got = shaped([0, 0, 0, 0, 1, 2], "---++-", [0, 1, 2], "--neighbors 1 --zero")
    assert got.tolist() == close([0, 1 / 6, 1 / 6])


@pytest.mark.parametrize("sparse", [False, True])
def test_an_ordinary_zero_is_a_value_like_any_other(sparse):
    # n = 1: p(0): own 1/4, above 1/1: 3/7;  p(1): own 1/1, 1/4 of a positive below, 0/1 above: 9/20
    got = shaped([0, 0, 0, 0, 1, 2], "---++-", [0, 1, 0.5], "--neighbors 1 --no-zero", sparse=sparse)
    assert got.tolist() == close([3 / 7, 9 / 20, 123 / 280])


def test_an_absent_special_zero_takes_the_nearest_value_the_larger_on_a_tie():
    # n = 0: p(-1) = 1/4, p(1) = 1/2, p(3) = 2/3; p(0) = p(1). Missing: 3/7 - 1/2.
    got = shaped([1, 1, -1, -1, 3], "+---+", [0, 1, -1, 3, 0.5, NAN], "--neighbors 0 --zero")
    assert got.tolist() == close([0, 0, -1 / 4, 1 / 6, -1 / 16, -1 / 14])
    # -1 is nearer than 2: p(0) = p(-1) = 1/3
    assert shaped([-1, 2], "-+", [0, -1, 2], "--neighbors 0 --zero").tolist() == close([0, 0, 1 / 3])


def test_missing_values_have_their_own_bin():
    # missing: (2+1)/(3+2); 1 and 2, each other's neighbours: (0+1)/(2+2)
    got = shaped([NAN, NAN, NAN, 1, 2], "++---", [NAN, 1, 2])
    assert got.tolist() == close([3 / 5, 1 / 4, 1 / 4])


def test_other_numbers_become_0_if_training_has_only_zeros():
    # p(0) = 2/5, p(missing) = 2/3
    got = shaped([0, 0, 0, NAN], "--++", [0, 5, -5, NAN], "--zero")
    assert got.tolist() == close([0, 0, 0, 4 / 15])


@pytest.mark.parametrize("nominal", [False, True])
@pytest.mark.parametrize("zero", ["--zero", "--no-zero"])
def test_a_column_empty_in_training_becomes_0(nominal, zero):
    assert shaped([NAN, NAN, NAN], "+--", [NAN, 0, 4], zero, nominal=nominal).tolist() == [0, 0, 0]


def test_nominal_values_have_no_neighbours_and_take_the_class_share_if_unseen():
    # p(0) = 1/4, p(1) = 3/5, the class share (2+1)/(5+2)
    train = [0, 0, 1, 1, 1], "--++-", [0, 1, 2, NAN]
    assert shaped(*train, nominal=True).tolist() == close([1 / 4, 3 / 5, 3 / 7, 3 / 7])
    assert shaped(*train, "--zero", nominal=True).tolist() == close([0, 7 / 20, 5 / 28, 5 / 28])
    # No zero in training: share 2/5, p(1) = 2/4, p(2) = 1/3
    got = shaped([1, 1, 2], "+--", [0, 1, 2, NAN], "--zero", nominal=True)
    assert got.tolist() == close([0, 1 / 10, -1 / 15, 0])


def test_a_nominal_value_is_unseen_even_if_training_has_nothing_but_zeros():
    # share (1+1)/(3+2) = 2/5, p(0) = (0+1)/(2+2) = 1/4: one column by itself, and beside one that has a value
    assert shaped([0, 0, NAN], "--+", [1], "--zero", nominal=True).tolist() == close([2 / 5 - 1 / 4])
    for other in (0, 6):
        batch = make([[0, other], [0, 0], [NAN, 0], [1, 0]], [0, 0, 1, -1], nominal=[0], sparse=True)
        out = filterkit.chain("shape").fit(batch).transform(batch)
        assert out.X[3, 0] == close(2 / 5 - 1 / 4)


def test_several_classes_give_one_column_for_each_that_has_rows():
    # n = 0. Column 0: 5 is a and c, 6 is c:         a: 2/4, 1/3;  c: 2/4, 2/3
    #        Column 1: 7 is a, 8 is c twice:         a: 2/3, 1/4;  c: 1/3, 3/4
    batch = make([[5, 7], [5, 8], [6, 8]], [0, 2, 2], "abc")
    out = filterkit.chain("shape --neighbors 0").fit(batch).transform(batch)
    assert [a.name for a in out.schema.attributes] == ["a0@a", "a0@c", "a1@a", "a1@c", "class"]
    assert all(a.kind == "numeric" for a in out.schema.features)
    assert out.X.ravel().tolist() == close(
        [1 / 2, 1 / 2, 2 / 3, 1 / 3, 1 / 2, 1 / 2, 1 / 4, 3 / 4, 1 / 3, 2 / 3, 1 / 4, 3 / 4]
    )
    assert out.y.tolist() == [0, 2, 2]


def test_a_positive_class_among_several_gives_one_column_without_a_suffix():
    batch = make([[5, 7], [5, 8], [6, 8]], [0, 2, 2], "abc", positive="c")
    out = filterkit.chain("shape --neighbors 0").fit(batch).transform(batch)
    assert [a.name for a in out.schema.features] == ["a0", "a1"]
    assert out.X[0].tolist() == close([1 / 2, 1 / 3])


def test_of_two_classes_the_rarer_is_positive_the_later_on_a_tie():
    def first(y, weights=None):
        batch = make([[0.0], *[[1.0]] * (len(y) - 1)], y, weights=weights)
        return filterkit.chain("shape --neighbors 0").fit(batch).transform(batch).X[0, 0]

    assert first([1, 0, 0]) == close(2 / 3)  # 'yes' is rarer, and the first row is 'yes'
    assert first([1, 1, 0]) == close(1 / 3)
    assert first([1, 1, 0, 0]) == close(2 / 3)
    assert first([1, 0, 0], weights=[1, 0.25, 0.25]) == close(1 / 3)


def test_attribute_weights_stay_and_nominal_becomes_numeric():
    batch = sample("mixed")
    features = [a._replace(weight=1.0 + j) for j, a in enumerate(batch.schema.features)]
    batch = batch.replace(schema=batch.schema.with_features(features, np.arange(len(features))))
    out = filterkit.chain("shape").fit(batch).transform(batch)
    assert [a.weight for a in out.schema.features] == [a.weight for a in batch.schema.features]
    assert {a.kind for a in out.schema.features} == {"numeric"}
    assert [a.name for a in out.schema.attributes] == [a.name for a in batch.schema.attributes]
    assert out.passthrough is batch.passthrough
    assert out.weights is batch.weights


def test_a_sparse_batch_stays_sparse_only_while_zero_is_special():
    batch = sample("sparse-counts-multiclass")
    for options, special in (("", True), ("--zero", True), ("--no-zero", False)):
        out = filterkit.chain(f"shape {options}").fit(batch).transform(batch)
        assert out.sparse == out.schema.sparse == out.schema.zero == special
    iris = sample("iris")
    out = filterkit.chain("shape --zero").fit(iris).transform(iris)
    assert out.schema.zero
    assert not out.sparse


@pytest.mark.parametrize("neighbors", ["x", "1.5", "101%", "5%%", "%", "-5%", "1/2", "nan", "1e2%", "٣", "9" * 2000])
def test_neighbours_are_a_number_of_rows_or_a_share(neighbors):
    with pytest.raises(UsageError, match="shape: --neighbors must be a number of rows such as 15, or a share of all"):
        filterkit.chain(f"shape --neighbors {neighbors}")


# ---- against the reference -----------------------------------------------------------------------


@pytest.mark.parametrize("load", samples())
@pytest.mark.parametrize("options", ["", "--neighbors 0", "--neighbors 5 --zero", "--neighbors 50 --no-zero"])
def test_samples_agree(load, options):
    assert_agrees(load(), f"shape {options}")


@pytest.mark.parametrize("load", texts())
def test_word_counts_agree(load):
    assert assert_agrees(load(), "shape").sparse


@pytest.mark.parametrize("load", tables())
def test_tables_agree(load):
    assert_agrees(load(), "shape")


@pytest.mark.parametrize("neighbors", [0, 5, 15, 50])
@pytest.mark.parametrize("zero", ["--zero", "--no-zero"])
def test_options_agree(neighbors, zero):
    assert_agrees(shared("uci/diabetes.arff"), f"shape --neighbors {neighbors} {zero}")
    words = columns(shared("text/oh0.wc.arff.gz", positive="Ethics"), np.arange(0, 3182, 40))
    assert assert_agrees(words, f"shape --neighbors {neighbors} {zero}").sparse == (zero == "--zero")


@pytest.mark.parametrize("zero", ["--zero", "--no-zero"])
def test_rows_not_fitted_on_agree(zero):
    assert_agrees(shared("uci/diabetes.arff"), f"shape {zero}", trained=400)
    assert_agrees(shared("uci/glass.arff"), f"shape --neighbors 5 {zero}", trained=120)
    words = columns(shared("text/oh0.wc.arff.gz", positive="Ethics"), np.arange(0, 3182, 20))
    assert_agrees(words, f"shape --neighbors 5 {zero}", trained=300)


@settings(deadline=None)
@given(batches(), st.sampled_from([0, 1, 2, 5, 15]), st.sampled_from(["", "--zero", "--no-zero"]), st.integers(0, 14))
def test_small_batches_agree(batch, neighbors, zero, trained):
    assert_agrees(batch, f"shape --neighbors {neighbors} {zero}", trained=min(trained, len(batch)))


@settings(deadline=None)
@given(batches(weights=[FRACTIONS]), st.sampled_from([0, 1, 5]), st.sampled_from(["--zero", "--no-zero"]))
def test_fractional_weights_agree(batch, neighbors, zero):
    assert_agrees(batch, f"shape --neighbors {neighbors} {zero}", same_zeros=False)


def test_fractional_weights_agree_on_many_rows():
    batch = shared("uci/diabetes.arff")
    weights = np.resize([0.1, 1 / 3, 1.0, 0.0, 2.5, 1e-6], len(batch))
    assert_agrees(batch.replace(weights=weights), "shape", same_zeros=False)


def test_equal_estimates_give_equal_values():
    # 1 and 5 have the same window by symmetry, if in other order: 7/3 positives of 4 and the like, to the last bit
    got = shaped([1, 2, 2, 2, 3, 4, 4, 4, 5], "+-+-+-+-+", [1, 5, 2, 4], "--neighbors 2")
    assert got[0] == got[1]
    assert got[2] == got[3]


def test_the_output_does_not_depend_on_the_order_of_rows():
    batch = sample("breast-cancer")
    order = np.random.default_rng(1).permutation(len(batch))
    shuffled = batch.replace(X=batch.X[order], y=batch.y[order])
    one = filterkit.chain("shape").fit(batch).transform(batch)
    other = filterkit.chain("shape").fit(shuffled).transform(batch)
    np.testing.assert_array_equal(one.X, other.X)


# ---- methods and priors --------------------------------------------------------------------------

METHODS = ["--method logodds", "--method isotonic", "--prior class", "--method logodds --prior class --neighbors 3"]


def test_log_odds_by_hand():
    # 1 of 4 positive and 3 of 4, no neighbours: 2/6 and 4/6; half-way 1/2.
    got = shaped([1] * 4 + [2] * 4, "+---+++-", [1, 2, 1.5, 1.25], "--method logodds --neighbors 0")
    assert got.tolist() == close([-np.log(2), np.log(2), 0, np.log(5 / 7)])  # of p interpolated, 5/12


def test_isotonic_by_hand():
    # Shares 1/2, 1/4, 3/4, 1/1: the first two are pooled to 2/6. With negated values it falls.
    labels = "+-" + "+---" + "+++-" + "++"
    values = [1] * 2 + [2] * 4 + [3] * 4 + [4] * 2
    assert shaped(values, labels, [1, 2, 3, 4], "--method isotonic").tolist() == close([1 / 3, 1 / 3, 3 / 4, 1])
    turned = [-v for v in values]
    assert shaped(turned, labels, [-1, -2, -3, -4], "--method isotonic").tolist() == close([1 / 3, 1 / 3, 3 / 4, 1])


def test_the_class_prior_by_hand():
    # 5 of 16 rows are positive: (1 + 5/8) / (4 + 2) and (4 + 5/8) / (12 + 2).
    got = shaped([1] * 4 + [2] * 12, "+---" + "++++" + "-" * 8, [1, 2], "--prior class --neighbors 0")
    assert got.tolist() == close([(1 + 5 / 8) / 6, (4 + 5 / 8) / 14])


@pytest.mark.parametrize("load", samples())
@pytest.mark.parametrize("options", METHODS)
def test_methods_agree_on_samples(load, options):
    batch = load()
    if "isotonic" in options:  # the plain one takes the cube of the number of values
        batch = columns(batch, np.arange(0, len(batch.schema.features), 7)).rows(0, min(len(batch), 60))
    for zero in ("--zero", "--no-zero"):
        assert_agrees(batch, f"shape {options} {zero}", same_zeros=False)


@pytest.mark.parametrize("options", METHODS)
@given(batch=batches(), zero=st.sampled_from(["--zero", "--no-zero"]), trained=st.integers(0, 14))
@settings(deadline=None, max_examples=60)
def test_methods_agree_on_small_batches(options, batch, zero, trained):
    assert_agrees(batch, f"shape {options} {zero}", min(trained, len(batch)), same_zeros=False)


def test_isotonic_columns_are_independent():
    batch = sample("fortunes", positive="science")
    whole = filterkit.chain("shape --method isotonic").fit(batch).transform(batch)
    for j in (0, 1000, 2010):
        alone = columns(batch, [j])
        one = filterkit.chain("shape --method isotonic").fit(alone).transform(alone)
        np.testing.assert_array_equal(dense(one)[:, 0], dense(whole)[:, j])


# ---- chosen columns ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ("--only 'petal length (cm)'", [2]),
        ("--only petal*", [2, 3]),
        ("--only petal* --only 'sepal ?idth*'", [1, 2, 3]),
        ("--except petal*", [0, 1]),
        ("--only *width* --except petal*", [1]),
        ("--only * --except *", []),
    ],
)
def test_chosen_columns_are_shaped_and_the_others_stay(options, chosen):
    batch = sample("iris")
    out = filterkit.chain(f"shape {options}").fit(batch).transform(batch)
    whole = filterkit.chain("shape").fit(batch).transform(batch)
    names, expected = [], []
    for j, a in enumerate(batch.schema.features):
        shaped_here = j in chosen
        names += [f"{a.name}@{c}" for c in batch.schema.class_attribute.values] if shaped_here else [a.name]
        expected.append(whole.X[:, 3 * j : 3 * j + 3] if shaped_here else batch.X[:, [j]])
    assert [a.name for a in out.schema.features] == names
    np.testing.assert_array_equal(out.X, np.column_stack(expected))


@pytest.mark.parametrize("name", ["mixed", "mixed-sparse"])
def test_unshaped_columns_keep_kind_zeros_and_missing_values(name):
    batch = sample(name)
    fitted = filterkit.chain("shape --except *").fit(batch)
    out = fitted.transform(batch)
    assert fitted.schema.attributes == batch.schema.attributes
    np.testing.assert_array_equal(dense(out), dense(batch))


def test_names_of_no_attribute_are_refused():
    for option in ("--only", "--except"):
        with pytest.raises(StageError, match=f"{option}: no attribute is named 'petal lenght'.*'petal length"):
            filterkit.chain(f"shape {option} 'petal lenght'").fit(sample("iris"))
        with pytest.raises(StageError, match=r"no attribute is named 'x\*'"):
            filterkit.chain(f"shape {option} x*").fit(sample("iris"))
