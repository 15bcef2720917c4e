"""A plain reference for the metrics and for selecting by them, to test the real ones against.

One number at a time, written from the papers; shares no code with filterkit. [F03] is Forman, JMLR 2003,
"Feature Selection Metrics", Table 1 with its notes; [YP97] Yang and Pedersen, ICML 1997. Counts are whole numbers
or Fractions, and stay exact until a logarithm, root or Normal quantile is taken.

Where others compute the same: chi is scipy's chi2_contingency without correction and, of 0/1 columns, Weka's
ChiSquaredAttributeEval -B; ig is Weka's InfoGainAttributeEval -B; fisher is −ln of scipy's fisher_exact; bns
takes scipy's norm.ppf. Weka's ranges over all classes at once; scikit-learn's chi2 sums counts, which is
another statistic.
"""

import itertools
import math
from fractions import Fraction
from statistics import NormalDist

from reference_columns import bits, chisquared, infogain

# ---- classes and counts --------------------------------------------------------------------------


def exact(number):
    """`number` as an int if it is whole, else as a Fraction: in sums of neither is anything rounded."""
    return int(number) if number == int(number) else Fraction(number)


def training_rows(y, weights):
    """[(row number, class code, weight)] of the training rows, weights exact."""
    if weights is None:
        weights = [1] * len(y)
    return [(i, c, exact(w)) for i, (c, w) in enumerate(zip(y, weights, strict=True)) if c >= 0 and w > 0]


def class_weights(training, classes):
    """[weight of the training rows in each class]."""
    return [sum(w for _, c, w in training if c == k) for k in range(len(classes))]


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
    total = class_weights(training_rows(y, weights), classes)
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


def columns(X, kinds):
    """The columns of X, each a list."""
    return [[row[j] for row in X] for j in range(len(kinds))]


def count(column, training, classes):
    """What training says of a column: {value: [weight in each class]}, and the same list for missing."""
    values, missing = {}, [0] * len(classes)
    for i, c, w in training:
        v = column[i]
        if math.isnan(v):
            missing[c] += w
        elif v in values:
            values[v][c] += w
        else:
            values[v] = [w if c == k else 0 for k in range(len(classes))]
    return values, missing


# ---- metrics -------------------------------------------------------------------------------------


def inverted(tp, fp, pos, neg):
    """The counts of a feature, inverted on the same classes if it is negative, so that tpr >= fpr ([F03] note)."""
    return (pos - tp, neg - fp) if Fraction(fp, 1) * pos > Fraction(tp, 1) * neg else (tp, fp)


def acc(tp, fp, pos, neg):
    tp, fp = inverted(tp, fp, pos, neg)
    return float(tp - fp)


def acc2(tp, fp, pos, neg):
    return float(abs(Fraction(tp) / pos - Fraction(fp) / neg))


def bns(tp, fp, pos, neg):
    z = [NormalDist().inv_cdf(min(max(float(Fraction(a) / b), 0.0005), 0.9995)) for a, b in ((tp, pos), (fp, neg))]
    return abs(z[0] - z[1])


def chi_classes(counts, totals):
    """Sum over present and absent, and over classes, of (observed - expected)^2 / expected."""
    n, words = sum(totals), sum(counts)
    result = Fraction(0)
    for of_word, rows in ((counts, words), ([t - c for t, c in zip(totals, counts, strict=True)], n - words)):
        for observed, total in zip(of_word, totals, strict=True):
            expected = Fraction(rows) * total / n
            if expected:
                result += (observed - expected) ** 2 / expected
    return float(result)


def chi(tp, fp, pos, neg):
    return chi_classes([tp, fp], [pos, neg])


def dfreq(tp, fp, pos, neg):
    return float(tp + fp)


def f1(tp, fp, pos, neg):
    tp, fp = inverted(tp, fp, pos, neg)
    if tp == 0:
        return 0.0
    precision, recall = Fraction(tp) / (tp + fp), Fraction(tp) / pos
    return float(2 * precision * recall / (precision + recall))


def ig_classes(counts, totals):
    n, words = sum(totals), sum(counts)
    absent = [t - c for t, c in zip(totals, counts, strict=True)]
    share = float(Fraction(words) / n)
    return bits(totals) - share * bits(counts) - (1 - share) * bits(absent)


def ig(tp, fp, pos, neg):
    return ig_classes([tp, fp], [pos, neg])


def oddn(tp, fp, pos, neg):
    tp, fp = inverted(tp, fp, pos, neg)
    return float(Fraction(tp) / pos * (1 - Fraction(fp) / neg))


def odds(tp, fp, pos, neg):
    tp, fp = inverted(tp, fp, pos, neg)
    return float(Fraction(tp) * (neg - fp) / ((pos - tp or 1) * (fp or 1)))


def power(tp, fp, pos, neg):
    tp, fp = inverted(tp, fp, pos, neg)
    return float((1 - Fraction(fp) / neg) ** 5 - (1 - Fraction(tp) / pos) ** 5)


def pr(tp, fp, pos, neg):
    tp, fp = inverted(tp, fp, pos, neg)
    return float(Fraction(tp) / pos / (Fraction(fp) / neg or Fraction("1e-8")))


