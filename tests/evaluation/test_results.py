"""Results: averages, tests and best variants of hand-made numbers, and their way through a CSV file."""

import csv
import re
import warnings

import numpy as np
import pytest
from made_results import NAN, drawn, result, table
from scipy.stats import wilcoxon

from filterkit import FilterkitError
from filterkit.evaluation.measure_names import OF_CLASSES, OF_NUMBERS
from filterkit.evaluation.results import Results, pool_predictions_over_folds, read_results_file, read_results_files
from filterkit.evaluation.runner import Result


def equal(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


# ---- the cube -------------------------------------------------------------------------------------


def test_values_are_found_at_task_fold_share_and_chain():
    """A result that is missing is NaN."""
    cube = drawn(3, 4, 2, 2, holes=0.3)
    results = Results(row for row in table(cube, (0.1, 0.5)) if not np.isnan(row.values["f1"]))
    assert results.tasks == [("d0", "t"), ("d1", "t"), ("d2", "t")]
    assert (results.chains, results.shares) == (["a", "b"], [0.1, 0.5])
    np.testing.assert_array_equal(results.get_values_of_measure("f1"), cube)


def test_rows_in_any_order_give_the_same_results():
    rows = table(drawn(2, 3, 2, 2), (0.1, 0.5))
    order = [0, *np.random.default_rng(0).permutation(np.arange(1, len(rows)))]
    assert Results(rows[i] for i in order).format_csv() == Results(rows).format_csv()


# ---- averages -------------------------------------------------------------------------------------


def test_tasks_are_averaged_over_their_folds_first():
    """However many folds of each task have a value; the folds of a single task are averaged themselves."""
    cube = drawn(4, 3, 2, 1, holes=0.25)
    cube[2, :, 1] = NAN
    with warnings.catch_warnings(action="ignore"):  # about means of nothing
        by_task = np.nanmean(cube, axis=1)
    for values, units in ((cube, by_task), (drawn(1, 5, 3, 2), drawn(1, 5, 3, 2)[0])):
        results = Results(table(values, (0.1, 0.9)[: values.shape[-1]]))
        equal(results.compute_values_by_task_or_fold("f1"), units)
        equal(results.compute_means_and_standard_errors("f1")[..., 0], np.nanmean(units, axis=0))
        known = (~np.isnan(units)).sum(axis=0)
        equal(
            results.compute_means_and_standard_errors("f1")[..., 1], np.nanstd(units, axis=0, ddof=1) / np.sqrt(known)
        )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [0.5, NAN])
def test_one_value_has_no_standard_error(value):
    equal(Results(table([[[[value]], [[NAN]]]])).compute_means_and_standard_errors("f1"), [[[value, NAN]]])


def test_paired_tests_over_tasks_are_those_of_wilcoxon():
    cube = drawn(6, 2, 3, 2)
    difference = (cube[:, :, 2, 1] - cube[:, :, 0, 1]).mean(axis=1)
    found = Results(table(cube, (0.1, 0.9))).compare_chains("f1", 2, 0, 1)
    equal(found, (difference.mean(), wilcoxon(difference).pvalue))


def test_a_paired_test_over_folds_worked_by_hand():
    """Differences 1, 2, 3 of three folds with 10 test rows for 90 others: t = 2 / √(1/3 + 1/9), 2 degrees of freedom,
    where p = 1 − t / √(t² + 2)."""
    results = Results(table([[[[1.0], [0.0]], [[2.0], [0.0]], [[3.0], [0.0]]]]))
    t = 2 / np.sqrt(1 / 3 + 1 / 9)
    equal(results.compare_chains("f1", 0, 1, 0), (2, 1 - t / np.sqrt(2 + t * t)))
    equal(results.compare_chains("f1", 1, 0, 0), (-2, 1 - t / np.sqrt(2 + t * t)))


@pytest.mark.filterwarnings("error")
def test_chains_without_results_at_a_share_are_compared_without_a_warning():
    rows = [row for row in table(drawn(1, 3, 3, 2), (0.5, 0.9)) if row.chain == "c" or row.share < 0.9]
    equal(Results(rows).compare_chains("f1", 0, 1, 1), (NAN, NAN))


