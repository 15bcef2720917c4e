"""`words`: texts as counts, against scikit-learn's CountVectorizer."""

import numpy as np
import pytest
import regex
from agreement import cut, dense, feature_names
from cases import fit, rows, view
from filterkit_plugins.words import analyzer, counts

import filterkit

TEXTS = [
    "The quick brown fox, the QUICK one!",
    "A fox's tail; don't run_away x2 2x",
    None,
    "",
    "ÄRGER über Straße; İstanbul naïve café 東京 ２３ x",
    "running runs ran the foxes",
]


def of_texts(texts, y=None, **others):
    """A batch of texts, of the classes `y`, by default a and b in turns."""
    y = ["a", "b"] * len(texts) if y is None else y
    return rows({**others, "text": texts, "class": y[: len(texts)]}, texts=["text"])


def count(batch, options="", **how):
    """The names and the counts of the columns that come out."""
    fitted, out = filterkit.chain(f"words {options}").fit_transform(batch, **how)
    assert out.sparse and out.passthrough is None
    return feature_names(fitted), out.X


def expected(texts, train=None, **options):
    from sklearn.feature_extraction.text import CountVectorizer

    texts = [text or "" for text in texts]
    if "token_pattern" in options:  # by the same engine, whose \w has combining marks, too
        options["tokenizer"] = regex.compile(options.pop("token_pattern")).findall
    peer = CountVectorizer(**options).fit(texts if train is None else texts[:train])
    return peer.get_feature_names_out().tolist(), peer.transform(texts)


@pytest.mark.parametrize(
    ("options", "peers"),
    [
        ("", {}),
        ("--no-lower", {"lowercase": False}),
        ("--ngrams 3", {"ngram_range": (1, 3)}),
        ("--stop english --ngrams 2", {"stop_words": "english", "ngram_range": (1, 2)}),
        ("--min-docs 2", {"min_df": 2}),
        ("--max-docs 1", {"max_df": 1}),
        (r"--pattern '\w' --ngrams 2", {"token_pattern": r"\w", "ngram_range": (1, 2)}),
        (r"--pattern '(\w)\w+'", {"token_pattern": r"(\w)\w+"}),
        # Words with spaces: the same text is found in several ways.
        (r"--pattern '\w+ \w+|\w+|' --ngrams 3", {"token_pattern": r"\w+ \w+|\w+|", "ngram_range": (1, 3)}),
        (
            r"--pattern '\w+ +|\w+' --ngrams 2 --min-docs 2",
            {"token_pattern": r"\w+ +|\w+", "ngram_range": (1, 2), "min_df": 2},
        ),
    ],
)
@pytest.mark.parametrize("little", [False, True])
def test_counts_equal_those_of_countvectorizer(options, peers, little, monkeypatch):
    if little:  # memory, so that counts go to a file and sequences are cut into blocks
        monkeypatch.setattr(analyzer, "_PIECES", 3)
    assert_same(count(of_texts(TEXTS), options, **({"memory": 8000} if little else {})), expected(TEXTS, **peers))


def assert_same(found, theirs):
    assert found[0] == theirs[0]
    np.testing.assert_array_equal(found[1].toarray(), theirs[1].toarray())


def test_characters_split_as_in_python():
    """Every third of Unicode's first plane, each between two letters."""
    texts = [
        "".join(f"ab{chr(c)}cd " for c in range(start, start + 256, 3) if not 0xD800 <= c < 0xE000)
        for start in range(0x20, 0x10000, 256)
    ]
    names, X = count(of_texts(texts), "--no-lower")
    found, counts = expected(texts, lowercase=False)
    different = set(names) ^ set(found)
    # Arrow's library may know an older or a newer Unicode than Python does.
    assert len(different) <= len(found) / 200, sorted(different)[:20]
    ours, theirs = (
        dict(zip(words, np.asarray(each.sum(axis=0)).ravel().tolist())) for words, each in ((names, X), (found, counts))
    )
    same = (set(names) & set(found)) - {"ab", "cd"}
    assert {word: ours[word] for word in same} == {word: theirs[word] for word in same}


@pytest.mark.parametrize("options", ["--stem english --ngrams 2 --keep 1", "--hash 50 --stop english"])
def test_the_vocabulary_is_made_of_training_rows_some_of_which_are_empty(options):
    batch = of_texts(TEXTS)
    whole, _ = fit(f"words {options}", batch)
    parts = [batch.rows(0, 0), batch.rows(2, 4), batch.rows(0, 2), batch.rows(4, 6)]
    fitted = filterkit.chain(f"words {options}").fit(parts)
    assert fitted.schema == whole.schema
    assert dense(fitted.transform(batch.rows(2, 4))).sum() == 0
    assert len(fitted.transform(batch.rows(0, 0))) == 0


def test_texts_of_which_no_word_is_left_are_noticed():
    with pytest.warns(filterkit.NothingLearnedWarning, match="^words: no word of 'text' is left"):
        fit("words", of_texts(TEXTS).rows(2, 4))


