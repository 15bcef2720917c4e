"""Folders of outputs in parts, on a disk and on a file system of fsspec."""

import pytest

from filterkit.files.folders import open_folder

URL = "memory://some/folder"


@pytest.fixture(params=["disk", "url"])
def place(request, tmp_path):
    if request.param == "disk":
        return str(tmp_path)
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    system.store.clear()
    return URL


@pytest.fixture
def folder(place):
    return open_folder(place, "out/part-*.arff")


def test_files_appear_and_go(folder):
    assert folder.list_sizes() == {} and folder.read("a") is None
    folder.write("a", b"one")
    folder.write("a", b"four")
    assert folder.list_sizes() == {"a": 4} and folder.read("a") == b"four"
    folder.remove("a")
    folder.remove("a")
    assert folder.list_sizes() == {}


def test_a_part_waits_aside(folder, place):
    aside = folder.begin_journal_and_hidden_folder(".journal", b"")
    unfinished = open_folder(aside, "out/part-*.arff")
    assert unfinished.create_file("x", lambda out: out.write(b"part")) == (4, 4)
    assert folder.list_sizes() == {".journal": 0}
    folder.move_into_folder(f"{aside}/x", "part-00000.arff")
    assert folder.read("part-00000.arff") == b"part"
    folder.close()
    assert folder.list_sizes() == {"part-00000.arff": 4, ".journal": 0}


def test_a_journal_grows(folder, place):
    folder.begin_journal_and_hidden_folder(".journal", b"head\n")
    assert folder.read(".journal") == b"head\n"
    folder.add_to_journal(b"one\n")
    folder.close()
    assert folder.read(".journal", is_journal=True) == b"head\none\n"
