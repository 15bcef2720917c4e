"""The entry point of the command: it prepares signals and streams before large imports, and ends quickly."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

from filterkit.cli.shell.signals import end_process_on_signal


def _print_version() -> int:
    """Print the version as click would, without importing click, and return the exit status."""
    from filterkit._version import __version__
    from filterkit.errors import FilterkitError
    from filterkit.messages import write_message

    try:
        print(f"filterkit, version {__version__}", flush=True)
    except BrokenPipeError:
        pass  # nobody reads it
    except FilterkitError as error:
        write_message(f"filterkit: {error}", is_error=True)
        return 1
    return 0


def main() -> NoReturn:
    """Run the command line, or answer a shell that completes one, and exit."""
    end_process_on_signal()  # before other imports: an interrupt in one would show a traceback
    gc.disable()  # imports leave no garbage; `filterkit.cli.main` enables it again
    from filterkit.cli.shell.streams import reopen_closed_and_wrap_standard_streams

    reopen_closed_and_wrap_standard_streams()
    if sys.argv[1:] == ["--version"]:  # needs none of the imports below
        os._exit(_print_version())
    if "_FILTERKIT_COMPLETE" in os.environ:  # a shell asks what may follow
        from filterkit.cli.shell.shells import print_completions_or_script

        os._exit(print_completions_or_script(os.environ["_FILTERKIT_COMPLETE"], sys.argv[1:]))
    # Otherwise numpy's BLAS would start threads when it is imported. No stage uses them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from filterkit.cli.main import main as run

    try:
        run()
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        os._exit(end.code)  # skips the clean-up of all modules, a twentieth of a short run
