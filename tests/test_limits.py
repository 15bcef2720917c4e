"""Each limit that docs/limits.md states is kept: up to it things work, and beyond it one message refuses them."""

import importlib
import re
import zipfile
from pathlib import Path

import pytest

import filterkit
from filterkit import FilterkitError

ROOT = Path(__file__).parents[1]
HEAD = "@relation r\n@attribute a numeric\n@data\n"
XRFF = (
    '<dataset name="d"><header><attributes><attribute name="a" type="string"/></attributes></header>{}'
    "<body><instances><instance><value>{}</value></instance></instances></body></dataset>"
)
ELSEWHERE = {  # limits whose tests need other means, and what is in the names of those
    "an index in libsvm, if `features` is not given": ("plugins/test_svmlight.py", "make_millions_of_attributes"),
    "values too many in a row": ("arff/test_errors.py", "1,2,3"),
    "time of a regular expression": ("stages/test_patterns.py", "def test_the_limit_grows_with_the_texts"),
}


@pytest.fixture
def read(tmp_path):
    """Reads a text as a file with this ending, which has no class unless `options` name one."""

    def reading(text, ending="arff", **options):
        path = tmp_path / f"x.{ending}"
        path.write_text(text)
        (batch, *_) = filterkit.batches(path, **({"class_": "none"} | options))
        return batch

    return reading


def relational_attributes(count, read, folder):
    opened = "".join(f"@attribute r{number} relational\n" for number in range(count))
    closed = "".join(f"@end r{number}\n" for number in reversed(range(count)))
    read(f"@relation r\n{opened}@attribute x numeric\n{closed}@data\n?\n")


def stages(count, read, folder):
    filterkit.chain("l2 " * count)


def expression(count, read, folder):
    filterkit.Chain.parse(["where", "ATT1 > 1".ljust(count)])


def expression_levels(count, read, folder):
    filterkit.Chain.parse(["where", "0" + "-" * (count - 2) + "ATT1 > 1"])


def text_of_concat(count, read, folder):
    data = read(f"@relation r\n@attribute s string\n@data\n{'x' * (count - 1)}\n")
    filterkit.Chain.parse(["set", "s = concat(s, 'y')"]).fit(data).transform(data)


def expression_values(count, read, folder):
    data, refused = read(HEAD + "1\n"), []
    for start, value in (("max(", "a"), ("min(", "a"), ("coalesce(", "a"), ("concat(", "'b'"), ("a in (1,", "1")):
        values = ",".join([value] * (count - 2 * start.startswith("a in")))
        try:
            filterkit.Chain.parse(["set", f"y = {start}{values})"]).fit(data).transform(data)
        except FilterkitError as error:
            refused.append(error)
    assert len(refused) in (0, 5)
    if refused:
        raise refused[0]


def pattern(count, read, folder):
    filterkit.Chain.parse(["remove", "--match", "a" * count])


def braces(count, read, folder):
    filterkit.Chain.parse(["remove", "--match", f"(?:(?:a|b){{{count - 9900}}}){{100}}"])


def date_format(count, read, folder):
    read(f"@relation r\n@attribute d date '{'y' * 4}{' ' * (count - 4)}'\n@data\n?\n")


def json_levels(count, read, folder):
    try:
        read('{"a":' * count + "1" + "}" * count + "\n", "jsonl")
    except FilterkitError as error:
        if "which no attribute can hold" not in str(error):
            raise


def libsvm_index(count, read, folder):
    assert read(f"1 {count}:2\n", "libsvm", class_="last").schema.width == count


def arff_row(count, read, folder):
    read("@relation r\n@attribute s string\n@data\na\n" + "x" * (count - 1) + "\n", block_size=100)


def csv_row(count, read, folder):
    read("a\n1\n" + "x" * count + "\n", "csv", format="csv:string=a,look=20B", block_size=100)


def json_row(count, read, folder):
    read('{"a":"1"}\n{"a":"' + "x" * (count - 8) + '"}\n', "jsonl", format="jsonl:string=a,look=20B", block_size=100)


def libsvm_row(count, read, folder):
    read("1 1:1\n" + "1 1:1" + " " * (count - 5) + "\n", "libsvm", class_="last", block_size=100)


def xrff_row(count, read, folder):
    read(XRFF.format("", "x" * count), "xrff")


def xrff_tag(count, read, folder):
    read(XRFF.format(f"<!--{'x' * (count - 1000)}-->", "x"), "xrff")


