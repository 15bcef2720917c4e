"""`shape --beside`, `--center`, `--weight`, `--strength` and `--neighbors 5%`."""

import itertools
import math

import numpy as np
import pytest
from agreement import (
    FRACTIONS,
    assert_agrees,
    batches,
    columns,
    dense,
    expected,
    make,
    sample,
    samples,
    shared,
    sparsely,
    tables,
    texts,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import filterkit
from filterkit import FilterkitError, UsageError
from filterkit.plugin import registry
from filterkit.sklearn import ChainTransformer

NAN = np.nan
RECIPE = "shape --beside --neighbors 5% --prior class --strength 5 --center --weight 0.15"


def close(expected):
    return pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


def shaped(train, labels, asked, options, weights=None, zero=""):
    """The images of the values `asked` of one column of '+' and '-' rows, '+' positive."""
    y = ["-+".index(label) for label in labels]
    batch = make([[v] for v in train], y, positive="yes", weights=weights)
    later = make([[v] for v in asked], [-1] * len(asked), positive="yes")
    return filterkit.chain(f"shape {options} {zero}").fit(batch).transform(later).X[:, -1]


# ---- by hand -------------------------------------------------------------------------------------


def test_the_share_of_the_rows_by_hand():
    # 6 rows; 25 % of them are 1.5 on each side.
    #   1: own 1/2; above: 2 whole, 1/2 of a row of 3, a third of which is positive.  pos 1 + 1 + 1/6, rows 3.5
    #   2: own 1/1; below: 1.5 of the 2 rows of 1; above: 1.5 of the 3 rows of 3.     pos 1 + 3/4 + 1/2, rows 4
    #   3: own 1/3; below: 2 whole, 1/2 of a row of 1, half of which is positive.     pos 1 + 1 + 1/4, rows 4.5
    got = shaped([1, 1, 2, 3, 3, 3], "+-++--", [1, 2, 3], "--neighbors 25%")
    assert got.tolist() == close([(13 / 6 + 1) / 5.5, (9 / 4 + 1) / 6, (9 / 4 + 1) / 6.5])


def test_a_share_is_at_least_one_row():
    train = [1, 2, 3, 4], "+--+", [1, 2, 3, 4]
    one = shaped(*train, "--neighbors 1").tolist()
    assert one == close([2 / 4, 2 / 5, 2 / 5, 2 / 4])
    for few in ("1%", "0%", "0.001%", "25%"):
        assert shaped(*train, f"--neighbors {few}").tolist() == one
    assert shaped(*train, "--neighbors 50%").tolist() == shaped(*train, "--neighbors 2").tolist()
    assert shaped(*train, "--neighbors 100%").tolist() == shaped(*train, "--neighbors 4").tolist() == [1 / 2] * 4


def test_a_share_is_one_of_all_training_rows_by_weight():
    # 8 rows by weight, of which a value, 4 are missing and 1 is 0 where zero is special: 25 % are 2
    train, labels, weights = [1, 2, 3, NAN, 0], "+-+-+", [1, 1, 1, 4, 1]
    for zero in ("--zero", "--no-zero"):
        share, rows = (shaped(train, labels, [0, 1, 2, 3], f"--neighbors {n}", weights, zero) for n in ("25%", "2"))
        assert share.tolist() == rows.tolist()


def test_the_strength_of_the_prior_by_hand():
    # 5 of 16 rows are positive; 1 of 4 at 1, and 4 of 12 at 2.
    train = [1] * 4 + [2] * 12, "+---" + "++++" + "-" * 8, [1, 2]
    assert shaped(*train, "--strength 6 --neighbors 0").tolist() == close([(1 + 3) / 10, (4 + 3) / 18])
    got = shaped(*train, "--strength 3.2 --prior class --neighbors 0")
    assert got.tolist() == close([(1 + 1) / 7.2, (4 + 1) / 15.2])


def test_centered_log_odds_by_hand():
    # π = 1/4, odds 1/3. p(1) = (2 + 1/2) / (2 + 2) = 5/8, odds 5/3; p(2) = (0 + 1/2) / (6 + 2) = 1/16, odds 1/15
    train = [1, 1, 2, 2, 2, 2, 2, 2], "++------", [1, 2, 1.5]
    half_way = (5 / 8 + 1 / 16) / 2  # is interpolated before the logit
    logit = np.log(half_way / (1 - half_way)) + np.log(3)
    got = shaped(*train, "--center --prior class --neighbors 0")
    assert got.tolist() == close([np.log(5), -np.log(5), logit])
    got = shaped(*train, "--center --prior class --neighbors 0 --weight 0.5")
    assert got.tolist() == close([np.log(5) / 2, -np.log(5) / 2, logit / 2])
    assert shaped(*train, "--center --prior class --neighbors 0 --method lp").tolist() == close(
        [3 / 8, -3 / 16, half_way - 1 / 4]
    )
    # The log odds of 1/2 are 0.
    plain = shaped(*train, "--method logodds --neighbors 0").tolist()
    assert shaped(*train, "--center --neighbors 0").tolist() == plain
    assert shaped(*train, "--center --method isotonic --prior class").tolist() == close([3 / 4, -1 / 4, 1 / 4])


def test_a_missing_value_that_training_did_not_see_is_0_if_centered():
    got = shaped([1, 2, 3, 4], "+---", [NAN], "--center --prior class --strength 7")
    assert got.tolist() == [0]


def test_rows_of_one_class_draw_to_a_half():
    for labels, sign in (("+++", 1), ("---", -1)):
        # 3 of 3 rows, 5 more at a half: 5.5/8, odds 11/5
        got = shaped([1, 2, 3], labels, [1, 2, 3], "--center --prior class --strength 5")
        assert got.tolist() == close([sign * np.log(11 / 5)] * 3)


def test_of_a_special_zero_p_of_zero_is_subtracted_and_no_prior():
    train = [0, 0, 0, 0, 1, 2], "---++-", [0, 1, 2, NAN]
    options = "--prior class --neighbors 0 --zero --strength 4"
    centered = shaped(*train, f"{options} --center").tolist()
    assert centered == shaped(*train, f"{options} --method logodds").tolist()
    assert centered[0] == 0


def test_a_weight_multiplies():
    train = [0, 0, 0, 0, 1, 2], "---++-", [0, 1, 2, NAN, 0.5]
    for options in ("--zero", "--no-zero", "--method isotonic", "--method logodds --zero"):
        one, other = (shaped(*train, f"{options} --weight {w}") for w in (1, 0.3))
        assert other.tolist() == (one * 0.3).tolist()


# ---- beside --------------------------------------------------------------------------------------


def names(batch):
    return [a.name for a in batch.schema.features]


def test_a_column_keeps_its_name_and_the_shaped_one_is_named_by_the_class():
    batch = make([[5, 7], [5, 8], [6, 8]], [0, 1, 1], ["no", "yes"])
    plain = filterkit.chain("shape --neighbors 0").fit(batch).transform(batch)
    out = filterkit.chain("shape --neighbors 0 --beside").fit(batch).transform(batch)
    assert names(out) == ["a0", "a0@no", "a1", "a1@no"]  # the rarer class
    np.testing.assert_array_equal(out.X[:, ::2], batch.X)
    np.testing.assert_array_equal(out.X[:, 1::2], plain.X)
    named = filterkit.chain("shape --beside").fit(batch.replace(schema=batch.schema.replace(positive="yes")))
    assert [a.name for a in named.schema.features] == ["a0", "a0@yes", "a1", "a1@yes"]


def test_several_classes_stand_behind_the_column():
    batch = make([[5, 7], [5, 8], [6, 8]], [0, 2, 2], "abc")
    plain = filterkit.chain("shape").fit(batch).transform(batch)
    out = filterkit.chain("shape --beside").fit(batch).transform(batch)
    assert names(out) == ["a0", "a0@a", "a0@c", "a1", "a1@a", "a1@c"]
    np.testing.assert_array_equal(out.X[:, [0, 3]], batch.X)
    np.testing.assert_array_equal(out.X[:, [1, 2, 4, 5]], plain.X)


def test_a_column_beside_keeps_kind_weight_and_missing_values():
    batch = sample("mixed")
    features = [a._replace(weight=1.0 + j) for j, a in enumerate(batch.schema.features)]
    batch = batch.replace(schema=batch.schema.with_features(features, np.arange(len(features))))
    out = filterkit.chain("shape --beside").fit(batch).transform(batch)
    assert list(out.schema.features[::2]) == features
    assert {a.kind for a in out.schema.features[1::2]} == {"numeric"}
    assert [a.weight for a in out.schema.features[1::2]] == [a.weight for a in features]
    np.testing.assert_array_equal(out.X[:, ::2], batch.X)
    assert np.isnan(batch.X).any() and not np.isnan(out.X[:, 1::2]).any()


@pytest.mark.parametrize("options", ["", "--zero", "--center --prior class", "--no-zero"])
def test_sparse_rows_stay_sparse_while_zero_is_special(options):
    batch = sample("sparse-counts-multiclass")
    out = filterkit.chain(f"shape --beside {options}").fit(batch).transform(batch)
    assert out.sparse == out.schema.sparse == out.schema.zero == (options != "--no-zero")
    width = out.schema.width // batch.schema.width
    kept = dense(out)[:, ::width]
    np.testing.assert_array_equal(kept, dense(batch))
    if out.sparse:
        assert not dense(out)[np.repeat(dense(batch) == 0, width, axis=1)].any()
        assert out.csr.data.all()


def test_range_before_it_decides_what_becomes_of_zero():
    """(v − min) / (max − min) of dense rows; of sparse rows v / (max − min), which keeps zero."""
    batch = make([[2.0], [4.0], [6.0], [3.0]], [0, 1, 1, 0], positive="yes")
    chain = filterkit.chain(f"range {RECIPE}")
    assert chain.fit(batch).transform(batch).X[:, 0].tolist() == [0, 0.5, 1, 0.25]
    sparse = sparsely(batch)
    out = chain.fit(sparse).transform(sparse)
    assert out.sparse and dense(out)[:, 0].tolist() == [0.5, 1, 1.5, 0.75]


def test_a_name_that_is_taken_is_refused():
    batch = make([[1.0, 2.0], [2.0, 1.0]], [0, 1])
    features = [a._replace(name=name) for a, name in zip(batch.schema.features, ("a", "a@yes"), strict=True)]
    batch = batch.replace(schema=batch.schema.with_features(features, np.arange(2)))
    with pytest.raises(FilterkitError, match=r"^shape: .*two attributes are named 'a@yes'"):
        filterkit.chain("shape --beside").fit(batch)
    out = filterkit.chain("shape --beside --only a@yes").fit(batch).transform(batch)
    assert names(out) == ["a", "a@yes", "a@yes@yes"]


def test_chosen_columns_alone_get_one_beside_them():
    batch = sample("iris")
    out = filterkit.chain("shape --beside --only petal* --except *width*").fit(batch).transform(batch)
    assert names(out) == [
        "sepal length (cm)",
        "sepal width (cm)",
        "petal length (cm)",
        "petal length (cm)@setosa",
        "petal length (cm)@versicolor",
        "petal length (cm)@virginica",
        "petal width (cm)",
    ]


def test_with_auto_a_column_has_one_beside_it_only_if_that_predicts_better():
    rng = np.random.default_rng(3)
    bump, noise = rng.normal(size=(2, 600))
    y = (np.abs(bump) < 0.7).astype(int)
    batch = make(np.column_stack([noise, bump, noise]), y, positive="yes")
    for options in ("--auto", "--auto --cross-fit 4"):
        out = filterkit.chain(f"shape --beside {options}").fit(batch)
        assert [a.name for a in out.schema.features] == ["a0", "a1", "a1@yes", "a2"]
        np.testing.assert_array_equal(out.transform(batch).X[:, [0, 1, 3]], batch.X)
    several = make(np.column_stack([noise, bump]), y + 2 * (bump > 1), "abc")
    out = filterkit.chain("shape --beside --auto").fit(several).transform(several)
    assert names(out) == ["a0", "a1", "a1@a", "a1@b", "a1@c"]
    np.testing.assert_array_equal(out.X[:, :2], several.X)


@pytest.mark.parametrize("name", ["breast-cancer", "mixed-sparse", "iris"])
def test_cross_fitted_rows_keep_the_column_beside(name):
    batch = sample(name)
    options = "--cross-fit 3 --prior class --center --weight 0.15 --neighbors 5%"
    plain = filterkit.chain(f"shape {options}").fit_transform(batch)[1]
    out = filterkit.chain(f"shape --beside {options}").fit_transform(batch)[1]
    tasks = plain.schema.width // batch.schema.width
    kept = np.arange(out.schema.width) % (tasks + 1) == 0
    np.testing.assert_array_equal(dense(out)[:, kept], dense(batch))
    np.testing.assert_array_equal(dense(out)[:, ~kept], dense(plain))


def test_no_training_rows_leave_the_columns_alone():
    for classes in (["no", "yes"], "abc"):
        batch = make([[1.0], [2.0]], [-1, -1], classes)
        out = filterkit.chain(RECIPE).fit(batch).transform(batch)
        assert names(out) == (["a0", "a0@yes"] if len(classes) == 2 else ["a0"])
        assert out.X[:, 0].tolist() == [1, 2]
        assert not out.X[:, 1:].any()


def test_the_curve_is_that_of_the_shaped_column_and_not_weighted():
    batch = make([[1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 0], positive="yes")
    fitted = filterkit.chain("shape --neighbors 0 --beside --center --prior class --weight 3").fit(batch).stages[0]
    values, columns = np.array([1.0, 1.0, 2.0, 2.0]), np.array([0, 1, 0, 1])
    curve = fitted.stage.curve(values, columns, fitted.state)
    assert curve.tolist() == close([NAN, np.log(0.5), NAN, np.log(2)])
    assert fitted.stage.curve_name == "T(p(v))"


# ---- against plain references ---------------------------------------------------------------------


def by_rows(v, train, positive, share=0.05, m=5.0, w=0.15):
    """g(v) of a training value v, row by row: w times log odds of the window, less those of all rows."""
    share_of_positives = sum(positive) / len(positive)
    if share_of_positives in (0, 1):
        share_of_positives = 0.5
    rows, pos = 0.0, 0.0
    for x, y in zip(train, positive, strict=True):
        if x == v:
            rows, pos = rows + 1, pos + y
    for side in (-1, 1):
        left = max(1.0, share * len(train))
        for x in sorted({x for x in train if (x - v) * side > 0}, key=lambda x: abs(x - v)):
            same = [y for other, y in zip(train, positive, strict=True) if other == x]
            part = min(1.0, left / len(same))
            for y in same:
                rows, pos = rows + part, pos + part * y
            left -= part * len(same)
            if left <= 0:
                break
    p = (pos + m * share_of_positives) / (rows + m)
    return p, w * (math.log(p / (1 - p)) - math.log(share_of_positives / (1 - share_of_positives)))


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([0.0, 1.0, 1.5, 2.0, 3.0, -1.0]), st.booleans()), min_size=1, max_size=40),
    st.sampled_from([5, 10, 33]),
)
def test_small_columns_agree_with_a_loop_over_rows(rows, percent):
    train, positive = [v for v, _ in rows], [int(c) for _, c in rows]
    batch = make([[v] for v in train], positive, positive="yes")
    out = filterkit.chain(RECIPE.replace("5%", f"{percent}%")).fit(batch).transform(batch)
    expected_values = [by_rows(v, train, positive, percent / 100)[1] for v in train]
    np.testing.assert_allclose(out.X[:, 1], expected_values, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(out.X[:, 0], train)


OPTIONS = [
    RECIPE,
    "shape --neighbors 10% --strength 3",
    "shape --beside --method isotonic --center --prior class",
    "shape --center --weight 2 --neighbors 2.5% --prior class --strength 0.5",
    "shape --beside --center --method lp --strength 20",
]


@pytest.mark.parametrize("load", samples())
@pytest.mark.parametrize("text", OPTIONS)
@pytest.mark.parametrize("zero", ["--zero", "--no-zero"])
def test_samples_agree(load, text, zero):
    batch = load()
    if len(batch.schema.features) > 30 or "isotonic" in text:
        batch = columns(batch, np.arange(0, len(batch.schema.features), 7))
    if "isotonic" in text:  # the plain one takes the cube of the number of values
        batch = batch.rows(0, min(len(batch), 60))
    assert_agrees(batch, f"{text} {zero}", same_zeros=False)


@pytest.mark.parametrize("load", tables())
def test_tables_agree(load):
    assert_agrees(load(), RECIPE, same_zeros=False)


@pytest.mark.parametrize("load", texts())
def test_word_counts_agree(load):
    assert assert_agrees(load(), f"{RECIPE} bns l2").sparse


def test_rows_not_fitted_on_agree():
    assert_agrees(shared("uci/diabetes.arff"), RECIPE, trained=400, same_zeros=False)
    assert_agrees(shared("uci/glass.arff"), RECIPE, trained=120, same_zeros=False)


@pytest.mark.parametrize("text", OPTIONS)
@given(batch=batches(), zero=st.sampled_from(["--zero", "--no-zero"]), trained=st.integers(0, 14))
@settings(deadline=None, max_examples=60)
def test_small_batches_agree(text, batch, zero, trained):
    assert_agrees(batch, f"{text} {zero}", min(trained, len(batch)), same_zeros=False)


@given(batch=batches(weights=[FRACTIONS]), text=st.sampled_from(OPTIONS))
@settings(deadline=None)
def test_fractional_weights_agree(batch, text):
    assert_agrees(batch, f"{text} --no-zero", same_zeros=False)


@pytest.mark.parametrize("name", ["glass", "wine", "credit-g"])
def test_the_recipe_is_what_it_says_on_real_data(name):
    """(v − min)/(max − min) and g(v) beside each other, also of later rows, by numpy and a loop over the values."""
    batch = shared(f"uci/{name}.arff", class_="first" if name == "wine" else None)
    order = np.random.default_rng(0).permutation(len(batch))
    batch = filterkit.chain("onehot").fit_transform(batch.take(order))[1]
    trained = len(batch) * 2 // 3
    fitted = filterkit.chain(f"range {RECIPE}").fit(batch.rows(0, trained))
    out = fitted.transform(batch)
    target = batch.schema.class_attribute
    counts = np.bincount(batch.y[:trained], minlength=len(target.values))
    codes = np.flatnonzero(counts) if len(counts) > 2 else [int(np.argmin(counts))]
    made = []
    for j in range(batch.schema.width):
        v, train = batch.X[:, j], batch.X[:trained, j]
        low, high = train.min(), train.max()
        made.append((v - low) / (high - low) if low < high else v * 0)
        known = np.unique(train)
        for code in codes:
            positive = (batch.y[:trained] == code).astype(int)
            p = np.interp(v, known, [by_rows(x, train.tolist(), positive.tolist())[0] for x in known.tolist()])
            prior = positive.mean()
            made.append(0.15 * (np.log(p / (1 - p)) - np.log(prior / (1 - prior))))
    np.testing.assert_allclose(out.X, np.column_stack(made), rtol=0, atol=1e-12)


# ---- properties ----------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [2, 7, 50])
def test_a_flat_column_gives_exactly_0(values):
    """Where each value has the same share of positives, the column says nothing, whatever the options."""
    train = np.repeat(np.arange(values), 10) * 0.7
    labels = np.tile([1] * 3 + [0] * 7, values)
    batch = make(train[:, None], labels, positive="yes")
    for options in ("--neighbors 5%", "--neighbors 0", "--neighbors 7 --strength 0.3", "--neighbors 33.3%"):
        text = f"shape --beside --center --prior class {options}"
        out = filterkit.chain(text).fit(batch).transform(batch)
        assert not out.X[:, 1].any()


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.integers(1, 4), st.integers(1, 4))
def test_equal_shares_of_any_size_give_exactly_0(sizes, positives, negatives):
    """Values with 1 to 6 times so many positive and negative rows: equal shares, and unequal numbers of rows."""
    train = np.repeat(np.arange(len(sizes)), np.array(sizes) * (positives + negatives))
    labels = np.concatenate([[1] * (positives * size) + [0] * (negatives * size) for size in sizes])
    batch = make(train[:, None], labels, positive="yes")
    out = filterkit.chain(RECIPE).fit(batch).transform(batch)
    np.testing.assert_allclose(out.X[:, 1], 0, atol=1e-15)


