"""The last line of a file of filterkit, the number of its rows, is compared with the rows that are read."""

import gzip

import pytest
from command import files, refusal, run
from content import outcome

from filterkit.engines.local import LocalEngine

PLAIN = "@relation r\n@attribute a numeric\n@attribute s string\n@data\n"
OWN = "% filterkit 0.1.0: in.arff l2\n" + PLAIN
CUT = "is missing, so it may be cut off"
FEWER = "says 3 rows, but it has 2; make the file again, or remove that line if rows were removed on purpose"

# The texts of one input, and the end of what is said of it; a text without a header continues the one before.
SAID = {
    "whole": ([OWN + "1,x\n2,y\n% 2 rows\n"], ""),
    "comments between": ([OWN + "% 9 rows\n1,x\n% 7 rows\n\n2,y % 8 rows\n% 2 rows"], ""),
    "blank end": ([OWN + "1,x\n% 1 rows\n\n \n\x1a" + "\n" * 3000], ""),
    "carriage returns": ([(OWN + "1,x\n2,y\n% 2 rows\n").replace("\n", end) for end in ("\r\n", "\r")], ""),
    "sparse, with weights": ([OWN + "{0 1,1 x},{2}\n{1 y},{0.5}\n% 2 rows\n"], ""),
    "not filterkit's": ([PLAIN + "1,x\n2,y\n% 12 rows\n", "% 1\n" + OWN + "1,x\n% 3 rows\n", PLAIN + "1,x\n"], ""),
    "fewer": ([OWN + "1,x\n2,y\n% 3 rows\n"], FEWER),
    "more": ([OWN + "1,x\n2,y\n% 1 rows\n"], "says 1 rows, but it has 2; make the file again, or remove that line if "
             "rows were added on purpose"),
    "one row a comment now": ([OWN + "1,x\n%2,y\n3,z\n% 3 rows\n", OWN + "1,x\n% 1 rows\n"], FEWER),
    "of all, in the middle": ([OWN + "1,x\n% 1 rows\n", OWN + "1,x\n2,y\n% 3 rows\n", OWN + "1,x\n% 1 rows\n"], FEWER),
    "one too few, one too many": ([OWN + "1,x\n% 2 rows\n", OWN + "1,x\n2,y\n% 1 rows\n"], "says 2 rows, but it has 1"),
    "one too few, one too many, read together": (
        [OWN + "1,x\n% 1 rows\n", OWN + "1,x\n% 2 rows\n", OWN + "1,x\n2,y\n% 1 rows\n"],
        "says 2 rows, but it has 1",
    ),
    "cut": ([OWN + "1,x\n2,y\n"], "'% 2 rows', " + CUT),
    "cut in the last line": ([OWN + "1,x\n2,y\n% 2 ro"], CUT),
    "another comment at the end": ([OWN + "1,x\n% 1 rows\n% checked\n"], CUT),
    "rows appended": ([OWN + "1,x\n% 1 rows\n2,y\n"], "'% 2 rows', " + CUT),
    "one of several": ([OWN + "1,x\n% 1 rows\n", OWN + "2,y\n", PLAIN + "3,z\n"], CUT),
    "pieces": ([OWN + "1,x\n", "2,y\n3,z\n", "4,w\n% 4 rows\n", OWN + "5,x\n% 1 rows\n", "6,y\n"], ""),
    "a piece is missing": ([OWN + "1,x\n", "2,y\n% 3 rows\n"], FEWER),
    "no last piece": ([OWN + "1,x\n", "2,y\n"], "'% 2 rows', " + CUT),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_a_number_that_is_wrong_or_missing_is_noticed(name, tmp_path):
    texts, end = SAID[name]
    for number, text in enumerate(texts):
        (tmp_path / f"p{number}.arff").write_bytes(text.encode())
    path = tmp_path / ("p*.arff" if len(texts) > 1 else "p0.arff")
    found, told = outcome(path, LocalEngine(1))
    message = found if "says" in end else "".join(told)
    assert end in message and bool(end) == bool(message)
    for size in (1, 30):
        assert outcome(path, LocalEngine(2), block_size=size) == (found, told)
        assert outcome(path, LocalEngine(1), lenient=True, unseen="extend", part_size=size) == (found, told)
    assert outcome(path, LocalEngine(2), complete=True) == (message or found, [])


def test_rejected_rows_count_and_compressed_text_too(tmp_path):
    (tmp_path / "x.arff.gz").write_bytes(gzip.compress((OWN + "1,x\nq,y\n3,z\n% 3 rows\n").encode()))
    done = run("--complete --rejects bad.txt x.arff.gz", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.endswith("% 2 rows\n")


@pytest.mark.parametrize(
    "words",
    [
        "-o out.arff in.arff",
        "-o out.arff --test in.arff test.arff whole.arff",
        "info in.arff",
        "scores in.arff bns",
        "evaluate in.arff --chain svm -o out.csv",
    ],
)
def test_no_command_makes_an_output_of_a_table_with_a_wrong_number(words, tmp_path):
    text = OWN.replace("string", "{x,y}") + "1,x\n2,y\n" * 9
    (tmp_path / "in.arff").write_text(text + "% 20 rows\n")
    (tmp_path / "whole.arff").write_text(text + "% 18 rows\n")
    message = refusal(words, status=1, cwd=tmp_path)
    assert message.startswith("in.arff: its last line says 20 rows, but it has 18;") and len(files(tmp_path)) == 2
