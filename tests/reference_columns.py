"""A plain reference for the metrics that look at whole columns; shares no code with filterkit.

One row at a time, from the definitions: rows are (value, class) pairs, in which a missing value is None, and a row of
the weight n stands there n times.
"""

import itertools
import math
from collections import Counter

import numpy as np


def bits(shares):
    """The entropy of weights, in bits."""
    total = sum(shares)
    return -sum(share / total * math.log2(share / total) for share in shares if share > 0)


def entropy(items):
    """The entropy of a list of anything."""
    return bits(Counter(items).values())


def mdl(rows):
    """The cut points of Fayyad and Irani, where a range of n distinct values has n - 1 possible cuts.

    A cut is the largest value below it.
    """
    values = sorted({v for v, _ in rows})
    classes = [c for _, c in rows]
    best = None
    for low, high in itertools.pairwise(values):
        left, right = [c for v, c in rows if v <= low], [c for v, c in rows if v >= high]
        after = (len(left) * entropy(left) + len(right) * entropy(right)) / len(rows)
        if best is None or after < best[0] - 1e-12:
            best = after, low, left, right
    if best is None:
        return []
    after, cut, left, right = best
    k, k1, k2 = (len(set(part)) for part in (classes, left, right))
    gain = entropy(classes) - after
    delta = math.log2(3**k - 2) - (k * entropy(classes) - k1 * entropy(left) - k2 * entropy(right))
    if gain <= 1e-12 or gain <= (math.log2(len(values) - 1) + delta) / len(rows):
        return []
    below, above = ([r for r in rows if (r[0] > cut) == is_above] for is_above in (False, True))
    return [*mdl(below), cut, *mdl(above)]


def joint(pairs):
    """{(value, value): rows} of two columns; what is missing counts for each known value or pair by its share."""
    known = [pair for pair in pairs if None not in pair]
    sides = [[v for v in side if v is not None] for side in zip(*pairs, strict=True)]
    counts = Counter()
    for a, b in pairs if pairs and all(sides) else ():
        if a is None and b is None:
            alike = known or [(a, b)]
        elif a is None:
            alike = [(v, b) for v in sides[0]]
        elif b is None:
            alike = [(a, v) for v in sides[1]]
        else:
            alike = [(a, b)]
        for pair, rows in Counter(alike).items():
            counts[pair] += rows / len(alike)
    return counts


def in_mdl_bins(rows, nominal):
    """The rows with numbers in bins."""
    cuts = [] if nominal else mdl([(v, c) for v, c in rows if v is not None])
    return [(v if nominal or v is None else sum(v > cut for cut in cuts), c) for v, c in rows]


def entropies(rows, nominal):
    """(of the values, of the classes, the information gain)."""
    counts, sides = joint(in_mdl_bins(rows, nominal)), (Counter(), Counter())
    for pair, n in counts.items():
        for side, value in zip(sides, pair, strict=True):
            side[value] += n
    values, classes = (bits(side.values()) for side in sides)
    return values, classes, values + classes - bits(counts.values())


def su(rows, nominal):
    values, classes, gain = entropies(rows, nominal)
    return 2 * gain / (values + classes) if values > 1e-12 and classes > 1e-12 else 0.0


def gainratio(rows, nominal):
    values, _, gain = entropies(rows, nominal)
    return gain / values if values > 1e-12 else 0.0


def infogain(rows, nominal):
    return entropies(rows, nominal)[2]


def chisquared(rows, nominal):
    """Sum of (observed - expected)^2 / expected."""
    counts = joint(in_mdl_bins(rows, nominal))
    total, found = sum(counts.values()), 0.0
    for value, class_ in itertools.product({v for v, _ in counts}, {c for _, c in counts}):
        of_value = sum(n for (v, _), n in counts.items() if v == value)
        of_class = sum(n for (_, c), n in counts.items() if c == class_)
        found += (counts.get((value, class_), 0) - of_value * of_class / total) ** 2 / (of_value * of_class / total)
    return found


def most(classes):
    """The most frequent class, the first of several."""
    return min(set(classes), key=lambda c: (-classes.count(c), c))


def oner(rows, nominal):
    groups = [[c for v, c in rows if v == value] for value in sorted({v for v, _ in rows if v is not None})]
    if not nominal:
        buckets = []
        for group in groups:
            if buckets and (most(buckets[-1]) == most(group) or buckets[-1].count(most(buckets[-1])) < 6):
                buckets[-1] = buckets[-1] + group
            else:
                buckets.append(group)
        groups = buckets
    missing = [c for v, c in rows if v is None]
    groups += [missing] if missing else []
    return sum(group.count(most(group)) for group in groups) / len(rows) if rows else 0.0


