"""Options of filterkit before the name of a subcommand: each reaches the subcommand or is refused."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from command import output, refusal, run

from filterkit.cli import main
from filterkit.cli.main import run_chain_or_subcommand as command
from filterkit.cli.main import run_command_line
from filterkit.plugin.registry import OWN, get_registry

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

'''


@pytest.fixture(autouse=True)
def plugin(here):
    Path("my.py").write_text(PLUGIN)


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
SUBCOMMANDS = {name: get_registry().subcommands[name] for name in OWN["subcommand"]}
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
                assert run_command_line([*words, name, "--help"]) == 2
                assert capsys.readouterr().err == f"filterkit: {words[0]} is not an option of '{name}'; leave it out\n"
                tried += 1
    assert tried > 5


SCORES, EVALUATE = "scores ../wine.arff ig", "evaluate ../wine.arff --chain neighbors --folds 2"


@pytest.mark.parametrize("words", [SCORES, EVALUATE])
def test_the_options_that_a_subcommand_has_reach_it(words):
    plain = output(f"--class 1 {words}")
    same = "--class 1 --jobs 1 --engine local --seed 0 --no-progress"
    assert output(f"{same} {words}") == plain and "@" not in plain
    output(f"--class 1 -o o.csv {words}")
    assert Path("o.csv").stat().st_size
    for status, options, message in (
        (1, "--class nobody", "--class: no attribute 'nobody'"),
        (1, "--labels 99", "--labels 99, but there are only 14 attributes"),
        (1, "--class 1 --positive nobody", "has no value 'nobody'"),
        (2, "--encoding klingon", "--encoding: no encoding 'klingon'"),
        (2, "--engine nobody", "--engine: no engine 'nobody'"),
        (1, "--plugin nobody.py", "--plugin nobody.py: no such Python file; check the path"),
    ):
        assert message in refusal(f"{options} {words}", status=status)


@pytest.mark.parametrize("option", ["--output x", "--jobs 1"])
def test_an_option_may_not_be_given_both_before_and_after_the_subcommand(option):
    flag, value = option.split()
    message = f"{flag} is given twice: '{value}' and '{value}'; leave one out"
    assert refusal(f"{option} {EVALUATE} {option}") == message


# Subcommands of plugins


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("describe x", "dense=None files=('my.py',) memory=None odd=False path=x rejects=() target=None"),
        (
            "--class first --memory 1kB --rejects bad --dense describe x",
            "dense=True files=('my.py',) memory=1024 odd=False path=x rejects=('bad',) target=first",
        ),
        ("-c 2 --sparse describe -o x", "dense=False files=('my.py',) memory=None odd=True path=x rejects=() target=2"),
    ],
)
def test_the_subcommand_of_a_plugin_gets_the_options_that_it_has(line, said):
    assert output(f"--plugin my.py {line}") == said + "\n"


@pytest.mark.parametrize(
    ("status", "line", "message"),
    [
        (2, "-o y describe x", "--output is not an option of 'describe'; leave it out"),
        (2, "--class 1 ends status", "--class is not an option of 'ends'; leave it out"),
        (2, "describe x --clas 2", "describe: no such option '--clas'; did you mean '--class'?"),
        (2, "describe", "describe: missing argument 'PATH'; see: filterkit describe --help"),
        (2, "descibe x", "no file 'descibe'; did you mean 'describe'?"),
        (1, "ends told", "ends: this went wrong"),
        (2, "ends usage", "ends: this is no way; see: filterkit ends --help"),
        (1, "ends otherwise", "aborted"),
    ],
)
def test_an_error_of_the_subcommand_of_a_plugin_is_one_line(status, line, message):
    assert refusal(f"--plugin my.py {line}", status=status) == message


def test_the_subcommand_of_a_plugin_may_choose_its_exit_status():
    assert run("--plugin my.py ends status").returncode == 7


def test_the_help_lists_the_subcommands_of_plugins():
    text = output("--plugin my.py --help")
    _, own, plugins = re.split(r"\nSubcommands(?: of plugins)?:\n", text)
    assert plugins.startswith("  describe  Say what was given.\n  ends      End in some way.\n")
    assert [line.split()[0] for line in own.splitlines()] == NAMES  # each with its help, on one line
    assert "Subcommands of plugins" not in output("--help")
    assert "Say what was given.\n\n  More of it." in output("--plugin my.py describe --help")


@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_every_subcommand_names_its_options(name):
    text = output(f"{name} --help")
    assert output(f"{name} -h") == text
    assert text.startswith(f"Usage: filterkit {name} ")
    options = [each.opts[-1] for each in SUBCOMMANDS[name].params if isinstance(each, click.Option) and not each.hidden]
    assert [option for option in options if f"{option} " not in text] == []


def test_no_other_subcommand_is_imported_than_is_run():
    run_it = "from filterkit.cli import main; main.run_command_line(sys.argv[1:])"
    code = f"import sys; {run_it}; print(*sys.modules, file=sys.stderr)"
    for words in ("../iris.arff l2", "stages", "--help"):
        command = [sys.executable, "-c", code, *words.split()]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        modules = {*done.stderr.splitlines()[-1].split()}
        assert "filterkit.cli.subcommands.evaluate" not in modules
        assert "l2" in words or not {"numpy._core", "pyarrow.lib"} & modules, words


def test_a_plugin_imports_as_always_where_filterkit_postpones():
    """It may look for a package, and import a part of it first."""
    Path("p.py").write_text(
        "from importlib.util import find_spec\nassert find_spec('pyarrow')\nimport pyarrow.ipc, pyarrow\n"
        "assert pyarrow.RecordBatchStreamReader is pyarrow.ipc.RecordBatchStreamReader\n"
    )
    output("--plugin p.py formats")
