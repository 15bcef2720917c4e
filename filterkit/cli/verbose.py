"""What ``--verbose`` says of the stages of a chain: a line for each."""

from __future__ import annotations

import time
from collections.abc import Iterator

from filterkit.chains.chain import FittedChain, describe_learned
from filterkit.chains.rows import Rows


class StageTimes:
    """Notes when each stage was fitted, and the rows that come out of it.

    Call it as `Chain.fit_rows` calls ``tell``.
    """

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._fitted: list[tuple[int, float, Rows]] = []  # stages done, seconds, rows

    def __call__(self, done: int, rows: Rows) -> None:
        self._fitted.append((done, time.perf_counter() - self._began, rows))

    def lines(self, chain: FittedChain, count: int | None) -> Iterator[str]:
        """Yield a line for each stage; `count` is the number of training rows. Call it when the rows have been
        written."""
        before, first, since = chain.incoming, 0, 0.0
        names = [stage.name for stage in chain.chain.stages]
        for done, seconds, rows in self._fitted:
            for index in range(first, done):
                fitted = chain.stages[index]
                others = [name for i, name in enumerate(names[first:done], first) if i != index]
                together = f" together with {', '.join(others)}" if others else ""
                left = count if rows.n_arranged is None else rows.n_arranged
                figures = [
                    _format_change(before.width, fitted.schema.width, "column"),
                    f"learned {describe_learned(fitted, before)}",
                    f"{seconds - since:.2f} s{together}",
                ]
                if left is not None:  # otherwise the input was not read to its end
                    figures.insert(0, _format_change(count, left, "row"))
                yield f"{names[index]}: {', '.join(figures)}"
                before, count = fitted.schema, left
            first, since = done, seconds


def _format_change(before: int | None, after: int | None, what: str) -> str:
    """Write a number and what it has become, such as ``4 to 12 columns``."""
    numbers = [f"{number:,}" for number in dict.fromkeys((before, after)) if number is not None]
    return f"{' to '.join(numbers)} {what}{'s' * (after != 1)}"