def r(one, other):
    """Pearson's correlation in size; 0 without spread."""
    x, y = np.array(one, float) - np.mean(one), np.array(other, float) - np.mean(other)
    spread = math.sqrt((x**2).sum() * (y**2).sum())
    return abs(float(x @ y)) / spread if spread > 1e-12 else 0.0


def filled(rows, nominal):
    """The values, where missing ones are the mean or the most frequent label."""
    present = [v for v, _ in rows if v is not None]
    filler = most(present) if nominal else sum(present) / len(present)
    return [filler if v is None else v for v, _ in rows]


def correlation(rows, nominal, numeric=False):
    present = [v for v, _ in rows if v is not None]
    if not present:
        return 0.0
    classes, values = [c for _, c in rows], filled(rows, nominal)

    def with_classes(column):
        if numeric:
            return r(column, classes)
        return sum(classes.count(c) * r(column, [d == c for d in classes]) for c in set(classes)) / len(classes)

    if not nominal:
        return with_classes(values) if len(set(present)) > 1 else 0.0
    return sum(values.count(v) * with_classes([w == v for w in values]) for v in set(values)) / len(values)


def between(numbers, labels):
    """The share of the variance of numbers that is between labels."""
    numbers = np.array(numbers, float)
    means = np.array([np.mean([v for v, other in zip(numbers, labels) if other == label]) for label in labels])
    return float(means.var() / numbers.var()) if np.ptp(numbers) > 1e-12 else 0.0


def ftest(rows, nominal, numeric=False):
    if all(v is None for v, _ in rows):
        return 0.0
    values, classes = filled(rows, nominal), [c for _, c in rows]
    degrees = 1 if numeric else len(set(classes)) - 1, len(set(values)) - 1 if nominal else 1
    if not nominal:
        share = r(values, classes) ** 2 if numeric else between(values, classes)
    elif numeric:
        share = between(classes, values)
    else:
        share = chisquared(list(zip(values, classes)), True) / len(rows) / max(min(degrees), 1)
    if 0 in degrees or len({v for v, _ in rows} - {None}) < 2:
        return 0.0
    return share / max(1 - share, 1e-12) * max(len(rows) - max(degrees) - 1, 0) / max(degrees)


def in_bins(values):
    """The number of quantiles below each value; None if it is missing."""
    known = sorted(v for v in values if v is not None)
    ends = [next(v for i, v in enumerate(known, 1) if i / len(known) >= k / 5) for k in range(1, 5) if known]
    return [None if v is None else sum(v > end for end in ends) for v in values]


def mi(rows, nominal, numeric=False):
    values, classes = [v for v, _ in rows], [c for _, c in rows]
    values, classes = values if nominal else in_bins(values), in_bins(classes) if numeric else classes
    return entropies(list(zip(values, classes)), True)[2] * math.log(2)


NUMERIC = {f.__name__: f for f in (correlation, ftest, mi)}  # which also take a numeric class
METRICS = {f.__name__: f for f in (su, gainratio, infogain, chisquared, oner)} | NUMERIC


def columns(batch):
    """(whether it is nominal, rows) of each column of a batch with whole weights."""
    target = batch.schema.class_attribute
    numeric = target.kind == "numeric"
    weights = [1] * len(batch) if batch.weights is None else batch.weights.astype(int).tolist()
    codes = batch.y.tolist()
    if batch.schema.positive is not None:
        positive = target.values.index(batch.schema.positive)
        codes = [-1 if code < 0 else int(code == positive) for code in codes]
    found = []
    for attribute, column in zip(
        batch.schema.features, (batch.X.toarray() if batch.sparse else batch.X).T.tolist(), strict=True
    ):
        rows = []
        for value, code, weight in zip(column, codes, weights, strict=True):
            known = not math.isnan(code) if numeric else code >= 0
            rows += [(None if math.isnan(value) else value, code)] * (weight if known else 0)
        found.append((attribute.kind == "nominal", rows))
    return found


def scores(name, batch):
    """The score of each column of a batch with whole weights."""
    how = {"numeric": True} if batch.schema.class_attribute.kind == "numeric" else {}
    return [METRICS[name](rows, nominal, **how) for nominal, rows in columns(batch)]
