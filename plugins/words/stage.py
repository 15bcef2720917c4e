"""String attributes as counts of words."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np

from filterkit import Batch, Fitted, Schema, Stage, StageError, UsageError, option
from filterkit.plugin import Attributes, Batches, Csr, Pattern, Texts, quoted, suggestion

from .analyzer import RUN, Analyzer
from .counts import Counter
from .vocabulary import Hashed, Vocabulary, kept_words

_COPIES = 4  # how many times as much memory as the counts themselves takes what merges them


class Words(Stage):
    """Turn string attributes into counts of their words, one column for each word of the training rows.

        filterkit texts words --min-docs 2 tfidf l2

    The text "a red line, a line" becomes 1 in the column ``red``, 2 in the column ``line``, and 0 in those of all other
    words. A word has at least two letters, digits or underscores; `--pattern` is a regular expression that matches
    other words. This is what scikit-learn's CountVectorizer does, but ``\\w`` has combining marks, too.

    The columns are in alphabetical order and replace the string attribute. A missing text has no words. Rows become
    sparse, and zero becomes special. If an attribute has the same name as a word, the name of the string attribute
    stands before the word.

    `--keep N` keeps for each class the N words that occur most often in its training rows, and words that occur as
    often as the last of them, as Weka's StringToWordVector does. Rows without a class count as another class.

    `--hash N` needs no vocabulary: each word is counted in one of N columns, ``hash1`` to ``hashN``, that a hash of the
    word picks, and words that pick the same are counted together. Nothing is learned from the training rows, so that
    rows stream, and memory is bounded whatever words come.

    Counts beyond a sixteenth of `--memory` are kept in a temporary file while the stage is fitted. `--memory` does not
    bound the words themselves: each distinct word of the training rows takes about 200 bytes, and each column that is
    kept, so also each sequence of `--ngrams`, about 90. `--min-docs 2` leaves out most sequences.
    """

    name = "words"
    group = "Work with text"

    attribute: tuple[str, ...] = option((), "Use only the string attribute of this name.", names="attribute")
    lower: bool = option(True, "Turn text to lower case.")
    pattern: str = option(RUN, "A regular expression that matches one word.", names="regex")
    stop: str = option(
        "none", "Words to leave out: none, english (scikit-learn's list), or a file of words.", names="file"
    )
    stem: str = option("none", "Reduce words to stems.", choices=("none", "porter", "english"))
    ngrams: int = option(1, "Also count sequences of up to N words.", minimum=1, maximum=100)
    min_docs: int = option(1, "Keep only words that are in at least N training rows.", minimum=1)
    max_docs: int | None = option(None, "Keep only words that are in at most N training rows.", minimum=1)
    keep: int | None = option(None, "Keep only the N most frequent words of each class.", minimum=1)
    hash: int | None = option(None, "Count words in N columns by their hashes.", minimum=1, maximum=1 << 24)
    prefix: str = option("", "Put this before the name of every word.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pattern != RUN and Pattern(self.name, "--pattern", self.pattern).groups > 1:
            raise UsageError(f"words: --pattern {quoted(self.pattern)}: it has several groups; write (?:…) for a group")
        if self.hash is not None and (self.keep is not None or self.min_docs > 1 or self.max_docs is not None):
            raise UsageError("words: --hash keeps all words; leave out --keep, --min-docs and --max-docs")

    def fit(self, rows: Batches, schema: Schema) -> Fitted:
        chosen = self._chosen(schema)
        analyzer = Analyzer(self)
        if self.hash is not None:
            return self._hashed(analyzer, schema, chosen)
        target = schema.class_attribute
        by_class = self.keep is not None and target is not None and target.kind == "nominal"
        with ExitStack() as stack:
            held = rows.memory // _COPIES // len(chosen)
            counters = [stack.enter_context(Counter(held)) for _ in chosen]
            numbers: list[dict[str, int]] = [{} for _ in chosen]
            for batch in rows():
                label = batch.y + np.int64(1) if by_class and batch.y is not None else np.zeros(len(batch), np.int64)
                for place, counter, known in zip(chosen, counters, numbers):
                    for sequences in analyzer.sequences(_texts(batch, place), partial(_number, known)):
                        counter.add(sequences, label)
            vocabularies = [
                kept_words(counter, list(known), self.min_docs, self.max_docs, self.keep)
                for counter, known in zip(counters, numbers)
            ]
        return FittedWords(analyzer, schema, chosen, vocabularies, self.prefix)

    def _hashed(self, analyzer: Analyzer, schema: Schema, chosen: list[int]) -> Fitted:
        """The stage without vocabularies."""
        names = Texts.of([f"hash{number}" for number in range(1, (self.hash or 0) + 1)])
        finders = [Hashed(len(names)) for _ in chosen]
        return FittedWords(analyzer, schema, chosen, [names] * len(chosen), self.prefix, finders)

    def from_state(self, state: dict[str, Any], schema: Schema) -> Fitted:
        vocabularies, chosen = state["vocabularies"], self._chosen(schema)
        words = [word for vocabulary in vocabularies for word in vocabulary] + state["stop"]
        if len(vocabularies) != len(chosen) or not all(isinstance(word, str) for word in words):
            raise StageError(self.name, "the vocabulary is not one")
        if self.hash is not None:
            return self._hashed(Analyzer(self, state["stop"]), schema, chosen)
        analyzer, known = Analyzer(self, state["stop"]), [Texts.of(words) for words in vocabularies]
        return FittedWords(analyzer, schema, chosen, known, self.prefix)

    def _chosen(self, schema: Schema) -> list[int]:
        """The positions in `schema.passthrough` of the string attributes to use."""
        texts = [i for i, a in enumerate(schema.passthrough) if a.kind == "string"]
        if not self.attribute:
            if not texts:
                nominal = next((f": {quoted(a.name)} is nominal" for a in schema.features if a.kind == "nominal"), "")
                hint = f"{nominal}; string --only NAME before it makes texts of labels" if nominal else ""
                raise StageError(self.name, f"there is no string attribute{hint}")
            return texts
        names = {schema.passthrough[i].name: i for i in texts}
        for name in self.attribute:
            if name not in names:
                raise StageError(
                    self.name,
                    f"--attribute: there is no string attribute {quoted(name)}{suggestion(name, list(names))}",
                )
        return sorted({names[name] for name in self.attribute})


def _texts(batch: Batch, place: int) -> Any:
    assert batch.passthrough is not None
    return batch.passthrough.column(place).combine_chunks()


def _number(known: dict[str, int], piece: str) -> int:
    return known.setdefault(piece, len(known))


class FittedWords(Fitted):
    """Counts words, by one vocabulary for each string attribute."""

    def __init__(
        self,
        analyzer: Analyzer,
        schema: Schema,
        chosen: list[int],
        vocabularies: list[Texts],
        prefix: str,
        finders: Sequence[Vocabulary | Hashed] | None = None,
    ) -> None:
        self._analyzer = analyzer
        self._chosen = chosen
        self._words = vocabularies if finders is None else [words[:0] for words in vocabularies]
        self._vocabularies = finders or [Vocabulary(words) for words in vocabularies]
        self._left = [i for i in range(len(schema.passthrough)) if i not in chosen]
        places = [schema.passthrough_indices[i] for i in chosen]
        widths = np.array([len(words) for words in vocabularies])
        # How many columns the texts become that come before each column of X, and before each text itself.
        grown = np.concatenate([[0], np.cumsum(widths)])
        before = np.searchsorted(places, schema.feature_indices)
        self._kept = np.arange(schema.width) + grown[before]  # the outgoing column of each column of X
        self._start = (np.searchsorted(schema.feature_indices, places) + grown[:-1]).tolist()  # of each vocabulary
        self._columns = schema.width + int(grown[-1])
        moved = {i: i + int((widths[: np.searchsorted(places, i)] - 1).sum()) for i in schema.targets}
        attributes = _in_place(schema, places, _columns(schema, places, vocabularies, prefix))
        self.schema = schema.replace(attributes=attributes, sparse=True, zero=True, **schema.targets_at(moved))

    def get_state(self) -> dict[str, Any]:
        return {"vocabularies": [list(words) for words in self._words], "stop": sorted(self._analyzer.stop)}

    def transform(self, batch: Batch) -> Batch:
        X = batch.in_form(True).csr
        rows, columns, values = [X.row_of_entry], [self._kept[X.indices]], [X.data]
        for place, vocabulary, start in zip(self._chosen, self._vocabularies, self._start):
            found = [vocabulary.find(s) for s in self._analyzer.sequences(_texts(batch, place), vocabulary.number)]
            if found:
                row, column = (np.concatenate(arrays) for arrays in zip(*found))
                cell, count = np.unique(row * vocabulary.width + column, return_counts=True)
                row, column = np.divmod(cell, max(vocabulary.width, 1))
                rows.append(row)
                columns.append(column + start)
                values.append(count.astype(np.float64))
        shape = (len(batch), self._columns)
        matrix = Csr.from_entries(np.concatenate(rows), np.concatenate(columns), np.concatenate(values), shape)
        passthrough = batch.passthrough.select(self._left) if self._left and batch.passthrough is not None else None
        return batch.replace(schema=self.schema, X=matrix, passthrough=passthrough)


def _columns(schema: Schema, places: list[int], vocabularies: list[Texts], prefix: str) -> list[Attributes]:
    """The attributes for the words of each vocabulary, which take the places of string attributes."""
    taken = [Attributes.of(schema.attributes).names]
    made = []
    for place, words in zip(places, vocabularies):
        every = np.arange(len(words))
        names = Texts.joined((Texts.of([prefix]), np.zeros_like(every)), (words, every)) if prefix else words
        before = f"{schema.attributes[place].name}:"
        clashes = _clashes(names, Texts.concatenate(taken), before)
        if clashes.any():
            names = Texts.joined((Texts.of(["", before]), clashes.astype(np.int8)), (names, every))
        taken.append(names)
        made.append(Attributes.numeric(names))
    return made


def _clashes(names: Texts, taken: Texts, before: str) -> np.ndarray:
    """bool (n,): which names need `before` put before them, because they, or what another one becomes, are taken."""
    clashes = names.isin(taken)
    while clashes.any():
        renamed = {before + names[place]: place for place in np.flatnonzero(clashes).tolist()}
        again = np.flatnonzero(names.isin(Texts.of(renamed)) & ~clashes).tolist()
        again = [place for place in again if renamed[names[place]] < place]
        if not again:
            break
        clashes[again] = True
    return clashes


def _in_place(schema: Schema, places: list[int], columns: list[Attributes]) -> Attributes:
    """The attributes of `schema` with others in the place of some."""
    attributes = Attributes.of(schema.attributes)
    parts, begin = [], 0
    for place, made in zip(places, columns):
        parts += [attributes[begin:place], made]
        begin = place + 1
    return Attributes.concatenate([*parts, attributes[begin:]])
