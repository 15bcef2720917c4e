"""The reference itself, against numbers worked by hand."""

import pytest
import reference as ref

NAN = float("nan")
TWO = ["neg", "pos"]


def approx(expected):
    return pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


def shape_column(train, labels, asked, kind="numeric", weights=None, **options):
    """Shape one column, 'pos' positive: labels is a string of + and -; asked are values of rows without class."""
    y = [{"-": 0, "+": 1}[c] for c in labels] + [-1] * len(asked)
    weights = None if weights is None else weights + [1] * len(asked)
    X = [[v] for v in train + asked]
    plan, new = ref.shape(X, [kind], y, TWO, weights, positive="pos", **options)
    assert plan == [(0, "")]
    return [row[0] for row in new[len(train) :]]


def column(*runs):
    """X and y of one column from runs of (value, number of pos, number of neg)."""
    rows = [([v], c) for v, pos, neg in runs for c in [1] * pos + [0] * neg]
    return [x for x, _ in rows], [c for _, c in rows]


# ---- classes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "classes", "weights", "positive", "expected"),
    [
        ([0, 0, 1], TWO, None, None, 1),  # the rarer
        ([0, 1, 1], TWO, None, None, 0),
        ([0, 0, 1], TWO, [1, 1, 5], None, 0),  # ... by weight
        ([0, 1, 1, 0], TWO, [1, 1, 0, 1], None, 1),  # a row of weight 0 is none
        ([0, 1, 1, -1], TWO, [2, 1, 1, 1], None, 1),  # tie: the later
        ([0, 0, 1], TWO, None, "neg", 0),  # the named
        ([0, 1, 1], ["a", "b", "c"], None, None, None),  # three declared, though two occur
        ([0, 1, 1], ["a", "b", "c"], None, "c", 2),
    ],
)
def test_the_positive_class_is_named_or_the_rarer(y, classes, weights, positive, expected):
    assert ref.positive_class(y, classes, weights, positive) == expected


def test_tasks_of_a_multi_class_are_the_classes_that_have_rows():
    classes = ["a", "b", "c", "d"]
    y, weights = [3, 0, 2, 0, -1], [1, 1, 0, 1, 1]
    assert ref.tasks(y, classes, weights) == [0, 3]
    assert ref.tasks(y, classes, weights, positive="c") == [2]


# ---- shape ---------------------------------------------------------------------------------------


def test_neighbours_are_taken_value_by_value_and_the_last_pro_rata():
    # n = 2; 1 has 1 of 2 positive, 2 has 1 of 1, 3 has 1 of 3.
    #   1: own 1/2; above: all of 2, 1/3 of 3.    pos 1 + 1 + 1/3 = 7/3, rows 4: (10/3)/6 = 5/9
    #   2: own 1/1; below: 1; above: 2/3 of 3.    pos 1 + 1 + 2/3 = 8/3, rows 5: (11/3)/7 = 11/21
    #   3: own 1/3; below: all of 2, 1/2 of 1.    pos 1 + 1 + 1/2 = 5/2, rows 5: (7/2)/7 = 1/2
    # Between: 1.5 half-way, (35 + 33)/126 = 34/63; 2.25 a quarter from 11/21 to 1/2, 29/56. Beyond: held.
    got = shape_column([1, 1, 2, 3, 3, 3], "+-++--", [1, 2, 3, 1.5, 2.25, -7, 0, 10], neighbors=2)
    assert got == approx([5 / 9, 11 / 21, 1 / 2, 34 / 63, 29 / 56, 5 / 9, 5 / 9, 1 / 2])


def test_neighbours_do_not_depend_on_the_order_of_rows():
    values, labels = [1, 1, 2, 3, 3, 3], "+-++--"
    forward = shape_column(values, labels, [1, 2, 3], neighbors=2)
    backward = shape_column(values[::-1], labels[::-1], [1, 2, 3], neighbors=2)
    assert forward == backward == approx([5 / 9, 11 / 21, 1 / 2])


def test_fifteen_neighbours_on_either_side_by_default():
    # 20 negatives at 1, one positive at 2, 20 negatives at 3: at 2, pos 1, rows 1 + 15 + 15: 2/33
    got = shape_column([1] * 20 + [2] + [3] * 20, "-" * 20 + "+" + "-" * 20, [2])
    assert got == approx([2 / 33])


