"""The odd files: each is read with the content that Weka 3.9.7 reads, or refused."""

import json

import pytest
from content import content, load

from filterkit import FilterkitError

EXTRA = "; put a value with blanks or commas in quotes"
UNCLOSED = "; close it, or put a backslash before it"
# Weka reads these only by losing something without a word.
REFUSED_QUIRKS = {
    "quirk-one-extra-value": "'99' is more than the 2 values of a row" + EXTRA,
    "quirk-three-extra-values": "'3' is more than the 2 values of a row" + EXTRA,
    "quirk-two-sparse-rows-on-a-line": "'junk' is more than the 2 values of a row" + EXTRA,
    "quirk-unterminated-quote-last": "attribute 's': the quote before 'no end quote, % not a comment' is not closed"
    + UNCLOSED,
}
# Weka refuses this one, and there is no harm in reading it.
READ_THOUGH_BAD = "bad-utf8-bom"


def odd_files(folder, wanted):
    """The odd files whose names `wanted` accepts; there must be some."""
    files = [path for path in sorted(folder.glob("*.arff*")) if wanted(path.name.split(".")[0])]
    assert files
    return files


def expected(folder, name):
    """The content that Weka reads from the odd file `name`, in the form of `content`."""
    whole = json.loads((folder / "expected" / f"{name}.json").read_text())
    return {"relation": whole["relation"], "attributes": attributes(whole["attributes"]), "rows": rows(whole["rows"])}


def attributes(found):
    return [
        {"weight": 1.0} | a | ({"attributes": attributes(a["attributes"])} if "attributes" in a else {}) for a in found
    ]


def rows(found):
    return [
        {"weight": row["weight"], "values": [rows(v) if isinstance(v, list) else v for v in row["values"]]}
        for row in found
    ]


def refusal(path):
    """The message of the error, which is the same at every block size."""
    found = set()
    for block_size in (64, 1 << 20):
        with pytest.raises(FilterkitError) as caught:
            load(path, block_size)
        found.add(str(caught.value))
    assert len(found) == 1, found
    return found.pop()


@pytest.mark.parametrize("block_size", [64, 1 << 20])
def test_the_content_is_what_weka_reads(shared_data, way, block_size):
    folder = shared_data / "odd"
    for path in odd_files(folder, lambda name: not name.startswith("bad-") and name not in REFUSED_QUIRKS):
        assert content(load(path, block_size)) == expected(folder, path.name.split(".")[0]), path.name


def test_files_that_weka_refuses_are_refused_with_their_name(shared_data, way):
    for path in odd_files(shared_data / "odd", lambda name: name.startswith("bad-") and name != READ_THOUGH_BAD):
        message = refusal(path)
        assert message.startswith(str(path)) and "\n" not in message, path.name


@pytest.mark.parametrize("name", sorted(REFUSED_QUIRKS))
def test_files_that_weka_reads_with_a_loss_are_refused(shared_data, way, name):
    path = shared_data / "odd" / f"{name}.arff"
    assert refusal(path) == f"{path}:5: {REFUSED_QUIRKS[name]}"


def test_a_byte_order_mark_is_read(shared_data, way):
    found = content(load(shared_data / "odd" / f"{READ_THOUGH_BAD}.arff"))
    assert (found["relation"], [row["values"] for row in found["rows"]]) == ("bom", [[1.0]])
