"""Save a fitted chain as one file, an uncompressed zip archive of ``chain.json`` and arrays in numpy's format.

Nothing in the file can run. The JSON names stages, which must be installed, and their options. The arrays are numbers;
their sizes are checked against that of the file before memory is allocated. zip adds a checksum to every member.
`numpy.load` opens the file too.
"""

from __future__ import annotations

import io
import json
import math
import os
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO, Any

import numpy as np

from filterkit._version import __version__
from filterkit.chains.chain import Chain, FittedChain
from filterkit.data.batch import Batch, empty, make_missing_targets, make_passthrough_table
from filterkit.data.contract import describe_type
from filterkit.data.ragged import Ragged
from filterkit.data.schema import Schema
from filterkit.data.schema_json import schema_from_json, schema_to_json
from filterkit.data.texts import Texts
from filterkit.errors import FilterkitError, StageError, UsageError, make_file_error, quoted, to_one_line
from filterkit.files.descriptors import identify_pipe
from filterkit.files.endings import check_chain_ending
from filterkit.files.output import open_output
from filterkit.files.paths import AnyPath, convert_path_to_text
from filterkit.plugin.parsing import parse_stages
from filterkit.plugin.registry import Registry, get_registry
from filterkit.stages.base import Fitted, Stage, check_fitted_and_set_made_by
from filterkit.stages.selective import rebuild_fitted
from filterkit.stages.trust import trust_packages

FORMAT = "filterkit chain"
VERSION = 1
_TYPES = ("<f8", "<i8", "<i4", "|b1")
_STATE_VALUES = "arrays of float64, int64, int32 or bool, Ragged arrays, numbers, texts, and lists of these"
_MOST_MEMBERS = 100_000  # of the archive: 1,000 stages have fewer
_ZIP_SIGNATURE = b"PK\x03\x04"
_DATE = (1980, 1, 1, 0, 0, 0)  # of every member, so that equal chains give equal files


class _DamageError(Exception):
    """Raised inside this module if a file is not a saved chain, or is damaged; the message says why."""


def save(fitted: FittedChain, path: AnyPath, plugins: Registry | None = None) -> None:
    """Write a fitted chain to a file, which replaces one of the same name once it is complete.

    `plugins` is the registry that knows which plugin offers each stage; None for that of this process, with all
    installed plugins. Raise UsageError if the ending of the file belongs to another format, or to a compression;
    FilterkitError if a stage cannot be saved, or the file cannot be written; and TypeError if `fitted` is no
    `FittedChain`, or `path` is an open file.
    """
    if not isinstance(fitted, FittedChain):
        raise TypeError(f"give a FittedChain, which Chain.fit returns, not {type(fitted).__name__}")
    name = convert_path_to_text(path)
    check_chain_ending(name)
    data = encode_chain(fitted, plugins)
    with open_output(name) as out:
        out.write(data)


def encode_chain(fitted: FittedChain, plugins: Registry | None = None) -> bytes:
    """Return the bytes that `save` writes, by the same `plugins`; raise FilterkitError if a stage cannot be saved."""
    known = plugins or get_registry()
    arrays: dict[str, np.ndarray] = {}
    stages = []
    for number, (stage, fitted_stage) in enumerate(zip(fitted.chain.stages, fitted.stages, strict=True)):
        try:
            state = fitted_stage.get_state()
            if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
                fault = f"its state is {describe_type(state)}; make it a dict of {_STATE_VALUES}, by names"
                raise NotImplementedError(fault)
            notes = {key: _encode_state_value(value, key, number, arrays) for key, value in state.items()}
        except NotImplementedError as error:
            raise FilterkitError(f"the stage {stage.name} cannot be saved: {error}") from None
        stages.append({"words": stage.words(), "plugin": known.describe_stage_origin(stage.name), "kept": notes})
    header = {
        "format": FORMAT,
        "version": VERSION,
        "filterkit": __version__,
        "incoming": schema_to_json(fitted.incoming),
        "outgoing": schema_to_json(fitted.schema),
        "stages": stages,
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo("chain.json", _DATE), json.dumps(header, ensure_ascii=False, indent=1))
        for name, array in arrays.items():
            data = io.BytesIO()
            np.save(data, array)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _DATE), data.getvalue())
    return out.getvalue()


