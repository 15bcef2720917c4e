"""The entry point of the command: what must be set before anything large is imported, and a quick end."""

from __future__ import annotations

import gc
import os
from typing import NoReturn

from filterkit.cli.signals import end_at_once


def main() -> NoReturn:
    """Run the command line and exit."""
    end_at_once()  # before anything is imported, which an interrupt would make a traceback of
    gc.disable()  # until the imports are done: nothing of them becomes garbage
    from filterkit.cli.streams import secure

    secure()
    # numpy's BLAS starts threads of its own as it is imported, which no stage has a use for.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from filterkit.cli.main import main as run

    try:
        run()
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        os._exit(end.code)  # Python would take all modules apart first, a twentieth of a short run's time
