"""Make rows for the rarer classes, by SMOTE."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from filterkit import Batch, StageError, TrainingStage, UsageError, option
from filterkit.plugin import Csr, Rows, call_interruptibly, empty, itself, join_all_rows, make_passthrough_table, offer


class Smote(TrainingStage):
    """Add synthetic rows until all classes have as many as the largest, as Weka's package SMOTE does for one class.

        filterkit in.arff smote svm

    A synthetic row lies between a row and one of its nearest neighbors of the same class (N. Chawla and others, *SMOTE:
    Synthetic Minority Over-sampling Technique*, 2002). Nominal values are the most frequent ones among the neighbors.
    imbalanced-learn does the work: SMOTE, SMOTENC if some columns are nominal, and SMOTEN if all are. It must be
    installed: ``pip install 'arff-filterkit[smote]'``.

    The training rows are held in memory and keep their order. The synthetic rows come after them, with the weight 1 and
    without strings and dates. Rows without a class are no neighbors. Missing values are refused; put ``impute`` before
    it. Later rows, as with ``--test``, all stay: put it before a learner in the chain, so that test rows are real.
    """

    name = "smote"
    known_as = "oversample oversampling"
    needs_class = True

    neighbors: int = option(5, "Number of nearest rows of the same class.", minimum=1)
    seed: int = option(0, "Seed for drawing.", minimum=0)

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        rows.schema.need_columns(self.name)
        parts = []
        for batch in rows.map(itself, last=True):
            parts.append(batch.replace(passthrough=None).take(np.flatnonzero(batch.class_known)))
            yield batch
        yield self._make_rows_of_rarer_classes(join_all_rows(self.name, parts, rows.schema, rows.memory))

    def _make_rows_of_rarer_classes(self, known: Batch) -> Batch:
        """Return the synthetic rows that make all classes as large as the largest; no rows if they already are.

        `known` are the training rows whose class is known; classes without rows stay empty. Raise a StageError if a
        class has a single row, or if a value is missing or infinite, and a UsageError if imbalanced-learn is not
        installed. Nothing is raised if no rows are to be made.
        """
        schema, y = known.schema, known.y
        assert y is not None and schema.class_attribute is not None
        counts = np.bincount(y, minlength=1)
        fewer = np.flatnonzero((counts > 0) & (counts < counts.max()))
        if not len(fewer):
            return empty(schema)
        alone = np.flatnonzero(counts == 1)
        if len(alone):
            value = schema.class_attribute.values[alone[0]]
            what = f"class '{value}' has only 1 row, but new rows are made between 2 of a class; leave that row out"
            raise StageError(self.name, what)
        if not np.isfinite(known.stored_values).all():
            raise StageError(self.name, "there are missing or infinite values; put impute before it")
        neighbors = min(self.neighbors, int(counts[fewer].min()) - 1)
        nominal = schema.nominal
        try:
            from imblearn.over_sampling import SMOTE, SMOTEN, SMOTENC
        except ImportError:
            raise UsageError(f"{self.name} needs imbalanced-learn: pip install 'arff-filterkit[smote]'") from None
        options: dict[str, Any] = {"k_neighbors": neighbors, "random_state": self.seed % (1 << 32)}
        if not nominal.any():
            sampler = SMOTE(**options)
        elif nominal.all():
            sampler = SMOTEN(**options)
        else:
            sampler = SMOTENC(np.flatnonzero(nominal).tolist(), **options)
        data = known.in_form(False).X if nominal.all() else known.X
        X, classes = call_interruptibly(partial(sampler.fit_resample, data, y))
        X = X[len(known) :]
        X = Csr.from_scipy(X) if schema.sparse else np.ascontiguousarray(X, np.float64)
        made = np.asarray(classes[len(known) :], np.int32)
        weights = None if known.weights is None else np.ones(len(made))
        missing = make_passthrough_table(schema, [[None] * len(made)] * len(schema.passthrough))
        return Batch(schema, X, made, weights, missing)


filterkit_stages = offer(Smote)
