"""The README's examples, run as a reader would."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.posix

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.M | re.S)


@pytest.fixture
def folder(tmp_path):
    """An empty folder with the samples, where examples may leave files."""
    shutil.copytree(ROOT / "arff_samples", tmp_path / "arff_samples")
    return tmp_path


def shell(command, folder):
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_there_are_exactly_two_commands_for_a_fresh_machine():
    commands = [block.strip() for block in blocks("sh")]
    assert len(commands) == 2
    assert all("\n" not in command for command in commands)


def test_main_job_of_the_first_command(folder):
    job = blocks("sh")[0].split("&& ")[-1].replace(".venv/bin/", "")
    done = shell(job, folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "@data" in (folder / "shaped.arff").read_text()


def console_examples():
    for block in blocks("console"):
        parts = re.split(r"^\$ ", block, flags=re.M)[1:]
        yield pytest.param([part.partition("\n")[::2] for part in parts], id=parts[0][:60])


@pytest.mark.parametrize("commands", list(console_examples()))
def test_console_example(commands, folder):
    for command, expected in commands:
        done = shell(command, folder)
        assert done.stderr == ""
        assert done.stdout == expected


def test_python_example(folder):
    code = blocks("python")[0]
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("(")
    assert (folder / "out.arff").exists()


def test_scikit_learn_example(folder):
    code = blocks("python")[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("{'chaintransformer__shape__neighbors': ")


def test_plugin_example(folder):
    (folder / "my.py").write_text(blocks("python")[2])
    done = shell("filterkit --plugin my.py arff_samples/one-row.arff halve | tail -2", folder)
    assert (done.returncode, done.stderr) == (0, "")
    plain = shell("filterkit arff_samples/one-row.arff | tail -2", folder).stdout
    assert float(done.stdout.split(",")[0]) == float(plain.split(",")[0]) / 2


def test_metric_example(folder):
    (folder / "my.py").write_text(blocks("python")[3])
    done = shell("filterkit --plugin my.py scores arff_samples/iris.arff lift bns --csv", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].endswith('"lift","bns"')
    done = shell("filterkit --plugin my.py arff_samples/iris.arff select --by lift --top 1 lift | head -1", folder)
    assert done.stdout == "% filterkit 0.1.0: --plugin my.py arff_samples/iris.arff select --top 1 --by lift lift\n"


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
