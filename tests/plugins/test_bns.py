"""`bns`: numbers worked by hand, which the plain reference is held to as well, and agreement with the reference."""

import numpy as np
import pytest
from agreement import FRACTIONS, assert_agrees, batches, close, make
from hypothesis import given
from hypothesis import strategies as st

import filterkit

NAN = np.nan

Z_60, Z_75, Z_80, Z_90, Z_9995 = (  # from a table of the Normal distribution
    0.2533471031357997,
    0.6744897501960817,
    0.8416212335729143,
    1.2815515655446004,
    3.2905267314919255,
)


def column(*runs, **options):
    """A batch of one column from runs of (value, number of 'yes', number of 'no')."""
    rows = [(v, c) for v, yes, no in runs for c in [1] * yes + [0] * no]
    return make([[v] for v, _ in rows], [c for _, c in rows], positive="yes", **options)


def fit(batch, options=""):
    return filterkit.chain(f"bns {options}").fit(batch)


def score(batch):
    """The score of the first column, which the plain reference gives as well."""
    out = assert_agrees(batch, "bns")
    return dict(out.schema.features[0].scores)["bns"]


# ---- by hand -------------------------------------------------------------------------------------


BEST_VALUE = (0, 1, 4), (1, 8, 2), (2, 1, 4)
CLASSES = [0] * 10 + [1] * 10 + [2] * 20
ONES = [1] * 8 + [0] * 2 + [1] * 4 + [0] * 6 + [1] * 4 + [0] * 16


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        # The best threshold. >= 1: .9 and .6, z .9 - z .6 = 1.028; >= 2: .8 and .2, 1.683; >= 0: 1 and 1, 0
        (column((0, 1, 4), (1, 1, 4), (2, 8, 2)), 2 * Z_80),
        # The best label, b: .8 and .2; a and c: .1 and .4. As a number, >= 1 has .9 and .6.
        (column(*BEST_VALUE, nominal=[0]), 2 * Z_80),
        (column(*BEST_VALUE), Z_90 - Z_60),
        # Rows with a missing value count among pos and neg. >= 1: 2 of 4 and 3 of 4
        (column((0, 1, 0), (1, 2, 3), (NAN, 1, 1)), Z_75),
        # By weight, pos 4 of 5 and neg 1 of 5; the last two rows, of no weight and of no class, would spoil it.
        (
            make([[1], [0], [1], [0], [1], [1]], [1, 1, 0, 0, 0, -1], weights=[4, 1, 1, 4, 0, 9], positive="yes"),
            2 * Z_80,
        ),
        # Value 1 in 8 of 10 a, 4 of 10 b, 4 of 20 c.  a: .8 and 8/30; b: .4 and 12/30; c: .2 and 12/20.
        # a leads: z .8 + z 22/30 = .842 + .623; c: .842 + .253
        (make([[v] for v in ONES], CLASSES, "abc"), Z_80 + 0.6229257232100877),
        (column((0, 0, 9), (1, 9, 0)), 2 * Z_9995),
        (column((7, 3, 5)), 0),
        (column((0, 0, 3), (1, 0, 5)), 0),
    ],
)
def test_scores_worked_by_hand(batch, expected):
    assert score(batch) == close(expected)


def test_a_new_score_replaces_an_earlier_one_and_comes_last():
    batch = column((0, 2, 8), (1, 8, 2))
    marked = batch.schema.with_features(
        [batch.schema.features[0]._replace(scores=(("bns", 9.0), ("other", 1.0)))], np.array([0])
    )
    fitted = fit(batch.replace(schema=marked))
    assert fitted.schema.features[0].scores == (("other", 1.0), ("bns", score(batch)))


# ---- against the reference -----------------------------------------------------------------------


CHAINS = ["bns", "bns bns", "bns --multiply", "shape --neighbors 1 --zero bns", "shape --no-zero bns"]


@given(batches(), st.sampled_from(CHAINS), st.integers(0, 14))
def test_small_batches_agree(batch, chain, trained):
    assert_agrees(batch, chain, trained=min(trained, len(batch)))


@given(batches(weights=[FRACTIONS]))
def test_fractional_weights_agree(batch):
    # Two rates that are equal in theory may differ in the last digit, and the score then is not 0 but 1e-16.
    assert_agrees(batch, "bns", same_zeros=False)
