"""The README: short, and every example runs and prints what the page shows. The project's scripts read it, too."""

import re

import pytest
from command import shell, stdout_of
from pages import PAGES, blocks, check_console, check_python, copy_samples

pytestmark = pytest.mark.posix


@pytest.fixture
def folder(tmp_path):
    return copy_samples(tmp_path)


def test_there_are_exactly_two_commands_for_a_fresh_machine():
    assert [text.strip().count("\n") for _, text in blocks("README.md", "sh")] == [0, 0]


def test_the_first_command_runs(folder):
    job = blocks("README.md", "sh")[0][1].split("&& ")[-1].replace(".venv/bin/", "")
    stdout_of(shell(job, folder))
    assert "@data" in (folder / "shaped.arff").read_text()


@pytest.mark.parametrize("block", [text for _, text in blocks("README.md", "console")])
def test_a_console_example_prints_what_the_page_shows(block, folder):
    check_console(block, folder)


def test_the_python_example_runs(folder):
    ((_, code),) = blocks("README.md", "python")
    assert check_python(code, folder) == "True\n"
    assert (folder / "out.arff").exists()


def test_it_fits_on_a_few_screens():
    assert PAGES["README.md"].count("\n") <= 120


def test_the_front_page_of_the_site_includes_it():
    """Of the links in that part, Sphinx adapts only those that lead to docs/."""
    (mark,) = re.findall(r"^:end-before: (.*)$", PAGES["docs/index.md"], re.M)
    assert PAGES["README.md"].count(mark) == 1
    targets = re.findall(r"\]\(([^)]+)\)", PAGES["README.md"].partition(mark)[0])
    assert targets and all(target.startswith("docs/") for target in targets)
