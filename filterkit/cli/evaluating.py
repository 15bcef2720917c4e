"""The subcommand ``evaluate``: chains compared by cross-validation."""

from __future__ import annotations

import time
from typing import Any

import click

from filterkit.arff.reader import Reader
from filterkit.cli.places import Goal, check_goals
from filterkit.cli.reporting import MEASURE, MEASURES_HELP, PLOT, plot, share_of, show
from filterkit.cli.subcommand import ONCE, SETTINGS, parsed
from filterkit.cli.training import check_used, open_other
from filterkit.data.batch import Batch, concatenate
from filterkit.engines.local import LocalEngine
from filterkit.errors import UsageError
from filterkit.files.endings import CSV, check_ending
from filterkit.messages import draw, is_watched


@click.command(
    help=f"""Compare chains that end in a learner by stratified cross-validation on DATA.

\b
    filterkit evaluate data.arff --chain "binary l2 svm" --chain "shaped: shape bns l2 svm"

All stages are fitted inside the training folds alone; the data is held in memory. A chain may have a name before a
colon. Measures are taken for each fold, averaged over folds, and then over tasks; with ± comes the standard error over
tasks, or over the folds of a single task, and chains are compared by paired t-tests over the same. Options of
filterkit, such as --class, --positive and --labels, go before ``evaluate``.

Measures:

{MEASURES_HELP}
""",
    context_settings=SETTINGS,
)
@click.option("--chain", "chains", metavar="[NAME: ]STAGES", multiple=True, required=True, help="Repeatable.")
@click.option("--folds", metavar="N", type=click.IntRange(2), default=10, show_default=True)
@click.option(
    "--train",
    metavar="SHARES",
    help="Learning curves: shares of all rows to train on, as 10%,20%,50%,90%; each has the rows of the one before.",
)
@click.option("--one-against-rest", is_flag=True, help="Make each class or label a task of its own.")
@click.option("--min-positives", metavar="N", type=click.IntRange(1), help="With rows enough: at least so many.")
@MEASURE
@click.option("-o", "--output", metavar="FILE", **ONCE, help="Write the results of all folds, as CSV.")
@click.option(
    "--journal", metavar="FILE", **ONCE, help="Keep results here as they come; the same command goes on with them."
)
@PLOT
@click.option("--jobs", metavar="N", type=click.IntRange(1, 1024), help="Processes.  [default: the cores]")
@click.option("--seed", metavar="N", type=click.IntRange(0), help="Of folds and subsamples.  [default: 0]")
@click.argument("paths", metavar="DATA...", nargs=-1, required=True)
def evaluate_command(**_: Any) -> None:
    """Only parses."""


def evaluate(words: list[str], options: dict[str, Any]) -> None:
    """Compare chains; `options` are those of the command line.

    Raises
    ------
    UsageError : unknown stages or options.
    FilterkitError : the data, a chain or the output fails.
    """
    before = {name: value for name, value in options["given"].items() if name in ("output", "jobs")}
    if "output" in before:
        before["output"] = [before["output"]]
    given = parsed(evaluate_command, "evaluate", words, before)
    from filterkit.evaluation.folds import Design
    from filterkit.evaluation.journal import Journal
    from filterkit.evaluation.results import Results
    from filterkit.evaluation.runner import Evaluator, named_chain, run
    from filterkit.files.output import open_output, together

    output = given["output"]
    goals = [("-o", output), ("--journal", given["journal"]), ("--plot", given["plot"])]
    check_goals([Goal(option, path) for option, path in goals if path is not None], given["paths"], options["plugins"])
    check_used(given["paths"], options["formats"], {"--encoding": options["encoding"] != "utf-8"})
    if output is not None:
        check_ending(output, CSV, "-o")
    if given["plot"] is not None:
        from filterkit.evaluation.plots import check_plot

        check_plot(given["plot"])
    if given["min_positives"] and not given["one_against_rest"]:
        raise UsageError("evaluate: --min-positives goes with --one-against-rest")
    seed = options["seed"] if given["seed"] is None else given["seed"]
    design = Design(
        tuple(named_chain(text, None, options["seed"]) for text in given["chains"]),
        given["folds"],
        tuple(share_of("--train", text) for text in given["train"].split(",")) if given["train"] is not None else (),
        given["one_against_rest"],
        given["min_positives"] or 1,
        seed or 0,
    )
    data = [(name, _read(path, options)) for name, path in _names(given["paths"]).items()]
    evaluator = Evaluator(data, design)
    jobs = given["jobs"] or options["engine"].jobs
    journal = Journal(given["journal"], data, design) if given["journal"] is not None else None
    found = [] if journal is None else list(journal.results)
    done = set() if journal is None else journal.done
    progress = _Progress(options["progress"])
    try:
        for left, results in run(evaluator, jobs, done, options["plugins"]):
            if journal is not None:
                journal.add(results)
            found += results
            progress.show(left)
    finally:
        progress.close()
        if journal is not None:
            journal.close()
    order = {part: number for number, part in enumerate(evaluator.parts)}
    whole = Results(sorted(found, key=lambda result: order[result[:3]]))
    with together():
        if output is not None:
            with open_output(output) as out:
                out.write(whole.text().encode("utf-8", "backslashreplace"))  # the name of a file may be no UTF-8
        plot(whole, given)
    if output != "-":
        show(whole, given)


def _names(paths: tuple[str, ...]) -> dict[str, str]:
    """A short name for each path: the last part without endings, or all of it where that is not enough."""
    short = [path.rpartition("/")[2].partition(".")[0] or path for path in paths]
    return {path if short.count(name) > 1 else name: path for name, path in zip(short, paths)}


def _read(path: str, options: dict[str, Any]) -> Batch:
    chosen = {name: options[name] for name in ("class_", "positive", "labels")}
    reader = open_other(path, options["formats"], **chosen) or Reader(path, encoding=options["encoding"], **chosen)
    with reader:
        return concatenate(reader.map(lambda batch: batch, LocalEngine(1)), reader.schema)


class _Progress:
    """Says on standard error how many parts are left, and for about how long."""

    def __init__(self, wanted: bool | None) -> None:
        self._terminal = is_watched()
        self._enabled = self._terminal if wanted is None else wanted
        self._began = time.monotonic()
        self._done = 0
        self._said = 0.0

    def show(self, left: int) -> None:
        """Another part is done."""
        self._done += 1
        share = self._done / (self._done + left)
        passed = time.monotonic() - self._began
        if not self._enabled or passed < 1 or (not self._terminal and share < self._said + 0.1):
            return
        self._said = share
        text = f"filterkit: {self._done} of {self._done + left} folds, about {_time(passed / self._done * left)} left"
        draw(f"\r{text}\033[K" if self._terminal else f"{text}\n")

    def close(self) -> None:
        """End the line."""
        if self._terminal and self._said:
            draw("\n")


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
