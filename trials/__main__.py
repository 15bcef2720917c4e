"""The machines, as commands: ``python -m trials --help``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

_TARGETS = ["header", "rows", "words", "expression", "saved", "formats"]


@click.group(help="Look for what is wrong. Exit status 1: something was found, and it is printed.")
def main() -> None:
    pass


@main.command()
@click.argument("target", type=click.Choice(_TARGETS))
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False))
@click.option("--seconds", default=60, show_default=True, help="How long.")
@click.option("--seed", default=1, show_default=True, help="Of chance.")
@click.option("--blind", is_flag=True, help="Change bytes by chance alone, without atheris.")
@click.option("--corpus", default="", help="The folder for what atheris finds new.  [default: fuzz-TARGET]")
def fuzz(target: str, files: tuple[str, ...], seconds: int, seed: int, blind: bool, corpus: str) -> None:
    """Give TARGET bytes that change, or, again, the bytes in FILES."""
    from trials import fuzz as machine

    if files or blind:
        from trials.targets import TARGETS

        if files:
            found = [machine.failure(TARGETS[target], Path(path).read_bytes()) for path in files]
            tried, text = len(found), "\n".join(filter(None, found))
        else:
            tried, least, text = machine.blind(target, seconds, seed)
            text = f"{least!r}\n{text}" if text else ""
        print(f"{target}: {tried} inputs, {'found' if text else 'nothing found'}\n{text}".strip())
        sys.exit(bool(text))
    machine.coverage_guided(target, seconds, seed, Path(corpus or f"fuzz-{target}"))


@main.command()
@click.argument("target", type=click.Choice(_TARGETS))
@click.option("--corpus", default="", help="The folder to keep.  [default: fuzz-TARGET]")
def keep(target: str, corpus: str) -> None:
    """Keep what atheris has found for TARGET, so that the next run starts with it."""
    from trials.fuzz import pack
    from trials.targets import CORPUS

    count = pack(Path(corpus or f"fuzz-{target}"), CORPUS / f"{target}.tar.xz")
    print(f"{target}: {count} files kept")


@main.command("against-weka")
@click.option("--seconds", default=60, show_default=True, help="How long.")
@click.option("--seed", default=1, show_default=True, help="Of chance.")
@click.option("--weka", "new", required=True, help="The Java class path of Weka 3.9.")
@click.option("--old-weka", "old", default="", help="That of Weka 3.6, which reads what filterkit writes.")
def against_weka(seconds: int, seed: int, new: str, old: str) -> None:
    """Read made ARFF files with filterkit, Weka and liac-arff."""
    from trials.against_weka import run

    sys.exit(bool(run(new, old, seconds, seed)))


@main.command()
@click.option("--seconds", default=60, show_default=True, help="How long.")
@click.option("--seed", default=1, show_default=True, help="Of chance.")
def soak(seconds: int, seed: int) -> None:
    """Run chains by chance, each with several settings."""
    from trials.soak import soak as machine

    counts, wrong = machine(seconds, seed)
    print("\n".join([*wrong, ", ".join(f"{count} {what}" for what, count in counts.items())]))
    sys.exit(bool(wrong))


@main.command()
@click.option("--seconds", default=60, show_default=True, help="How long.")
@click.option("--seed", default=1, show_default=True, help="What the rows are made from.")
@click.option("--format", "form", type=click.Choice(["arff", "csv", "jsonl"]), default="arff", show_default=True)
@click.option("--rate", default=200.0, show_default=True, help="Rows a second in the steady phase.")
def live(seconds: int, seed: int, form: str, rate: float) -> None:
    """Send a live stream through a loaded chain."""
    from trials.live import live as machine

    figures, wrong = machine(seconds, seed, form, rate)
    print("\n".join([*figures, *wrong]))
    sys.exit(bool(wrong))


@main.command()
@click.option("--seconds", default=60, show_default=True, help="How long.")
@click.option("--seed", default=1, show_default=True, help="Of chance.")
@click.option("--kind", "kinds", multiple=True, help="Only this kind of fault. Repeatable.")
@click.option("--job", "jobs", multiple=True, help="Only this job. Repeatable.")
def faults(seconds: int, seed: int, kinds: tuple[str, ...], jobs: tuple[str, ...]) -> None:
    """Let the system fail the command in many ways."""
    from trials.faults.machine import faults as machine

    counts, wrong = machine(seconds, seed, kinds, jobs, tell=lambda line: print(line, flush=True))
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())), f"and {len(wrong)} findings")
    sys.exit(bool(wrong))


@main.command("round-trips")
@click.option("--tables", default=100, show_default=True, help="How many.")
@click.option("--seed", default=1, show_default=True, help="Of the first table.")
def round_trips(tables: int, seed: int) -> None:
    """Pass made tables through each pair of formats."""
    from trials.round_trips import round_trips as machine

    record = machine(tables, seed)
    print("\n".join([*record.lines(), *record.wrong.values()]))
    sys.exit(bool(record.wrong))


@main.command()
@click.option("--only", default="", help="Only cases that this regular expression finds, as '^svm: --c'.")
@click.option("--share", default=1.0, show_default=True, help="Only this share of them, drawn at random.")
@click.option("--seed", default=1, show_default=True, help="Of chance.")
def sweep(only: str, share: float, seed: int) -> None:
    """Give every option senseless values, and look at how each run ends."""
    from trials.sweep import sweep as machine

    counts, wrong = machine(only, share, seed, tell=lambda line: print(line, flush=True))
    print(", ".join(f"{count} {what}" for what, count in counts.items()), f"and {len(wrong)} findings")
    sys.exit(bool(wrong))


@main.command()
def limits() -> None:
    """Measure time and memory against size."""
    from trials.limits import run

    run()


if __name__ == "__main__":
    main()
