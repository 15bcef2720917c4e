"""`shape --beside`: where the shaped columns stand, and what the recipe of the README makes of them."""

import numpy as np
import pytest
from agreement import close, dense, expected, make, sample

import filterkit
from filterkit import FilterkitError, UsageError
from filterkit.plugin import registry

NAN = np.nan
RECIPE = "shape --beside --neighbors 5% --prior class --strength 5 --center --weight 0.15"


def names(batch):
    return [a.name for a in batch.schema.features]


def test_a_column_keeps_its_name_and_the_shaped_one_is_named_by_the_class():
    batch = make([[5, 7], [5, 8], [6, 8]], [0, 1, 1], ["no", "yes"])
    plain = filterkit.chain("shape --neighbors 0").fit(batch).transform(batch)
    out = filterkit.chain("shape --neighbors 0 --beside").fit(batch).transform(batch)
    assert names(out) == ["a0", "a0@no", "a1", "a1@no"]  # the rarer class
    np.testing.assert_array_equal(out.X[:, ::2], batch.X)
    np.testing.assert_array_equal(out.X[:, 1::2], plain.X)
    several = filterkit.chain("shape --beside").fit(make(batch.X, [0, 2, 2], "abc"))
    assert names(several) == ["a0", "a0@a", "a0@c", "a1", "a1@a", "a1@c"]


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


@pytest.mark.parametrize("options", ["--center --prior class", "--no-zero"])
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


def test_a_name_that_is_taken_is_refused():
    batch = make([[1.0, 2.0], [2.0, 1.0]], [0, 1])
    features = [a._replace(name=name) for a, name in zip(batch.schema.features, ("a", "a@yes"), strict=True)]
    batch = batch.replace(schema=batch.schema.with_features(features, np.arange(2)))
    with pytest.raises(FilterkitError, match=r"^shape: .*two attributes are named 'a@yes'"):
        filterkit.chain("shape --beside").fit(batch)
    out = filterkit.chain("shape --beside --only a@yes").fit(batch).transform(batch)
    assert names(out) == ["a", "a@yes", "a@yes@yes"]


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


@pytest.mark.parametrize("name", ["mixed-sparse", "iris"])
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


def test_a_flat_column_gives_exactly_0():
    """Where each value has the same share of positives, the column says nothing, whatever the options."""
    train = np.repeat(np.arange(7), 10) * 0.7
    labels = np.tile([1] * 3 + [0] * 7, 7)
    batch = make(train[:, None], labels, positive="yes")
    for options in ("--neighbors 5%", "--neighbors 0", "--neighbors 7 --strength 0.3", "--neighbors 33.3%"):
        text = f"shape --beside --center --prior class {options}"
        out = filterkit.chain(text).fit(batch).transform(batch)
        assert not out.X[:, 1].any()


@pytest.mark.parametrize("options", ["--prior class", "--neighbors 7% --prior class --strength 5"])
def test_estimates_are_the_float64_nearest_to_the_fraction(options):
    batch = sample("iris")
    out = filterkit.chain(f"shape {options} --no-zero").fit(batch).transform(batch)
    np.testing.assert_array_equal(out.X, expected(f"shape {options} --no-zero", batch)[2])


def test_estimates_that_are_rounded_to_1_have_log_odds():
    batch = make([[1.0], [2.0]], [1, 0], weights=[1e12, 1e-3], positive="yes")
    out = filterkit.chain("shape --center --prior class --neighbors 0 --strength 1e-9").fit(batch).transform(batch)
    assert np.isfinite(out.X).all() and out.X[0, 0] > out.X[1, 0]


def test_keyword_arguments_take_numbers_and_texts():
    stage = registry.registry().stage("shape")
    for neighbors in (5, "5", np.int64(5)):
        assert stage(neighbors=neighbors) == filterkit.chain("shape --neighbors 5").stages[0]
    for wrong, message in (
        ("0.05", "--neighbors must be a number of rows such as 15, or .*, not '0.05'"),
        (0.05, "--neighbors must be a whole number or a text, not '0.05'"),
        (-1, "--neighbors must be at least 0, not -1"),
    ):
        with pytest.raises(UsageError, match=message):
            stage(neighbors=wrong)
