"""Results: averages, tests and best variants of hand-made numbers, and their way through a CSV file."""

import csv
import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_results import NAN, drawn, result, table
from scipy.stats import wilcoxon

from filterkit import FilterkitError
from filterkit.evaluation.measures import EARLY_MEASURES, OF_CLASSES
from filterkit.evaluation.regression import OF_NUMBERS
from filterkit.evaluation.results import Results, joined_points, mean, read_results, read_several, summed_confusions
from filterkit.evaluation.runner import Result


def equal(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


# ---- the cube -------------------------------------------------------------------------------------


@pytest.mark.parametrize("holes", [0, 0.3])
def test_values_are_found_at_task_fold_share_and_chain(holes):
    cube = drawn(3, 4, 2, 2, holes=holes)
    results = Results(table(cube, (0.1, 0.5)))
    assert results.tasks == [("d0", "t"), ("d1", "t"), ("d2", "t")]
    assert (results.chains, results.shares) == (["a", "b"], [0.1, 0.5])
    np.testing.assert_array_equal(results.values("f1"), cube)


def test_rows_in_any_order_give_the_same_results():
    rows = table(drawn(2, 3, 2, 2), (0.1, 0.5))
    mixed = [rows[0], *np.random.default_rng(0).permutation(np.array(rows[1:], object)).tolist()]
    mixed = [Result(*row) for row in mixed]
    results = Results(mixed)
    places = [
        (results.tasks.index(row[:2]), row.fold, row.share, results.chains.index(row.chain)) for row in results.rows
    ]
    assert places == sorted(places) and len(set(places)) == len(rows)
    cube = results.values("auc")
    for row in rows:
        c, s = results.chains.index(row.chain), results.shares.index(row.share)
        assert cube[results.tasks.index(row[:2]), row.fold, c, s] == row.values["auc"]


def test_missing_results_are_nan():
    results = Results([result("a", 0.5), result("b", 0.25, fold=2), result("a", 0.75, task="u", share=0.1)])
    cube = results.values("accuracy")
    assert cube.shape == (2, 3, 2, 2)
    known = ~np.isnan(cube)
    assert cube[known].tolist() == [0.5, 0.25, 0.75]
    assert np.argwhere(known).tolist() == [[0, 0, 0, 1], [0, 2, 1, 1], [1, 0, 0, 0]]


def test_each_measure_has_its_own_values():
    results = Results([result("a", 0.5, auc=0.75, f1=NAN)])
    assert [results.values(name).item() for name in ("auc", "accuracy")] == [0.75, 0.5]
    assert np.isnan(results.values("f1"))


# ---- averages -------------------------------------------------------------------------------------


def test_a_mean_leaves_nan_out():
    equal(mean(np.array([[1.0, NAN, 3], [NAN, NAN, NAN]]), 1), [2, NAN])
    equal(mean(np.array([[1.0, NAN], [3, NAN]]), 0), [2, NAN])


def test_the_folds_of_one_task_are_the_units():
    cube = drawn(1, 5, 3, 2)
    results = Results(table(cube, (0.1, 0.9)))
    equal(results.units("f1"), cube[0])
    summary = results.summary("f1")
    assert summary.shape == (3, 2, 2)
    equal(summary[..., 0], cube[0].mean(axis=0))
    equal(summary[..., 1], cube[0].std(axis=0, ddof=1) / np.sqrt(5))


def test_tasks_are_averaged_over_their_folds_first():
    """However many folds of each task have a value."""
    cube = drawn(4, 3, 2, 1, holes=0.25)
    cube[2, :, 1] = NAN
    results = Results(table(cube))
    with warnings.catch_warnings(action="ignore"):  # about means of nothing
        by_task = np.nanmean(cube, axis=1)
    equal(results.units("f1"), by_task)
    equal(results.summary("f1")[..., 0], np.nanmean(by_task, axis=0))
    known = (~np.isnan(by_task)).sum(axis=0)
    assert known.tolist() == [[4], [3]]
    equal(results.summary("f1")[..., 1], np.nanstd(by_task, axis=0, ddof=1) / np.sqrt(known))


def test_one_value_has_no_standard_error():
    equal(Results(table([[[[0.5]], [[NAN]]]])).summary("f1"), [[[0.5, NAN]]])
    equal(Results(table([[[[NAN]], [[NAN]]]])).summary("f1"), [[[NAN, NAN]]])


def test_paired_tests_over_tasks_are_those_of_wilcoxon():
    cube = drawn(6, 2, 3, 2)
    results = Results(table(cube, (0.1, 0.9)))
    by_task = cube.mean(axis=1)
    for one, other, share in [(0, 1, 0), (2, 0, 1), (1, 2, 1)]:
        a, b = by_task[:, one, share], by_task[:, other, share]
        equal(results.paired("f1", one, other, share), ((a - b).mean(), wilcoxon(a - b).pvalue))


def test_a_paired_test_over_folds_worked_by_hand():
    """Differences 1, 2, 3 of three folds with 10 test rows for 90 others: t = 2 / √(1/3 + 1/9), 2 degrees of freedom,
    where p = 1 − t / √(t² + 2)."""
    results = Results(table([[[[1.0], [0.0]], [[2.0], [0.0]], [[3.0], [0.0]]]]))
    t = 2 / np.sqrt(1 / 3 + 1 / 9)
    equal(results.paired("f1", 0, 1, 0), (2, 1 - t / np.sqrt(2 + t * t)))
    equal(results.paired("f1", 1, 0, 0), (-2, 1 - t / np.sqrt(2 + t * t)))


def test_results_of_other_splits_are_not_paired():
    rows = table([[[[1.0], [0.0], [0.0]], [[2.0], [0.0], [1.0]]]])
    splits = {"a": "x", "b": "y", "c": "x"}
    results = Results(row._replace(split=splits[row.chain]) for row in rows)
    assert results.unpaired() and not Results(rows).unpaired()
    equal(results.paired("f1", 0, 1, 0), (NAN, NAN))
    assert results.paired("f1", 0, 2, 0)[0] == 1
    assert (len(results.ranked("f1", 0)), len(Results(rows).ranked("f1", 0))) == (0, 1)


def test_pairs_with_nan_are_left_out():
    results = Results(table([[[[1.0], [0.0]], [[NAN], [5.0]], [[2.0], [0.0]], [[3.0], [0.0]], [[3.0], [NAN]]]]))
    assert results.paired("f1", 0, 1, 0)[0] == 2


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
    assert results.methods() == ["bns", "ig", "chi"]
    # Means over folds are compared: 0.55 of bns/500, not 0.9; 0.85 of ig at another share.
    equal(results.best_of_methods("f1"), [[0.55, 0.5, NAN], [0.5, 0.85, 0.4]])


# ---- files ----------------------------------------------------------------------------------------

ODD = ['a, b "c"', "select --by 'x y' svm", "ünïcode – 漢", "", " blank ", "two\nlines", "=1+1", "nan"]


def round_trip(rows, path):
    results = Results(rows)
    path.write_text(results.text(), encoding="utf-8", newline="")
    return results.rows, read_results(str(path))


def test_a_file_holds_all_results(tmp_path):
    rows = [
        Result(
            name,
            ODD[-1 - i],
            i,
            1 / (i + 3),
            ODD[i - 3],
            7,
            3,
            1e-9 / 3,
            dict(zip(OF_CLASSES, column, strict=True)),
            "5f",
            name,
            choice=ODD[i - 2],
            fold_name=ODD[i - 4],
        )
        for (i, name), column in zip(enumerate(ODD), drawn(len(ODD), len(OF_CLASSES), holes=0.2).tolist(), strict=True)
    ]
    written, found = round_trip(rows, tmp_path / "r.csv")
    assert repr(found) == repr(written)
    known = [str, str, int, float, str, int, int, float, dict, str, str, type(None), str]
    kinds = [*known, *[type(None)] * 3, str, tuple, str, type(None)]
    assert [type(part) for part in found[0]] == kinds


@given(
    st.lists(st.floats(0, 1) | st.just(NAN), min_size=len(OF_CLASSES), max_size=len(OF_CLASSES)), st.floats(1e-9, 0.99)
)
def test_numbers_come_back_to_the_last_bit(tmp_path_factory, values, share):
    row = Result("d", "t", 3, share, "c", 1, 2, 0.1 + 0.2, dict(zip(OF_CLASSES, values, strict=True)))
    written, found = round_trip([row], tmp_path_factory.getbasetemp() / "r.csv")
    assert repr(found) == repr(written) == repr([row])


def test_properties_come_back(tmp_path):
    known = result("a", 0.5)._replace(positives=7, columns=3, nonzeros=1 / 3)
    written, found = round_trip([known, result("b", 0.5)], tmp_path / "r.csv")
    assert found == written and (found[0].positives, found[0].columns, found[0].nonzeros) == (7, 3, 1 / 3)
    text = (tmp_path / "r.csv").read_text()
    for wrong in ("-7", "x", "7.5", "nan"):
        (tmp_path / "r.csv").write_text(text.replace(",7,3,", f",{wrong},3,"))
        with pytest.raises(FilterkitError, match=r"r\.csv:2: these are no results"):
            read_results(str(tmp_path / "r.csv"))


def test_a_file_is_plain_csv():
    text = Results([result("a, b", 0.5, auc=NAN)]).text()
    head, row = csv.reader(text.splitlines())
    assert head == [
        "data",
        "task",
        "fold",
        "share",
        "chain",
        "train_rows",
        "test_rows",
        "seconds",
        *OF_CLASSES,
        "split",
        "positive",
        "train_positives",
        "columns",
        "nonzeros",
    ]
    assert row[:8] == ["d", "t", "1", "0.9", "a, b", "90", "10", "1.5"]
    assert dict(zip(head, row, strict=True))["auc"] == ""
    assert text.endswith("\n") and "\r" not in text


def test_results_of_two_files_are_joined(tmp_path):
    cube = drawn(2, 3, 3, 1)
    rows = table(cube)
    parts = [[r for r in rows if r.chain == "a"], [r for r in rows if r.chain != "a"]]
    read = []
    for number, part in enumerate(parts):
        (tmp_path / f"{number}.csv").write_text(Results(part).text())
        read += read_results(str(tmp_path / f"{number}.csv"))
    together = Results(read)
    assert together.chains == ["a", "b", "c"] and together.text() == Results(rows).text()
    equal(together.values("f1"), cube)
    assert together.paired("f1", 0, 2, 0) == Results(rows).paired("f1", 0, 2, 0)


def test_files_of_earlier_versions_are_read(tmp_path):
    """They have fewer measures, and do not say on which rows a chain was measured."""
    (tmp_path / "r.csv").write_text(
        f"{','.join(['data,task,fold,share,chain,train_rows,test_rows,seconds', *EARLY_MEASURES])}\n"
        "d,t,2,0.9,a,90,10,1.5" + ",0.5" * len(EARLY_MEASURES) + "\n"
    )
    (found,) = read_results(str(tmp_path / "r.csv"))
    assert (found.fold, found.split, found.positive) == (1, "", "")
    assert [name for name, value in found.values.items() if value == 0.5] == list(EARLY_MEASURES)


POINTS = [["price", [1.5, 0.1], [1.0, 1e300]], ["n, m", [3.0], [-4.0]]]


def of_numbers(chain="a", points=None, **values):
    found = {name: values.get(name, 0.5) for name in OF_NUMBERS}
    return Result("d", "price", 0, 0.9, chain, 90, 10, 1.5, found, points=points)


def test_results_of_numbers_have_measures_of_their_own(tmp_path):
    rows = [of_numbers(points=POINTS, mae=0.1, r2=NAN), of_numbers("b", points=POINTS)]
    results = Results(rows)
    assert results.measures == OF_NUMBERS and Results([result("a", 0.5)]).measures == OF_CLASSES
    assert Results([*rows, result("a", 0.5)]).measures == (*OF_CLASSES, *OF_NUMBERS)
    for by_class in (False, True):
        (tmp_path / "r.csv").write_text(results.text(by_class))
        found = read_results(str(tmp_path / "r.csv"))
        assert [row.points for row in found] == [POINTS if by_class else None] * 2
        assert repr([row.values for row in found]) == repr([row.values for row in rows])
    assert results.text().splitlines()[0].count("accuracy") == 0
    joined = joined_points(Results([*rows, of_numbers(points=POINTS)._replace(fold=1)]))
    assert [(each.chain, each.group) for each in joined] == [
        ("a", "price"),
        ("a", "n, m"),
        ("b", "price"),
        ("b", "n, m"),
    ]
    assert (joined[0].true, joined[1].predicted) == ([1.5, 0.1] * 2, [-4.0] * 2)


@pytest.mark.parametrize(
    "points", ["[1]", '[["a", [1], []]]', '[["a", ["x"], [1]]]', "[[1, [1], [2]]]", '[["a", [NaN], [1]]]']
)
def test_points_in_a_file_that_are_none_are_refused(points, tmp_path):
    text = Results([of_numbers(points=[["a", [7.0], [8.0]]])]).text(True)
    (tmp_path / "r.csv").write_text(text.replace('[[""a"", [7.0], [8.0]]]', points.replace('"', '""')))
    with pytest.raises(FilterkitError, match=r"r\.csv:2: these are no results"):
        read_results(str(tmp_path / "r.csv"))


def test_the_smaller_error_wins():
    results = Results([of_numbers("a", mae=1.0), of_numbers("b", mae=2.0)])
    wins, _ = results.wins("mae", 0)
    assert (wins[0, 1], wins[1, 0]) == (1, 0)


CONFUSION = [["", ["yes", 'n"o'], [[0, 0, 2.5], [1, 0, 1.0]]], ["l", ["1", "0"], []]]


def test_a_file_may_hold_the_confusion_of_classes(tmp_path):
    rows = [result("a", 0.5)._replace(confusion=CONFUSION), result("b", 0.5)]
    (tmp_path / "r.csv").write_text(Results(rows).text(by_class=True))
    assert [row.confusion for row in read_results(str(tmp_path / "r.csv"))] == [CONFUSION, None]


def test_the_confusion_of_very_many_classes_is_read(tmp_path):
    names = [f"class {number}" for number in range(20_000)]
    row = result("a", 0.5)._replace(confusion=[["", names, [[0, 1, 1.0]]]])
    (tmp_path / "r.csv").write_text(Results([row]).text(by_class=True))
    assert read_results(str(tmp_path / "r.csv"))[0].confusion == row.confusion


DAMAGED = [1, [1], [["", ["a"], [[0, 1, 1.0]]]], [["", ["a"], [[0, 0.5, 1]]]], [[1, [], []]]]


@pytest.mark.parametrize("confusion", DAMAGED)
def test_a_damaged_confusion_is_refused(confusion, tmp_path):
    row = result("a", 0.5)._replace(confusion=confusion)
    (tmp_path / "r.csv").write_text(Results([row]).text(by_class=True))
    with pytest.raises(FilterkitError, match=r"r\.csv:2: these are no results of an evaluation"):
        read_results(str(tmp_path / "r.csv"))


HEAD = ",".join(["data", "task", "fold", "share", "chain", "train_rows", "test_rows", "seconds", *OF_CLASSES])
GOOD = "d,t,0,0.9,a,90,10,1.5" + ",0.5" * len(OF_CLASSES)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", None, "there are no results in it"),
        (HEAD + "\n", None, "there are no results in it"),
        ("@relation r\n@attribute a numeric\n", 2, "these are no results of an evaluation"),
        (f"{HEAD}\n{GOOD}\n{GOOD.replace('0.9', 'much')}\n", 3, "these are no results of an evaluation"),
        (f"{HEAD}\n{GOOD.replace('d,t,0,', 'd,t,0.5,')}\n", 2, "these are no results of an evaluation"),
        (f"{HEAD}\n{GOOD}\n{GOOD}\nd,t,1\n", 4, "these are no results of an evaluation"),
        (f"{HEAD.replace('auc', 'AUC')}\n{GOOD}\n", 2, "these are no results of an evaluation"),
        (f"{HEAD}\n{GOOD.replace('0.5', 'half', 1)}\n", 2, "these are no results of an evaluation"),
        (f'{HEAD}\n"d"x{GOOD}\n', None, "',' expected after '\"'"),
    ],
)
def test_a_file_without_results_is_refused(text, line, problem, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(text)
    place = str(path) if line is None else f"{path}:{line}"
    with pytest.raises(FilterkitError, match=f"^{re.escape(f'{place}: {problem}')}"):
        read_results(str(path))


@pytest.mark.posix
def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for name, problem in [("none.csv", "No such file"), (".", "Is a directory"), ("bytes", "'utf-8' codec can't")]:
        with pytest.raises(FilterkitError, match=f"^{re.escape(str(tmp_path / name))}: {problem}"):
            read_results(str(tmp_path / name))


def test_a_line_that_was_cut_is_refused(tmp_path):
    (tmp_path / "r.csv").write_text(f"{HEAD}\n{GOOD}\n{GOOD[:40]}")
    with pytest.raises(FilterkitError, match=r"r\.csv:3: "):
        read_results(str(tmp_path / "r.csv"))


def test_files_of_several_seeds_are_merged_by_their_splits(tmp_path):
    def write(name, seed, chain, value=0.5):
        rows = [result(chain, value, fold=fold)._replace(split=f"{seed}.{fold}") for fold in range(2)]
        (tmp_path / name).write_text(Results(rows).text())
        return str(tmp_path / name)

    paths = [write("1", 1, "a", 0.25), write("2", 2, "a", 0.5), write("3", 2, "b", 1.0), write("4", 1, "b", 0.75)]
    equal(read_several(paths).values("f1")[0, :, :, 0], [[0.25, 0.75], [0.25, 0.75], [0.5, 1], [0.5, 1]])
    again = write("5", 2, "b")
    message = rf"^{re.escape(paths[2])} and {re.escape(again)} have two results of the chain 'b' on one fold of 'd'; "
    with pytest.raises(FilterkitError, match=message):
        read_several([*paths, again])
    other = write("6", 3, "c")  # of one chain alone, and not paired with the others
    assert read_several([paths[0], other]).unpaired()


# ---- pairs and classes ----------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["f1", "log_loss"])
def test_wins_are_counted_over_tasks_or_folds(measure):
    """On four tasks of two folds; where a chain has no value in a fold, that fold does not count."""
    tasks = [[[0.9, 0.8], [0.7, 0.6]], [[0.5, 0.7], [0.5, 0.3]], [[NAN, 1.0], [0.2, 0.4]], [[0.3, 0.1], [0.3, 0.4]]]
    cube = np.array(tasks)[..., None]
    wins, ties = Results(table(cube)).wins(measure, 0)
    assert wins.tolist() == ([[0, 2], [1, 0]] if measure == "f1" else [[0, 1], [2, 0]])
    assert ties.tolist() == [[4, 1], [1, 4]]
    wins, ties = Results(table(cube[:1])).wins(measure, 0)  # folds of a single task
    assert wins.tolist() == ([[0, 2], [0, 0]] if measure == "f1" else [[0, 0], [2, 0]])
    assert ties.tolist() == [[2, 0], [0, 2]]


def test_results_of_different_splits_are_no_wins():
    rows = [row._replace(split=f"of {row.chain}") for row in table(drawn(4, 2, 2, 1))]
    wins, ties = Results(rows).wins("f1", 0)
    assert wins.tolist() == [[0, 0], [0, 0]] and ties.tolist() == [[4, 0], [0, 4]]


def test_confusion_is_summed_over_folds():
    rows = [
        result("a", 0.5, fold=fold)._replace(confusion=[["kind", ["x", "y"], [[0, 1, 2.0], [1, 1, fold + 1.0]]]])
        for fold in range(3)
    ]
    (found,) = summed_confusions(Results(rows))
    assert found[:5] == ("d", "t", 0.9, "a", "kind")
    assert found.counts.names == ["x", "y"]
    assert found.counts.matrix.tolist() == [[0, 6], [0, 6]]
    assert summed_confusions(Results([result("a", 0.5)])) == []


def test_chains_that_learn_nothing_or_predict_the_same_are_named():
    rows = [result(chain, 0.5, "d", fold=fold) for chain in "abc" for fold in (0, 1)]
    said = {"a": "12", "b": "12", "c": "13"}
    rows = [row._replace(predictions=said[row.chain][row.fold]) for row in rows]
    rows[5] = rows[5]._replace(warnings=["select: ties"])
    assert Results(rows).doubts() == [
        "chain 'c', in 1 of 2 fits, such as: select: ties",
        "the chains 'a' and 'b' predict the same for every test row, in all 2 fits",
    ]
    assert Results([row._replace(predictions="") for row in rows[:4]]).doubts() == []  # as read from a file
