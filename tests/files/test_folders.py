"""Folders of outputs in parts, on a disk and on a file system of fsspec."""

import pytest

from filterkit import FilterkitError
from filterkit.files.folders import part_folder, size_of
from filterkit.files.output import new_file

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
    return part_folder(place, "out/part-*.arff")


def test_files_appear_and_go(folder):
    assert folder.sizes() == {} and folder.read("a") is None
    folder.write("a", b"one")
    folder.write("a", b"four")
    assert folder.sizes() == {"a": 4} and folder.read("a") == b"four"
    folder.remove("a")
    folder.remove("a")
    assert folder.sizes() == {}


def test_a_part_waits_aside(folder, place):
    aside = folder.aside(".aside")
    path = f"{aside.path}/x"
    with new_file(path, "out/part-*.arff") as out:
        out.write(b"part")
    assert size_of(path, "out/part-*.arff") == 4
    assert folder.sizes() == {}
    folder.appear(path, "part-00000.arff")
    assert folder.read("part-00000.arff") == b"part"
    aside.remove()
    assert folder.sizes() == {"part-00000.arff": 4}


def test_a_journal_grows(folder, place):
    journal = folder.journal(".journal", b"head\n")
    assert folder.read(".journal") == b"head\n"
    journal.add(b"one\n")
    journal.close()
    assert folder.read(".journal") == b"head\none\n"
    folder.check_free(".journal")


def test_errors_name_the_output(tmp_path):
    with pytest.raises(FilterkitError, match=r"^out/part-\*.arff: No such file or directory$"):
        part_folder(str(tmp_path / "missing"), "out/part-*.arff").sizes()
    pytest.importorskip("fsspec")
    with pytest.raises(FilterkitError, match=r"^x/part-\*.arff: .*nowhere"):
        part_folder("nowhere://x", "x/part-*.arff")