def test_later_words_are_not_counted():
    fitted, _ = fit("words", of_texts(TEXTS).rows(0, 2))
    out = fitted.transform(of_texts(TEXTS))
    assert_same((feature_names(fitted), out.X), expected(TEXTS, 2))


def test_words_are_stemmed():
    import Stemmer

    names, _ = count(of_texts(TEXTS), "--stem english")
    stem = Stemmer.Stemmer("english").stemWord
    assert names == sorted({stem(word) for word in expected(TEXTS)[0]}) and {"run", "fox"} <= set(names)
    assert count(of_texts(["relational"]), "--stem porter")[0] == ["relat"]


def test_stop_words_are_read_from_a_file(tmp_path):
    path = tmp_path / "stop"
    path.write_text("the fox\nquick\n")
    names, _ = count(of_texts(TEXTS), f"--stop {path}")
    assert names == [word for word in expected(TEXTS)[0] if word not in ("the", "fox", "quick")]


def test_other_attributes_stay_and_a_word_of_their_name_gets_that_of_its_text():
    """A name that is taken gets the attribute before it, and so does what that takes."""
    batch = of_texts(["a b text:a text:text:a", "c"], a=[5, 0], x=["no", None])
    _, out = fit(r"words --pattern '\S+'", batch)
    found = {name: [1, 0] for name in ("text:a", "b", "c", "text:text:a", "text:text:text:a")}
    assert view(out) == {"a": [5, 0], "x": ["no", None]} | found | {"c": [0, 1], "class": ["a", "b"]}


def test_words_of_several_attributes_can_have_prefixes():
    batch = rows({"t": ["one two"], "n": [3], "u": ["two three"]}, texts=["t", "u"])
    _, out = fit("words --prefix w_", batch)
    assert view(out) == {"w_one": [1], "w_two": [1], "n": [3], "w_three": [1], "u:w_two": [1]}
    _, only = fit("words --attribute u --attribute u", batch)  # which is used once
    assert view(only) == {"t": ["one two"], "n": [3], "three": [1], "two": [1]}


def many(count):
    """Texts whose words repeat, some of them often."""
    random = np.random.default_rng(count)
    return [" ".join(f"w{n}" for n in random.zipf(1.3, random.integers(0, 30)) % 300) for _ in range(count)]


def test_counts_that_do_not_fit_into_memory_go_to_a_file(monkeypatch):
    batch = of_texts(many(400), ["a", "b", "c", None] * 100)
    chain = filterkit.chain("words --ngrams 2 --keep 5")
    fitted = chain.fit(batch)
    spilled, store = [], counts.Scratch.store
    monkeypatch.setattr(counts.Scratch, "store", lambda *given: spilled.append(1) or store(*given))
    other = chain.fit(iter(cut(batch, 13)), jobs=2, memory=1 << 16)
    assert len(spilled) > 1
    assert other.schema == fitted.schema
    np.testing.assert_array_equal(dense(other.transform(batch)), dense(fitted.transform(batch)))


@pytest.mark.parametrize("keep", [1, 10, 1000])
def test_the_most_frequent_sequences_of_each_class_by_hand(keep):
    y = np.array([None, "a", "b", "c"] * 40)[:150]
    batch = of_texts(many(150), y.tolist())
    names, X = count(batch, "--ngrams 2", memory=80_000)
    chosen = np.zeros(len(names), bool)
    for label in (None, "a", "b", "c"):
        sums = X[y == label].sum(axis=0)
        chosen |= sums >= max(np.sort(sums)[::-1][min(keep, len(sums)) - 1], 1)
    found = count(batch, f"--ngrams 2 --keep {keep}", memory=80_000)[0]
    assert found == [name for name, each in zip(names, chosen) if each]


# ---- hashes --------------------------------------------------------------------------------------


def test_hashed_words_are_counted_in_their_columns(tmp_path):
    names, X = count(of_texts(TEXTS), "--hash 1000")
    assert names == [f"hash{number}" for number in range(1, 1001)]
    words = len(count(of_texts(TEXTS))[0])
    assert np.count_nonzero(X.sum(axis=0)) >= words - 2  # few words share a column
    for options, plain in (("--hash 3", ""), ("--ngrams 2 --hash 1000", "--ngrams 2")):
        hashed, counted = (count(of_texts(TEXTS), each)[1] for each in (options, plain))
        np.testing.assert_array_equal(hashed.sum(axis=1), counted.sum(axis=1))
    # The columns of words stay the same in every version, and nothing but the options is saved.
    fitted, out = fit("words --hash 1000", of_texts(["apple banana cherry", "banana"]))
    assert [np.flatnonzero(row).tolist() for row in dense(out)] == [[25, 232, 752], [25]]
    filterkit.save(fitted, tmp_path / "chain")
    assert (tmp_path / "chain").stat().st_size < 100_000
