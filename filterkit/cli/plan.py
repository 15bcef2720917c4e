"""Plans a run. Everything that can be refused is refused before a row is read."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from filterkit.chains.chain import FittedChain
from filterkit.chains.rows import Rows
from filterkit.cli.declared import join_for_shell, list_deciding_words
from filterkit.cli.destinations import Destination, check_destinations, check_sources
from filterkit.cli.inputs import check_options_apply, open_input, open_rows_to_fit
from filterkit.cli.options import Options, open_engine
from filterkit.data.schema import Schema
from filterkit.engines.engine import Engine
from filterkit.errors import FilterkitError, UsageError, quoted
from filterkit.files.endings import check_chain
from filterkit.files.output import open_output
from filterkit.files.part_names import parse_part_names
from filterkit.files.rejects import Rejects
from filterkit.formats.reader import Reader
from filterkit.messages import say
from filterkit.plugin.formats import Formats
from filterkit.plugin.parsing import parse_stages, read_stages
from filterkit.plugin.registry import Registry
from filterkit.stages.base import Stage, need_row_numbers

if TYPE_CHECKING:
    from filterkit.data.alignment import Alignment

_PART_SIZE = 1 << 24  # bytes of text that a part of an output is made of


class Transfer(NamedTuple):
    """Rows that go from an input to an output.

    Attributes
    ----------
    source, output : the paths.
    option : what names the output, ``-o`` or ``--test``.
    later : whether the chain is not fitted on these rows.
    """

    source: str
    output: str
    option: str
    later: bool


@dataclass(eq=False, repr=False)
class Job:
    """The work that a command line asks for.

    Attributes
    ----------
    path : the input.
    stages : the chain; none with ``--load``.
    options : of the command.
    formats : says the format of each input and output.
    engine : where the work runs.
    """

    path: str
    stages: list[Stage]
    options: Options
    formats: Formats
    engine: Engine

    @property
    def transfers(self) -> list[Transfer]:
        """List all inputs with their outputs, INPUT first."""
        main = Transfer(self.path, self.options.output, "-o", self.options.load is not None)
        return [main, *(Transfer(source, output, "--test", True) for source, output in self.options.test)]

    @property
    def written(self) -> list[Transfer]:
        """List the transfers whose output is written: there are no predictions of the training rows."""
        return [each for each in self.transfers if each.later or not self.options.writes_predictions]

    def obeys_to(self, transfer: Transfer) -> bool:
        """Return whether ``--to`` applies to the output of a transfer: that of INPUT, or any of predictions."""
        return transfer.option == "-o" or self.options.writes_predictions

    def format_command(self, transfer: Transfer) -> str:
        """Write the command line that decides the bytes of the output of a transfer.

        Where there was a defaults file, it says what that gave, and that it needs no other.
        """
        words = list_deciding_words(self.options)  # seeds are options of stages
        if self.options.no_defaults or self.options.defaults is not None:
            words.insert(0, "--no-defaults")
        if self.options.load is not None:
            return join_for_shell([*words, transfer.source])
        words += [self.path, *(word for stage in self.stages for word in stage.words())]
        return join_for_shell(["--test", transfer.source, transfer.output, *words] if transfer.later else words)

    @property
    def part_size(self) -> int | None:
        """Return the bytes of text that a part is made of; None if no output is in parts."""
        if all(parse_part_names(each.output) is None for each in self.written):
            return None
        return self.options.block_size or _PART_SIZE

    @property
    def stage_destinations(self) -> list[Destination]:
        """List the files to which stages write rows."""
        return [Destination(stage.name, path, data=True) for stage in self.stages for path in stage.written_files()]


class Opened(NamedTuple):
    """A transfer whose input is open. `alignment` gives its rows the columns of the chain; None for training rows."""

    transfer: Transfer
    reader: Reader
    alignment: Alignment | None


class Plan(NamedTuple):
    """The transfers of a job, with open inputs; and either `training` rows or, with ``--load``, a `loaded` chain."""

    transfers: list[Opened]
    training: Rows | None
    loaded: FittedChain | None
    rejects: Rejects | None


def resolve(path: str, words: list[str], options: Options, known: Registry) -> Job:
    """Turn a command line into a job: words, or those in the file of ``--chain``, become stages; a name, the engine.

    Raises
    ------
    UsageError : an unknown stage, option or engine; or stages beside ``--chain``.
    """
    stages = parse_stages(words, known, options.seed, known.defaults)
    if options.chain is not None:
        if stages:
            raise UsageError("stages cannot be combined with --chain")
        stages = read_stages(options.chain, known, options.seed, known.defaults)
    formats = Formats(known.formats, options.from_, options.to)
    return Job(path, stages, options, formats, open_engine(known, options))


def make_plan(job: Job, opened: ExitStack) -> Plan:
    """Check a job and open its inputs.

    Parameters
    ----------
    job : what to do.
    opened : closes what is opened.

    Raises
    ------
    UsageError : options contradict each other, or an output would be lost or destroy something.
    FilterkitError : an input cannot be read, or does not fit the chain.
    """
    check(job)
    options, rejects = job.options, None
    if options.rejects is not None:
        rejects = Rejects(opened.enter_context(open_output(options.rejects, onward=True)), options.max_rejects)
    transfers: list[Opened] = []
    training, loaded = None, None
    if options.load is None:
        reader = open_input(job.path, options, job.formats, rejects, job.part_size)
        rows = open_rows_to_fit(reader, job.engine, options, job.part_size, need_row_numbers(job.stages))
        training, incoming, stages = opened.enter_context(rows), reader.schema, job.stages
        transfers.append(Opened(job.transfers[0], reader, None))
    else:
        from filterkit.chains import saved

        loaded = saved.load(options.load, trust=options.trust)
        incoming, stages = loaded.incoming, loaded.chain.stages
    if options.writes_predictions:
        from filterkit.stages.learner import Learner

        if not any(isinstance(stage, Learner) for stage in stages[-1:]):
            raise UsageError("--predictions needs a chain that ends in a stage that predicts the class or labels")
    for each in job.transfers[len(transfers) :]:
        is_main = each.option == "-o"
        like = open_input(each.source, options, job.formats, rejects, job.part_size, incoming, is_main)
        reader = opened.enter_context(like)
        transfers.append(Opened(each, reader, align(reader, incoming, options.unseen == "missing")))
    return Plan(transfers, training, loaded, rejects)


def align(reader: Reader, wanted: Schema, unseen: bool) -> Alignment:
    """Align the columns of an input with those of a chain; an error names the input.

    `unseen` says whether values that the chain does not know become missing; a warning lists them.
    """
    from filterkit.data.alignment import Alignment

    try:
        alignment = Alignment(reader.schema, wanted, unseen, reader.name)
    except FilterkitError as error:
        raise FilterkitError(f"{reader.name}: {error}") from None
    for name, values in (alignment.unseen or {}).items():
        shown = ", ".join(map(quoted, values[:5])) + (", …" if len(values) > 5 else "")
        what = f"attribute {quoted(name)}: where it is {shown}, it is missing"
        say(f"filterkit: warning: {reader.name}: --unseen missing: {what}")
    return alignment


def check(job: Job) -> None:
    """Refuse a job whose options contradict each other, or whose outputs would be lost or destroy something.

    Raises
    ------
    UsageError : names the option.
    FilterkitError : an output cannot be written to; names it.
    """
    options = job.options
    sources = [each.source for each in job.transfers]
    check_sources(sources)
    if options.max_rejects is not None and options.rejects is None:
        raise UsageError("--max-rejects needs --rejects FILE, to which unreadable rows are written")
    if options.trust and options.load is None:
        raise UsageError("--trust applies to a saved chain only; name it with --load FILE")
    if options.load is not None:
        _check_beside_load(job)
    if options.unseen == "extend" and (options.load is not None or options.test):
        raise UsageError(
            f"--unseen extend cannot be combined with {'--load' if options.load is not None else '--test'}, "
            "because the chain knows only the values that it was fitted on; --unseen missing can"
        )
    if options.writes_predictions:
        _check_predictions(job)
    _check_options_apply(job)
    files = {"--save": options.save, "--rejects": options.rejects}
    others = [Destination(option, path) for option, path in files.items() if path is not None]
    of_rows = [Destination(each.option, each.output, each.option == "-o", in_parts=True) for each in job.written]
    check_destinations(
        [*of_rows, *job.stage_destinations, *others],
        sources,
        options.plugins,
        [("--load", options.load), ("--chain", options.chain)],
    )
    for each in job.written:
        job.formats.check_output_name(each.output, each.option, job.obeys_to(each))
    if options.save is not None:
        check_chain(options.save, "--save")


def _check_predictions(job: Job) -> None:
    """Refuse predictions of no rows, beside other rows, or in parts."""
    options = job.options
    if options.load is None and not options.test:
        raise UsageError("--predictions needs rows that the chain is not fitted on; name them: --test FILE -")
    if options.load is None and options.output != "-":
        raise UsageError("--predictions writes to the OUT of --test IN OUT; leave out -o")
    if job.part_size is not None:
        raise UsageError("--predictions writes one file, not parts")


def _check_beside_load(job: Job) -> None:
    """Refuse what a saved chain already determines."""
    options = job.options
    given = {
        "a stage": bool(job.stages),
        "--class": bool(options.class_),
        "--labels": bool(options.labels),
        "--positive": bool(options.positive),
        "--seed": options.seed is not None,
        "--save": bool(options.save),
    }
    for option, is_given in given.items():
        if is_given:
            raise UsageError(f"{option} cannot be combined with --load: the saved chain decides")


def _check_options_apply(job: Job) -> None:
    """Refuse options that do not apply to the formats of the inputs or outputs."""
    kinds = [job.formats.find_input_format(each.source, each.option == "-o") for each in job.transfers]
    check_options_apply(job.options, [each.source for each in job.transfers], kinds)
    kinds = [job.formats.find_output_format(each.output, job.obeys_to(each)) for each in job.written]
    check_options_apply(job.options, [each.output for each in job.written], kinds, ("has_both_forms", "rounds"))
