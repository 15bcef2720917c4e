"""--rejects: unreadable rows are written there, and processing continues."""

import pytest
from command import run

HEADER = "@relation r\n@attribute n numeric\n@attribute c {a,b}\n@data\n"
WRONG = {5: b"x,a", 9: b"1,q", 40: b"1,a,b", 77: b"'open,a", 100: b"1"}


@pytest.fixture
def data(tmp_path):
    """A file of 100 rows, some of them unreadable, and the lines of the others."""
    lines = [f"{i},{'ab'[i % 2]}".encode() for i in range(1, 101)]
    good = [line for number, line in enumerate(lines, 1) if number not in WRONG]
    bad = [WRONG.get(number, line) for number, line in enumerate(lines, 1)]
    path = tmp_path / "data.arff"
    path.write_bytes(HEADER.encode() + b"\n".join(bad) + b"\n")
    return path, good


def test_rows_of_strings_and_of_test_data_may_be_rejected(tmp_path):
    text = HEADER.replace("@data", "@attribute s string\n@data") + "1,a,x\n2,q,y\n3,b,'z'\n"
    (tmp_path / "a.arff").write_text(text)
    (tmp_path / "b.arff").write_text(text.replace("2,q", "two,a"))
    done = run(*("--rejects", "bad.txt", "-o", "o.arff", "--test", "b.arff", "p.arff", "a.arff", "l2"), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "filterkit: 2 rows could not be read, and are in bad.txt\n")
    places = [line.partition(": ")[0] for line in (tmp_path / "bad.txt").read_text().splitlines()[::2]]
    assert places == ["% a.arff:7", "% b.arff:7"]


def test_more_rejected_rows_than_allowed_are_an_error(data, tmp_path):
    path, _ = data
    done = run("--rejects", "bad.txt", "--max-rejects", "2", "-o", "out.arff", path.name, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("filterkit: data.arff:44: ")
    assert done.stderr.endswith("(more than the 2 rows that may be rejected)\n") and done.stderr.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["data.arff"]
    done = run("--rejects", "bad.txt", "--max-rejects", "5", "-o", "out.arff", path.name, cwd=tmp_path)
    assert done.returncode == 0
    assert run("--max-rejects", "5", path).returncode == 2


def test_rejected_rows_are_written_as_they_were_read(tmp_path):
    """They keep the encoding of the input, and bytes that are invalid in it."""
    bad = "zwölf,a".encode("latin-1")
    (tmp_path / "data.arff").write_bytes(HEADER.encode() + b"1,a\r\n" + bad + b"\r\n2,b\r\n")
    for encoding in ("latin-1", "utf-8"):
        done = run("--encoding", encoding, "--rejects", "bad.txt", "-o", "out.arff", "data.arff", cwd=tmp_path)
        assert done.returncode == 0
        assert (tmp_path / "bad.txt").read_bytes().splitlines()[1] == bad


def test_an_invalid_header_is_still_an_error(tmp_path):
    (tmp_path / "data.arff").write_text(HEADER.replace("numeric", "number") + "1,a\n")
    done = run("--rejects", "bad.txt", "data.arff", cwd=tmp_path)
    assert done.returncode == 1 and "data.arff:2: " in done.stderr


@pytest.mark.parametrize("options", [(), ("--jobs", "1", "--block-size", "64")])
@pytest.mark.parametrize("chain", [(), ("shape", "l2")])
def test_unreadable_rows_are_written_with_their_reasons(data, options, chain, tmp_path):
    path, good = data
    done = run("--rejects", "bad.txt", "-o", "out.arff", *options, path.name, *chain, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "filterkit: 5 rows could not be read, and are in bad.txt\n")
    lines = (tmp_path / "bad.txt").read_bytes().splitlines()
    assert lines[1::2] == list(WRONG.values())
    for number, line in zip(WRONG, lines[::2], strict=True):
        assert line.startswith(f"% data.arff:{number + 4}: ".encode())
    (tmp_path / "good.arff").write_bytes(HEADER.encode() + b"\n".join(good) + b"\n")
    expected = run("--rejects", "none.txt", "good.arff", *chain, cwd=tmp_path)
    assert expected.stderr == "filterkit: 0 rows could not be read\n" and (tmp_path / "none.txt").read_bytes() == b""
    assert (tmp_path / "out.arff").read_text().partition("@data\n")[2] == expected.stdout.partition("@data\n")[2]
