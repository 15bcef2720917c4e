"""The entry point of the command: what must be set before large imports, and a quick end."""

from __future__ import annotations

import gc
import os
from typing import NoReturn

from filterkit.cli.signals import end_at_once


def main() -> NoReturn:
    """Run the command line and exit."""
    end_at_once()  # before any import, in which an interrupt would show a traceback
    gc.disable()  # until the imports are done, which leave no garbage
    from filterkit.cli.streams import secure

    secure()
    # Else numpy's BLAS would start threads when it is imported, and no stage has a use for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from filterkit.cli.main import main as run

    try:
        run()
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        os._exit(end.code)  # without taking all modules apart, which is a twentieth of a short run
