"""From texts to words and sequences of words, as numbers.

A word has a number. A word with spaces in it, as some `--pattern` may find, counts as several *pieces*, and each has a
number: then two sequences are the same text if, and only if, they have the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from filterkit import StageError
from filterkit.plugin import Pattern

RUN = r"\b\w\w+\b"
_PIECES = 1 << 21  # how many pieces of sequences to have in memory, unless a single text has more


class Options(Protocol):
    """The options of the stage that say what a word is."""

    name: ClassVar[str]
    lower: bool
    pattern: str
    stop: str
    stem: str
    ngrams: int


class Sequences(NamedTuple):
    """The words and sequences of words of some texts that have the same number of pieces.

    Attributes
    ----------
    row : int64 (n,), the text that each is in.
    pieces : int64 (n, length), their numbers.
    """

    row: np.ndarray
    pieces: np.ndarray


class Analyzer:
    """Splits texts into words, in the same way for training rows and later rows."""

    def __init__(self, options: Options, stop: Iterable[str] | None = None) -> None:
        self._options = options
        self.stop = _stop_words(options) if stop is None else frozenset(stop)
        self._stemmer: Any = None
        if options.stem != "none":
            import Stemmer

            self._stemmer = Stemmer.Stemmer(options.stem)

    def __reduce__(self) -> tuple[Any, ...]:
        return Analyzer, (self._options, self.stop)  # a stemmer cannot be pickled

    def sequences(self, texts: Any, number: Callable[[str], int]) -> Iterator[Sequences]:
        """The words of an Arrow array of strings and the sequences of up to `ngrams` words.

        The sequences of one length that are in the same text come out together.

        Parameters
        ----------
        texts : may have nulls, which have no words.
        number : the number of a piece.
        """
        row, code, raw = self._tokens(texts)
        words = [self._word(word) for word in raw]
        pieces = [[] if word is None else [number(piece) for piece in word.split(" ")] for word in words]
        if len(code):
            kept = np.array([word is not None for word in words], bool)[code]
            row, code = row[kept], code[kept]
        step = max(_PIECES // self._options.ngrams, 1)
        low = 0
        while low < len(row):
            high = int(np.searchsorted(row, row[min(low + step, len(row)) - 1], side="right"))  # rows stay whole
            yield from self._sequences(row[low:high], *_ragged(code[low:high], pieces))
            low = high

    def _pattern(self) -> Pattern:
        return Pattern(self._options.name, "--pattern", self._options.pattern)

    def _sequences(self, row: np.ndarray, starts: np.ndarray, flat: np.ndarray) -> Iterator[Sequences]:
        """Do what `sequences` does, for words in the texts `row`, whose pieces begin at `starts` in `flat`."""
        waiting: dict[int, list[Sequences]] = {}
        first = np.arange(len(row))
        for more in range(self._options.ngrams):  # words after the first
            first = first[: np.searchsorted(first, len(row) - more)]
            first = first[row[first] == row[first + more]]
            if not len(first):
                break
            lengths = starts[first + more + 1] - starts[first]
            for length in np.unique(lengths).tolist():
                chosen = first[lengths == length]
                pieces = flat[starts[chosen][:, None] + np.arange(length)]
                waiting.setdefault(length, []).append(Sequences(row[chosen], pieces))
            # Later sequences have more words, and so at least as many pieces more.
            for length in [length for length in waiting if length <= more + 1]:
                yield _together(waiting.pop(length))
        for parts in waiting.values():
            yield _together(parts)

    def _word(self, word: str) -> str | None:
        """The stem of a word, or None if the word is left out."""
        if word in self.stop:
            return None
        return word if self._stemmer is None else self._stemmer.stemWord(word)

    def _tokens(self, texts: Any) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """The tokens of an Arrow array of strings: row and code of each, int64 (n,), and the distinct tokens."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if texts.null_count:
            texts = texts.fill_null("")
        if self._options.lower:
            # For other text Arrow knows less of Unicode than Python does.
            ascii_only = pc.all(pc.string_is_ascii(texts)).as_py()
            texts = (
                pc.ascii_lower(texts)
                if ascii_only
                else pa.array([text.lower() for text in texts.to_pylist()], pa.string())
            )
        if self._options.pattern == RUN:
            lists = pc.split_pattern_regex(texts, r"[^\pL\pN_]+")
        else:
            lists = pa.array(self._pattern().found(texts.to_pylist()), pa.list_(pa.string()))
        tokens = lists.flatten()
        # Read the buffers themselves, because Arrow's own conversion to numpy imports pandas.
        offsets = np.frombuffer(lists.buffers()[1], np.int32)[lists.offset : lists.offset + len(lists) + 1]
        row = np.repeat(np.arange(len(texts)), np.diff(offsets))
        encoded = tokens.dictionary_encode()
        distinct = encoded.dictionary.to_pylist()
        indices = encoded.indices
        code = np.frombuffer(indices.buffers()[1], np.int32)[indices.offset : indices.offset + len(indices)]
        code = code.astype(np.int64)
        if self._options.pattern == RUN:
            long = np.array([len(word) > 1 for word in distinct], bool)
            keep = long[code] if len(code) else np.zeros(0, bool)
            row, code = row[keep], code[keep]
        return row, code, distinct


def _ragged(code: np.ndarray, pieces: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """The pieces of some words one after the other, and where those of each word start.

    Parameters
    ----------
    code : int64 (n,), the words.
    pieces : those of each code.

    Returns
    -------
    int64 (n + 1,), the starts and the end, and int64 (total,), the pieces.
    """
    lengths = np.array([len(each) for each in pieces], np.int64)
    numbers = np.array([number for each in pieces for number in each], np.int64)
    first = np.cumsum(lengths) - lengths
    starts = np.zeros(len(code) + 1, np.int64)
    np.cumsum(lengths[code], out=starts[1:])
    return starts, numbers[np.repeat(first[code] - starts[:-1], lengths[code]) + np.arange(starts[-1])]


def _together(parts: list[Sequences]) -> Sequences:
    if len(parts) == 1:
        return parts[0]
    return Sequences(np.concatenate([part.row for part in parts]), np.concatenate([part.pieces for part in parts]))


def _stop_words(options: Options) -> frozenset[str]:
    if options.stop == "none":
        return frozenset()
    if options.stop == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    try:
        with open(options.stop, encoding="utf-8") as file:
            return frozenset(file.read().split())
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StageError(options.name, f"--stop {options.stop}: {reason}") from None
