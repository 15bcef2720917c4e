"""Date attributes: the letters of Java's SimpleDateFormat that data sets use, in UTC."""

from __future__ import annotations

import datetime
import re

from filterkit.errors import ArffError, quoted

_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October"]
_MONTHS += ["November", "December"]
_SHORT_MONTHS = [month[:3].lower() for month in _MONTHS]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_NUMERIC = set("yMdHkKhmsS")
_LATEST_YEAR = 292278993  # the last whole year of Java's calendar
_FIELD = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
_HOURS, _MINUTES = r"(?:[01]\d|2[0-3])", r"[0-5]\d"
_ZONE = rf"(?i:GMT)[+-](?:{_HOURS}|\d):{_MINUTES}|[+-]{_HOURS}{_MINUTES}|(?i:GMT|UTC|Coordinated Universal Time)"
_ISO_ZONES = ["", rf"Z|[+-]{_HOURS}", rf"Z|[+-]{_HOURS}{_MINUTES}", rf"Z|[+-]{_HOURS}:{_MINUTES}"]
_GREGORIAN_FROM = -141427  # 1582-10-15, where Java's calendar changes from Julian to Gregorian
_LIMITS = {"H": (0, 23), "k": (1, 24), "K": (0, 11), "h": (1, 12), "m": (0, 59), "s": (0, 59), "S": (0, 999)}
_REMEMBERED = 10000  # texts whose moments are kept


