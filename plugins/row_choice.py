"""Choose training rows by their numbers, or leave out duplicates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import numpy as np

from filterkit import Batch, TrainingStage, option
from filterkit.plugin import (
    ChoosingStage,
    Ints,
    Rows,
    encode_attribute,
    find_run_begins,
    get_attribute_values,
    itself,
    mix_bits,
    offer,
    parse_ranges,
    take_rows,
)

_END = 1 << 62


class KeepRowsByNumber(TrainingStage):
    """Keep the training rows of some numbers, counted from 1, as Weka's RemoveRange does.

        filterkit in.arff rows 1-100,501-last

    Numbers beyond the last row are ignored. With `--invert` all other rows are kept. The rows keep their order; later
    rows, as with ``--test``, all stay. Without `--invert`, rows beyond the last of these numbers are not read, unless a
    stage before this one, such as ``write``, needs them.
    """

    name = "rows"

    invert: bool = option(False, "Keep all other rows.")
    numbers: str | None = option(None, "Numbers and ranges, as 1-100,501-last.", bare=True)

    def __post_init__(self) -> None:
        # Where the last row is, is not known yet.
        from_any_row = re.sub(r"(^|,)\s*last\s*-", r"\g<1>1-", self.numbers or "")
        parse_ranges(self.name, "NUMBERS", from_any_row, _END)

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        text, last = self.numbers or "", _END
        if re.search(r"(?:^|,)\s*last", text):  # a range begins with the last row
            last = max(1, sum(rows.map(len)))
        ranges = parse_ranges(self.name, "NUMBERS", text, last)
        end = _END if self.invert else max(high for *_, high in ranges)
        start = 0
        for batch in rows.map(itself, last=True):
            number = np.arange(start, start + len(batch)) + 1
            chosen = np.zeros(len(batch), bool)
            for _, low, high in ranges:
                chosen |= (number >= low) & (number <= high)
            yield batch.take(np.flatnonzero(chosen != self.invert))
            start += len(batch)
            if start >= end and not rows.to_the_end:
                return


class Distinct(ChoosingStage, TrainingStage):
    """Keep the first of equal training rows, as Weka's RemoveDuplicates does.

        filterkit in.arff distinct

    Rows are equal if all their values are, missing ones and the class among them; weights do not count. `--only` and
    `--except` choose the attributes to compare. The rows keep their order; later rows, as with ``--test``, all stay.

    Rows are compared by hashes of 128 bits, which take 64 bytes of memory for each row. Among a billion rows, the
    chance that two different ones have the same hash is below 1 in 10^20.
    """

    name = "distinct"
    known_as = "deduplicate dropduplicates uniq unique"

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        chosen = self.chosen(rows.schema) if self.chooses_attributes else None
        hashes = np.concatenate([np.empty((0, 2), np.uint64), *rows.map(partial(_hash_rows, positions=chosen))])
        order = np.lexsort((hashes[:, 1], hashes[:, 0]))  # equal rows stay in order
        yield from take_rows(rows, np.sort(order[find_run_begins(*hashes[order].T)]))


_SALTS = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)


def _hash_rows(batch: Batch, positions: list[int] | None) -> Ints:
    """Compute two hashes of each row, uint64 (rows, 2), from the attributes at `positions`; None for all attributes.

    A hash of a row is the sum, modulo 2**64, of hashes of its values, each mixed with its column. It is the same for
    sparse and dense rows: zeros of X never count if `positions` is None, and else they always do.
    """
    found = np.zeros((len(batch), 2), np.uint64)
    others = positions
    if others is None:
        entries = batch.in_form(True).csr
        _add_value_hashes(found, entries.row_of_entry, entries.indices.astype(np.uint64), entries.data)
        others = [*batch.schema.targets, *batch.schema.passthrough_indices]
    for position in others:
        values = get_attribute_values(batch, position)
        column = np.full(len(batch), position + (1 << 32), np.uint64)
        if not isinstance(values, np.ndarray):
            from hashlib import blake2b

            distinct, codes = encode_attribute(batch, position)  # texts, or the milliseconds of dates
            hashes = b"".join(blake2b(str(value).encode(), digest_size=8).digest() for value in distinct)
            values = np.append(np.frombuffer(hashes, np.uint64), np.uint64(0))[codes]  # a missing value has 0
        _add_value_hashes(found, np.arange(len(batch)), column, values)
    return found


def _add_value_hashes(row_hashes: Ints, rows: Ints, columns: Ints, values: np.ndarray) -> None:
    """Add two hashes of each value, mixed with its column, to those of its row in `row_hashes`, in place.

    `row_hashes` is uint64 (rows, 2). The others have an element for each value: `rows`, the index of its row;
    `columns`, uint64, the number of its column; and `values`, the value itself as float64, or as uint64 the hash of a
    text or date.
    """
    bits = values
    if values.dtype != np.uint64:  # 0.0 and -0.0 have the same bits, and so have all NaNs
        bits = np.where(np.isnan(values), np.nan, values + 0.0).astype(np.float64).view(np.uint64)
    with np.errstate(over="ignore"):
        for number, salt in enumerate(map(np.uint64, _SALTS)):
            value = mix_bits(mix_bits(columns * salt + salt) ^ bits) * salt
            np.add.at(row_hashes[:, number], rows, mix_bits(value))


filterkit_stages = offer(Distinct, KeepRowsByNumber)
