"""The commands ``new-plugin`` and ``check-plugin``: from an empty folder to an installed stage that conforms."""

import os
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
from command import output, refusal, run, run_anew

ROOT = Path(__file__).parents[2]

EVERYTHING = '''
import click
import filterkit
import numpy as np


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


def write_plugin(**offers):
    """Write a plugin file that offers the named parts of EVERYTHING."""
    text = EVERYTHING
    for kind in ("STAGES", "METRICS", "FORMATS", "ENGINES", "COMMANDS"):
        text = text.replace(kind, offers.get(kind.lower(), ""))
    Path("my.py").write_text(text)


def test_check_plugin_lists_what_it_checked_of_each_kind():
    write_plugin(metrics="share", formats="'written', 'read'", engines="Mine", commands="good")
    lines = output("check-plugin my.py").splitlines()
    assert [line for line in lines if not line.startswith("share: refuses ")] == [
        "share: all well in 18 checks on 15 samples, 3 of which it refuses, and 5 of its declaration",
        "format written (.written): all well in 8 checks on 15 samples; it is only written",
        "format read (.read): no rows were read; name such a file after the plugin",
        "format read (.read): all well in its declaration",
        "engine mine: all well in 7 checks",
        "subcommand good: all well in 4 checks; to run it, too: filterkit --plugin my.py check-plugin good ARGUMENTS",
    ]
    refused = [line for line in lines if line.startswith("share: refuses ")]
    for line, sample in zip(refused, ("multi-label", "no-class: there is no class", "no-features"), strict=True):
        assert line.startswith(f"share: refuses {sample}")


def test_check_plugin_takes_options_of_a_stage():
    told = "max --norm 2.0: all well in 18 checks on 15 samples, and 5 of its declaration\n"
    assert output("check-plugin max --norm 2") == told


def test_check_plugin_runs_a_subcommand_with_arguments():
    write_plugin(commands="good")
    assert output("--plugin my.py check-plugin good what") == "subcommand good: all well in 4 checks and a run\n"
    done = run("--plugin my.py check-plugin good silence")
    assert done.returncode == 1
    assert done.stdout.startswith("subcommand good: check_command_runs: good silence: prints nothing, and changes no")


def test_check_plugin_repeats_no_warnings_of_a_format():
    told = "format csv (.csv): all well in 8 checks on 15 samples; it loses kinds and labels and weights\n"
    assert output("check-plugin csv") == told


def test_check_plugin_reports_the_faults_of_each_kind():
    offers = {"stages": "Fills, Refuses", "metrics": "precision", "formats": "'refusing'", "engines": "Hasty"}
    write_plugin(**offers, commands="silent")
    done = run("check-plugin my.py")
    assert done.returncode == 1
    for line in (
        "fills: check_missing_values_stay: fills turns the missing values of 'a' into 0: keep NaN, or declare "
        "fills_missing = True if that is what the stage is for",
        "refuses: no values were checked, as it refuses every sample with columns (not today)",
        "precision: check_metric_of_stage: score of the metric is nan for tp=0, fp=0, pos=1, neg=1: "
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


def test_check_plugin_checks_a_read_only_format_with_a_given_file():
    write_plugin(formats="'read'")
    Path("a.read").write_text("1\n2.5\n")
    assert output("check-plugin my.py a.read") == "format read (.read): all well in its declaration and 1 file\n"
    Path("a.read").write_text("1\nx\n")
    done = run("check-plugin my.py a.read")
    assert done.returncode == 1 and "it cannot be read as read (ValueError: could not convert" in done.stdout
    assert (
        "'a.arff' is not a file of a format of this plugin; leave it out, or name a stage if it is an option"
        in refusal("check-plugin my.py a.arff")
    )


def test_check_plugin_fails_if_nothing_was_checked():
    write_plugin()
    nothing = run("check-plugin my.py")
    assert sorted(nothing.stdout.splitlines()) == [
        f"plugin my (my.py): filterkit_{hook} returns nothing; return a list of what the plugin offers"
        for hook in ("engines", "formats", "metrics", "stages", "subcommands")
    ]
    write_plugin(stages="Needs")
    done = run("check-plugin my.py")
    assert "needs: left out, as it needs options (" in done.stdout
    assert done.returncode == nothing.returncode == 1
    message = "offers nothing that can be checked without options; name a stage and its options\n"
    message = f"filterkit: check-plugin: 'my.py' {message}"
    assert done.stderr == nothing.stderr == message
    Path("my.py").write_text("raise KeyError('x')")
    assert refusal("check-plugin my.py", status=1) == "check-plugin my.py: KeyError: 'x'"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("check-plugin", "check-plugin needs the name of a plugin"),
        ("check-plugin shpae", "no plugin or package 'shpae', and no plugin offers this name; did you mean 'shape'?"),
        ("check-plugin metrics x", "check-plugin: 'x' is not a file of a format of this plugin"),
        ("new-plugin", "new-plugin: missing argument 'NAME'; see: filterkit new-plugin --help"),
        ("new-plugin My_stage", "lower-case letters, digits and single hyphens"),
        ("new-plugin l2", "another stage is called 'l2'; choose another"),
        ("new-plugin ig --kind metric", "another metric is called 'ig'; choose another"),
        ("new-plugin csv --kind format", "another file format is called 'csv'"),
        ("new-plugin local --kind engine", "another engine is called 'local'"),
        ("new-plugin info --kind subcommand", "another subcommand is called 'info'"),
        ("new-plugin lambda --kind metric", "'lambda' is a keyword of Python; choose another name"),
        ("new-plugin numpy --file", "numpy.py would hide the Python module 'numpy'; choose another name"),
        ("new-plugin x --kind metrc", "'metrc' is not one of 'row', 'column', 'training', 'stage',"),
    ],
)
def test_wrong_usage_is_reported_on_one_line(line, message):
    assert message in refusal(line) and not os.listdir()


def test_new_plugin_leaves_an_existing_folder_or_file_alone():
    for words, name in (("halve", "filterkit-halve"), ("halve --file", "halve.py")):
        Path(name).mkdir()
        assert refusal(f"new-plugin {words}", status=1) == f"{name} exists already; choose another name, or remove it"
        assert not os.listdir(name)


def test_a_project_that_cannot_be_completed_leaves_nothing(monkeypatch, capsys):
    from filterkit.cli import main
    from filterkit.cli.subcommands import new_plugin

    monkeypatch.setattr(new_plugin, "_make_project_files", lambda *_: [("one.txt", ""), ("a" * 300, "")])
    assert main.run_command_line(["new-plugin", "halve"]) == 1
    assert capsys.readouterr().err.startswith("filterkit: filterkit-halve: File name too long")
    assert not os.listdir()


# What one can do with each kind of plugin.
WORDS = {
    "row": "../iris.arff my-row --by 10 l2",
    "column": "../iris.arff my-column --to 10 l2",
    "training": "../iris.arff my-training --every 10 l2",
    "stage": "../iris.arff my-stage --to 10 l2",
    "metric": "../iris.arff select --by my-metric --top 2",
    "format": "--to my-format -o out.my-format ../iris.arff l2",
    "text-format": "--to my-text-format:separator=bar -o out.my-text-format ../iris.arff l2",
    "subcommand": "my-subcommand ../iris.arff",
    "engine": "--engine my-engine:times ../iris.arff l2",
    "learner": "evaluate ../iris.arff --chain 'standardize my-learner' --folds 2",
}


@pytest.mark.parametrize("kind", WORDS)
def test_new_plugin_writes_a_file_of_each_kind_that_works(kind):
    """That each conforms is what the tests of a package of all kinds say."""
    file = f"my_{kind}.py".replace("-", "_")
    told = output(f"new-plugin my-{kind} --kind {kind} --file")
    assert told.startswith(f"{file}: change it, then run: filterkit check-plugin {file}\n") and os.listdir() == [file]
    used = run(f"--plugin {file} {WORDS[kind]}")
    assert used.returncode == 0 and "error" not in used.stderr, used.stderr


def test_the_help_of_new_plugin_lists_every_kind():
    from filterkit.cli.subcommands.new_plugin import KINDS

    assert set(WORDS) == set(KINDS)
    said = output("new-plugin --help")
    assert all(f"  {kind:<12} {texts.about}\n" in said for kind, texts in KINDS.items())


@pytest.fixture
def python():
    """The Python of a new environment that can import the packages of this one."""
    venv.create("../env", with_pip=False, symlinks=True)
    site = next(Path("../env/lib").glob("python*")) / "site-packages"
    here = [path for path in sys.path if path.endswith("site-packages")]
    # Adding the folders to the path is not enough: an editable install needs the .pth file in them.
    (site / "here.pth").write_text("\n".join(f"import site; site.addsitedir({path!r})" for path in here))
    return os.path.abspath("../env/bin/python")


def succeed(*command):
    """Run a process to its end; what it prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.posix
def test_a_package_is_built_installed_and_conforms(python):
    """By pip, with the setuptools that it asks for. This is the only package that the tests build."""
    output("new-plugin by-two")
    assert '"arff-filterkit>=0.1.0"' in Path("filterkit-by-two/pyproject.toml").read_text()
    (here,) = Path("../env/lib").glob("python*/site-packages/here.pth")
    aside = here.rename("../here.pth")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps"]
    succeed(*pip, "./filterkit-by-two")
    aside.rename(here)
    assert "by-two: all well" in succeed(python, "-m", "filterkit", "check-plugin", "filterkit-by-two")


def install(project):
    """Put the modules of a package where pip would, without the time that pip takes."""
    about = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    (site,) = Path("../env/lib").glob("python*/site-packages")
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
def test_packages_are_installed_and_pass_their_own_tests(python):
    """One that ``new-plugin`` writes, of all kinds, and the one in ``examples/``."""
    output("new-plugin my" + "".join(f" --kind {kind}" for kind in WORDS))
    ignored = shutil.ignore_patterns("*.egg-info", "build")
    shutil.copytree(ROOT / "examples" / "filterkit-relief", "filterkit-relief", ignore=ignored)
    names = ("filterkit-my", "filterkit-relief")
    for name in names:
        install(Path(name))
    for words in (WORDS["text-format"], WORDS["engine"], "../iris.arff relief select --top 2 l2"):
        succeed(python, "-m", "filterkit", *words.split())
    succeed(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *names)
    listed = succeed(python, "-m", "filterkit", "plugins")
    assert listed.count("filterkit-my 0.1.0") == len(WORDS) and "broken" not in listed


def test_nothing_is_loaded_from_the_current_folder():
    for name in ("filterkit_my.py", "plugins.py", "numpy.py", "click.py"):
        Path(name).write_text("raise SystemExit('loaded from the current folder')")
    done = run_anew("stages")
    assert done.returncode == 0, done.stderr
