"""Every stage on every sample of the kit."""

import functools
import os

import numpy as np
import pytest
from agreement import sample

import filterkit
from filterkit import testing
from filterkit.plugin.registry import get_registry

# What stages refuse: samples without one nominal class, without enough rows to learn from, with missing values, ...
NO_CLASS = "multi-label no-class"
UNFIT = f"no-features {NO_CLASS}"
FEW_ROWS = "no-rows one-row"
NOTHING_TO_LEARN = f"all-kinds all-kinds-sparse constant {FEW_ROWS} one-class no-class no-features"
NOT_SMALL_COUNTS = "dense-two-classes sparse-many-classes all-kinds no-class many-digits"
NOT_ZERO_OR_ONE = (
    f"dense-two-classes dense-three-classes many-digits sparse-two-classes sparse-many-classes multi-label "
    f"{NOTHING_TO_LEARN}"
)
NOT_NUMERIC = "all-kinds all-kinds-sparse constant no-rows one-class no-features"
NOT_NUMBERS = "all-kinds all-kinds-sparse constant no-features"
SPARSE = "sparse-two-classes sparse-many-classes zeros-and-ones multi-label"
NO_CUT = "dense-two-classes sparse-two-classes sparse-many-classes constant one-class"  # so few rows say too little
NO_TEXT = f"dense-two-classes dense-three-classes many-digits {SPARSE} constant {FEW_ROWS} one-class no-class"

