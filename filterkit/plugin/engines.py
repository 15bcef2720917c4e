"""Makes the engine that a user asks for, by its name or by what it works on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from filterkit.engines.engine import Engine, find_engine_constructor_fault
from filterkit.errors import PluginError, UsageError, quoted
from filterkit.plugin.lookup import suggest_known_names
from filterkit.plugin.registry import Registry, get_registry
from filterkit.temporary import TemporaryFolder, convert_temporary_file_errors


def make_engine(name_or_client: Any, jobs: int, known: Registry) -> Engine:
    """Make an engine from ``NAME`` or ``NAME:OPTIONS``, as in ``--engine``, or from a client such as that of a cluster.

    The engine works on `jobs` items at once; one that is made from a client may ignore `jobs`. Its processes load the
    plugin files that this process has loaded. Raise UsageError if there is no such engine, or it does not know the
    options, and PluginError if there are options and its class takes none.
    """
    engine: Engine | None
    if isinstance(name_or_client, str):
        name, _, options = name_or_client.partition(":")
        if name not in known.engines:
            raise UsageError(f"--engine: no engine {quoted(name)}{suggest_known_names(known, name, known.engines)}")
        kind = known.engines[name]
        if options and (fault := find_engine_constructor_fault(kind)) is not None:
            raise PluginError(f"--engine: {name} {fault}")
        engine = kind(jobs, options) if options else kind(jobs)
    else:
        engines = (kind.of(name_or_client) for kind in known.engines.values())
        engine = next((each for each in engines if each is not None), None)
        if engine is None:
            kinds = "an engine, a text such as 'processes', or what an engine works on, such as a client of a cluster"
            raise UsageError(f"engine must be {kinds}, not {type(name_or_client).__name__}")
    if known.files:
        engine.prepare(_load_plugin_files, {path: Path(path).read_bytes() for path in known.files})
    return engine


_loaded: dict[str, bytes] = {}  # the text of each file that this process has loaded for an engine
_copies: list[TemporaryFolder] = []  # of such files that are not here; they live as long as this process


def _load_plugin_files(content_by_path: dict[str, bytes]) -> None:
    """Load plugins from files in this process, a worker of an engine; a file is loaded only once.

    `content_by_path` has the path of each file on the machine of the engine, and its bytes. If this machine does not
    have the same file at this path, the bytes are written to a temporary folder first. Raise PluginError if a plugin
    cannot be loaded, or another file of its name was loaded before.
    """
    for path, text in content_by_path.items():
        others = [
            each for each in _loaded if each not in content_by_path and os.path.basename(each) == os.path.basename(path)
        ]
        if others or _loaded.get(path, text) != text:
            raise PluginError(
                f"--plugin {path}: a worker has loaded another file of this name before; restart the workers"
            )
        if path not in _loaded:
            here = path
            if not os.path.isfile(path) or Path(path).read_bytes() != text:
                _copies.append(TemporaryFolder())
                here = os.path.join(_copies[-1].path, os.path.basename(path))
                with convert_temporary_file_errors():
                    Path(here).write_bytes(text)
            get_registry().load_plugin_file(here)
            _loaded[path] = text
