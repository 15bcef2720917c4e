"""Turn string attributes into counts of words: the stage `words`."""

from __future__ import annotations

import numpy as np

from filterkit import Batch, Built, FilterkitError, Schema, Stage, StageError, UsageError, option
from filterkit.plugin import (
    Attributes,
    Batches,
    Csr,
    Pattern,
    State,
    Texts,
    get_attribute_values,
    quoted,
    suggestion,
    warn_nothing_learned,
)

from .analyzer import WORD_PATTERN, Analyzer, read_stop_words
from .counts import SequenceCounter
from .vocabulary import HashedColumns, Vocabulary, choose_words

_COPIES = 4  # how many times as much memory as the counts themselves takes what merges them


class CountWords(Stage):
    """Turn string attributes into counts of their words, one column for each word of the training rows.

        filterkit texts words --min-docs 2 tfidf l2

    The text "a red line, a line" becomes 1 in the column ``red``, 2 in the column ``line``, and 0 in those of all other
    words. A word has at least two letters, digits or underscores; `--pattern` is a regular expression that matches
    other words. This is what scikit-learn's CountVectorizer does, but ``\\w`` has combining marks, too. The words of a
    file for `--stop` must be in lower case, as texts are, unless ``--no-lower`` keeps theirs.

    The columns are in alphabetical order and replace the string attribute. A missing text has no words. Rows become
    sparse, and zero becomes special. If an attribute has the same name as a word, the name of the string attribute and
    a colon stand before the word.

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
    known_as = "bagofwords bow ngram ngrams stem stemming tokenize"
    group = "Work with text"

    attribute: tuple[str, ...] = option((), "Use only the string attribute of this name.", names="attribute")
    lower: bool = option(True, "Turn text to lower case.")
    pattern: str = option(WORD_PATTERN, "A regular expression that matches one word.", names="regex")
    stop: str = option("none", "Words to leave out: none, english (scikit-learn's), or a file of words.", names="file")
    stem: str = option("none", "Reduce words to stems.", choices=("none", "porter", "english"))
    ngrams: int = option(1, "Also count sequences of up to N words.", minimum=1, maximum=100)
    min_docs: int = option(1, "Keep only words that are in at least N training rows.", minimum=1)
    max_docs: int | None = option(None, "Keep only words that are in at most N training rows.", minimum=1)
    keep: int | None = option(None, "Keep only the N most frequent words of each class.", minimum=1)
    hash: int | None = option(None, "Count words in N columns by their hashes.", minimum=1, maximum=1 << 24)
    prefix: str = option("", "Put this before the name of every word.")

    def __post_init__(self) -> None:
        if self.pattern != WORD_PATTERN and Pattern(self.name, "--pattern", self.pattern).groups > 1:
            raise UsageError(f"words: --pattern {quoted(self.pattern)} has several groups; write (?:…) for a group")
        if self.hash is not None and (self.keep is not None or self.min_docs > 1 or self.max_docs is not None):
            raise UsageError("words: --hash keeps all words; leave out --keep, --min-docs and --max-docs")

    def fit_rows(self, rows: Batches, schema: Schema) -> State:
        chosen = self._find_string_attributes(schema)
        analyzer = Analyzer(self, read_stop_words(self))
        state = {"vocabularies": [Texts.of([])] * len(chosen), "stop": sorted(analyzer.stop)}
        if self.hash is not None:
            return state
        target = schema.class_attribute
        by_class = self.keep is not None and target is not None and target.kind == "nominal"
        counters = [SequenceCounter(rows.memory // _COPIES // len(chosen)) for _ in chosen]
        for batch in rows():
            label = batch.y + np.int64(1) if by_class and batch.y is not None else np.zeros(len(batch), np.int64)
            for position, counter in zip(chosen, counters):
                texts = get_attribute_values(batch, position)
                for sequences in analyzer.find_word_sequences(texts, counter.numbers.__getitem__):
                    counter.add(sequences, label)
        words = [choose_words(counter, self.min_docs, self.max_docs, self.keep) for counter in counters]
        for position, chosen_words in zip(chosen, words):
            if not len(chosen_words):
                name = quoted(schema.attributes[position].name)
                advice = "change --pattern, --stop, --min-docs or --max-docs"
                warn_nothing_learned(self.name, f"no word of {name} is left, so no column replaces it; {advice}")
        return {**state, "vocabularies": words}

    def build(self, schema: Schema, state: State) -> Built:
        chosen, vocabularies, stop = self._find_string_attributes(schema), state["vocabularies"], state["stop"]
        plain = [words for words in (*vocabularies, stop) if not isinstance(words, Texts)]
        if len(vocabularies) != len(chosen) or not all(isinstance(word, str) for words in plain for word in words):
            raise FilterkitError("the saved words are not one list of texts for each string attribute")
        analyzer = Analyzer(self, stop)
        finders: list[Vocabulary | HashedColumns] = [Vocabulary(Texts.of(each)) for each in vocabularies]
        if self.hash is not None:
            finders = [HashedColumns(Texts.of([f"hash{number}" for number in range(1, self.hash + 1)]))] * len(chosen)
        # How many attributes each becomes, how many columns of X that are, and where these begin.
        sizes, columns = np.ones(len(schema.attributes), np.int64), np.zeros(len(schema.attributes), np.int64)
        columns[schema.feature_indices] = 1
        sizes[chosen] = columns[chosen] = [len(finder.names) for finder in finders]
        begins = np.cumsum(columns) - columns
        columns_of_X, starts = begins[schema.feature_indices], begins[chosen].tolist()
        rest = [column for column, position in enumerate(schema.passthrough_indices) if position not in chosen]
        attributes = _replace_string_attributes(schema, chosen, [finder.names for finder in finders], self.prefix)
        targets = schema.map_target_positions(np.cumsum(sizes) - sizes)
        outgoing = schema.replace(attributes=attributes, sparse=True, zero=True, **targets)

        def replace_texts_by_counts(batch: Batch) -> Batch:
            X = batch.in_form(True).csr
            parts = [(X.row_of_entry, columns_of_X[X.indices], X.data)]
            for position, finder, start in zip(chosen, finders, starts):
                sequences = analyzer.find_word_sequences(
                    get_attribute_values(batch, position), finder.convert_word_to_number
                )
                found, width = list(map(finder.find_rows_and_columns, sequences)), max(len(finder.names), 1)
                if found:
                    row, word = (np.concatenate(arrays) for arrays in zip(*found))
                    cell, count = np.unique(row * width + word, return_counts=True)
                    row, word = np.divmod(cell, width)
                    parts.append((row, word + start, count.astype(np.float64)))
            row, word, values = (np.concatenate(arrays) for arrays in zip(*parts))
            matrix = Csr.from_entries(row, word, values, (len(batch), int(columns.sum())))
            passthrough = batch.passthrough.select(rest) if rest and batch.passthrough is not None else None
            return batch.replace(schema=outgoing, X=matrix, passthrough=passthrough)

        return Built(outgoing, replace_texts_by_counts)

    def _find_string_attributes(self, schema: Schema) -> list[int]:
        """Return the positions of the string attributes to use, ascending.

        Raise a StageError if there are none, or if ``--attribute`` names another attribute.
        """
        names = {a.name: i for i, a in enumerate(schema.attributes) if a.kind == "string"}
        for name in self.attribute:
            if name not in names:
                hint = suggestion(name, list(names)) or "; string --only NAME before it makes one"
                raise StageError(self.name, f"--attribute: there is no string attribute {quoted(name)}{hint}")
        if not names:
            nominal = next((f": {quoted(a.name)} is nominal" for a in schema.features if a.kind == "nominal"), "")
            hint = "string --only NAME before it makes texts of another attribute"
            raise StageError(self.name, f"there is no string attribute{nominal}; {hint}")
        return sorted({names[name] for name in self.attribute or names})


def _replace_string_attributes(schema: Schema, positions: list[int], words: list[Texts], prefix: str) -> Attributes:
    """Return all attributes, but those at `positions` replaced by numeric ones, one for each word.

    Parameters
    ----------
    positions : the positions of the string attributes, ascending.
    words : for each of these, the words that replace it.
    prefix : the beginning of the names of the new attributes, before the word. If an attribute already has such a name,
        the name of the string attribute and a colon come before it, too.
    """
    attributes = Attributes.of(schema.attributes)
    taken, parts, begin = [attributes.names], [], 0
    for position, names in zip(positions, words):
        every = np.arange(len(names))
        if prefix:
            names = Texts.join_elements((Texts.of([prefix]), np.zeros_like(every)), (names, every))
        before = f"{schema.attributes[position].name}:"
        clashes = _flag_names_that_need_prefix(names, Texts.concatenate(taken), before)
        if clashes.any():
            names = Texts.join_elements((Texts.of(["", before]), clashes.astype(np.int8)), (names, every))
        taken.append(names)
        parts += [attributes[begin:position], Attributes.numeric(names)]
        begin = position + 1
    return Attributes.concatenate([*parts, attributes[begin:]])


def _flag_names_that_need_prefix(names: Texts, used: Texts, prefix: str) -> np.ndarray:
    """Flag the `names` that need `prefix` to differ from all others: bool (n,).

    They are those in `used`, and those that equal an earlier one of the `names` after that got the prefix.
    """
    clashes = names.isin(used)
    while clashes.any():
        renamed = {prefix + names[number]: number for number in np.flatnonzero(clashes).tolist()}
        again = np.flatnonzero(names.isin(Texts.of(renamed)) & ~clashes).tolist()
        again = [number for number in again if renamed[names[number]] < number]
        if not again:
            break
        clashes[again] = True
    return clashes
