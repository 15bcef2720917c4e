"""Data for the page of `explore`, made from random tables in the form that filterkit/pages/explore.js describes.

Every count, score and curve is computed from the rows, so that what the page shows can be checked against them.
"""

import base64

import numpy as np
from agreement import make, sample
from filterkit_plugins import metrics
from gathered import gathered

from filterkit.pages.page import page

BINS = 10
RATES = np.linspace(0, 1, 61)
TESTS = 4  # tests tried for each numeric feature: that it is at least its first, second, … threshold
CARDS = 8
CHAIN = [("", 1.0, None), ("shape", 1.0, 0.031), ("bns", 0.95, 0.012), ("l2", 0.95, None)]


def text_like(rows=400, features=300, seed=1):
    """Counts of words, two classes with skew 1 : 4, words of the positive class, of the rest, and of neither."""
    rng = np.random.default_rng(seed)
    codes = (rng.random(rows) < 0.2).astype(int)
    rate = 2.0 / (1 + np.arange(features)) ** 0.7
    tilt = np.exp(rng.normal(0, 0.9, features))
    values = rng.poisson(rate * np.where(codes[:, None] == 1, tilt, 1 / tilt)).astype(float)
    names = [f"word{i}" for i in range(features)]
    return explored(values, names, codes, ["rest", "wheat"], sparse=True, chain=CHAIN)


def many_classes(rows=300, classes=12, seed=2):
    """Numbers whose means differ by class, a nominal attribute, a constant one, and missing values."""
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.geometric(0.2, rows) - 1, classes - 1)
    values = rng.normal(size=(rows, 30)) + rng.normal(size=(classes, 30))[codes]
    values[:, 4] = 7.0
    values[:, 5] = (codes + rng.integers(0, 2, rows)) % 3
    values[rng.random(rows) < 0.1, 6] = np.nan
    names = [f"measure {i}" for i in range(30)]
    nominal = {5: ["red", "green", "blue"]}
    return explored(values, names, codes, [f"class {i}" for i in range(classes)], nominal=nominal)


def real_table():
    """A sample, as the command explores it: by all metrics."""
    words = "filterkit explore --positive food arff_samples/fortunes.arff shape bns l2 -o report.html"
    found = gathered(sample("fortunes", positive="food"), "shape bns l2")
    about = {"made": {"program": "filterkit", "command": words, "input": "arff_samples/fortunes.arff"}}
    return found | about | {"file": "fortunes.arff", "relation": "fortunes", "format": "ARFF", "chain": "shape bns l2"}


def numeric_class(rows=80):
    """Numbers, a label and zeros, and a number for the class, which is missing in a row."""
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=rows), rng.integers(0, 3, rows), rng.poisson(0.5, rows)])
    batch = make(X, np.append(1000 * X[1:, 0] + X[1:, 1], np.nan), None, nominal=[1])
    about = {"made": {"program": "filterkit", "command": "explore", "input": "in.arff"}, "chain": ""}
    return gathered(batch) | about | {"file": "in.arff", "relation": "made", "format": "ARFF"}


def without_class(rows=100):
    """Numbers and no class."""
    values = np.random.default_rng(3).normal(size=(rows, 8))
    return explored(values, [f"x{i}" for i in range(8)], None, [])


def scored_without_class():
    """Numbers and no class, but scores of a metric that needs none."""
    data = without_class()
    total = data["features"]["total"]
    zeros = [0] * total
    points = {"start": list(range(total + 1)), "task": zeros, "threshold": zeros, "tp": zeros, "fp": zeros, "label": {}}
    scores = {"spread": [float(i) for i in range(total)]}
    return data | {
        "metrics": [{"name": "spread", "summary": "How far the values spread.", "plane": False}],
        "features": data["features"] | {"scores": scores, "points": points, "point": {"spread": zeros}},
    }