def load(path: AnyPath | IO[bytes], plugins: Registry | None = None, *, trust: Sequence[str] = ()) -> FittedChain:
    """Read the fitted chain from a file that `save` wrote, and try it on a few rows.

    Parameters
    ----------
    path : the file; or such a file that is open for reading bytes, which stays open.
    plugins : as for `save`.
    trust : names of packages beside scikit-learn whose estimators the file may hold, such as lightgbm. Name only those
        whose objects you would load from this file by pickle.

    Raises
    ------
    FilterkitError : the file cannot be read, is no saved chain, has another version of the format, is damaged, or needs
        a stage that is not installed.
    """
    known = plugins or get_registry()
    try:
        with trust_packages(trust), zipfile.ZipFile(read_into_memory_if_pipe(path)) as archive:
            header = _read_header(archive)
            stages = [_parse_stage(note, known) for note in header["stages"]]
            incoming = schema = schema_from_json(header["incoming"])
            fitted_stages: list[Fitted] = []
            for stage, note in zip(stages, header["stages"], strict=True):
                state = {key: _decode_state_value(value, archive) for key, value in note["kept"].items()}
                fitted_stages.append(check_fitted_and_set_made_by(stage, rebuild_fitted(stage, state, schema)))
                schema = fitted_stages[-1].schema
        fitted = FittedChain(Chain(stages), incoming, fitted_stages)
        if fitted.schema != schema_from_json(header["outgoing"]):
            raise _DamageError("its stages make other attributes than its header declares")
        _try_transforming_sample_rows(fitted)
    except Exception as error:  # a damaged file can lead to any exception
        raise _make_load_error(path, error) from None
    return fitted


def read_into_memory_if_pipe(path: Any) -> Any:
    """Read the pipe at a path into memory, because zipfile moves within a file; return an open file with its bytes.

    Return any other path, and a file object, as they are. If a pipe does not begin like a zip archive, read only its
    first four bytes; zipfile then refuses them.
    """
    if hasattr(path, "read") or identify_pipe(path) is None or not os.access(path, os.R_OK):  # zipfile says why not
        return path
    with open(path, "rb") as pipe:
        begin = pipe.read(len(_ZIP_SIGNATURE))
        content = io.BytesIO(begin + pipe.read() if begin == _ZIP_SIGNATURE else begin)
    content.name = path  # for messages
    return content


