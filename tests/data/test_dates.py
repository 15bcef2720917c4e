"""Dates are parsed and written as by Java's SimpleDateFormat, strict and in UTC."""

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filterkit import ArffError
from filterkit.data import dates
from filterkit.data.dates import DateFormat
from filterkit.data.schema import DEFAULT_DATE_FORMAT

DAY = 86_400_000
ISO = "yyyy-MM-dd"


@pytest.mark.parametrize(
    ("pattern", "text", "moment"),
    [
        (ISO, "2001-2-3", 981158400000),
        (ISO, " 2001- 02-\t03", 981158400000),
        (ISO, "12345-01-01", 327403382400000),
        (ISO, "9-1-1", -61883308800000),
        # Java's calendar is Julian until 4 October 1582, which 15 October follows
        (ISO, "1582-10-15", -12219292800000),
        (ISO, "1582-10-04", -12219379200000),
        (ISO, "1500-02-29", -14825894400000),
        (ISO, "0001-01-01", -62135769600000),
        ("yyyy", "1971", 365 * DAY),
        ("ss.SSS", "1.5", 1005),
        ("kk", "24", 0),
        ("hh:mm a", "12:15 AM", 900_000),
        ("hh:mm a", "12:15 pm", 44_100_000),
        ("K a", "0 PM", 43_200_000),
        ("dd MMM yyyy", "3 feb 2001", 981158400000),
        ("MMM yyyy", "FEBRUARY 2001", 980985600000),
        ("yyyy-MM-dd EEEE", "2001-02-03 sat", 981158400000),
        ("yyyyMMdd", "2001 2 3", 981158400000),
        ("yyyyMMdd", "2001023", 981158400000),
        ("'on' yyyy 'o''clock' HH", "on 1970 o'clock 05", 18_000_000),
        ("yyyy''MM", "1970'02", 31 * DAY),
        ("yyyy-MM-dd HH:mm Z", "1970-01-01 02:00 +0200", 0),
        ("HH z", "0 GMT-1:30", 5_400_000),
        ("HH z", "0 Coordinated Universal Time", 0),
        ("HHX", "0Z", 0),
        ("HHX", "0+01", -3_600_000),
        ("HHXX", "0-0130", 5_400_000),
        ("HHXXX", "0-01:30", 5_400_000),
        ("d d", "9 3", 2 * DAY),
        # parts that agree, of which the later one of a kind counts
        ("HH hh a", "13 01 PM", 46_800_000),
        ("hh a HH", "12 AM 00", 0),
        ("k K", "13 1", 46_800_000),
        ("kk,HH", "15,15", 54_000_000),
        ("kk,HH", "15,03", 10_800_000),
        ("K h a", "9 10 AM", 36_000_000),
        ("a", "PM", 43_200_000),
        ("a a", "PM AM", 0),
        # the first such day where there is no other
        ("EEE", "Sun", 3 * DAY),
        ("EEE MMM yyyy", "Sat Feb 2001", 981158400000),
        ("EEE MMM yyyy", "Thu Feb 2001", 980985600000),
        ("HH Z", "0 +1400", -50_400_000),
        ("HH Z", "0 -1300", 46_800_000),
        ("HH Z z", "0 +0200 UTC", -7_200_000),
        ("HH Z z", "0 +0200 GMT", 0),
    ],
)
def test_a_date_is_parsed_to_milliseconds(pattern, text, moment):
    form = DateFormat(pattern)
    assert form.parse(text) == moment == form.parse(text)  # the second time from its memory


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (ISO, ""),
        (ISO, "2001-02"),
        (ISO, "2001-02-29"),
        (ISO, "1900-02-29"),
        (ISO, "2001-01-00"),
        (ISO, "0000-01-01"),
        (ISO, "1582-10-10"),
        (ISO, "2001-02-03x"),
        (ISO, "2001-02 -03"),
        (ISO, "+2001-02-03"),
        (ISO, "١٩٧٠-01-01"),
        ("HH:mm", "24:00"),
        ("HH:mm", "23:60"),
        ("mm:ss", "00:60"),
        ("kk", "0"),
        ("hh a", "0 AM"),
        ("hh a", "13 PM"),
        ("KK a", "12 PM"),
        ("hh a", "1  PM"),
        ("hh a", "1 XM"),
        ("HH a", "13 AM"),
        ("SSS", "1000"),
        ("dd MMM", "3 Sept"),
        ("MMM", " Feb"),
        ("EEE yyyy-MM-dd", "Sun 2001-02-03"),
        ("yyyyMMdd", " 20010203"),
        ("Hmm", "1:30"),
        ("HH z", "0 Z"),
        ("HH z", "0 +01:00"),
        ("HH Z", "0 +2400"),
        ("HH Z", "0 +0160"),
        ("HHX", "0+0100"),
        ("'at' HH", "AT 0"),
        # parts that contradict each other, or that count from 1 and do not begin there
        ("HH hh", "13 05"),
        ("HH hh a", "13 01 AM"),
        ("HH a", "01 PM"),
        ("k K", "13 05"),
        ("K HH", "5 13"),
        ("k k", "25 1"),
        ("EEE d", "Sun 1"),
        ("HH Z", "0 +1401"),
        ("HH Z", "0 -1301"),
        # nothing is tried again shorter
        ("MMM'uary'", "January"),
        ("H'1'", "21"),
        ("H", "1" * 19),
        # nothing is no date
        ("", ""),
        ("", " "),
        ("yyyy", " "),
    ],
)
def test_a_text_that_does_not_match_the_pattern_is_refused(pattern, text):
    assert DateFormat(pattern).parse(text) is None


