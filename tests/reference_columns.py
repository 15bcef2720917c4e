"""A plain reference for the metrics that look at whole columns; shares no code with filterkit.

One row at a time, from the definitions: rows are (value, class) pairs, in which a missing value is None, and a row of
the weight n stands there n times.
"""

import itertools
import math

import numpy as np
from agreement import dense


def entropy(items):
    """Of a list of anything, in bits."""
    n = len(items)
    return -sum(items.count(item) / n * math.log2(items.count(item) / n) for item in set(items))


def bits(shares):
    total = sum(shares)
    return -sum(share / total * math.log2(share / total) for share in shares if share > 0)


def mdl(rows):
    """The cut points of Fayyad and Irani, where a range of n distinct values has n - 1 possible cuts."""
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
    return [*mdl([r for r in rows if r[0] <= cut]), cut, *mdl([r for r in rows if r[0] > cut])]


def joint(rows, nominal):
    """{(value, class): rows}, with values in bins, and rows whose value is missing shared out."""
    present = [(v, c) for v, c in rows if v is not None]
    if not nominal:
        cuts = mdl(present)
        present = [(sum(v > cut for cut in cuts), c) for v, c in present]
    counts = {}
    for pair in present:
        counts[pair] = counts.get(pair, 0) + 1
    values = [v for v, _ in present]
    for v, c in rows:
        for value in set(values) if v is None else ():
            counts[value, c] = counts.get((value, c), 0) + values.count(value) / len(values)
    return counts


def entropies(rows, nominal):
    """(of the values, of the classes, the information gain)."""
    counts = joint(rows, nominal)
    if not counts:
        return 0.0, 0.0, 0.0
    of_values, of_classes = (
        [sum(n for pair, n in counts.items() if pair[at] == key) for key in {p[at] for p in counts}] for at in (0, 1)
    )
    each = bits(of_values), bits(of_classes)
    return *each, sum(each) - bits(counts.values())


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
    counts = joint(rows, nominal)
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


def correlation(rows, nominal):
    present = [v for v, _ in rows if v is not None]
    if not present:
        return 0.0
    classes = [c for _, c in rows]
    filler = most(present) if nominal else sum(present) / len(present)
    values = [filler if v is None else v for v, _ in rows]

    def with_classes(column):
        return sum(classes.count(c) * r(column, [d == c for d in classes]) for c in set(classes)) / len(classes)

    if not nominal:
        return with_classes(values) if len(set(present)) > 1 else 0.0
    return sum(values.count(v) * with_classes([w == v for w in values]) for v in set(values)) / len(values)


METRICS = {f.__name__: f for f in (su, gainratio, infogain, chisquared, oner, correlation)}


def scores(name, batch):
    """The score of each column of a batch with whole weights."""
    target = batch.schema.class_attribute
    weights = [1] * len(batch) if batch.weights is None else batch.weights.astype(int).tolist()
    codes = batch.y.tolist()
    if batch.schema.positive is not None:
        positive = target.values.index(batch.schema.positive)
        codes = [-1 if code < 0 else int(code == positive) for code in codes]
    found = []
    for attribute, column in zip(batch.schema.features, dense(batch).T.tolist(), strict=True):
        rows = []
        for value, code, weight in zip(column, codes, weights, strict=True):
            rows += [(None if math.isnan(value) else value, code)] * (weight if code >= 0 else 0)
        found.append(METRICS[name](rows, attribute.kind == "nominal"))
    return found
