"""--rejects: unreadable rows are written there, and processing continues."""

import pytest
from command import files, refusal, run

HEADER = "@relation r\n@attribute n numeric\n@attribute c {a,b}\n@data\n"
WRONG = {5: b"x,a", 9: b"1,q", 40: b"1,a,b", 77: b"'open,a", 100: b"1"}


@pytest.fixture
def data(tmp_path):
    """A file of 100 rows, some of them unreadable."""
    lines = [WRONG.get(number, f"{number},{'ab'[number % 2]}".encode()) for number in range(1, 101)]
    (tmp_path / "data.arff").write_bytes(HEADER.encode() + b"\n".join(lines) + b"\n")


def test_rows_of_strings_and_of_test_data_may_be_rejected(tmp_path):
    text = HEADER.replace("@data", "@attribute s string\n@data") + "1,a,x\n2,q,y\n3,b,'z'\n"
    (tmp_path / "a.arff").write_text(text)
    (tmp_path / "b.arff").write_text(text.replace("2,q", "two,a"))
    done = run("--rejects bad.txt -o o.arff --test b.arff p.arff a.arff l2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "filterkit: 2 rows could not be read, and are in bad.txt\n")
    places = [line.partition(": ")[0] for line in (tmp_path / "bad.txt").read_text().splitlines()[::2]]
    assert places == ["% a.arff:7", "% b.arff:7"]


def test_more_rejected_rows_than_allowed_are_an_error(data, tmp_path):
    said = refusal("--rejects bad.txt --max-rejects 2 -o out.arff data.arff", status=1, cwd=tmp_path)
    assert said.startswith("data.arff:44: ") and said.endswith("(more than the 2 rows that --max-rejects allows)")
    assert list(files(tmp_path)) == ["data.arff"]
    assert run("--rejects bad.txt --max-rejects 5 -o out.arff data.arff", cwd=tmp_path).returncode == 0
    refusal("--max-rejects 5 data.arff", cwd=tmp_path)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_rejected_rows_are_written_as_they_were_read(encoding, tmp_path):
    """They keep the encoding of the input, and bytes that are invalid in it."""
    bad = "zwölf,a".encode("latin-1")
    (tmp_path / "data.arff").write_bytes(HEADER.encode() + b"1,a\r\n" + bad + b"\r\n2,b\r\n")
    run(f"--encoding {encoding} --rejects bad.txt -o out.arff data.arff", cwd=tmp_path)
    assert (tmp_path / "bad.txt").read_bytes().splitlines()[1] == bad


def test_an_invalid_header_is_still_an_error(tmp_path):
    (tmp_path / "data.arff").write_text(HEADER.replace("numeric", "number") + "1,a\n")
    assert refusal("--rejects bad.txt data.arff", status=1, cwd=tmp_path).startswith("data.arff:2: ")


@pytest.mark.parametrize("options", ["", "--jobs 1 --block-size 64"])
def test_unreadable_rows_are_written_with_their_reasons(data, options, tmp_path):
    done = run(f"--rejects bad.txt {options} data.arff", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "filterkit: 5 rows could not be read, and are in bad.txt\n")
    lines = (tmp_path / "bad.txt").read_bytes().splitlines()
    assert lines[1::2] == list(WRONG.values())
    assert [line.split()[1] for line in lines[::2]] == [f"data.arff:{number + 4}:".encode() for number in WRONG]
    good = [f"{number},{'ab'[number % 2]}" for number in range(1, 101) if number not in WRONG]
    assert done.stdout.split("@data\n")[1].splitlines() == [*good, "% 95 rows"]


def test_a_file_without_unreadable_rows_is_told(tmp_path):
    (tmp_path / "data.arff").write_text(HEADER + "1,a\n")
    assert run("--rejects bad.txt data.arff", cwd=tmp_path).stderr == "filterkit: 0 rows could not be read\n"
    assert (tmp_path / "bad.txt").read_bytes() == b""