def without_features(rows=50):
    """A class and nothing else."""
    codes = np.random.default_rng(6).integers(0, 2, rows)
    return explored(np.stack([codes, 1.0 - codes], axis=1), ["a", "b"], codes, ["no", "yes"]) | {
        "features": {
            "total": 0,
            "name": [],
            "kind": [],
            "nonzero": [],
            "missing": [],
            "scores": {name: [] for name in METRICS},
            "points": {"start": [0], "task": [], "threshold": [], "tp": [], "fp": [], "label": {}},
            "point": {name: [] for name in METRICS},
            "strips": {"bins": BINS, "counts": ""},
            "low": [],
            "high": [],
        },
        "details": [],
        "correlation": {"features": [], "r": []},
    }


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
    values = rng.poisson(1.0, size=(rows, len(HOSTILE))) * (1.0 + codes[:, None])
    data = explored(values, HOSTILE, codes, HOSTILE[:2], sparse=True, chain=[(text, 1.0, None) for text in HOSTILE[:3]])
    data |= {"file": HOSTILE[0], "relation": HOSTILE[1], "chain": HOSTILE[3], "notes": HOSTILE[:5]}
    data["made"] = {"program": HOSTILE[0], "command": HOSTILE[2], "input": "'a b.arff'"}
    data["overview"]["class"]["name"] = HOSTILE[1]
    data["warnings"] = [{"kind": HOSTILE[0], "text": HOSTILE[1], "attributes": HOSTILE}]
    return data


def thirty_thousand(features=30_000):
    """As many words as a large text collection has."""
    return text_like(rows=150, features=features, seed=5)


def page_of(data):
    """The page as UTF-8."""
    return page(
        "explore", f"{data['relation']} · filterkit", data, "<h1>Plain</h1><table><tr><td>plain</td></tr></table>"
    )


# ---- From rows to data


METRICS = {name: getattr(metrics, name) for name in ("bns", "chi", "acc2", "f1", "pr")}


def explored(values, names, codes, classes, sparse=False, nominal=(), chain=()):
    """The data of a page.

    values: float64 (rows, features), NaN is missing; codes: int (rows,) or None; nominal: {feature: labels}; chain:
    words, the share of non-zeros that is left, and seconds of each stage, first of the input.
    """
    nominal = dict(nominal)
    rows, total = values.shape
    tasks = _tasks(codes, classes)
    varies = np.nanmin(values, 0) < np.nanmax(values, 0)
    tests, thresholds = _tests(values, nominal)
    scores, point, points = _scored(tests, thresholds, nominal, codes, tasks, varies)
    features = {
        "total": total,
        "name": names,
        "kind": ["nominal" if i in nominal else "numeric" for i in range(total)],
        "nonzero": np.count_nonzero(np.nan_to_num(values), axis=0),
        "missing": np.isnan(values).sum(0),
        "scores": scores,
        "points": points,
        "point": point,
        "strips": {"bins": BINS, "counts": _strips(values, codes, tasks, points)},
        "low": [None if i in nominal else low for i, low in enumerate(np.nanmin(values, 0).tolist())],
        "high": [None if i in nominal else high for i, high in enumerate(np.nanmax(values, 0).tolist())],
    }
    first = next(iter(scores), None)
    same = [name for name, varying in zip(names, varies) if not varying][:20]
    best = _ranking(scores[first])[:CARDS] if first else list(range(min(total, CARDS)))
    return {
        "made": {"program": "filterkit 0", "command": "filterkit explore made.arff", "input": "made.arff"},
        "file": "made.arff",
        "relation": "made",
        "chain": " ".join(word for word, *_ in chain if word),
        "overview": _overview(values, nominal, codes, classes, sparse),
        "warnings": [{"kind": "constant", "text": f"{len(same)} attributes are constant.", "attributes": same}]
        if same
        else [],
        "notes": [f"Cards show the best {len(best)} features of {total:,}."],
        "tasks": tasks,
        "metrics": [
            {"name": name, "summary": METRICS[name].__doc__.splitlines()[0], "plane": name != "pr"} for name in scores
        ],
        "features": features,
        "isolines": {name: _isolines(name, tasks) for name in scores if name != "pr"},
        "rates": RATES.tolist(),
        "agreement": _agreement(scores),
        "correlation": {"features": best, "r": _correlation(values[:, best])},
        "details": [_detail(values[:, i], i, nominal.get(i), codes, classes, tasks, sparse, chain) for i in best],
        "stages": [
            {
                "words": word,
                "columns": total + 1,
                "rows": rows,
                "nonzero": float(np.count_nonzero(values) * share),
                "missing": int(np.isnan(values).sum()),
                "seconds": seconds,
            }
            for word, share, seconds in chain
        ],
    }


