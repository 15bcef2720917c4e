"""`words`: texts as counts, against scikit-learn's CountVectorizer."""

import re

import numpy as np
import pyarrow as pa
import pytest
import regex
from agreement import dense, shared
from filterkit_plugins.words import analyzer, counts

import filterkit
from filterkit import Attribute, Batch, FilterkitError, Schema, StageError, UsageError
from filterkit.chains.saved import load, save

TEXTS = [
    "The quick brown fox, the QUICK one!",
    "A fox's tail; don't run_away x2 2x",
    None,
    "",
    "ÄRGER über Straße; İstanbul naïve café 東京 ２３ x",
    "running runs ran the foxes",
]


def make(texts=TEXTS, y=None, classes=("a", "b"), extra=()):
    attributes = [*extra, Attribute("text", "string"), Attribute("class", "nominal", tuple(classes))]
    schema = Schema("r", attributes, len(attributes) - 1)
    y = np.array([i % len(classes) for i in range(len(texts))] if y is None else y, np.int32)
    X = np.arange(len(texts) * len(extra), dtype=float).reshape(len(texts), len(extra))
    return Batch(schema, X, y, None, pa.table({"text": pa.array(texts, pa.string())}))


def run(batch, text="words", train=None, **how):
    fitted = filterkit.chain(text).fit(batch if train is None else batch.rows(0, train), **how)
    out = fitted.transform(batch)
    assert out.schema == fitted.schema
    assert out.sparse
    assert out.passthrough is None
    return [a.name for a in out.schema.features], dense(out)


def expected(texts, train=None, **options):
    from sklearn.feature_extraction.text import CountVectorizer

    texts = [text or "" for text in texts]
    if "token_pattern" in options:  # by the same engine, whose \w has combining marks, too
        options["tokenizer"] = regex.compile(options.pop("token_pattern")).findall
    peer = CountVectorizer(**options).fit(texts if train is None else texts[:train])
    return peer.get_feature_names_out().tolist(), peer.transform(texts).toarray()


