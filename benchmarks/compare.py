"""The command: makes inputs, runs the works with their contenders in turn, checks, and reports.

python -m benchmarks [--only NAME ...] [--runs 5] [--markdown] ...
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.report import disturbance, markdown, plain, versions
from benchmarks.timing import Failed, Run, pin, run
from benchmarks.wekas import class_path
from benchmarks.work import Contender, Outcome, Skipped, Work
from benchmarks.works import HERE, Places, works


def main() -> None:
    """Run the command line; exit with 1 if a work or its check failed, with 2 for wrong usage."""
    options = _options()
    cores = pin(options.cores)
    with tempfile.TemporaryDirectory(prefix="filterkit-benchmarks-") as temporary:
        data = Path(options.data or temporary).resolve()
        data.mkdir(parents=True, exist_ok=True)
        places = Places(
            data, options.text.resolve(), class_path("3.9", options.weka39), class_path("3.6", options.weka36)
        )
        # This folder is where `python -m benchmarks` finds this package. With PYTHONPATH instead, the source would come
        # before the installed filterkit, and be compiled in every run where Python writes no bytecode.
        os.chdir(HERE.parent)
        chosen = [work for work in works(places) if _wanted(work.name, options.only)]
        if not chosen:
            sys.exit(f"no work is named {' or '.join(options.only)}; --list shows them")
        if options.list:
            for work in chosen:
                print(f"{work.name:14} {f'skipped: {work.reason}' if isinstance(work, Skipped) else work.what}")
            return
        results: list[Outcome | Skipped] = []
        for work in chosen:
            slow = isinstance(work, Work) and work.slow and options.slow_runs is not None
            runs = options.slow_runs if slow else options.runs
            results.append(work if isinstance(work, Skipped) else compare(work, runs))
        write = markdown if options.markdown else plain
        print(write(results, [*versions(places, cores), disturbance(results)]))
        if not options.data:
            _note("inputs removed; keep them with --data DIR")
    sys.exit(any(isinstance(result, Outcome) and bool(result.failure) for result in results))


def compare(work: Work, runs: int) -> Outcome:
    """Run both contenders of `work` in turn, after a warm-up of each, and check their outputs."""
    subject: list[Run] = []
    other: list[Run] = []
    try:
        for needed in work.inputs:
            if not needed.path.exists():
                if not needed.command:
                    raise Failed(f"there is no {needed.path}")
                _note(f"{work.name}: making {needed.path.name}")
                run(needed.command)
        for command in work.prepare:
            run(command)
        for number in range(runs * work.times + 1):
            pair = _once(work.subject), _once(work.other)
            shown = ", ".join(f"{one.seconds:.2f} s {one.memory / 1e6:.0f} MB" for one in pair)
            _note(f"{work.name}: {f'run {number}' if number else 'warm-up'}: {shown}")
            if number:
                subject.append(pair[0])
                other.append(pair[1])
        said = "; ".join(dict.fromkeys(run(command)[1] for command in work.checks))
        return Outcome(work, subject, other, said or "both reported all rows")
    except Failed as failure:
        _note(f"{work.name}: {failure}")
        return Outcome(work, subject, other, "", str(failure))
    finally:
        for path in work.files:
            path.unlink(missing_ok=True)


def _once(contender: Contender) -> Run:
    """One run of a contender.

    Raises
    ------
    Failed : it fails, or does not say what it should.
    """
    if contender.output:
        contender.output.unlink(missing_ok=True)
    measured, said = run(contender.command)
    if contender.says not in said:
        raise Failed(f"{contender.label} did not say '{contender.says.strip()}' but: {said[-200:]}")
    return measured


def _wanted(name: str, only: list[str] | None) -> bool:
    return not only or any(fnmatch.fnmatch(name, pattern) for pattern in only)


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Time filterkit against its peers on the same work, in one run."
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these works; patterns such as 'text-*' work")
    parser.add_argument("--list", action="store_true", help="list the works and stop")
    parser.add_argument("--runs", type=_positive, default=5, help="counted runs of each contender (default: 5)")
    parser.add_argument(
        "--slow-runs", type=_positive, metavar="N", help="counted runs where one takes minutes (default: --runs)"
    )
    parser.add_argument(
        "--cores", type=_positive, default=2, help="number of cores that each contender may use (default: 2)"
    )
    parser.add_argument("--markdown", action="store_true", help="print the report as Markdown")
    parser.add_argument("--data", metavar="DIR", help="make inputs here and keep them (default: a temporary folder)")
    parser.add_argument(
        "--text", type=Path, metavar="DIR", default=HERE.parents[1] / "shared" / "data" / "text",
        help="the folder of text sets (default: ../shared/data/text beside the project)",
    )  # fmt: skip
    parser.add_argument("--weka39", metavar="CLASSPATH", help="of Weka 3.9 (default: $FILTERKIT_WEKA39, get-weka)")
    parser.add_argument("--weka36", metavar="CLASSPATH", help="of Weka 3.6 (default: $FILTERKIT_WEKA36, Debian's)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
