"""Notebooks, run by a real kernel: the one of the examples, the tables in it, and progress of long work."""

import re
from pathlib import Path

import pytest
from command import run_python

nbformat = pytest.importorskip("nbformat", reason="needs nbformat")
nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
pytest.importorskip("ipykernel", reason="needs ipykernel")

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "notebook.ipynb"
IRIS = ROOT / "arff_samples" / "iris.arff"


def executed(notebook, folder):
    """The notebook with what its cells put out; an error in a cell is raised."""
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}})
    return client.execute()


def shown(cell, kind="text/html"):
    """What a cell has put out in a form."""
    return [each["data"][kind] for each in cell["outputs"] if kind in each.get("data", {})]


def of_cells(folder, *sources):
    """What each of some cells has put out, whatever the form."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    return [cell["outputs"] for cell in executed(nbformat.v4.new_notebook(cells=cells), folder).cells]


@pytest.mark.separate
def test_the_example_gives_the_tables_that_it_shows():
    pytest.importorskip("pandas")
    kept = nbformat.read(EXAMPLE, 4)
    tables = [shown(cell) for cell in kept.cells if cell.cell_type == "code"]
    again = executed(nbformat.read(EXAMPLE, 4), EXAMPLE.parent)
    found = [shown(cell) for cell in again.cells if cell.cell_type == "code"]
    ours = [number for number, each in enumerate(tables) if each and each[0].startswith("<div><p>")]
    assert [found[number] for number in ours] == [tables[number] for number in ours]
    captions = " ".join(found[number][0].partition("</p>")[0] for number in ours)
    for said in ("1,307 sparse rows", "2,012 attributes, sparse", "chain of 4 stages, not fitted", "chain fitted on"):
        assert said in captions


AT_ONCE = f"import filterkit, threading\nfrom filterkit import progress\nprogress._PATIENCE = 0\niris = {str(IRIS)!r}"
WAITS = """
seen, show = threading.Event(), progress._NotebookBar.show

def show_and_tell(*arguments):
    show(*arguments)
    seen.set()

progress._NotebookBar.show = show_and_tell

class Waits(filterkit.RowStage):
    name = "waits"

    def fit(self, rows, schema):
        assert seen.wait(60), "no bar has appeared"
        return super().fit(rows, schema)

    def transform(self, batch):
        return batch

_ = filterkit.Chain([Waits()]).fit(data)
"""


def test_progress_is_shown_in_notebooks(tmp_path):
    _, read, streamed, fit, transform, quiet, waiting = of_cells(
        tmp_path,
        AT_ONCE,
        "data = filterkit.read(iris)",
        "for _ in filterkit.batches(iris, block_size=1000): pass",
        "fitted = filterkit.chain('shape bns l2').fit(data)",
        "_ = fitted.transform(data)",
        "data = filterkit.read(iris, progress=False)\n"
        "for _ in filterkit.batches(iris, progress=False): pass\n"
        "fitted = filterkit.chain('shape').fit(data, progress=False)\n"
        "_ = fitted.transform(data, progress=False)\n"
        "_ = filterkit.chain('l2').fit_transform(data, progress=False)",
        WAITS,
    )
    for outputs, said in (
        (read, "100% read"),
        (streamed, "100% read"),
        (fit, "3 of 3 stages fitted"),
        (transform, "3 of 3 stages applied"),
        (waiting, "1 of 1 stages fitted"),
    ):
        (output,) = outputs
        assert output["data"]["text/plain"].startswith(f"filterkit: {said}")
        assert output["data"]["text/html"].startswith("<div><progress max=") and said in output["data"]["text/html"]
    assert quiet == []


WORK = """
from filterkit import progress
progress._PATIENCE = 0
import filterkit
options = {"progress": True} if WANTED else {}
data = filterkit.read(IRIS, **options)
fitted = filterkit.chain("shape l2").fit(data, **options)
fitted.transform(data, **options)
"""


@pytest.mark.parametrize("wanted", [False, True])
def test_scripts_show_progress_only_on_request(wanted):
    code = WORK.replace("WANTED", str(wanted)).replace("IRIS", repr(str(IRIS)))
    done = run_python(code)
    lines = ["100% read…", "1 of 2 stages fitted", "2 of 2 stages fitted", "1 of 2 stages applied"]
    expected = "".join(f"filterkit: {line}\n" for line in [*lines, "2 of 2 stages applied"]) if wanted else ""
    shown = re.sub(r"read, [\d.,e+]+ MB/s, [\d,.]+ rows/s", "read…", done.stderr)
    assert (done.stdout, shown) == ("", expected)
