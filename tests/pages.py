"""The Markdown pages of the project, and the examples on them, for tests."""

import functools
import re
import shutil
from pathlib import Path

from command import run_python, shell, stdout_of

ROOT = Path(__file__).parent.parent
# The scripts docs/NAME.py print these pages of docs/ when the site is built; the repository does not hold them.
NAMES = ("api", "command", "errors", "format_options", "hooks", "stages")
GENERATED = {f"docs/{name}.md": f"docs/{name}.py" for name in NAMES}
# Sphinx makes these and the generated pages into a site, see docs/conf.py. index.md includes the README.
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
    if str(path.relative_to(ROOT)) not in GENERATED
}


@functools.cache
def print_page(script):
    """Return what a script of docs/ prints."""
    code = f"import runpy, sys; sys.path[0] = 'docs'; runpy.run_path({script!r}, run_name='__main__')"
    return stdout_of(run_python(code, cwd=ROOT))


def text_of(page):
    return PAGES[page] if page in PAGES else print_page(GENERATED[page])


def blocks(page, *languages):
    """Language and text of the blocks of code of a page."""
    return re.findall(rf"^```({'|'.join(languages)})\n(.*?)^```", PAGES[page], re.M | re.S)


def commands(block):
    """The commands of a block, and what each prints; a backslash at its end continues a command on the next line."""
    parts = re.split(r"^\$ ", block, flags=re.M)[1:]
    return [re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", part, re.S).groups() for part in parts]


def copy_samples(folder):
    """The folder, with the samples in it, where examples may leave files."""
    shutil.copytree(ROOT / "arff_samples", folder / "arff_samples")
    return folder


def check_console(block, folder):
    for command, expected in commands(block):
        done = shell(command, folder)
        assert (done.stderr, done.stdout, done.returncode) == ("", expected, 0)


def check_python(block, folder):
    """Run it, and return what it prints."""
    return stdout_of(run_python(block, cwd=folder))


def make_input(folder):
    """Write what the short commands of pages and of the help of stages read: in.arff and a folder of texts."""
    header = "".join(f"@attribute {name} numeric\n" for name in ("width", "length", "count1"))
    rows = "".join(f"{i % 7},{i % 5 + 1},{i % 3},{'ab'[i % 7 > 3]}\n" for i in range(600))
    (folder / "in.arff").write_text(f"@relation r\n{header}@attribute class {{a,b,unknown}}\n@data\n{rows}")
    for name, text in {"art/1": "a red line, a line", "art/2": "a red square", "code/1": "a line of code"}.items():
        (folder / "texts" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "texts" / name).write_text(text)
