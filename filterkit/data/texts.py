"""Texts, a sequence of many texts in one buffer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import Any, SupportsIndex, overload

import numpy as np

_AT_ONCE = 1 << 12  # texts that are encoded, decoded or copied together
_SHOWN = 20  # texts of a set, in its repr
_LARGEST = (1 << 31) - 1  # the largest int32


@dataclass(eq=False, repr=False)
class Texts(Sequence[str]):
    """An immutable sequence of many `str`, which takes little more memory than their characters.

    Attributes
    ----------
    characters : uint8, the UTF-8 bytes of all texts, and perhaps more bytes before and after them.
    bounds : int32 or int64 (n + 1,), the offset in `characters` where each text begins, and where the last one ends.
    """

    characters: np.ndarray
    bounds: np.ndarray

    @staticmethod
    def of(texts: Iterable[str]) -> Texts:
        """Convert any iterable of `str`, also with lone surrogates, to `Texts`; return `Texts` unchanged."""
        if isinstance(texts, Texts):
            return texts
        buffer, lengths = bytearray(), [np.zeros(0, np.int64)]
        rest = iter(texts)
        while some := [text.encode("utf-8", "surrogatepass") for text in islice(rest, _AT_ONCE)]:
            buffer += b"".join(some)
            lengths.append(np.fromiter(map(len, some), np.int64, len(some)))
        return Texts(np.frombuffer(bytes(buffer), np.uint8), _compute_bounds(np.concatenate(lengths)))

    @staticmethod
    def cut_out(characters: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> Texts:
        """Copy n texts out of UTF-8 `characters`, uint8: text i is from the offset ``begins[i]`` up to ``ends[i]``.

        Both are int (n,) and ascend. The texts do not overlap, and an empty one does not begin where another ends.
        """
        step = np.zeros(len(characters) + 1, np.int8)
        step[begins] = 1
        step[ends] -= 1
        return Texts(characters[np.cumsum(step[:-1], dtype=np.int8).view(bool)], _compute_bounds(ends - begins))

    of_pieces = cut_out  # its name in older plugins

    @staticmethod
    def join_elements(*parts: tuple[Texts, np.ndarray]) -> Texts:
        """Return n texts; text i joins one text of each of `parts`, in order, without separators.

        Each of `parts`, at least one, is a pair (texts, positions). Text i takes the text at ``positions[i]``. The
        positions are int (n,).
        """
        from filterkit.data import arrow

        columns = (arrow.take(texts.array, positions.astype(np.int64)) for texts, positions in parts)
        array = arrow.join_elementwise(*columns)
        return Texts(np.frombuffer(array.buffers()[2] or b"", np.uint8), arrow.string_offsets(array))

    joined = join_elements  # its name in older plugins

    @staticmethod
    def concatenate(parts: Sequence[Texts]) -> Texts:
        """Return the texts of all parts, at least one, in order."""
        if len(parts) == 1:
            return parts[0]
        lengths = np.concatenate([part.lengths for part in parts])
        return Texts(np.concatenate([part._used_characters for part in parts]), _compute_bounds(lengths))

    @property
    def lengths(self) -> np.ndarray:
        """int (n,): the number of bytes of each text."""
        return np.diff(self.bounds)

    @property
    def nbytes(self) -> int:
        """The number of bytes of `characters` and `bounds`."""
        return self.characters.nbytes + self.bounds.nbytes

    @property
    def _used_characters(self) -> np.ndarray:
        """The `characters` without those before and after the texts."""
        return self.characters[int(self.bounds[0]) : int(self.bounds[-1])]

    @property
    def encoded(self) -> bytes:
        """The UTF-8 bytes of all texts, one after the other; older plugins use it."""
        return self._used_characters.tobytes()

    def take(self, positions: np.ndarray) -> Texts:
        """Return the texts at int (n,) `positions`, which may repeat."""
        return Texts.join_elements((self, positions))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @overload
    def __getitem__(self, position: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> Texts: ...
    def __getitem__(self, position: SupportsIndex | slice) -> str | Texts:
        if not isinstance(position, slice):
            position = range(len(self))[position]
            begin, end = self.bounds[position : position + 2].tolist()
            return self.characters[begin:end].tobytes().decode("utf-8", "surrogatepass")
        first, stop, step = position.indices(len(self))
        if step == 1:  # the characters are shared
            return Texts(self.characters, self.bounds[first : max(first, stop) + 1])
        return self.take(np.arange(first, stop, step))

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _AT_ONCE):
            bounds = self.bounds[first : first + _AT_ONCE + 1]
            some = self.characters[int(bounds[0]) : int(bounds[-1])].tobytes()
            for begin, end in pairwise((bounds - bounds[0]).tolist()):
                yield some[begin:end].decode("utf-8", "surrogatepass")

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self.find(text) is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Texts):
            return NotImplemented
        return np.array_equal(self.lengths, other.lengths) and np.array_equal(
            self._used_characters, other._used_characters
        )

    __hash__ = None  # type: ignore[assignment]

    def find(self, text: str) -> int | None:
        """Return the index of the first text that equals `text`; None if there is none."""
        wanted = text.encode("utf-8", "surrogatepass")
        positions = np.flatnonzero(self.lengths == len(wanted))
        for offset, character in enumerate(wanted):
            positions = positions[self.characters[self.bounds[positions] + offset] == character]
        return int(positions[0]) if len(positions) else None

    @cached_property  # because each schema of the same names asks for it
    def first_duplicate_positions(self) -> tuple[int, int] | None:
        """(i, j): text j is the first that equals an earlier one, i; None if all texts differ."""
        from filterkit.data import arrow

        codes = arrow.view_numbers(arrow.dictionary_encode(self.array).indices)
        repeats = np.flatnonzero(codes != np.arange(len(codes)))  # up to the first of them, each text has its own code
        return (int(codes[repeats[0]]), int(repeats[0])) if len(repeats) else None

    def isin(self, others: Texts) -> np.ndarray:
        """Return whether each text is among `others`: bool (n,)."""
        from filterkit.data import arrow

        are_in = arrow.call_function("is_in", [self.array], arrow.compute.SetLookupOptions(others.array))
        return np.array(are_in.to_pylist(), bool)

    def argsort(self) -> np.ndarray:
        """Return the indices that sort the texts by code points, as Python's ``sorted`` does: int64 (n,)."""
        from filterkit.data import arrow

        order = arrow.call_function("array_sort_indices", [self.array], arrow.compute.ArraySortOptions("ascending"))
        return np.frombuffer(order.buffers()[1], np.int64)

    @property
    def array(self) -> Any:
        """The texts as an Arrow array of ``string`` or ``large_string``, without a copy."""
        from filterkit.data import arrow

        return arrow.wrap_text_buffer(self.bounds, self.characters)


class TextSet(KeysView[str]):
    """An immutable ordered set of texts: a view of `Texts` without duplicates, or of the keys of a dict.

    Indexing returns a text, and slicing a list of texts.
    """

    _from_iterable = frozenset  # type: ignore[assignment]  # makes the results of operators such as &

    def __getitem__(self, position: int | slice) -> str | list[str]:
        return list(self)[position]

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, islice(self, _SHOWN)))}{', …' if len(self) > _SHOWN else ''}}}"


def _compute_bounds(lengths: np.ndarray) -> np.ndarray:
    """Return `Texts.bounds` for texts of these lengths in bytes, int (n,): int32 (n + 1,), or int64 if need be."""
    bounds = np.zeros(len(lengths) + 1, np.int32 if lengths.sum(dtype=np.int64) <= _LARGEST else np.int64)
    np.cumsum(lengths, out=bounds[1:])
    return bounds