def test_results_of_other_splits_are_not_paired():
    rows = table([[[[1.0], [0.0], [0.0]], [[2.0], [0.0], [1.0]]]])
    splits = {"a": "x", "b": "y", "c": "x"}
    results = Results(row._replace(split=splits[row.chain]) for row in rows)
    assert results.has_unpaired_splits() and not Results(rows).has_unpaired_splits()
    equal(results.compare_chains("f1", 0, 1, 0), (NAN, NAN))
    assert results.compare_chains("f1", 0, 2, 0)[0] == 1
    assert results.rank_chains("f1", 0).n_tasks == 0
    equal(Results(rows).rank_chains("f1", 0).mean_ranks, [1, 3, 2])
    equal(Results(rows).rank_chains("log_loss", 0).mean_ranks, [3, 1, 2])
    wins, ties = results.count_wins_and_ties("f1", 0)
    assert wins.tolist() == [[0, 0, 2], [0, 0, 0], [0, 0, 0]] and ties.tolist() == np.diag([2, 2, 2]).tolist()


# ---- methods --------------------------------------------------------------------------------------


def test_the_best_variant_of_each_method_worked_by_hand():
    names = ["bns/100", "bns/500", "ig", "chi/all/of", "bns/"]
    values = np.array(
        [  # (tasks, folds, chains)
            [[0.1, 0.9, 0.5, NAN, 0.0], [0.6, 0.2, 0.5, NAN, 0.0]],
            [[0.3, NAN, 0.2, 0.4, 0.1], [0.3, 0.5, 0.1, NAN, 0.1]],
        ]
    )
    rows = [result(names[c], value, f"d{t}", fold=f) for (t, f, c), value in np.ndenumerate(values)]
    rows += [result("ig", 0.9, "d1", fold=0, share=0.1), result("ig", 0.8, "d1", fold=1, share=0.1)]
    results = Results(rows)
    assert results.methods == ["bns", "ig", "chi"]
    # Means over folds are compared: 0.55 of bns/500, not 0.9; 0.85 of ig at another share.
    equal(results.compute_best_mean_of_each_method("f1"), [[0.55, 0.5, NAN], [0.5, 0.85, 0.4]])


# ---- files ----------------------------------------------------------------------------------------

ODD = ['a, b "c"', "select --by 'x y' svm", "ünïcode – 漢", "", " blank ", "two\nlines", "=1+1", "nan"]
CONFUSION = [["", ["yes", 'n"o'], [[0, 0, 2.5], [1, 0, 1.0]]], ["l", ["1", "0"], []]]
POINTS = [["price", [1.5, 0.1], [1.0, 1e300]], ["n, m", [3.0], [-4.0]]]
FIRST = ["data", "task", "fold", "share", "chain", "train_rows", "test_rows", "seconds"]
HEAD = ",".join([*FIRST, *OF_CLASSES])
GOOD = "d,t,1,0.9,a,90,10,1.5" + ",0.5" * len(OF_CLASSES)


def test_a_file_holds_all_results(tmp_path):
    numbers = drawn(len(ODD), len(OF_CLASSES), holes=0.2).tolist()
    rows = [
        Result(
            *(name, ODD[-1 - i], i, 1 / (i + 3), ODD[i - 3], 7, 3, 1e-9 / 3),
            dict(zip(OF_CLASSES, column, strict=True)),
            "5f",
            name,
            CONFUSION if i else None,
            ODD[i - 2],
            train_positives=7 if i else None,
            columns=3,
            nonzeros=1 / 3,
            fold_name=ODD[i - 4],
        )
        for (i, name), column in zip(enumerate(ODD), numbers, strict=True)
    ]
    results = Results(rows)
    (tmp_path / "r.csv").write_text(results.format_csv(by_class=True), encoding="utf-8", newline="")
    assert repr(read_results_file(str(tmp_path / "r.csv"))) == repr(results.rows)


def test_a_file_is_plain_csv():
    text = Results([result("a, b", 0.5, auc=NAN)]).format_csv()
    head, row = csv.reader(text.splitlines())
    assert head == [*FIRST, *OF_CLASSES, "split", "positive", "train_positives", "columns", "nonzeros"]
    assert dict(zip(head, row, strict=True))["auc"] == ""
    assert text.endswith("\n") and "\r" not in text