def label_file(count, read, folder):
    path = folder / "l.xml"
    path.write_text('<labels xmlns="http://mulan.sourceforge.net/labels"><label name="a"/></labels>'.ljust(count))
    read("@relation r\n@attribute a {0,1}\n@attribute b numeric\n@data\n0,1\n", class_=None, labels=str(path))


def members(count, read, folder):
    path = folder / "kept.chain"
    filterkit.save(filterkit.chain("l2").fit(read(HEAD + "1\n")), path)
    with zipfile.ZipFile(path, "a") as archive:
        for number in range(count - len(archive.namelist())):
            archive.writestr(f"more-{number}", b"")
    filterkit.load(path)


# Rows of the table: what does it, how much is allowed, the message beyond, and a smaller limit to try instead.
LIMITS = {
    "relational attributes, one in the other": (relational_attributes, 100, "nested more than 100 deep", ""),
    "stages of a chain": (stages, 1000, "a chain has at most 1,000 stages, not 1,001", ""),
    "characters of an expression": (expression, 10_000, "the expression has more than 10,000 characters", ""),
    "levels of an expression": (expression_levels, 100, "the expression is more than 100 levels deep", ""),
    "values that `min`, `max`, `in`, `concat` and `coalesce` take": (
        expression_values,
        1000,
        "takes . to 1000 values, not 1001",
        "",
    ),
    "characters of a text that `concat` makes": (
        text_of_concat,
        1_000_000,
        "concat: 'x*…' has more than 1,000,000 characters",
        "",
    ),
    "characters of a regular expression": (pattern, 10_000, "it has more than 10,000 characters", ""),
    "counts in the braces of a regular expression": (braces, 10_000, "its counts in braces multiply to more than", ""),
    "characters of a date format": (date_format, 1000, "it is longer than 1000 characters", ""),
    "levels of objects and arrays in JSON lines": (json_levels, 100, "nested more than 100 deep", ""),
    "a line of ARFF": (arff_row, 1 << 28, "a line is longer than 256 MB", "filterkit.files.lines.LONGEST"),
    "a row of CSV or TSV": (csv_row, 1 << 28, "a line is longer than 256 MB", "filterkit.files.lines.LONGEST"),
    "a row of JSON lines": (json_row, 1 << 28, "a line is longer than 256 MB", "filterkit.files.lines.LONGEST"),
    "a row of libsvm": (libsvm_row, 1 << 28, "a line is longer than 256 MB", "filterkit.files.lines.LONGEST"),
    "a row of XRFF": (xrff_row, 1 << 28, "a row is longer than 256 MB", "filterkit_plugins.xrff._LONGEST"),
    "a tag or comment of XRFF": (xrff_tag, 1 << 24, "a tag or comment is longer than 16 MB", ""),
    "an index in libsvm": (
        libsvm_index,
        100_000_000,
        "the index .* is higher than",
        "filterkit_plugins.svmlight._MOST",
    ),
    "a file of labels": (label_file, 1 << 24, "not a list of labels of Mulan", ""),
    "members of a saved chain": (
        members,
        100_000,
        "it has more than .* members",
        "filterkit.chains.saved._MOST_MEMBERS",
    ),
}


@pytest.mark.parametrize("name", LIMITS)
def test_beyond_a_limit_one_message_refuses_it(name, read, tmp_path, monkeypatch):
    act, limit, message, place = LIMITS[name]
    beyond = limit + (1 << 18 if limit == 1 << 24 else 100 if "braces" in name else 1)  # what is around counts, too
    if place:
        module, _, attribute = place.rpartition(".")
        assert getattr(importlib.import_module(module), attribute) == limit
        limit, beyond = (300_000, 1_000_000) if "256 MB" in message else (1000, 1001)
        monkeypatch.setattr(place, limit)
        message = message.replace("256 MB", "0 MB")
    act(limit if limit != 1 << 24 else limit - 2000, read, tmp_path)
    with pytest.raises(FilterkitError, match=message) as caught:
        act(beyond, read, tmp_path)
    assert len(str(caught.value)) < 300


def test_every_limit_that_is_stated_is_tried():
    text = (ROOT / "docs" / "limits.md").read_text()
    stated = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|", text, re.MULTILINE))
    names = {name for name, limit in stated.items() if name not in ("what", "---") and not limit.startswith("none")}
    assert names == {*LIMITS, *ELSEWHERE}
    for file, what in ELSEWHERE.values():
        assert what in (ROOT / "tests" / file).read_text()
