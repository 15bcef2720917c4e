"""The tools of a release: the lowest versions, and what must be in a wheel."""

import email.message
import re
import runpy
import types
import zipfile
from pathlib import Path

import pytest

TOOLS = Path(__file__).parent.parent / "tools"


@pytest.fixture
def lowest():
    return runpy.run_path(str(TOOLS / "lowest_versions.py"))["lowest"]


def project(*dependencies, **extras):
    lines = [f"{name} = {list(values)}" for name, values in extras.items()]
    return "\n".join(["[project]", f"dependencies = {list(dependencies)}", "[project.optional-dependencies]", *lines])


def test_every_dependency_has_its_lowest_version(lowest):
    text = project("numpy>=2.0", "scikit-learn>=1.6", plot=["matplotlib>=3.9"], test=["numpy>=2.0"])
    assert lowest(text) == ["matplotlib==3.9", "numpy==2.0", "scikit-learn==1.6"]


def test_the_projects_own_dependencies_have_lowest_versions(lowest):
    pinned = lowest((TOOLS.parent / "pyproject.toml").read_text())
    assert {"numpy", "click", "pyarrow", "pandas"} <= {line.partition("==")[0] for line in pinned}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(
            (project(each), "write it as name>=version")
            for each in ("numpy", "numpy>=2,<3", "numpy>=2; os_name == 'nt'")
        ),
        (project("numpy>=2.0", test=["numpy>=2.1"]), r"numpy has two lowest versions: 2\.0 and 2\.1"),
    ],
)
def test_a_dependency_without_one_plain_lowest_version_is_refused(text, message, lowest):
    with pytest.raises(ValueError, match=message):
        lowest(text)


FILES = {"filterkit/__init__.py", "filterkit/py.typed", "plugins/own.py", "tests/test_own.py", "LICENSE"}
PROJECT = {
    "name": "arff-filterkit",
    "version": "1.0",
    "license": "BSD-3-Clause",
    "scripts": {"filterkit": "filterkit.cli.start:main"},
    "entry-points": {"filterkit": {"own": "filterkit_plugins.own"}},
}
METADATA = "Metadata-Version: 2.4\nName: arff-filterkit\nVersion: 1.0\nLicense-Expression: BSD-3-Clause\n"
POINTS = "[console_scripts]\nfilterkit = filterkit.cli.start:main\n\n[filterkit]\nown = filterkit_plugins.own\n"
INFO = "arff_filterkit-1.0.dist-info"
MANUAL = "arff_filterkit-1.0.data/data/share/man/man1/filterkit.1"
WHEEL = {
    MANUAL: "",
    **dict.fromkeys(["filterkit/__init__.py", "filterkit/py.typed", "filterkit_plugins/own.py"], ""),
    **{f"{INFO}/{name}": "" for name in ("RECORD", "WHEEL", "licenses/LICENSE", "top_level.txt")},
    f"{INFO}/METADATA": METADATA,
    f"{INFO}/entry_points.txt": POINTS,
}


NEEDED = ["filterkit/py.typed", MANUAL, f"{INFO}/licenses/LICENSE", "filterkit_plugins/own.py"]


def check(members, tmp_path):
    path = tmp_path / "a.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    runpy.run_path(str(TOOLS / "check_dist.py"))["check_wheel"](path, FILES, PROJECT)


def test_a_complete_wheel_is_accepted(tmp_path):
    check(WHEEL, tmp_path)


@pytest.mark.parametrize(
    ("member", "text", "message"),
    [
        *((name, None, f"missing \\['{name}'\\], not expected \\[\\]") for name in NEEDED),
        ("tests/test_own.py", "", "not expected \\['tests/test_own.py'\\]"),
        (f"{INFO}/METADATA", METADATA.replace("1.0", "1.1"), "name and the version: missing \\['1.0'\\]"),
        (f"{INFO}/METADATA", METADATA.replace("BSD-3-Clause", "MIT"), "the licence: missing"),
        (f"{INFO}/entry_points.txt", POINTS.replace("own =", "mine ="), "the entry points of filterkit: missing"),
    ],
)
def test_a_wheel_with_a_wrong_or_missing_file_is_refused(member, text, message, tmp_path):
    members = WHEEL | {member: text}
    with pytest.raises(SystemExit, match=message):
        check({name: text for name, text in members.items() if text is not None}, tmp_path)


