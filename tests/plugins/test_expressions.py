"""`where`, `set` and `map`, and the language of their expressions."""

import cases
import numpy as np
import pytest
from agreement import dense, sample
from cases import view

import filterkit
from filterkit import StageError, UsageError, testing
from filterkit.plugin import DateFormat

TEXT = """@relation r
@attribute x numeric
@attribute 'a b' numeric
@attribute c {red,'dark red',blue}
@attribute s string
@attribute d date yyyy-MM-dd
@attribute class {no,yes}
@data
1,4,red,one,2001-01-01,no
2,?,'dark red',two,2001-06-01,yes
-3,0,?,?,?,yes
0,8,blue,one,2002-01-01,?
"""


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "in.arff"
    path.write_text(TEXT)
    return filterkit.read(path)


def run(batch, *words):
    fitted, out = filterkit.Chain.parse(list(words)).fit_transform(batch)
    assert out.schema == fitted.schema
    return out


def value(batch, expression):
    """What an expression gives for each row."""
    return view(run(batch, "set", f"new = {expression}"))["new"]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x", "1 2 -3 0"),
        ("1 + 2 * 3", "7"),
        ("2 ^ 3 ^ 2", "512"),
        ("-2 ^ 2", "-4"),
        ("2 ** -1", "0.5"),
        ('"a b" / x', "4 ? 0 ?"),
        ("`a b` + 1", "5 ? 1 9"),
        ("sqrt(x)", "1 1.4142135623730951 ? 0"),
        ("9 ^ 9 ^ 9 ^ 9", "?"),
        ("1 / log(0)", "0"),
        ("not ATT2 > 3", "0 ? 1 0"),
        ("x > 0 and ATT2 > 3", "1 ? 0 0"),
        ("ATT2 > 3 or x < 0", "1 ? 1 1"),
        ("!(ATT2 > 3) && x != 1 || x < -2 & true", "0 ? 1 0"),
        ("c is 'red'", "1 0 ? 0"),
        ("'red' <> c", "0 1 ? 1"),
        ("c < 'c'", "0 0 ? 1"),
        ("c in ('red', 'blue')", "1 0 ? 1"),
        ("c not in ('red', 'blue')", "0 1 ? 0"),
        ("s = 'one'", "1 0 ? 1"),
        ("x in (1, 2)", "1 1 0 0"),
        ("ismissing(ATT2)", "0 1 0 0"),
        ("CLASS = 'yes'", "0 1 1 ?"),
        ("d > '2001-03-01'", "0 1 ? 1"),
        ("min(x, 1, ATT2)", "1 ? -3 0"),
        ("round(ATT2 / 3, 2)", "1.33 ? 0 2.67"),
        ("round(-3.5)", "-4"),
        ("round(1250, -2)", "1200"),
        ("round(1e300, 20)", "1e300"),  # not missing
        ("round(1, if(ATT2 > 2, 1.5, 1))", "? ? 1 ?"),
        ("-7 % 3", "2"),
        ("7 % -3", "-2"),
        ("(-8) ^ (1 / 3)", "?"),
        ("sign(x) * abs(x)", "1 2 -3 0"),
        ("if(ATT2 > 3, 1, 2)", "1 ? 2 1"),
        ("if(x > 0, missing, x)", "? ? -3 0"),
        ("coalesce(ATT2, sqrt(x - 3), 5)", "4 5 0 8"),
        ("weekday(d)", "1 5 ? 2"),
        ("days_between('2001-01-01', d)", "0 151 ? 365"),
        ("length(c)", "3 8 ? 4"),
        ("contains(c, 'red')", "1 1 ? 0"),
        ("starts_with(c, 'dark')", "0 1 ? 0"),
        ("ends_with(s, 'e')", "1 0 ? 1"),
        ("number(concat(text(x), '0'))", "10 20 -30 0"),
    ],
)
def test_the_number_of_each_row_or_of_all(data, expression, expected):
    """A question mark is a missing one."""
    numbers = [None if word == "?" else float(word) for word in expected.split()]
    assert value(data, expression) == pytest.approx(numbers if len(numbers) > 1 else numbers * 4)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("if(x > 0, 'up', 'down')", ["up", "up", "down", "down"]),
        ("coalesce(c, 'none')", ["red", "dark red", "none", "blue"]),
        ("upper(c)", ["RED", "DARK RED", None, "BLUE"]),
        ("concat(s, '-', c)", ["one-red", "two-dark red", None, "one-blue"]),
        ("text(x)", ["1", "2", "-3", "0"]),
        ("text(d)", ["2001-01-01", "2001-06-01", None, "2002-01-01"]),
        ("'it''s'", ["it's"] * 4),
    ],
)
def test_the_text_of_each_row(data, expression, expected):
    assert value(data, expression) == expected