@pytest.mark.parametrize("options", ["--prior class", "--neighbors 5%", "--neighbors 7% --prior class --strength 5"])
@pytest.mark.parametrize("name", ["breast-cancer", "iris", "wine"])
def test_estimates_are_the_float64_nearest_to_the_fraction(options, name):
    batch = sample(name, class_="first" if name == "wine" else None)
    out = filterkit.chain(f"shape {options} --no-zero").fit(batch).transform(batch)
    np.testing.assert_array_equal(out.X, expected(f"shape {options} --no-zero", batch)[2])


def test_estimates_that_are_rounded_to_1_have_log_odds():
    batch = make([[1.0], [2.0]], [1, 0], weights=[1e12, 1e-3], positive="yes")
    out = filterkit.chain("shape --center --prior class --neighbors 0 --strength 1e-9").fit(batch).transform(batch)
    assert np.isfinite(out.X).all() and out.X[0, 0] > out.X[1, 0]


@pytest.mark.parametrize("options", ["", "--cross-fit 3", "--auto"])
@pytest.mark.parametrize("name", ["breast-cancer", "sparse-counts-multiclass", "mixed-sparse", "iris"])
def test_blocks_jobs_and_memory_do_not_matter(name, options):
    batch = sample(name)
    chain = filterkit.chain(f"{RECIPE} {options}")
    whole = chain.fit(batch)
    cuts = [0, 1, len(batch) // 3, len(batch)]
    parts = [batch.rows(low, high) for low, high in itertools.pairwise(cuts)]
    for jobs, memory in ((2, 1 << 16), (1, 1 << 30)):
        fitted = chain.fit(parts, jobs=jobs, memory=memory)
        assert fitted.schema == whole.schema
        out = np.concatenate([dense(fitted.transform(part)) for part in parts])
        np.testing.assert_array_equal(out, dense(whole.transform(batch)))


# ---- callers -------------------------------------------------------------------------------------


def test_a_saved_chain_does_the_same(tmp_path):
    for name in ("breast-cancer", "mixed-sparse", "iris"):
        batch = sample(name)
        for options in ("", "--auto", "--only 1-2"):
            fitted = filterkit.chain(f"range {RECIPE} {options}").fit(batch)
            filterkit.save(fitted, tmp_path / "chain")
            again = filterkit.load(tmp_path / "chain")
            assert again.schema == fitted.schema
            np.testing.assert_array_equal(dense(again.transform(batch)), dense(fitted.transform(batch)))


def test_keyword_arguments_take_numbers_and_texts():
    stage = registry.registry().stage("shape")
    batch = sample("breast-cancer")
    for neighbors in (5, "5", np.int64(5)):
        made = stage(neighbors=neighbors, beside=True, strength=5, weight=0.15, center=True, prior="class")
        out = filterkit.Chain([made]).fit(batch).transform(batch)
        text = RECIPE.replace("5%", "5")
        np.testing.assert_array_equal(out.X, filterkit.chain(text).fit(batch).transform(batch).X)
    with pytest.raises(UsageError, match=r"--neighbors must be a number of rows such as 15, or .*, not '0.05'"):
        stage(neighbors="0.05")
    with pytest.raises(UsageError, match=r"--neighbors must be a whole number or a text, not '0.05'"):
        stage(neighbors=0.05)
    with pytest.raises(UsageError, match=r"--neighbors must be at least 0, not -1"):
        stage(neighbors=-1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--strength 0", "--strength must be at least 1e-09, not 0"),
        ("--strength nan", "--strength must be at least 1e-09, not nan"),
        ("--strength inf", "--strength must be at most 1e"),
        ("--weight 0", "--weight must be at least 1e-09, not 0"),
        ("--weight -1", "--weight must be at least 1e-09, not -1"),
        ("--weight inf", "--weight must be at most 1e"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(options, message):
    with pytest.raises(UsageError, match=f"^shape: {message}"):
        filterkit.chain(f"shape {options}")


def test_scikit_learn_tunes_it():
    batch = sample("breast-cancer")
    transformer = ChainTransformer(f"range {RECIPE}").set_params(shape__weight=0.3, shape__neighbors="10%")
    out = transformer.fit_transform(batch.X, batch.y)
    assert out.shape == (len(batch), 2 * batch.X.shape[1])
    assert transformer.get_feature_names_out()[1].split("@")[1] in ("0", "1")
    text = RECIPE.replace("0.15", "0.3").replace("5%", "10%")
    same = ChainTransformer(f"range {text}").fit_transform(batch.X, batch.y)
    np.testing.assert_array_equal(out, same)
