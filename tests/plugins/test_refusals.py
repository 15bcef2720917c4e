"""Wrong usage, which is refused before rows are read, and rows that a stage cannot take: a line says what to do."""

import numpy as np
import pytest
from agreement import make, make_labels, sample
from cases import rows
from estimators import weighted

import filterkit
from filterkit import StageError, UsageError


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        ("agree", 'agree: name the stages, as in --chain "impute onehot svm"'),
        ("agree --chain standardize", "agree: --chain 'standardize' must end in a learner"),
        ('agree --chain "\'x"', "agree: --chain: chain ''x': No closing quotation"),
        ("agree --chain 'write x.arff svm'", "agree: --chain: 'write' overwrites its file in each fold"),
        ("agree --chain svm --folds 1", "--folds"),
        ("aisvm --high 1.1", "aisvm: --high must be at most 1, not 1.1"),
        ("aisvm --high -0.1", "aisvm: --high must be at least 0, not -0.1"),
        ("aisvm --steps 0", "aisvm: --steps must be at least 1, not 0"),
        ("aisvm --specificity 2", "aisvm: --specificity must be at most 1, not 2.0"),
        ("aisvm --length long", "'long' is not one of"),
        ("remove", "remove: name attributes with --attribute, --match, --range or --type"),
        ("remove --match '('", r"remove: --match '\('"),
        (f"remove --range 1-{'9' * 5000}", "--range must be numbers and ranges such as"),
        ("rename", "rename: give the text to look for"),
        ("rename --find '['", r"rename: --find '\['"),
        ("reorder", "reorder: name attributes with"),
        ("balance --spread 0.5", r"balance: --spread must be 0 or at least 1, not 0\.5"),
        ("balance --spread inf", "balance: --spread must be a finite number, not inf"),
        ("adaboost-mh --rounds 99999999999", "--rounds must be at most 1,000,000, not 99999999999"),
        ("label", "label: say which class value, with --positive VALUE"),
        ("date --format Q", "date: --format: .*letter 'Q'"),
        ("limit", "limit: give the range with --min, --max, --lower or --upper"),
        ("limit --min 5 --max 1", "limit: --min 5 is above --max 1, so no value is inside"),
        ("limit --lower 0.9 --upper 0.1", "limit: --lower 0.9 is above --upper 0.1"),
        ("bns --alpha 1.5", "--alpha must be at most 1"),
        ("dfreq --alpha 0.5", "no such option"),
        ("select --by su --top 2 --alpha 0.5", "because su looks at all classes at once"),
        ("su --combine max", "no such option"),
        ("neighbors --k 0", "--k must be at least 1"),
        *(
            (f"normal --subset {value}", "--subset must be a share such as 1/4")
            for value in ("0", "3/2", "half", "1e999999999")
        ),
        ("normal --cost 0", "--cost must be above 0"),
        ("recode", "recode: say what to do"),
        ("recode --rename a", "recode: --rename must be like OLD=NEW, not 'a'"),
        *((f"rows {value}", "rows: ") for value in ("0", "3-2", "a")),
        ("head", "head: missing argument 'ROWS'"),
        ("head -1", "no such option '-1'"),
        ("sample", "say how many rows to keep, with either --fraction or --rows"),
        ("sample --fraction 1/2 --rows 3", "say how many rows to keep"),
        ("sample --fraction 1.5", r"--fraction must be a share such as 1/4 or 0\.25, at most 1, not '1\.5'"),
        *(
            (f"sample --fraction {value}", "must be a share")
            for value in ("1/0", "1e999999999", "1/1e999999999", f"1/{'9' * 5000}")
        ),
        (f"split --fold 1/{'9' * 5000}", "--fold must be"),
        ("split --fold 0/3", r"--fold must be like 3/10, the third of 10 folds \(of at least 2\), not '0/3'"),
        (
            "sample --rows 100000000000000000000 --replace",
            "--rows must be at most 2,147,483,647, not 100000000000000000000",
        ),
        ("split --fold 1/1", "--fold must be"),
        ("select --by bns", "select: say how many columns to keep"),
        ("select --top 0", "--top must be at least 1, not 0"),
        ("select --fraction 0 --by ig", "--fraction must be above 0"),
        ("select --fraction 1.5 --by ig", "--fraction must be at most 1, not 1.5"),
        ("select --top 5 --by igg", "no metric 'igg'; did you mean 'ig'"),
        ("select --top 5 --spread", "--spread, --alpha and --combine need --by METRIC"),
        ("select --top 5 --by dfreq --spread", "--alpha and --combine, because dfreq ignores"),
        *(
            (f"shape --neighbors {value}", "shape: --neighbors must be a number of rows such as 15, or a share of all")
            for value in ("1.5", "101%", "%", "-5%", "nan", "1e2%", "٣", f"{'9' * 2000}")
        ),
        ("shape --strength 0", "shape: --strength must be at least 1e-09, not 0"),
        ("shape --strength inf", "shape: --strength must be at most 1e"),
        ("shape --weight -1", "shape: --weight must be at least 1e-09, not -1"),
        ("shape --weight inf", "shape: --weight must be at most 1e"),
        ("shape --cross-fit 1", "shape: --cross-fit must be at least 2, not 1"),
        *(
            (f"svm --c {value}", "svm: --c must be a number above 0, or several as 0.1,1,10, not")
            for value in ("0", "-1", "1,inf", "1,,2", "''", "1e400", "1e-400")
        ),
        ("svm --folds 1", "--folds must be at least 2"),
        ("svm --seed -1", "--seed must be at least 0"),
        *(
            (f"svm --class-weights {value}", "balanced, or one weight above 0")
            for value in ("''", "'a'", "'a=0'", "'a=x'", "'=2'", "a=1,a=2")
        ),
        ("recode --rename a=x --rename a=y", "recode: --rename gives 'a' two names; leave one out"),
        ("svm --calibrate --threshold f1", "^svm: --calibrate .* and --threshold .*; use only one$"),
        ("words --pattern '('", r"words: --pattern '\(': "),
        ("words --hash 5 --keep 3", "words: --hash keeps all words; leave out --keep"),
        ("sklearn PCA", "sklearn: 'PCA' is not a stage; write: sklearn --class PCA$"),
        ("sklearn.ensemble.AdaBoostClassifier", "write: predict AdaBoostClassifier$"),
        ("LogisticRegresion", "no stage 'LogisticRegresion'; did you mean 'predict LogisticRegression'[?]$"),
        ("PowerTransformer", "no stage 'PowerTransformer'; write: sklearn --class PowerTransformer$"),
    ],
    ids=lambda text: text[:40],
)
def test_wrong_usage_is_refused(chain, message):
    with pytest.raises(UsageError, match=message) as caught:
        filterkit.chain(chain)
    assert "\n" not in str(caught.value)


