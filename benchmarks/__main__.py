"""Entry point of ``python -m benchmarks``."""

from benchmarks.compare import main

main()