def test_a_condition_that_no_row_meets_is_noticed(data):
    with pytest.warns(filterkit.NothingLearnedWarning, match="^where: the expression is true for no training row"):
        assert len(run(data, "where", "c = 'Red'")) == 0


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", r"character 1 \(the end\): expected a value, found the end"),
        ("x > > 1", r"character 5 \('> 1'\): expected a value, found '>'"),
        ("(x > 1", r"character 7 \(the end\): expected '\)', found the end"),
        ("x > 1)", r"character 6 \('\)'\): expected the end of the expression or an operator"),
        ("x = 'red", r"character 5 \(\"'red\"\): the quote ' is not closed"),
        ("x $ 1", r"character 3 \('\$ 1'\): \$ means nothing here"),
        ("1 < x < 3", r"character 7 \('< 3'\): comparisons do not chain"),
        ("x not 3", r"character 7 \('3'\): expected 'in' after 'not'"),
        ("abs(x", r"expected ',' or '\)'"),
        ("(" * 200 + "x" + ")" * 200, "more than 100 levels deep"),
        ("1e400 > 1", r"character 1 \('1e400 > 1'\): the number is above 1.8e308"),
        (" or ".join(["x > 1"] * 200), "more than 100 levels deep"),
    ],
)
def test_what_is_no_expression_is_refused_before_rows_are_read(expression, message):
    for stage in ("where", "set", "map"):
        text = f"{'y = ' if stage == 'set' else ''}{expression}"
        with pytest.raises(UsageError, match=rf"^{stage}: expression, {'' if stage == 'set' else '.*'}.*") as caught:
            filterkit.Chain.parse([stage, text])
        if stage == "where":
            assert caught.match(message)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            "clas = 'yes'",
            r"^where: expression, character 1 \(\"clas = 'yes'\"\): there is no attribute 'clas'; did you",
        ),
        ("x = 'one'", r"character 5 .*: a number and a text cannot be compared; write a text in single quotes"),
        ("round(x, 1.5) > 1", r"character 10 .*: round takes a whole number of digits"),
        ("round(x, -1 / 2) > 1", "round takes a whole number of digits"),
        ("c + 1 > 2", r"character 1 .*: \+ needs a number, but this is a text"),
        ("d - '2001-01-01' > 2", "- needs a number, but this is a text"),
        ("x and true", r"character 1 .*: and needs a truth value, but this is a number"),
        ("sqr(x) > 1", r"there is no function 'sqr'; did you mean 'sqrt'"),
        ("abs(x, 1) > 1", "abs takes 1 value, not 2"),
        ("if(x > 1, 2) > 1", "if takes 3 values, not 2"),
        ("if(x > 1, 2, 'a') > 1", "if needs a number, but this is a text"),
        ("contains(c, s)", "the second value of contains must be a text in quotes"),
        ("d > 'today'", "this text is not a date; write it as yyyy-MM-dd"),
        ("year(x) > 2000", r"character 6 .*: year needs a date, but this is a number"),
        ("days_between(d, s) > 1", "days_between needs a date, but this is a text"),
        ("x", "the expression is not a condition"),
        ("ATT7 > 1", "there is no attribute 'ATT7'"),
        ("c is null", r"character 6 .*: there is no attribute 'null'; the word is missing, and is_missing\(x\) tests"),
        ("x = missing", r"character 5 .*: what is compared with missing is missing; write is_missing\(x\)"),
    ],
)
def test_what_does_not_fit_the_attributes_is_refused(data, expression, message):
    with pytest.raises(StageError, match=message):
        run(data, "where", expression)


