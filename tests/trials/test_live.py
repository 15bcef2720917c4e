"""The machine of live streams: it finds nothing in a short run, and finds defects that are put in on purpose."""

import shlex
import sys

import pytest

from trials.live import live, prepare

pytestmark = [pytest.mark.separate, pytest.mark.posix]

LEAKS = """
from filterkit_plugins.row_norms import RowNormalizer

transform, kept = RowNormalizer.transform, []

def leaking(self, batch):
    kept.append(bytearray(b"x") * (4 << 20))
    return transform(self, batch)

RowNormalizer.transform = leaking
"""


def behind(text):
    """The usual command with another one behind it, which is given as text for a shell."""
    return lambda usual: ["sh", "-c", f"{shlex.join(usual)} | {text}"]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    return prepare(tmp_path_factory.mktemp("live"), 1, "csv")


def test_a_stream_loses_and_changes_nothing():
    figures, wrong = live(2, patience=60)
    assert wrong == []
    assert int(figures[0].split()[1]) > 50
    assert any(line.startswith("burst: ") for line in figures)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("sed -u '60{h;d};61G'", "row 59: b'"),
        ("(cat; echo broken >&2; exit 3)", "the command ended with status 3"),
    ],
)
def test_a_stream_that_loses_or_changes_a_row_is_found(text, wanted, prepared):
    _, wrong = live(0.5, patience=60, through=behind(text), prepared=prepared)
    assert any(wanted in line for line in wrong), wrong
    assert "broken" not in text or any("said: broken" in line for line in wrong), wrong


def test_rows_that_are_held_back_are_found(prepared):
    """Another program gathers all rows from the third on."""
    code = "import sys; out = open(1, 'w', 1 << 24)\n"
    code += "[print(row, end='', file=out, flush=number < 3) for number, row in enumerate(sys.stdin)]"
    held = shlex.join([sys.executable, "-c", code])
    _, wrong = live(2, patience=0.5, through=behind(held), prepared=prepared)
    assert [line.partition(" rows ")[2].partition(";")[0] for line in wrong] == ["took longer than 0.5 s"]


def test_memory_that_grows_is_found(tmp_path, prepared):
    (tmp_path / "leaks.py").write_text(LEAKS)

    def leaking(usual):
        return [*usual[:3], "--plugin", str(tmp_path / "leaks.py"), *usual[3:]]

    _, wrong = live(3, patience=60, through=leaking, prepared=prepared)
    assert [line.partition(":")[0] for line in wrong] == ["more and more megabytes"]
