"""All works: what is compared with what, and the target of each ratio."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import growth
from benchmarks.work import Command, Contender, Input, Skipped, Target, Work

HERE = Path(__file__).resolve().parent
IRIS = HERE.parent / "arff_samples" / "iris.arff"
CHAIN = ("shape", "bns", "l2")
ALL_FILTER = "weka.filters.AllFilter"
ATTRIBUTE_SELECTION = "weka.filters.supervised.attribute.AttributeSelection"
METRICS = (
    *("ig", "acc", "acc2", "bbs", "bns", "chi", "dfreq", "f1", "fisher"),
    *("hellinger", "hyp", "oddn", "odds", "pmi", "pow", "pr", "rand"),
)
DISCRETIZE = "weka.filters.supervised.attribute.Discretize"
TO_WORDS = "weka.filters.unsupervised.attribute.StringToWordVector"
NORMALIZE = "weka.filters.unsupervised.instance.Normalize"
# The text sets, and the class that is the positive one.
TEXTS = {
    "oh0": "Mexico", "oh5": "Nitrogen", "oh10": "Italy", "oh15": "Aluminum", "tr11": "1", "tr12": "100", "tr23": "271",
}  # fmt: skip


class Places(NamedTuple):
    """Folders for made inputs and outputs, and of the text sets; class paths of the Wekas, None if absent."""

    data: Path
    text: Path
    weka39: str | None
    weka36: str | None


def works(places: Places) -> Iterator[Work | Skipped]:
    """All works, in order."""
    made = _Made(places.data)
    yield _unchanged(places, "dense", made.dense, 4, "dense, 75 MB: read and written unchanged")
    yield _unchanged(places, "sparse", made.sparse, 15, "sparse, 47 MB: read and written unchanged")
    yield _l2(places, made)
    yield _liac(places, "chain-liac", "sparse, 47 MB: shape bns l2", made.sparse, Target("at least", 8))
    yield _floor(places, made)
    yield _jobs(places, made)
    yield _iris(places)
    yield _memory("memory-chain", made, CHAIN)
    yield _memory("memory-l2", made, ("l2",))
    yield _no_dense_copy(made)
    yield _dense_floor(places, made)
    yield from _formats(places, made)
    yield from _scores(places, made)
    yield from _encoders(places, made)
    yield from growth.works(places.data, _made, filterkit, places.weka39)
    for name, positive in TEXTS.items():
        path = places.text / f"{name}.wc.arff.gz"
        if path.exists():
            what = f"text set {name}: shape bns l2"
            yield _liac(places, f"text-{name}", what, Input(path), Target("at least"), positive, times=2)
        else:
            yield Skipped(f"text-{name}", f"no {path.name} in the folder of text sets (--text)")


class _Made:
    """The inputs that are made for the run."""

    def __init__(self, data: Path) -> None:
        self.dense = _made(data / "dense.arff", "dense")
        self.sparse = _made(data / "sparse.arff", "sparse")
        self.large = _made(data / "sparse-1m.arff", "sparse", "1000000")
        self.classes = _made(data / "classes.arff", "classes")


def _made(path: Path, kind: str, *rows: str) -> Input:
    return Input(path, (sys.executable, "-m", "benchmarks.inputs", kind, str(path), *rows))


def filterkit(source: Path, output: str, *options: str, stages: tuple[str, ...] = ()) -> Command:
    """The command line of filterkit."""
    script = Path(sys.executable).with_name("filterkit")
    start = (str(script),) if script.exists() else (sys.executable, "-m", "filterkit")
    return (*start, "--output", output, *options, str(source), *stages)


def weka(class_path: str, name: str, source: Path, output: Path) -> Command:
    """The command line of a Weka filter."""
    return ("java", "-cp", class_path, name, "-i", str(source), "-o", str(output), "-c", "last")


def check(kind: str, *arguments: object) -> Command:
    """The command line of a check."""
    return (sys.executable, "-m", "benchmarks.checks", kind, *map(str, arguments))


def _unchanged(places: Places, kind: str, source: Input, limit: float, what: str) -> Work | Skipped:
    if places.weka39 is None:
        return Skipped(kind, "no Weka 3.9 (--weka39) or no Java")
    ours, theirs = places.data / f"{kind}-filterkit.arff", places.data / f"{kind}-weka.arff"
    return Work(
        kind,
        what,
        Contender("filterkit", filterkit(source.path, str(ours)), ours),
        Contender("Weka 3.9 AllFilter", weka(places.weka39, ALL_FILTER, source.path, theirs), theirs),
        Target("at least", limit),
        inputs=(source,),
        checks=(check("rows", ours, theirs, 0), check("rows", ours, source.path, 0)),
    )


def _l2(places: Places, made: _Made) -> Work | Skipped:
    if places.weka36 is None:
        return Skipped("l2", "no Weka 3.6 (--weka36) or no Java")
    ours, theirs = places.data / "l2-filterkit.arff", places.data / "l2-weka.arff"
    return Work(
        "l2",
        "sparse, 47 MB: l2",
        Contender("filterkit", filterkit(made.sparse.path, str(ours), stages=("l2",)), ours),
        Contender("Weka 3.6 Normalize", weka(places.weka36, NORMALIZE, made.sparse.path, theirs), theirs),
        Target("at least", 60),
        inputs=(made.sparse,),
        checks=(check("rows", ours, theirs, 5.01e-7),),  # Weka writes six decimals
        slow=True,
    )


def _liac(
    places: Places, name: str, what: str, source: Input, target: Target, positive: str = "", times: int = 1
) -> Work:
    ours, theirs = places.data / f"{name}-filterkit.arff", places.data / f"{name}-liac.arff"
    options = ("--positive", positive) if positive else ()
    peer = (sys.executable, str(HERE / "peer_liac.py"), str(source.path), str(theirs), *options[1:])
    return Work(
        name,
        what,
        Contender("filterkit", filterkit(source.path, str(ours), *options, stages=CHAIN), ours),
        Contender("liac-arff + numpy + scipy", peer, theirs),
        target,
        inputs=(source,),
        checks=(check("rows", ours, theirs, 1e-9),),
        times=times,
    )


def _floor(places: Places, made: _Made) -> Work:
    ours, floor, kept = (places.data / f"floor{ending}" for ending in ("-filterkit.arff", ".txt", "-pairs"))
    command = filterkit(made.sparse.path, str(ours), stages=CHAIN)
    return Work(
        "chain-floor",
        "sparse, 47 MB: shape bns l2",
        Contender("filterkit", command, ours),
        Contender(
            "pyarrow CSV floor",
            (sys.executable, str(HERE / "peer_floor.py"), "sparse", str(made.sparse.path), str(floor), str(kept)),
            floor,
        ),
        Target("at most", 1.0),
        inputs=(made.sparse,),
        prepare=(command, (sys.executable, "-m", "benchmarks.pairs", "save", str(ours), str(kept))),
        checks=(check("pairs", ours, floor),),
        scraps=(Path(f"{kept}.index.npy"), Path(f"{kept}.value.npy")),
    )


def _jobs(places: Places, made: _Made) -> Work:
    two, one = places.data / "jobs-2.arff", places.data / "jobs-1.arff"
    return Work(
        "jobs",
        "sparse, 47 MB: shape bns l2",
        Contender("filterkit --jobs 2", filterkit(made.sparse.path, str(two), "--jobs", "2", stages=CHAIN), two),
        Contender("filterkit --jobs 1", filterkit(made.sparse.path, str(one), "--jobs", "1", stages=CHAIN), one),
        Target("at least", 1.5),
        inputs=(made.sparse,),
        checks=(check("same", two, one),),
    )


def _iris(places: Places) -> Work | Skipped:
    if places.weka39 is None:
        return Skipped("iris", "no Weka 3.9 (--weka39) or no Java")
    ours, theirs = places.data / "iris-filterkit.arff", places.data / "iris-weka.arff"
    return Work(
        "iris",
        "iris, start to end: l2 against unchanged",
        Contender("filterkit", filterkit(IRIS, str(ours), stages=("l2",)), ours),
        Contender("Weka 3.9 AllFilter", weka(places.weka39, ALL_FILTER, IRIS, theirs), theirs),
        Target("at most", 0.55),
        inputs=(Input(IRIS),),
        checks=(check("count", ours, theirs),),
        times=4,
    )


def _memory(name: str, made: _Made, stages: tuple[str, ...]) -> Work:
    def contender(label: str, source: Input, rows: int) -> Contender:
        command = filterkit(source.path, "/dev/null", "--memory", "256MB", "--verbose", stages=stages)
        return Contender(label, command, says=f" {rows} rows,")

    return Work(
        name,
        f"sparse, --memory 256MB: {' '.join(stages)}",
        contender("filterkit, 1,000,000 rows", made.large, 1_000_000),
        contender("filterkit, 100,000 rows", made.sparse, 100_000),
        Target("at most", 1.15, "memory"),
        inputs=(made.sparse, made.large),
    )


def _no_dense_copy(made: _Made) -> Work:
    """Every stage that keeps zeros: a dense copy of a single block, some 2,000 of the rows, takes 500 MB."""

    def contender(label: str, stages: tuple[str, ...]) -> Contender:
        command = filterkit(made.sparse.path, "/dev/null", "--memory", "256MB", "--verbose", stages=stages)
        return Contender(label, command, says=" 100000 rows,")

    stages = ("ordinal", "tfidf", "shape", "bns", "binary", "chi", "l1", "max", "l2")
    return Work(
        "no-dense-copy",
        "sparse, 30,000 columns: the stages that keep zeros, one after the other",
        contender(f"filterkit {' '.join(stages)}", stages),
        contender("filterkit, no stage", ()),
        Target("at most", 3, "memory"),
        inputs=(made.sparse,),
    )


def _scores(places: Places, made: _Made) -> Iterator[Work | Skipped]:
    """All metrics against one, and selecting against Weka's two ways."""
    tables = [places.data / f"scores-{which}.csv" for which in ("all", "one")]
    start = filterkit(made.classes.path, "-")[:-3]

    def scores(label: str, table: Path, metrics: tuple[str, ...]) -> Contender:
        return Contender(label, (*start, "scores", "-o", str(table), str(made.classes.path), *metrics), table)

    yield Work(
        "metrics",
        "1,560 rows × 8,460 words, 20 classes: the table of scores",
        scores(f"filterkit, {len(METRICS)} metrics", tables[0], METRICS),
        scores("filterkit, ig", tables[1], ("ig",)),
        Target("at most", 3),
        inputs=(made.classes,),
        checks=(check("column", "ig", *tables),),
        times=2,
    )
    sets = [("classes", made.classes)]
    for name in TEXTS:
        packed = places.text / f"{name}.wc.arff.gz"
        plain = places.data / f"{name}.arff"
        if packed.exists():
            command = (sys.executable, "-m", "benchmarks.inputs", "unpacked", str(plain), str(packed))
            sets.append((name, Input(plain, command)))
        else:
            yield Skipped(f"select-{name}", f"no {packed.name} in the folder of text sets (--text)")
    for name, source in sets:
        for option, limit in (("-B", 1.0), ("", 5.0)):
            yield _select(places, f"select-{name}{option.lower()}", source, option, limit)


