"""Plans a run. Everything that can be refused is refused before a row is read."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from filterkit.chains.chain import FittedChain
from filterkit.chains.rows import Rows
from filterkit.cli.destinations import Destination, check_destinations, check_sources
from filterkit.cli.inputs import Work, check_input_options, check_used, open_input, open_rows_to_fit
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
from filterkit.stages.base import Stage, needs_numbers

if TYPE_CHECKING:
    from filterkit.data.alignment import Alignment

_PART_SIZE = 1 << 24  # bytes of text that a part of an output is made of


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
    def sources(self) -> list[str]:
        """List the paths of all inputs."""
        return [self.path, *(source for source, _ in self.options.test)]

    @property
    def row_destinations(self) -> list[Destination]:
        """List the outputs for transformed rows."""
        later = (Destination("--test", path, in_parts=True) for _, path in self.options.test)
        if self.options.predictions is not None and self.options.load is None:
            return [*later]
        return [Destination("-o", self.options.output, data=True, in_parts=True), *later]

    def is_main(self, number: int) -> bool:
        """Return whether ``--to`` applies to one of `row_destinations`, by its index: to the first one, or to any of
        predictions."""
        return not number or self.options.predictions is not None

    @property
    def rows_out(self) -> list[tuple[str, str, bool]]:
        """List each input with its output, and whether the chain is not fitted on it."""
        tests = ((source, output, True) for source, output in self.options.test)
        return [(self.path, self.options.output, self.options.load is not None), *tests]

    @property
    def part_size(self) -> int | None:
        """Return the bytes of text that a part is made of; None if no output is in parts."""
        if all(parse_part_names(destination.path) is None for destination in self.row_destinations):
            return None
        return self.options.block_size or _PART_SIZE

    @property
    def stage_destinations(self) -> list[Destination]:
        """List the files to which stages write rows."""
        return [Destination(stage.name, path, data=True) for stage in self.stages for path in stage.written_files()]


class Training(NamedTuple):
    """An input that the chain is fitted on, and its rows."""

    reader: Reader
    rows: Rows


class Later(NamedTuple):
    """An input that the fitted chain transforms, the alignment of its columns with the chain's, the output, and whether
    the input is INPUT itself."""

    reader: Reader
    alignment: Alignment
    output: str
    is_main: bool


class Plan(NamedTuple):
    """The inputs of a job, opened. There is either `training` data or, with ``--load``, a `loaded` chain."""

    training: Training | None
    loaded: FittedChain | None
    later: list[Later]
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
    return Job(path, stages, options, formats, open_engine(known, options.engine, options.jobs))


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
    training, loaded = None, None
    outputs = [(source, output, False) for source, output in options.test]
    if options.load is None:
        reader = open_input(job.path, options, job.formats, rejects, job.part_size)
        work = Work(job.engine, options.memory, options.progress)
        rows = opened.enter_context(open_rows_to_fit(reader, work, job.part_size, needs_numbers(job.stages)))
        training, incoming = Training(reader, rows), reader.schema
    else:
        from filterkit.chains import saved

        loaded = saved.load(options.load, trust=options.trust)
        incoming = loaded.incoming
        outputs.insert(0, (job.path, options.output, True))
    stages = job.stages if loaded is None else loaded.chain.stages
    if options.predictions is not None:
        from filterkit.stages.learner import Learner

        if not any(isinstance(stage, Learner) for stage in stages[-1:]):
            raise UsageError("--predictions needs a chain that ends in a stage that predicts the class or labels")
    later = []
    for source, output, is_main in outputs:
        like = open_input(source, options, job.formats, rejects, job.part_size, incoming, is_main)
        reader = opened.enter_context(like)
        later.append(Later(reader, align(reader, incoming, options.unseen == "missing"), output, is_main))
    return Plan(training, loaded, later, rejects)


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
    check_sources(job.sources)
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
    if options.predictions is not None:
        _check_predictions(job)
    _check_used(job)
    files = {"--save": options.save, "--rejects": options.rejects}
    others = [Destination(option, path) for option, path in files.items() if path is not None]
    check_destinations(
        [*job.row_destinations, *job.stage_destinations, *others],
        job.sources,
        options.plugins,
        [("--load", options.load), ("--chain", options.chain)],
    )
    for number, destination in enumerate(job.row_destinations):
        job.formats.check_output(destination.path, destination.option, job.is_main(number))
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


def _check_used(job: Job) -> None:
    """Refuse options that the formats of the inputs or outputs have no use for."""
    options = job.options
    sources = [job.formats.of_input(path, not number) for number, path in enumerate(job.sources)]
    check_input_options(job.sources, sources, options)
    check_used(job.sources, sources, {"--rejects": options.rejects is not None}, "textual")
    destinations = [destination.path for destination in job.row_destinations]
    kinds = [job.formats.of_output(path, job.is_main(number)) for number, path in enumerate(destinations)]
    check_used(
        destinations, kinds, {"--sparse": options.sparse is True, "--dense": options.sparse is False}, "has_both_forms"
    )
    check_used(destinations, kinds, {"--precision": options.precision is not None}, "rounds")
