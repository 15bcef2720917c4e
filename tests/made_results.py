"""Results for tests, made up or of an evaluation, and the texts of their plots."""

import html
import re

import numpy as np

from filterkit import Attribute, Batch, Schema
from filterkit.evaluation.folds import EvaluationDesign
from filterkit.evaluation.measure_names import OF_CLASSES
from filterkit.evaluation.runner import Evaluator, Result, evaluate_task_folds, parse_named_chain

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


def design(*texts, folds=3, **others):
    """A design of these chains, by default of one."""
    return EvaluationDesign(tuple(parse_named_chain(text) for text in texts or ("neighbors",)), folds, **others)


def evaluated(batch, plan, own=None):
    """The results of all parts."""
    return [
        result
        for _, results in evaluate_task_folds(Evaluator([("d", batch)], plan, predefined=own))
        for result in results
    ]


def without_seconds(results):
    return [result._replace(seconds=0) for result in results]


def labelled(rows=40):
    """Rows with three labels, the last of which few have, between the features."""
    X, noise = np.random.default_rng(2).random((2, rows, 2))
    y = np.column_stack([X + noise > [1, 0.8], X[:, :1] + noise[:, :1] > 1.5]).astype(np.int8)
    p, q, few = (Attribute(name, "nominal", ("0", "1")) for name in ("p", "q", "few"))
    return Batch(Schema("music", [p, Attribute("x"), q, Attribute("z"), few], labels=(0, 2, 4)), X, y)
