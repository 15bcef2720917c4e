"""Shaping that does not lose: raw columns beside shrunken log odds, choice among chains, thresholds for F."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from lab import arguments, compare, markdown, of_tasks, store, text_sets, uci_sets, with_error, write

from filterkit.evaluation.comparison import compute_corrected_t_test, compute_signed_rank_test
from filterkit.evaluation.results import Results

FOLDS, INNER, REPEATS = 10, 5, 3  # one repeat unless all is done
SVM = "svm --c 0.01,0.1,1,10,100 --folds {inner}"
LOGISTIC = "predict LogisticRegression --grid C=0.01,0.1,1,10,100 --folds {inner}"
PLAIN = "impute onehot range"  # impute does nothing on these sets, and has each chain run on any other
BESIDE = f"{PLAIN} shape --beside --neighbors 5% --prior class --strength 5 --center --weight 0.15"
UCI_CHAINS = {
    "baseline": f"{PLAIN} {{svm}} --calibrate",
    "beside": f"{BESIDE} {{svm}} --calibrate",
    "auto": "impute onehot shape --auto bns l2 {svm} --calibrate",
    "shaping": "impute onehot shape bns l2 {svm} --calibrate",
}
TEXT_CHAINS = {
    "baseline": "impute binary l2 {svm} --calibrate",
    "scaling": "impute binary bns l2 {svm} --calibrate",
    "shaping": "impute shape bns l2 {svm} --calibrate",
}


class Further(NamedTuple):
    """Chains that are compared on the folds of the first repeat alone.

    Attributes
    ----------
    chains : by name.
    pairs : the names of two chains, of which the first should be better; others are of the main table.
    """

    chains: dict[str, str]
    pairs: tuple[tuple[str, str], ...]


FURTHER = {
    "UCI": (
        Further(
            {"beside-threshold": f"{BESIDE} {{svm}} --threshold f1"},
            tuple(("beside-threshold", other) for other in ("baseline", "beside", "threshold")),
        ),
        Further(
            {"logistic": f"{PLAIN} {LOGISTIC}", "beside-logistic": f"{BESIDE} {LOGISTIC}"},
            (("beside-logistic", "logistic"), ("beside-logistic", "beside")),
        ),
        Further(
            {
                "forest": f"{PLAIN} predict RandomForestClassifier",
                "beside-forest": f"{BESIDE} predict RandomForestClassifier",
            },
            (("beside-forest", "forest"), ("forest", "beside"), ("forest", "beside-threshold")),
        ),
    ),
    "Text": (
        Further(
            {"scaling-threshold": "impute binary bns l2 {svm} --threshold f1"},
            tuple(("scaling-threshold", other) for other in ("baseline", "scaling", "threshold")),
        ),
    ),
}
LEARNERS = {  # instead of probabilities above a half, with the baseline
    "threshold": "--threshold f1",
    "criterion-auc": "--calibrate --criterion auc",
    "class-weights": "--calibrate --class-weights balanced",
}
MEANINGS = {
    "baseline": "the values as they are, in [0, 1] or as presence in rows of length 1",
    "beside": "the same, with shrunken log odds beside each column",
    "auto": "columns that predict better so are shaped, and all are scaled by BNS",
    "shaping": "the paper's chain",
    "scaling": "presence of words, scaled by BNS",
    "threshold": "the baseline with the threshold that is best for F1 in training",
    "criterion-auc": "the baseline with the C that is best for AUC in training",
    "class-weights": "the baseline with both classes of equal weight",
    "beside-threshold": "`beside` with the threshold that is best for F1 in training",
    "scaling-threshold": "`scaling` with the threshold that is best for F1 in training",
    "logistic": "logistic regression instead of the SVM of the baseline",
    "beside-logistic": "logistic regression instead of the SVM of `beside`",
    "forest": "a random forest of 100 trees instead of the SVM of the baseline",
    "beside-forest": "a random forest of 100 trees instead of the SVM of `beside`",
}
MEASURES = ("f1", "auc", "accuracy", "p20")
FURTHER_MEASURES = ("f1", "auc", "accuracy")
SHARES = (0.1, 0.2, 0.5)
CHOOSING_FOLDS = 3  # to choose among chains, each is fitted six times
UCI_ROWS, POSITIVES, FEWEST = 1000, 50, 30  # as in seed 000


def chains(of: dict[str, str]) -> list[str]:
    """The chains of a table."""
    return [f"{name}: {chain.format(svm=SVM, inner=INNER).format(inner=INNER)}" for name, chain in of.items()]


def ways_to_decide(of: dict[str, str]) -> list[str]:
    """The baseline with other ways to decide."""
    first = of["baseline"].removesuffix(" --calibrate").format(svm=SVM.format(inner=INNER))
    return [f"{name}: {first} {options}" for name, options in LEARNERS.items()]


def means(results: Results) -> str:
    """The mean of each chain over tasks at each share."""
    rows = []
    for number, share in enumerate(results.shares):
        for c, chain in enumerate(results.chains):
            cells = [with_error(results.compute_means_and_standard_errors(measure)[c, number]) for measure in MEASURES]
            rows.append([f"{share:.0%}", chain, *cells])
    return markdown(["trained on", "", *MEASURES], rows)


def against(results: Results, measure: str) -> str:
    """Each chain against the baseline: over tasks, over data sets, and task by task."""
    base = results.chains.index("baseline")
    rows = []
    for number, share in enumerate(results.shares):
        for c, chain in enumerate(results.chains):
            if c != base:
                rows.append([f"{share:.0%}", chain, *_compared(results, measure, c, base, number)])
    head = ["trained on", "", f"{measure}, over tasks", "over data sets", "wins, ties, losses", "surely", "worst task"]
    return markdown(head, rows)


def _compared(results: Results, measure: str, one: int, other: int, share: int) -> list[str]:
    cube = results.get_values_of_measure(measure)[..., share]
    units = np.nanmean(cube[:, :, [one, other]], axis=1)
    gaps = np.round(units[:, 0] - units[:, 1], 3)
    names = [data for data, _ in results.tasks]
    sets = np.array([units[[name == each for name in names]].mean(axis=0) for each in dict.fromkeys(names)])
    ratios = [row.test_rows / row.train_rows for row in results.rows if row.share == results.shares[share]]
    sure = [_surely(cube[task, :, one], cube[task, :, other], float(np.mean(ratios))) for task in range(len(units))]
    return [
        _with_p(compute_signed_rank_test(*units.T)),
        _with_p(compute_signed_rank_test(*sets.T)),
        f"{np.sum(gaps > 0)}, {np.sum(gaps == 0)}, {np.sum(gaps < 0)}",
        f"{sure.count(1)} better, {sure.count(-1)} worse",
        f"{gaps.min():+.3f}",
    ]


def _surely(one: np.ndarray, other: np.ndarray, ratio: float) -> int:
    """1 or −1 if folds differ at 0.05 by the corrected resampled t-test, else 0; `ratio` is test to training rows."""
    gap, p = compute_corrected_t_test(one, other, test_train_ratio=ratio)
    return int(np.sign(gap)) if p < 0.05 else 0


def _with_p(pair: Sequence[float]) -> str:
    mean, p = pair
    return f"{mean:+.3f}" + (f" (p {p:.1g})" if p == p else "")  # of a single data set there is no p


def further(results: Results, more: Results, group: Further) -> str:
    """The pairs of a group of further chains, on the folds of the first repeat; `results` are of the main table."""
    rows = []
    both = Results(row for row in (*results.rows, *more.rows) if row.fold < FOLDS)
    for number, share in enumerate(both.shares):
        for one, other in group.pairs:
            cells = []
            for measure in FURTHER_MEASURES:
                units = np.nanmean(both.get_values_of_measure(measure)[..., number], axis=1)
                pair = units[:, [both.chains.index(name) for name in (one, other)]].T
                gaps = np.round(pair[0] - pair[1], 3)
                cells += [
                    _with_p(compute_signed_rank_test(*pair)),
                    f"{np.sum(gaps > 0)}, {np.sum(gaps == 0)}, {np.sum(gaps < 0)}",
                ]
            rows.append([f"{share:.0%}", f"{one} − {other}", *cells])
    heads = [cell for measure in FURTHER_MEASURES for cell in (measure, "wins, ties, losses")]
    return markdown(["trained on", "", *heads], rows)


def choices(results: Results, names: Sequence[str]) -> str:
    """How often each chain was chosen."""
    rows = []
    for share in results.shares:
        chosen = [row.choice for row in results.rows if row.chain == "chosen" and row.share == share]
        rows.append([f"{share:.0%}", *(f"{chosen.count(name) / len(chosen):.0%}" for name in names)])
    return markdown(["trained on", *names], rows)


def main() -> None:
    given = arguments(__doc__)
    data, tasks = uci_sets(given.data, UCI_ROWS, POSITIVES)
    kinds = {"UCI": (data, UCI_CHAINS, FEWEST), "Text": (text_sets(given.data), TEXT_CHAINS, POSITIVES)}
    design = {"one_against_rest": True}
    whole = design | {"folds": FOLDS, "shares": (*SHARES, 1 - 1 / FOLDS), "repeats": REPEATS if given.full else 1}
    few = design | {"folds": CHOOSING_FOLDS, "shares": (*SHARES, 1 - 1 / CHOOSING_FOLDS)}
    parts = [HEAD.format(folds=FOLDS, repeats="three times" if given.full else "once", full=" --full" * given.full)]
    for kind, (sets, of, fewest) in kinds.items():
        name = f"safeguards-{kind.lower()}"
        results = compare(given, name, sets, [*chains(of), *ways_to_decide(of)], min_positives=fewest, **whole)
        results = of_tasks(results, tasks) if kind == "UCI" else results
        store(given, name, results, MEASURES)
        parts += [f"## {kind}: {len(results.tasks)} tasks\n", means(results), "Minus the baseline:\n"]
        parts += [against(results, measure) for measure in MEASURES]
        once, added = whole | {"repeats": 1}, [text for group in FURTHER[kind] for text in chains(group.chains)]
        more = compare(given, f"{name}-further", sets, added, min_positives=fewest, **once)
        more = of_tasks(more, tasks) if kind == "UCI" else more
        store(given, f"{name}-further", more, MEASURES)
        for group in FURTHER[kind]:
            parts += [FURTHER_HEAD.format(names=", ".join(group.chains)), further(results, more, group)]
        write(given, "\n".join(parts))  # at once, because the next part takes long
    for kind, (sets, of, fewest) in kinds.items():
        name = f"safeguards-{kind.lower()}-chosen"
        results = compare(given, name, sets, chains(of), min_positives=fewest, choose="f1", **few)
        results = of_tasks(results, tasks) if kind == "UCI" else results
        store(given, name, results, MEASURES)
        parts += [CHOSEN.format(kind=kind, folds=CHOOSING_FOLDS), means(results), "Minus the baseline:\n"]
        parts += [against(results, "f1"), "How often each was chosen:\n", choices(results, list(of))]
        write(given, "\n".join(parts))


HEAD = """# Safeguards

Made by `python experiments/safeguards.py --data DATA{full}`.

Tasks, folds and learner are those of [seed 000](seed_000_shaping.md); {folds} folds {repeats}. `beside` keeps each
column in [0, 1] and puts its shrunken log odds beside it; `auto` shapes a column only where that helps. `threshold`,
`criterion-auc` and `class-weights` are the baseline with another way to decide: a threshold for F, C by AUC, balanced
classes.

Over tasks: the mean difference, p of Wilcoxon's signed-rank test; over data sets: the same with the mean of a set as
one observation, because tasks of a set share their rows. A difference below 0.0005 is a tie. Surely: on how many tasks
the folds differ at 0.05 by the corrected resampled t-test (Nadeau, Bengio 2003); by chance it would be 5 %.
"""

FURTHER_HEAD = """On ten folds once: {names}. Two chains over tasks, as above.
"""

CHOSEN = """## {kind}: a choice in training

`chosen` takes, in each training part, the chain that has the best F in a cross-validation of that part. {folds} folds.
"""

if __name__ == "__main__":
    main()
