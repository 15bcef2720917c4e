"""The endings of file names, which tell the compression and the format of a file."""

from __future__ import annotations

import os

from filterkit.errors import PATH, UsageError, quoted

COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")  # those that are recognised
ARFF = "ARFF"
CSV = "CSV"

# Formats of tables, numbers and archives, with their endings; a file with such an ending should be in that format.
_ENDINGS = {
    ARFF: ".arff",
    "Avro": ".avro",
    CSV: ".csv",
    "SQLite": ".db .sqlite .sqlite3",
    "Stata": ".dta",
    "Feather": ".feather",
    "Arrow": ".arrow .ipc",
    "HDF5": ".h5 .hdf .hdf5",
    "joblib": ".joblib",
    "JSON": ".json",
    "JSON lines": ".jsonl .ndjson",
    "LIBSVM": ".libsvm .svm",
    "SVMlight": ".svmlight",
    "MATLAB": ".mat",
    "NumPy": ".npy .npz",
    "OpenDocument": ".ods",
    "ORC": ".orc",
    "Parquet": ".parquet",
    "pickle": ".pickle .pkl",
    "R": ".rda .rdata .rds",
    "SAS": ".sas7bdat",
    "SPSS": ".sav",
    "TSV": ".tsv",
    "Excel": ".xls .xlsx",
    "XML": ".xml",
    "XRFF": ".xrff",
    "7-Zip": ".7z",
    "Brotli": ".br",
    "LZ4": ".lz4",
    "LZMA": ".lzma",
    "tar": ".tar .tgz",
    "compress": ".z",
    "zip": ".zip",
}
FORMATS_BY_ENDING = {ending: name for name, endings in _ENDINGS.items() for ending in endings.split()}


def find_ending_before_compression(path: str) -> str:
    """Return the ending of a path in lower case, such as ``.svm`` for ``x.SVM`` or ``x.SVM.gz``; "" if it has none.

    The ending of a compression, such as ``.gz``, does not count.
    """
    stem, last = os.path.splitext(path.lower())
    return os.path.splitext(stem)[1] if last in COMPRESSIONS else last


def find_other_format(path: str, own: str = ARFF) -> str | None:
    """Return the name of the format, such as "CSV", whose ending a path has; None if it is `own`, or if it is unknown.

    An ending of a compression does not count: ``x.csv.gz`` is CSV. Formats of archives, such as "zip", count, too.
    """
    name = FORMATS_BY_ENDING.get(find_ending_before_compression(path))
    return None if name == own else name


def check_ending(path: str, written: str = ARFF, by: str = "", hint: str = "", other: str | None = None) -> None:
    """Raise UsageError, which says what to do, if the ending of an output is that of another format than `written`.

    Parameters
    ----------
    path : the output.
    written : the name of the format to be written, ARFF or CSV.
    by : the option or stage that writes the file, for the message; "" for none.
    hint : further advice for the end of the message; ``{}`` becomes the name of the other format.
    other : the name of the format if the ending is that of a plugin's format; then raise in any case. None to look for
        the ending among those of `FORMATS_BY_ENDING`.
    """
    other = other or find_other_format(path, written)
    if other is not None:
        by = f"{by}: " if by else ""
        name, old = os.path.basename(path), find_ending_before_compression(path)
        start = name.lower().rindex(old)
        usual = _ENDINGS[written].split()[0]
        better = quoted(name[:start] + usual + name[start + len(old) :])  # the ending of a compression stays
        raise UsageError(
            f"{by}{quoted(path, PATH)} would hold {written}, but its ending is that of {other}; "
            f"name it {better}{hint.format(other)}"
        )


def check_chain_ending(path: str, by: str = "") -> None:
    """Raise UsageError if the name of a saved chain has the ending of another format, or of a compression.

    The endings ``.zip``, ``.npy`` and ``.npz`` are allowed. `by` is the option that names the file, for the message; ""
    for none.
    """
    if find_other_format(path) in (None, "NumPy", "zip") and not path.lower().endswith((*COMPRESSIONS, ".arff")):
        return
    better = os.path.basename(path).partition(".")[0] + ".chain"
    by = f"{by}: " if by else ""
    raise UsageError(
        f"{by}a saved chain has a format of its own, but {quoted(path, PATH)} has the ending of another; "
        f"name it {quoted(better)}"
    )
