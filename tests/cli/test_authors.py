"""The commands ``new-plugin`` and ``check-plugin``: from an empty folder to an installed stage that conforms."""

import os
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
from command import run

from filterkit import FilterkitError

ROOT = Path(__file__).parents[2]
IRIS = str(ROOT / "arff_samples" / "iris.arff")


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


def test_check_plugin_accepts_a_stage_that_conforms():
    done = run("check-plugin", "shape", "--neighbors", "2")
    assert (done.returncode, done.stderr) == (0, "")
    *refusals, last = done.stdout.splitlines()
    assert last.startswith("shape --neighbors 2: all well in ")
    assert any(
        line.startswith("shape --neighbors 2: refuses no-class: there is no class attribute") for line in refusals
    )


EVERYTHING = '''
import click
import filterkit
import numpy as np


class Halve(filterkit.RowStage):
    """Divide by two."""

    name = "halve"

    def transform(self, batch):
        return batch.replace(X=np.where(batch.schema.nominal, batch.X, batch.X / 2) if not batch.sparse else batch.X)


class Fills(filterkit.RowStage):
    """Put zeros in the place of missing values."""

    name = "fills"

    def transform(self, batch):
        return batch if batch.sparse else batch.replace(X=np.nan_to_num(batch.X))


class Refuses(filterkit.RowStage):
    """Refuse everything."""

    name = "refuses"

    def transform(self, batch):
        raise filterkit.StageError(self.name, "not today")


class Mine(filterkit.plugin.LocalEngine):
    name = "mine"


class Hasty(filterkit.plugin.LocalEngine):
    name = "hasty"

    def map(self, function, items):
        yield from [function(item) for item in items]


def precision(tp, fp, pos, neg):
    """Share of the positive class."""
    return tp / (tp + fp)


def share(tp, fp, pos, neg):
    """Share of the positive rows."""
    return tp / pos


def refuse(batches, out):
    raise filterkit.FilterkitError("not today")


def write(batches, out):
    for batch in batches:
        out.write(f"{batch.schema} {len(batch)}".encode())


def read(path, class_, positive):
    with open(path) as file:
        values = [[float(line)] for line in file]
    schema = filterkit.Schema("lines", [filterkit.Attribute("a")])
    yield filterkit.Batch(schema, np.array(values, float).reshape(-1, 1))


@click.command("good")
@click.argument("text")
def good(text):
    """Do good."""
    if text != "silence":
        click.echo("good")


@click.command("silent")
def silent():
    pass


@filterkit.hookimpl
def filterkit_stages():
    return [STAGES]


@filterkit.hookimpl
def filterkit_metrics():
    return [filterkit.Metric(each.__name__, each) for each in [METRICS]]


@filterkit.hookimpl
def filterkit_formats():
    known = {"written": (None, write), "read": (read, None), "refusing": (read, refuse)}
    return [filterkit.Format(name, ("." + name,), *known[name]) for name in [FORMATS]]


@filterkit.hookimpl
def filterkit_engines():
    return [ENGINES]


@filterkit.hookimpl
def filterkit_subcommands():
    return [COMMANDS]
'''


def plugin(folder, **offers):
    """Write a plugin file that offers the named parts of EVERYTHING."""
    text = EVERYTHING
    for kind in ("STAGES", "METRICS", "FORMATS", "ENGINES", "COMMANDS"):
        text = text.replace(kind, offers.get(kind.lower(), ""))
    (folder / "my.py").write_text(text)
    return "my.py"


def test_check_plugin_lists_what_it_checked_of_each_kind(tmp_path):
    offers = {
        "stages": "Halve",
        "metrics": "share",
        "formats": "'written', 'read'",
        "engines": "Mine",
        "commands": "good",
    }
    done = run("check-plugin", plugin(tmp_path, **offers), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.startswith("share: refuses ")] == [
        "halve: all well in 17 checks on 15 samples, and 5 of its declaration",
        "share: all well in 17 checks on 15 samples, 3 of which it refuses, and 5 of its declaration",
        "format written (.written): all well in 8 checks on 15 samples; it is only written",
        "format read (.read): no rows were read; name such a file after the plugin",
        "format read (.read): all well in its declaration",
        "engine mine: all well in 7 checks",
        "subcommand good: all well in 4 checks; to run it, too: filterkit --plugin my.py check-plugin good ARGUMENTS",
    ]
    refused = [line.split(":")[1] for line in lines if line.startswith("share: refuses ")]
    assert refused == [" refuses multi-label", " refuses no-class", " refuses no-features"]


