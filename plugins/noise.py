"""Change labels at random."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from filterkit import Batch, StageError, TrainingStage, option
from filterkit.plugin import NAME_A_CLASS, ChoosingStage, Edit, Floats, Rows, get_attribute_values, itself, offer


class AddLabelNoise(ChoosingStage, TrainingStage):
    """Change labels of the class at random, to try how much noise a learner bears, as Weka's AddNoise does.

        filterkit in.arff noise --share 0.2 --only class

    With the probability `--share`, each known label is replaced by one of the others, all of which have the same
    chance. (Weka changes just that share of the rows.) `--only` and `--except` choose nominal attributes instead of the
    class. Later rows, as with ``--test``, stay as they are.
    """

    name = "noise"
    group = "Choose training rows"

    share: float = option(0.1, "The probability that a label changes.", minimum=0, maximum=1)
    seed: int = option(0, "Seed of the random numbers.", minimum=0)

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        schema = rows.schema
        positions = self.chosen(schema, ("nominal",))
        if not self.chooses_attributes:
            positions = [position for position in positions if position == schema.class_index]
            if not positions:
                raise StageError(self.name, f"there is no nominal class to change; {NAME_A_CLASS}, or use --only")
        edit = Edit(schema)
        for position in positions:
            edit.change(position, schema.attributes[position], partial(self._change_codes_randomly, position))
        change = edit.build().transform
        start = 0
        for batch in rows.map(itself, last=True):
            yield change(batch.replace(start=start))
            start += len(batch)

    def _change_codes_randomly(self, position: int, batch: Batch) -> Floats:
        """Return the codes of the attribute at `position`, each changed with the probability ``--share``.

        They are float64 (rows,), and NaN stays NaN. An attribute with fewer than two labels stays as it is. Which codes
        change depends on ``batch.start``, which must be the number of training rows before the batch.
        """
        codes, labels = get_attribute_values(batch, position), len(batch.schema.attributes[position].values)
        if labels < 2:
            return np.asarray(codes)
        # Each row draws its own two numbers, so that it does not matter how rows come in batches.
        random = np.random.Philox(np.random.SeedSequence([self.seed, position]))
        random.advance(batch.start)  # a row takes one block of four numbers
        draws = random.random_raw(4 * len(codes)).reshape(-1, 4)[:, :2] / 2.0**64
        step = 1 + np.minimum(draws[:, 1] * (labels - 1), labels - 2).astype(np.int64)
        return np.asarray(np.where(draws[:, 0] < self.share, (codes + step) % labels, codes))


filterkit_stages = offer(AddLabelNoise)
