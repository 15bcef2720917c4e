"""The cache of installed plugins: it is used until a package is installed or removed."""

import os
import re
import stat
import subprocess
import sys
import types
import zlib
from pathlib import Path

import pytest

from filterkit.plugin.discovery import Installed, installed, remember
from filterkit.plugin.registry import _loaded


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder on the import path with one package, and a new folder for the cache."""
    folder = tmp_path / "packages"
    folder.mkdir()
    install(folder, "one", "my-stage = my_module")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "script").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "script"), str(folder)])
    return folder


def install(folder, name, *points):
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[some.group]\n" + "\n".join(points))


ONE = Installed("my-stage", "my_module", "one 1.0")


def test_installed_plugins_are_remembered(place, monkeypatch, tmp_path):
    assert installed("some.group") == [ONE]
    monkeypatch.setattr("filterkit.plugin.discovery._ask", None)
    assert installed("some.group") == [ONE]
    assert len(list((tmp_path / "cache" / "filterkit").iterdir())) == 1


def test_plugins_installed_or_removed_later_are_noticed(place):
    assert installed("some.group") == [ONE]
    install(place, "two", "a = two.a:plugin", "b = two.b")
    expected = [Installed("a", "two.a:plugin", "two 1.0"), Installed("b", "two.b", "two 1.0"), ONE]
    assert installed("some.group") == expected == installed("some.group")
    for file in (place / "one-1.0.dist-info").iterdir():
        file.unlink()
    (place / "one-1.0.dist-info").rmdir()
    assert installed("some.group") == expected[:2]


def test_a_renamed_package_is_noticed(place):
    assert installed("some.group") == [ONE]
    (place / "one-1.0.dist-info").rename(place / "arff_one-1.0.dist-info")
    (place / "arff_one-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: arff-one\nVersion: 1.0\n")
    assert installed("some.group") == [ONE._replace(origin="arff-one 1.0")]


def test_a_plugin_of_two_packages_is_listed_once(place):
    """This happens if a package was renamed and installed again but never removed under its old name."""
    install(place, "arff-one", "my-stage = my_module", "other = my_module")
    install(place, "two", "my-stage = another_module")
    assert installed("some.group") == [
        Installed("my-stage", "another_module", "two 1.0"),
        Installed("my-stage", "my_module", "arff-one 1.0"),
        Installed("other", "my_module", "arff-one 1.0"),
    ]


def test_the_cache_of_another_version_of_filterkit_is_not_used(place, monkeypatch, tmp_path):
    assert installed("some.group") == [ONE]
    (tmp_path / "newer.py").write_text("")
    monkeypatch.setattr("filterkit.plugin.discovery.__file__", str(tmp_path / "newer.py"))
    monkeypatch.setattr("filterkit.plugin.discovery._ask", lambda group: [])
    assert installed("some.group") == []


def test_each_import_path_has_its_own_cache(place, monkeypatch, tmp_path):
    assert installed("some.group") == [ONE]
    monkeypatch.setattr(sys, "path", [str(tmp_path / "script")])
    assert installed("some.group") == []


def test_plugins_in_the_current_folder_are_not_cached(place, monkeypatch, tmp_path):
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "path", [str(place)])
    assert installed("some.group") == [ONE]
    assert not (tmp_path / "cache").exists()


def test_what_plugins_offer_is_remembered_until_one_of_their_files_changes(place, monkeypatch):
    module = place / "my_module.py"
    module.write_text("")
    monkeypatch.setitem(sys.modules, "my_module", types.SimpleNamespace(__file__=str(module)))
    known = ONE._replace(offers=("stage a", "format .b"))
    assert installed("some.group") == [ONE]
    remember("some.group", [known])
    monkeypatch.setattr("filterkit.plugin.discovery._ask", None)
    assert installed("some.group") == [known] == installed("some.group")
    os.utime(module, ns=(0, 1))
    assert installed("some.group") == [ONE]
    remember("some.group", [known])
    assert installed("some.group") == [known]


def test_what_was_installed_meanwhile_is_not_forgotten(place):
    assert installed("some.group") == [ONE]
    install(place, "two", "b = two.b")
    remember("some.group", [ONE._replace(offers=("stage a",))])
    assert installed("some.group") == [Installed("b", "two.b", "two 1.0"), ONE]
    remember("some.group", [ONE._replace(offers=("stage a",))])
    assert installed("some.group") == [Installed("b", "two.b", "two 1.0"), ONE]


@pytest.mark.parametrize("name", ["stage tab\there", "stage line\nhere"])
def test_names_that_the_memory_cannot_hold_are_not_remembered(place, name):
    assert installed("some.group") == [ONE]
    remember("some.group", [ONE._replace(offers=(name,))])
    assert installed("some.group") == [ONE]


DAMAGES = {
    "empty": lambda good: b"",
    "cut after the first line": lambda good: good[: good.index(b"\n") + 1],
    "cut after the second line": lambda good: good[: good.index(b"\n", good.index(b"\n") + 1)],
    "cut in a line": lambda good: good[:-3],
    "cut before the end of a line": lambda good: good + b"\n",
    "another letter": lambda good: good.replace(b"my-stage", b"my-stagf"),
    "no text": lambda good: b"\xff\xfe",
    "no text, without an end of line": lambda good: bytes(range(256)) * 8,
    "of something else": lambda good: b"other folders\nx\ty\tz",
    "a word too few": lambda good: good.partition(b"\n")[0] + b"\nonly one word",
    "an earlier version's": lambda good: good.partition(b"\n")[2],
    "huge": lambda good: good + bytes(1 << 21),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_cache_is_written_anew(damage, place, tmp_path):
    assert installed("some.group") == [ONE]
    (file,) = (tmp_path / "cache" / "filterkit").iterdir()
    good = file.read_bytes()
    file.write_bytes(damage(good))
    assert file.read_bytes() != good
    assert installed("some.group") == [ONE]
    assert file.read_bytes() == good
    assert list((tmp_path / "cache" / "filterkit").iterdir()) == [file]


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX system")
@pytest.mark.parametrize("kind", ["pipe", "link", "link to a pipe", "link to nothing", "unreadable", "folder"])
def test_something_else_in_the_place_of_the_cache_is_tolerated(kind, place, tmp_path, monkeypatch):
    assert installed("some.group") == [ONE]
    (file,) = (tmp_path / "cache" / "filterkit").iterdir()
    good = file.read_bytes()
    file.unlink()
    (tmp_path / "precious").write_text("precious")
    os.mkfifo(tmp_path / "pipe")
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "unreadable":
        file.write_bytes(good)
        file.chmod(0)
    else:
        file.symlink_to(tmp_path / {"link": "precious", "link to a pipe": "pipe", "link to nothing": "nothing"}[kind])
    assert installed("some.group") == [ONE] == installed("some.group")
    assert (tmp_path / "precious").read_text() == "precious" and not (tmp_path / "nothing").exists()
    if kind == "folder":
        assert file.is_dir()
    else:
        assert file.read_bytes() == good and not file.is_symlink()


def forge(file):
    """Let the cache name another module."""
    _, _, text = file.read_bytes().partition(b"\n")
    text = text.replace(b"my_module", b"my_mishap")
    file.write_bytes(b"%08x\n" % zlib.crc32(text) + text)


@pytest.mark.posix
@pytest.mark.parametrize("what", ["file", "folder"])
@pytest.mark.parametrize("mode", [0o002, 0o020])
def test_a_cache_that_others_may_write_is_not_believed(what, mode, place, tmp_path):
    assert installed("some.group") == [ONE]
    folder = tmp_path / "cache" / "filterkit"
    (file,) = folder.iterdir()
    forge(file)
    assert installed("some.group") == [ONE._replace(value="my_mishap")]  # it would be believed
    path = file if what == "file" else folder
    path.chmod(path.stat().st_mode | mode)
    assert installed("some.group") == [ONE]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600  # it is of this user alone again
    assert not folder.stat().st_mode & 0o022
    assert b"my_mishap" not in file.read_bytes()


@pytest.mark.posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_cache_of_somebody_else_is_not_believed(what, place, tmp_path):
    assert installed("some.group") == [ONE]
    folder = tmp_path / "cache" / "filterkit"
    (file,) = folder.iterdir()
    forge(file)
    nobody = 65534
    os.chown(file if what == "file" else folder, nobody, -1)
    assert installed("some.group") == [ONE]
    if what == "folder":
        assert b"my_mishap" in file.read_bytes()  # nothing is written into the folder of somebody else
        assert stat.S_IMODE(folder.stat().st_mode) & 0o700 == 0o700 and folder.stat().st_uid == nobody
    else:
        assert b"my_mishap" not in file.read_bytes() and file.stat().st_uid == 0
        assert installed("some.group") == [ONE]


@pytest.mark.posix
def test_the_cache_is_of_its_user_alone_whatever_the_mask(place, tmp_path):
    before = os.umask(0)
    try:
        assert installed("some.group") == [ONE]
    finally:
        os.umask(before)
    (file,) = (tmp_path / "cache" / "filterkit").iterdir()
    assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (0o600, 0o700)


@pytest.mark.posix
def test_the_command_imports_nothing_that_a_foreign_cache_names(tmp_path):
    """A real run, whose cache others may write and have changed, so that it names one module instead of another."""
    script, folder = Path(sys.executable).with_name("filterkit"), tmp_path / "filterkit"
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    command = [script, "stages", "l2"]
    usual = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    (file,) = folder.iterdir()
    _, _, text = file.read_bytes().partition(b"\n")
    text = text.replace(b"filterkit_plugins.row_norms", b"no_such_module_at_all")
    for mode, is_believed in ((0o700, True), (0o777, False)):
        file.write_bytes(b"%08x\n" % zlib.crc32(text) + text)
        folder.chmod(mode)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (done.stdout == usual) == (not is_believed)
        assert ("plugin 'row_norms' (no_such_module_at_all" in done.stderr or done.returncode != 0) == is_believed


def test_plugins_are_found_without_a_place_for_the_cache(place, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    for cache in (tmp_path / "file", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
        assert installed("some.group") == [ONE]


def test_the_command_uses_the_cache(tmp_path):
    script = Path(sys.executable).with_name("filterkit")
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    first, second = (
        subprocess.run([script, "plugins"], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert first == second and re.search(r"^shape +arff-filterkit 0\.1\.0  shape$", first, re.M)
    assert len(list((tmp_path / "filterkit").iterdir())) == 1


def test_an_entry_point_names_a_module_or_an_object():
    import os.path

    assert _loaded("os.path") is os.path
    assert _loaded("os:path.join") is os.path.join
    assert _loaded("os.path [extra]") is os.path
