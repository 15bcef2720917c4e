"""What each stage of a chain did to the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from filterkit.chains.fitting import Passed
from filterkit.chains.rows import MappedRows, TrainingRows, growth_of
from filterkit.data.batch import Batch
from filterkit.exploration.overview import Look, Seen, look_at, seen_of
from filterkit.stages.base import Fitted, Stage, transform


class Account(NamedTuple):
    """What each stage did, and the rows that come out of one of them.

    Attributes
    ----------
    sizes : int64 (3,) of the rows as they come in, and as they come out of each stage: rows, cells that are neither
        zero nor missing, and missing cells.
    seen : the rows that were looked at.
    """

    sizes: list[np.ndarray]
    seen: Seen


def account(rows: TrainingRows, passed: Sequence[Passed], looked_at: int) -> Account:
    """Count the rows and cells that come out of each stage, and look at those that come out of one.

    Rows that fitted stages make of the same source are counted in one pass.

    Parameters
    ----------
    rows : as they come in.
    passed : the fitted stages, with the rows that come out of each.
    looked_at : the number of stages in front of the rows to look at.
    """
    every = [rows, *(each.rows for each in passed)]
    sizes: list[np.ndarray] = []
    seen = None
    while len(sizes) < len(every):
        left = every[len(sizes) :]
        source, first = _source(left[0]), len(_stages(left[0]))
        count = next((number for number, each in enumerate(left) if _source(each) is not source), len(left))
        stages, place = _stages(left[count - 1]), looked_at - len(sizes)
        total = np.zeros((len(stages) + 1, 3), np.int64)
        looks = _looks(source, stages, first + place if 0 <= place < count else None, total)
        if 0 <= place < count:
            seen = seen_of(looks, left[place].schema)
        for _ in looks:
            pass
        sizes += list(total[first:])
    assert seen is not None
    return Account(sizes, seen)


def described(
    found: Account,
    rows: TrainingRows,
    stages: Sequence[Stage],
    passed: Sequence[Passed],
    seconds: Sequence[float | None],
) -> list[dict[str, Any]]:
    """``stages`` of the page.

    Parameters
    ----------
    found : what `account` counted.
    rows : as they come in.
    stages, passed : the stages; and the same fitted.
    seconds : how long it took to fit each; None if it was fitted together with the one before it.
    """
    words = ["", *(" ".join(stage.words()) for stage in stages)]
    widths = [rows.schema.width, *(each.fitted.schema.width for each in passed)]
    return [
        {"words": text, "columns": width, **dict(zip(("rows", "nonzero", "missing"), size.tolist())), "seconds": time}
        for text, width, size, time in zip(words, widths, found.sizes, [None, *seconds])
    ]


def _looks(source: Any, stages: list[Fitted], place: int | None, total: np.ndarray) -> Iterator[Look]:
    """Looks at the rows behind some of the stages, batch by batch; none for None. Sizes are added to `total`."""
    for sizes, look in source.map(partial(_on_the_way, stages, place), growth=growth_of(stages)):
        total += sizes
        if look is not None:
            yield look


def _source(rows: TrainingRows) -> Any:
    return rows.source if isinstance(rows, MappedRows) else rows


def _stages(rows: TrainingRows) -> list[Fitted]:
    return rows.stages if isinstance(rows, MappedRows) else []


def _on_the_way(stages: list[Fitted], place: int | None, batch: Batch) -> tuple[np.ndarray, Look | None]:
    """int64 (stages + 1, 3), the size of a batch before the stages and behind each; and the look at one of them."""
    found, look = [_size(batch)], look_at(batch) if place == 0 else None
    for number, stage in enumerate(stages, 1):
        batch = transform([stage], batch, training=True)
        found.append(_size(batch))
        if number == place:
            look = look_at(batch)
    return np.array(found, np.int64), look


def _size(batch: Batch) -> tuple[int, int, int]:
    values = batch.csr.data if batch.sparse else batch.X
    missing = int(np.count_nonzero(np.isnan(values)))
    return len(batch), int(np.count_nonzero(values)) - missing, missing