def _select(places: Places, name: str, source: Input, option: str, limit: float) -> Work | Skipped:
    if places.weka39 is None:
        return Skipped(name, "no Weka 3.9 (--weka39) or no Java")
    ours, theirs = places.data / f"{name}-filterkit.arff", places.data / f"{name}-weka.arff"
    evaluator = f"weka.attributeSelection.InfoGainAttributeEval {option}".strip()
    peer = (
        *weka(places.weka39, ATTRIBUTE_SELECTION, source.path, theirs),
        *("-E", evaluator, "-S", "weka.attributeSelection.Ranker -N 1000"),
    )
    return Work(
        name,
        f"{source.path.stem}: the 1,000 words of most information gain",
        Contender(
            "filterkit", filterkit(source.path, str(ours), stages=("select", "--by", "ig", "--top", "1000")), ours
        ),
        Contender(f"Weka 3.9 InfoGain {option or 'of numbers'}", peer, theirs),
        Target("at least", limit),
        inputs=(source,),
        checks=(check("count", ours, theirs),),
        times=2,
    )


def _encoders(places: Places, made: _Made) -> Iterator[Work | Skipped]:
    """Texts and counts of Reuters-21578 beside Weka on the text, and bins of numbers beside Weka's."""
    if places.weka39 is None:
        yield Skipped("words", "no Weka 3.9 (--weka39) or no Java")
        return
    theirs = places.data / "encoders-weka.arff"
    ours = places.data / "encoders-filterkit.arff"
    bins = (*weka(places.weka39, DISCRETIZE, made.dense.path, theirs),)
    yield Work(
        "bins",
        "dense, 75 MB: bins of minimum description length",
        Contender("filterkit", filterkit(made.dense.path, str(ours), stages=("bins",)), ours),
        Contender("Weka 3.9 Discretize", bins, theirs),
        Target("at least", 3),
        inputs=(made.dense,),
        checks=(check("lines", ours, theirs),),
    )
    sets = {}
    for name in ("raw", "earn"):
        packed = places.text.parent / "reuters" / f"reuters-{name}-train.arff.gz"
        plain = places.data / f"reuters-{name}.arff"
        sets[name] = Input(plain, (sys.executable, "-m", "benchmarks.inputs", "unpacked", str(plain), str(packed)))
        if not packed.exists():
            yield Skipped("words", f"no {packed.name} in the folder beside the text sets")
            return
    raw = sets["raw"].path
    peer = ("java", "-cp", places.weka39, TO_WORDS, "-C", "-R", "first", "-i", str(raw), "-o", str(theirs))
    ways = {
        "words": (raw, ("--class", "none"), ("words", "--attribute", "text", "--keep", "1000")),
        "ordinal": (sets["earn"].path, (), ("ordinal",)),
    }
    for name, (path, options, stages) in ways.items():
        yield Work(
            name,
            f"Reuters-21578, 9,603 training texts: {stages[0]}",
            Contender("filterkit", filterkit(path, str(ours), *options, stages=stages), ours),
            Contender("Weka 3.9 StringToWordVector -C, on the text", peer, theirs),
            Target("at least", 1),
            inputs=tuple(sets.values()),
            checks=(check("lines", ours, theirs),),
        )


