"""Gives every option of every stage, format and command values that make no sense, and looks at how each run ends.

    python -m trials sweep

A run must end within `SECONDS` of CPU and `MEGABYTES` of memory: either with a whole output of finite numbers, or with
one or two short lines, exit status 1 or 2, and no output. Each run is a fork of this process, which has imported what
runs need.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import resource
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

import filterkit
from filterkit.cli.main import main
from filterkit.cli.main import run_chain_or_subcommand as command
from filterkit.plugin.parsing import make_stage_command
from filterkit.plugin.registry import get_registry
from filterkit.stages.base import Stage
from filterkit.stages.metric_scaling import MetricScaling
from filterkit.stages.options import get_option_types, list_option_fields

SECONDS = 10  # of CPU
MEGABYTES = 600  # more than before the run
_LONGEST = 500  # characters of a line
_ABOUT_A_FILE = re.compile("File name too long$|no such Python file$|the name must end in")
_MOST_LINES = 5  # of warnings and an error
_PATIENCE = 120  # seconds until a run that waits is killed

VALUES = ["0", "-1", "nan", "inf", "-inf", "1e308", "1e-308", "1e20", "1" + "0" * 20, "a", "a,a", "a=a", "*", "1"]
VALUES += ["", " ", "\n", "9" * 5000]
_OF_COUNTS = [str(1 << 31), str((1 << 63) - 1)]

# What a stage needs before it, and its own options besides the one that is tried. Others need nothing.
_NUMBERS = "keep --match [xk]"
_BEFORE = {
    "svd": _NUMBERS,
    "sklearn": _NUMBERS,
    "tfidf": "keep --match k",
    "ordinal": "keep --match k",
    **dict.fromkeys(["mp-boost", "adaboost-mh"], f"{_NUMBERS} binary"),
    **dict.fromkeys(["svm", "aisvm", "neighbors", "normal", "relieff", "project", "agree", "smote"], _NUMBERS),
    "select": "ig",
}
_WITH = {
    "agree": "--chain svm --folds 2",
    "balance": "--by drop",
    "bins": "--method width",
    "cfs": "",
    "keep": "--match [xk]",
    "label": "--positive yes",
    "limit": "--min 0",
    "mp-boost": "--rounds 3",
    "numeric": "--codes",
    "adaboost-mh": "--rounds 3",
    "recode": "--sort",
    "remove": "--attribute x",
    "rename": "--find x",
    "reorder": "--first 2",
    "sample": "--rows 9 --replace",
    "select": "--top 1",
    "sklearn": "--class sklearn.preprocessing.MaxAbsScaler",
    "svd": "--components 1",
    "project": "--components 2",
}
_BARE = {
    "class": "c",
    "head": "9",
    "map": "VALUE+1",
    "predict": "HistGradientBoostingClassifier",
    "rows": "1-9",
    "set": "z=x*2",
    "where": "x>0",
    "write": "more.arff",
}
_COMMANDS = {
    "info": "info t.arff",
    "scores": "scores t.arff ig",
    "explore": "explore -o page.html t.arff",
    "evaluate": f"evaluate t.arff --chain '{_NUMBERS} svm' --folds 2",
    "report": "report r.csv",
    "new-plugin": "new-plugin mine",
    "stages": "stages head",
    "formats": "formats csv",
    "plugins": "plugins",
}
_NOT_TRIED = {"--help", "--version", "--block-size"}


class Case(NamedTuple):
    """A command line to try.

    Attributes
    ----------
    option : what it tries, for messages: a stage, format or command, and its option.
    words : the words after ``filterkit``.
    is_twice : whether it gives two values to an option that takes one, which must be refused.
    """

    option: str
    words: tuple[str, ...]
    is_twice: bool = False


def cases() -> Iterator[Case]:
    """All cases: of stages, of formats, and of the command and its subcommands."""
    known = get_registry()
    # All scorers of a base have the same options.
    stages = {each.__base__ if issubclass(each, MetricScaling) else each: each for each in known.stages.values()}
    for stage in stages.values():
        yield from _of_stage(stage, "--dense")
        yield from _of_stage(stage, "--sparse")
    for kind in dict.fromkeys(known.formats.values()):
        for field, value in itertools.product(list_option_fields(kind), VALUES):
            text = f"{kind.name}:{field.name}={value}"
            yield Case(f"--to {kind.name}: {field.name}", ("-o", "out.any", "--to", text, "t.arff"))
            yield Case(f"--from {kind.name}: {field.name}", ("-o", "out.arff", "--from", text, f"t.{kind.name}"))
    for option in command.params:
        yield from _of_option("filterkit", option, ["-o", "out.arff"], ["t.arff", "head", "9"])
    for name, text in _COMMANDS.items():
        first, *own = shlex.split(text)
        for option in known.subcommands[name].params:
            yield from _of_option(name, option, own, [], [first])


def _of_stage(stage: type[Stage], form: str) -> Iterator[Case]:
    """The cases of one stage on dense or sparse rows; on sparse ones, those of numbers and flags alone."""
    before = ["-o", "out.arff", form, "t.arff", *shlex.split(_BEFORE.get(stage.name, "")), stage.name]
    own, bare = (shlex.split(words.get(stage.name, "")) for words in (_WITH, _BARE))
    yield Case(f"{stage.name}: no option", (*before, *own, *bare))
    for field, option in zip(list_option_fields(stage), make_stage_command(stage).params, strict=True):
        if form == "--sparse" and get_option_types(stage)[field.name] not in (int, float, bool):
            continue
        if field.metadata["bare"]:
            for value in VALUES:
                yield Case(f"{stage.name}: {option.name}", (*before, *own, value))
        else:
            yield from _of_option(stage.name, option, own, bare, before)


def _of_option(
    owner: str, option: click.Parameter, own: list[str], after: list[str], before: Sequence[str] = ()
) -> Iterator[Case]:
    """The cases of one option.

    Parameters
    ----------
    owner : the stage or command that it is of.
    option : the option.
    own : other options and arguments of the owner; a value of the same option is left out.
    after, before : the words around those of the owner.
    """
    if not isinstance(option, click.Option) or option.opts[-1] in _NOT_TRIED:
        return
    flag = option.opts[-1]
    if {*option.opts} & {*own}:
        place = next(number for number, word in enumerate(own) if word in option.opts)
        own = own[:place] + own[place + 2 :]

    def case(words: Sequence[str], is_twice: bool = False) -> Case:
        return Case(f"{owner}: {flag}", (*before, *words, *own, *after), is_twice)

    if option.is_flag:
        yield case([flag])
        yield case([flag, flag])
        for other in option.secondary_opts:
            yield case([flag, other], is_twice=True)
        return
    for value in [*VALUES, *(_OF_COUNTS if option.type is click.INT else ())]:
        yield case([flag, *[value] * option.nargs])
    yield case([flag, *["1"] * option.nargs] * 2, is_twice=not option.multiple)


def write_inputs(folder: Path) -> None:
    """Write a table in every format, and the results of an evaluation, into `folder`.

    The table has numbers, counts, labels, texts and dates, some of them missing, and a class that no learner learns
    without errors.
    """
    random_ = np.random.default_rng(1)
    lines = [
        "@relation t",
        "@attribute x numeric",
        "@attribute k numeric",
        "@attribute w {u,v,w}",
        "@attribute s string",
    ]
    lines += ["@attribute d date yyyy-MM-dd", "@attribute c {no,yes}", "@data"]
    for number in range(60):
        x, k = random_.normal() * 50, random_.poisson(2)
        w = "?" if number % 11 == 3 else "uvw"[number % 3]
        words = " ".join(random_.choice(["one", "two", "three", "four"], 3))
        target = "yes" if x + random_.normal() * 40 > 20 else "no"
        lines.append(f"{x:.3f},{k},{w},'{words}',200{number % 10}-01-02,{target}")
    (folder / "t.arff").write_text("\n".join([*lines, ""]))
    for kind in get_registry().formats.values():
        only = "keep --match '[xk]'" if kind.name == "libsvm" else ""
        if hasattr(kind, "write") or kind.name != "text":
            _silently([f"--to={kind.name}", "-o", f"t.{kind.name}", "t.arff", *shlex.split(only)], folder)
    (folder / "t.text" / "a").mkdir(parents=True)
    (folder / "t.text" / "a" / "one.txt").write_text("one two")
    chain = f"{_NUMBERS} svm"
    _silently(["evaluate", "t.arff", "--chain", chain, "--folds", "2", "--jobs", "1", "-o", "r.csv"], folder)


class Run(NamedTuple):
    """How a run ended.

    Attributes
    ----------
    status : its exit status, or minus the signal that ended it.
    said : what it wrote to standard error.
    seconds : of CPU.
    megabytes : how much memory it took besides that of this process.
    """

    status: int
    said: str
    seconds: float
    megabytes: float


def _silently(words: Sequence[str], folder: Path) -> Run:
    """Run the command in `folder`, in a fork of this process."""
    began = time.monotonic()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    held = pages * resource.getpagesize() // 1024  # kilobytes; the most that this process ever held may be more
    said = folder / ".said"
    child = os.fork()
    if not child:
        status = 99
        try:
            os.chdir(folder)
            for number, path in ((0, os.devnull), (1, os.devnull), (2, str(said))):
                os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
            sys.stderr = open(2, "w", closefd=False)
            sys.stdout = open(1, "w", closefd=False)
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + 1, SECONDS + 2))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            main(["--no-progress", "--no-defaults", *words])
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
            sys.stderr.flush()
        finally:
            os._exit(status)
    while True:
        ended, code, used = os.wait4(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() - began > _PATIENCE:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.002)
    text = said.read_text(errors="replace") if said.exists() else ""
    said.unlink(missing_ok=True)
    return Run(os.waitstatus_to_exitcode(code), text, used.ru_utime + used.ru_stime, (used.ru_maxrss - held) / 1024)


def wrong_with(case: Case, run: Run, folder: Path, before: set[str]) -> str:
    """What is wrong with a run in `folder`, which had the files `before`; the empty text if nothing is."""
    if run.status not in (0, 1, 2) or run.seconds > SECONDS:
        return f"ended with {run.status} after {run.seconds:.1f} s"
    if run.megabytes > MEGABYTES or "out of memory" in run.said:
        return f"took {run.megabytes:.0f} MB: {run.said[:200]}"
    if re.search("filterkit: unexpected|Traceback", run.said):
        return run.said[-300:]
    if case.is_twice and run.status != 2:
        return "two values are not refused"
    lines = run.said.splitlines()
    errors = [line for line in lines if not line.startswith("filterkit: warning: ")]
    long = [line for line in lines if len(line) > _LONGEST and not _ABOUT_A_FILE.search(line)]
    if len(lines) > _MOST_LINES or long:  # the name of a file is not cut
        return f"said {len(run.said)} characters in {len(lines)} lines: {run.said[:200]}"
    if run.status and not 1 <= len(errors) <= 2:
        return f"exit {run.status} with {len(errors)} lines of error: {errors[:5]}"
    return _wrong_files(case, run.status, {path.name for path in folder.iterdir()} - before, folder)


def _wrong_files(case: Case, status: int, new: set[str], folder: Path) -> str:
    """What is wrong with the files that a run has made."""
    if status:
        return f"left {', '.join(sorted(new))}" if new else ""
    if "out.arff" in new and not {"--to", "--class", "--from"} & {*case.words}:
        batch = filterkit.read(str(folder / "out.arff"))
        if np.isinf(batch.in_form(False).X).any():
            return "wrote an infinite number"
    return ""


def sweep(
    only: str = "",
    share: float = 1.0,
    seed: int = 1,
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[Counter[str], list[str]]:
    """Run the cases whose option the regular expression `only` finds, or a random share of them.

    Returns
    -------
    how many runs ended with each status; and what is wrong, a line each, which `tell` is told at once.
    """
    import pyarrow.csv  # noqa: F401  # each fork would import these again
    import regex  # noqa: F401
    import scipy.sparse.linalg  # noqa: F401
    import sklearn.svm  # noqa: F401

    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="sweep-") as base:
        source, folder = Path(base, "source"), Path(base, "run")
        source.mkdir()
        write_inputs(source)
        before = {path.name for path in source.iterdir()}
        for case in cases():
            if not re.search(only, case.option) or rng.random() >= share:
                continue
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(source, folder)
            run = _silently(case.words, folder)
            counts["runs"] += 1
            counts[f"exit {run.status}"] += 1
            fault = wrong_with(case, run, folder, before)
            if not fault and case.option.endswith("no option") and run.status:
                fault = f"the case is of no use: {run.said}"
            if fault:
                line = " ".join(word if len(word) < 60 else f"{word[:20]}…" for word in map(shlex.quote, case.words))
                wrong.append(f"{line!r}: {fault.strip()}")
                tell(wrong[-1])
    return counts, wrong
