"""Chains spread over several processes, read from files, and run on pipes that stay open; comments in the output."""

import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import command
import pytest
from command import output, run, start, stdout_of

pytestmark = pytest.mark.posix


def shell(text):
    return stdout_of(command.shell(text, "."))


def without_comments(text):
    return [line for line in text.splitlines() if not line.startswith("%")]


@pytest.mark.parametrize(
    "words",
    [
        "../iris.arff shape | bns | l2",
        "../mixed-sparse.arff shape | chi --score-only | select --top 2 | l1",
        "../iris.arff shuffle | sample --fraction 1/3 | normal | max",
    ],
)
def test_a_pipeline_gives_what_one_process_gives(words):
    piped = shell("filterkit " + words.replace("|", "| filterkit -"))
    assert without_comments(piped) == without_comments(output(words.replace("|", "")))


def test_scores_survive_other_tools_as_comments():
    """sed removes blank lines and grep whole-line comments; the scores are neither lost nor changed."""
    output("-o scored.arff --class 1 ../wine.arff bns --score-only")
    expected = output("--class 1 ../wine.arff bns --score-only select --top 5")
    for between in ("sed '/^$/d'", "grep -v '^%'"):
        found = shell(f"{between} scored.arff | filterkit --class 1 - select --top 5")
        assert without_comments(found) == without_comments(expected)


@pytest.mark.parametrize(
    "options",
    [
        "--precision 3 --dense --class 5 ../iris.arff sample --fraction 1/10 l2",
        "--positive setosa --sparse ../iris.arff shape --cross-fit 3 --seed 4",
        "--encoding latin-1 --rejects /dev/null --max-rejects 2 ../iris.arff write /dev/null split",
    ],
)
def test_the_command_in_the_comment_makes_the_same_bytes(options):
    made = run(options).stdout
    again = made.partition(": ")[2].partition("\n")[0]
    assert run(again).stdout == made and sorted(again.split()) == sorted(options.split())


@pytest.mark.parametrize(
    ("chain", "last"),
    [
        ("l2", "% 150 rows"),
        ("sample --fraction 1/10", "% 15 of 150 rows"),
        ("head 4", "% 4 rows"),
        ("head 150", "% 150 rows"),
        ("where \"class = 'setosa'\" head 25", "% 25 rows"),  # threads may have read all rows by then
        ("head 60 where \"class = 'versicolor'\"", "% 10 rows"),
    ],
)
def test_the_last_comment_counts_rows_written_and_read(chain, last):
    assert output(f"--jobs 2 --block-size 64 ../iris.arff {chain}").splitlines()[-1] == last


def test_comments_of_earlier_commands_are_kept():
    made = shell("filterkit ../iris.arff head 100 | filterkit --class 5 - l2 | filterkit - head 3")
    assert [line for line in made.splitlines() if line.startswith("%")] == [
        "% filterkit 0.1.0: ../iris.arff head 100",
        "% filterkit 0.1.0: --class 5 - l2",
        "% filterkit 0.1.0: - head 3",
        "% 3 rows",
    ]


def test_a_chain_can_be_read_from_a_file():
    Path("my.chain").write_text(
        "# shaping\nshape --neighbors 3  # few\n\nrename --find 'petal ' --replace 'p '\nbns l2\n"
    )
    words = "../iris.arff shape --neighbors 3 rename --find 'petal ' --replace 'p ' bns l2"
    assert output("--chain my.chain ../iris.arff") == output(words)


# ---- pipes that stay open -----------------------------------------------------------------------------------------

HEADER = "@relation live\n@attribute a numeric\n@attribute class {no,yes}\n@data\n"
TEXT_HEADER = HEADER.replace("@attribute class", "@attribute s string\n@attribute class")
PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}


@contextmanager
def ended(process):
    """End a process after a minute, or a row that does not come would make a test hang."""
    giving_up = threading.Timer(60, process.kill)
    giving_up.start()
    yield
    giving_up.cancel()


def send(process, text):
    process.stdin.write(text)
    process.stdin.flush()


@pytest.mark.parametrize(
    ("text", "words"), [("'a b',", "- l2"), ("", "--load saved -"), ("'a b',", "--jobs 1 - head 9 l1")]
)
def test_rows_are_written_as_they_arrive(text, words):
    """Each row is read back before the next is sent, on a pipe that stays open."""
    header = TEXT_HEADER if text else HEADER
    if "saved" in words:
        output("--save saved -o x.arff - bns l2", input=f"{header}1,no\n2,yes\n")
    process = start(words, **PIPES)
    with ended(process), process:
        send(process, header)
        for number in range(5):
            send(process, f"{number},{text}yes\n")
            while (line := process.stdout.readline()).startswith(("@", "%", "\n")):
                pass
            assert line.endswith(f"{text}yes\n"), "the process gave nothing and was ended"
        process.stdin.close()
        assert process.stdout.read() == "% 5 rows\n"
    assert process.returncode == 0


def test_a_command_with_enough_rows_ends_while_its_input_is_open():
    """`head` does not wait for more rows than it needs."""
    process = start("- head 2", **PIPES)
    with ended(process):
        send(process, f"{HEADER}1,no\n2,yes\n3,no\n")
        assert process.stdout.read().endswith("@data\n1,no\n2,yes\n% 2 rows\n")
        assert process.wait() == 0
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
def test_a_redirection_to_a_file_of_another_format_is_noticed(words, said):
    Path("x.arff").write_text("@relation r\n@attribute a numeric\n@data\n1\n")
    done = command.shell(f"filterkit {words}", ".")
    assert done.stderr == (f"filterkit: warning: {said}\n" if said else "")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not delete the folder of a process")
def test_a_current_folder_that_was_deleted_does_no_harm_to_absolute_paths(here):
    def there(words):
        Path("gone").mkdir()
        return command.shell(f"cd gone; rmdir ../gone; {command.COMMAND[0]} {words}", here)

    iris = here.parent / "iris.arff"
    assert there(f"-o {here}/x.arff {iris}").returncode == 0
    assert there("iris.arff").stderr == "filterkit: iris.arff: No such file or directory\n"
    done = there(f"-o x.arff {iris}")
    assert (done.returncode, done.stderr) == (
        1,
        "filterkit: the current folder has been deleted; change to another folder\n",
    )


@pytest.mark.parametrize(("fault", "options"), [("a bad row", "--complete"), ("SIGKILL", "")])
def test_what_comes_of_a_process_that_fails_is_not_taken_for_the_whole_table(fault, options):
    """The last of three processes notices that the first one has failed, since the second says nothing of its end."""
    first, second = (start(f"- {stage}", **PIPES) for stage in ("l1", "l2"))
    last = start(f"{options} -o out.arff - max", stdin=second.stdout, stderr=subprocess.PIPE, text=True)
    with ended(first):
        send(first, f"{HEADER}1,no\n2,yes\n")
        line = ""
        while line != "1,yes\n":
            line = first.stdout.readline()
            second.stdin.write(line)
        if fault == "SIGKILL":
            first.kill()
        first.communicate("x,no\n" if fault == "a bad row" else None)
        second.stdout.close()
        second.stdin.close()
        said = last.communicate()[1]
    assert (first.returncode, second.wait(60)) == (1 if fault == "a bad row" else -9, 0)
    assert said.endswith(": its last line, such as '% 2 rows', is missing, so it may be cut off; if no row is missing, "
                         "add that line\n")  # fmt: skip
    assert last.returncode == (1 if options else 0) and Path("out.arff").exists() == (not options)
    assert options or Path("out.arff").read_text().partition("@data\n")[2] == "1,no\n1,yes\n"
