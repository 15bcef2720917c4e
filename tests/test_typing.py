"""What type checkers say of a user's script and of one with mistakes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.separate

SOUND = """
import filterkit
from filterkit import Batch, Chain, FilterkitError, RowStage, option


class Mine(RowStage):
    \"\"\"Mine.\"\"\"

    name = "mine"
    top: int = option(3, "How many.")
    share: float = option(1, "How much.")
    by: str | None = option(None, "By what.")
    column: str = option("", "Which.", bare=True)
    names: tuple[str, ...] = option((), "Which.")

    def transform(self, batch: Batch) -> Batch:
        return batch.replace(X=batch.X * self.top)


stage = Mine()
other = Mine(top=4, by="x", names=("a",))
number: int = other.top
data: Batch = filterkit.read("x.arff", class_=2)
chain: Chain = filterkit.chain("l2")
fitted = chain.fit(data)
names: list[str] = list(fitted.schema.names)


class Frame:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return data.__arrow_c_stream__(requested_schema)


again = filterkit.chain("bns").fit(Frame()).transform(Frame())
scores = filterkit.scores([Frame(), data], "bns")
try:
    filterkit.write(fitted.transform(filterkit.to_pandas(data)), "y.arff")
except FilterkitError as error:
    print(error)
"""

WRONG = """
import filterkit
from filterkit import RowStage, option


class Mine(RowStage):
    top: int = option("3", "How many.")
    maybe: int = option(None, "How many.")
    many: list[int] = option([], "Which.")


filterkit.reed("x")
filterkit.read(3)
number: str = filterkit.read("x")
filterkit.plugin.Nothing
filterkit.chain("l2").fit("x.arff")
filterkit.chain("l2").fit([1.0])
filterkit.write(3, "x.arff")
"""
MISTAKES = {7, 8, 9, 12, 13, 14, 15, 16, 17, 18}


@pytest.fixture
def scripts(tmp_path):
    (tmp_path / "sound.py").write_text(SOUND)
    (tmp_path / "wrong.py").write_text(WRONG)
    return tmp_path


def test_mypy_finds_mistakes_and_no_others(scripts, monkeypatch):
    pytest.importorskip("mypy", reason="needs mypy")
    monkeypatch.setenv("MYPYPATH", str(ROOT))
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--ignore-missing-imports"]
    command += ["--config-file=", f"--cache-dir={scripts / 'cache'}", "sound.py", "wrong.py"]
    told = subprocess.run(command, cwd=scripts, capture_output=True, text=True, timeout=300).stdout
    found = re.findall(r"^(\w+)\.py:(\d+): error", told, re.M)
    assert {(name, int(line)) for name, line in found} == {("wrong", line) for line in MISTAKES}, told


def test_pyright_finds_mistakes_and_no_others(scripts):
    pytest.importorskip("pyright", reason="needs pyright")
    settings = {"extraPaths": [str(ROOT)], "pythonVersion": "3.11"}
    (scripts / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=scripts, capture_output=True, text=True, timeout=300)
    if not done.stdout.strip().startswith("{"):
        pytest.skip("pyright does not run here, as where it has no Node.js")
    found = [each for each in json.loads(done.stdout)["generalDiagnostics"] if each["severity"] == "error"]
    errors = {(Path(each["file"]).stem, each["range"]["start"]["line"] + 1) for each in found}
    assert errors == {("wrong", line) for line in MISTAKES}, done.stdout
