"""Learning of a column stage from one range of columns after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from filterkit.allocators import give_back_freed_memory
from filterkit.data.contract import blame_errors
from filterkit.data.ragged import Ragged
from filterkit.data.schema import Schema
from filterkit.files.scratch import Scratch, Stored
from filterkit.stages.base import State, check_fitted
from filterkit.stages.columns import ColumnStage, FittedColumns

# What a stage learns from a range of columns: one state or several, and the totals of `ColumnStage.finish`.
Learned = tuple[list[State], np.ndarray]


class Learning:
    """Collects the states that a stage learns from one range of columns after the other.

    The states of a single range stay in memory. Those of several wait in a scratch file, because joining them in memory
    would take them twice; what is ragged, and may be large, is mapped from there.

    Parameters
    ----------
    learn : a function for the engine, which learns from a statistic and the ends of a range of its columns.
    """

    def __init__(self, learn: Callable[[tuple[Any, int, int]], Learned]) -> None:
        self.learn = learn
        self._totals = np.empty(0)
        self._held: list[list[State]] = []  # of the first range, until there is another
        self._stored: list[list[dict[str, list[Stored]]]] = []  # of each range
        self._scratch = Scratch()

    def add(self, results: Iterable[Learned]) -> None:
        """Add what `learn` returns of the next ranges of columns, in order."""
        for states, self._totals in results:
            self._held.append(states)
            if self._stored or len(self._held) > 1:
                for each in self._held:
                    self._stored.append([{key: self._store(value) for key, value in state.items()} for state in each])
                self._held.clear()

    def _store(self, value: np.ndarray | Ragged) -> list[Stored]:
        return self._scratch.store([value.lengths, value.values] if isinstance(value, Ragged) else [value])

    def finish(self, stage: ColumnStage, schema: Schema) -> tuple[FittedColumns, list[State]]:
        """Return the fitted stage of the first state, and the other states; `schema` is that of the incoming rows."""
        if self._held:
            (states,) = self._held
        else:
            give_back_freed_memory()  # of fitting, which may be as large
            states = [self._join(parts) for parts in zip(*self._stored)]
        with blame_errors(stage):
            fitted = stage.finish(schema, states[0], self._totals)
        check_fitted(stage, fitted)
        return fitted, states[1:]

    def _join(self, parts: tuple[dict[str, list[Stored]], ...]) -> State:
        """Join the stored parts of a state."""
        joined: State = {}
        for key in parts[0]:
            arrays, *values = zip(*(part[key] for part in parts))  # arrays; or the lengths and the values of `Ragged`s
            joined[key] = np.concatenate([self._scratch.read(each) for each in arrays])
            if values:
                mapped = self._scratch.map_arrays([self._scratch.join(values[0])])[0]
                joined[key] = Ragged.from_lengths(joined[key], mapped)
        return joined
