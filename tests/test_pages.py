"""The pages of the documentation: every command and every example runs and prints what the page shows, links lead
somewhere, and the list of all pages is complete.

Some pages have tests of their own: test_guide.py (plugins.md, plugin-reference.md, and the generated references),
test_coming_from_weka.py, test_coming_from_scikit_learn.py, test_contributing.py and test_readme.py.
"""

import os
import re

import pytest
from command import shell, stdout_of
from pages import GENERATED, PAGES, ROOT, blocks, check_console, check_python, copy_samples, make_input, text_of

import filterkit
from filterkit.plugin.registry import get_registry

pytestmark = pytest.mark.posix

# Their blocks of code need files, or are signatures.
GUIDES = ("docs/plugins.md", "docs/plugin-reference.md")
ELSEWHERE = {"README.md", "CONTRIBUTING.md", *GUIDES, "docs/cluster.md"}
STORY = "docs/tutorial.md"  # each step needs the files of those before


@pytest.fixture
def folder(tmp_path):
    return copy_samples(tmp_path)


def single(language):
    """The blocks of code that need no other."""
    for page in sorted(PAGES.keys() - ELSEWHERE - {STORY}):
        for _, text in blocks(page, language):
            yield pytest.param(page, text, id=f"{page} {text.partition(chr(10))[0][:60]}")


@pytest.mark.parametrize(("page", "block"), list(single("console")))
def test_a_console_example_prints_what_the_page_shows(page, block, folder):
    check_console(block, folder)


@pytest.mark.parametrize(("page", "block"), list(single("python")))
def test_a_python_example_runs(page, block, folder):
    printed = check_python(block, folder)
    shown = re.search(re.escape(block) + r"```\n\nIt prints:\n\n```text\n(.*?)^```", PAGES[page], re.M | re.S)
    assert shown is None or printed == shown[1]


def test_the_tutorial_runs_from_its_beginning_to_its_end(folder):
    for language, block in blocks(STORY, "console", "python"):
        {"console": check_console, "python": check_python}[language](block, folder)


def test_commands_that_stand_by_themselves_run(tmp_path):
    make_input(tmp_path)
    elsewhere = (*GUIDES, "docs/cluster.md", "docs/coming-from-weka.md")
    texts = [text for page, text in PAGES.items() if page not in elsewhere and not page.startswith("examples/")]
    alone = re.sub(r"^```.*?^```", "", "\n".join(texts), flags=re.M | re.S)
    commands = re.findall(r"^    (?:\$ )?(filterkit (?!:).*)$", alone, re.M)
    assert commands
    for command in commands:
        stdout_of(shell(command, tmp_path))


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """The current folder, with the files that the page about clusters names."""
    iris = (ROOT / "arff_samples" / "iris.arff").read_text()
    for name in ("in.arff", "bucket/part-1.arff", "bucket/part-2.arff", "data/a.arff"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(iris)
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_for_a_cluster_run_with_local_threads(shared):
    """Without the engine, whose words are tested in tests/plugins/test_dask_engine.py."""
    for command in re.findall(r"^    \$ (filterkit .*)$", PAGES["docs/cluster.md"], re.M):
        local = re.sub(r" --engine dask\S*", "", command).replace("s3://", "")
        assert local != command
        stdout_of(shell(local, shared))


def test_the_python_example_for_a_cluster_runs_on_one(shared):
    distributed = pytest.importorskip("distributed", reason="the engine dask needs distributed")
    ((_, code),) = blocks("docs/cluster.md", "python")
    options = {"dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}, "protocol": "tcp"}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, **options) as cluster:
        names = {}
        exec(code.replace("tcp://host:8786", cluster.scheduler_address), names)
    assert names["fitted"].schema.features[0].name == "sepal length (cm)@setosa"


def test_chains_in_the_text_are_understood():
    """Code of several words that begins with a stage is a chain, and every option and value in it exists."""
    known = get_registry().stages
    found = 0
    for page in ("papers", "big-files", "live-streams", "tutorial", "zero", "exactness", "coming-from-scikit-learn"):
        text = re.sub(r"^```.*?^```", "", PAGES[f"docs/{page}.md"], flags=re.M | re.S)
        for chain in re.findall(r"`([^`]+)`", text):
            if chain.split()[0] in known and re.fullmatch(r"[^A-Z…]* [^A-Z…]*", chain):
                filterkit.chain(chain)
                found += 1
    assert found > 30


def test_every_row_of_a_table_has_as_many_cells_as_its_head():
    for page in (*PAGES, *GENERATED):
        width = None
        for line in text_of(page).splitlines():
            cells = len(re.split(r"(?<!\\)\|", line.strip())) if line.startswith("|") else None
            assert cells is None or width in (None, cells), f"{page}: {line}"
            width = cells


def links(page):
    """The files that a page links to, as paths in the project; an image is no file."""
    for target in re.findall(r"(?<!!)\[[^\]]*\]\(([^)#\s]+)[^)]*\)", text_of(page)):
        if "://" not in target:
            yield os.path.normpath(os.path.join(os.path.dirname(page), target))


def test_links_lead_to_existing_files():
    found = {(page, path) for page in (*PAGES, *GENERATED) for path in links(page)}
    assert not {(page, path) for page, path in found if path not in GENERATED and not (ROOT / path).exists()}


def test_pages_that_are_read_outside_of_the_site_link_to_no_generated_page():
    for page in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"):
        assert not GENERATED.keys() & set(links(page)), page


def test_every_page_is_reachable_from_the_readme():
    reached, new = set(), ["README.md"]
    while new:
        page = new.pop()
        reached.add(page)
        new += [path for path in links(page) if path in PAGES.keys() | GENERATED.keys() and path not in reached]
    assert PAGES.keys() | GENERATED.keys() <= reached


def test_the_list_of_pages_says_which_kind_each_is_and_has_the_order_of_the_navigation():
    rows = re.findall(r"^\| (\w+) \| \[[^\]]*\]\(([^)]+)\) \| .+ \|$", PAGES["docs/index.md"], re.M)
    assert {kind for kind, _ in rows} == {"tutorial", "recipes", "reference", "explanation"}
    pages = {os.path.basename(page) for page in [*PAGES, *GENERATED] if os.path.dirname(page) == "docs"}
    assert {page for _, page in rows if "/" not in page} == pages - {"index.md"}

    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", PAGES["docs/index.md"], re.M | re.S)
    shown = [f"{line}.md" for tree in trees for line in tree.splitlines() if re.fullmatch(r"[\w-]+", line)]
    assert shown == [page for _, page in rows if "/" not in page]


def test_lines_have_at_most_120_characters():
    """Except what cannot be broken: rows of tables, blocks of code, and single words such as addresses."""
    for page in (*PAGES, *GENERATED):
        text = re.sub(r"^( *)```.*?^\1```", "", text_of(page), flags=re.M | re.S)
        long = [line for line in text.splitlines() if len(line) > 120]
        assert not [line for line in long if not line.startswith(("|", "    ")) and " " in line.lstrip(" -*>")], page