class Today(datetime.date):
    """A today that stays the same."""

    @classmethod
    def today(cls):
        return cls(2026, 11, 21)


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("01-02-03", 2001),
        ("46-11-20", 2046),
        ("46-11-21", 1946),
        ("99-12-31", 1999),
        ("1-1-1", 1),
        ("199-1-1", 199),
        ("001-1-1", 1),
    ],
)
def test_a_two_digit_year_is_the_nearest_to_today(monkeypatch, text, year):
    monkeypatch.setattr(dates.datetime, "date", Today)
    found = DateFormat("yy-MM-dd").parse(text)
    assert DateFormat("yyyy").format(found) == f"{year:04d}"
    assert DateFormat("y-MM-dd").parse(text) == found


@pytest.mark.parametrize(
    ("pattern", "moment", "text"),
    [
        (DEFAULT_DATE_FORMAT, 981173106000, "2001-02-03T04:05:06"),
        ("yyyy-MM-dd HH:mm:ss.SSS", -1, "1969-12-31 23:59:59.999"),
        (ISO, -12219379200000, "1582-10-04"),
        ("dd MMM yyyy, EEEE", 981158400000, "03 Feb 2001, Saturday"),
        ("EEE d MMMM y", 981158400000, "Sat 3 February 2001"),
        ("h:mm a, K k H", 0, "12:00 AM, 0 24 0"),
        ("hh a KK", 13 * 3_600_000, "01 PM 01"),
        ("HH z Z X XXX zzzz", 0, "00 UTC +0000 Z Z Coordinated Universal Time"),
        ("'on' yyyy 'o''clock' HH''", 0, "on 1970 o'clock 00'"),
    ],
)
def test_a_date_is_formatted_by_its_pattern(pattern, moment, text):
    assert DateFormat(pattern).format(moment) == text


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("yyyy-ww", "date format 'yyyy-ww': the letter 'w' is not supported"),
        ("G yyyy", "date format 'G yyyy': the letter 'G' is not supported"),
        ("HHXXXX", "date format 'HHXXXX': the letter 'X' is not supported"),
        ("yyyy 'x", "date format 'yyyy 'x': the quote is not closed"),
        ("y-" * 500 + "M", "it is longer than 1000 characters"),
    ],
)
def test_an_invalid_pattern_is_refused(pattern, message):
    with pytest.raises(ArffError, match=message):
        DateFormat(pattern)


@settings(max_examples=50, derandomize=True)
@given(
    st.integers(-62_135_769_600_000, 10**15),
    st.sampled_from(
        [
            "yyyy-MM-dd'T'HH:mm:ss.SSS",
            "EEEE, d MMMM yyyy h:m:s.S a",
            "yyyyMMddHHmmssSSS",
            "kk:mm:ss.SSS dd/MM/yyyy Z",
            "SSSssmmHHddMMMyyyy",
            "yyyyy-M-d K:mm:ss.SSS aX",
        ]
    ),
)
def test_a_formatted_date_parses_to_the_same_moment(moment, pattern):
    form = DateFormat(pattern)
    if pattern == "yyyyMMddHHmmssSSS":
        moment %= DateFormat("yyyy").parse("9999")  # four digits for the year
    assert form.parse(form.format(moment)) == moment


@settings(max_examples=50, derandomize=True)
@given(st.datetimes(datetime.datetime(1582, 10, 16)))
def test_dates_equal_those_of_python_in_the_gregorian_calendar(moment):
    expected = (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(milliseconds=1)
    text = f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}"
    assert DateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS").parse(text) == expected


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("H'1'" * 200, "1" * 10_000),
        ("y M" * 300, " " * 10**6),
        ("y" * 999 + "M", " " * 990 + "1" * 10**6),
    ],
)
def test_parsing_time_does_not_grow_with_the_number_of_possible_readings(pattern, text, guard):
    assert DateFormat(pattern).parse(text) is None
