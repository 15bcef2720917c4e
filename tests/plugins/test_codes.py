"""Cells that look like codes are found by their characters, in every column, and no others."""

import random
import re

import pytest
from filterkit_plugins.delimited import codes
from filterkit_plugins.delimited.form import Csv

CELLS = ["0", "00", "05", "+5", "-07", "1.05", "1e05", "1e-05", "+", "a05", "2024-01-05", '"0,5"', '"05"', "10:05"]
CELLS += ['"a,""05"" 06"', " 07", "+1.5", "-0", "x", "", "0.5"]


@pytest.mark.parametrize("window", [5, 7, 1 << 16])
def test_columns_with_codes_are_found(window, monkeypatch):
    monkeypatch.setattr(codes, "_WINDOW", window)
    chance = random.Random(window)
    for _ in range(500):
        rows = [[chance.choice(CELLS) for _ in range(3)] for _ in range(chance.randint(1, 6))]
        text = ("\n".join(map(",".join, rows)) + chance.choice(["\n", ""])).encode()
        found = set(codes.find_columns_with_leading_zero_or_plus(Csv(), text))
        cells = [(column, cell) for row in rows for column, cell in enumerate(row)]
        assert found >= {column for column, cell in cells if re.fullmatch(r'"?([+-]?0\d+|\+\d+)"?', cell)}, text
        assert found <= {column for column, cell in cells if re.search(r'(^|["\s,])([+-]?0|\+)\d', cell)}, text
