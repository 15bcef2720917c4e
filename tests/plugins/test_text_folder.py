"""Folders of texts."""

import pytest
from command import run

import filterkit
from filterkit import FilterkitError


@pytest.fixture
def folder(tmp_path):
    for path, text in {
        "texts/art/b.txt": "paint, brush",
        "texts/sci/a.txt": "atom\nray",
        "texts/sci/c.md": "two atoms",
        "texts/.hidden/x.txt": "no",
        "texts/sci/.DS_Store": "no",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path / "texts"


def test_a_folder_is_a_class_and_a_file_a_row(folder):
    data = filterkit.read(folder)
    assert data.schema.class_attribute.values == ("art", "sci") and data.y.tolist() == [0, 1, 1]
    assert data.passthrough.column("text").to_pylist() == ["paint, brush", "atom\nray", "two atoms"]
    assert data.schema.relation == "texts"
    named = filterkit.read(folder, format="text:filename=yes,files=*.txt")
    assert named.passthrough.column("filename").to_pylist() == ["art/b.txt", "sci/a.txt"]
    assert len(list(filterkit.batches(folder, block_size=1))) == 3


def test_a_warning_names_what_is_not_read(folder):
    (folder / "read me.txt").write_text("not a text of a class")
    with pytest.warns(filterkit.ConversionWarning, match="'read me.txt' is not read: a text is a file in the folder"):
        assert len(filterkit.read(folder)) == 3
    (folder / "art" / "deep").mkdir()
    done = run("texts", "words", "l2", cwd=folder.parent)
    assert done.returncode == 0 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("filterkit: warning: texts: 'read me.txt' is not read, nor 1 more: a text")


def test_from_texts_to_scored_rows_in_one_command(folder):
    done = run("--save", "m.chain", "--to", "csv", "texts", "words", "ig", "l2", cwd=folder.parent)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.count("\n") == 4
    again = run("--load", "m.chain", "--from", "text", "--to", "csv", "texts", cwd=folder.parent)
    assert (again.returncode, again.stdout) == (0, done.stdout)


def test_a_folder_may_be_tested_on_itself(folder):
    done = run("--test", "texts", "t.arff", "-o", "o.arff", "texts", "words", "l2", cwd=folder.parent)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [(folder.parent / name).read_text().partition("@data")[2].splitlines()[1:4] for name in ("o.arff", "t.arff")]
    assert rows[0] == rows[1]


def test_what_cannot_be_read_is_said(folder):
    (folder / "sci" / "d.txt").write_bytes(b"caf\xe9")
    done = run("texts", cwd=folder.parent)
    assert done.returncode == 1 and "d.txt: this is not utf-8 text; name its encoding" in done.stderr
    assert "café" in run("--encoding", "latin-1", "texts", cwd=folder.parent).stdout
    done = run("--rejects", "bad.txt", "texts", cwd=folder.parent)
    assert (
        done.returncode == 0
        and "% 3 rows" in done.stdout
        and "d.txt" in (folder.parent / "bad.txt").read_text(errors="replace")
    )
    with pytest.raises(FilterkitError, match="does not contain a folder of texts"):
        filterkit.read(folder / "sci")
    done = run("-o", "out", "--to", "text", "texts", cwd=folder.parent)
    assert done.returncode == 2 and "is only read, not written" in done.stderr
