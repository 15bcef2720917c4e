"""Weight counts of words by how rare the words are."""

from __future__ import annotations

import numpy as np

from filterkit import ColumnStage, StageError, option
from filterkit.plugin import Floats, Ints, State, Summary, offer


class Tfidf(ColumnStage):
    """Weight counts of words by how rare the words are: term frequency times inverse document frequency.

        filterkit arff_samples/fortunes.arff tfidf l2

    Each value becomes tf · idf. For n training rows, df of which have the word, idf is ln((1 + n) / (1 + df)) + 1 with
    ``--idf smooth``, ln(n / df) + 1 with ``plain`` (1 for a word in no row), and 1 with ``none``. tf is the value
    itself with ``--tf raw``, 1 + ln(value) with ``log``, and 1 with ``binary``. ``log`` refuses negative values. This
    is scikit-learn's TfidfTransformer without its norm; put ``l2`` after it (Brank and others 2002, 4.2). Rows count by
    weight. Zeros stay zero and missing values missing; nominal columns stay as they are.
    """

    name = "tfidf"
    group = "Work with text"
    needs_class = False
    learns_from = Summary

    tf: str = option("raw", "The weight of a value.", choices=("raw", "log", "binary"))
    idf: str = option("smooth", "The weight of a word.", choices=("smooth", "plain", "none"))

    def __post_init__(self) -> None:
        self.weighs_columns = self.idf != "none"

    def fit_columns(self, summary: Summary) -> State:
        rows, having = summary.totals.sum(), summary.nonzero
        idf = np.ones(len(having))
        if self.idf == "smooth":
            idf = np.log((1 + rows) / (1 + having)) + 1
        elif self.idf == "plain" and rows:
            idf = np.log(rows / np.where(having > 0, having, rows)) + 1
        return {"idf": np.where(summary.nominal, 1.0, idf), "nominal": summary.nominal}

    def apply(self, values: Floats, columns: Ints, state: State) -> Floats:
        tf, counted = values, ~(state["nominal"][columns] | np.isnan(values))
        if self.tf == "binary":
            tf = (values != 0).astype(np.float64)
        elif self.tf == "log":
            if (values[counted] < 0).any():
                raise StageError(self.name, "a value is negative, so it has no logarithm; use --tf raw")
            tf = np.where(values > 0, 1 + np.log(np.where(values > 0, values, 1.0)), values)
        return np.where(counted, tf * state["idf"][columns], values)


filterkit_stages = offer(Tfidf)
