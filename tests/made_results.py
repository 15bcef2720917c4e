"""Results made up for tests, and the texts of their plots."""

import html
import re

import numpy as np

from filterkit.evaluation.measures import OF_CLASSES
from filterkit.evaluation.runner import Result

NAN = float("nan")


def result(chain, value, data="d", task="t", fold=0, share=0.9, **others):
    """A result whose measures are all `value` but those that are named."""
    return Result(data, task, fold, share, chain, 90, 10, 1.5, {name: others.get(name, value) for name in OF_CLASSES})


def table(values, shares=(0.9,)):
    """Results of values (tasks, folds, chains, shares), the chains named a, b, …"""
    return [
        result("abcdef"[c], float(value), f"d{t}", "t", f, shares[s])
        for (t, f, c, s), value in np.ndenumerate(np.asarray(values, float))
    ]


def drawn(*shape, holes=0.0):
    rng = np.random.default_rng(3)
    values = rng.random(shape)
    return np.where(rng.random(shape) < holes, NAN, values)


def svg_texts(path):
    """The texts in an SVG of matplotlib, written or, where each letter is drawn, in comments."""
    found = re.findall(r"<!-- (.*?) -->|<text[^>]*>(.*?)</text>", path.read_text(encoding="utf-8"))
    return [html.unescape("".join(either)) for either in found]
