"""Folders of texts."""

import pytest
from command import output, refusal, run

import filterkit


@pytest.fixture
def folder(tmp_path):
    for path, text in {
        "art/b.txt": "paint, brush",
        "sci/a.txt": "atom\nray",
        "sci/c.md": "two atoms",
        ".hidden/x.txt": "no",
        "sci/.DS_Store": "no",
    }.items():
        (tmp_path / "texts" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "texts" / path).write_text(text)
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
    with pytest.warns(filterkit.ConversionWarning, match="'read me.txt' is not read; put each text into the folder"):
        assert len(filterkit.read(folder)) == 3
    (folder / "art" / "deep").mkdir()
    with pytest.warns(filterkit.ConversionWarning, match="'read me.txt' is not read, nor 1 more; put each text"):
        filterkit.read(folder)


def test_a_folder_may_be_every_input(folder):
    words = "--save m.chain -o o.csv --test texts t.csv texts words l2"
    output(words, cwd=folder.parent)
    rows = (folder.parent / "o.csv").read_text()
    assert rows.count("\n") == 4 and (folder.parent / "t.csv").read_text() == rows
    assert output("--load m.chain --from text --to csv texts", cwd=folder.parent) == rows


def test_what_cannot_be_read_is_said(folder):
    (folder / "sci" / "d.txt").write_bytes(b"caf\xe9")
    assert "d.txt: this is not utf-8 text; name its encoding" in refusal("texts -o o", status=1, cwd=folder.parent)
    assert filterkit.read(folder, encoding="latin-1").passthrough["text"][-1].as_py() == "café"
    assert "% 3 rows" in run("--rejects bad.txt texts", cwd=folder.parent).stdout
    assert b"d.txt" in (folder.parent / "bad.txt").read_bytes()
    assert "is only read, not written" in refusal("-o out --to text texts", cwd=folder.parent)
