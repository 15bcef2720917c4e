"""A plain reference for `shape`, `bns` and `l2`, to test the real stages against; scores are in `reference_metrics.py`.

It is written from the papers and from the section "Formulas (normative)" of the design, shares no code
with filterkit, and favours the obvious over the fast. Sums, shares and interpolations are exact (whole
numbers, and fractions.Fraction where they are not whole) and rounded once, at the end; so values that are
equal in theory are equal here. A column is counted once, by its distinct values, which makes real data
sets feasible.

[F09] is Forman, Scholz, Rajaram, KDD 2009, "Feature Shaping for Linear SVM Classifiers";
[F03] is Forman, JMLR 2003, "Extensive Empirical Study of Feature Selection Metrics".

The data, everywhere:
    X        list of rows, each a list of finite floats; NaN is missing, a nominal value is its index
    kinds    'numeric' or 'nominal' for each column
    y        class code of each row, -1 where the class is missing
    classes  the declared class names
    weights  weight of each row, or None for 1 each

*Training rows* are those with a known class and a weight above 0. Only they are fitted on; all rows are
transformed. So a row to transform with what other rows teach is one whose class is -1.
"""

import math
from bisect import bisect_left
from fractions import Fraction
from functools import cache

import reference_metrics as metrics
from reference_metrics import class_weights, columns, count, positive_class, tasks, training_rows

NAN = float("nan")


# ---- counts of a task -----------------------------------------------------------------------------


def _of_task(counts, task):
    """(pos, rows) from the weights in each class."""
    return counts[task], sum(counts)


def _image(function, column):
    """A column mapped by a function of exact numbers, each distinct value once."""
    images = {v: float(function(v)) for v in set(column) if not math.isnan(v)}
    missing = float(function(NAN))
    return [missing if math.isnan(v) else images[v] for v in column]


# ---- shape ---------------------------------------------------------------------------------------


def _laplace(pos, rows, prior=(1, 2)):
    """The Laplace-corrected share of positives ([F09] 3.2); `prior` has (pos, rows) to begin with."""
    return Fraction(pos + prior[0]) / (rows + prior[1])


def _monotone(table):
    """{value: p(value)}, the monotone fit of the share of positives, rising or falling, of least squared error.

    The rising fit at k is the largest over a <= k of the least over b >= k of the share in the values a to b.
    """
    known = sorted(table)

    def rising(counts):
        @cache
        def share(a, b):
            return Fraction(sum(p for p, _ in counts[a : b + 1])) / sum(r for _, r in counts[a : b + 1])

        last = len(counts)
        return [max(min(share(a, b) for b in range(k, last)) for a in range(k + 1)) for k in range(last)]

    counts = [table[v] for v in known]
    up = rising(counts)
    down = rising(counts[::-1])[::-1]
    up_error, down_error = (
        sum(r * (p - Fraction(pos) / r) ** 2 for p, (pos, r) in zip(fit, counts, strict=True)) for fit in (up, down)
    )
    return dict(zip(known, down if down_error < up_error else up, strict=True))


def _local_probabilities(table, n, prior):
    """{value: p(value)}, from the rows equal to it and up to n, by weight, on either side ([F09] 3.2).

    Imagine all rows in a line, in the order of their values. Up to n rows on either side of those that
    equal v are a stretch of the line; where it ends within the rows of one value, they count pro rata.
    """
    known = sorted(table)
    pos_before, rows_before = [0], [0]  # the k-th: in all values before the k-th
    for v in known:
        pos_before.append(pos_before[-1] + table[v][0])
        rows_before.append(rows_before[-1] + table[v][1])

    def positives(rows):
        """Positives among the first so many rows of the line."""
        k = bisect_left(rows_before, rows)
        if rows_before[k] == rows:
            return pos_before[k]
        pos_own, rows_own = table[known[k - 1]]
        return pos_before[k - 1] + Fraction((rows - rows_before[k - 1]) * pos_own, rows_own)

    p = {}
    for k, v in enumerate(known):
        start = max(rows_before[k] - n, 0)
        stop = min(rows_before[k + 1] + n, rows_before[-1])
        p[v] = _laplace(positives(stop) - positives(start), stop - start, prior)
    return p


def _interpolate(known, p, x):
    """p at x: linear between the values of p, which are `known` in order, held beyond them ([F09] 3.2)."""
    if x in p:
        return p[x]
    k = bisect_left(known, x)
    if k in (0, len(known)):
        return p[known[min(k, len(known) - 1)]]
    low, high = known[k - 1], known[k]
    return p[low] + (p[high] - p[low]) * (Fraction(x) - Fraction(low)) / (Fraction(high) - Fraction(low))


def _side(neighbors, rows):
    """The rows of a window on each side of a value: a number, or a share of all rows such as '5%', at least one."""
    if str(neighbors).endswith("%"):
        return max(Fraction(1), Fraction(neighbors[:-1]) / 100 * rows)
    return int(neighbors)


