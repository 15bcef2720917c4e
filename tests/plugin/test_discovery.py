"""How installed plugins are found: entry points beside packages, wherever Python imports from."""

import sys
import zipfile
from importlib import metadata

import pytest
from command import run_anew

from filterkit.plugin.discovery import InstalledPlugin, list_installed_plugins
from filterkit.plugin.registry import _import_entry_point


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder, which is all that Python imports from."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    return tmp_path


def describe(name, points, version="1.0"):
    """The files of a distribution: texts by name."""
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nVersion: of the text below\n"
    return {"METADATA": about, "entry_points.txt": points}


def install(folder, name, points, version="1.0", end="dist-info"):
    info = folder / f"{name.replace('-', '_')}-{version}.{end}"
    info.mkdir(parents=True)
    for file, text in describe(name, points, version).items():
        (info / file.replace("METADATA", "METADATA" if end == "dist-info" else "PKG-INFO")).write_text(text)


ONE = InstalledPlugin("my_module", "my_module", "one 1.0", (("stage", "mine"),))
POINTS = "[filterkit.stages]\nmine = my_module\n"


def test_names_in_groups_make_one_plugin_of_each_module(folder):
    points = """
[console_scripts]
filterkit = no.plugin

# a comment = of a file
[filterkit.formats]
.kv = pack.files
kv=pack.files [an extra]
[filterkit.stages]
b = pack.more:plugin
; = pack.files
[filterkit.stages.more]
[filterkit]
wrapper = pack.wrapper
[filterkitten]
cat = pack.cat
"""
    install(folder, "some-plugins", points, "2.0rc1")
    assert list_installed_plugins() == [
        InstalledPlugin(
            "files", "pack.files", "some-plugins 2.0rc1", (("format", ".kv"), ("format", "kv"), ("stage", ";"))
        ),
        InstalledPlugin("plugin", "pack.more:plugin", "some-plugins 2.0rc1", (("stage", "b"),)),
        InstalledPlugin("wrapper", "pack.wrapper", "some-plugins 2.0rc1", (), True),
    ]


def test_a_module_in_the_group_for_anything_may_list_names_as_well(folder):
    """So that a package works with the versions of filterkit before there were other groups."""
    install(folder, "one", "[filterkit.stages]\nmine = my_module\n[filterkit]\nown = my_module\n")
    assert list_installed_plugins() == [ONE._replace(name="own", is_open=True)]


def test_a_plugin_of_two_distributions_is_listed_once(folder):
    """This happens if a package was renamed and installed again but never removed under its old name."""
    install(folder, "one", POINTS)
    install(folder, "arff-one", POINTS)
    assert list_installed_plugins() == [ONE._replace(origin="arff-one 1.0")]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("ab", [ONE._replace(origin="One 2.0")]),
        ("ba", [ONE._replace(origin="one 3.0", listed=(("stage", "other"),))]),
        ("0a", []),
    ],
)
def test_the_first_distribution_of_a_name_counts(path, found, folder, monkeypatch):
    """Also if that has no entry points for filterkit."""
    install(folder / "a", "One", POINTS, "2.0")
    install(folder / "b", "one", "[filterkit.stages]\nother = my_module\n", "3.0", end="egg-info")
    install(folder / "0", "one", "[console_scripts]\n", "4.0")
    monkeypatch.setattr(sys, "path", [str(folder / name) for name in path])
    assert list_installed_plugins() == found


def test_packages_in_zip_archives_are_found(folder, monkeypatch):
    archive = folder / "packages.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for name, text in describe("one", POINTS).items():
            file.writestr(f"one-1.0.dist-info/{name}", text)
        file.writestr("my_module.py", "")
    monkeypatch.setattr(sys, "path", [str(archive)])
    assert list_installed_plugins() == [ONE]


def test_what_is_no_folder_of_packages_is_passed_over(folder, monkeypatch):
    (folder / "text").write_text("no archive")
    (folder / "file.egg-info").write_text("a distribution of distutils")
    (folder / "empty-1.dist-info").mkdir()
    (folder / "odd-1.dist-info").mkdir()
    (folder / "odd-1.dist-info" / "entry_points.txt").write_bytes(b"[filterkit.stages]\n\xff\xfe\nno point\nmine = odd")
    monkeypatch.setattr(sys, "path", [str(folder / "nothing"), str(folder / "text"), str(folder)])
    assert list_installed_plugins() == [InstalledPlugin("odd", "odd", "odd-1.dist-info", (("stage", "mine"),))]


def test_the_current_folder_counts_where_python_imports_from_it(folder, monkeypatch):
    install(folder, "one", POINTS)
    monkeypatch.setattr(sys, "path", [""])
    monkeypatch.chdir(folder)
    assert list_installed_plugins() == [ONE]


def test_python_finds_the_same_entry_points_here():
    known = {
        (point.group.removeprefix("filterkit.").removesuffix("s"), point.name, point.value)
        for distribution in metadata.distributions()
        for point in distribution.entry_points
        if point.group.startswith("filterkit.")
    }
    assert known and known == {(*each, point.value) for point in list_installed_plugins() for each in point.listed}


def test_a_folder_in_pythonpath_counts(folder):
    install(folder, "one", POINTS)
    (folder / "my_module.py").write_text("")
    told = run_anew("plugins", env={"PYTHONPATH": str(folder)}).stdout
    assert "my_module        one 1.0               broken: its entry points list the stage 'mine', which" in told


def test_an_entry_point_names_a_module_or_an_object():
    import os.path

    assert _import_entry_point("os.path") is os.path
    assert _import_entry_point("os:path.join") is os.path.join