def test_rows_count_by_weight():
    # n = 1; weight 2 positive at 1, 1/2 negative at 2, 4 negative at 3; weight 0 positive at 3.
    #   1: pos 2, rows 2 + 1/2 + 1/2 (1/8 of 3): 3/5
    #   2: pos 1 (half of 1), rows 1/2 + 1 + 1: 2/4.5 = 4/9
    #   3: pos 1/2 (1/4 of 1), rows 4 + 1/2 + 1/2: 1.5/7 = 3/14
    #   1.5: half-way, 47/90
    got = shape_column([1, 2, 3, 3], "+--+", [1, 2, 3, 1.5], weights=[2, 0.5, 4, 0], neighbors=1)
    assert got == approx([3 / 5, 4 / 9, 3 / 14, 47 / 90])


ZEROS = [0, 0, 0, 0, 1, 2], "---++-"


def test_a_special_zero_has_its_own_bin_and_is_subtracted():
    # n = 0: p(0) = (1+1)/(4+2) = 1/3, p(1) = 2/3, p(2) = 1/3; the class share is (2+1)/(6+2) = 3/8.
    #   0.5 and -1 take p(1), not a mean with p(0); 1.5 is half-way, 1/2; never-seen missing: 3/8 - 1/3
    got = shape_column(*ZEROS, [0, 1, 2, 0.5, -1, 1.5, 9, NAN], neighbors=0, zero=True)
    assert got == approx([0, 1 / 3, 0, 1 / 3, 1 / 3, 1 / 6, 0, 1 / 24])


def test_a_special_zero_is_no_neighbour_and_has_none():
    # n = 1: p(0) = 1/3 still; p(1): pos 1, rows 2: 1/2; p(2) the same.
    got = shape_column(*ZEROS, [0, 1, 2], neighbors=1, zero=True)
    assert got == approx([0, 1 / 6, 1 / 6])


def test_an_ordinary_zero_is_a_value_like_any_other():
    # n = 1: p(0): own 1/4, above 1/1: (2+1)/(5+2) = 3/7
    #        p(1): own 1/1, 1/4 of a positive below, 0/1 above: (5/4+1)/(3+2) = 9/20
    #        0.5: half-way, 123/280
    got = shape_column(*ZEROS, [0, 1, 0.5], neighbors=1, zero=False)
    assert got == approx([3 / 7, 9 / 20, 123 / 280])


def test_a_special_zero_absent_from_training_takes_the_nearest_value():
    # n = 0: p(-1) = (0+1)/(2+2) = 1/4, p(1) = (1+1)/(2+2) = 1/2, p(3) = (1+1)/(1+2) = 2/3.
    # -1 and 1 are as near to zero: the larger, so p(0) = 1/2.
    #   0.5 lies three quarters of the way from -1 to 1: 7/16 - 1/2; missing: (2+1)/(5+2) - 1/2
    got = shape_column([1, 1, -1, -1, 3], "+---+", [0, 1, -1, 3, 0.5, NAN], neighbors=0, zero=True)
    assert got == approx([0, 0, -1 / 4, 1 / 6, -1 / 16, -1 / 14])


def test_an_absent_special_zero_takes_the_nearer_value_even_if_smaller():
    # n = 0: p(-1) = 1/3, p(2) = 2/3; p(0) = p(-1)
    assert shape_column([-1, 2], "-+", [0, -1, 2], neighbors=0, zero=True) == approx([0, 0, 1 / 3])


def test_missing_values_have_their_own_bin():
    # missing: (2+1)/(3+2) = 3/5; 1 and 2, each other's neighbours: (0+1)/(2+2) = 1/4
    got = shape_column([NAN, NAN, NAN, 1, 2], "++---", [NAN, 1, 2])
    assert got == approx([3 / 5, 1 / 4, 1 / 4])


def test_other_numbers_become_0_if_training_has_only_zeros():
    # p(0) = (1+1)/(3+2) = 2/5, p(missing) = (1+1)/(1+2) = 2/3; other numbers go with zero.
    got = shape_column([0, 0, 0, NAN], "--++", [0, 5, -5, NAN], zero=True)
    assert got == approx([0, 0, 0, 4 / 15])


@pytest.mark.parametrize("kind", ["numeric", "nominal"])
@pytest.mark.parametrize("zero", [True, False])
def test_a_column_empty_in_training_is_0(kind, zero):
    assert shape_column([NAN, NAN, NAN], "+--", [NAN, 0, 4], kind=kind, zero=zero) == [0, 0, 0]


