"""`shape`: numbers worked by hand, which the plain reference is held to as well, and agreement with the reference."""

import numpy as np
import pytest
from agreement import FRACTIONS, assert_agrees, batches, close, dense, make, sample, transformed
from hypothesis import given
from hypothesis import strategies as st

import filterkit

NAN = np.nan


# Of each: the options, the training values of a column and the classes of their rows, of which + is positive; what the
# values asked become; and, of some, the weights of the training rows. Without --neighbors here, there are none.
ZEROS = [0, 0, 0, 0, 1, 2], "---++-"
RUNS = [1, 1, 2, 3, 3, 3], "+-++--"
TWO_VALUES = [1] * 4 + [2] * 12, "+---" + "++++" + "-" * 8
SKEWED = [1, 1, 2, 2, 2, 2, 2, 2], "++------"
HALF_WAY = (5 / 8 + 1 / 16) / 2
CASES = {
    # 1 has 1 of 2 positive, 2 has 1 of 1, 3 has 1 of 3.
    #   1: own 1/2; above: all of 2, 1/3 of 3.    pos 1 + 1 + 1/3 = 7/3, rows 4: (10/3)/6 = 5/9
    #   2: own 1/1; below: 1; above: 2/3 of 3.    pos 1 + 1 + 2/3 = 8/3, rows 5: (11/3)/7 = 11/21
    #   3: own 1/3; below: all of 2, 1/2 of 1.    pos 1 + 1 + 1/2 = 5/2, rows 5: (7/2)/7 = 1/2
    # Half-way it is (5/9 + 11/21)/2 = 34/63; a quarter from 11/21 to 1/2 is 29/56.
    "neighbours come value by value, the last pro rata, and estimates are linear between values": (
        ("--neighbors 2", *RUNS),
        {1: 5 / 9, 2: 11 / 21, 3: 1 / 2, 1.5: 34 / 63, 2.25: 29 / 56, -7: 5 / 9, 0: 5 / 9, 10: 1 / 2},
    ),
    # 25 % of 6 rows are 1.5 on each side.
    #   1: own 1/2; above: 2 whole, 1/2 of a row of 3, a third of which is positive.  pos 1 + 1 + 1/6, rows 3.5
    #   2: own 1/1; below: 1.5 of the 2 rows of 1; above: 1.5 of the 3 rows of 3.     pos 1 + 3/4 + 1/2, rows 4
    #   3: own 1/3; below: 2 whole, 1/2 of a row of 1, half of which is positive.     pos 1 + 1 + 1/4, rows 4.5
    "neighbours are a share of the rows": (
        ("--neighbors 25%", *RUNS),
        {1: (13 / 6 + 1) / 5.5, 2: (9 / 4 + 1) / 6, 3: (9 / 4 + 1) / 6.5},
    ),
    "a share is at least one row": (
        ("--neighbors 1%", [1, 2, 3, 4], "+--+"),
        {1: 2 / 4, 2: 2 / 5, 3: 2 / 5, 4: 2 / 4},
    ),
    # 8 rows by weight, of which a value, 4 are missing and 1 is 0: 25 % are 2.
    #   1: pos 1, rows 1 + 2; 2: pos 2, rows 3; 3: pos 1, rows 3; p(0) = 2/3
    "a share is one of all training rows, also those that are missing or 0": (
        ("--neighbors 25% --zero", [1, 2, 3, NAN, 0], "+-+-+", [1, 1, 1, 4, 1]),
        {0: 0, 1: 3 / 5 - 2 / 3, 2: 3 / 5 - 2 / 3, 3: 3 / 5 - 2 / 3},
    ),
    # Weight 2 positive at 1, 1/2 negative at 2, 4 negative at 3; a positive of weight 0 at 3.
    #   1: pos 2, rows 2 + 1/2 + 1/2 (1/8 of 3): 3/5
    #   2: pos 1 (half of 1), rows 1/2 + 1 + 1: 4/9
    #   3: pos 1/2 (1/4 of 1), rows 4 + 1/2 + 1/2: 3/14
    "rows count by weight": (
        ("--neighbors 1", [1, 2, 3, 3], "+--+", [2, 0.5, 4, 0]),
        {1: 3 / 5, 2: 4 / 9, 3: 3 / 14, 1.5: 47 / 90},
    ),
    # p(0) = 2/6, p(1) = 2/3, p(2) = 1/3, the class share (2+1)/(6+2) = 3/8.
    #   0.5 and -1 take p(1); 1.5 is half-way, 1/2; missing, never seen: 3/8 - 1/3
    "a special zero has its own bin and is subtracted": (
        ("--zero", *ZEROS),
        {0: 0, 1: 1 / 3, 2: 0, 0.5: 1 / 3, -1: 1 / 3, 1.5: 1 / 6, 9: 0, NAN: 1 / 24},
    ),
    # p(1) = p(2): pos 1, rows 2: 1/2, less p(0) = 1/3
    "a special zero is no neighbour": (("--neighbors 1 --zero", *ZEROS), {0: 0, 1: 1 / 6, 2: 1 / 6}),
    # p(-1) = 1/4, p(1) = 1/2, p(3) = 2/3; p(0) = p(1). Missing: 3/7 - 1/2.
    "an absent special zero takes the nearest value, the larger on a tie": (
        ("--zero", [1, 1, -1, -1, 3], "+---+"),
        {0: 0, 1: 0, -1: -1 / 4, 3: 1 / 6, 0.5: -1 / 16, NAN: -1 / 14},
    ),
    # missing: (2+1)/(3+2); 1 and 2, each other's neighbours: (0+1)/(2+2)
    "missing values have their own bin": (
        ("--neighbors 1", [NAN, NAN, NAN, 1, 2], "++---"),
        {NAN: 3 / 5, 1: 1 / 4, 2: 1 / 4},
    ),
    # p(0) = 2/5, p(missing) = 2/3
    "other numbers become 0 if training has only zeros": (
        ("--zero", [0, 0, 0, NAN], "--++"),
        {0: 0, 5: 0, -5: 0, NAN: 4 / 15},
    ),
    "a column empty in training becomes 0": (("", [NAN] * 3, "+--"), {NAN: 0, 0: 0, 4: 0}),
    # 5 of 16 rows are positive; 1 of 4 at 1, and 4 of 12 at 2.
    "the prior is the share of the class, and has a strength": (
        ("--strength 3.2 --prior class", *TWO_VALUES),
        {1: (1 + 1) / 7.2, 2: (4 + 1) / 15.2},
    ),
    # 1 of 4 positive and 3 of 4: 2/6 and 4/6; p is interpolated and not its log odds: 5/12 at a quarter.
    "log odds": (
        ("--method logodds", [1] * 4 + [2] * 4, "+---+++-"),
        {1: -np.log(2), 2: np.log(2), 1.5: 0, 1.25: np.log(5 / 7)},
    ),
    # Shares 1/2, 1/4, 3/4, 1/1: the first two are pooled to 2/6.
    "isotonic": (
        ("--method isotonic", [1] * 2 + [2] * 4 + [3] * 4 + [4] * 2, "+-" + "+---" + "+++-" + "++"),
        {1: 1 / 3, 2: 1 / 3, 3: 3 / 4, 4: 1},
    ),
    # π = 1/4, odds 1/3. p(1) = (2 + 1/2) / (2 + 2) = 5/8, odds 5/3; p(2) = (0 + 1/2) / (6 + 2) = 1/16, odds 1/15.
    "centered log odds, of p interpolated": (
        ("--center --prior class", *SKEWED),
        {1: np.log(5), 2: -np.log(5), 1.5: np.log(HALF_WAY / (1 - HALF_WAY)) + np.log(3)},
    ),
    "a weight multiplies": (("--center --prior class --weight 0.5", *SKEWED), {1: np.log(5) / 2, 2: -np.log(5) / 2}),
    "centered isotonic": (("--center --method isotonic --prior class", *SKEWED), {1: 3 / 4, 2: -1 / 4, 1.5: 1 / 4}),
    "missing values that training did not have are 0 if centered": (
        ("--center --prior class --strength 7", [1, 2, 3, 4], "+---"),
        {NAN: 0},
    ),
    # 3 of 3 rows, 5 more at a half: 5.5/8, odds 11/5
    "rows of one class draw to a half": (
        ("--center --prior class --strength 5 --neighbors 15", [1, 2, 3], "---"),
        {1: -np.log(11 / 5), 2: -np.log(11 / 5)},
    ),
    # p(0) = (0 + 4/3 + 1) / 8: 1 of 4 rows is positive, and so are 4 (2/6) of those added
    "of a special zero, p of zero is subtracted, and no prior": (
        ("--zero --center --prior class --strength 4 --method lp", *ZEROS),
        {0: 0, 1: (1 + 4 / 3) / 5 - (1 + 4 / 3) / 8, 2: (0 + 4 / 3) / 5 - (1 + 4 / 3) / 8},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_images_of_numbers_worked_by_hand(case, sparse):
    (options, *training), images = CASES[case]
    options = options if "--neighbors" in options else f"{options} --neighbors 0"
    options = options if "--zero" in options else f"{options} --no-zero"
    check_images(options, images, *training, sparse=sparse)


def check_images(options, images, train, labels, weights=None, **form):
    batch = make(
        [[v] for v in [*train, *images]],
        ["-+".index(label) for label in labels] + [-1] * len(images),
        weights=None if weights is None else weights + [1] * len(images),
        positive="yes",
        **form,
    )
    out = assert_agrees(batch, f"shape {options}", trained=len(train), same_zeros="logodds" not in options)
    assert dense(out)[len(train) :, 0].tolist() == close(list(images.values()))


@pytest.mark.parametrize(
    ("options", "train", "labels", "images"),
    [
        # p(0) = 1/4, p(1) = 3/5, and the class share (2+1)/(5+2) of a label that training does not have
        ("--no-zero", [0, 0, 1, 1, 1], "--++-", {0: 1 / 4, 1: 3 / 5, 2: 3 / 7, NAN: 3 / 7}),
        ("--zero", [0, 0, 1, 1, 1], "--++-", {0: 0, 1: 7 / 20, 2: 5 / 28, NAN: 5 / 28}),
        # No zero in training: share 2/5, p(1) = 2/4, p(2) = 1/3
        ("--zero", [1, 1, 2], "+--", {0: 0, 1: 1 / 10, 2: -1 / 15, NAN: 0}),
        # share (1+1)/(3+2) = 2/5, p(0) = (0+1)/(2+2) = 1/4
        ("--zero", [0, 0, NAN], "--+", {1: 2 / 5 - 1 / 4}),
        ("--no-zero", [NAN, NAN, NAN], "+--", {NAN: 0, 0: 0, 4: 0}),
    ],
)
def test_labels_have_no_neighbours_and_take_the_class_share_if_unseen(options, train, labels, images):
    check_images(options, images, train, labels, nominal=[0])


@pytest.mark.parametrize("other", [0, 6])
def test_a_label_is_unseen_also_beside_a_column_that_has_a_value(other):
    batch = make([[0, other], [0, 0], [NAN, 0], [1, 0]], [0, 0, 1, -1], nominal=[0], sparse=True)
    assert dense(assert_agrees(batch, "shape", trained=3))[3, 0] == close(2 / 5 - 1 / 4)


def test_several_classes_give_one_column_for_each_that_has_rows():
    # Column 0: 5 is a and c, 6 is c:         a: 2/4, 1/3;  c: 2/4, 2/3
    # Column 1: 7 is a, 8 is c twice:         a: 2/3, 1/4;  c: 1/3, 3/4
    batch = make([[5, 7], [5, 8], [6, 8]], [0, 2, 2], "abc")
    out = assert_agrees(batch, "shape --neighbors 0")
    assert list(out.schema.names) == ["a0@a", "a0@c", "a1@a", "a1@c", "class"]
    assert out.X.tolist() == [
        close([1 / 2, 1 / 2, 2 / 3, 1 / 3]),
        close([1 / 2, 1 / 2, 1 / 4, 3 / 4]),
        close([1 / 3, 2 / 3, 1 / 4, 3 / 4]),
    ]


def test_attribute_weights_stay_and_nominal_becomes_numeric():
    batch = sample("mixed")
    features = [a._replace(weight=1.0 + j) for j, a in enumerate(batch.schema.features)]
    batch = batch.replace(schema=batch.schema.with_features(features, np.arange(len(features))))
    out = transformed("shape", batch)
    numeric = [a._replace(kind="numeric", values=()) for a in features]
    assert list(out.schema.features) == numeric
    assert out.passthrough is batch.passthrough and out.weights is batch.weights
    beside = filterkit.chain("shape --beside").fit(batch).schema.features
    assert list(beside[::2]) == features
    assert [(a.kind, a.weight) for a in beside[1::2]] == [(a.kind, a.weight) for a in numeric]


@pytest.mark.parametrize("options", ["", "--zero", "--no-zero", "--beside"])
def test_a_sparse_batch_stays_sparse_only_while_zero_is_special(options):
    batch = sample("sparse-counts-multiclass")
    out = transformed(f"shape {options}", batch)
    assert out.sparse == out.schema.sparse == out.schema.zero == (options != "--no-zero")


@pytest.mark.parametrize(("options", "folds"), [("", 0), ("--auto", 5), ("--auto --cross-fit 3", 3)])
def test_auto_takes_five_folds_unless_another_number_is_said(options, folds):
    assert filterkit.chain(f"shape {options}").stages[0].folds() == folds


# ---- against the reference -----------------------------------------------------------------------

OPTIONS = [
    "",
    "--neighbors 5 --beside",
    "--method logodds --prior class --neighbors 3",
    "--method isotonic",
    "--beside --neighbors 5% --prior class --strength 5 --center --weight 0.15",
    "--center --method isotonic --prior class --strength 0.5",
]


@given(
    batches(),
    st.sampled_from([*OPTIONS, "--neighbors 0", "--neighbors 1"]),
    st.sampled_from(["", "--zero", "--no-zero"]),
    st.integers(0, 14),
)
def test_small_batches_agree(batch, options, zero, trained):
    plain = "--center" not in options and "--method" not in options
    assert_agrees(batch, f"shape {options} {zero}", min(trained, len(batch)), same_zeros=plain)


@given(batches(weights=[FRACTIONS]), st.sampled_from(OPTIONS), st.sampled_from(["--zero", "--no-zero"]))
def test_fractional_weights_agree(batch, options, zero):
    assert_agrees(batch, f"shape {options} {zero}", same_zeros=False)


def test_a_class_that_is_missing_in_all_rows_is_warned_of():
    batch = make([[1], [2]], [-1, -1])
    message = "^shape: no training row has a known class, so all values become 0; add some that have$"
    with pytest.warns(filterkit.NothingLearnedWarning, match=message):
        fitted = filterkit.chain("shape").fit(batch)
    assert fitted.transform(batch).X.tolist() == [[0], [0]]


def test_equal_estimates_give_equal_values_in_any_order_of_rows():
    # 1 and 5 have the same window by symmetry, if in other order: 7/3 positives of 4 and the like, to the last bit
    batch = make([[v] for v in [1, 2, 2, 2, 3, 4, 4, 4, 5]], [1, 0] * 4 + [1], positive="yes")
    out = transformed("shape --neighbors 2", batch).X[:, 0]
    assert out[0] == out[-1] and out[1] == out[-2]
    batch = sample("breast-cancer")
    shuffled = batch.take(np.random.default_rng(1).permutation(len(batch)))
    one, other = (filterkit.chain("shape").fit(each).transform(batch) for each in (batch, shuffled))
    np.testing.assert_array_equal(one.X, other.X)
