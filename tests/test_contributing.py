"""The contributing guide, the version policy and the release files agree with the code."""

import re
import textwrap
import tomllib
from pathlib import Path

from command import run, run_python, stdout_of

import filterkit

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def examples(language):
    return [textwrap.dedent(text) for text in re.findall(rf"^ *```{language}\n(.*?)^ *```", GUIDE, re.M | re.S)]


def test_the_stage_of_the_guide_conforms_and_passes_its_test(tmp_path):
    stage, its_test = examples("python")
    (tmp_path / "root.py").write_text(stage)
    checked = run("check-plugin", tmp_path / "root.py")
    assert checked.returncode == 0 and checked.stdout.startswith("root: all well"), checked.stdout + checked.stderr
    code = "import filterkit, sys; filterkit.load_plugin(sys.argv[1])\n"
    stdout_of(run_python(f"{code}{its_test}\ntest_by_hand()", tmp_path / "root.py", cwd=ROOT))


def test_the_entry_point_of_the_guide_is_written_as_the_others_are():
    (line,) = examples("toml")
    assert line.replace("root", "shape") in (ROOT / "pyproject.toml").read_text()


def test_folders_and_modules_that_the_guide_names_exist():
    table = GUIDE.partition("| folder |")[2].partition("\n\n")[0]
    for row in table.splitlines()[2:]:
        first, about = row.strip("| ").split(" | ")
        named = re.findall(r"`([\w./]+)`", first)
        assert named
        for path in named:
            assert (ROOT / path).exists(), path
        for module in re.findall(r"`(\w+\.py)`", about):
            assert (ROOT / named[0] / module).exists(), module
    for path in re.findall(r"`?((?:tests|docs|plugins)/[\w/]+\.(?:py|md))", GUIDE):
        assert (ROOT / path).exists() or path in ("plugins/root.py", "tests/plugins/test_root.py"), path


def test_every_folder_is_in_the_guide():
    for path in [*(ROOT / "filterkit").iterdir(), *ROOT.iterdir()]:
        if path.is_dir() and path.name[0] not in "._" and any(path.rglob("*.py")):
            is_ours = "egg-info" not in path.name and path.name not in ("build", "dist")
            assert f"| `{path.relative_to(ROOT)}/` |" in GUIDE or not is_ours, path


def test_all_files_name_the_same_version():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert filterkit.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {version} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_workflow_tests_the_supported_pythons():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    promised = re.findall(r"Python :: (3\.\d+)$", "\n".join(project["classifiers"]), re.M)
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    (tried,) = re.findall(r"^ +python: \[(.*)\]$", workflow, re.M)
    assert re.findall(r"[\d.]+", tried) == promised
    assert project["requires-python"] == f">={promised[0]}"
