"""The plugin guide: every example works as it stands, and conforms; the reference of stages is current."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from filterkit.hookspecs import Hooks
from filterkit.plugins import Registry, registry
from filterkit.testing import CHECKS, SAMPLES, sample

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs" / "plugins.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```", GUIDE, re.M | re.S)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: re.search(r'name = "(\w+)"|Metric\("(\w+)"', text)[0])
def test_an_example_works_and_conforms(example, tmp_path):
    path = tmp_path / "my_example.py"
    path.write_text(example)
    known = Registry()
    known.add_file(str(path))
    (stage,) = known.plugins[-1].stages
    for check in CHECKS:
        for name in SAMPLES:
            check(stage(), sample(name))
    done = subprocess.run(
        [sys.executable, "-m", "filterkit", "--plugin", str(path), str(ROOT / "arff_samples/iris.arff"), stage.name],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "") and "% 150 rows" in done.stdout


def test_short_examples_are_short():
    """A row stage and a metric take fewer than 20 lines."""
    lengths = [sum(bool(line.strip()) for line in example.splitlines()) for example in EXAMPLES]
    assert lengths[0] < 20 and lengths[2] < 20


def test_every_hook_is_documented():
    hooks = {name for name in vars(Hooks) if name.startswith("filterkit_")}
    assert hooks == set(re.findall(r"^\| `(filterkit_\w+)\(\)`", GUIDE, re.M))
    for name in hooks:
        assert vars(Hooks)[name].__doc__


def test_every_check_of_the_kit_is_named_in_the_guide():
    words = re.sub(r"\s+", " ", GUIDE)
    for phrase in (
        *("blocks do not matter", "input is left alone", "fitting again gives the same", "zeros stay zeros"),
        *("the schema is what comes out", "a kept chain is the same", "columns are matched by name"),
        *("the order of rows does not matter", "another header is refused", "errors are one line"),
        *("options come back", "help is there"),
    ):
        assert phrase in words
    assert len(CHECKS) == 12


def test_the_reference_of_stages_is_current():
    made = subprocess.run([sys.executable, "docs/stages.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert made.stdout == (ROOT / "docs" / "stages.md").read_text(), "python docs/stages.py > docs/stages.md"
    for name in registry().stages:
        assert f"\n## {name}\n" in made.stdout
