"""Options: the types that they hold."""

import numpy as np
import pytest

from filterkit import RowStage, UsageError, option
from filterkit.stages.options import get_option_types


def declared(hint, default):
    return type("Mine", (RowStage,), {"name": "mine", "__annotations__": {"o": hint}, "o": option(default, "What.")})


@pytest.mark.parametrize(
    ("hint", "default", "held"),
    [
        (int, 3, int),
        (float, 3, float),
        (str | None, None, str),
        ("float | None", None, float),
        (bool, False, bool),
        (tuple[str, ...], (), tuple),
        (int | str, 3, int | str),
    ],
)
def test_types_that_options_hold(hint, default, held):
    assert get_option_types(declared(hint, default)) == {"o": held} and declared(hint, default)().o == default


@pytest.mark.parametrize(
    ("hint", "default", "message"),
    [
        (
            list[int],
            (),
            r"Mine\.o: an option cannot hold list\[int\]; declare int, float, str, bool, int \| str, tuple",
        ),
        (int | float, 3, r"Mine\.o: an option cannot hold int \| float"),
        (tuple[int, ...], (), r"Mine\.o: an option cannot hold tuple\[int, \.\.\.\]"),
        (int, "3", r"Mine\.o: the default '3' is not a whole number"),
        (bool, 1, r"Mine\.o: the default 1 is not True or False"),
    ],
)
def test_types_that_options_cannot_hold_are_refused(hint, default, message):
    with pytest.raises(TypeError, match=message):
        declared(hint, default)()


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"by": option(2.0, "By what.")}, "Mine: 'by' is a field but has no type annotation; declare"),
        ({"by": 2.0, "__annotations__": {"by": float}}, "Mine: by has a type but is not an option; leave the type out"),
        ({"by": option([], "By."), "__annotations__": {"by": list}}, "Mine: mutable default .*; declare"),
    ],
)
def test_a_class_that_declares_an_option_in_another_way_is_refused(members, said):
    with pytest.raises(TypeError, match=f"^{said}"):
        type("Mine", (RowStage,), members)


def test_limits_hold_for_a_stage_that_does_not_call_its_base():
    class Mine(RowStage):
        name = "mine"
        low: float = option(0.5, "What.", minimum=0, maximum=1)

        def __post_init__(self):
            self.what = self.low * 2

    assert Mine(low=0.25).what == 0.5
    with pytest.raises(UsageError, match="mine: --low must be at least 0, not -2"):
        Mine(low=-2)


@pytest.mark.parametrize(("number", "default"), [(10**400, 1.0), (-(10**400), np.inf)])
def test_whole_numbers_beyond_the_range_of_floats_are_refused(number, default):
    with pytest.raises(UsageError, match=r"^mine: --o must be a finite number, not -?inf$"):
        declared(float, default)(o=number)


def test_texts_of_a_set_are_in_the_same_order_in_every_run():
    names = [f"a{number:02}" for number in range(50)]
    for kind in (set, frozenset):
        assert declared(tuple[str, ...], ())(o=kind(names)).o == tuple(names)
    assert declared(tuple[str, ...], ())(o=names[::-1]).o == tuple(names[::-1])


def test_an_option_of_numbers_and_texts_takes_numbers_as_numbers():
    kind = declared(int | str, 3)
    for given, held in ((5, 5), ("5", 5), (np.int8(7), 7), ("5%", "5%"), ("-5", -5), ("-", "-"), ("", "")):
        value = kind(o=given).o
        assert value == held and type(value) is type(held)
    for given in (2.5, True, None, ["5"]):
        with pytest.raises(UsageError, match="mine: --o must be a whole number or a text, not "):
            kind(o=given)