def test_nominal_values_have_no_neighbours():
    # p(0) = (0+1)/(2+2) = 1/4, p(1) = (2+1)/(3+2) = 3/5; the class share, (2+1)/(5+2) = 3/7, for the unseen.
    train = [0, 0, 1, 1, 1], "--++-", [0, 1, 2, NAN]
    assert shape_column(*train, kind="nominal") == approx([1 / 4, 3 / 5, 3 / 7, 3 / 7])
    # less p(0): 3/5 - 1/4 = 7/20, 3/7 - 1/4 = 5/28
    assert shape_column(*train, kind="nominal", zero=True) == approx([0, 7 / 20, 5 / 28, 5 / 28])


def test_nominal_zero_absent_from_training_is_the_class_share():
    # share (1+1)/(3+2) = 2/5; p(1) = 2/4, p(2) = 1/3
    got = shape_column([1, 1, 2], "+--", [0, 1, 2, NAN], kind="nominal", zero=True)
    assert got == approx([0, 1 / 10, -1 / 15, 0])


def test_multi_class_output_is_ordered_by_column_and_then_by_class():
    # b has no rows. n = 0. Column 0: 5 is a and c, 6 is c:   a: 2/4, 1/3;  c: 2/4, 2/3
    #                       Column 1: 7 is a, 8 is c twice:    a: 2/3, 1/4;  c: 1/3, 3/4
    X, y, classes = [[5, 7], [5, 8], [6, 8]], [0, 2, 2], ["a", "b", "c"]
    plan, new = ref.shape(X, ["numeric"] * 2, y, classes, None, neighbors=0)
    assert plan == [(0, "@a"), (0, "@c"), (1, "@a"), (1, "@c")]
    assert new == [
        approx([1 / 2, 1 / 2, 2 / 3, 1 / 3]),
        approx([1 / 2, 1 / 2, 1 / 4, 3 / 4]),
        approx([1 / 3, 2 / 3, 1 / 4, 3 / 4]),
    ]
    plan, new = ref.shape(X, ["numeric"] * 2, y, classes, None, neighbors=0, positive="c")
    assert plan == [(0, ""), (1, "")]
    assert new[0] == approx([1 / 2, 1 / 3])


# ---- bns -----------------------------------------------------------------------------------------

Z_60, Z_75, Z_80, Z_90, Z_9995 = (  # from a table of the Normal distribution
    0.2533471031357997,
    0.6744897501960817,
    0.8416212335729143,
    1.2815515655446004,
    3.2905267314919255,
)


def bns_column(*runs, kind="numeric"):
    X, y = column(*runs)
    return ref.bns_scores(X, [kind], y, TWO, positive="pos")[0]


def test_bns_of_a_word_worked_by_hand():
    # tp = 8 of 10, fp = 2 of 10: F(.8) - F(.2)
    assert bns_column((0, 2, 8), (1, 8, 2)) == approx(2 * Z_80)
    assert bns_column((0, 8, 2), (1, 2, 8)) == approx(2 * Z_80)  # a negative word does as well


def test_bns_bounds_the_rates():
    assert bns_column((0, 0, 10), (1, 10, 0)) == approx(2 * Z_9995)


def test_bns_takes_the_best_threshold():
    # >= 1: .9 and .6, z .9 - z .6 = 1.028; >= 2: .8 and .2, 1.683; >= 0: 1 and 1, 0
    assert bns_column((0, 1, 4), (1, 1, 4), (2, 8, 2)) == approx(2 * Z_80)


def test_bns_of_a_nominal_column_takes_the_best_value():
    # the value 1: .8 and .2; 0 and 2: .1 and .4. As a number, >= 1 has .9 and .6, >= 2 .1 and .4.
    runs = (0, 1, 4), (1, 8, 2), (2, 1, 4)
    assert bns_column(*runs, kind="nominal") == approx(2 * Z_80)
    assert bns_column(*runs) == approx(Z_90 - Z_60)


def test_bns_counts_rows_with_a_missing_value_among_pos_and_neg():
    # >= 1: 2 of 4 and 3 of 4
    assert bns_column((0, 1, 0), (1, 2, 3), (NAN, 1, 1)) == approx(Z_75)
    assert bns_column((1, 2, 3), (NAN, 2, 1)) == 0