def test_files_of_earlier_versions_are_read(tmp_path):
    """They have fewer measures, and do not say on which rows a chain was measured."""
    head = ",".join([*FIRST, *OF_CLASSES[:12]])
    (tmp_path / "r.csv").write_text(f"{head}\nd,t,2,0.9,a,90,10,1.5{',0.5' * 12}\n")
    (found,) = read_results_file(str(tmp_path / "r.csv"))
    assert (found.fold, found.split, found.positive) == (1, "", "")
    assert [name for name, value in found.values.items() if value == 0.5] == list(OF_CLASSES[:12])


def of_numbers(chain="a", **values):
    found = {name: values.get(name, 0.5) for name in OF_NUMBERS}
    return Result("d", "price", 0, 0.9, chain, 90, 10, 1.5, found, points=POINTS)


def test_results_of_numbers_have_measures_of_their_own(tmp_path):
    rows = [of_numbers(mae=0.1, r2=NAN), of_numbers("b")]
    results = Results(rows)
    assert results.measures == OF_NUMBERS and Results([result("a", 0.5)]).measures == OF_CLASSES
    assert Results([*rows, result("a", 0.5)]).measures == (*OF_CLASSES, *OF_NUMBERS)
    wins, _ = results.count_wins_and_ties("mae", 0)
    assert (wins[0, 1], wins[1, 0]) == (1, 0)  # the smaller error
    (tmp_path / "r.csv").write_text(results.format_csv(by_class=True))
    found = read_results_file(str(tmp_path / "r.csv"))
    assert repr([(row.values, row.points) for row in found]) == repr([(row.values, row.points) for row in rows])
    joined = pool_predictions_over_folds(Results([*rows, of_numbers()._replace(fold=1)]), "points")
    places = [(each.chain, each.group) for each in joined]
    assert places == [("a", "price"), ("a", "n, m"), ("b", "price"), ("b", "n, m")]
    assert (joined[0].counts_or_numbers[0].tolist(), joined[1].counts_or_numbers[1].tolist()) == (
        [1.5, 0.1] * 2,
        [-4.0] * 2,
    )


def test_the_confusion_of_very_many_classes_is_read(tmp_path):
    names = [f"class {number}" for number in range(20_000)]
    row = result("a", 0.5)._replace(confusion=[["", names, [[0, 1, 1.0]]]])
    (tmp_path / "r.csv").write_text(Results([row]).format_csv(by_class=True))
    assert read_results_file(str(tmp_path / "r.csv"))[0].confusion == row.confusion


def text_of(row, **parts):
    """The text of a file with one result."""
    return Results([row._replace(**parts)]).format_csv(by_class=True)


