"""Date attributes: the part of Java's SimpleDateFormat that data sets use, in UTC."""

from __future__ import annotations

import datetime
import re
from functools import lru_cache

from filterkit.errors import ArffError, quoted

_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October"]
_MONTHS += ["November", "December"]
_SHORT_MONTHS = [month[:3].lower() for month in _MONTHS]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_SHORT_DAYS = [day[:3].lower() for day in _DAYS]
_NUMERIC = set("yMdHkKhmsS")
_LATEST_YEAR = 292278993  # the last whole year of Java's calendar
_LONGEST = 1000  # characters of a pattern
_FIELD = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+|(')")
_HOURS, _MINUTES = r"(?:[01]\d|2[0-3])", r"[0-5]\d"
_ZONE = rf"(?i:GMT)[+-](?:{_HOURS}|\d):{_MINUTES}|[+-]{_HOURS}{_MINUTES}|(?i:GMT|UTC|Coordinated Universal Time)"
_ISO_ZONES = ["", rf"Z|[+-]{_HOURS}", rf"Z|[+-]{_HOURS}{_MINUTES}", rf"Z|[+-]{_HOURS}:{_MINUTES}"]
_GREGORIAN_FROM = -141427  # 1582-10-15, where Java's calendar changes from Julian to Gregorian
# What a part of a date may be. Java checks the hours that count from 1 as it reads them, and the others at the end.
_LIMITS = {"y": (1, _LATEST_YEAR), "M": (1, 12), "H": (0, 23), "K": (0, 11), "m": (0, 59), "s": (0, 59), "S": (0, 999)}
_LIMITS["z"] = (-13 * 3600, 14 * 3600)
_REMEMBERED = 30_000  # texts whose dates are cached
_UNITS = {"S": 1, "s": 1000, "m": 60_000, **dict.fromkeys("HkKh", 3_600_000)}  # in milliseconds
_FROM_ONE = {"k": ("H", 24), "h": ("K", 12)}


class DateFormat:
    """A pattern such as ``yyyy-MM-dd HH:mm``, which converts text to milliseconds since 1970 UTC and back.

    The letters are y M d H k K h m s S a E z Z X, as in Java's SimpleDateFormat; letters that stand for themselves are
    in quotes. Parsing is strict, as in Weka: 31 February is refused, and so are parts that contradict each other, such
    as hour 13 and AM. If a pattern has a letter twice, the later part counts. Two digits for ``y`` or ``yy`` mean a
    year between 80 years before today and 20 years after. Unlike Weka, filterkit refuses text after the date, and knows
    no names of zones but UTC and GMT.

    Attributes
    ----------
    pattern : as given.
    has_zone : whether the pattern has a time zone.
    holds_milliseconds : whether the pattern has milliseconds.
    holds_nothing : whether the pattern is empty.
    unit : the milliseconds in the smallest part of a time in the pattern: 60,000 if this is the minute; those of a day
        if the pattern has no time.

    Raises
    ------
    ArffError : the pattern has another letter, X more than three times, an open quote, or more than 1000 characters.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        if len(pattern) > _LONGEST:
            raise ArffError(f"date format {quoted(pattern)}: it is longer than {_LONGEST} characters; shorten it")
        self._fields: list[tuple[str, int, str]] = []  # (letter, width, ''), or ('', 0, text) for literal text
        for match in _FIELD.finditer(pattern):
            if match[3]:
                raise ArffError(f"date format {quoted(pattern)}: the quote is not closed; add a single quote")
            if match[2] is None:
                self._fields.append(("", 0, (match[1].replace("''", "'") or "'") if match[1] is not None else match[0]))
            elif match[2] in _NUMERIC | set("aEzZ") or (match[2] == "X" and len(match[0]) <= 3):
                self._fields.append((match[2], len(match[0]), ""))
            else:
                raise ArffError(
                    f"date format {quoted(pattern)}: the letter '{match[2]}' is not supported; the letters are "
                    "y M d H k K h m s S a E z Z X, X up to three times, and text is in quotes"
                )
        self._short_year = [width <= 2 for letter, width, _ in self._fields if letter == "y"][-1:] == [True]
        self._letters = ["z" if letter in "zZX" else letter for letter, _, _ in self._fields if letter]
        self.has_zone = "z" in self._letters
        self.holds_milliseconds = "S" in self._letters
        self.holds_nothing = not self._fields
        self.unit = min(_UNITS.get(letter, 86_400_000) for letter in [*self._letters, ""])
        self._regex = re.compile(self._build_regex(), re.ASCII)

    def _build_regex(self) -> str:
        """Return the regular expression of the pattern, with a group for the text of each letter."""
        # It never backtracks into what has matched: Java does not, and the time would grow without bounds.
        numeric = [letter in _NUMERIC and not (letter == "M" and width > 2) for letter, width, _ in self._fields]
        parts = []
        for i, (letter, width, literal) in enumerate(self._fields):
            if not letter:
                parts.append(re.escape(literal))
            elif numeric[i]:
                body = r"[ \t]*+\d{1,18}+(?!\d)"
                if any(numeric[i + 1 : i + 2]):  # before another number, blanks and digits fill `width` characters
                    choices = [rf"[ \t]{{{blanks}}}\d{{{width - blanks}}}" for blanks in range(width)]
                    choices += [rf"[ \t]{{{blanks}}}\d{{1,{width - blanks - 1}}}(?!\d)" for blanks in range(width - 1)]
                    body = rf"(?=[\s\S]{{{width}}})(?:{'|'.join(choices)})"
                parts.append(f"((?>{body}))")
            elif letter in "MEa":
                names = {"M": _MONTHS, "E": _DAYS, "a": ("AM", "PM")}[letter]
                parts.append("((?>(?i:" + "|".join(f"{name}|{name[:3]}" for name in names) + ")))")
            else:
                zone = _ISO_ZONES[width] if letter == "X" else _ZONE
                parts.append(rf"[ \t]*+((?>{zone}))")
        return "".join(parts) + r"[ \t]*+\Z"

    @lru_cache(_REMEMBERED)  # noqa: B019  # dates repeat, and formats live as long as the process
    def parse(self, text: str) -> int | None:
        """Return the milliseconds from 1970-01-01 UTC to the date in `text`; None if it is no date of the pattern.

        A time in a pattern without a zone is in UTC. The empty pattern has no dates.
        """
        match = self._regex.match(text) if self._fields else None  # Java does not take nothing for a date
        if match is None:
            return None
        found: dict[str, int] = {}
        short = False
        for letter, part in zip(self._letters, match.groups()):
            if letter == "z" and part[:1] in "UuCc":  # the name of UTC, which leaves another offset as it is
                continue
            if letter == "y":
                short = self._short_year and len(part.strip()) == 2
            letter, value = _parse_date_part(letter, part)
            if value is None:
                return None
            found[letter] = value
        days = _convert_date_parts_to_days(found, short)
        hour = found.get("H", found.get("K", 0) + 12 * found.get("a", 0))
        half, rest = divmod(hour, 12)
        if days is None or half != found.get("a", half) or rest != found.get("K", rest):
            return None  # there is no such day, or the parts of the hour contradict each other
        seconds = (hour * 60 + found.get("m", 0)) * 60 + found.get("s", 0) - found.get("z", 0)
        return (days * 86400 + seconds) * 1000 + found.get("S", 0)

    def format(self, milliseconds: int) -> str:
        """Return the text of a moment, in milliseconds since 1970-01-01 UTC, by the pattern; times are in UTC."""
        days, rest = divmod(milliseconds, 86_400_000)
        year, month, day = _convert_days_to_date(days)
        hour = rest // 3_600_000
        values = {"y": year, "M": month, "d": day, "H": hour, "k": hour or 24, "K": hour % 12, "h": hour % 12 or 12}
        values |= {"m": rest // 60_000 % 60, "s": rest // 1000 % 60, "S": rest % 1000}
        parts = []
        for letter, width, literal in self._fields:
            if not letter:
                parts.append(literal)
            elif letter == "M" and width > 2:
                parts.append(_MONTHS[month - 1] if width > 3 else _MONTHS[month - 1][:3])
            elif letter == "E":
                name = _DAYS[(days + 3) % 7]
                parts.append(name if width > 3 else name[:3])
            elif letter == "a":
                parts.append("PM" if hour >= 12 else "AM")
            elif letter in "zZX":
                name = "UTC" if width < 4 else "Coordinated Universal Time"
                parts.append({"z": name, "Z": "+0000", "X": "Z"}[letter])
            elif letter == "y" and width == 2:
                parts.append(f"{year % 100:02d}")
            else:
                parts.append(f"{values[letter]:0{width}d}")
        return "".join(parts)


def _parse_date_part(letter: str, part: str) -> tuple[str, int | None]:
    """Return (letter, number): what `part`, the text in the place of this letter of a pattern, stands for.

    Months count from 1, weekdays from Monday as 0, AM is 0 and PM 1, and a time zone is seconds east of UTC; for ``z``,
    ``Z`` and ``X``, `letter` is ``z``. Hours that count from 1, ``k`` and ``h``, become hours from 0, with the letter
    ``H`` or ``K``; for such an hour out of its range, the number is None.
    """
    if letter == "M" and not part.strip().isdigit():
        return letter, 1 + _SHORT_MONTHS.index(part[:3].lower())
    if letter == "E":
        return letter, _SHORT_DAYS.index(part[:3].lower())
    if letter == "a":
        return letter, int(part.upper() == "PM")
    if letter == "z":
        digits = re.sub(r"[^0-9]", "", part)  # none, or hours alone, or with minutes
        digits = digits.ljust(4, "0") if len(digits) <= 2 else digits.zfill(4)
        seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
        return letter, -seconds if "-" in part else seconds
    value = int(part)
    if letter in _FROM_ONE:
        letter, most = _FROM_ONE[letter]
        return letter, value % most if 1 <= value <= most else None
    return letter, value


def _convert_date_parts_to_days(values: dict[str, int], is_short_year: bool) -> int | None:
    """Return the days from 1970-01-01 to a date; None if there is no such date.

    `values` are the numbers that `_parse_date_part` returns, by letter. The result is also None if the number of a time
    or zone is out of its range, or if the day has another weekday. `is_short_year` says whether the year was written
    with two digits. A missing year is 1970, a missing month or day is 1. A weekday without a day of the month means the
    first such day of the month.
    """
    for letter, value in values.items():
        low, high = _LIMITS.get(letter, (value, value))
        if not low <= value <= high and not (is_short_year and letter == "y"):
            return None
    year, month, day = values.get("y", 1970), values.get("M", 1), values.get("d", 1)
    if is_short_year:
        today = datetime.date.today()
        year += (today.year - 80) // 100 * 100
        year += 100 if (year, month, day) < (today.year - 80, today.month, today.day) else 0
    days = _convert_date_to_days(year, month, day)
    if _convert_days_to_date(days) != (year, month, day):
        return None  # such as 31 February
    if "E" in values:
        beyond = (values["E"] - days - 3) % 7
        if beyond and "d" in values:
            return None
        days += beyond
    return days


def _convert_date_to_days(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to a date of Java's calendar, which is Julian before 15 October 1582."""
    shifted = year - (month <= 2)
    in_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5
    julian = 365 * shifted + shifted // 4 + in_year + day - 719471
    if (year, month, day) < (1582, 10, 15):
        return julian
    return julian - shifted // 100 + shifted // 400 + 2


def _convert_days_to_date(days: int) -> tuple[int, int, int]:
    """Return year, month and day, in Java's calendar, of the date that is `days` after 1970-01-01."""
    julian = days + 719470  # from 1 March of the year 0
    if days >= _GREGORIAN_FROM:
        century = (4 * (days + 719468) + 3) // 146097
        julian += century - century // 4 - 2
    year = (4 * julian + 3) // 1461
    in_year = julian - 1461 * year // 4
    month = (5 * in_year + 2) // 153
    day = in_year - (153 * month + 2) // 5 + 1
    month += 3 if month < 10 else -9
    return year + (month <= 2), month, day


# The first and the last millisecond that a date can be.
EARLIEST, LATEST = (
    _convert_date_to_days(1, 1, 1) * 86_400_000,
    _convert_date_to_days(_LATEST_YEAR + 1, 1, 1) * 86_400_000 - 1,
)