def test_parts_of_dates_are_those_of_their_text(tmp_path):
    """Both calendars, from the year 1 to 9999, and the days around the change between them."""
    form = DateFormat("yyyy MM dd HH mm")
    moments = np.random.default_rng(1).integers(-62_135_000_000_000, 253_400_000_000_000, 200).tolist()
    moments += [day * 86_400_000 for day in range(-141_440, -141_410)]
    texts = [form.format(moment) for moment in moments]
    path = tmp_path / "in.arff"
    path.write_text("@relation r\n@attribute d date 'yyyy MM dd HH mm'\n@data\n" + "".join(f"'{t}'\n" for t in texts))
    parts = [value(filterkit.read(path), f"{part}(d)") for part in ("year", "month", "day", "hour", "minute")]
    assert list(zip(*parts)) == [tuple(map(float, text.split())) for text in texts]


def test_an_error_in_set_points_into_the_assignment(data):
    with pytest.raises(StageError, match=r"^set: expression, character 5 \('y \+ 1'\): there is no attribute 'y'"):
        run(data, "set", "n = y + 1")
    for text in ("x", "= 3", "'a'", "'a = 3"):
        with pytest.raises(UsageError, match=r"set: .* has no name before =; write NAME=EXPRESSION"):
            filterkit.Chain.parse(["set", text])


def test_where_keeps_rows_for_which_it_is_true(data):
    assert cases.run("where 'ATT2 > 3'", data)["x"] == [1, 0]
    assert cases.run("where 'x >= 0' standardize", data)["x"] == pytest.approx([0, 1, -1])
    fitted = filterkit.Chain.parse(["where", "x > 100"]).fit(data)
    assert testing.same(fitted.transform(data), data)


def test_set_replaces_an_attribute_in_its_place(data):
    before = view(data)
    assert cases.run("set 'x = x * 2'", data) == before | {"x": [2, 4, -6, 0]}
    found = cases.run("set \"'a b' = if(x > 0, 'p', 'n')\"", data)
    assert list(found) == list(before) and found["a b"] == ["p", "p", "n", "n"]
    assert cases.run("set \"class = if(x > 0, 'p', 'n')\"", data)["class"] == ["p", "p", "n", "n"]
    found = cases.run("set 's = x' set 'n = 1' set 't = concat(c, c)'", data)
    assert list(found)[3:] == ["s", "d", "n", "t", "class"] and found["s"] == before["x"] and found["n"] == [1] * 4
    with pytest.raises(StageError, match="set: the class must be nominal or numeric"):
        run(data, "set", "class = s")


def test_map_computes_with_each_value_and_its_column():
    batch = sample("iris")
    out = cases.fit("map --only petal* '(VALUE - MIN) / (MAX - MIN)'", batch)[1]
    np.testing.assert_allclose(out.X, run(batch, "range", "--only", "petal*").X)
    out = run(batch, "map", "(VALUE - MEAN) / SD")
    np.testing.assert_allclose(out.X, run(batch, "standardize").X, atol=1e-12)
    with pytest.raises(UsageError, match=r"map: expression, character 1 .*: there is no variable 'X'; use VALUE"):
        filterkit.Chain.parse(["map", "X + 1"])


def test_map_keeps_zeros_where_it_can():
    batch = sample("sparse-counts-multiclass")
    assert run(batch, "map", "log(1 + VALUE)").sparse
    out = run(batch, "map", "VALUE + 1")
    assert not out.sparse and not out.schema.zero
    np.testing.assert_array_equal(dense(out), np.where(batch.schema.nominal, dense(batch), dense(batch) + 1))
