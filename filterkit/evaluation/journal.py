"""The journal of an evaluation: results are saved as they come, so that an interrupted evaluation can be resumed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import IO, Any

from filterkit.data.batch import Batch
from filterkit.engines.engine import Engine
from filterkit.errors import FilterkitError, make_file_error, quoted
from filterkit.evaluation.folds import EvaluationDesign
from filterkit.evaluation.runner import Evaluator, Result, evaluate_task_folds
from filterkit.progress import FoldProgress

FORMAT = "filterkit journal 1"
_NO_JOURNAL = "this is not a journal of an evaluation; name another file"


class Journal:
    """Stores results in a text file of JSON lines; the first says what is evaluated, each other has those of one fold.

    Parameters
    ----------
    path : the path of the file, which is created or continued. An unfinished last line is dropped.
    data : the name and the rows of each data set.
    design : how chains are compared.

    Attributes
    ----------
    results : the results in the file.
    close : a function that closes the file.

    Raises
    ------
    FilterkitError : the file cannot be read or written, has a fold twice, or belongs to another evaluation.
    """

    def __init__(self, path: str, data: Iterable[tuple[str, Batch]], design: EvaluationDesign) -> None:
        self._path = path
        self.results: list[Result] = []
        hashes = {name: _hash_batch(batch) for name, batch in data}
        about = json.loads(json.dumps({"format": FORMAT, **asdict(design), "data": hashes}))
        try:
            if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
                # A device may have no end, and a pipe waits.
                raise FilterkitError(f"{path}: this is not a regular file, as a journal must be; name another")
            self._file: IO[str] = open(path, "a+", encoding="utf-8", newline="")
            self.close = self._file.close
            self._file.seek(0)
            lines = self._file.read().splitlines(keepends=True)
        except UnicodeDecodeError as error:
            raise FilterkitError(f"{path}: {_NO_JOURNAL} ({error})") from None
        except OSError as error:
            raise make_file_error(f"{path}: {error.strerror or error}", error) from None
        whole = [line for line in lines if line.endswith("\n")]
        if lines and not whole and not (json.dumps(about) + "\n").startswith(lines[0]):
            raise FilterkitError(f"{path}: {_NO_JOURNAL}")
        if whole:
            self._check_same_evaluation(whole[0], about)
        lines_of: dict[tuple[Any, ...], int] = {}  # by data, task, fold, share and chain
        for number, line in enumerate(whole[1:], 2):
            try:
                results = [Result(**each) for each in json.loads(line)]
                earlier = next((lines_of[each[:5]] for each in results if each[:5] in lines_of), None)
            except (ValueError, TypeError, RecursionError):
                damaged = quoted(line.rstrip("\n"), 40)
                raise FilterkitError(
                    f"{path}:{number}: this line is damaged: {damaged}; remove it, and its fold is evaluated again"
                ) from None
            if earlier is not None:
                raise FilterkitError(f"{path}:{number}: line {earlier} has results of this fold already; remove one")
            lines_of |= dict.fromkeys((each[:5] for each in results), number)
            self.results += results
        if len(whole) < len(lines):
            self._file.truncate(sum(len(line.encode()) for line in whole))
        if not whole:
            self._write_json_line(about)

    def add_results(self, results: list[Result]) -> None:
        """Append the results of all chains on one fold to the file, and to `results`.

        Raise FilterkitError if the file cannot be written.
        """
        self._write_json_line([result._asdict() for result in results])
        self.results += results

    def _check_same_evaluation(self, line: str, expected: dict[str, Any]) -> None:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise FilterkitError(f"{self._path}: {_NO_JOURNAL}")
        found = {
            **{field.name: field.default for field in fields(EvaluationDesign)},
            **found,
        }  # earlier versions had fewer
        other = [name.replace("_", " ") for name in expected if found.get(name) != expected[name]]
        if other:
            raise FilterkitError(
                f"{self._path}: this is the journal of another evaluation (not the same {', '.join(other)}); "
                "name another file"
            )

    def _write_json_line(self, data: Any) -> None:
        try:
            self._file.write(json.dumps(data) + "\n")
            self._file.flush()
        except OSError as error:
            raise make_file_error(f"{self._path}: {error.strerror or error}", error) from None


def evaluate_folds_with_journal(
    evaluator: Evaluator, engine: Engine, shows_progress: bool | None = None, journal: Journal | None = None
) -> list[Result]:
    """Evaluate the folds that the journal does not have yet, and return the results of all, in the order of folds.

    The journal gets the results of each fold as soon as they are there, and is closed at the end; None for no journal.
    `shows_progress` says whether to show how many folds are done; None shows it on a terminal only. The engine is used
    if there is work for seconds. Raise FilterkitError if a chain fails, or the journal cannot be written.
    """
    found = [] if journal is None else journal.results
    done = {result[:3] for result in found}
    size = sum(work for part, work in evaluator.work.items() if part not in done)
    progress = FoldProgress(shows_progress, size)
    try:
        for left, results in evaluate_task_folds(evaluator, engine, done):
            if journal is None:
                found += results
            else:  # which appends them to `found`
                journal.add_results(results)
            progress.count_fold(left, evaluator.work[results[0][:3]])
    finally:
        progress.close()
        if journal is not None:
            journal.close()
    order = {part: number for number, part in enumerate(evaluator.task_folds)}
    return sorted(found, key=lambda result: order[result[:3]])


def _hash_batch(batch: Batch) -> str:
    schema = batch.schema
    about = (schema.relation, schema.attributes, schema.targets, schema.positive, schema.zero)
    digest = hashlib.sha256(repr(about).encode())
    if schema.labels or batch.weights is not None:
        digest.update(b"2")  # earlier versions dealt these rows into other folds, or did not weigh them
    parts = [*(batch.csr[:3] if batch.sparse else [batch.X]), batch.y, batch.weights]
    for part in parts:
        digest.update(b"-" if part is None else part.tobytes())
    return digest.hexdigest()[:16]
