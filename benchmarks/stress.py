"""Tries many times whether what must not happen does happen.

    python -m benchmarks.stress kill [TRIES]      # kill -9 at random moments of -o and --save
    python -m benchmarks.stress mutants [TRIES]   # saved chains with bytes changed, cut, doubled or moved

**kill**: after each kill the file under the final name is the one of the run before, or whole; never a part, and
once removed, never there at all unless whole. What was written aside may stay, under a name with a dot before it.

**mutants**: each either is refused with one line, or loads to a chain that transforms rows as the whole one does.
Every other one is changed inside a member, and then packed as if it were right; it may transform rows to other
numbers, or refuse them. The process may take at most 200 MB more memory.
"""

from __future__ import annotations

import io
import random
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path

import filterkit
from filterkit import FilterkitError, testing
from filterkit.chains import saved

SAMPLES = Path(__file__).resolve().parent.parent / "arff_samples"
COMMAND = [sys.executable, "-m", "filterkit"]


def kill(tries: int = 200) -> None:
    """Kill runs that write an output and a saved chain."""
    rng = random.Random(0)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        out, kept = Path(folder, "out.arff"), Path(folder, "chain")
        work = [*COMMAND, "-o", str(out), "--save", str(kept), str(SAMPLES / "digits.arff"), "shape", "bns", "l2"]
        began = time.perf_counter()
        subprocess.run(work, check=True)
        length = time.perf_counter() - began
        whole = {out: out.read_bytes(), kept: kept.read_bytes()}
        for number in range(tries):
            before = {out: b"the file of before", kept: b"the chain of before"} if number % 2 else {}
            for path in whole:
                path.unlink(missing_ok=True)
                if before:
                    path.write_bytes(before[path])
            with subprocess.Popen(work) as process:
                # Most of a run is start-up; the writing is in its last third.
                time.sleep(length * rng.choice([rng.random(), 0.6 + 0.5 * rng.random()]))
                process.kill()
            for path, content in whole.items():
                there = path.read_bytes() if path.exists() else None
                if there == content:
                    found[f"{path.name} whole"] += 1
                elif there == before.get(path):
                    found[f"{path.name} as before"] += 1
                else:
                    sys.exit(f"try {number}: {path.name} is a part of {len(there or b'')} of {len(content)} bytes")
            aside = [path for path in Path(folder).iterdir() if path.name.startswith(".")]
            found["left aside"] += len(aside)
            for path in aside:
                path.unlink()
    print(f"{tries} kills: " + ", ".join(f"{count} {what}" for what, count in sorted(found.items())))


def mutants(tries: int = 10_000) -> None:
    """Load changed files of several saved chains."""
    rng = random.Random(0)
    found: Counter[str] = Counter()
    data = filterkit.read(str(SAMPLES / "mixed-sparse.arff"))
    texts = filterkit.read(str(SAMPLES / "mixed.arff"))
    chains = [
        ("shape bns select --top 3 l2", data),
        ("impute onehot shape --cross-fit 3 chi", texts),
        ("words --keep 5 tfidf", texts),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "chain")
        originals = []
        for chain, rows in chains:
            fitted = filterkit.chain(chain).fit(rows)
            saved.save(fitted, str(path))
            originals.append((path.read_bytes(), rows, fitted.transform(rows)))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for number in range(tries):
            content, rows, expected = originals[number % len(originals)]
            edited = bool(number // len(originals) % 2)
            path.write_bytes(repacked(content, rng) if edited else mutant(content, rng))
            kind = "edited" if edited else "damaged"
            try:
                loaded = saved.load(str(path))
            except FilterkitError as error:
                found[f"{kind} refused"] += 1
                if "\n" in str(error):
                    sys.exit(f"mutant {number}: more than a line: {error}")
                continue
            try:
                out = loaded.transform(rows)
            except FilterkitError:
                found[f"{kind} refuses the rows"] += 1
                continue
            if not edited and not testing.same(out, expected):
                sys.exit(f"mutant {number} loads and transforms otherwise")
            found[f"{kind} works"] += 1
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) // 1024
    if more > 200:
        sys.exit(f"memory grew by {more} MB")
    counts = ", ".join(f"{count} {what}" for what, count in sorted(found.items()))
    print(f"{tries} mutants: {counts}; memory grew by {more} MB")


def mutant(content: bytes, rng: random.Random) -> bytes:
    """`content` with a random change."""
    data = bytearray(content)
    at, to = sorted(rng.sample(range(len(data)), 2))
    kind = rng.randrange(5)
    if kind == 0:
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del data[at : at + rng.randint(1, 200)]
    elif kind == 2:
        data[at:at] = data[to : to + rng.randint(1, 200)]
    elif kind == 3:
        data[at:to] = rng.randbytes(min(to - at, 50))
    else:
        del data[at:]
    return bytes(data)


def repacked(content: bytes, rng: random.Random) -> bytes:
    """The archive `content` with a random change in one of its members, whose checksum is right again."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(out, "w") as changed:
        names = archive.namelist()
        chosen = rng.choice([names[0], rng.choice(names)])  # the first is chain.json
        for name in names:
            data = archive.read(name)
            changed.writestr(name, mutant(data, rng) if name == chosen and len(data) > 1 else data)
    return out.getvalue()


if __name__ == "__main__":
    {"kill": kill, "mutants": mutants}[sys.argv[1]](*map(int, sys.argv[2:]))
