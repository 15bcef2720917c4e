"""Weka as a process, and programs of it that tests run."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

import filterkit

WEKA_ANSWERS = Path(__file__).with_name("WekaAnswers.java")
WEKA_CONTENT = Path(__file__).with_name("WekaContent.java")
WEKA_SCORES = Path(__file__).with_name("WekaScores.java")
WEKA_SUBSET = Path(__file__).with_name("WekaSubset.java")


def weka(class_path, *arguments, text=None):
    """What Weka prints when Java runs `arguments` with this class path and `text` as its standard input."""
    done = subprocess.run(
        ["java", "-Duser.timezone=UTC", "-Dfile.encoding=UTF-8", "-cp", class_path, *arguments],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    # Weka reports a failure on standard error and still exits with 0.
    assert done.returncode == 0, done.stderr
    assert "Exception" not in done.stderr, done.stderr
    return done.stdout


def weka_filter(class_path, name, options, path):
    """The declarations and the rows that a filter of Weka puts out for a file; `name` is that in `weka.filters`."""
    return declarations_and_rows(weka(class_path, f"weka.filters.{name}", *options, "-i", str(path)))


def declarations_and_rows(text):
    """The lines of ARFF text that declare attributes, and those of rows."""
    head, _, rows = text.partition("@data")
    declared = [line for line in head.splitlines() if line.startswith("@attribute")]
    return declared, [line for line in rows.splitlines() if line.strip() and not line.startswith("%")]


def arff_of(batch):
    """A batch as ARFF text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "out.arff")
        filterkit.write(batch, str(path))
        return path.read_text()


def weka_scores(class_path, path, evaluators):
    """The scores that evaluators of Weka give each attribute of a file but the last, the class: float64 (columns, n).

    Parameters
    ----------
    evaluators : the name of each and its options, as "InfoGainAttributeEval -B".
    """
    words = [f"weka.attributeSelection.{evaluator}" for evaluator in evaluators]
    printed = weka(class_path, str(WEKA_SCORES), str(path), *words)
    return np.array([line.split() for line in printed.splitlines()], float)


def weka_answers(class_path, questions):
    """What filters and evaluators of Weka, all in one process, put out for files.

    Parameters
    ----------
    questions : pairs of a path and the class within weka with its options, as ("in.arff", "filters.X -R 2"). An
        evaluator takes the last attribute as the class, and its answer has a line for each other attribute.
    """
    lines = "".join(f"{path}\tweka.{words}\n" for path, words in questions)
    return weka(class_path, str(WEKA_ANSWERS), text=lines).split("\n\f\n")[: len(questions)]
