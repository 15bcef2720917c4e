"""`shape --beside`: where the shaped columns stand, and what the recipe of the README makes of them."""

import numpy as np
import pytest
from agreement import close, dense, expected, feature_names, make, sample, transformed
from cases import rows

import filterkit
from filterkit import FilterkitError


def shaped(options, batch):
    return transformed(f"shape --beside {options}", batch)


def test_a_column_keeps_its_name_and_the_shaped_one_is_named_by_the_class():
    batch = make([[5, 7], [5, 8], [6, 8]], [0, 1, 1])
    plain = transformed("shape --neighbors 0", batch)
    out = shaped("--neighbors 0", batch)
    assert feature_names(out) == ["a0", "a0@no", "a1", "a1@no"]  # the rarer class
    np.testing.assert_array_equal(out.X[:, ::2], batch.X)
    np.testing.assert_array_equal(out.X[:, 1::2], plain.X)
    assert feature_names(shaped("", make(batch.X, [0, 2, 2], "abc"))) == ["a0", "a0@a", "a0@c", "a1", "a1@a", "a1@c"]


def test_a_name_that_is_taken_is_refused():
    batch = rows({"a": [1, 2], "a@y": [2, 1], "class": ["n", "y"]})
    with pytest.raises(FilterkitError, match=r"^shape: .*two attributes are named 'a@y'"):
        shaped("", batch)
    assert feature_names(shaped("--only a@y", batch)) == ["a", "a@y", "a@y@y"]


def test_with_auto_a_column_has_one_beside_it_only_if_that_predicts_better():
    rng = np.random.default_rng(3)
    bump, noise = rng.normal(size=(2, 600))
    y = (np.abs(bump) < 0.7).astype(int)
    batch = make(np.column_stack([noise, bump, noise]), y, positive="yes")
    for options in ("--auto", "--auto --cross-fit 4"):
        out = shaped(options, batch)
        assert feature_names(out) == ["a0", "a1", "a1@yes", "a2"]
        np.testing.assert_array_equal(out.X[:, [0, 1, 3]], batch.X)
    several = shaped("--auto", make(batch.X[:, :2], y + 2 * (bump > 1), "abc"))
    assert feature_names(several) == ["a0", "a1", "a1@a", "a1@b", "a1@c"]


def test_cross_fitted_rows_keep_the_column_beside():
    batch = sample("mixed-sparse")
    options = "--cross-fit 3 --prior class --center --weight 0.15 --neighbors 5%"
    plain = filterkit.chain(f"shape {options}").fit_transform(batch)[1]
    out = filterkit.chain(f"shape --beside {options}").fit_transform(batch)[1]
    tasks = plain.schema.width // batch.schema.width
    kept = np.arange(out.schema.width) % (tasks + 1) == 0
    np.testing.assert_array_equal(dense(out)[:, kept], dense(batch))
    np.testing.assert_array_equal(dense(out)[:, ~kept], dense(plain))


@pytest.mark.parametrize(("classes", "expected"), [(["no", "yes"], ["a0", "a0@yes"]), ("abc", ["a0"])])
def test_no_training_rows_leave_the_columns_alone(classes, expected):
    out = shaped("--center --prior class", make([[1], [2]], [-1, -1], classes))
    assert feature_names(out) == expected
    assert out.X[:, 0].tolist() == [1, 2] and not out.X[:, 1:].any()


def test_the_curve_is_that_of_the_shaped_column_and_not_weighted():
    batch = make([[1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 0], positive="yes")
    fitted = filterkit.chain("shape --neighbors 0 --beside --center --prior class --weight 3").fit(batch).stages[0]
    values, columns = np.array([1.0, 1.0, 2.0, 2.0]), np.array([0, 1, 0, 1])
    curve = fitted.stage.curve(values, columns, fitted.state)
    assert curve.tolist() == close([np.nan, np.log(0.5), np.nan, np.log(2)])
    assert fitted.stage.curve_name == "T(p(v))"


@pytest.mark.parametrize("neighbors", ["5%", "0", "7 --strength 0.3", "33.3%"])
def test_a_flat_column_gives_exactly_0(neighbors):
    """Where each value has the same share of positives, the column says nothing, whatever the options."""
    values, labels = np.repeat(np.arange(7), 10) * 0.7, np.tile([1] * 3 + [0] * 7, 7)
    batch = make(values[:, None], labels, positive="yes")
    assert not shaped(f"--center --prior class --neighbors {neighbors}", batch).X[:, 1].any()


def test_estimates_are_the_float64_nearest_to_the_fraction():
    text, batch = "shape --neighbors 7% --prior class --strength 5 --no-zero", sample("iris")
    out = transformed(text, batch)
    np.testing.assert_array_equal(out.X, expected(text, batch)[2])


def test_estimates_that_are_rounded_to_1_have_log_odds():
    batch = make([[1.0], [2.0]], [1, 0], weights=[1e12, 1e-3], positive="yes")
    out = transformed("shape --center --prior class --neighbors 0 --strength 1e-9", batch)
    assert np.isfinite(out.X).all() and out.X[0, 0] > out.X[1, 0]
