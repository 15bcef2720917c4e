"""Labels changed at random."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from filterkit import Batch, StageError, TrainingStage, hookimpl, option
from filterkit.plugin import NAME_A_CLASS, ChoosingStage, Rearrangement, Rows, attribute_values, itself


class Noise(ChoosingStage, TrainingStage):
    """Change labels of the class at random, to try how much noise a learner bears, as Weka's AddNoise does.

        filterkit in.arff noise --share 0.2 --only class

    Each known label is replaced by another one, all with the same chance, with the probability `--share`. (Weka changes
    just that share of the rows.) `--only` and `--except` choose nominal attributes instead of the class. Later
    rows, as with ``--test``, stay as they are.
    """

    name = "noise"
    group = "Choose training rows"

    share: float = option(0.1, "The probability that a label changes.", minimum=0, maximum=1)
    seed: int = option(0, "Seed of the random numbers.", minimum=0)

    def arrange(self, rows: Rows) -> Iterator[Batch]:
        schema = rows.schema
        places = self.chosen(schema, ("nominal",))
        if not self.is_confined:
            places = [place for place in places if place == schema.class_index]
            if not places:
                raise StageError(self.name, f"there is no nominal class to change; {NAME_A_CLASS}, or use --only")
        source = np.arange(len(schema.attributes))
        source[places] = -1
        rearrangement = Rearrangement(schema, schema, source)
        start = 0
        for batch in rows.map(itself, last=True):
            made = {
                place: self._changed(attribute_values(batch, place), len(schema.attributes[place].values), place, start)
                for place in places
            }
            yield rearrangement.apply(batch, made)
            start += len(batch)

    def _changed(self, codes: np.ndarray, labels: int, place: int, start: int) -> np.ndarray:
        """The codes of an attribute, some of them changed; `start` is the number of the first row."""
        if labels < 2:
            return codes
        # Each row draws its own two numbers, so that it does not matter how rows come in batches.
        random = np.random.Philox(np.random.SeedSequence([self.seed, place]))
        random.advance(start)  # a row takes one block of four numbers
        draws = random.random_raw(4 * len(codes)).reshape(-1, 4)[:, :2] / 2.0**64
        step = 1 + np.minimum(draws[:, 1] * (labels - 1), labels - 2).astype(np.int64)
        return np.asarray(np.where(draws[:, 0] < self.share, (codes + step) % labels, codes))


@hookimpl
def filterkit_stages() -> list[type[TrainingStage]]:
    return [Noise]
