"""The entry point of the command: what must be set before anything large is imported, and a quick end."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit."""
    gc.disable()  # until the imports are done: nothing of them becomes garbage
    # numpy's BLAS starts threads of its own as it is imported, which no stage has a use for.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from filterkit.cli.main import main as run

    try:
        run()
    except SystemExit as end:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        if not isinstance(end.code, int):
            raise
        os._exit(end.code)  # Python would take all modules apart first, a twentieth of a short run's time
