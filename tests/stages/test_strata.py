"""Rows chosen class by class."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from filterkit.stages.strata import choose_rows


@given(st.lists(st.integers(0, 3), max_size=30), st.data())
def test_the_first_rows_of_each_stratum_in_the_order_are_chosen(strata, data):
    most = data.draw(st.lists(st.integers(0, 9), min_size=4, max_size=4))
    order = data.draw(st.permutations(range(len(strata))))
    expected = [i for s in range(4) for i in [j for j in order if strata[j] == s][: most[s]]]
    chosen = choose_rows(np.array(strata, np.int64), np.array(most), np.array(order, np.int64))
    assert chosen.tolist() == sorted(expected)
