"""Gives targets changed bytes: by chance alone, or, with atheris, those that reach code which others did not.

    python -m trials fuzz TARGET --seconds 3600        # with atheris
    python -m trials fuzz TARGET --seconds 60 --blind  # without it

A finding ends the run. Its bytes are left in a file, which ``python -m trials fuzz TARGET FILE`` tries again.
"""

from __future__ import annotations

import io
import random
import sys
import tarfile
import time
import warnings
from pathlib import Path

_SECONDS_OF_ONE = 10  # more than that is a hang
_MEGABYTES = 3000


def coverage_guided(target: str, seconds: int, seed: int, corpus: Path) -> None:
    """Run atheris, which adds to the files in `corpus` what is new; does not return.

    Parameters
    ----------
    target : a name among `trials.targets.TARGETS`.
    seconds : how long.
    seed : of chance.
    corpus : a folder; the project's own files are read besides. What was kept is unpacked into it, if it is new.
    """
    import atheris

    with atheris.instrument_imports(include=["filterkit", "filterkit_plugins"]):
        from trials.targets import CORPUS, TARGETS

        TARGETS[target](b"")  # imports what it needs
    warnings.simplefilter("error", RuntimeWarning)
    if not corpus.exists():
        unpack(CORPUS / f"{target}.tar.xz", corpus)
    limits = [f"-max_total_time={seconds}", f"-timeout={_SECONDS_OF_ONE}", f"-rss_limit_mb={_MEGABYTES}"]
    more = [f"-seed={seed or 1}", "-max_len=4096", f"-artifact_prefix={target}-", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *limits, *more, str(corpus), str(CORPUS / target)], TARGETS[target])
    atheris.Fuzz()


def pack(folder: Path, archive: Path) -> int:
    """Keep the files of a folder in an archive, in the place of what it had; returns their number."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    with tarfile.open(archive, "w:xz") as out:
        for path in files:
            about, data = tarfile.TarInfo(path.name), path.read_bytes()
            about.size = len(data)
            out.addfile(about, io.BytesIO(data))
    return len(files)


def unpack(archive: Path, folder: Path) -> None:
    """Make a folder of the files in an archive; an empty one if there is no archive."""
    folder.mkdir(parents=True)
    if archive.exists():
        with tarfile.open(archive) as kept:
            kept.extractall(folder, filter="data")


def blind(target: str, seconds: float, seed: int, tries: int | None = None) -> tuple[int, bytes | None, str]:
    """Change files of the corpus by chance until the time is over or one fails.

    Returns
    -------
    how many were tried; the shortest bytes found that fail, or None; and how they fail.
    """
    from trials.targets import CORPUS, TARGETS, corpus

    rng, end = random.Random(seed), time.monotonic() + seconds
    known = corpus(target) or [b""]
    assert CORPUS.is_dir()
    tried = 0
    while time.monotonic() < end and (tries is None or tried < tries):
        data = known[tried] if tried < len(known) else mutant(rng.choice(known), known, rng)
        tried += 1
        if failure(TARGETS[target], data):
            least = shortened(data, TARGETS[target])
            return tried, least, failure(TARGETS[target], least)
    return tried, None, ""


def failure(function: object, data: bytes) -> str:
    """How the function fails for these bytes; an empty text if it does not."""
    assert callable(function)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            function(data)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def mutant(data: bytes, known: list[bytes], rng: random.Random) -> bytes:
    """`data` with a few changes."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randint(0, len(data))
        to = min(at + rng.choice((1, 1, 2, 8, 40)), len(data))
        other = rng.choice(known)
        start = rng.randint(0, len(other))
        kind = rng.randrange(5)
        if kind == 0:
            data = data[:at] + data[to:]
        elif kind == 1:
            data = data[:at] + other[start : start + rng.choice((1, 4, 20))] + data[to:]
        elif kind == 2:
            data = data[:at] + data[at:to] * rng.choice((2, 3, 50)) + data[to:]
        elif kind == 3:
            data = data[:at] + rng.choice(_PIECES) + data[rng.choice((at, to)) :]
        else:
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    return data


_PIECES = [b"'", b'"', b"\\", b"{", b"}", b"%", b",", b" ", b"\t", b"\n", b"\r", b"?", b"0", b"-1", b"1e999", b"NaN"]
_PIECES += [b"\0", b"\xff", b"\xc3\xa9", b"\xe2\x80\xa8", b"99999999999", b"--", b"=", b"@data\n", b"null", b"[]"]


def shortened(data: bytes, function: object) -> bytes:
    """`data` without what it fails without: ever smaller pieces are left out, while it still fails."""
    size = max(len(data) // 2, 1)
    while size:
        at = 0
        while at < len(data):
            less = data[:at] + data[at + size :]
            if failure(function, less):
                data = less
            else:
                at += size
        size //= 2
    return data
