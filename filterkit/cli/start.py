"""The entry point of the command: what must be set before anything large is imported."""

from __future__ import annotations

import gc
import os
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit."""
    gc.disable()  # until the imports are done: nothing of them becomes garbage
    # numpy's BLAS starts threads of its own as it is imported, which no stage has a use for.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from filterkit.cli.main import main as run

    run()
