"""Chains spread over several processes, read from files, and run on pipes that stay open; comments in the output."""

import shlex
import subprocess
import sys
import threading
from pathlib import Path

import command
import pytest
from command import run, start

pytestmark = pytest.mark.posix

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "arff_samples"


def shell(text, folder=ROOT):
    done = command.shell(text, folder)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def without_comments(text):
    return [line for line in text.splitlines() if not line.startswith("%")]


@pytest.mark.parametrize(
    ("name", "stages"),
    [
        ("iris.arff", ["shape", "bns", "l2"]),
        ("mixed-sparse.arff", ["shape", "chi --score-only", "select --top 2", "l1"]),
        ("breast-cancer.arff", ["shuffle", "sample --fraction 1/3", "normal", "max"]),
    ],
)
def test_a_pipeline_gives_what_one_process_gives(name, stages):
    first, *rest = stages
    piped = " | ".join([f"filterkit arff_samples/{name} {first}", *(f"filterkit - {stage}" for stage in rest)])
    one = shell(f"filterkit arff_samples/{name} {' '.join(stages)}")
    assert without_comments(shell(piped)) == without_comments(one)


def test_scores_survive_other_tools_as_comments():
    """sed removes blank lines and grep whole-line comments; the scores are neither lost nor changed."""
    scored = "filterkit --positive science arff_samples/fortunes.arff bns --score-only"
    expected = shell(f"{scored} select --top 500")
    for between in ("cat", "sed '/^$/d'", "grep -v '^%'"):
        found = shell(f"{scored} | {between} | filterkit - select --top 500")
        assert without_comments(found) == without_comments(expected)


@pytest.mark.parametrize(
    "options",
    [
        "--precision 3 --dense --class 5 arff_samples/iris.arff sample --fraction 1/10 l2",
        "--positive setosa --sparse arff_samples/iris.arff shape --cross-fit 3 --seed 4",
        "--encoding latin-1 --rejects /dev/null --max-rejects 2 arff_samples/iris.arff write /dev/null split",
    ],
)
def test_the_command_in_the_comment_makes_the_same_bytes(options):
    made = command.shell(f"filterkit {options}", ROOT).stdout
    again = made.partition(": ")[2].partition("\n")[0]
    assert command.shell(f"filterkit {again}", ROOT).stdout == made and sorted(again.split()) == sorted(options.split())


@pytest.mark.parametrize(
    ("chain", "last"),
    [
        ("l2", "% 150 rows"),
        ("sample --fraction 1/10", "% 15 of 150 rows"),
        ("head 4", "% 4 rows"),
        ("head 150", "% 150 rows"),
        ("where \"class = 'setosa'\" head 25", "% 25 rows"),  # threads may have read all rows by then
        ("head 25 where \"class = 'virginica'\"", "% 0 rows"),
    ],
)
def test_the_last_comment_counts_rows_written_and_read(chain, last):
    done = run("--jobs", "2", "--block-size", "64", SAMPLES / "iris.arff", *shlex.split(chain))
    assert done.stdout.splitlines()[-1] == last


def test_comments_of_earlier_commands_are_kept():
    made = shell("filterkit arff_samples/iris.arff head 100 | filterkit --class 5 - l2 | filterkit - head 3")
    assert [line for line in made.splitlines() if line.startswith("%")] == [
        "% filterkit 0.1.0: arff_samples/iris.arff head 100",
        "% filterkit 0.1.0: --class 5 - l2",
        "% filterkit 0.1.0: - head 3",
        "% 3 rows",
    ]


def test_a_chain_can_be_read_from_a_file(tmp_path):
    (tmp_path / "my.chain").write_text(
        "# shaping\nshape --neighbors 3  # few\n\nrename --find 'petal ' --replace 'p '\nbns l2\n"
    )
    listed = shell(f"filterkit --chain {tmp_path}/my.chain arff_samples/iris.arff")
    assert listed == shell(
        "filterkit arff_samples/iris.arff shape --neighbors 3 rename --find 'petal ' --replace 'p ' bns l2"
    )


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("l2\nbsn\n", [], "my.chain:2: no stage 'bsn'; did you mean 'bns'?"),
        ("l2 'open\n", [], "my.chain:1: No closing quotation"),
        ("l2\n", ["l2"], "stages cannot be combined with --chain"),
        (None, [], "--chain my.chain: No such file or directory"),
    ],
)
def test_a_mistake_in_a_chain_file_names_its_line(text, arguments, message, tmp_path):
    if text is not None:
        (tmp_path / "my.chain").write_text(text)
    done = run("--chain", "my.chain", SAMPLES / "iris.arff", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"filterkit: {message}\n")


# ---- pipes that stay open -----------------------------------------------------------------------------------------

HEADER = "@relation live\n@attribute a numeric\n{}@attribute class {{no,yes}}\n@data\n"


