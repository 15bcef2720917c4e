"""Prints docs/weka_scores.md, the scores of two Wekas beside filterkit's.

python docs/weka_scores.py CLASS_PATH_OF_3.6 CLASS_PATH_OF_3.9 FOLDER_OF_DATA > docs/weka_scores.md
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import filterkit

# Which metric computes what an evaluator of Weka does. 3.9 has ChiSquaredAttributeEval in a package of its own.
EVALUATORS = {
    "infogain": "InfoGainAttributeEval",
    "chisquared": "ChiSquaredAttributeEval",
    "gainratio": "GainRatioAttributeEval",
    "su": "SymmetricalUncertAttributeEval",
    "oner": "OneRAttributeEval -D",
    "correlation": "CorrelationAttributeEval",
}
ONLY_IN_36 = "chisquared"
BOOK = ("weka/weather.nominal.arff", "weka/weather.numeric.arff")
SETS = [f"uci/{name}.arff" for name in ("credit-g", "diabetes", "glass", "sonar", "vehicle", "vowel")]
SETS += [f"weka/{name}.arff" for name in ("breast-cancer", "labor", "soybean", "vote")]
INTRODUCTION = """\
# Scores beside Weka's

Printed by `python docs/weka_scores.py`, which runs Weka 3.9.7 (3.6.14 for ChiSquaredAttributeEval, which 3.9 has in
a package) and filterkit on the same files. Scores have the four decimals that Weka's Ranker prints.
[Formulas](formulas.md#metrics) says what each metric computes.

## The example of the books

`ig` and `chi` score a nominal column by all its values, as Weka does, and a numeric one at its best threshold. Weka
first cuts numbers into bins by their description length, and of 14 rows none is worth a cut. `infogain` and
`chisquared` do the same."""


def page(weka36: str, weka39: str, folder: Path) -> str:
    """The whole page."""
    lines = [INTRODUCTION]
    for name in BOOK:
        batch, theirs = _scored(folder / name, weka36, weka39)
        lines += ["", f"`{Path(name).stem}`:", "", *_of_book(batch, theirs)]
    counts = ["", "| set | attributes | " + " | ".join(f"`{metric}`" for metric in EVALUATORS) + " |"]
    counts.append("| --- |" + " ---: |" * (1 + len(EVALUATORS)))
    for name in SETS:
        batch, theirs = _scored(folder / name, weka36, weka39)
        equal = [np.count_nonzero(_texts(_scores(batch, m)) == _texts(theirs[m])) for m in EVALUATORS]
        counts.append(f"| {Path(name).stem} | {batch.schema.width} | " + " | ".join(map(str, equal)) + " |")
    lines += ["", "## Ten real sets", "", "So many attributes have the same score in all decimals:", *counts]
    return "\n".join(lines) + "\n"


def _of_book(batch: filterkit.Batch, theirs: dict[str, np.ndarray]) -> list[str]:
    """A table with a line for each attribute."""
    columns: dict[str, np.ndarray] = {}
    for metric, short in (("infogain", "ig"), ("chisquared", "chi"), ("gainratio", None), ("su", None)):
        columns[EVALUATORS[metric].removesuffix("AttributeEval")] = theirs[metric]
        columns |= {f"`{each}`": _scores(batch, each) for each in (metric, short) if each is not None}
    lines = ["| attribute | " + " | ".join(columns) + " |", "| --- |" + " ---: |" * len(columns)]
    texts = np.stack([_texts(scores) for scores in columns.values()], axis=1)
    return lines + [f"| {a.name} | " + " | ".join(row) + " |" for a, row in zip(batch.schema.features, texts.tolist())]


def _scored(path: Path, weka36: str, weka39: str) -> tuple[filterkit.Batch, dict[str, np.ndarray]]:
    """A data set, and the scores that Weka gives its attributes, by the metric that is to give the same."""
    sys.path.append(str(Path(__file__).parent.parent / "tests"))
    from weka import weka_scores

    batch = filterkit.read(str(path))
    in_39 = [metric for metric in EVALUATORS if metric != ONLY_IN_36]
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder, "plain.arff")
        filterkit.write(batch, str(plain))
        theirs = weka_scores(weka39, plain, [EVALUATORS[metric] for metric in in_39])
        found = dict(zip(in_39, theirs.T))
        found[ONLY_IN_36] = weka_scores(weka36, plain, [EVALUATORS[ONLY_IN_36]])[:, 0]
    return batch, found | {"oner": found["oner"] / 100}


def _scores(batch: filterkit.Batch, metric: str) -> np.ndarray:
    """float64 (attributes,): the scores by a metric."""
    features = filterkit.chain(f"{metric} --score-only").fit(batch).schema.features
    return np.array([attribute.scores[-1][1] for attribute in features])


def _texts(scores: np.ndarray) -> np.ndarray:
    """Scores as Weka's Ranker prints them."""
    return np.array([f"{score:.4f}" for score in scores + 1e-12])  # of two that differ by rounding, both round up


if __name__ == "__main__":
    print(page(sys.argv[1], sys.argv[2], Path(sys.argv[3])), end="")
