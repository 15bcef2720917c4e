"""Keep the training rows whose class a learner confirms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from filterkit import Batch, Learner, StageError, TrainingStage, UsageError, option
from filterkit.plugin import Bools, Rows, get_attribute_values, itself, join_all_rows, offer, quoted, take_rows


class RemoveMisclassifiedRows(TrainingStage):
    """Keep the training rows whose class a learner predicts right from other rows, as Weka's RemoveMisclassified does.

        filterkit in.arff agree --chain "impute onehot svm"

    The rows are dealt into `--folds` folds, class by class. The chain, which ends in a learner, is fitted on all folds
    but one and predicts the rows of that one. Rows that are predicted wrong are dropped (C. Brodley and M. Friedl,
    *Identifying Mislabeled Training Data*, 1999). ``--rounds N`` does this up to N times, each time with the rows that
    are left, until none is dropped.

    Rows without a class stay, and so does a row that is the only one of its class. The training rows are held in
    memory. Later rows, as with ``--test``, all stay.
    """

    name = "agree"
    needs_class = True

    chain: str = option("", "The stages that predict, in quotes; the last is a learner.", names="stages")
    folds: int = option(10, "Number of folds.", minimum=2)
    rounds: int = option(1, "The most times that rows are dropped.", minimum=1)
    seed: int = option(0, "Seed for dealing.", minimum=0)

    def __post_init__(self) -> None:
        if not self.chain:
            raise UsageError(f'{self.name}: name the stages, as in --chain "impute onehot svm"')
        from filterkit import Chain  # lists of stages do not need it

        try:
            self._chain = Chain.parse(self.chain)
        except UsageError as error:
            raise UsageError(f"{self.name}: --chain: {error}") from None
        stages = self._chain.stages
        if not stages or not isinstance(stages[-1], Learner):
            raise UsageError(f"{self.name}: --chain {quoted(self.chain)} must end in a learner, such as svm")
        for stage in stages:
            if isinstance(stage, TrainingStage) and stage.to_the_end:
                raise UsageError(f"{self.name}: --chain: '{stage.name}' overwrites its file in each fold; leave it out")

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        data = join_all_rows(self.name, rows.map(itself), rows.schema, rows.memory)
        numbers = np.arange(len(data))
        random = np.random.default_rng(self.seed)
        for _ in range(self.rounds):
            left = data.take(numbers).replace(start=0)
            right = np.ones(len(left), bool)  # whether the class is predicted right, or is unknown
            # Deal the rows into folds, class by class; -1 for rows without a class and for the only row of one.
            y = np.asarray(left.y)
            order = random.permutation(np.flatnonzero(left.class_known))
            order = order[np.argsort(y[order], kind="stable")]
            order = order[np.bincount(y[order])[y[order]] > 1]
            fold = np.full(len(left), -1)
            fold[order] = np.arange(len(order)) % min(self.folds, len(left) + 1)
            for number in range(fold.max(initial=-1) + 1):
                test = np.flatnonzero(fold == number)
                right[test] = self._flag_right_predictions(left.take(np.flatnonzero(fold != number)), left.take(test))
            numbers = numbers[right]
            if right.all():
                break
        yield from take_rows(rows, numbers)

    def _flag_right_predictions(self, training: Batch, test: Batch) -> Bools:
        """Fit the chain on `training`, and flag the rows of `test` whose class it predicts right: bool (rows,).

        All rows of `test` must have a class. Raise a StageError, which names the chain, if one of its stages does.
        """
        try:
            out = self._chain.fit(training).transform(test)
        except StageError as error:
            error.row = None  # a number within the fold, which means nothing to the user
            raise StageError(self.name, f"--chain {quoted(self.chain)}: {error}") from None
        target = out.schema.class_attribute
        assert target is not None
        position = [i for i, a in enumerate(out.schema.attributes) if a.name.endswith("prediction")][-1]
        values = out.schema.attributes[position].values
        # A learner of one class predicts it or the rest, which comes first.
        code = np.array([values.index(value) if value in values else 0 for value in target.values])
        return np.asarray(get_attribute_values(out, position) == code[out.y])


filterkit_stages = offer(RemoveMisclassifiedRows)
