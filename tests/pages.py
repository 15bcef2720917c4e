"""The Markdown pages of the project, and the examples on them, for tests."""

import re
import subprocess
import sys
from pathlib import Path

from command import shell

ROOT = Path(__file__).parent.parent
# Sphinx makes these pages into a site, see docs/conf.py. index.md includes the README.
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "experiments/*.md",
        "benchmarks/*.md",
        "trials/*.md",
        "arff_samples/*.md",
        "examples/**/*.md",
    )
    for path in ROOT.glob(pattern)
}


def blocks(page, *languages):
    """Language and text of the blocks of code of a page."""
    return re.findall(rf"^```({'|'.join(languages)})\n(.*?)^```", PAGES[page], re.M | re.S)


def commands(block):
    """The commands of a block, and what each prints; a backslash at its end continues a command on the next line."""
    parts = re.split(r"^\$ ", block, flags=re.M)[1:]
    return [re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", part, re.S).groups() for part in parts]


def check_console(block, folder):
    for command, expected in commands(block):
        done = shell(command, folder)
        assert (done.stderr, done.stdout, done.returncode) == ("", expected, 0)


def check_python(block, folder):
    """Runs it, and returns what it prints."""
    done = subprocess.run([sys.executable, "-c", block], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
    return done.stdout
