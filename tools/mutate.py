"""Mutants: small changes of the code, drawn at random, each of which some test should notice.

    python tools/mutate.py draw --seed 1 --count 40 filterkit/chains filterkit/engines > tools/mutants/flow.json
    python tools/mutate.py run tools/mutants/flow.json tests/chains tests/engines

`draw` prints a list of mutants. `run` applies each of them to a copy of the checkout, runs the named tests until one
fails, and writes into the list whether the mutant was killed. Mutants that have a result are not run again.
`equivalent`, written by hand, says why no test can tell a mutant from the code.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is": "is not", "in": "not in"}
_OPERATORS = {"+": "-", "-": "+", "*": "+", "//": "*", "/": "*", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "%": "//"}
_SYMBOLS: dict[type[ast.AST], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.In: "in",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Div: "/",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.Mod: "%",
}


def find_mutants(path: Path) -> Iterator[dict[str, Any]]:
    """Every mutant of a file: its `file` and `line`, its `begin` and `end` in bytes, and the `old` and `new` text."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def span(node: Any) -> tuple[int, int]:
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    for node in _walk(ast.parse(source)):
        for begin, end, new in _changes(node, span, source):
            old = source[begin:end].decode()
            yield {
                "file": path.relative_to(ROOT).as_posix(),
                "line": source.count(b"\n", 0, begin) + 1,
                "begin": begin,
                "end": end,
                "old": old,
                "new": new,
            }


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run and decide something: no annotations, messages of errors, imports and text."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert)):
            continue
        if isinstance(child, ast.AnnAssign) and child.value is None:
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        annotations = [getattr(node, name, None) for name in ("annotation", "returns")]
        if any(child is each for each in annotations):
            continue
        yield child
        yield from _walk(child)


def _changes(node: ast.AST, span: Any, source: bytes) -> Iterator[tuple[int, int, str]]:
    """The changes of a node: where each begins and ends, and the text that takes its place."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield from _swap_operator(node.left, node.ops[0], node.comparators[0], _COMPARISONS, span, source)
    elif isinstance(node, ast.BinOp):
        yield from _swap_operator(node.left, node.op, node.right, _OPERATORS, span, source)
    elif isinstance(node, ast.BoolOp):
        begin, end = span(node.values[0])[1], span(node.values[1])[0]
        old = source[begin:end].decode()
        yield begin, end, old.replace("and", "or") if isinstance(node.op, ast.And) else old.replace("or", "and")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield *span(node), source[slice(*span(node.operand))].decode()
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield *span(node), str(node.value + 1)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield *span(node), str(not node.value)
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
        text = source[slice(*span(node.test))].decode()
        yield *span(node.test), f"(not ({text}))"
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield *span(node.value), "None"
    elif isinstance(node, (ast.AugAssign, ast.Expr)) and not _is_text(node):
        yield *span(node), "pass"


def _swap_operator(
    left: ast.AST, op: ast.AST, right: ast.AST, swaps: dict[str, str], span: Any, source: bytes
) -> Iterator[tuple[int, int, str]]:
    symbol = _SYMBOLS.get(type(op))
    begin, end = span(left)[1], span(right)[0]
    text = source[begin:end].decode()
    if symbol is not None and text.count(symbol) == 1:
        yield begin, end, text.replace(symbol, swaps[symbol])


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, (ast.Constant, ast.Yield, ast.YieldFrom))


def draw_mutants(folders: list[str], seed: int, count: int) -> list[dict[str, Any]]:
    """`count` mutants of the files in some folders, drawn with a seed, in the order of the files."""
    files = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    found = [mutant for path in files for mutant in find_mutants(path)]
    drawn = random.Random(seed).sample(range(len(found)), min(count, len(found)))
    return [found[number] for number in sorted(drawn)]


def run_mutants(path: Path, tests: list[str]) -> None:
    """Run the tests on each mutant of a list that has no result, and write the result into the list.

    The tests run in a copy of the checkout. Its packages come first on the path of Python, also in the commands that
    tests start.
    """
    mutants = json.loads(path.read_text())
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / ROOT.name
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", "site", "dist"))
        for beside in ROOT.parent.glob("shared"):
            (copy.parent / beside.name).symlink_to(beside)
        packages = Path(folder) / "packages"
        packages.mkdir()
        (packages / "filterkit").symlink_to(copy / "filterkit")
        (packages / "filterkit_plugins").symlink_to(copy / "plugins")
        if not _passes(copy, packages, tests):
            raise SystemExit("the tests fail without any change")
        for mutant in mutants:
            if "killed" in mutant:
                continue
            file = copy / mutant["file"]
            source = file.read_bytes()
            changed = source[: mutant["begin"]] + mutant["new"].encode() + source[mutant["end"] :]
            if source[mutant["begin"] : mutant["end"]].decode() != mutant["old"]:
                raise SystemExit(f"{mutant['file']}:{mutant['line']} is no longer {mutant['old']!r}: draw again")
            file.write_bytes(changed)
            mutant["killed"] = not _passes(copy, packages, tests)
            file.write_bytes(source)
            print(f"{mutant['file']}:{mutant['line']}: {mutant['old']!r} -> {mutant['new']!r}:", mutant["killed"])
            path.write_text(json.dumps(mutants, indent=1) + "\n")
    killed = sum(mutant["killed"] for mutant in mutants)
    print(f"{killed} of {len(mutants)} killed")


def _passes(copy: Path, packages: Path, tests: list[str]) -> bool:
    """Whether the tests pass; a run that takes longer than ten minutes does not."""
    environment = os.environ | {"PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "2", *tests]
    try:
        run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=600)
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    draw = commands.add_parser("draw")
    draw.add_argument("folders", nargs="+")
    draw.add_argument("--seed", type=int, required=True)
    draw.add_argument("--count", type=int, required=True)
    run = commands.add_parser("run")
    run.add_argument("list", type=Path)
    run.add_argument("tests", nargs="+")
    given = parser.parse_args()
    if given.command == "draw":
        print(json.dumps(draw_mutants(given.folders, given.seed, given.count), indent=1))
    else:
        run_mutants(given.list, given.tests)


if __name__ == "__main__":
    main()
