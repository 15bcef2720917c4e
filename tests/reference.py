"""A slow, plain reference for `shape`, `bns` and `l2`, to test the real stages against.

It is written from the papers and from the section "Formulas (normative)" of the design, shares no code
with filterkit, and favours the obvious over the fast. Sums, shares and interpolations are exact
(fractions.Fraction) and rounded once, at the end; so values that are equal in theory are equal here.

[F09] is Forman, Scholz, Rajaram, KDD 2009, "Feature Shaping for Linear SVM Classifiers";
[F03] is Forman, JMLR 2003, "Extensive Empirical Study of Feature Selection Metrics".

The data, everywhere:
    X        list of rows, each a list of finite floats; NaN is missing, a nominal value is its index
    kinds    'numeric' or 'nominal' for each column
    y        class code of each row, -1 where the class is missing
    classes  the declared class names
    weights  weight of each row, or None for 1 each

*Training rows* are those with a known class and a weight above 0. Only they are fitted on.
"""

import math
from fractions import Fraction
from statistics import NormalDist

NAN = float("nan")


# ---- classes -------------------------------------------------------------------------------------


def training_rows(y, weights):
    """[(row number, class code, weight)] of the training rows, weights exact."""
    if weights is None:
        weights = [1] * len(y)
    return [(i, c, Fraction(w)) for i, (c, w) in enumerate(zip(y, weights, strict=True)) if c >= 0 and w > 0]


def positive_class(y, classes, weights, positive=None):
    """The index of the positive class, or None for multi-class ([F09] 3.1; design, "Which class is positive").

    The named one; else, of two declared values, the rarer by weight, the later on a tie. A class with
    one declared value has that value; one with none is an error.
    """
    if positive is not None:
        return classes.index(positive)
    if not classes:
        raise ValueError("the class has no values")
    if len(classes) > 2:
        return None
    total = [sum(w for _, c, w in training_rows(y, weights) if c == k) for k in range(len(classes))]
    return min(range(len(classes)), key=lambda k: (total[k], -k))


def tasks(y, classes, weights, positive=None):
    """The classes to treat as positive, each against all the rest ([F09] 4: one-vs.-others tasks).

    One class, or, for multi-class, each that has training rows, in declared order.
    """
    one = positive_class(y, classes, weights, positive)
    if one is not None:
        return [one]
    present = {c for _, c, _ in training_rows(y, weights)}
    return [k for k in range(len(classes)) if k in present]


def _table(X, j, y, weights, task):
    """What training says of column j: ({value: [pos, rows]}, [pos, rows] missing, [pos, rows] in all)."""
    values, missing, total = {}, [Fraction(0), Fraction(0)], [Fraction(0), Fraction(0)]
    for i, c, w in training_rows(y, weights):
        v = X[i][j]
        own = missing if math.isnan(v) else values.setdefault(v, [Fraction(0), Fraction(0)])
        for counts in (own, total):
            counts[0] += w if c == task else 0
            counts[1] += w
    return values, missing, total


# ---- shape ---------------------------------------------------------------------------------------


def _laplace(pos, rows):
    """The Laplace-corrected share of positives ([F09] 3.2)."""
    return (pos + 1) / (rows + 2)


def _neighbors(table, nearest_first, n):
    """[pos, rows] of up to n rows, by weight, value by value; the value that would overflow pro rata ([F09] 3.2)."""
    pos, rows, room = Fraction(0), Fraction(0), Fraction(n)
    for v in nearest_first:
        part = min(Fraction(1), room / table[v][1])
        pos += part * table[v][0]
        rows += part * table[v][1]
        room -= part * table[v][1]
    return pos, rows


def _local_probabilities(table, n):
    """{value: p(value)}, from the rows equal to it and up to n on either side ([F09] 3.2)."""
    p = {}
    for v in table:
        below = sorted((u for u in table if u < v), reverse=True)
        above = sorted(u for u in table if u > v)
        pos_b, rows_b = _neighbors(table, below, n)
        pos_a, rows_a = _neighbors(table, above, n)
        p[v] = _laplace(table[v][0] + pos_b + pos_a, table[v][1] + rows_b + rows_a)
    return p


def _interpolate(p, x):
    """p at x: linear between the values of p, held beyond them ([F09] 3.2)."""
    known = sorted(p)
    if x <= known[0]:
        return p[known[0]]
    if x >= known[-1]:
        return p[known[-1]]
    low = max(v for v in known if v <= x)
    high = min(v for v in known if v > x)
    return p[low] + (p[high] - p[low]) * (Fraction(x) - Fraction(low)) / (Fraction(high) - Fraction(low))


