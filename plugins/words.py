"""String attributes as counts of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from filterkit import Attribute, Batch, Fitted, Schema, Stage, StageError, UsageError, hookimpl, option
from filterkit.plugin import Csr, suggestion

_RUN = r"\b\w\w+\b"


class Words(Stage):
    """Turn string attributes into counts of their words, one column for each word of the training rows.

    A word is a run of at least two letters, digits and underscores, or what `--pattern` matches, as in scikit-learn's
    CountVectorizer. The columns are in alphabetical order and take the place of the string attribute. A missing text
    has no words. Rows become sparse, and zero becomes special. If an attribute has the same name as a word, the name of
    the string attribute is put before the word.

    `--keep N` keeps for each class the N words that occur most often in its training rows, and words that occur as
    often as the last of them, as Weka's StringToWordVector does. Rows without a class count as another class.
    """

    name = "words"
    group = "Work with text"

    attribute: tuple[str, ...] = option((), "Use only the string attribute of this name.")
    lower: bool = option(True, "Turn text to lower case.")
    pattern: str = option(_RUN, "A regular expression that matches one word.")
    stop: str = option("none", "Words to leave out: none, english (scikit-learn's list), or a file of words.")
    stem: str = option("none", "Reduce words to stems.", choices=("none", "porter", "english"))
    ngrams: int = option(1, "Also count sequences of up to N words.", minimum=1, maximum=100)
    min_docs: int = option(1, "Keep only words that are in at least N training rows.", minimum=1)
    max_docs: int | None = option(None, "Keep only words that are in at most N training rows.", minimum=1)
    keep: int | None = option(None, "Keep only the N most frequent words of each class.", minimum=1)
    prefix: str = option("", "Put this before the name of every word.")

    def __post_init__(self) -> None:
        super().__post_init__()
        import re

        try:
            re.compile(self.pattern)
        except re.error as error:
            raise UsageError(f"words: --pattern '{self.pattern}': {error}") from None

    def fit(self, rows: Callable[[], Iterator[Batch]], schema: Schema) -> Fitted:
        chosen = self._chosen(schema)
        analyzer = _Analyzer(self)
        target = schema.class_attribute
        classes = len(target.values) + 1 if target is not None and target.kind == "nominal" else 1
        found: list[dict[str, np.ndarray]] = [{} for _ in chosen]  # for each attribute, see `_count`
        for batch in rows():
            label = batch.y.astype(np.int64) + 1 if classes > 1 and batch.y is not None else np.zeros(len(batch), int)
            for place, counts in zip(chosen, found):
                _count(counts, analyzer.words(_texts(batch, place)), label, classes)
        return FittedWords(analyzer, schema, chosen, [self._vocabulary(counts) for counts in found], self.prefix)

    def from_state(self, state: dict[str, Any], schema: Schema) -> Fitted:
        vocabularies, chosen = state["vocabularies"], self._chosen(schema)
        words = [word for vocabulary in vocabularies for word in vocabulary] + state["stop"]
        if len(vocabularies) != len(chosen) or not all(isinstance(word, str) for word in words):
            raise StageError(self.name, "the vocabulary is not one")
        return FittedWords(_Analyzer(self, state["stop"]), schema, chosen, vocabularies, self.prefix)

    def _chosen(self, schema: Schema) -> list[int]:
        """The positions in `schema.passthrough` of the string attributes to use."""
        texts = [i for i, a in enumerate(schema.passthrough) if a.kind == "string"]
        if not self.attribute:
            if not texts:
                raise StageError(self.name, "there is no string attribute")
            return texts
        names = {schema.passthrough[i].name: i for i in texts}
        for name in self.attribute:
            if name not in names:
                raise StageError(
                    self.name, f"--attribute: there is no string attribute '{name}'{suggestion(name, list(names))}"
                )
        return sorted(names[name] for name in self.attribute)

    def _vocabulary(self, counts: dict[str, np.ndarray]) -> list[str]:
        """The words that the limits keep, in alphabetical order."""
        words = sorted(counts)
        if not words:
            return []
        table = np.stack([counts[word] for word in words])
        rows = table[:, 0].sum(axis=1)
        keep = rows >= self.min_docs
        if self.max_docs is not None:
            keep &= rows <= self.max_docs
        if self.keep is not None:
            frequent = np.zeros(len(words), bool)
            for column in table[:, 1].T:
                if np.count_nonzero(column) > self.keep:
                    frequent |= column >= np.sort(column)[-self.keep]
                else:
                    frequent |= column > 0
            keep &= frequent
        return [word for word, kept in zip(words, keep.tolist()) if kept]


def _texts(batch: Batch, place: int) -> Any:
    assert batch.passthrough is not None
    return batch.passthrough.column(place).combine_chunks()


def _count(
    counts: dict[str, np.ndarray], words: tuple[np.ndarray, np.ndarray, list[str]], label: np.ndarray, classes: int
) -> None:
    """Add a batch to `counts`, which has for each word int64 (2, classes): how many rows of each class have the word,
    and how often it occurs in them."""
    row, code, distinct = words
    once_row, once_code = row, code
    if len(distinct):
        once_row, once_code = np.divmod(np.unique(row * len(distinct) + code), len(distinct))
    tables = [
        np.bincount(codes * classes + label[rows], minlength=len(distinct) * classes).reshape(-1, classes)
        for rows, codes in ((once_row, once_code), (row, code))
    ]
    for word, amounts in zip(distinct, np.stack(tables, axis=1)):
        counts[word] = counts[word] + amounts if word in counts else amounts


class _Analyzer:
    """Splits texts into words, in the same way for training rows and later rows."""

    def __init__(self, options: Words, stop: Iterable[str] | None = None) -> None:
        self._options = options
        self.stop = _stop_words(options.stop) if stop is None else frozenset(stop)
        self._stemmer: Any = None
        if options.stem != "none":
            import Stemmer

            self._stemmer = Stemmer.Stemmer(options.stem)

    def words(self, texts: Any) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """The words of an Arrow array of strings: row and code of each, int64 (n,), and the words by their codes."""
        row, code, raw = self._tokens(texts)
        distinct: dict[str, int] = {}
        place = np.array([self._place(word, distinct) for word in raw], np.int64)
        code = place[code] if len(code) else code
        keep = code >= 0
        row, code, words = row[keep], code[keep], list(distinct)
        rows, codes = [row], [code]
        start, last, gram = np.arange(len(code)), code, code
        for _ in range(1, self._options.ngrams):
            if not len(start):
                break
            # A sequence goes on with the next word, if that is in the same row.
            following = start + len(rows)
            inside = following < len(row)
            start, gram, following = start[inside], gram[inside], following[inside]
            inside = row[start] == row[following]
            start, gram, last = start[inside], gram[inside], code[following[inside]]
            pair, which = np.unique(gram * max(len(words), 1) + last, return_inverse=True)
            new = [f"{words[a]} {words[b]}" for a, b in zip(*(part.tolist() for part in np.divmod(pair, len(words))))]
            gram = which + len(words)
            words += new
            rows.append(row[start])
            codes.append(gram)
        return np.concatenate(rows), np.concatenate(codes), words

    def _place(self, word: str, distinct: dict[str, int]) -> int:
        """The code of the stem of a word, or -1 if the word is left out."""
        if word in self.stop:
            return -1
        if self._stemmer is not None:
            word = self._stemmer.stemWord(word)
        return distinct.setdefault(word, len(distinct))

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
        if self._options.pattern == _RUN:
            lists = pc.split_pattern_regex(texts, r"[^\pL\pN_]+")
        else:
            import re

            find = re.compile(self._options.pattern).findall
            lists = pa.array([find(text) for text in texts.to_pylist()], pa.list_(pa.string()))
        tokens = lists.flatten()
        # Read the buffers themselves, because Arrow's own conversion to numpy imports pandas.
        offsets = np.frombuffer(lists.buffers()[1], np.int32)[lists.offset : lists.offset + len(lists) + 1]
        row = np.repeat(np.arange(len(texts)), np.diff(offsets))
        encoded = tokens.dictionary_encode()
        distinct = encoded.dictionary.to_pylist()
        indices = encoded.indices
        code = np.frombuffer(indices.buffers()[1], np.int32)[indices.offset : indices.offset + len(indices)]
        code = code.astype(np.int64)
        if self._options.pattern == _RUN:
            long = np.array([len(word) > 1 for word in distinct], bool)
            keep = long[code] if len(code) else np.zeros(0, bool)
            row, code = row[keep], code[keep]
        return row, code, distinct


def _stop_words(which: str) -> frozenset[str]:
    if which == "none":
        return frozenset()
    if which == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    try:
        with open(which, encoding="utf-8") as file:
            return frozenset(file.read().split())
    except (OSError, UnicodeDecodeError) as error:
        raise StageError(Words.name, f"--stop {which}: {getattr(error, 'strerror', None) or error}") from None


class FittedWords(Fitted):
    """Counts words, by one vocabulary for each string attribute."""

    def __init__(
        self, analyzer: _Analyzer, schema: Schema, chosen: list[int], vocabularies: list[list[str]], prefix: str
    ) -> None:
        self._analyzer = analyzer
        self._chosen = chosen
        self._codes = [{word: code for code, word in enumerate(words)} for words in vocabularies]
        self._vocabularies = vocabularies
        self._left = [i for i in range(len(schema.passthrough)) if i not in chosen]
        taken = {a.name for i, a in enumerate(schema.attributes)}
        attributes: list[Attribute] = []
        places: dict[int, int] = {}
        kept: list[int] = []  # the outgoing column of each column of X
        self._start: list[int] = [0] * len(chosen)  # the first outgoing column of each vocabulary
        column = other = 0
        for i, attribute in enumerate(schema.attributes):
            if i in schema.targets:
                places[i] = len(attributes)
                attributes.append(attribute)
            elif attribute.kind in ("numeric", "nominal"):
                kept.append(column)
                column += 1
                attributes.append(attribute)
            else:
                if other in chosen:
                    which = chosen.index(other)
                    self._start[which] = column
                    for word in vocabularies[which]:
                        name = prefix + word
                        if name in taken:
                            name = f"{attribute.name}:{name}"
                        taken.add(name)
                        attributes.append(Attribute(name))
                    column += len(vocabularies[which])
                else:
                    attributes.append(attribute)
                other += 1
        self._kept = np.array(kept, np.int64)
        self._columns = column
        self.schema = schema.replace(attributes=attributes, sparse=True, zero=True, **schema.targets_at(places))

    def get_state(self) -> dict[str, Any]:
        return {"vocabularies": self._vocabularies, "stop": sorted(self._analyzer.stop)}

    def transform(self, batch: Batch) -> Batch:
        X = batch.in_form(True).csr
        rows, columns, values = [X.row_of_entry], [self._kept[X.indices]], [X.data]
        for place, codes, start in zip(self._chosen, self._codes, self._start):
            row, code, words = self._analyzer.words(_texts(batch, place))
            column = np.array([codes.get(word, -1) for word in words], np.int64)
            column = column[code] if len(code) else code
            known = column >= 0
            key, count = np.unique(row[known] * max(len(codes), 1) + column[known], return_counts=True)
            row, column = np.divmod(key, max(len(codes), 1))
            rows.append(row)
            columns.append(column + start)
            values.append(count.astype(np.float64))
        shape = (len(batch), self._columns)
        matrix = Csr.from_entries(np.concatenate(rows), np.concatenate(columns), np.concatenate(values), shape)
        passthrough = batch.passthrough.select(self._left) if self._left and batch.passthrough is not None else None
        return batch.replace(schema=self.schema, X=matrix, passthrough=passthrough)


@hookimpl
def filterkit_stages() -> list[type[Stage]]:
    return [Words]
