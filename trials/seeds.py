"""Writes the small files that fuzzing starts with: ``python -m trials seeds``.

Files of the corpus that fuzzing has found stay; only those that this makes are written again.
"""

from __future__ import annotations

import io
from pathlib import Path

import filterkit
from trials import SAMPLES
from trials.targets import CORPUS, FORMATS, HEADERS, unpacked

HEADER = [
    "@relation r\n@attribute a numeric\n@data\n",
    "% c\n@RELATION 'r s' % c\n@attribute\t'b c' real [0,10]\n@attribute c {x, 'y z',\"q\\'\"} {2}\n@data\n1,x\n",
    "@relation 'm: -C 2'\n@attribute l {0,1}\n@attribute m {0,1}\n@attribute d date 'yyyy-MM-dd HH:mm' {3}\n@data\n",
    "@relation r\n@attribute b relational\n@attribute x numeric\n@attribute s string\n@end b\n@data\n'1,a\\n2,b'\n",
    '@relation r\r@attribute a integer % bns=1.5 % ig=2\r\n@attribute {x,y} "50%"\r\n@data\r\n{0 1}\r\n',
    "@relation two words\n@attribute my age numeric\n@attribute b {New York, Boston}\n@inputs a\n@outputs b\n@data\n",
]
ROWS = [
    ("0", "1,x,2\n2,'y z',?\n-1e-5, \"q\\'\" ,NaN % c\n{0 1,1 x}\n"),
    ("0", "{0 1, 2 3},{2}\n{}\n{1 'y z'}\n{ 0\t5 , 2 ?}\r\n"),
    ("1", "'a b',1,0\n\"it's\\n\",-0,1,{0.5}\nword\t3 1\n?,?,?\n"),
    ("2", "1\n.5\n0x1p3\n1d\nInfinity\n4.9e-324\n9007199254740993\n"),
    ("3", "2001-02-03,1,a\n'1970-1-1',2,'b,c'\n?,3,\\x\n{1 2}\n"),
    ("4", "'1,p\\n2,q',5\n\"{0 1}\",6\n?,7\n'',8\n"),
    ("5", ",".join(map(str, range(30))) + "\n{3 4,29 1}\n"),
    ("\x80", "1,,2\nNA,<null>,3\n"),
]
WORDS = [
    "shape --neighbors 15 bns select --top 500 l2",
    "remove --match 'a.*' --range 1-3,7,20-last --type string",
    "keep --attribute x rename --find '(a)' --replace '\\1b'",
    "words --pattern '[a-z]+' --ngrams 2 --keep 5 tfidf # comment",
    "where 'a > 1' set 'b = a + 1' map 'x * 2' --only a",
    "sample --rows 5 --seed 3 svm --c 0.1,1,10 --folds 3 --no-bias",
    "ordinal --levels all --real bins --method width impute onehot",
]
EXPRESSIONS = [
    "ATT1 > 1 and CLASS is 'yes'",
    'if(is_missing("a b"), 0, min(ATT1, 2, -3) ^ 2)',
    "not (`x` in ('a', 'b')) or contains(lower(text(ATT2)), 'it''s')",
    "coalesce(ATT1, missing) / 0 + log(abs(1.5e3)) % 7",
    "concat(upper(ATT3), trim(' a '), length('é'))",
]
CHAINS = [
    "shape bns select --top 3 l2",
    "words --keep 2 tfidf",
    "impute onehot",
    "impute onehot standardize svd --components 2",
]
TEXTS = {
    "csv": 'a,b,c\n1,x,2001-02-03\n2,"y""z",\n,\'q\',1e999\n',
    "tsv": "a\tb\n1\tx y\n?\tNA\n",
    "jsonl": '{"a": 1, "b": "x"}\n{"a": null, "b": "é", "c": [1, 2], "d": {"e": true}}\n',
    "libsvm": "1 1:2 3:4.5 # c\n-1 2:1e5\n0.5\n1,2 1:1\n",
}


def seeds() -> dict[str, list[bytes]]:
    """The first files of the corpus of each target."""
    made = {
        "header": [text.encode() for text in HEADER],
        "rows": [bytes([int(k) if k.isdigit() else ord(k)]) + text.encode() for k, text in ROWS],
        "words": [text.encode() for text in WORDS],
        "expression": [text.encode() for text in EXPRESSIONS],
        "saved": [_chain(text) for text in CHAINS],
        "formats": [bytes([FORMATS.index(name)]) + text.encode() for name, text in TEXTS.items()],
    }
    made["formats"] += [bytes([FORMATS.index(name)]) + _table(name) for name in ("xrff", "parquet", "arrow")]
    assert len(HEADERS) == 6
    return made


def _chain(text: str) -> bytes:
    mixed = filterkit.read(SAMPLES / "mixed.arff")
    kept = io.BytesIO()
    path = Path(_folder(), "kept.chain")
    filterkit.save(filterkit.chain(text).fit(mixed), path)
    kept.write(path.read_bytes())
    return unpacked(kept.getvalue())


def _table(name: str) -> bytes:
    path = Path(_folder(), f"table.{name}")
    filterkit.write(filterkit.read(SAMPLES / "mixed.arff").rows(0, 3), path, format=name)
    return path.read_bytes()


def _folder() -> Path:
    from trials.reading import folder

    return folder()


def main() -> None:
    """Write the files."""
    for target, files in seeds().items():
        (CORPUS / target).mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(files):
            (CORPUS / target / f"seed-{number}").write_bytes(data)


if __name__ == "__main__":
    main()