def _dense_floor(places: Places, made: _Made) -> Work:
    ours, floor = places.data / "dense-floor-filterkit.arff", places.data / "dense-floor.csv"
    return Work(
        "dense-floor",
        "dense, 75 MB: read and written unchanged",
        Contender("filterkit", filterkit(made.dense.path, str(ours)), ours),
        Contender(
            "pyarrow CSV floor",
            (sys.executable, str(HERE / "peer_floor.py"), "dense", str(made.dense.path), str(floor)),
            floor,
        ),
        Target("at most", 0.7),
        inputs=(made.dense,),
        checks=(check("table", ours, floor),),
    )


def _formats(places: Places, made: _Made) -> Iterator[Work]:
    """CSV and Parquet beside the same values as ARFF, and libsvm beside scikit-learn."""
    dense, sparse = made.dense.path, made.sparse.path
    kept = {ending: places.data / f"formats-in{ending}" for ending in (".csv", ".parquet", ".libsvm")}
    outputs = [places.data / f"formats-{which}" for which in ("out.csv", "out.arff", "ours.libsvm", "theirs.libsvm")]
    yield Work(
        "csv",
        "dense, 75 MB: CSV read and written unchanged",
        Contender("filterkit, CSV", filterkit(kept[".csv"], str(outputs[0])), outputs[0]),
        Contender("filterkit, ARFF", filterkit(dense, str(outputs[1])), outputs[1]),
        Target("at most", 1),
        inputs=(made.dense,),
        prepare=(filterkit(dense, str(kept[".csv"])),),
        checks=(check("table", outputs[1], outputs[0], "header"),),
        scraps=(kept[".csv"],),
    )
    yield Work(
        "parquet",
        "dense, 75 MB as ARFF: read",
        Contender("filterkit, Parquet", (sys.executable, str(HERE / "read_all.py"), str(kept[".parquet"]))),
        Contender("filterkit, ARFF", (sys.executable, str(HERE / "read_all.py"), str(dense))),
        Target("at most", 0.5),
        inputs=(made.dense,),
        prepare=(filterkit(dense, str(kept[".parquet"])),),
        scraps=(kept[".parquet"],),
    )
    yield Work(
        "libsvm",
        "sparse, 47 MB as ARFF: libsvm, l2",
        Contender("filterkit", filterkit(kept[".libsvm"], str(outputs[2]), stages=("l2",)), outputs[2]),
        Contender(
            "scikit-learn",
            (sys.executable, str(HERE / "peer_svmlight.py"), str(kept[".libsvm"]), str(outputs[3])),
            outputs[3],
        ),
        Target("at least", 5),
        inputs=(made.sparse,),
        prepare=(filterkit(sparse, str(kept[".libsvm"])),),
        checks=(check("svmlight", outputs[2], outputs[3], 1e-12),),
        scraps=(kept[".libsvm"],),
    )
