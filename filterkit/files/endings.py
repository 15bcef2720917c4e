"""The endings of file names, which tell the compression and the format of a file."""

from __future__ import annotations

import os

from filterkit.errors import PATH, UsageError, quoted

COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")  # those that are recognised
ARFF = "ARFF"
CSV = "CSV"

# Formats of tables, numbers and archives; a file with such an ending is expected to be in that format.
KNOWN = {
    ".arff": ARFF,
    ".avro": "Avro",
    ".csv": "CSV",
    ".db": "SQLite",
    ".dta": "Stata",
    ".feather": "Feather",
    ".arrow": "Arrow",
    ".ipc": "Arrow",
    ".h5": "HDF5",
    ".hdf": "HDF5",
    ".hdf5": "HDF5",
    ".joblib": "joblib",
    ".json": "JSON",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".libsvm": "LIBSVM",
    ".svm": "LIBSVM",
    ".svmlight": "SVMlight",
    ".mat": "MATLAB",
    ".npy": "NumPy",
    ".npz": "NumPy",
    ".ods": "OpenDocument",
    ".orc": "ORC",
    ".parquet": "Parquet",
    ".pickle": "pickle",
    ".pkl": "pickle",
    ".rda": "R",
    ".rdata": "R",
    ".rds": "R",
    ".sas7bdat": "SAS",
    ".sav": "SPSS",
    ".sqlite": "SQLite",
    ".sqlite3": "SQLite",
    ".tsv": "TSV",
    ".xls": "Excel",
    ".xlsx": "Excel",
    ".xml": "XML",
    ".xrff": "XRFF",
    ".7z": "7-Zip",
    ".br": "Brotli",
    ".lz4": "LZ4",
    ".lzma": "LZMA",
    ".tar": "tar",
    ".tgz": "tar",
    ".z": "compress",
    ".zip": "zip",
}


def find_ending(path: str) -> str:
    """Return the ending of a file's name in lower case, without that of a compression: ``.svm`` for ``x.SVM.gz``."""
    stem, last = os.path.splitext(path.lower())
    return os.path.splitext(stem)[1] if last in COMPRESSIONS else last


def find_other_format(path: str, own: str = ARFF) -> str | None:
    """Return the name of the format that the ending of a path belongs to; None if that is `own`, or unknown."""
    name = KNOWN.get(find_ending(path))
    return None if name == own else name


def check_ending(path: str, written: str = ARFF, by: str = "", hint: str = "", other: str | None = None) -> None:
    """Refuse to write a format to a file whose ending belongs to another one.

    Parameters
    ----------
    path : the file.
    written : the format to be written.
    by : the option or stage that writes the file, for the message.
    hint : other advice for the end of the message; ``{}`` becomes the name of the other format.
    other : the format that the ending belongs to, if it is one of a plugin.

    Raises
    ------
    UsageError : the ending belongs to another format; the message says what to do.
    """
    other = other or find_other_format(path, written)
    if other is not None:
        by = f"{by}: " if by else ""
        name, old = os.path.basename(path), find_ending(path)
        start = name.lower().rindex(old)
        better = quoted(name[:start] + _USUAL[written] + name[start + len(old) :])  # that of a compression stays
        raise UsageError(
            f"{by}{quoted(path, PATH)} would hold {written}, but its ending is that of {other}; "
            f"name it {better}{hint.format(other)}"
        )


def check_chain_ending(path: str, by: str = "") -> None:
    """Raise UsageError if the ending of a saved chain, which is a zip archive of arrays, belongs to something else."""
    if find_other_format(path) in (None, "NumPy", "zip") and not path.lower().endswith((*COMPRESSIONS, ".arff")):
        return
    better = os.path.basename(path).partition(".")[0] + ".chain"
    by = f"{by}: " if by else ""
    raise UsageError(
        f"{by}a saved chain has a format of its own, but {quoted(path, PATH)} has the ending of another; "
        f"name it {quoted(better)}"
    )


_USUAL = {ARFF: ".arff", CSV: ".csv"}
