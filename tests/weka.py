"""Weka, and programs of it that tests run, in one Java process for each Weka and each process of the tests."""

import atexit
import contextlib
import functools
import os
import struct
import subprocess
import tempfile
import threading
from pathlib import Path

import numpy as np

import filterkit

PROGRAMS = sorted(Path(__file__).parent.glob("Weka*.java"))
WEKA_ANSWERS, WEKA_CONTENT, WEKA_SCORES, WEKA_SUBSET = "WekaAnswers", "WekaContent", "WekaScores", "WekaSubset"
TIMEOUT = 300  # seconds; a guard against hanging
# Most programs end before more than the quickest compiler and collector of garbage would pay off.
JAVA = ["java", "-Duser.timezone=UTC", "-Duser.language=en", "-Dfile.encoding=UTF-8"]
JAVA += ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


def weka(class_path, name, *arguments, text=""):
    """What a class of Weka, or one of the programs here, prints for `arguments` and `text` on standard input."""
    failed, printed, said = _java(class_path).run(name, *arguments, text=text)
    # Weka reports a failure on standard error and still exits with 0.
    assert not failed, said
    assert "Exception" not in said, said
    return printed


@functools.cache
def _java(class_path):
    """The process of this class path, which the tests of this process use to their end."""
    started = _Java(class_path)
    atexit.register(started.close)
    return started


def add_programs(class_path, folder):
    """The class path with `folder`, into which the first process of the tests that comes here compiles the programs."""
    if not folder.exists():
        compiler = ["--module", "jdk.compiler/com.sun.tools.javac.Main", "-nowarn", "-cp", class_path]
        made = tempfile.mkdtemp(dir=folder.parent)
        subprocess.run([*JAVA, *compiler, "-d", made, *PROGRAMS], check=True, capture_output=True, timeout=TIMEOUT)
        with contextlib.suppress(OSError):  # another process was as quick
            os.rename(made, folder)
    return f"{class_path}:{folder}"


class _Java:
    """The process of ``WekaServer.java``, which runs one program at a time."""

    def __init__(self, class_path):
        command = [*JAVA, "-cp", class_path, "WekaServer"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self):
        """End the process."""
        self._process.stdin.close()
        self._process.wait(TIMEOUT)
        self._process.stdout.close()

    def run(self, *words, text):
        """Run a program: whether it failed, and what it wrote to standard output and to standard error."""
        encoded = [str(word).encode() for word in (*words, text)]
        message = b"".join(struct.pack(">i", len(word)) + word for word in encoded)
        timer = threading.Timer(TIMEOUT, self._process.kill)
        timer.start()
        try:
            self._process.stdin.write(struct.pack(">i", len(words)) + message)
            self._process.stdin.flush()
            return self._number(), self._text(), self._text()
        except (OSError, struct.error):
            raise AssertionError(f"Java ended, or took more than {TIMEOUT} s: {words}") from None
        finally:
            timer.cancel()

    def _number(self):
        return struct.unpack(">i", self._process.stdout.read(4))[0]

    def _text(self):
        return self._process.stdout.read(self._number()).decode()


def declarations_and_rows(text):
    """The lines of ARFF text that declare attributes, and those of rows."""
    head, _, rows = text.partition("@data")
    declared = [line for line in head.splitlines() if line.startswith("@attribute")]
    return declared, [line for line in rows.splitlines() if line.strip() and not line.startswith("%")]


def arff_of(batch):
    """A batch as ARFF text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "out.arff")
        filterkit.write(batch, path)
        return path.read_text()


def weka_scores(class_path, path, evaluators):
    """The scores that evaluators of Weka give each attribute of a file but the last, the class: float64 (columns, n).

    Parameters
    ----------
    evaluators : the name of each and its options, as "InfoGainAttributeEval -B".
    """
    words = [f"weka.attributeSelection.{evaluator}" for evaluator in evaluators]
    printed = weka(class_path, WEKA_SCORES, path, *words)
    return np.array([line.split() for line in printed.splitlines()], float)


def weka_answers(class_path, questions):
    """What filters and evaluators of Weka, all in one process, put out for files.

    Parameters
    ----------
    questions : pairs of a path and the class within weka with its options, as ("in.arff", "filters.X -R 2"). An
        evaluator takes the last attribute as the class, and its answer has a line for each other attribute.
    """
    lines = "".join(f"{path}\tweka.{words}\n" for path, words in questions)
    return weka(class_path, WEKA_ANSWERS, text=lines).split("\n\f\n")[: len(questions)]
