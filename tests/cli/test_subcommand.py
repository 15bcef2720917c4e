"""Options of filterkit before the name of a subcommand: each reaches the subcommand or is refused."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from command import run

from filterkit.cli import main
from filterkit.cli.main import _main, command
from filterkit.plugin.registry import OWN, registry

SAMPLES = Path(__file__).parents[2] / "arff_samples"
IRIS, WINE = (str(SAMPLES / f"{name}.arff") for name in ("iris", "wine"))

PLUGIN = '''
import click
import filterkit


@click.command("describe")
@click.argument("path")
@click.option("--class", "target", help="The class.")
@click.option("-m", "--memory", type=str)
@click.option("--plugin", "files", multiple=True)
@click.option("--rejects", multiple=True)
@click.option("--dense/--sparse", "dense", default=None)
@click.option("-o", "odd", is_flag=True)
def describe(**given):
    """Say what was given.

    More of it.
    """
    click.echo(" ".join(f"{name}={value}" for name, value in sorted(given.items())))


@click.command("ends")
@click.argument("how")
@click.pass_context
def ends(context, how):
    """End in some way."""
    if how == "status":
        context.exit(7)
    if how == "told":
        raise click.ClickException("This went wrong.")
    if how == "usage":
        raise click.UsageError("This is no way.")
    raise click.Abort


@filterkit.hookimpl
def filterkit_subcommands():
    return [describe, ends]


class Twin(filterkit.plugin.LocalEngine):
    name = "twin"


@filterkit.hookimpl
def filterkit_engines():
    return [Twin]
'''


@pytest.fixture
def plugin(tmp_path):
    (tmp_path / "my.py").write_text(PLUGIN)
    return ["--plugin", str(tmp_path / "my.py")]


def example(option):
    """Examples of an option of filterkit as words; both forms of a flag such as --sparse/--dense."""
    if option.is_flag:
        return [[option.opts[-1]], *([[option.secondary_opts[-1]]] if option.secondary_opts else [])]
    value = (
        "1" if option.name in ("labels", "jobs", "precision", "max_rejects", "seed", "memory", "block_size") else "x"
    )
    value = option.type.choices[0] if isinstance(option.type, click.Choice) else value
    return [[option.opts[-1], *[value] * option.nargs]]


OPTIONS = [option for option in command.params if isinstance(option, click.Option) and option.expose_value]
SUBCOMMANDS = {name: registry().subcommands[name] for name in OWN["subcommand"]}
NAMES = [
    "info",
    "stages",
    "formats",
    "plugins",
    "scores",
    "explore",
    "evaluate",
    "report",
    "new-plugin",
    "check-plugin",
]


def test_the_help_of_filterkit_says_of_its_own_subcommands_what_they_say():
    said = {command.name: command.get_short_help_str(limit=80) for command in SUBCOMMANDS.values()}
    assert [*main.SUBCOMMANDS.items()] == [*said.items()] and [*said] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_an_option_that_a_subcommand_lacks_is_refused(name, capsys):
    """All options of filterkit that the subcommand lacks are tried."""
    own = {flag for option in SUBCOMMANDS[name].params for flag in option.opts}
    tried = 0
    for option in OPTIONS:
        for words in example(option):
            if option.opts[-1] not in own and option.name not in ("plugins", "debug", "defaults", "no_defaults"):
                assert _main([*words, name, "--help"]) == 2
                assert capsys.readouterr().err == f"filterkit: {words[0]} is not an option of '{name}'\n"
                tried += 1
    assert tried > 5


@pytest.mark.parametrize(
    ("name", "behind"), [("scores", [WINE, "ig"]), ("evaluate", [WINE, "--chain", "neighbors", "--folds", "2"])]
)
def test_the_options_that_a_subcommand_has_reach_it(name, behind, tmp_path):
    plain = run("--class", "1", name, *behind).stdout
    assert "@" not in plain
    for words, message in (
        (["--class", "nobody"], "--class: no attribute 'nobody'"),
        (["--labels", "99"], "--labels 99, but there are only 14 attributes"),
        (["--class", "1", "--positive", "nobody"], "has no value 'nobody'"),
        (["--encoding", "klingon"], "--encoding: no encoding 'klingon'"),
        (["--engine", "nobody"], "--engine: no engine 'nobody'"),
        (["--plugin", "nobody.py"], "--plugin nobody.py: no such Python file"),
    ):
        done = run(*words, name, *behind)
        assert done.returncode in (1, 2) and done.stdout == ""
        assert message in done.stderr and done.stderr.count("\n") == 1
    same = ["--class", "1", "--jobs", "1", "--engine", "local", "--seed", "0", "--no-progress"]
    assert run(*same, name, *behind).stdout == plain
    done = run("--class", "1", "-o", str(tmp_path / "o.csv"), name, *behind)
    assert done.returncode == 0 and (tmp_path / "o.csv").stat().st_size


@pytest.mark.parametrize("option", ["output", "jobs"])
def test_an_option_may_not_be_given_both_before_and_after_the_subcommand(option, tmp_path):
    words = [f"--{option}", "1" if option == "jobs" else "o.csv"]
    done = run(*words, "evaluate", *words, IRIS, "--chain", "svm", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"filterkit: --{option} is given twice, before and after 'evaluate'\n")


@pytest.mark.parametrize("engine", ["local", "processes", "twin"])
def test_evaluate_and_scores_run_on_any_engine(engine, plugin):
    behind = ["evaluate", IRIS, "--chain", "neighbors", "--folds", "2", "-o", "-"]
    found, expected = (run(*plugin, "--jobs", "2", *on, *behind).stdout for on in (["--engine", engine], []))
    found, expected = (re.sub(r"^((?:[^,]*,){7})[^,]*", r"\1", text, flags=re.M) for text in (found, expected))
    assert found == expected  # but for the seconds
    assert run(*plugin, "--engine", engine, "scores", IRIS, "ig").stdout == run("scores", IRIS, "ig").stdout


# Subcommands of plugins


def test_the_subcommand_of_a_plugin_gets_the_options_that_it_has(plugin):
    nothing = "dense=None files=() memory=None odd=False path=x rejects=() target=None"
    assert run(*plugin, "describe", "x").stdout == nothing.replace("()", f"('{plugin[1]}',)", 1) + "\n"
    before = ["--class", "first", "--memory", "1kB", "--rejects", "bad", "--dense"]
    done = run(*plugin, *before, "describe", "x")
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        done.stdout == f"dense=True files=('{plugin[1]}',) memory=1024 odd=False path=x rejects=('bad',) target=first\n"
    )
    assert run(*plugin, "-c", "2", "--sparse", "describe", "-o", "x").stdout == (
        f"dense=False files=('{plugin[1]}',) memory=None odd=True path=x rejects=() target=2\n"
    )


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("--jobs 2 describe x", 2, "--jobs is not an option of 'describe'"),
        ("-o y describe x", 2, "--output is not an option of 'describe'"),
        ("--class 1 ends status", 2, "--class is not an option of 'ends'"),
        ("--class 1 describe x --class 2", 2, "--class is given twice, before and after 'describe'"),
        ("describe x --clas 2", 2, "describe: no such option '--clas'; did you mean '--class'?"),
        ("describe", 2, "describe: missing argument 'PATH'; see: filterkit describe --help"),
        ("descibe x", 2, "no file 'descibe'; did you mean 'describe'?"),
        ("ends told", 1, "ends: this went wrong"),
        ("ends usage", 2, "ends: this is no way; see: filterkit ends --help"),
        ("ends otherwise", 1, "aborted"),
    ],
)
def test_an_error_of_the_subcommand_of_a_plugin_is_one_line(arguments, status, message, plugin):
    done = run(*plugin, *arguments.split())
    assert (done.returncode, done.stdout, done.stderr) == (status, "", f"filterkit: {message}\n")


def test_the_subcommand_of_a_plugin_may_choose_its_exit_status(plugin):
    assert run(*plugin, "ends", "status").returncode == 7


def test_the_help_lists_the_subcommands_of_plugins(plugin):
    text = run(*plugin, "--help").stdout
    assert "Subcommands of plugins:\n  describe  Say what was given.\n  ends      End in some way.\n" in text
    own = text.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
    assert [line.split()[0] for line in own.splitlines()] == NAMES  # each with its help, on one line
    assert text.index("\nSubcommands:") < text.index("\nSubcommands of plugins:")
    assert "Subcommands of plugins" not in run("--help").stdout
    assert "Say what was given.\n\n  More of it." in run(*plugin, "describe", "--help").stdout


@pytest.mark.parametrize("name", NAMES)
def test_every_subcommand_has_a_help(name):
    for flag in ("-h", "--help"):
        done = run(name, flag)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("Usage: filterkit ") and name in done.stdout


def test_no_other_subcommand_is_imported_than_is_run():
    code = "import sys; from filterkit.cli.main import _main; _main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    for arguments in ([IRIS, "l2"], ["stages"], ["formats"], ["plugins"], ["--help"], []):
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
        modules = done.stderr.splitlines()[-1].split()
        assert "filterkit.cli.subcommands.evaluate" not in modules
        assert arguments == [IRIS, "l2"] or not {"numpy._core", "pyarrow.lib"} & {*modules}, arguments


def test_a_plugin_imports_as_always_where_filterkit_postpones(tmp_path):
    """It may look for a package, and import a part of it first."""
    (tmp_path / "p.py").write_text(
        "from importlib.util import find_spec\nassert find_spec('pyarrow')\nimport pyarrow.ipc, pyarrow\n"
        "assert pyarrow.RecordBatchStreamReader is pyarrow.ipc.RecordBatchStreamReader\n"
    )
    done = run("--plugin", tmp_path / "p.py", "formats")
    assert (done.returncode, done.stderr) == (0, "")