def test_bns_counts_by_weight_and_only_training_rows():
    # pos 4 of 5, neg 1 of 5; the last two rows would spoil it
    X, y, weights = [[1], [0], [1], [0], [1], [1]], [1, 1, 0, 0, 0, -1], [4, 1, 1, 4, 0, 9]
    assert ref.bns_scores(X, ["numeric"], y, TWO, weights) == approx([2 * Z_80])


@pytest.mark.parametrize("runs", [[(7, 3, 5)], [(NAN, 3, 5)], [(0, 3, 0), (1, 5, 0)], [(0, 0, 3), (1, 0, 5)]])
def test_bns_is_0_for_constant_empty_and_one_class(runs):
    assert bns_column(*runs) == 0


def test_bns_of_a_multi_class_is_its_best_task():
    # value 1 in 8 of 10 a, 4 of 10 b, 4 of 20 c.  a: .8 and 8/30; b: .4 and 12/30; c: .2 and 12/20.
    # a leads: z .8 + z 22/30 = .842 + .623; c: .842 + .253
    rows = [(0, 1)] * 8 + [(0, 0)] * 2 + [(1, 1)] * 4 + [(1, 0)] * 6 + [(2, 1)] * 4 + [(2, 0)] * 16
    X, y = [[v] for _, v in rows], [c for c, _ in rows]
    assert ref.bns_scores(X, ["numeric"], y, ["a", "b", "c"]) == approx([Z_80 + 0.6229257232100877])
    assert ref.bns_scores(X, ["numeric"], y, ["a", "b", "c"], positive="c") == approx([Z_80 + Z_60])


def test_scaling_maps_the_training_range_to_the_score():
    # Training has 1 and 3, range 2, score 4: twice (v - o). Then a constant, an empty and a nominal column.
    X = [[1, 6, NAN, 0], [3, 6, NAN, 1], [NAN, NAN, NAN, NAN], [5, 8, 8, 2]]
    kinds, scores, y = ["numeric"] * 3 + ["nominal"], [4, 4, 4, 4], [0, 1, 1, -1]
    assert ref.scale(X, kinds, scores, y, None, zero=False) == [
        approx(row) for row in ([0, 0, NAN, 0], [4, 0, NAN, 1], [NAN, NAN, NAN, NAN], [8, 0, 0, 2])
    ]
    assert ref.scale(X, kinds, scores, y, None, zero=True) == [
        approx(row) for row in ([2, 0, NAN, 0], [6, 0, NAN, 1], [NAN, NAN, NAN, NAN], [10, 0, 0, 2])
    ]


def test_scale_takes_zeros_into_the_range():
    # the range of 0, 2, 4 is 4, the score 3: 2 -> 2 * 3/4
    scaled = ref.scale([[0], [2], [4]], ["numeric"], [3], [0, 1, 1], None, zero=True)
    assert scaled == [approx([0]), approx([1.5]), approx([3])]


# ---- l2 ------------------------------------------------------------------------------------------


def test_l2_divides_rows_by_their_norm():
    X = [[3, 7, 4, NAN], [0, 7, 0, NAN], [NAN, NAN, -2, 0]]
    expected = [0.6, 7, 0.8, NAN], [0, 7, 0, NAN], [NAN, NAN, -1, 0]
    assert ref.l2(X, ["numeric", "nominal", "numeric", "numeric"]) == [approx(row) for row in expected]


# ---- chains --------------------------------------------------------------------------------------


def test_chain_is_its_stages_one_after_the_other():
    X, y = [[1, 2.5], [1, 0], [2, 0], [3, NAN], [3, 1]], [1, 0, 1, 0, -1]
    kinds, scores = ["numeric"] * 2, None
    plan, shaped = ref.shape(X, kinds, y, TWO, None, neighbors=3, zero=True)
    scores = ref.bns_scores(shaped, kinds, y, TWO)
    by_hand = ref.l2(ref.scale(shaped, kinds, scores, y, None, zero=True), kinds)
    got = ref.chain("shape --neighbors 3 --zero bns l2", X, kinds, y, TWO)
    assert got == (plan, scores, [approx(row) for row in by_hand])


def test_chain_keeps_track_of_columns():
    plan, scores, X = ref.chain("bns shape", [[5], [6]], ["nominal"], [0, 2], ["a", "b", "c"])
    assert plan == [(0, "@a"), (0, "@c")]
    assert scores is None
    assert X[0] == approx([2 / 3, 1 / 3])
    assert X[1] == approx([1 / 3, 2 / 3])