ROW = result("a", 0.5)
NONE = "this line is not a result of an evaluation"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (HEAD + "\n", None, "the file contains no results"),
        ("@relation r\n@attribute a numeric\n", 2, NONE),
        (f"{HEAD}\n{GOOD.replace('d,t,1,', 'd,t,0.5,')}\n", 2, NONE),
        (f"{HEAD}\n{GOOD}\n{GOOD.replace('d,t,1,', 'd,t,0,')}\n", 3, NONE),  # folds count from 1
        *((f"{HEAD}\n{GOOD.replace(',0.9,', f',{share},')}\n", 2, NONE) for share in ("0", "nan", "1.1")),
        (f"{HEAD}\n{GOOD.replace(',90,10,', ',0,10,')}\n", 2, NONE),
        (f"{HEAD}\n{GOOD},0.5\n", 2, NONE),
        (f"{HEAD},fold_name,choice\n{GOOD},,a\n{GOOD},\n", 3, NONE),
        (f"{HEAD}\n{GOOD}\n{GOOD[:40]}", 3, NONE),
        (f"{HEAD}\n{GOOD.replace('0.5', 'half', 1)}\n", 2, NONE),
        ("\udcff", None, "'utf-8' codec can't"),
        (f'{HEAD}\n"d"x{GOOD}\n', None, "',' expected after '\"'"),
        (text_of(ROW, train_positives=7, columns=3).replace(",7,3,", ",-7,3,"), 2, NONE),
        *((text_of(ROW, confusion=wrong), 2, NONE) for wrong in (1, [1], [["", ["a"], [[0, 1, 1.0]]]], [[1, [], []]])),
        *((text_of(of_numbers(), points=wrong), 2, NONE) for wrong in ([1], [["a", [1.0], []]], [["a", ["x"], [1]]])),
    ],
)
def test_a_file_without_results_is_refused(text, line, problem, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(text, errors="surrogateescape")
    name = str(path) if line is None else f"{path}:{line}"
    with pytest.raises(FilterkitError, match=f"^{re.escape(f'{name}: {problem}')}"):
        read_results_file(str(path))


def test_files_of_several_seeds_are_merged_by_their_splits(tmp_path):
    def write(name, seed, chain, value=0.5):
        rows = [result(chain, value, fold=fold)._replace(split=f"{seed}.{fold}") for fold in range(2)]
        (tmp_path / name).write_text(Results(rows).format_csv())
        return str(tmp_path / name)

    paths = [write("1", 1, "a", 0.25), write("2", 2, "a", 0.5), write("3", 2, "b", 1.0), write("4", 1, "b", 0.75)]
    equal(
        read_results_files(paths).get_values_of_measure("f1")[0, :, :, 0],
        [[0.25, 0.75], [0.25, 0.75], [0.5, 1], [0.5, 1]],
    )
    again = write("5", 2, "b")
    message = f"{paths[2]} and {again} have two results of the chain 'b' on one fold of 'd'; "
    with pytest.raises(FilterkitError, match=f"^{re.escape(message)}"):
        read_results_files([*paths, again])
    other = write("6", 3, "c")  # of one chain alone, and not paired with the others
    assert read_results_files([paths[0], other]).has_unpaired_splits()


# ---- pairs and classes ----------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["f1", "log_loss"])
def test_wins_are_counted_over_tasks_or_folds(measure):
    """On four tasks of two folds; where a chain has no value in a fold, that fold does not count."""
    tasks = [[[0.9, 0.8], [0.7, 0.6]], [[0.5, 0.7], [0.5, 0.3]], [[NAN, 1.0], [0.2, 0.4]], [[0.3, 0.1], [0.3, 0.4]]]
    cube = np.array(tasks)[..., None]
    for values, better, worse, ties in ((cube, 2, 1, 1), (cube[:1], 2, 0, 0)):  # tasks, and folds of a single task
        wins, equal_ones = Results(table(values)).count_wins_and_ties(measure, 0)
        expected = np.array([[0, better], [worse, 0]])
        assert wins.tolist() == (expected if measure == "f1" else expected.T).tolist()
        assert equal_ones[0, 1] == equal_ones[1, 0] == ties


def test_confusion_is_summed_over_folds():
    rows = [
        result("a", 0.5, fold=fold)._replace(confusion=[["kind", ["x", "y"], [[0, 1, 2.0], [1, 1, fold + 1.0]]]])
        for fold in range(3)
    ]
    (found,) = pool_predictions_over_folds(Results(rows), "confusion")
    assert found[:5] == ("d", "t", 0.9, "a", "kind")
    assert found.counts_or_numbers.true_or_predicted_values == ["x", "y"]
    assert found.counts_or_numbers.confusion_matrix.tolist() == [[0, 6], [0, 6]]
    assert pool_predictions_over_folds(Results([result("a", 0.5)]), "confusion") == []


def test_chains_that_learn_nothing_or_predict_the_same_are_named():
    rows = [result(chain, 0.5, "d", fold=fold) for chain in "abc" for fold in (0, 1)]
    said = {"a": "12", "b": "12", "c": "13"}
    rows = [row._replace(predictions=said[row.chain][row.fold]) for row in rows]
    rows[5] = rows[5]._replace(warnings=["select: ties"])
    assert Results(rows).list_warning_messages() == [
        "chain 'c', in 1 of 2 fits, such as: select: ties",
        "the chains 'a' and 'b' predict the same for every test row, in all 2 fits",
    ]
    assert (
        Results([row._replace(predictions="") for row in rows[:4]]).list_warning_messages() == []
    )  # as read from a file
