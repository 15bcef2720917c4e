"""new-plugin and check-plugin: from nothing to an installed stage that conforms."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from filterkit import FilterkitError

ROOT = Path(__file__).parent.parent
IRIS = str(ROOT / "arff_samples" / "iris.arff")


def filterkit(*arguments, **options):
    options.setdefault("env", os.environ)
    command = [sys.executable, "-m", "filterkit", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **options)


BROKEN = '''
import filterkit

class Centre(filterkit.RowStage):
    """Take the mean off every batch."""

    name = "centre"

    def transform(self, batch):
        return batch.replace(X=batch.X - batch.X.mean(axis=0))

class Needs(filterkit.RowStage):
    """Do what an option says."""

    name = "needs"
    what: str = filterkit.option("", "What to do.")

    def __post_init__(self):
        super().__post_init__()
        if not self.what:
            raise filterkit.UsageError("needs: say what, with --what")

    def transform(self, batch):
        return batch

@filterkit.hookimpl
def filterkit_stages():
    return [Centre, Needs]
'''


def test_a_stage_that_conforms():
    done = filterkit("check-plugin", "shape", "--neighbors", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("shape --neighbors 2: all well in ")


def test_a_plugin_file_that_does_not(tmp_path):
    (tmp_path / "my.py").write_text(BROKEN)
    done = filterkit("check-plugin", "my.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "needs: left out, as it needs options (needs: say what, with --what)" in done.stdout
    assert "centre: check_blocks_do_not_matter: " in done.stdout
    assert "let nothing in transform depend on the other rows of the batch" in done.stdout
    assert done.stderr == "filterkit: check-plugin: 1 stage does not hold\n"
    done = filterkit("--plugin", "my.py", "check-plugin", "needs", "--what", "it", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check-plugin",), "check-plugin takes the name of a plugin"),
        (("check-plugin", "shpae"), "no stage 'shpae'; did you mean 'shape'?"),
        (("check-plugin", "metrics", "x"), "check-plugin: 'x' after a plugin"),
        (("new-plugin",), "new-plugin: missing argument 'NAME'; see: filterkit new-plugin --help"),
        (("new-plugin", "My_stage"), "lower-case letters, digits and single hyphens"),
        (("new-plugin", "l2"), "there is a stage 'l2' already"),
    ],
)
def test_wrong_usage(arguments, message, tmp_path):
    done = filterkit(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr and done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["stages", "plugins", "new-plugin", "check-plugin"])
def test_subcommands_have_help(name):
    done = filterkit(name, "--help")
    assert done.returncode == 0 and done.stdout.startswith("Usage: filterkit ")


def test_a_folder_that_is_there_is_left_alone(tmp_path):
    (tmp_path / "filterkit-halve").mkdir()
    done = filterkit("new-plugin", "halve", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "filterkit: filterkit-halve: File exists\n")
    assert not list((tmp_path / "filterkit-halve").iterdir())


def test_a_project_that_cannot_be_completed_leaves_nothing(tmp_path, monkeypatch):
    from filterkit.cli import main, new_plugin

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(new_plugin, "_FILES", {"one.txt": "", "no/such/folder.txt": ""})
    with pytest.raises(FilterkitError, match="filterkit-halve: No such file or directory"):
        main._run(["new-plugin", "halve"])
    assert not list(tmp_path.iterdir())


@pytest.fixture
def python(tmp_path):
    """The Python of an environment of its own, which sees the packages of this one."""
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    site = next((tmp_path / "env" / "lib").glob("python*")) / "site-packages"
    here = [path for path in sys.path if path.endswith("site-packages")]
    # Not the paths alone: an editable install is found through a .pth file of its own.
    (site / "here.pth").write_text("\n".join(f"import site; site.addsitedir({path!r})" for path in here))
    return str(tmp_path / "env" / "bin" / "python")


@pytest.mark.posix
@pytest.mark.parametrize(
    ("name", "words"),
    [("by-two", ["by-two", "--by", "10", "l2"]), ("relief", ["relief", "select", "--top", "2", "l2"])],
)
def test_a_package_is_built_installed_and_passes_its_own_tests(name, words, python, tmp_path):
    """The one that new-plugin writes, and the example."""
    project = tmp_path / f"filterkit-{name}"
    if name == "relief":
        shutil.copytree(ROOT / "examples" / project.name, project, ignore=shutil.ignore_patterns("*.egg-info", "build"))
    else:
        done = filterkit("new-plugin", name, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
    assert '"arff-filterkit>=0.1.0"' in (project / "pyproject.toml").read_text()
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", str(project)]
    subprocess.run(pip, check=True, capture_output=True)
    run = {"cwd": tmp_path, "capture_output": True, "text": True, "check": False}
    listed = subprocess.run([python, "-m", "filterkit", "plugins"], **run).stdout
    assert f"filterkit-{name} 0.1.0" in listed, listed
    out = subprocess.run([python, "-m", "filterkit", IRIS, *words], **run)
    assert (out.returncode, out.stderr) == (0, ""), listed
    alone = subprocess.run(
        [python, "-m", "filterkit", IRIS, name], env=os.environ | {"FILTERKIT_NO_PLUGINS": "1"}, **run
    )
    assert alone.returncode == 2 and f"no stage '{name}'" in alone.stderr
    tests = subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(project)], **run)
    assert tests.returncode == 0, tests.stdout
    for asked in ([name], [project.name], words[:3] if name == "by-two" else [name, "--rows", "5"]):
        checked = subprocess.run([python, "-m", "filterkit", "check-plugin", *asked], **run)
        assert checked.returncode == 0 and "all well" in checked.stdout, checked.stdout


def test_nothing_is_loaded_from_the_current_folder(tmp_path):
    for name in ("filterkit_my.py", "plugins.py", "numpy.py", "click.py"):
        (tmp_path / name).write_text("raise SystemExit('loaded from the current folder')")
    script = Path(sys.executable).with_name("filterkit")
    done = subprocess.run([script, "stages"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