@pytest.fixture(scope="module")
def chain_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("live")
    for kind, (declared, text) in {"plain": ("", ""), "text": ("@attribute s string\n", "'a b',")}.items():
        (folder / f"{kind}.arff").write_text(HEADER.format(declared) + f"1,{text}no\n2,{text}yes\n")
        shell(f"filterkit --save {folder}/{kind} -o /dev/null {folder}/{kind}.arff bns l2")
    return folder


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [("text", ["-", "l2"]), ("plain", ["--load", "{}", "-"]), ("text", ["--jobs", "1", "-", "head", "9", "l1"])],
)
def test_rows_are_written_as_they_arrive(kind, arguments, chain_file):
    """Each row is read back before the next is sent, on a pipe that stays open."""
    arguments = [word.format(chain_file / kind) for word in arguments]
    declared, text = ("", "") if kind == "plain" else ("@attribute s string\n", "'a b',")
    process = start(*arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    giving_up = threading.Timer(60, process.kill)  # otherwise a missing row would make the test hang
    giving_up.start()
    with process:
        process.stdin.write(HEADER.format(declared))
        process.stdin.flush()
        for number in range(5):
            process.stdin.write(f"{number},{text}yes\n")
            process.stdin.flush()
            while (line := process.stdout.readline()).startswith(("@", "%", "\n")):
                pass
            assert line.endswith(f"{text}yes\n"), "the process gave nothing and was ended"
        process.stdin.close()
        assert process.stdout.read() == "% 5 rows\n"
    giving_up.cancel()
    assert process.returncode == 0


def test_a_command_with_enough_rows_ends_while_its_input_is_open(chain_file):
    """`head` does not wait for more rows than it needs."""
    process = start("-", "head", "2", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    giving_up = threading.Timer(60, process.kill)
    giving_up.start()
    process.stdin.write(HEADER.format("") + "1,no\n2,yes\n3,no\n")
    process.stdin.flush()
    assert process.stdout.read().endswith("@data\n1,no\n2,yes\n% 2 rows\n")
    assert process.wait() == 0
    giving_up.cancel()
    process.stdin.close()


@pytest.mark.skipif(sys.platform != "linux", reason="the names of open files are looked up in /proc")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("x.arff > y.csv", "standard output is ARFF, though it goes to 'y.csv', whose ending is that of CSV; "
         "say -o 'y.csv'"),
        ("x.arff >> y.xlsx", "standard output is ARFF, though it goes to 'y.xlsx', whose ending is that of Excel"),
        ("x.arff > y.arff.gz", "standard output is not compressed, though it goes to 'y.arff.gz'; say -o 'y.arff.gz'"),
        ("--to csv x.arff > y.csv", ""),
        ("x.arff > y.arff", ""),
        ("x.arff > y", ""),
        ("x.arff > y.txt", ""),
        ("-o z.arff x.arff > y.csv", ""),
        ("--explain x.arff > y.csv", ""),
        ("x.arff | cat > y.csv", ""),
    ],
)  # fmt: skip
def test_a_redirection_to_a_file_of_another_format_is_noticed(words, said, tmp_path):
    (tmp_path / "x.arff").write_text("@relation r\n@attribute a numeric\n@data\n1\n")
    done = command.shell(f"filterkit {words}", tmp_path)
    assert done.stderr == (f"filterkit: warning: {said}\n" if said else "")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not delete the folder of a process")
def test_a_current_folder_that_was_deleted_does_no_harm_to_absolute_paths(tmp_path):
    def there(words):
        (tmp_path / "gone").mkdir()
        return command.shell(f"cd gone; rmdir ../gone; {command.COMMAND[0]} {words}", tmp_path)

    iris = SAMPLES / "iris.arff"
    done = there(f"{iris} l2")
    assert done.returncode == 0 and done.stdout.endswith("% 150 rows\n")
    assert there(f"-o {tmp_path / 'x.arff'} {iris}").returncode == 0
    assert there("iris.arff").stderr == "filterkit: iris.arff: No such file or directory\n"
    done = there(f"-o x.arff {iris}")
    assert (done.returncode, done.stderr) == (1, "filterkit: the current folder has been deleted\n")


@pytest.mark.parametrize(("fault", "options"), [("a bad row", ["--complete"]), ("SIGKILL", [])])
def test_what_comes_of_a_process_that_fails_is_not_taken_for_the_whole_table(fault, options, tmp_path):
    """The last of three processes notices that the first one has failed, since the second says nothing of its end."""
    first, second = (start("-", stage, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for stage in ("l1", "l2"))
    last = start(*options, "-o", tmp_path / "out.arff", "-", "max", stdin=second.stdout, stderr=subprocess.PIPE)
    giving_up = threading.Timer(60, first.kill)
    giving_up.start()
    first.stdin.write(HEADER.format("").encode() + b"1,no\n2,yes\n")
    first.stdin.flush()
    while (line := first.stdout.readline()) != b"1,yes\n":
        second.stdin.write(line)
    second.stdin.write(line)
    if fault == "SIGKILL":
        first.kill()
    first.communicate(b"x,no\n" if fault == "a bad row" else None)
    second.stdout.close()
    second.stdin.close()
    said = last.communicate()[1].decode()
    giving_up.cancel()
    assert (first.returncode, second.wait(60), last.returncode) == (1 if fault == "a bad row" else -9, 0, len(options))
    assert said.endswith(": its last line, such as '% 2 rows', is missing, so it may be cut off; if no row is missing, "
                         "add that line\n")  # fmt: skip
    rows = [] if options else (tmp_path / "out.arff").read_text().partition("@data\n")[2].splitlines()
    assert rows == ([] if options else ["1,no", "1,yes"]) and (tmp_path / "out.arff").exists() == (not options)