def _tasks(codes, classes):
    sizes = np.bincount(codes, minlength=len(classes)) if codes is not None else []
    tasks = [{"label": label, "pos": int(n), "neg": int(sum(sizes) - n)} for label, n in zip(classes, sizes)]
    return tasks[1:] if len(tasks) == 2 else tasks


def _overview(values, nominal, codes, classes, sparse):
    rows, total = values.shape
    kinds = {"numeric": total - len(nominal), "nominal": len(nominal) + (codes is not None)}
    sizes = np.bincount(codes, minlength=len(classes)) if codes is not None else None
    return {
        "rows": rows,
        "weight": rows,
        "sparse": sparse,
        "kinds": {kind: n for kind, n in kinds.items() if n},
        "missing": int(np.isnan(values).sum()),
        "zeros": float((values == 0).mean()),
        "class": None
        if codes is None
        else {"name": "class", "kind": "nominal", "labels": classes, "rows": sizes, "missing": 0},
    }


def _tests(values, nominal):
    """bool (tests, rows, features): does the row pass; and float (tests, features): the thresholds."""
    distinct = np.stack([np.nanquantile(values, q, axis=0, method="higher") for q in (0.5, 0.8, 0.95, 1.0)])
    if np.array_equal(values, np.round(values)):
        distinct = np.arange(1.0, TESTS + 1)[:, None] * np.ones(values.shape[1])
    tests = values >= distinct[:, None, :]
    for i in nominal:
        tests[:, :, i] = values[:, i] == np.arange(TESTS)[:, None]
    return tests, distinct


def _positive(codes, task, tasks):
    return codes == (1 if len(tasks) == 1 else task)


def _scored(tests, thresholds, nominal, codes, tasks, varies):
    """The scores by each metric, the best point by each, and all points."""
    total = len(varies)
    none = {"start": [0] * (total + 1), "task": [], "threshold": [], "tp": [], "fp": [], "label": {}}
    if not tasks:
        return {}, {}, none
    tp = np.stack([tests[:, _positive(codes, k, tasks)].sum(1) for k in range(len(tasks))]).astype(float)
    fp = tests.sum(1)[None] - tp
    found, best = {}, {}
    for name, metric in METRICS.items():
        by_task = [metric(tp[k].ravel(), fp[k].ravel(), task["pos"], task["neg"]) for k, task in enumerate(tasks)]
        flat = np.concatenate(by_task).reshape(-1, total)  # a row for each task and test
        best[name] = flat.argmax(0)
        found[name] = [score if ok else None for score, ok in zip(flat.max(0).tolist(), varies)]
    points, point = {**none, "start": [0], "label": {}}, {name: [] for name in METRICS}
    for i in range(total):
        places = sorted({int(best[name][i]) for name in METRICS}) if varies[i] else []
        for name in METRICS:
            point[name].append(places.index(best[name][i]) if places else -1)
        for place in places:
            task, test = divmod(place, TESTS)
            if i in nominal:
                points["label"][str(len(points["tp"]))] = (nominal[i] + ["?"])[test]
            points["threshold"].append(None if i in nominal else float(thresholds[test, i]))
            points["task"].append(task)
            points["tp"].append(int(tp[task, test, i]))
            points["fp"].append(int(fp[task, test, i]))
        points["start"].append(len(points["tp"]))
    return found, point, points


