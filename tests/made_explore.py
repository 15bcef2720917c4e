"""Data for the page of `explore`, which the program gathers of random tables."""

import numpy as np
from agreement import make
from gathered import gathered

from filterkit.pages.page import make_page


def explored(batch, chain="", by=("bns", "chi", "acc2", "f1", "gainratio")):
    """What the command gives the page."""
    made = {"program": "filterkit", "command": "filterkit explore made.arff", "input": "made.arff"}
    about = {"made": made, "file": "made.arff", "relation": "made", "format": "ARFF", "chain": chain}
    return gathered(batch, chain, by, best=8) | about


def text_like(rows=400, features=300, seed=1):
    """Counts of words, two classes with skew 1 : 4, words of the positive class, of the rest, and of neither."""
    rng = np.random.default_rng(seed)
    codes = (rng.random(rows) < 0.2).astype(int)
    rate = 2.0 / (1 + np.arange(features)) ** 0.7
    tilt = np.exp(rng.normal(0, 0.9, features))
    values = rng.poisson(rate * np.where(codes[:, None] == 1, tilt, 1 / tilt))
    return explored(make(values, codes, ("rest", "wheat"), sparse=True), "shape bns l2")


def many_features():
    """As many words as a large text collection has."""
    return text_like(rows=100, features=20_000)


def many_classes(rows=300, classes=12):
    """Numbers whose means differ by class, a nominal attribute, a constant one, and missing values."""
    rng = np.random.default_rng(2)
    codes = np.minimum(rng.geometric(0.2, rows) - 1, classes - 1)
    values = rng.normal(size=(rows, 30)) + rng.normal(size=(classes, 30))[codes]
    values[:, 4] = 7.0
    values[:, 5] = (codes + rng.integers(0, 2, rows)) % 3
    values[rng.random(rows) < 0.1, 6] = np.nan
    return explored(make(values, codes, [f"class {i}" for i in range(classes)], nominal=[5]))


def numeric_class(rows=80):
    """Numbers, a label and zeros, and a number for the class, which is missing in a row."""
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=rows), rng.integers(0, 3, rows), rng.poisson(0.5, rows)])
    return explored(make(X, np.append(1000 * X[1:, 0] + X[1:, 1], np.nan), None, nominal=[1]), by=())


def without_features():
    """A class and nothing else."""
    return explored(make(np.empty((50, 0)), np.arange(50) % 2))


HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "\"double\" 'single' `back` &amp; &lt;",
    "line\nbreak\ttab\x00null\x1bescape\x7f",
    "right\u202eto left\u2066isolate\u200bzero width",
    "long " * 400,
    "",
    "  blanks at both ends  ",
    "${window.hacked = 3}",
    "-->]]>",
    "日本語 עברית العربية 👩‍🔬",
    "__proto__",
]


def hostile_names(rows=200):
    """Every text of the page is one that could do harm."""
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 2, rows)
    batch = make(rng.poisson(1.0, size=(rows, len(HOSTILE))) * (1.0 + codes[:, None]), codes, HOSTILE[:2], sparse=True)
    attributes = [a._replace(name=name) for a, name in zip(batch.schema.attributes, [*HOSTILE, HOSTILE[1] + "class"])]
    data = explored(batch.replace(schema=batch.schema.replace(attributes=attributes)))
    data |= {"file": HOSTILE[0], "relation": HOSTILE[1], "chain": HOSTILE[3], "notes": HOSTILE[:5]}
    data["made"] = {"program": HOSTILE[0], "command": HOSTILE[2], "input": "'a b.arff'"}
    data["warnings"] = [{"kind": HOSTILE[0], "text": HOSTILE[1], "attributes": HOSTILE}]
    data["stages"] = [data["stages"][0] | {"words": text} for text in ("", *HOSTILE[:3])]
    return data


def page_of(data):
    """The page as UTF-8."""
    plain = "<h1>Plain</h1><table><tr><td>plain</td></tr></table>"
    return make_page("explore", f"{data['relation']} · filterkit", data, plain)