def _shaper(table, missing, total, kind, n, zero):
    """The map of one column for one task, value -> exact output ([F09] 3.2, 3.3, and 3.5 for zero)."""
    if not table:  # empty in training
        return lambda x: Fraction(0)

    share = _laplace(*total)
    p_missing = _laplace(*missing) if missing[1] else share

    if kind == "nominal":
        p = {v: _laplace(*counts) for v, counts in table.items()}
        p_zero = p.get(0.0, share) if zero else Fraction(0)
        return lambda x: (p_missing if math.isnan(x) else p.get(x, share)) - p_zero

    # Zero, when special, neither is nor has a neighbour, and is left out of the interpolation.
    p = _local_probabilities({v: counts for v, counts in table.items() if not (zero and v == 0)}, n)
    if not zero:
        p_zero = Fraction(0)
    elif 0.0 in table:
        p_zero = _laplace(*table[0.0])
    else:
        p_zero = p[min(p, key=lambda v: (abs(v), -v))]  # the nearest, the larger on a tie

    def output(x):
        if math.isnan(x):
            return p_missing - p_zero
        if zero and (x == 0 or not p):
            return Fraction(0)
        return _interpolate(p, x) - p_zero

    return output


def shape(X, kinds, y, classes, weights, neighbors=15, zero=False, positive=None):
    """Feature shaping, the local probability shaper LP ([F09] 3.2, 3.3, 3.5). Returns (plan, new X).

    `plan` has (input column, suffix of its name) for each output column, all of them numeric: the suffix
    is '' with one positive class; for multi-class '@class', all classes of a column following each other.

    `zero` makes zero special: a bin of its own, subtracted, so that zero stays zero. If no training row has
    one, its estimate is that of the training value nearest zero, for a nominal column the class share.
    Where neither paper nor design says so:
    - missing that training never saw, and a nominal value it never saw, get the class share;
    - if a numeric column is nothing but zeros in training, and zero is special, other numbers map to 0;
    - a column with no value at all in training maps all, missing included, to 0.
    """
    multi = positive_class(y, classes, weights, positive) is None
    plan, columns = [], []
    for j, kind in enumerate(kinds):
        for task in tasks(y, classes, weights, positive):
            output = _shaper(*_table(X, j, y, weights, task), kind, neighbors, zero)
            plan.append((j, "@" + classes[task] if multi else ""))
            columns.append([float(output(row[j])) for row in X])
    return plan, [[column[i] for column in columns] for i in range(len(X))]


# ---- bns -----------------------------------------------------------------------------------------


def bns(tpr, fpr):
    """Bi-Normal Separation, rates held inside [0.0005, 0.9995] ([F03] Table 1 and the paragraph "BNS")."""
    z_pos, z_neg = (NormalDist().inv_cdf(min(max(float(rate), 0.0005), 0.9995)) for rate in (tpr, fpr))
    return abs(z_pos - z_neg)


def bns_scores(X, kinds, y, classes, weights=None, positive=None):
    """The BNS of each column: its best over all thresholds ([F09] 3.4), and its best over all tasks.

    A threshold is any distinct training value t, and a row is past it if its value is >= t; for a nominal
    column, if its value is t. A missing value is past no threshold, but its row counts in pos and neg.
    """
    scores = []
    for j, kind in enumerate(kinds):
        best = 0.0
        for task in tasks(y, classes, weights, positive):
            table, _, (pos, rows) = _table(X, j, y, weights, task)
            neg = rows - pos
            if pos == 0 or neg == 0:
                continue
            for t in table:
                past = [table[v] for v in table if (v == t if kind == "nominal" else v >= t)]
                tp = sum(p for p, _ in past)
                fp = sum(r - p for p, r in past)
                best = max(best, bns(tp / pos, fp / neg))
        scores.append(best)
    return scores


def scale(X, kinds, scores, y, weights, zero):
    """Each numeric column scaled to the range of its score ([F09] 2.2, 3.4): v -> (v - o) * score / (max - min).

    max and min are over the training values, zeros included; o is 0 when zero is special, else min. A column
    constant or empty in training becomes 0. Missing values and nominal columns stay as they are.
    """
    new = [list(row) for row in X]
    for j, kind in enumerate(kinds):
        if kind == "nominal":
            continue
        seen = [X[i][j] for i, _, _ in training_rows(y, weights) if not math.isnan(X[i][j])]
        low, high = (Fraction(min(seen)), Fraction(max(seen))) if seen else (0, 0)
        for row in new:
            if math.isnan(row[j]):
                continue
            if low == high:
                row[j] = 0.0
            else:
                row[j] = float((Fraction(row[j]) - (0 if zero else low)) * Fraction(scores[j]) / (high - low))
    return new


# ---- l2 ------------------------------------------------------------------------------------------


def l2(X, kinds):
    """Each row divided by the Euclidean norm of its numeric values that are not missing ([F09] 3.5).

    Nominal columns are neither counted nor changed; a row of norm 0 stays as it is.
    """
    new = []
    for row in X:
        norm = math.hypot(*(v for v, kind in zip(row, kinds, strict=True) if kind == "numeric" and not math.isnan(v)))
        new.append([v / norm if kind == "numeric" and norm > 0 else v for v, kind in zip(row, kinds, strict=True)])
    return new
