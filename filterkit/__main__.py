"""``python -m filterkit`` is the command ``filterkit``."""

from filterkit.cli.main import main

main()