def test_the_tests_that_try_a_wheel_exist():
    named = re.findall(r"\btests/[\w/]+\.py", (TOOLS / "try_wheel").read_text(encoding="utf-8"))
    assert len(named) > 5
    assert [path for path in named if not (TOOLS.parent / path).exists()] == []


PAGE = '<link rel="stylesheet" href="a.css"><p id="here"><a href="{}">x</a><img src="{}">'


@pytest.mark.parametrize(
    ("link", "image", "style", "expected"),
    [
        ("sub/b.html#there", "i.svg", "", []),
        ("#here", "data:image/svg+xml,x", "p {background: url('data:x')}", []),
        ("https://example.org/#any", "i.svg", "p {background: url(i.svg)}", []),
        ("sub/c.html", "i.svg", "", ["a.html: the link to sub/c.html leads to no file"]),
        ("sub/b.html#here", "i.svg", "", ["a.html: the link to sub/b.html#here leads to no such place in the page"]),
        ("#here", "//cdn.example/i.svg", "", ["a.html: //cdn.example/i.svg is loaded from the network"]),
        ("#here", "j.svg", "", ["a.html: j.svg is loaded, and there is no such file"]),
        ("#here", "i.svg", "@import 'http://x/y.css';", ["a.css: http://x/y.css is loaded from the network"]),
        ("#here", "i.svg", "@font-face {src: url(f.woff)}", ["a.css: f.woff is loaded, and there is no such file"]),
    ],
)
def test_links_and_what_pages_load_are_checked(link, image, style, expected, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.html").write_text(PAGE.format(link, image))
    (tmp_path / "sub" / "b.html").write_text('<h1 id="there">b</h1><a href="../a.html#here">back</a>')
    (tmp_path / "a.css").write_text(style)
    (tmp_path / "i.svg").write_text("<svg/>")
    mistakes = runpy.run_path(str(TOOLS / "check_site.py"))["mistakes"]
    assert mistakes(tmp_path) == expected


def test_a_site_without_pages_is_a_mistake(tmp_path):
    assert runpy.run_path(str(TOOLS / "check_site.py"))["mistakes"](tmp_path) == [f"{tmp_path}: no pages"]


@pytest.fixture
def licences():
    pytest.importorskip("packaging")
    return runpy.run_path(str(TOOLS.parent / "docs" / "licences.py"))


def listed(title):
    """The cells of each row of a table of docs/licences.md."""
    text = (TOOLS.parent / "docs" / "licences.md").read_text().partition(f"## {title}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"][2:]


def test_the_list_of_licences_names_every_dependency(licences):
    """Also those of extras. If this fails: python docs/licences.py > docs/licences.md."""
    rows = listed("Needed by filterkit and its extras")
    by = {name: ", ".join(f"`{extra}`" for extra in extras) for name, extras in licences["required"]().items()}
    assert {name: used.replace("filterkit", "``") for name, used, *_ in rows} == by
    inside = [[file.strip("`"), name, *rest] for name, file, *rest in listed("Inside filterkit")]
    assert inside == [[file.strip("`"), *rest] for file, *rest in licences["vendored"]()]
    assert all(len(row) == 4 and row[2] and row[3] and row[3] != "see the package" for row in rows)


@pytest.mark.parametrize(
    ("stated", "licence"),
    [
        ({"License-Expression": "MIT AND ISC", "License": "x"}, "MIT AND ISC"),
        ({"Classifier": "License :: OSI Approved :: MIT License", "License": "x"}, "MIT"),
        ({"Classifier": "License :: OSI Approved", "License": "BSD"}, "BSD"),
        ({"License": "a\nwhole text"}, "see the package"),
    ],
)
def test_packages_state_their_licences_in_several_ways(stated, licence, licences):
    headers = email.message.Message()
    for name, value in stated.items():
        headers[name] = value
    assert licences["licence_of"](types.SimpleNamespace(files=(), metadata=headers)) == licence