def hyp(tp, fp, pos, neg):
    """The difference of two proportions in standard errors, the rate estimated from both samples."""
    rate = Fraction(tp + fp) / (pos + neg)
    variance = rate * (1 - rate) * (Fraction(1) / pos + Fraction(1) / neg)
    return float(abs(Fraction(tp) / pos - Fraction(fp) / neg)) / math.sqrt(variance) if variance else 0.0


def fisher(tp, fp, pos, neg):
    """-ln p, p the sum over the tables of the same margins that are no more likely; whole numbers only."""
    words = tp + fp
    ways = {k: math.comb(pos, k) * math.comb(neg, words - k) for k in range(max(0, words - neg), min(words, pos) + 1)}
    p = Fraction(sum(w for w in ways.values() if w <= ways[tp]), sum(ways.values()))
    return -math.log(p.numerator) + math.log(p.denominator)


def pmi(tp, fp, pos, neg):
    if tp + fp == 0:
        return 0.0
    return math.log2((Fraction(tp) / pos or Fraction("1e-8")) / (Fraction(tp + fp) / (pos + neg)))


def bbs(tp, fp, pos, neg):
    """|z(tp) - z(fp)|, z the Normal quantile of the mid-probability under the common rate; whole numbers only."""
    rate = Fraction(tp + fp, pos + neg)

    def z(count, draws):
        if rate in (0, 1):
            return 0.0
        hits, all_ = rate.as_integer_ratio()
        # Each probability times all_**draws is a whole number.
        p = [math.comb(draws, k) * hits**k * (all_ - hits) ** (draws - k) for k in range(draws + 1)]
        down, up = 2 * sum(p[:count]) + p[count], 2 * sum(p[count + 1 :]) + p[count]
        tail = NormalDist().inv_cdf(max(float(Fraction(min(down, up), 2 * all_**draws)), 1e-300))
        return tail if down < up else -tail

    return abs(z(tp, pos) - z(fp, neg))


def hellinger(tp, fp, pos, neg):
    tpr, fpr = float(Fraction(tp) / pos), float(Fraction(fp) / neg)
    return math.hypot(math.sqrt(tpr) - math.sqrt(fpr), math.sqrt(1 - tpr) - math.sqrt(1 - fpr))


METRICS = {
    f.__name__: f for f in (acc, acc2, bns, chi, dfreq, f1, ig, oddn, odds, pr, hyp, fisher, pmi, bbs, hellinger)
}
METRICS["pow"] = power
CLASSES = {"ig": ig_classes, "chi": chi_classes}


LABELS = {"ig": infogain, "chi": chisquared}  # of a nominal column by all labels at once


# ---- the best over thresholds --------------------------------------------------------------------


def tests(column, kind, training, classes):
    """The weight in each class of the rows past each threshold of a column.

    A threshold is any distinct training value t but the least, and a row is past it if its value is >= t; for a nominal
    column it is any of several values, and a row is past it if its value is t. A missing value is past no threshold.
    """
    values, _ = count(column, training, classes)
    descending = [values[v] for v in sorted(values, reverse=True)]
    if kind == "nominal":
        return descending if len(descending) > 1 else []
    return list(itertools.accumulate(descending, lambda a, b: [x + y for x, y in zip(a, b, strict=True)]))[:-1]


def of_labels(name, column, training, group):
    """The score of a nominal column by all labels at once, for whole weights."""
    rows = [(None if math.isnan(column[i]) else column[i], group(c)) for i, c, w in training for _ in range(w)]
    return LABELS[name](rows, True)


def scores(name, X, kinds, y, classes, weights=None, positive=None, alpha=None):
    """The score of each column by a metric of METRICS (design, "metrics" and "Which class is positive"):

    the best over all thresholds and all tasks. A row whose value is missing counts among pos and neg.
    """
    training = training_rows(y, weights)
    totals = class_weights(training, classes)
    present = [k for k, total in enumerate(totals) if total]
    multi = positive_class(y, classes, weights, positive) is None
    result = []
    for kind, column in zip(kinds, columns(X, kinds), strict=True):
        found = tests(column, kind, training, classes)
        by_labels = kind == "nominal" and name in LABELS and alpha is None
        if name == "dfreq":
            each = [float(sum(counts)) for counts in found]
        elif multi and name in CLASSES and alpha is None:
            if by_labels:
                each = [of_labels(name, column, training, lambda c: c)]
            elif len(present) > 1:
                each = [CLASSES[name]([c[k] for k in present], [totals[k] for k in present]) for c in found]
            else:
                each = []
        else:
            each = []
            for task in tasks(y, classes, weights, positive):
                pos, neg = totals[task], sum(totals) - totals[task]
                if by_labels:
                    each.append(of_labels(name, column, training, lambda c, task=task: c == task))
                elif pos and neg:
                    pairs = [(c[task], sum(c) - c[task]) for c in found] or [(0, 0)]
                    weigh = [1.0 if alpha is None else alpha if tp * neg >= fp * pos else 1 - alpha for tp, fp in pairs]
                    each += [max(METRICS[name](*pair, pos, neg) * a for pair, a in zip(pairs, weigh, strict=True))]
                else:
                    each.append(0.0)
        result.append(max(each, default=0.0))
    return result
