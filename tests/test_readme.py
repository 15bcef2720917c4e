"""The README, the tutorial and the recipes: every example runs and prints what the page shows."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command import shell

pytestmark = pytest.mark.posix

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = ["README.md", "docs/tutorial.md", "docs/recipes.md", "docs/formats.md"]


def blocks(language, text=README):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


@pytest.fixture
def folder(tmp_path):
    """An empty folder with the samples, where examples may leave files."""
    shutil.copytree(ROOT / "arff_samples", tmp_path / "arff_samples")
    return tmp_path


def python(code, folder):
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)


def test_there_are_exactly_two_commands_for_a_fresh_machine():
    commands = [block.strip() for block in blocks("sh")]
    assert len(commands) == 2
    assert all("\n" not in command for command in commands)


def test_the_first_command_runs(folder):
    job = blocks("sh")[0].split("&& ")[-1].replace(".venv/bin/", "")
    done = shell(job, folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "@data" in (folder / "shaped.arff").read_text()


def console_examples():
    for page in PAGES:
        for block in blocks("console", (ROOT / page).read_text(encoding="utf-8")):
            parts = re.split(r"^\$ ", block, flags=re.M)[1:]
            yield pytest.param([part.partition("\n")[::2] for part in parts], id=f"{page} {parts[0][:60]}")


@pytest.mark.parametrize("commands", list(console_examples()))
def test_a_console_example_prints_what_the_page_shows(commands, folder):
    for command, expected in commands:
        done = shell(command, folder)
        assert done.stderr == ""
        assert done.stdout == expected
        assert done.returncode == 0


def test_the_python_example_prints_what_the_page_shows(folder):
    done = python(blocks("python")[0], folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("(")
    assert (folder / "out.arff").exists()


def test_the_scikit_learn_example_runs(folder):
    done = python(blocks("python")[1], folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("{'chaintransformer__shape__neighbors': ")


def test_the_example_of_a_stage_runs(folder):
    (folder / "my.py").write_text(blocks("python")[2])
    done = shell("filterkit --plugin my.py arff_samples/one-row.arff halve | tail -2", folder)
    assert (done.returncode, done.stderr) == (0, "")
    plain = shell("filterkit arff_samples/one-row.arff | tail -2", folder).stdout
    assert float(done.stdout.split(",")[0]) == float(plain.split(",")[0]) / 2


def test_the_example_of_a_metric_runs(folder):
    (folder / "my.py").write_text(blocks("python")[3])
    done = shell("filterkit --plugin my.py scores arff_samples/iris.arff lift bns --csv", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].endswith('"lift","bns"')
    done = shell("filterkit --plugin my.py arff_samples/iris.arff select --by lift --top 1 lift | head -1", folder)
    assert done.stdout == "% filterkit 0.1.0: --plugin my.py arff_samples/iris.arff select --top 1 --by lift lift\n"


def test_the_example_of_data_frames_runs(folder):
    (code,) = blocks("python", (ROOT / "docs/recipes.md").read_text(encoding="utf-8"))
    done = python(code, folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[:3] == ["width", "kind", "0"]
    assert float(done.stdout.split()[3]) < 0


def links(path):
    """The pages that a page links to, as paths in the project; an image is no page."""
    for target in re.findall(r"(?<!!)\[[^\]]*\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            yield (path.parent / target).resolve()


OWN_PAGES = [
    path
    for folder in (".", "docs", "docs/decisions", "experiments", "benchmarks", "arff_samples", "examples")
    for path in (ROOT / folder).glob("**/*.md" if folder == "examples" else "*.md")
]


@pytest.mark.parametrize("page", OWN_PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_existing_files(page):
    missing = [path for path in links(page) if not path.exists()]
    assert not missing


def test_every_page_is_reachable_from_the_readme():
    reached, new = set(), [ROOT / "README.md"]
    while new:
        page = new.pop()
        reached.add(page)
        new += [path for path in links(page) if path.suffix == ".md" and path not in reached and path.exists()]
    assert set(OWN_PAGES) <= reached


def test_the_list_of_pages_says_which_kind_each_is():
    kinds = dict(re.findall(r"^\| (tutorial|recipes|reference|explanation) \| \[[^\]]*\]\(([^)]+)\)", README, re.M))
    listed = re.findall(r"^\| (\w+) \| \[[^\]]*\]\(docs/([^)/]+\.md)\)", README, re.M)
    assert set(kinds) == {"tutorial", "recipes", "reference", "explanation"}
    assert {name for _, name in listed} == {path.name for path in (ROOT / "docs").glob("*.md")}


@pytest.mark.parametrize("page", OWN_PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_lines_have_at_most_120_characters(page):
    """Except what cannot be broken: rows of tables, blocks of code, and single words such as addresses."""
    text = re.sub(r"^( *)```.*?^\1```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    long = [line for line in text.splitlines() if len(line) > 120]
    assert not [line for line in long if not line.startswith(("|", "    ")) and " " in line.lstrip(" -*>")]