# Each stage, with the samples that it refuses. Metrics differ only in a formula, so each kind is here once.
STAGES = {
    "shape": UNFIT,
    "shape --zero": UNFIT,
    "shape --no-zero --neighbors 1": UNFIT,
    "shape --method logodds --prior class": UNFIT,
    "shape --method isotonic": UNFIT,
    "shape --beside --neighbors 5% --prior class --strength 5 --center --weight 0.15": UNFIT,
    "shape --beside --auto": UNFIT,
    "shape --beside --cross-fit 2": f"{FEW_ROWS} {UNFIT}",
    "shape --except ?": f"constant no-features {NO_CLASS}",
    "shape --cross-fit 2": f"{FEW_ROWS} {UNFIT}",
    "shape --cross-fit 3 --auto --zero": f"{FEW_ROWS} no-features {NO_CLASS}",
    "bns": UNFIT,
    "bns --score-only": UNFIT,
    "bns --multiply": UNFIT,
    "ig --combine mean": UNFIT,
    "chi": UNFIT,
    "fisher --alpha 0.3": UNFIT,
    "dfreq": "no-features",
    "rand": "no-features",
    "su": UNFIT,
    "oner --score-only": UNFIT,
    "correlation": UNFIT,
    "relieff --neighbors 2": f"no-rows {UNFIT}",
    "relieff --multiply": f"no-rows {UNFIT}",
    "cfs": f"no-rows {UNFIT}",
    "cfs --no-locally-predictive --stale 1": f"{NO_CUT} {FEW_ROWS} {UNFIT}",
    "select --by gainratio --top 2": UNFIT,
    "normal --subset 1/2": f"{FEW_ROWS} one-class {UNFIT}",
    "normal --multiply": f"{FEW_ROWS} one-class {UNFIT}",
    "select --by bns --top 2": UNFIT,
    "select --by ig --spread --top 1": UNFIT,
    "select --min-count 1 --max-fraction 0.9": f"{FEW_ROWS} constant many-digits no-features",
    "l1": "",
    "l2": "",
    "max --norm 2": "",
    "tfidf": "",
    "range": "",
    "standardize": "",
    "impute": "",
    "sklearn --class sklearn.preprocessing.MaxAbsScaler": NOT_NUMERIC,
    "sklearn --class sklearn.preprocessing.StandardScaler --set with_std=False": f"{NOT_NUMERIC} {SPARSE}",
    "binary": "",
    "ordinal": NOT_SMALL_COUNTS,
    "ordinal --real": "sparse-many-classes",
    "bins": NO_CLASS,
    "bins --method frequency --bins 3": "sparse-many-classes",
    "onehot": "",
    "project --components 3": NOT_NUMBERS,
    "project --components 70 --seed 7 --prefix p": NOT_NUMBERS,
    "svd --components 2": f"no-rows {NOT_NUMBERS}",
    "svd": f"no-rows {NOT_NUMBERS}",
    "label --positive yes": f"dense-three-classes sparse-many-classes {NO_CLASS}",
    "nominal": "",
    "nominal --only @string --only @date": "",
    "numeric --codes": "",
    "numeric --only @string --only @date --invalid missing": "",
    "string": "",
    "string --only @date --only @numeric": "",
    "date": "",
    "date --only @string --invalid missing --format yyyy": "",
    "class none": "multi-label",
    "class first": "multi-label no-features",
    "where 'not is_missing(ATT1)'": "",
    "set 'n = is_missing(ATT1)'": "",
    "set \"n = if(is_missing(ATT1), 'a', 'b')\"": "",
    "set 'n = ATT1'": "",
    "map 'VALUE + 1'": "",
    "map --only @numeric 'VALUE / MAX'": "",
    "rows 2-3,last": "",
    "distinct": "",
    "agree --chain 'impute onehot svm' --folds 2": f"all-kinds one-class {NO_CLASS}",
    "smote": f"all-kinds all-kinds-sparse constant {UNFIT}",
    "balance": NO_CLASS,
    "balance --by drop": NO_CLASS,
    "sample --rows 4 --replace": "no-rows",
    "sample --fraction 1 --replace --bias 1": NO_CLASS,
    "id": "",
    "reorder --first last": "",
    "recode --sort": "",
    "recode --rare 2 --fill other": "",
    "vary": "",
    "vary --equal 0.5": "",
    "limit --min 0.5 --upper 0.8": "",
    "limit --lower 0.2 --outside missing": "",
    "outliers": "",
    "noise": NO_CLASS,
    "noise --only @nominal --share 0.5": "",
    "words --hash 10": NO_TEXT,
    "words --keep 3": NO_TEXT,
    "remove --range 1": "dense-three-classes multi-label",
    "keep --range 1-2": "",
    "rename --find '^' --replace bb": "",
    "head 2": "",
    "sample --fraction 1/2": "",
    "split --fold 2/2": FEW_ROWS,
    "split --fold 1/2 --rest --seed 1": FEW_ROWS,
    "shuffle": "",
    f"write {os.devnull}": "",
    "adaboost-mh --rounds 5": NOT_ZERO_OR_ONE,
    "mp-boost --rounds 5": NOT_ZERO_OR_ONE,
    "svm": NOTHING_TO_LEARN,
    "svm --c 0.1,1 --calibrate --folds 2": NOTHING_TO_LEARN,
    "aisvm": NOTHING_TO_LEARN,
    "aisvm --high 0.3 --length squared --steps 2": NOTHING_TO_LEARN,
    "neighbors --k 3": NOTHING_TO_LEARN,
    "neighbors --distance euclidean": NOTHING_TO_LEARN,
    "predict LogisticRegression --set C=10": NOTHING_TO_LEARN,
    "predict RandomForestClassifier --set n_estimators=3": NOTHING_TO_LEARN.replace(" constant", ""),
    "predict KNeighborsClassifier --set n_neighbors=2": f"zeros-and-ones {NOTHING_TO_LEARN}",
    "predict LinearSVC --grid C=0.1,1 --folds 2": NOTHING_TO_LEARN,
    "predict HistGradientBoostingClassifier --set max_iter=2": f"{SPARSE} {NOTHING_TO_LEARN}",
}


# Each form of rows: dense with many digits, sparse, and all kinds of attributes with weights and missing values. Those
# further are checked for the first options of each stage, and those of few rows for what becomes of values; the samples
# left differ in what stages refuse.
ENOUGH = ("many-digits", "sparse-two-classes", "all-kinds")
FURTHER = ("multi-label", "constant")
OF_FEW_ROWS = ("one-row", "no-rows", "one-class", "no-class")

