"""Plans the run of a chain. Everything that can be refused is refused before a row is read."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from filterkit.chains.chain import FittedChain
from filterkit.chains.rows import Rows
from filterkit.cli.declared import format_options_that_change_output, join_for_shell
from filterkit.cli.destinations import Destination, check_destinations, check_pipes_read_once, make_destinations
from filterkit.cli.inputs import check_options_fit_formats, open_input, open_rows_for_fitting
from filterkit.cli.options import RunOptions, open_engine
from filterkit.data.schema import Schema
from filterkit.engines.engine import Engine
from filterkit.errors import FilterkitError, UsageError, quoted
from filterkit.files.endings import check_chain_ending
from filterkit.files.output import open_output
from filterkit.files.part_names import parse_part_names
from filterkit.files.rejects import RejectWriter
from filterkit.formats.base import FileFormat
from filterkit.formats.reader import Reader
from filterkit.messages import write_message
from filterkit.plugin.formats import Formats, check_output_ending
from filterkit.plugin.parsing import parse_stages, read_stages_file
from filterkit.plugin.registry import Registry
from filterkit.stages.base import Stage

if TYPE_CHECKING:
    from filterkit.data.alignment import Alignment

_PART_SIZE = 1 << 24  # unless the hidden option --block-size says something else


class Transfer(NamedTuple):
    """An input, and the output for its rows.

    Attributes
    ----------
    source, output : the paths.
    option : the option that names the output, ``-o`` or ``--test``.
    later : whether the chain is fitted on other rows.
    output_format : the format of the output. ``--to`` chooses it for ``-o`` and for predictions; for other outputs the
        ending of the name comes first.
    """

    source: str
    output: str
    option: str
    later: bool
    output_format: FileFormat


class Job(NamedTuple):
    """The work that a command line asks for.

    Attributes
    ----------
    path : the path of INPUT.
    stages : the chain to fit; empty with ``--load``.
    options : the options of the command.
    formats : finds the format of each input.
    engine : the engine that runs the work.
    transfers : all inputs with their outputs, INPUT first.
    written : the transfers whose output is written: all, but with ``--predictions`` or ``--errors`` only those of rows
        that the chain is not fitted on.
    stage_outputs : the files to which stages write rows.
    part_size : bytes of input text for each part of an output; None if no output is in parts.
    """

    path: str
    stages: list[Stage]
    options: RunOptions
    formats: Formats
    engine: Engine
    transfers: list[Transfer]
    written: list[Transfer]
    stage_outputs: list[Destination]
    part_size: int | None

    def format_command(self, transfer: Transfer) -> str:
        """Return the words after ``filterkit``, as one line for a shell, that make the same bytes as a transfer.

        Options that do not change the bytes are left out, also the path of the output. Values from the defaults file
        are spelled out, after ``--no-defaults``.
        """
        words = format_options_that_change_output(self.options)  # seeds are options of stages
        if self.options.no_defaults or self.options.defaults is not None:
            words.insert(0, "--no-defaults")
        if self.options.load is not None:
            return join_for_shell([*words, transfer.source])
        words += [self.path, *(word for stage in self.stages for word in stage.words())]
        return join_for_shell(["--test", transfer.source, transfer.output, *words] if transfer.later else words)


class OpenTransfer(NamedTuple):
    """A transfer whose input is open.

    `alignment` arranges the columns of its rows as the chain expects; None for training rows.
    """

    transfer: Transfer
    reader: Reader
    alignment: Alignment | None


class Plan(NamedTuple):
    """The transfers of a job, with open inputs.

    Either `training` has the training rows or, with ``--load``, `loaded` has the saved chain; the other is None.
    `rejects` writes unreadable rows; None without ``--rejects``.
    """

    transfers: list[OpenTransfer]
    training: Rows | None
    loaded: FittedChain | None
    rejects: RejectWriter | None


def make_job(path: str, words: list[str], options: RunOptions, known: Registry) -> Job:
    """Make the job that a command line asks for: look up its stages and formats, and make its engine.

    `path` is the input, and `words` describe the chain, unless ``--chain`` names a file that does. The caller closes
    the engine. Raise UsageError if a stage, option, format or engine is unknown, or there are both `words` and
    ``--chain``, and PluginError if the plugin of one is broken.
    """
    stages = parse_stages(words, known, options.seed, with_defaults=True)
    if options.chain is not None:
        if stages:
            raise UsageError("stages cannot be combined with --chain; write them into its file")
        stages = read_stages_file(options.chain, known, options.seed)
    formats = Formats(known.formats, options.from_, options.to)
    transfers: list[Transfer] = []
    for source, output in ((path, options.output), *options.test):
        is_first = not transfers  # INPUT; the others are those of --test
        kind = formats.find_output_format(output, is_first or options.writes_predictions)
        later = not is_first or options.load is not None
        transfers.append(Transfer(source, output, "-o" if is_first else "--test", later, kind))
    written = [each for each in transfers if each.later or not options.writes_predictions]
    stage_outputs = [
        Destination(stage.name, path, may_replace_input=True) for stage in stages for path in stage.written_files()
    ]
    in_parts = any(parse_part_names(each.output) is not None for each in written)
    part_size = (options.block_size or _PART_SIZE) if in_parts else None
    engine = open_engine(known, options)
    return Job(path, stages, options, formats, engine, transfers, written, stage_outputs, part_size)


def check_and_open_job(job: Job, opened: ExitStack) -> Plan:
    """Check a job, open its inputs and the file of ``--rejects``, and load the chain of ``--load``.

    The stack `opened` closes them. Raise UsageError if options contradict each other, or an output would be lost or
    overwrite a file that is read, and FilterkitError if an input or the saved chain cannot be read, or an input does
    not fit the chain.
    """
    check_options_and_outputs(job)
    options, rejects = job.options, None
    if options.rejects is not None:
        rejects = RejectWriter(
            opened.enter_context(open_output(options.rejects, ignore_broken_pipe=True)), options.max_rejects
        )
    transfers: list[OpenTransfer] = []
    training, loaded = None, None
    if options.load is None:
        reader = open_input(job.path, options, job.formats, rejects, job.part_size)
        numbered = any(stage.numbers_rows for stage in job.stages)
        rows = open_rows_for_fitting(reader, job.engine, options, job.part_size, numbered)
        training, incoming, stages = opened.enter_context(rows), reader.schema, job.stages
        transfers.append(OpenTransfer(job.transfers[0], reader, None))
    else:
        from filterkit.chains import saved

        loaded = saved.load(options.load, trust=options.trust)
        incoming, stages = loaded.incoming, loaded.chain.stages
    if options.writes_predictions:
        from filterkit.stages.learner import Learner

        if not any(isinstance(stage, Learner) for stage in stages[-1:]):
            what = "a chain that ends in a stage that predicts the class or labels, such as svm"
            raise UsageError(f"{options.predictions_flag} needs {what}")
    for each in job.transfers[len(transfers) :]:
        is_main = each.option == "-o"
        reader = open_input(each.source, options, job.formats, rejects, job.part_size, incoming, is_main)
        opened.enter_context(reader)
        transfers.append(OpenTransfer(each, reader, make_alignment(reader, incoming, options.unseen == "missing")))
    return Plan(transfers, training, loaded, rejects)


def make_alignment(reader: Reader, wanted: Schema, unseen_as_missing: bool) -> Alignment:
    """Make the alignment that arranges the columns of an input as in `wanted`, the schema that a chain expects.

    If `unseen_as_missing`, nominal values that `wanted` does not declare become missing, and a warning for each
    attribute lists the first five that the header declares. Otherwise such a value is an error: here if the header
    declares it, else when the alignment finds it. Raise FilterkitError, which names the input, if the columns do not
    fit.
    """
    from filterkit.data.alignment import Alignment

    try:
        alignment = Alignment(reader.schema, wanted, unseen_as_missing, reader.name)
    except FilterkitError as error:
        raise FilterkitError(f"{reader.name}: {error}") from None
    for name, values in (alignment.unseen or {}).items():
        shown = ", ".join(map(quoted, values[:5])) + ", …" * (len(values) > 5)
        what = f"the chain does not know the values {shown} of attribute {quoted(name)}; they are read as missing"
        write_message(f"filterkit: warning: {reader.name}: --unseen missing: {what}")
    return alignment


def check_options_and_outputs(job: Job) -> None:
    """Raise UsageError if options of a job contradict each other, or an output would be lost or overwrite an input.

    Raise FilterkitError if an output cannot be written to.
    """
    options, written = job.options, job.written
    sources = [each.source for each in job.transfers]
    check_pipes_read_once(sources)
    if options.max_rejects is not None and options.rejects is None:
        raise UsageError("--max-rejects needs --rejects FILE, to which unreadable rows are written")
    if options.trust and options.load is None:
        raise UsageError("--trust applies to a saved chain only; name it with --load FILE")
    if options.load == "-":
        raise UsageError("--load - is not understood; name the file of the saved chain, or write --load /dev/stdin")
    if options.load is not None:
        _refuse_options_combined_with_load(job)
    if options.unseen == "extend" and (options.load is not None or options.test):
        raise UsageError(
            f"--unseen extend cannot be combined with {'--load' if options.load is not None else '--test'}, "
            "because the chain knows only the values that it was fitted on; use --unseen missing instead"
        )
    if options.writes_predictions:
        _check_predictions_option(job)
    kinds = [job.formats.find_input_format(each.source, each.option == "-o") for each in job.transfers]
    check_options_fit_formats(options, sources, kinds)
    outputs, kinds = [each.output for each in written], [each.output_format for each in written]
    check_options_fit_formats(options, outputs, kinds, ("has_both_forms", "rounds"))
    of_rows = [Destination(each.option, each.output, each.option == "-o", in_parts=True) for each in written]
    others = make_destinations({"--save": options.save, "--rejects": options.rejects})
    check_destinations(
        [*of_rows, *job.stage_outputs, *others],
        sources,
        options.plugins,
        [("--load", options.load), ("--chain", options.chain)],
    )
    for each in written:
        check_output_ending(each.output, each.output_format, job.formats.known, each.option, options.to is not None)
    if options.save is not None:
        check_chain_ending(options.save, "--save")


def _check_predictions_option(job: Job) -> None:
    """Raise UsageError if ``--predictions`` or ``--errors`` has no rows to predict, or contradicts another option.

    Each contradicts ``--sparse``, a ``*`` in the name of an output and, without ``--load``, ``-o``.
    """
    options = job.options
    flag = options.predictions_flag
    if options.load is None and not options.test:
        raise UsageError(f"{flag} needs rows that the chain is not fitted on; name them: --test FILE -")
    if options.load is None and options.output != "-":
        raise UsageError(f"{flag} writes to the OUT of --test IN OUT; leave out -o")
    if job.part_size is not None:
        raise UsageError(f"{flag} writes one file, not parts; leave the * out of its name")
    if options.sparse:
        raise UsageError(f"{flag} writes dense rows; leave out --sparse")


def _refuse_options_combined_with_load(job: Job) -> None:
    """Raise UsageError if there are stages, or options that contradict the saved chain, beside ``--load``."""
    options = job.options
    given = {
        "a stage": job.stages,
        "--class": options.class_,
        "--labels": options.labels,
        "--positive": options.positive,
        "--seed": options.seed is not None,
        "--save": options.save,
    }
    for option, is_given in given.items():
        if is_given:
            raise UsageError(f"{option} cannot be combined with --load: the saved chain decides; leave it out")