def _shaper(table, missing, total, kind, zero, neighbors=15, method=None, prior="laplace", strength=2, center=False):
    """The map of one column for one task, value -> exact output ([F09] 3.2, 3.3, and 3.5 for zero).

    `table` is {value: (pos, rows)}; `missing` and `total` are such pairs of the missing and of all rows.
    """
    if not table:  # empty in training
        return lambda x: Fraction(0)

    n, strength = _side(neighbors, total[1]), Fraction(strength)
    method = method or ("logodds" if center else "lp")
    middle = Fraction(1, 2)
    if prior == "class" and 0 < total[0] < total[1]:
        middle = Fraction(total[0]) / total[1]
    start = (strength * middle, strength)
    share = _laplace(*total, start)
    p_missing = _laplace(*missing, start) if missing[1] else share

    def T(p):
        return math.log(p) - math.log(1 - p) if method == "logodds" else p

    if kind == "nominal":
        p = {v: _laplace(*counts, start) for v, counts in table.items()}
        image_of_zero = T(p.get(0.0, share)) if zero else T(middle) if center else 0
        return lambda x: T(p_missing if math.isnan(x) else p.get(x, share)) - image_of_zero

    # Zero, when special, neither is nor has a neighbour, and is left out of the interpolation.
    others = {v: counts for v, counts in table.items() if not (zero and v == 0)}
    p = _monotone(others) if method == "isotonic" else _local_probabilities(others, n, start)
    known = sorted(p)
    if not zero:
        image_of_zero = T(middle) if center else 0
    elif 0.0 in table:
        image_of_zero = T(_laplace(*table[0.0], start))
    else:
        image_of_zero = T(p[min(p, key=lambda v: (abs(v), -v))])  # the nearest, the larger on a tie

    def output(x):
        if math.isnan(x):
            return T(p_missing) - image_of_zero
        if zero and (x == 0 or not p):
            return Fraction(0)
        return T(_interpolate(known, p, x)) - image_of_zero

    return output


def shape(X, kinds, y, classes, weights, zero=False, positive=None, weight=1, beside=False, **how):
    """Feature shaping, the local probability shaper LP ([F09] 3.2, 3.3, 3.5). Returns (plan, new X).

    `plan` has (input column, suffix of its name) for each output column: the suffix is '' with one positive class;
    for multi-class '@class', all classes of a column following each other. With `beside`, the column itself comes
    first, with the suffix '', and '@class' is the suffix of the others in any case. `weight` multiplies these.

    `zero` makes zero special: a bin of its own, subtracted, so that zero stays zero. If no training row has
    one, its estimate is that of the training value nearest zero, for a nominal column the class share.
    Where neither paper nor design says so:
    - missing that training never saw, and a nominal value it never saw, get the class share;
    - if a numeric column is nothing but zeros in training, and zero is special, other numbers map to 0;
    - a column with no value at all in training maps all, missing included, to 0.
    """
    named = beside or positive_class(y, classes, weights, positive) is None
    chosen, training = tasks(y, classes, weights, positive), training_rows(y, weights)
    totals = class_weights(training, classes)
    plan, new = [], []
    for j, (kind, column) in enumerate(zip(kinds, columns(X, kinds), strict=True)):
        values, missing = count(column, training, classes)
        if beside:
            plan.append((j, ""))
            new.append(column)
        for task in chosen:
            table = {v: _of_task(counts, task) for v, counts in values.items()}
            missing_, total = _of_task(missing, task), _of_task(totals, task)
            output = _shaper(table, missing_, total, kind, zero, **how)
            plan.append((j, "@" + classes[task] if named else ""))
            new.append(_image(lambda v, output=output: Fraction(weight) * Fraction(output(v)), column))
    return plan, [[column[i] for column in new] for i in range(len(X))]


# ---- bns -----------------------------------------------------------------------------------------


def scale(X, kinds, scores, y, weights, zero, multiply=False):
    """Each numeric column scaled to the range of its score ([F09] 2.2, 3.4): v -> (v - o) * score / (max - min).

    max and min are over the training values, zeros included; o is 0 when zero is special, else min. With
    `multiply`, v -> v * score. A column constant or empty in training becomes 0. Missing values and nominal columns
    stay as they are.
    """
    training = training_rows(y, weights)

    def scaled(column, score):
        seen = {column[i] for i, _, _ in training if not math.isnan(column[i])}
        low, high = (Fraction(min(seen)), Fraction(max(seen))) if seen else (0, 0)
        offset = 0 if zero else low
        factor = Fraction(score) / (high - low) if low < high else 0
        if multiply:
            offset, factor = 0, Fraction(score) if low < high else 0
        return _image(lambda v: v if math.isnan(v) else (Fraction(v) - offset) * factor, column)

    new = [
        column if kind == "nominal" else scaled(column, score)
        for kind, column, score in zip(kinds, columns(X, kinds), scores, strict=True)
    ]
    return [[column[i] for column in new] for i in range(len(X))]


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


# ---- chains --------------------------------------------------------------------------------------


def chain(text, X, kinds, y, classes, weights=None, zero=False, positive=None):
    """Stages one after the other, e.g. 'shape --neighbors 5 --zero bns l2'. Returns (plan of `shape`, scores, new X).

    `zero` says whether zero is special to begin with, as it is for sparse input; `shape` decides it for
    the stages after it. Without `shape` the plan has every column as it is; scores is None unless the
    columns put out have a score of `bns`.
    """
    plan, scores = [(j, "") for j in range(len(kinds))], None
    words = text.split()
    while words:
        name, options = words.pop(0), {"zero": zero}
        while words and words[0].startswith("--"):
            flag = words.pop(0)[2:]
            switch = flag.removeprefix("no-")
            options[switch] = switch == flag if switch in ("zero", "center", "beside", "multiply") else words.pop(0)
        if name == "shape":
            made, X = shape(X, kinds, y, classes, weights, positive=positive, **options)
            plan = [(plan[j][0], plan[j][1] + suffix) for j, suffix in made]
            kinds = [kinds[j] if options.get("beside") and not suffix else "numeric" for j, suffix in made]
            zero, scores = options["zero"], None
        elif name == "bns":
            scores = metrics.scores("bns", X, kinds, y, classes, weights, positive)
            X = scale(X, kinds, scores, y, weights, zero, options.get("multiply", False))
        else:
            X = {"l2": l2}[name](X, kinds)
    return plan, scores, X