def summarize_saved_chain(path: AnyPath | IO[bytes]) -> dict[str, Any]:
    """Describe a file that `save` wrote without loading its stages, so that their plugins need not be installed.

    `path` is the file, or such a file that is open. Return a dict: ``file``, which is `path`; ``filterkit``, the
    version that wrote the file; ``incoming`` and ``outgoing``, a text about each schema; and ``stages``, a list of a
    dict for each. It has ``words``, those of the stage on a command line; ``plugin``, a text on what offers the stage;
    and ``bytes``, the size of its arrays. Raise FilterkitError if the file cannot be read, is no saved chain, has
    another version of the format, or is damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            header = _read_header(archive)
            schemas = {end: _summarize_schema(schema_from_json(header[end])) for end in ("incoming", "outgoing")}
            stages = []
            for note in header["stages"]:
                size = sum(archive.getinfo(name).file_size for name in _yield_array_member_names(note["kept"]))
                stages.append({"words": list(note["words"]), "plugin": note["plugin"], "bytes": size})
            return {"file": path, "filterkit": header["filterkit"], **schemas, "stages": stages}
    except Exception as error:
        raise _make_load_error(path, error) from None


def _make_load_error(path: AnyPath | IO[bytes], error: Exception) -> FilterkitError:
    """Make the error that says why a saved chain cannot be loaded, and names its file; `error` is what was raised."""
    name = (
        convert_path_to_text(path) if isinstance(path, (str, os.PathLike)) else getattr(path, "name", "<saved chain>")
    )
    if isinstance(error, UsageError):
        return FilterkitError(f"{name}: {error}")
    if isinstance(error, OSError) and not isinstance(error, FilterkitError):
        return make_file_error(f"{name}: {error.strerror or error}", error)
    text = f"{name} is not a chain that --save wrote, or it is damaged"
    if isinstance(error, zipfile.BadZipFile):
        return FilterkitError(text)
    reason = str(error) if isinstance(error, (_DamageError, FilterkitError)) else f"{type(error).__name__}: {error}"
    reason = " ".join(reason.split())[:200]
    return FilterkitError(f"{text}: {reason}{'' if 'again' in reason else '; fit the chain again'}")


def _summarize_schema(schema: Schema) -> str:
    target, targets = schema.class_attribute, "no class"
    if target is not None:
        values = f" {{{', '.join(quoted(value)[1:-1] for value in target.values[:10])}}}"
        targets = f"class {quoted(target.name)}{values if target.values else ', numeric'}"
    if schema.labels:
        targets = f"{len(schema.labels)} {'numeric targets' if schema.has_numeric_target else 'labels'}"
    return f"{quoted(schema.relation)}: {schema.width:,} features, {targets}"


# The JSON


def _read_header(archive: zipfile.ZipFile) -> dict[str, Any]:
    """Return the content of ``chain.json`` in a saved chain; check its top level, and all members of the archive.

    Raise UsageError if the file has another version of the format. Raise _DamageError if what is checked is wrong, or
    the members could take much time, or more memory than the file is long. A damaged ``chain.json`` may also lead to
    any other exception.
    """
    members = archive.infolist()
    if len(members) > _MOST_MEMBERS:
        raise _DamageError(f"it has more than {_MOST_MEMBERS:,} members")
    if any(each.compress_type != zipfile.ZIP_STORED or each.file_size != each.compress_size for each in members):
        raise _DamageError("it is compressed, which a saved chain is not")
    if sum(member.file_size for member in members) > archive.start_dir:
        raise _DamageError("its members are longer than the file")
    try:
        header = json.loads(archive.read("chain.json"))
    except RecursionError:
        raise _DamageError("its chain.json is nested too deep") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT or header.get("version") not in range(1000):
        raise _DamageError("its chain.json does not describe a chain")
    if header["version"] != VERSION:
        raise UsageError(
            f"the chain is saved in format {header['version']}, and filterkit {__version__} reads {VERSION}; use the "
            "filterkit that saved it, or fit the chain again"
        )
    for note in header["stages"]:
        if not all(isinstance(word, str) for word in note["words"]) or not isinstance(note["kept"], dict):
            raise _DamageError("a stage in its chain.json has no words or no state")
        # The distribution was once called filterkit, which is another project on the package index.
        note["plugin"] = str(note["plugin"]).replace(" of filterkit ", " of arff-filterkit ")
    arrays = [name for note in header["stages"] for name in _yield_array_member_names(note["kept"])]
    if len(set(arrays)) < len(arrays):  # so all arrays together take no more memory than the file
        raise _DamageError("two stages use the same array")
    return header


def _parse_stage(note: dict[str, Any], known: Registry) -> Stage:
    """Make the stage that an element `note` of ``stages`` in ``chain.json`` describes.

    Raise UsageError if the stage is unknown (the message says what to install) or an option is; and _DamageError if the
    words of the note are those of several stages.
    """
    name = note["words"][0]
    if name not in known.stages:
        plugin = note["plugin"]
        file = plugin.rpartition(" of ")[2]
        if file.endswith(".py"):
            command = f"--plugin {file}" if known.flags else f"filterkit.load_plugin({file!r})"
            raise UsageError(f"it needs the stage '{name}' of a plugin file; load it again: {command}")
        raise UsageError(f"it needs the stage '{name}'; install {plugin}")
    stages = parse_stages(list(note["words"]), known)
    if len(stages) != 1:
        raise _DamageError(f"'{' '.join(note['words'])}' is not one stage")
    return stages[0]


# The state of stages


def _encode_state_value(value: Any, key: str, stage_number: int, arrays: dict[str, np.ndarray]) -> Any:
    """Return a dict for JSON that stands for a value of a stage's state, and add the arrays in it to `arrays`.

    Raise NotImplementedError if the value is of a type that cannot be saved.

    Parameters
    ----------
    value : the value.
    key : its name in the state.
    stage_number : the number of the stage in the chain, from 0, which with the key makes the names of the arrays.
    arrays : the arrays of all stages by name.
    """
    name = f"{stage_number}.{key}"
    if isinstance(value, Ragged):
        arrays[f"{name}.indptr"], arrays[f"{name}.values"] = value.indptr, value.values
        return {"ragged": name}
    if isinstance(value, np.ndarray):
        if value.dtype.str not in _TYPES:
            raise NotImplementedError(f"its state has an array of {value.dtype}; make it float64, int64, int32 or bool")
        arrays[name] = np.ascontiguousarray(value)
        return {"array": name}
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, list):
        plain = [list(each) if isinstance(each, Texts) else each for each in value]
    try:
        json.dumps(plain)
    except (TypeError, ValueError) as error:
        raise NotImplementedError(
            f"the {quoted(key)} of its state cannot be saved ({to_one_line(error)}); use {_STATE_VALUES}"
        ) from None
    return {"plain": plain}


def _yield_array_member_names(state: dict[str, Any]) -> Iterator[str]:
    for note in state.values():
        if "ragged" in note:
            yield from (f"{note['ragged']}.indptr.npy", f"{note['ragged']}.values.npy")
        elif "array" in note:
            yield f"{note['array']}.npy"


def _decode_state_value(note: dict[str, Any], archive: zipfile.ZipFile) -> Any:
    """Return the value for which `_encode_state_value` returned `note`, with its arrays from the archive.

    Raise _DamageError as `_parse_array` does, or if the types or lengths of the arrays contradict each other.
    """
    if "plain" in note:
        return note["plain"]
    first, *rest = (
        _parse_array(archive.read(name), archive.start_dir) for name in _yield_array_member_names({"": note})
    )
    if not rest:
        return first
    values = rest[0]
    if first.dtype != np.int64 or values.dtype != np.float64 or first.ndim != 1 or values.ndim != 1:
        raise _DamageError("the arrays of a list are not int64 and float64")
    if not len(first) or first[0] != 0 or (np.diff(first) < 0).any() or first[-1] != len(values):
        raise _DamageError("the lengths of the arrays of a list do not match")
    return Ragged(first, values)


def _parse_array(data: bytes, longest_axis: int) -> np.ndarray:
    """Return the array that bytes in numpy's format hold.

    Raise _DamageError if it is of a type or version of the format that `save` does not write; if it is longer or
    shorter than the bytes; or if an axis is longer than `longest_axis`, as may be in an array without elements. If the
    header cannot be read, the exception may be any other.
    """
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise _DamageError("one of its arrays is not in version 1.0 of the format npy")
    with warnings.catch_warnings(action="error"):  # numpy accepts old headers, which `save` does not write
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    rest = memoryview(data)[stream.tell() :]
    size, lengths = math.prod(shape, start=dtype.itemsize), (*shape, 0)
    if dtype.str not in _TYPES or fortran or size != len(rest) or min(lengths) < 0 or max(lengths) > longest_axis:
        raise _DamageError("one of its arrays does not have the size that it declares")
    return np.frombuffer(rest, dtype).reshape(shape)


def _try_transforming_sample_rows(fitted: FittedChain) -> None:
    """Transform an empty batch, and rows of zeros, missing values and ones, so that a damaged state fails now.

    It may raise any exception. A `StageError` is ignored: a stage may refuse such values.
    """
    schema = fitted.incoming
    with suppress(StageError):
        fitted.transform(empty(schema))
    for value in (0.0, np.nan, 1.0):
        row = np.where(schema.nominal & (schema.label_counts < 2), 0.0, value)[None, :]
        passthrough = make_passthrough_table(schema, [[None] for _ in schema.passthrough])
        with suppress(StageError):
            fitted.transform(
                Batch(schema, row, make_missing_targets(schema, 1), None, passthrough).in_form(schema.sparse)
            )
