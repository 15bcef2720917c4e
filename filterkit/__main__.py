"""``python -m filterkit`` is the command ``filterkit``."""

from filterkit.cli.start import main

main()