@pytest.mark.parametrize(
    ("options", "peers"),
    [
        ("", {}),
        ("--no-lower", {"lowercase": False}),
        ("--ngrams 2", {"ngram_range": (1, 2)}),
        ("--ngrams 3", {"ngram_range": (1, 3)}),
        ("--stop english", {"stop_words": "english"}),
        ("--stop english --ngrams 2", {"stop_words": "english", "ngram_range": (1, 2)}),
        ("--min-docs 2", {"min_df": 2}),
        ("--max-docs 1", {"max_df": 1}),
        (r"--pattern '[a-z]+'", {"token_pattern": "[a-z]+"}),
        (r"--pattern '\w' --ngrams 2", {"token_pattern": r"\w", "ngram_range": (1, 2)}),
        # Words with spaces: the same text is found in several ways.
        (r"--pattern '\w+ \w+|\w+|' --ngrams 3", {"token_pattern": r"\w+ \w+|\w+|", "ngram_range": (1, 3)}),
        (r"--pattern '\w+ +|\w+' --ngrams 2 --min-docs 2",
         {"token_pattern": r"\w+ +|\w+", "ngram_range": (1, 2), "min_df": 2}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("little", [False, True])
def test_counts_equal_those_of_countvectorizer(options, peers, little, monkeypatch):
    if little:  # memory, so that counts go to a file and sequences are cut into blocks
        monkeypatch.setattr(analyzer, "_PIECES", 3)
    names, X = run(make(), f"words {options}", **({"memory": 8000} if little else {}))
    assert (names, X.tolist()) == (lambda a, b: (a, b.tolist()))(*expected(TEXTS, **peers))


@pytest.mark.parametrize("options", ["", "--ngrams 2", "--pattern '[a-z]+'", "--stem english --keep 1"])
def test_batches_without_rows_and_rows_without_words_are_counted(options):
    batch = make()
    fitted = filterkit.chain(f"words {options}").fit([batch.rows(0, 0), batch.rows(2, 4), batch, batch.rows(1, 1)])
    assert fitted.schema == filterkit.chain(f"words {options}").fit(batch).schema
    assert dense(fitted.transform(batch.rows(2, 4))).sum() == 0
    assert len(fitted.transform(batch.rows(0, 0))) == 0
    none = filterkit.chain(f"words {options}").fit(batch.rows(2, 4))
    assert none.transform(batch).X.shape == (len(batch), 0)


def test_the_vocabulary_is_made_of_training_rows():
    names, X = run(make(), train=2)
    assert (names, X.tolist()) == (lambda a, b: (a, b.tolist()))(*expected(TEXTS, 2))


def test_every_character_splits_as_in_python():
    """All of Unicode's first plane, each between two letters."""
    texts = ["".join(f"ab{chr(c)}cd " for c in range(start, start + 256) if not 0xD800 <= c < 0xE000)
             for start in range(0x20, 0x10000, 256)]  # fmt: skip
    names, X = run(make(texts), "words --no-lower")
    found, counts = expected(texts, lowercase=False)
    different = set(names) ^ set(found)
    # Arrow's library may know an older or a newer Unicode than Python does.
    assert len(different) <= len(found) / 200, sorted(different)[:20]
    same = sorted((set(names) & set(found)) - {"ab", "cd"})
    own, peers = ({word: column for column, word in enumerate(words)} for words in (names, found))
    np.testing.assert_array_equal(X[:, [own[word] for word in same]], counts[:, [peers[word] for word in same]])


def test_words_are_stemmed():
    import Stemmer

    names, _ = run(make(), "words --stem english")
    stem = Stemmer.Stemmer("english").stemWord
    assert names == sorted({stem(word) for word in expected(TEXTS)[0]})
    assert {"run", "fox"} <= set(names)
    assert run(make(["relational"], [0]), "words --stem porter")[0] == ["relat"]


def test_stop_words_are_read_from_a_file(tmp_path):
    path = tmp_path / "stop"
    path.write_text("the fox\nquick\n")
    names, _ = run(make(), f"words --stop {path}")
    assert names == [word for word in expected(TEXTS)[0] if word not in ("the", "fox", "quick")]


def test_the_most_frequent_words_of_each_class_are_kept():
    texts = ["aa bb cc", "aa bb", "aa", "dd ee", "dd ee", "dd ff", "gg"]
    assert run(make(texts, [0, 0, 0, 1, 1, 1, 1]), "words --keep 1")[0] == ["aa", "dd"]
    assert run(make(texts, [0, 0, 0, 1, 1, 1, 1]), "words --keep 2")[0] == ["aa", "bb", "dd", "ee"]
    # cc is as frequent as the third of class b, but not of b; ff and gg tie for the third place there.
    assert run(make(texts, [0, 0, 0, 1, 1, 1, 1]), "words --keep 3")[0] == ["aa", "bb", "cc", "dd", "ee", "ff", "gg"]


def test_other_attributes_stay_in_their_places():
    batch = make(extra=(Attribute("n"), Attribute("fox", "nominal", ("no", "yes"))))
    batch = batch.replace(X=np.array([[5.0, 1], [0, 0], [1, 0], [0, 1], [2, 0], [3, 1]]))
    names, X = run(batch, "words --keep 1")
    assert names[:2] == ["n", "fox"]
    assert "text:fox" in names  # a word that is called as an attribute is
    np.testing.assert_array_equal(X[:, :2], batch.X)


def test_words_of_two_attributes_can_have_prefixes():
    attributes = [Attribute("t", "string"), Attribute("d", "date"), Attribute("u", "string")]
    passthrough = pa.table({"t": ["one two"], "d": pa.array([0], pa.timestamp("ms")), "u": ["two three"]})
    batch = Batch(Schema("r", attributes), np.empty((1, 0)), None, None, passthrough)
    out = filterkit.chain("words --prefix w_").fit(batch).transform(batch)
    assert [a.name for a in out.schema.attributes] == ["w_one", "w_two", "d", "w_three", "u:w_two"]
    assert out.passthrough.column_names == ["d"]
    only = filterkit.chain("words --attribute u").fit(batch).transform(batch)
    assert [a.name for a in only.schema.attributes] == ["t", "d", "three", "two"]
    assert only.passthrough.column_names == ["t", "d"]


def test_counts_are_written_sparse_and_read_back(tmp_path):
    batch = make()
    out = filterkit.chain("words l2").fit(batch).transform(batch)
    filterkit.write(out, str(tmp_path / "w.arff"))
    back = filterkit.read(str(tmp_path / "w.arff"))
    assert back.schema.attributes == out.schema.attributes
    np.testing.assert_array_equal(dense(back), dense(out))


def test_mistakes_are_reported():
    with pytest.raises(StageError, match=r"^words: there is no string attribute"):
        filterkit.chain("words").fit(Batch(Schema("r", [Attribute("a")]), np.zeros((1, 1))))
    with pytest.raises(StageError, match=r"^words: --attribute: there is no string attribute 'class'"):
        filterkit.chain("words --attribute class").fit(make())
    with pytest.raises(StageError, match=r"^words: --stop nowhere: No such file"):
        filterkit.chain("words --stop nowhere").fit(make())
    with pytest.raises(UsageError, match=re.escape("words: --pattern '(': ")):
        filterkit.chain("words --pattern '('")


def test_counts_of_reuters_texts_equal_those_of_countvectorizer():
    batch = shared("weka/ReutersCorn-train.arff.gz")
    texts = batch.passthrough.column(0).to_pylist()
    names, X = run(batch)
    peer, counts = expected(texts)
    assert names == peer
    np.testing.assert_array_equal(X, counts)


def test_sequences_longer_than_the_texts_do_not_occur():
    batch = make(["one two three", "two three"], [0, 1])
    assert run(batch, "words --ngrams 100")[0] == run(batch, "words --ngrams 3")[0]


def many(rows):
    """Texts whose words repeat, some of them often."""
    random = np.random.default_rng(rows)
    return [" ".join(f"w{n}" for n in random.zipf(1.3, random.integers(0, 30)) % 300) for _ in range(rows)]


@pytest.mark.parametrize("options", ["", "--ngrams 2", "--ngrams 3 --min-docs 2", "--ngrams 2 --keep 5", "--keep 20"])
def test_neither_memory_nor_blocks_nor_jobs_matter(options, monkeypatch):
    texts = many(400)
    batch = make(texts, np.arange(400) % 7 - 1, "abcdef")
    fitted = filterkit.chain(f"words {options}").fit(batch)
    spilled = []
    monkeypatch.setattr(counts.Scratch, "store", counted_calls(counts.Scratch.store, spilled))
    parts = [batch.rows(first, min(first + 13, 400)) for first in range(0, 400, 13)]
    other = filterkit.chain(f"words {options}").fit(iter(parts), jobs=2, memory=1 << 16)
    assert other.schema == fitted.schema
    assert len(spilled) > 1
    whole = dense(fitted.transform(batch))
    np.testing.assert_array_equal(np.vstack([dense(other.transform(part)) for part in parts]), whole)


def counted_calls(function, calls):
    def counted(*arguments):
        calls.append(1)
        return function(*arguments)

    return counted


@pytest.mark.parametrize("keep", [1, 3, 10, 1000])
def test_the_most_frequent_sequences_of_each_class_by_hand(keep):
    texts, y = many(150), np.arange(150) % 4 - 1
    names, X = run(make(texts, y, "abc"), "words --ngrams 2", memory=80_000)
    expected = np.zeros(len(names), bool)
    for label in range(-1, 3):
        sums = X[y == label].sum(axis=0)
        expected |= sums >= max(np.sort(sums)[::-1][min(keep, len(sums)) - 1], 1)
    found = run(make(texts, y, "abc"), f"words --ngrams 2 --keep {keep}", memory=80_000)[0]
    assert found == [n for n, e in zip(names, expected) if e]


def test_a_full_disk(monkeypatch):
    class Full:
        def __init__(self, **_):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", Full)
    with pytest.raises(FilterkitError, match=r"^temporary folder .*: No space left on device"):
        filterkit.chain("words").fit(make(many(50)), memory=8000)


def test_a_saved_chain_finds_the_same_words(tmp_path):
    batch = make()
    fitted = filterkit.chain("words --ngrams 3").fit(batch)
    save(fitted, tmp_path / "chain")
    loaded = load(tmp_path / "chain")
    assert loaded.schema == fitted.schema
    np.testing.assert_array_equal(dense(loaded.transform(batch)), dense(fitted.transform(batch)))


def test_a_name_that_is_taken_gets_the_attribute_before_it_and_so_does_what_that_takes():
    batch = make(["a b text:a text:text:a", "c"], extra=[Attribute("a"), Attribute("x")])
    names, X = run(batch, r"words --pattern '\S+'")
    assert names == ["a", "x", "text:a", "b", "c", "text:text:a", "text:text:text:a"]
    assert X.tolist() == [[0, 1, 1, 1, 0, 1, 1], [2, 3, 0, 0, 1, 0, 0]]


def test_an_attribute_named_twice_is_used_once():
    batch = make(["foo bar", "foo"])
    names, X = run(batch, "words --attribute text --attribute text")
    assert names == ["bar", "foo"]
    assert X.tolist() == [[1, 1], [0, 1]]


# ---- hashes --------------------------------------------------------------------------------------


def test_hashed_words_are_counted_in_their_columns():
    names, X = run(make(), "words --hash 1000")
    assert names == [f"hash{number}" for number in range(1, 1001)]
    _, counted = run(make(), "words")
    np.testing.assert_array_equal(X.sum(axis=1), counted.sum(axis=1))
    assert np.count_nonzero(X.any(axis=0)) >= counted.shape[1] - 2  # few words share a column
    _, pairs = run(make(), "words --ngrams 2 --hash 1000")
    np.testing.assert_array_equal(pairs.sum(axis=1), run(make(), "words --ngrams 2")[1].sum(axis=1))
    _, few = run(make(), "words --hash 3")
    np.testing.assert_array_equal(few.sum(axis=1), counted.sum(axis=1))


def test_hashing_learns_nothing_from_the_training_rows(tmp_path):
    batch = make()
    fitted = filterkit.chain("words --hash 50 --stop english").fit(batch.rows(0, 1))
    whole = filterkit.chain("words --hash 50 --stop english").fit(batch)
    np.testing.assert_array_equal(dense(fitted.transform(batch)), dense(whole.transform(batch)))
    save(whole, tmp_path / "chain")
    np.testing.assert_array_equal(dense(load(tmp_path / "chain").transform(batch)), dense(whole.transform(batch)))
    assert (tmp_path / "chain").stat().st_size < 20_000
    with pytest.raises(UsageError, match="words: --hash keeps all words; leave out --keep"):
        filterkit.chain("words --hash 5 --keep 3")


def test_the_columns_of_words_stay_the_same_in_every_version():
    X = run(make(["apple banana cherry", "banana"]), "words --hash 1000")[1]
    assert [np.flatnonzero(row).tolist() for row in X] == [[25, 232, 752], [25]]
