"""The sweep over options: it finds nothing in a slice of its cases, and finds a defect that is put in on purpose."""

import sys

import pytest

from trials.sweep import sweep

pytestmark = [
    pytest.mark.separate,
    pytest.mark.skipif(sys.platform != "linux", reason="forks are less safe there"),
]


def test_senseless_values_end_in_a_line_or_a_value():
    counts, wrong = sweep("", share=0.005)
    assert wrong == []
    assert min(counts["exit 0"], counts["exit 1"], counts["exit 2"]) > 3


@pytest.mark.parametrize(
    ("defect", "said"),
    [
        (lambda: 1 / 0, "unexpected ZeroDivisionError in the stage 'id'"),
        (lambda: len(b"1" * (1 << 30)), "took "),
        (lambda: sum(1 for _ in iter(int, 1)), "ended with 152"),
    ],
    ids=["traceback", "memory", "time"],
)
def test_a_stage_that_fails_takes_much_or_never_ends_is_found(defect, said, monkeypatch):
    from filterkit_plugins.attributes import Id

    fit = Id.fit

    def wrongly(self, rows, schema):
        if self.attribute == "*":
            defect()
        return fit(self, rows, schema)

    monkeypatch.setattr(Id, "fit", wrongly)
    monkeypatch.setattr("trials.sweep.SECONDS", 3)
    _, wrong = sweep("^id: --attribute")
    assert len(wrong) == 1
    assert said in wrong[0]


def test_a_value_that_is_not_refused_the_second_time_is_found(monkeypatch):
    monkeypatch.setattr("filterkit.plugin.parsing.refuse_repeated_options", lambda *_: None)
    _, wrong = sweep("^shuffle: --seed")
    assert ["two values are not refused" in line for line in wrong] == [True, True]  # of dense and sparse rows