class DateFormat:
    """A pattern such as ``yyyy-MM-dd HH:mm``, which converts text to milliseconds since 1970 UTC and back.

    The letters are y M d H k K h m s S a E z Z X, and text may be quoted. Parsing is strict, as in Weka: 31 February is
    refused. Two digits for ``yy`` mean a year between 80 years before today and 20 years after. Unlike Weka, filterkit
    refuses text after the date, and knows no names of zones but UTC and GMT.

    Raises
    ------
    ArffError : the pattern has another letter, or a quote that is not closed.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._fields: list[tuple[str, int, str]] = []  # (letter, width, ''), or ('', 0, text) for literal text
        position = 0
        for match in _FIELD.finditer(pattern):
            if match.start() != position:
                raise ArffError(f"date format {quoted(pattern)}: the quote is not closed")
            position = match.end()
            if match[2] is None:
                self._fields.append(("", 0, (match[1].replace("''", "'") or "'") if match[1] is not None else match[0]))
            elif match[2] in _NUMERIC | set("aEzZ") or (match[2] == "X" and len(match[0]) <= 3):
                self._fields.append((match[2], len(match[0]), ""))
            else:
                raise ArffError(f"date format {quoted(pattern)}: the letter '{match[2]}' is not supported")
        if position != len(pattern):
            raise ArffError(f"date format {quoted(pattern)}: the quote is not closed")
        self._short_year = [width <= 2 for letter, width, _ in self._fields if letter == "y"][-1:] == [True]
        self._regex = re.compile(self._expression(), re.ASCII)
        self._known: dict[str, int] = {}  # the moments of texts that were parsed before

    def _expression(self) -> str:
        """The regular expression of the pattern, with a group for each letter."""
        numeric = [letter in _NUMERIC and not (letter == "M" and width > 2) for letter, width, _ in self._fields]
        last = {_group(letter): i for i, (letter, _, _) in enumerate(self._fields)}  # Java uses the last of several
        parts = []
        for i, (letter, width, literal) in enumerate(self._fields):
            if not letter:
                parts.append(re.escape(literal))
                continue
            if numeric[i]:
                body = _digits(width) if any(numeric[i + 1 : i + 2]) else r"[ \t]*\d{1,18}"
            elif letter == "M":
                body = "(?i:" + "|".join(f"{m}|{m[:3]}" for m in _MONTHS) + ")"
            elif letter == "E":
                body = "(?i:" + "|".join(f"{d}|{d[:3]}" for d in _DAYS) + ")"
            elif letter == "a":
                body = "(?i:AM|PM)"
            else:
                body = r"[ \t]*(?:" + (_ISO_ZONES[width] if letter == "X" else _ZONE) + ")"
            parts.append((f"(?P<{_group(letter)}>" if last[_group(letter)] == i else "(?:") + body + ")")
        return "".join(parts) + r"[ \t]*\Z"

    def parse(self, text: str) -> int | None:
        """Milliseconds since 1970-01-01 UTC; None if `text` does not follow the pattern."""
        known = self._known.get(text)
        if known is not None:
            return known
        match = self._regex.match(text)
        moment = None if match is None else self._moment(match.groupdict())
        if moment is not None and len(self._known) < _REMEMBERED:
            self._known[text] = moment
        return moment

    def _moment(self, found: dict[str, str | None]) -> int | None:
        """Milliseconds from the text of each group; None if there is no such date or time."""
        date = self._date(found)
        time = {letter: int(text) for letter, text in found.items() if text and letter in _LIMITS}
        if date is None or any(not _LIMITS[letter][0] <= time[letter] <= _LIMITS[letter][1] for letter in time):
            return None
        days = _days(*date)
        if _civil(days) != date:
            return None  # such as 31 February
        weekday = found.get("E")
        if weekday and _DAYS[(days + 3) % 7][:3].lower() != weekday[:3].lower():
            return None
        hour = _hour(time, found.get("a"))
        if hour is None:
            return None
        seconds = (hour * 60 + time.get("m", 0)) * 60 + time.get("s", 0) - _offset(found.get("zone"))
        return (days * 86400 + seconds) * 1000 + time.get("S", 0)

    def _date(self, found: dict[str, str | None]) -> tuple[int, int, int] | None:
        """(year, month, day), where the day may not exist; None if there is no such year or month."""
        year, day = int(found.get("y") or 1970), int(found.get("d") or 1)
        name = found.get("M") or "1"
        month = int(name) if name.strip().isdigit() else 1 + _SHORT_MONTHS.index(name[:3].lower())
        if self._short_year and len((found.get("y") or "").strip()) == 2:
            today = datetime.date.today()
            year += (today.year - 80) // 100 * 100
            year += 100 if (year, month, day) < (today.year - 80, today.month, today.day) else 0
        return (year, month, day) if 1 <= year <= _LATEST_YEAR and 1 <= month <= 12 else None

    def format(self, milliseconds: int) -> str:
        """The text of a moment given in milliseconds since 1970-01-01 UTC."""
        days, rest = divmod(milliseconds, 86_400_000)
        year, month, day = _civil(days)
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


def _group(letter: str) -> str:
    """The name that the group of a pattern letter has in the regular expression."""
    return "zone" if letter in ("z", "Z", "X") else letter


def _hour(time: dict[str, int], half: str | None) -> int | None:
    """The hour of the day from 0, where `half` is AM, PM or nothing; None if the two contradict each other."""
    afternoon = (half or "").upper() == "PM"
    if "H" not in time and "k" not in time:
        return time.get("K", 0) + time.get("h", 0) % 12 + 12 * afternoon
    hour = time.get("H", 0) + time.get("k", 0) % 24
    return None if half and (hour >= 12) != afternoon else hour


def _digits(width: int) -> str:
    """The expression of a number that another follows: it and the blanks before it lie within `width` characters."""
    choices = [rf"[ \t]{{{blanks}}}\d{{{width - blanks}}}" for blanks in range(width)]
    choices += [rf"[ \t]{{{blanks}}}\d{{1,{width - blanks - 1}}}(?!\d)" for blanks in range(width - 1)]
    return rf"(?=[\s\S]{{{width}}})(?:{'|'.join(choices)})"


def _offset(zone: str | None) -> int:
    """How many seconds a zone is ahead of UTC."""
    digits = re.sub(r"[^0-9]", "", zone or "")
    if not digits:
        return 0
    digits = digits.ljust(4, "0") if len(digits) <= 2 else digits.zfill(4)
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if "-" in (zone or "") else seconds


def _days(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to a date of Java's calendar, which is Julian before 15 October 1582."""
    shifted = year - (month <= 2)
    in_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5
    julian = 365 * shifted + shifted // 4 + in_year + day - 719471
    if (year, month, day) < (1582, 10, 15):
        return julian
    return julian - shifted // 100 + shifted // 400 + 2


def _civil(days: int) -> tuple[int, int, int]:
    """(year, month, day) of a day counted from 1970-01-01, in Java's calendar."""
    if days >= _GREGORIAN_FROM:
        shifted = days + 719468
        era, of_era = divmod(shifted, 146097)
        year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
        year = year_of_era + era * 400
        in_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    else:
        shifted = days + 719470
        cycle, of_cycle = divmod(shifted, 1461)
        year_of_cycle = (of_cycle - of_cycle // 1460) // 365
        year = year_of_cycle + cycle * 4
        in_year = of_cycle - 365 * year_of_cycle
    month = (5 * in_year + 2) // 153
    day = in_year - (153 * month + 2) // 5 + 1
    month += 3 if month < 10 else -9
    return year + (month <= 2), month, day
