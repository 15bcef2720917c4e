"""Find words and sequences of words in texts, as numbers.

Each word becomes one *piece*, which has a number. A word with spaces in it, as some `--pattern` may find, becomes
several pieces, split at the spaces. So two sequences are the same text if, and only if, their pieces have the same
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from filterkit import StageError
from filterkit.plugin import Ints, Pattern, expand_ranges

if TYPE_CHECKING:
    from .stage import CountWords

WORD_PATTERN = r"\b\w\w+\b"
_PIECES = 1 << 21  # how many pieces of sequences to have in memory, unless a single text has more


class WordSequences(NamedTuple):
    """Holds n words or sequences of words found in texts, all with the same number of pieces.

    Attributes
    ----------
    row : int64 (n,), the index, from 0, of the text that has each sequence.
    pieces : int64 (n, length), the numbers of the pieces of each sequence, in order; -1 for a piece without a number.
    """

    row: Ints
    pieces: Ints


class Analyzer:
    """Finds words and sequences of words in texts.

    Parameters
    ----------
    options : the stage, whose options say what a word is, and how many words a sequence may have.
    stop : words to leave out, spelled as in the texts before stemming; in lower case, if the option ``--lower`` is on.
    """

    def __init__(self, options: CountWords, stop: Iterable[str]) -> None:
        self._options = options
        self.stop = frozenset(stop)
        self._stemmer: Any = None
        if options.stem != "none":
            import Stemmer

            self._stemmer = Stemmer.Stemmer(options.stem)

    def find_word_sequences(
        self, texts: Any, convert_word_to_number: Callable[[str], int | None]
    ) -> Iterator[WordSequences]:
        """Yield the words of texts, and their sequences of up to ``--ngrams`` words.

        Parameters
        ----------
        texts : an Arrow array of strings; a null has no words.
        convert_word_to_number : returns the number of a piece; None becomes -1.

        Yields
        ------
        Sequences with the same number of pieces, of some texts; all such sequences of a text come in one item.
        """
        row, code, raw = self._split_texts_to_tokens(texts)
        least = 2 if self._options.pattern == WORD_PATTERN else 0  # letters
        is_word = np.array([len(word) >= least and word not in self.stop for word in raw], bool)
        stem = self._stemmer.stemWord if self._stemmer is not None else str
        pieces = [
            [convert_word_to_number(piece) for piece in stem(word).split(" ")] if use else []
            for word, use in zip(raw, is_word)
        ]
        row, code = row[is_word[code]], code[is_word[code]]
        step = max(_PIECES // self._options.ngrams, 1)
        low = 0
        while low < len(row):
            high = int(np.searchsorted(row, row[min(low + step, len(row)) - 1], side="right"))  # rows stay whole
            for parts in self._join_words_to_sequences(row[low:high], code[low:high], pieces):
                yield WordSequences(*map(np.concatenate, zip(*parts)))
            low = high

    def _join_words_to_sequences(
        self, row: Ints, code: Ints, pieces: list[list[int | None]]
    ) -> Iterator[list[WordSequences]]:
        """Join words that follow each other in a text to sequences of up to ``--ngrams`` words.

        Parameters
        ----------
        row : int64 (words,), ascending, the index of the text of each word.
        code : int64 (words,), the index in `pieces` of each word.
        pieces : the numbers of the pieces of each distinct word; None becomes -1.

        Yields
        ------
        All sequences with the same number of pieces, as a list to be concatenated.
        """
        lengths = np.array([len(each) for each in pieces], np.int64)
        numbers = np.array([-1 if number is None else number for each in pieces for number in each], np.int64)
        first = np.cumsum(lengths) - lengths
        # The pieces of these words one after the other, and where those of each word start.
        flat = numbers[expand_ranges(first[code], lengths[code])]
        starts = np.concatenate([[0], np.cumsum(lengths[code])])
        waiting: dict[int, list[WordSequences]] = {}
        first = np.arange(len(row))
        for more in range(self._options.ngrams):  # words after the first
            first = first[: np.searchsorted(first, len(row) - more)]
            first = first[row[first] == row[first + more]]
            if not len(first):
                break
            lengths = starts[first + more + 1] - starts[first]
            for length in np.unique(lengths).tolist():
                chosen = first[lengths == length]
                joined = flat[starts[chosen][:, None] + np.arange(length)]
                waiting.setdefault(length, []).append(WordSequences(row[chosen], joined))
            # Later sequences have more words, and so at least as many pieces more.
            for length in [length for length in waiting if length <= more + 1]:
                yield waiting.pop(length)
        yield from waiting.values()

    def _split_texts_to_tokens(self, texts: Any) -> tuple[Ints, Ints, list[str]]:
        """Split an Arrow array of strings into tokens: words or, with the default pattern, also shorter texts, even "".

        Return for each of n tokens the index of its text, int64 (n,), and its index among the distinct tokens, int64
        (n,); and the distinct tokens. A null has the tokens of "".
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        from filterkit.plugin import encode_values, string_offsets  # which import pyarrow

        if texts.null_count:
            texts = texts.fill_null("")
        if self._options.lower:
            if pc.all(pc.string_is_ascii(texts)).as_py():
                texts = pc.ascii_lower(texts)
            else:  # Arrow knows less of Unicode than Python does
                texts = pa.array([text.lower() for text in texts.to_pylist()], pa.string())
        if self._options.pattern == WORD_PATTERN:
            lists = pc.split_pattern_regex(texts, r"[^\pL\pN_]+")
        else:
            pattern = Pattern(self._options.name, "--pattern", self._options.pattern)
            lists = pa.array(pattern.find_matches(texts.to_pylist()), pa.list_(pa.string()))
        row = np.repeat(np.arange(len(texts)), np.diff(string_offsets(lists)))
        distinct, code = encode_values(lists.flatten())
        return row, code, distinct


def read_stop_words(options: CountWords) -> frozenset[str]:
    """Return the words that ``--stop`` says to leave out; raise a StageError if the file of words cannot be read."""
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
        raise StageError(options.name, f"--stop {options.stop}: {reason}; write none, english or a text file") from None
