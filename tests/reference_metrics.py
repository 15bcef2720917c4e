"""A plain reference for the metrics and for selecting by them, to test the real ones against.

One number at a time, written from the papers; shares no code with filterkit. [F03] is Forman, JMLR 2003,
"Feature Selection Metrics", Table 1 with its notes; [YP97] Yang and Pedersen, ICML 1997. Counts are whole numbers
or Fractions, and stay exact until a logarithm, root or Normal quantile is taken.

Where others compute the same: chi is scipy's chi2_contingency without correction and, of 0/1 columns, Weka's
ChiSquaredAttributeEval -B; ig is Weka's InfoGainAttributeEval -B; fisher is −ln of scipy's fisher_exact; bns
takes scipy's norm.ppf. Weka's ranges over all classes at once; scikit-learn's chi2 sums counts, which is
another statistic.
"""

import math
from fractions import Fraction
from statistics import NormalDist

from reference import past, positive_class, tasks, training_rows


def log2(x):
    """log₂ of an exact number, whose numerator and denominator may be large."""
    x = Fraction(x)
    return math.log2(x.numerator) - math.log2(x.denominator)


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


def entropy(counts):
    """e of [F03], in bits, for any number of classes; 0 log 0 = 0."""
    n = sum(counts)
    return -sum(float(Fraction(c) / n) * log2(Fraction(c) / n) for c in counts if c > 0)


def ig_classes(counts, totals):
    n, words = sum(totals), sum(counts)
    absent = [t - c for t, c in zip(totals, counts, strict=True)]
    share = float(Fraction(words) / n)
    return entropy(totals) - share * entropy(counts) - (1 - share) * entropy(absent)


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
    return log2((Fraction(tp) / pos or Fraction("1e-8")) / (Fraction(tp + fp) / (pos + neg)))


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


def ig_labels(counts):
    """The gain of {label: [weight of each class]}."""
    totals = [sum(each) for each in zip(*counts.values(), strict=True)]
    return entropy(totals) - sum(sum(each) / sum(totals) * entropy(each) for each in counts.values())


def chi_labels(counts):
    totals, result = [sum(each) for each in zip(*counts.values(), strict=True)], 0.0
    for each in counts.values():
        for observed, total in zip(each, totals, strict=True):
            expected = sum(each) * total / sum(totals)
            result += (observed - expected) ** 2 / expected if expected else 0.0
    return result


LABELS = {"ig": ig_labels, "chi": chi_labels}


# ---- the best over thresholds --------------------------------------------------------------------


def tests(column, kind, training, classes):
    """[(threshold, [weight in each class of the rows past it])] of a column, by going through all rows for each."""
    known = [(column[i], c, w) for i, c, w in training if not math.isnan(column[i])]
    found = []
    for t in past({v for v, _, _ in known}, kind):
        chosen = [(c, w) for v, c, w in known if (v == t if kind == "nominal" else v >= t)]
        found.append((t, [sum(w for c, w in chosen if c == k) for k in range(classes)]))
    return found


def of_labels(name, column, training, group, groups):
    """The score of a nominal column by all labels at once; a missing value counts for each label by its share."""
    counts = {v: [0.0] * groups for v in sorted({column[i] for i, _, _ in training if not math.isnan(column[i])})}
    for i, c, w in training:
        if not math.isnan(column[i]):
            counts[column[i]][group(c)] += w
    share = {v: sum(each) / sum(map(sum, counts.values())) for v, each in counts.items()}
    for i, c, w in training:
        for v in counts if math.isnan(column[i]) else ():
            counts[v][group(c)] += w * share[v]
    return LABELS[name](counts) if counts else 0.0


def scores(name, X, kinds, y, classes, weights=None, positive=None, alpha=None):
    """The score of each column by a metric of METRICS (design, "metrics" and "Which class is positive")."""
    training = training_rows(y, weights)
    totals = [sum(w for _, c, w in training if c == k) for k in range(len(classes))]
    multi = positive_class(y, classes, weights, positive) is None
    against = tasks(y, classes, weights, positive)
    result = []
    for j, kind in enumerate(kinds):
        column = [row[j] for row in X]
        found = tests(column, kind, training, len(classes))
        by_labels = kind == "nominal" and name in LABELS and alpha is None
        if name == "dfreq":
            result.append(max((float(sum(counts)) for _, counts in found), default=0.0))
            continue
        if multi and name in CLASSES and alpha is None:
            present = [k for k, total in enumerate(totals) if total]
            best = 0.0
            if len(present) > 1:
                each = [CLASSES[name]([c[k] for k in present], [totals[k] for k in present]) for _, c in found]
                best = max(each, default=0.0)
                if by_labels:
                    best = of_labels(name, column, training, lambda c: c, len(classes))
            result.append(best)
            continue
        each = []
        for task in against:
            pos, neg = totals[task], sum(totals) - totals[task]
            if not pos or not neg:
                each.append(0.0)
                continue
            if by_labels:
                each.append(of_labels(name, column, training, lambda c, task=task: int(c == task), 2))
                continue
            pairs = [(c[task], sum(c) - c[task]) for _, c in found] or [(0, 0)]
            weigh = [1.0 if alpha is None else alpha if tp * neg >= fp * pos else 1 - alpha for tp, fp in pairs]
            each.append(max(METRICS[name](tp, fp, pos, neg) * a for (tp, fp), a in zip(pairs, weigh, strict=True)))
        result.append(max(each, default=0.0))
    return result