# The samples have at most seven rows. These files have enough for folds, neighbours and cut points. The others repeat
# them.
FILES = ("mixed", "sparse-counts-multiclass")

# Of each stage, what stands first; but of stages that differ in a formula alone, one stands for all.
ALIKE = {"ig", "chi", "fisher", "oner", "correlation", "dfreq", "l1", "max", "mp-boost"}
NAMED = {text.partition(" ")[0]: text for text in reversed(STAGES)}
FIRST = [text for name, text in NAMED.items() if name not in ALIKE]

# On one sample, the first that the first options do not refuse: what a stage keeps of other options and prints, and
# what the chain and `testing.refusal` do for all of them.
ONCE = (
    testing.check_other_instances_have_no_effect,
    testing.check_nothing_is_printed,
    testing.check_missing_first_column_is_refused,
    testing.check_refusal_is_one_line_stage_error,
)
OTHERS = [each for each in testing.CHECKS if each not in ONCE]
VALUES = [
    testing.check_schema_is_what_comes_out,
    testing.check_zeros_stay_zeros,
    testing.check_missing_values_stay,
    testing.check_missing_values_do_not_spread,
    testing.check_numbers_stay_numbers,
    testing.check_a_saved_chain_is_the_same,
    testing.check_column_order_and_class_are_unused,
    testing.check_excepted_columns_are_left_alone,
]
# These may differ in the last digits, or between blocks of more rows.
DIGITS = [testing.check_blocks_do_not_matter, testing.check_memory_does_not_matter]
ROWS = [*DIGITS, testing.check_the_order_of_rows_does_not_matter]
# What can be found of rows that are refused.
REFUSING = [testing.check_refusal_is_one_line_stage_error, testing.check_blocks_do_not_matter]


def checks_of(text, name):
    """The checks of a stage on a sample."""
    refused = STAGES[text].split()
    if name in refused:
        return REFUSING
    if text not in FIRST:
        return DIGITS if name == "many-digits" else OTHERS
    if name == next(each for each in (*ENOUGH, *testing.SAMPLES) if each not in refused):
        return testing.CHECKS
    return OTHERS if name in ENOUGH + FURTHER else VALUES if name in OF_FEW_ROWS else []


rows_of = functools.cache(testing.sample)


def stage_of(text):
    (stage,) = filterkit.chain(text).stages
    return stage


def check(checks, stage, data):
    """Run some checks of `testing.check_stage`; returns the refusal, if any."""
    found = testing.Findings(testing.BASIC_CHECKS)
    found.run(checks, stage, {"": data})
    found.raise_any()
    return testing.refusal(stage, data)


def test_every_stage_is_in_the_list():
    names = {stage_of(text).name for text in STAGES}
    assert names | set(get_registry().metrics) == set(get_registry().stages)


@pytest.mark.parametrize("text", STAGES)
def test_a_stage_conforms(text):
    stage, refused = stage_of(text), STAGES[text].split()
    testing.check_declaration(stage)
    assert set(refused) < set(testing.SAMPLES)
    for name in testing.SAMPLES if text in FIRST else ENOUGH:
        refusal = check(checks_of(text, name), stage, rows_of(name))
        assert (refusal is not None) == (name in refused), f"{name}: {refusal or 'is accepted; take it out of STAGES'}"


@pytest.mark.parametrize("text", [*FIRST, *(text for text in STAGES if "--cross-fit" in text)])
def test_a_stage_conforms_on_more_rows(text):
    for name in FILES:
        data = sample(name)
        refusal = check(ROWS, stage_of(text), data.take(np.arange(0, len(data), len(data) // 20)))
        assert refusal is None or STAGES[text], f"{text} refuses no sample, but {name}: {refusal}"
