"""Reads made files with filterkit, with Weka and with liac-arff, and finds the smallest that they read otherwise.

    python -m trials against-weka --seconds 3600 --seed 1

Every file is also read by both paths, in blocks of any size and in another encoding. What filterkit writes of it is
read by Weka 3.9 and, without the weights of attributes, by Weka 3.6.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import arff
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import NoSuchExample
from weka import WEKA_CONTENT, weka

import filterkit
from trials.generate import common_files, files
from trials.reading import Outcome, kept, outcome, the_exact_path, the_fast_path

# What docs/arff.md says that filterkit refuses although Weka reads it.
STRICTER = re.compile(
    "is more than the|an empty field|is not closed|instance weight|after the date|is left out|leaves out|"
    "more than 100 deep|not valid in this encoding|expected a weight|declare at least one attribute|date format|"
    "must end with '}'|nothing but a comma|where the row ends|is no weight|is not a date of the form"
)
Difference = str | None


def against_weka(data: bytes, class_path: str) -> Difference:
    """How filterkit and Weka differ on a file; None if they agree, or if docs/arff.md has the difference."""
    path = kept(data, "made.arff")
    ours = outcome(path)
    theirs = _weka(class_path, path)
    if isinstance(ours, str):
        if "error" in theirs or STRICTER.search(ours):
            return None
        return f"Weka reads it, and filterkit says: {ours}"
    if "error" in theirs:
        return (
            None if _only_filterkit(data, theirs["error"]) else f"filterkit reads it, and Weka says: {theirs['error']}"
        )
    return _difference("Weka", theirs, ours)


def _only_filterkit(data: bytes, message: str) -> bool:
    """Whether a file is one of those that docs/arff.md says Weka alone refuses."""
    return data.startswith(b"\xef\xbb\xbf") or "ascending" in message or "ordered" in message


def against_itself(data: bytes) -> Difference:
    """How the ways of filterkit to read a file differ."""
    path = kept(data, "made.arff")
    with the_exact_path():
        expected = outcome(path)
        ways = {"blocks of a line": outcome(path, 1), "blocks of 7 bytes": outcome(path, 7)}
    with the_fast_path():
        ways["the fast path"] = outcome(path)
    other = path.with_name("other")
    other.mkdir(exist_ok=True)
    text = data.decode().removeprefix("\ufeff")
    encoded = other / "made.arff"
    encoded.write_bytes(text.encode("utf-16"))
    ways["UTF-16"] = outcome(encoded, encoding="utf-16")
    for way, found in ways.items():
        if isinstance(found, str):
            found = found.replace("/other/", "/")
        if isinstance(expected, str) != isinstance(found, str) or repr(found) != repr(expected):
            return f"{way}: {_short(found)} instead of {_short(expected)}"
    return None


def written(data: bytes, class_path: str, old_class_path: str = "") -> Difference:
    """How the Wekas differ from filterkit on what it writes of a file."""
    path = kept(data, "made.arff")
    ours = outcome(path)
    if isinstance(ours, str):
        return None
    out = path.with_name("written.arff")
    batch = filterkit.read(path, class_="none")
    filterkit.write(batch, out)
    new = _difference("Weka of what is written", _weka(class_path, out), ours)
    if new or not old_class_path:
        return new
    plain = batch.schema.replace(attributes=[a._replace(weight=1.0) for a in batch.schema.attributes])
    if any(a.kind == "relational" for a in plain.attributes):
        return None  # attributes inside have weights, too
    filterkit.write(batch.replace(schema=plain), out)
    old = _weka(old_class_path, out)
    return f"Weka 3.6 says of what is written: {old['error']}" if "error" in old else None


def against_liac(data: bytes) -> Difference:
    """How liac-arff and filterkit differ on a file of `common_files`."""
    ours = outcome(kept(data, "made.arff"))
    text = data.decode()
    form = arff.LOD if "\n{" in text.partition("@data")[2] else arff.DENSE
    theirs = arff.loads(text, return_type=form)
    if isinstance(ours, str):
        return f"liac-arff reads it, and filterkit says: {ours}"
    rows = [row["values"] for row in ours["rows"]]
    given = theirs["data"]
    if form == arff.LOD:
        given = [[row[i] for i in range(len(theirs["attributes"]))] for row in given]
    return None if given == rows else f"liac-arff reads {given}, and filterkit {rows}"


def _weka(class_path: str, path: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(weka(class_path, WEKA_CONTENT, str(path)))
    return found


def _in_one_form(attributes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Declared attributes in one form: Weka's JSON has the weight ``"Infinity"``."""
    plain = [a | {"weight": float(a["weight"])} for a in attributes]
    return [a | {"attributes": _in_one_form(a["attributes"])} if "attributes" in a else a for a in plain]


def _difference(who: str, theirs: dict[str, Any], ours: dict[str, Any]) -> Difference:
    if "error" in theirs:
        return f"{who}: {theirs['error']}"
    theirs = theirs | {"attributes": _in_one_form(theirs["attributes"])}
    if theirs == ours:
        return None
    what = next((name for name in ("relation", "attributes", "rows") if theirs[name] != ours[name]), "")
    return f"{who} reads the {what} {_short(theirs[what])}, and filterkit {_short(ours[what])}"


def _short(outcome: Outcome | Any) -> str:
    return repr(outcome)[:400]


def search(differs: Callable[[bytes], Difference], strategy: Any, seed: int, tries: int) -> tuple[int, bytes | None]:
    """How many of `tries` files were tried, and the smallest found that differs, or None."""
    tried = 0

    def condition(data: bytes) -> bool:
        nonlocal tried
        tried += 1
        return differs(data) is not None

    quiet = settings(
        max_examples=tries,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    try:
        return tried, find(strategy, condition, settings=quiet, random=Random(seed))
    except NoSuchExample:
        return tried, None


def run(class_path: str, old_class_path: str, seconds: float, seed: int) -> int:
    """Search until the time is over, print each finding, and return how many there are."""
    machines: dict[str, tuple[Callable[[bytes], Difference], Any]] = {
        "Weka": (lambda data: against_weka(data, class_path), files()),
        "written": (lambda data: written(data, class_path, old_class_path), files()),
        "itself": (against_itself, files()),
        "liac-arff": (against_liac, common_files()),
    }
    counts: Counter[str] = Counter()
    found = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name, (differs, strategy) in machines.items():
            tried, data = search(differs, strategy, seed, 200)
            counts[name] += tried if data is None else 200
            if data is not None:
                found += 1
                print(f"{name}, seed {seed}: {differs(data)}\n{data.decode()!r}\n", flush=True)
        seed += 1
    print(", ".join(f"{name} {count}" for name, count in counts.items()) + f" files: {found} findings")
    return found