def _strips(values, codes, tasks, points):
    low, high = np.nanmin(values, 0), np.nanmax(values, 0)
    place = np.minimum((values - low) / np.where(high > low, high - low, 1) * BINS, BINS - 1)
    place = np.where(np.isnan(place), 255, place).astype(np.uint8)
    first = np.array([points["task"][start] if start < len(points["task"]) else 0 for start in points["start"][:-1]])
    counts = np.zeros((values.shape[1], 2, BINS), np.uint8)
    for task in range(len(tasks) or 1):
        inside = _positive(codes, task, tasks) if tasks else np.ones(len(values), bool)
        here = first == task
        for side, chosen in enumerate([inside, ~inside]):
            for b in range(BINS):
                share = (place[chosen][:, here] == b).sum(0) / max(1, chosen.sum())
                counts[here, side, b] = np.ceil(255 * share)
    return base64.b64encode(counts.tobytes()).decode()


def _isolines(name, tasks):
    fpr, tpr = np.meshgrid(RATES, RATES)
    tpr, fpr = tpr.ravel(), fpr.ravel()
    return [METRICS[name](tpr * task["pos"], fpr * task["neg"], task["pos"], task["neg"]) for task in tasks]


def _ranking(scores):
    return sorted((i for i, score in enumerate(scores) if score is not None), key=lambda i: (-scores[i], i))


def _agreement(scores):
    if not scores:
        return {"metrics": [], "spearman": []}
    table = np.array([[np.nan if score is None else score for score in column] for column in scores.values()])
    ranks = np.nan_to_num(table).argsort(1).argsort(1)
    return {"metrics": list(scores), "spearman": np.corrcoef(ranks)}


def _correlation(values):
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.corrcoef(np.nan_to_num(values).T)


def _detail(column, feature, labels, codes, classes, tasks, sparse, chain):
    before = _histogram(column, labels, codes, classes, sparse)
    after = _histogram(np.sqrt(np.abs(column)), labels, codes, classes, sparse)
    curves = [_curve(column, k, codes, tasks) for k in range(min(len(tasks), 3))]
    return {
        "feature": feature,
        "before": before,
        "curves": curves,
        "after": [{"name": f"feature {feature} out", "histogram": after}] if len(chain) > 1 else [],
    }


def _histogram(column, labels, codes, classes, sparse):
    groups = [column[codes == c] for c in range(len(classes))] if classes else [column]
    made = {"classes": classes or [""], "missing": [int(np.isnan(group).sum()) for group in groups]}
    if labels:
        return made | {"labels": labels, "counts": [[int((g == v).sum()) for v in range(len(labels))] for g in groups]}
    used = column[~np.isnan(column)]
    inner = used[used != 0] if sparse else used
    edges = np.histogram_bin_edges(inner, 20) if len(inner) else np.array([0.0, 1.0])
    counts = [np.histogram(g[g != 0] if sparse else g[~np.isnan(g)], edges)[0].tolist() for g in groups]
    return made | {"edges": edges, "counts": counts, "zero": [int((g == 0).sum()) for g in groups] if sparse else None}


def _curve(column, task, codes, tasks):
    used = np.unique(column[~np.isnan(column)])
    values = used if len(used) <= 40 else np.unique(np.quantile(used, np.linspace(0, 1, 40), method="higher"))
    place = np.searchsorted(values, column[~np.isnan(column)])
    inside = _positive(codes, task, tasks)[~np.isnan(column)]
    rows = np.bincount(place, minlength=len(values))
    near = np.ones(3 if len(used) <= 40 else 9)  # a window over the neighbouring values
    share = (np.convolve(np.bincount(place[inside], minlength=len(values)), near, "same") + 1) / (
        np.convolve(rows, near, "same") + 2
    )
    return {"task": task, "value": values, "p": share, "rows": rows, "what": "p(v)", "stage": "shape"}