def test_the_limits_themselves_and_numbers_larger_than_needed_are_taken():
    filterkit.chain("aisvm --high 0 --specificity 0 --steps 1")
    large = "9" * 400
    for text in ("shape --neighbors", "binary ordinal --max-levels", "head", "normal --model perceptron --seed"):
        filterkit.chain(f"{text} {large} shuffle --seed {large}").fit_transform(sample("iris"))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("chain", "data", "message"),
    [
        ("onehot --only a", {"a": ["x", "y", "z"], "a=y": [1, 2, 3]}, "^onehot: two attributes are named 'a=y'"),
        ("onehot --only b", {"a": [1, 2]}, "^onehot: --only: no attribute is named 'b'"),
        ("bns --only a", {"a": [1, 2]}, "^bns: there is no class"),
        ("sample --rows 5", {"a": [1, 2, 3]}, "sample: --rows 5, but there are only 3"),
        ("split --fold 1/5", {"a": [1, 2, 3]}, "split: --fold 1/5, but there are only 3 rows"),
        (
            "sample --rows 4 --bias 1",
            {"class": ["a", "a", "a", "b"]},
            "class 'b' has 1 of the 2 rows to draw; draw fewer, or use --replace",
        ),
        ("sample --rows 1 --bias 1", {"a": [1, 2]}, "--bias needs a nominal class"),
        ("label --positive x", {"class": ["a", "b"]}, "label: class 'class' has no value 'x'"),
        ("recode --first zzz", {"c": ["red", "green"]}, "recode: --first: no attribute has the label 'zzz'"),
        (
            "recode --rename gren=x",
            {"c": ["red", "green"]},
            "recode: --rename: no attribute has the label 'gren'; did you mean 'green'",
        ),
        ("relieff", make([[0], [1]], [1, np.inf], None), "a value is infinite"),
        ("relieff", make([[0], [np.inf]], [0, 1]), "a value is infinite"),
        ("normal", make([[1], [2]], [1, 1]), "^normal: .*the training rows are all of one class"),
        ("normal", make([[1], [2]], [-1, -1]), "^normal: .*there are no training rows"),
        ("normal", make([[1], [np.inf]], [0, 1]), "^normal: row 2: attribute 'a0' has an infinite value"),
        (
            "aisvm",
            make([[0], [0], [0]], [0, 0, 1]),
            "^aisvm: all training rows are zero, which leaves nothing to learn",
        ),
        (
            "aisvm",
            make([[1e200], [2e200], [-1e200]], [0, 0, 1]),
            "^aisvm: values are too large for their squares; put range or l2 before it",
        ),
        (
            "aisvm",
            make([[1e-200], [2e-200], [0]], [0, 0, 1]),
            "^aisvm: values are too small for their squares; put range or l2 before it",
        ),
        ("svd", make([[1.0, np.nan]], [0]), "svd: row 1: attribute 'a1' is missing; put a stage before it that fills"),
        ("svd", make([[0.0, 0.0]], [0]), "svd: all training values are 0, so there are no components"),
        ("svd", make(np.empty((0, 2)), []), "svd: there are no training rows"),
        ("svd", make(np.zeros((2, 2001)), [0, 0], sparse=True), "svd: all training values are 0"),
        ("svd", make(np.zeros((0, 2001)), [], sparse=True), "svd: there are no training rows"),
        ("svd", make(np.full((1, 2001), np.nan), [0]), "svd: row 1: attribute 'a0' is missing"),
        ("svd", make([[2.0]], [0], nominal=[0]), "svd: attribute 'a0' is nominal with more than two values"),
        (
            "svm",
            rows({"s": ["a b", "c"], "class": ["x", "y"]}, texts=["s"]),
            "no numeric or nominal attribute to work on; put words before it, which counts the words of 's'",
        ),
        ("words", {"a": [1]}, "^words: there is no string attribute"),
        (
            "words --attribute class",
            rows({"text": ["a"], "class": ["x"]}, texts=["text"]),
            "--attribute: there is no string attribute 'c",
        ),
        ("words --stop nowhere", rows({"text": ["a"]}, texts=["text"]), "^words: --stop nowhere: No such file"),
        (
            "svm --c 1,10",
            make([[0], [1], [2]], [0, 1, 2], "abc"),
            "^svm: .*no class has two training rows, of which one could be",
        ),
        (
            "svm --c 1,10 --folds 4",
            make([[0], [1], [2]], [0, 1, 1]),
            "^svm: .*--folds 4: there are only 3 training rows",
        ),
        (
            "svm",
            make([[1e200], [2e200], [-1e200]], [0, 0, 1]),
            "^svm: .*values are too large for their products; put standardize",
        ),
        (
            "svm --class-weights maybe=2",
            make([[0], [1], [2]], [0, 1, 1]),
            "^svm: .*--class-weights: 'maybe' is not a class; name one of no, yes",
        ),
        (
            "svm --class-weights balanced",
            make_labels([[1], [2]], [[0, 1], [1, 0]]),
            "^svm: .*--class-weights needs a class, but there are labels; leave it out",
        ),
        ("svm --threshold f1", sample("iris"), "^svm: --threshold needs two classes, or labels: of several"),
        (
            "svm --threshold f1",
            make_labels([[1], [2], [3]], [[0, 1], [1, 2], [2, 0]], "xyz"),
            "^svm: --threshold needs two cl",
        ),
        (
            "adaboost-mh --rounds 2",
            make([[1, 0], [0, 2.5], [1, 1]], [0, 1, 1]),
            "^adaboost-mh: attribute 'a1' has the value 2.5, but must be 0 or 1; put binary",
        ),
        (
            "agree --chain svm",
            sample("mixed"),
            "^agree: --chain 'svm': svm: attribute 'reason' is nominal with more than two",
        ),
        ("tfidf --tf log", {"a": [-1, 1]}, "^tfidf: .*a value is negative, so it has no logarithm"),
        ("ftest", make([[1], [2]], [0, np.inf], None), "row 2: attribute 'class' has an infinite value"),
        ("predict GaussianNB", sample("fortunes"), "GaussianNB takes no sparse rows; put svd before it, or make"),
        (
            "predict KNeighborsClassifier",
            weighted(sample("iris")),
            "KNeighborsClassifier takes no weights, and a row has the weight 3; take another one, such as LogisticRegr",
        ),
        ("predict SVC --set C={{}}", sample("iris"), "SVC: The 'C' parameter of SVC must be"),
        (
            "predict VotingClassifier --set estimators=GaussianNB,LinearSVC --grid weights=None --criterion auc",
            sample("iris"),
            "--criterion auc is undefined on all inner folds",
        ),
        ("noise", {"a": [1]}, "noise: there is no nominal class to change"),
        ("ordinal", {"a": [0.5, -1, 0]}, "attribute 'a' has the value -1, which is not a count; --real takes numbers"),
        ("ordinal --real", rows({"a": [-1, 1]}, sparse=True, zero=True), "attribute 'a' has the value -1"),
        ("bins --method width --bins 2", make([[-4.0], [0]], [0, 1], sparse=True), "'a0' has a cut point below 0"),
    ],
)
def test_rows_that_a_stage_cannot_take_are_refused(chain, data, message):
    with pytest.raises(StageError, match=message):
        filterkit.chain(chain).fit_transform(rows(data) if isinstance(data, dict) else data)