def test_check_plugin_runs_a_subcommand_with_arguments(tmp_path):
    name = plugin(tmp_path, commands="good")
    done = run("--plugin", name, "check-plugin", "good", "what", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "subcommand good: all well in 4 checks and a run\n"), done.stderr
    done = run("--plugin", name, "check-plugin", "good", "silence", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("subcommand good: check_command_runs: good silence: prints nothing, and changes no")


def test_check_plugin_repeats_no_warnings_of_a_format():
    done = run("check-plugin", "csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        done.stdout == "format csv (.csv): all well in 8 checks on 15 samples; it loses kinds and labels and weights\n"
    )


def test_check_plugin_reports_the_faults_of_each_kind(tmp_path):
    offers = {"stages": "Fills, Refuses", "metrics": "precision", "formats": "'refusing'", "engines": "Hasty"}
    done = run("check-plugin", plugin(tmp_path, **offers, commands="silent"), cwd=tmp_path)
    assert done.returncode == 1
    for line in (
        "fills: check_missing_values_stay: fills turns the missing values of 'a' into 0: keep NaN, or declare "
        "fills_missing = True if that is what the stage is for",
        "refuses: no values were checked, as it refuses every sample with columns (not today)",
        "precision: check_scores_are_numbers: score of the metric is nan for tp=0, fp=0, pos=1, neg=1: "
        "return a finite number for all counts; take care of 0 / 0",
        "format refusing (.refusing): nothing was checked, as it refuses every sample",
        "engine hasty: check_few_items_are_taken_ahead: with 1 jobs 5000 items are taken before the second result is "
        "asked for; take 2 ahead, because items are large",
        "engine hasty: 1 finding in 7 checks; checks that build on what failed were left out",
        "subcommand silent: check_command_has_help: silent does not say what it does: give the function a docstring",
    ):
        assert line in done.stdout
    assert done.stderr == (
        "filterkit: check-plugin: 3 stages and 1 format and 1 engine and 1 subcommand do not conform; "
        "see the lines above\n"
    )


def test_check_plugin_checks_a_read_only_format_with_a_given_file(tmp_path):
    name = plugin(tmp_path, formats="'read'")
    (tmp_path / "a.read").write_text("1\n2.5\n")
    done = run("check-plugin", name, "a.read", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "format read (.read): all well in its declaration and 1 file\n"
    (tmp_path / "a.read").write_text("1\nx\n")
    done = run("check-plugin", name, "a.read", cwd=tmp_path)
    assert done.returncode == 1 and "it cannot be read as read (ValueError: could not convert" in done.stdout
    done = run("check-plugin", name, "a.arff", cwd=tmp_path)
    assert done.returncode == 2 and "'a.arff' after a plugin; only a stage takes options" in done.stderr


def test_check_plugin_fails_if_nothing_was_checked(tmp_path):
    done = run("check-plugin", plugin(tmp_path), cwd=tmp_path)
    hooks = ("stages", "metrics", "formats", "engines", "subcommands")
    given = [
        f"plugin my (my.py): filterkit_{hook} gives nothing; return a list of what the plugin offers" for hook in hooks
    ]
    assert done.returncode == 1 and sorted(done.stdout.splitlines()) == sorted(given)
    assert done.stderr == "filterkit: check-plugin: nothing was checked of 'my.py'\n"
    (tmp_path / "my.py").write_text(BROKEN.replace("[Centre, Needs]", "[Needs]"))
    done = run("check-plugin", "my.py", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout.startswith("needs: left out, as it needs options (")
    assert done.stderr == "filterkit: check-plugin: nothing was checked of 'my.py'\n"
    (tmp_path / "my.py").write_text("raise KeyError('x')")
    done = run("check-plugin", "my.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "filterkit: check-plugin my.py: KeyError: 'x'\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check-plugin",), "check-plugin takes the name of a plugin"),
        (
            ("check-plugin", "shpae"),
            "no plugin or package 'shpae', and no plugin offers one; did you mean 'shape'?\n",
        ),
        (("check-plugin", "metrics", "x"), "check-plugin: 'x' after a plugin"),
        (("new-plugin",), "new-plugin: missing argument 'NAME'; see: filterkit new-plugin --help"),
        (("new-plugin", "My_stage"), "lower-case letters, digits and single hyphens"),
        (("new-plugin", "l2"), "another stage has the name 'l2'; take another"),
        (("new-plugin", "ig", "--kind", "metric"), "another metric has the name 'ig'; take another"),
        (("new-plugin", "csv", "--kind", "format"), "another file format has the name 'csv'"),
        (("new-plugin", "local", "--kind", "engine"), "another engine has the name 'local'"),
        (("new-plugin", "info", "--kind", "subcommand"), "another subcommand has the name 'info'"),
        (("new-plugin", "lambda", "--kind", "metric"), "'lambda' is a word of Python; take another name"),
        (("new-plugin", "numpy", "--file"), "numpy.py would hide the Python module 'numpy'; take another name"),
        (("new-plugin", "random", "--file", "--kind", "metric"), "would hide the Python module 'random'"),
        (("new-plugin", "x", "--kind", "metrc"), "'metrc' is not one of 'row', 'column', 'training', 'stage',"),
    ],
)
def test_wrong_usage_is_reported_on_one_line(arguments, message, tmp_path):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr and done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_new_plugin_leaves_an_existing_folder_alone(tmp_path):
    (tmp_path / "filterkit-halve").mkdir()
    done = run("new-plugin", "halve", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "filterkit: filterkit-halve: File exists\n")
    assert not list((tmp_path / "filterkit-halve").iterdir())


def test_a_project_that_cannot_be_completed_leaves_nothing(tmp_path, monkeypatch):
    from filterkit.cli import main
    from filterkit.cli.subcommands import new_plugin

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(new_plugin, "_files_of_project", lambda *_: [("one.txt", ""), ("a" * 300, "")])
    with pytest.raises(FilterkitError, match="filterkit-halve: File name too long"):
        main._run(["new-plugin", "halve"])
    assert not list(tmp_path.iterdir())


# What one can do with each kind of plugin.
WORDS = {
    "row": [IRIS, "my-row", "--by", "10", "l2"],
    "column": [IRIS, "my-column", "--to", "10", "l2"],
    "training": [IRIS, "my-training", "--every", "10", "l2"],
    "stage": [IRIS, "my-stage", "--to", "10", "l2"],
    "metric": [IRIS, "select", "--by", "my-metric", "--top", "2"],
    "format": ["--to", "my-format", "-o", "out.my-format", IRIS, "l2"],
    "text-format": ["--to", "my-text-format:separator=bar", "-o", "out.my-text-format", IRIS, "l2"],
    "subcommand": ["my-subcommand", IRIS],
    "engine": ["--engine", "my-engine:times", IRIS, "l2"],
    "learner": ["evaluate", IRIS, "--chain", "standardize my-learner", "--folds", "2"],
}


@pytest.mark.parametrize("kind", WORDS)
def test_new_plugin_writes_a_file_of_each_kind_that_works(kind, tmp_path):
    """That each conforms is what the tests of a package of all kinds say."""
    done = run("new-plugin", f"my-{kind}", "--kind", kind, "--file", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    file = f"my_{kind}.py".replace("-", "_")
    assert [path.name for path in tmp_path.iterdir()] == [file]
    assert done.stdout.startswith(f"{file}: change it, then: filterkit check-plugin {file}\n")
    used = run("--plugin", file, *WORDS[kind], cwd=tmp_path)
    assert used.returncode == 0 and "error" not in used.stderr, used.stderr


def test_a_file_of_new_plugin_conforms_and_is_not_written_again(tmp_path):
    words = ("new-plugin", "my-format", "--kind", "text-format", "--file")
    assert run(*words, cwd=tmp_path).returncode == 0
    checked = run("check-plugin", "my_format.py", cwd=tmp_path)
    assert checked.returncode == 0 and ": all well in " in checked.stdout and "note:" not in checked.stdout
    again = run(*words, cwd=tmp_path)
    assert (again.returncode, again.stderr) == (1, "filterkit: my_format.py: File exists\n")


def test_the_help_of_new_plugin_lists_every_kind():
    from filterkit.cli.subcommands.new_plugin import KINDS

    assert set(WORDS) == set(KINDS)
    said = run("new-plugin", "--help").stdout
    assert all(f"  {kind:<12} {texts.about}\n" in said for kind, texts in KINDS.items())


@pytest.fixture
def python(tmp_path):
    """The Python of a new environment that can import the packages of this one."""
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    site = next((tmp_path / "env" / "lib").glob("python*")) / "site-packages"
    here = [path for path in sys.path if path.endswith("site-packages")]
    # Adding the folders to the path is not enough: an editable install needs the .pth file in them.
    (site / "here.pth").write_text("\n".join(f"import site; site.addsitedir({path!r})" for path in here))
    return str(tmp_path / "env" / "bin" / "python")


@pytest.mark.posix
def test_a_package_is_built_installed_and_passes_its_own_tests(python, tmp_path):
    """By pip, with the setuptools that it asks for. This is the only package that the tests build."""
    assert run("new-plugin", "by-two", cwd=tmp_path).returncode == 0
    project = tmp_path / "filterkit-by-two"
    assert '"arff-filterkit>=0.1.0"' in (project / "pyproject.toml").read_text()
    (here,) = (tmp_path / "env" / "lib").glob("python*/site-packages/here.pth")
    aside = here.rename(tmp_path / "here.pth")
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "check": False}
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", str(project)]
    done = subprocess.run(pip, **options)
    assert done.returncode == 0, done.stderr
    aside.rename(here)
    listed = subprocess.run([python, "-m", "filterkit", "plugins"], **options).stdout
    assert "filterkit-by-two 0.1.0" in listed, listed
    out = subprocess.run([python, "-m", "filterkit", IRIS, "by-two", "--by", "10", "l2"], **options)
    assert (out.returncode, out.stderr) == (0, "")
    alone = subprocess.run(
        [python, "-m", "filterkit", IRIS, "by-two"], env=os.environ | {"FILTERKIT_NO_PLUGINS": "1"}, **options
    )
    assert alone.returncode == 2 and "no stage 'by-two'" in alone.stderr
    checked = subprocess.run([python, "-m", "filterkit", "check-plugin", project.name], **options)
    assert checked.returncode == 0 and "all well" in checked.stdout, checked.stdout


def install(project, environment):
    """Put the modules of a package where pip would, without the time that pip takes."""
    about = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    (site,) = (environment / "lib").glob("python*/site-packages")
    for module in project.glob("*.py"):
        shutil.copy(module, site)
    info = site / f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n")
    lines = []
    for group, points in about["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {module}" for name, module in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))


@pytest.mark.posix
@pytest.mark.separate
def test_packages_are_installed_and_pass_their_own_tests(python, tmp_path):
    """One that ``new-plugin`` writes, of all kinds, and the one in ``examples/``."""
    done = run("new-plugin", "my", *(word for kind in WORDS for word in ("--kind", kind)), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    shutil.copytree(
        ROOT / "examples" / "filterkit-relief",
        tmp_path / "filterkit-relief",
        ignore=shutil.ignore_patterns("*.egg-info", "build"),
    )
    names = ("filterkit-my", "filterkit-relief")
    for name in names:
        install(tmp_path / name, tmp_path / "env")
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "check": False}
    for words in (WORDS["text-format"], WORDS["engine"], [IRIS, "relief", "select", "--top", "2", "l2"]):
        done = subprocess.run([python, "-m", "filterkit", *words], **options)
        assert done.returncode == 0, done.stderr
    tests = subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *names], **options)
    assert tests.returncode == 0, tests.stdout
    listed = subprocess.run([python, "-m", "filterkit", "plugins"], **options).stdout
    assert listed.count("filterkit-my 0.1.0") == len(WORDS) and "broken" not in listed


def test_nothing_is_loaded_from_the_current_folder(tmp_path):
    for name in ("filterkit_my.py", "plugins.py", "numpy.py", "click.py"):
        (tmp_path / name).write_text("raise SystemExit('loaded from the current folder')")
    script = Path(sys.executable).with_name("filterkit")
    done = subprocess.run([script, "stages"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
