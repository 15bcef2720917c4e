"""Makes the engine that a user asks for, by its name or by what it works on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from filterkit.engines.engine import Engine, find_options_fault
from filterkit.errors import PluginError, UsageError, quoted
from filterkit.plugin.lookup import suggest_known_names
from filterkit.plugin.registry import Registry, get_registry
from filterkit.temporary import TemporaryFolder, name_temporary_errors


def make_engine(text: str, jobs: int, known: Registry) -> Engine:
    """Make the engine that ``--engine`` asks for.

    Parameters
    ----------
    text : its name, and perhaps a colon and options.
    jobs : how many items it works on at once.
    known : all plugins.

    Raises
    ------
    UsageError : there is no engine of this name, or it does not know the options.
    PluginError : the class of the engine cannot be made with options.
    """
    name, _, options = text.partition(":")
    if name not in known.engines:
        raise UsageError(f"--engine: no engine {quoted(name)}{suggest_known_names(known, name, known.engines)}")
    kind = known.engines[name]
    if options and (fault := find_options_fault(kind)) is not None:
        raise PluginError(f"--engine: {name} {fault}")
    return _load_plugins_in_workers(kind(jobs, options) if options else kind(jobs), known)


def make_engine_from_name_or_client(thing: Any, jobs: int, known: Registry) -> Engine:
    """Make the engine that a user of Python asks for: by its name, as in ``--engine``, or by an object that some engine
    works on, such as a client of a cluster. Raise UsageError if there is no such engine."""
    if isinstance(thing, str):
        return make_engine(thing, jobs, known)
    for kind in known.engines.values():
        engine = kind.of(thing)
        if engine is not None:
            return _load_plugins_in_workers(engine, known)
    kinds = "an engine, a text such as 'processes', or what an engine works on, such as a client of a cluster"
    raise UsageError(f"engine must be {kinds}, not {type(thing).__name__}")


def _load_plugins_in_workers(engine: Engine, known: Registry) -> Engine:
    """Let the processes of an engine load the plugin files that the user has loaded here, and return the engine."""
    if known.files:
        engine.prepare(_load_plugin_files, {path: Path(path).read_bytes() for path in known.files})
    return engine


_loaded: dict[str, bytes] = {}  # the text of each file that this process has loaded for an engine
_copies: list[TemporaryFolder] = []  # of such files that are not here; they live as long as this process


def _load_plugin_files(texts: dict[str, bytes]) -> None:
    """Load plugins from files, in a process that works for an engine.

    The process may be on another machine, without these files, and it may have worked for others before. So `texts` has
    the content of each file, by its path. Raise PluginError if a plugin cannot be loaded, or was loaded before with
    another text.
    """
    for path, text in texts.items():
        others = [each for each in _loaded if each not in texts and os.path.basename(each) == os.path.basename(path)]
        if others or _loaded.get(path, text) != text:
            raise PluginError(
                f"--plugin {path}: a worker has loaded another file of this name before; restart the workers"
            )
        if path not in _loaded:
            here = path
            if not os.path.isfile(path) or Path(path).read_bytes() != text:
                _copies.append(TemporaryFolder())
                here = os.path.join(_copies[-1].path, os.path.basename(path))
                with name_temporary_errors():
                    Path(here).write_bytes(text)
            get_registry().load_plugin_file(here)
            _loaded[path] = text
