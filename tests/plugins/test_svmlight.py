"""libsvm: the rows are those that scikit-learn reads, widths fit, and what it cannot hold is said."""

import numpy as np
import pytest
from cases import rows, view
from command import output, refusal, run
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import filterkit
from filterkit import FilterkitError

TEXT = "+1 1:0.5   3:-2e-3 # a comment\n\n-1 2:1 \n+1\n-1\t4:7\n"


def test_rows_are_those_of_scikit_learn(tmp_path):
    path = tmp_path / "x.libsvm"
    path.write_text(TEXT)
    data = filterkit.read(path)
    X, y = load_svmlight_file(str(path))
    assert (data.X.toarray() == X.toarray()).all() and data.schema.sparse
    assert data.schema.class_attribute.values == ("-1", "1") and data.y.tolist() == (y > 0).tolist()
    assert list(data.schema.names) == ["f1", "f2", "f3", "f4", "class"]


@pytest.mark.parametrize("base", [0, 1])
def test_scikit_learn_reads_what_is_written(base, tmp_path):
    random = np.random.default_rng(1)
    X = random.random((40, 7)) * (random.random((40, 7)) < 0.4)
    y = random.integers(0, 3, 40).astype(float)
    dump_svmlight_file(X, y, str(tmp_path / "x.svm"), zero_based=base == 0)
    form = f"libsvm:base={base},features=7"
    data = filterkit.read(tmp_path / "x.svm", format=form)
    assert np.allclose(data.X.toarray(), X, rtol=1e-15)
    filterkit.write(data, tmp_path / "y.svm", format=form)
    again, labels = load_svmlight_file(str(tmp_path / "y.svm"), n_features=7, zero_based=base == 0)
    assert (again.toarray() == data.X.toarray()).all() and (labels == y).all()


def test_test_files_of_other_widths_fit(tmp_path):
    (tmp_path / "train.svm").write_text("1 1:1 4:2\n-1 2:1\n1 3:1\n-1 1:3\n")
    (tmp_path / "test.svm").write_text("1 1:2\n-1 9:1\n")
    done = run("--save m.chain --to csv --test test.svm o.csv train.svm max", cwd=tmp_path)
    assert done.stderr.startswith("filterkit: warning: CSV does not tell labels") and done.stderr.count("\n") == 1
    assert done.stdout.startswith("f1,f2,f3,f4,class\n0.5,0,0,1,1\n")
    assert (tmp_path / "o.csv").read_text() == "f1,f2,f3,f4,class\n1,0,0,0,1\n0,0,0,0,-1\n"
    pipe = "--load m.chain --from libsvm --to csv -"
    assert run(pipe, input="1 1:2\n-1 9:1\n", cwd=tmp_path).stdout == (tmp_path / "o.csv").read_text()


def test_zero_with_a_sign_is_the_label_0(tmp_path):
    (tmp_path / "x.svm").write_text("-0 1:2\n1 1:1\n")
    assert filterkit.read(tmp_path / "x.svm").schema.class_attribute.values == ("0", "1")


def test_rows_of_a_pipe_are_passed_on():
    assert output("--from libsvm --to libsvm -", input=TEXT) == "1 1:0.5 3:-0.002\n-1 2:1\n1\n-1 4:7\n"


def test_errors_name_the_input_and_not_the_copy_that_is_read():
    message = refusal("--from libsvm -", input="PAR1 and more", status=1)
    assert message == "<standard input>: this is Parquet: say --from parquet"


def test_a_header_names_the_attributes(tmp_path):
    header = "@relation h\n@attribute one numeric\n@attribute two numeric\n@attribute kind {0,1}\n@data\n"
    (tmp_path / "h.arff").write_text(header)
    (tmp_path / "x.svm").write_text("0 2:5\n1 1:3\n")
    data = filterkit.read(tmp_path / "x.svm", format=f"libsvm:header={tmp_path}/h.arff")
    assert view(data) == {"one": [0, 3], "two": [5, 0], "kind": ["0", "1"]}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("x 1:1", "'x' is not a number"),
        ("1 1", "'1' is not a pair of index:value, such as 3:0.5"),
        ("1 1:y", "'y' is not a number"),
        ("1 1:inf 2:1e400", "'1e400' is too large: numbers end at 1.8e308; write Infinity if that is meant"),
        ("1 3:1 2:1", "the indices of a row do not ascend; sort them, and name each once"),
        ("1 3:1 3:1", "the indices of a row do not ascend; sort them, and name each once"),
        ("1 0:1", "index 0; say --from libsvm:base=0"),
        ("1 qid:3 1:1", "query numbers"),
        ("1,2 1:1", "several labels of a row, '1,2', are not supported"),
    ],
)
def test_rows_that_cannot_be_read(row, message, tmp_path):
    (tmp_path / "x.svm").write_text(f"1 1:1\n-1 2:1\n{row}\n1 3:1\n")
    assert refusal("-o o x.svm", status=1, cwd=tmp_path).startswith(f"x.svm:3: {message}")
    assert "% 3 rows" in run("--rejects r.txt x.svm", cwd=tmp_path).stdout
    assert row in (tmp_path / "r.txt").read_text()


def test_a_class_that_the_chain_does_not_know_is_missing_if_asked_for(tmp_path):
    (tmp_path / "t.svm").write_text("1 1:2\n-1 2:3\n")
    (tmp_path / "x.svm").write_text("1 1:2\n7 2:3\n")
    run("--save chain -o o t.svm", cwd=tmp_path)
    said = refusal("--load chain -o o x.svm", status=1, cwd=tmp_path)
    assert said.startswith("x.svm:2: the class 7 is not among -1, 1; --unseen missing (in")
    done = run("--unseen missing --load chain --to csv x.svm", cwd=tmp_path)
    assert done.stdout == "f1,f2,class\n2,0,1\n0,3,\n"
    assert "x.svm: --unseen missing: attribute 'class': 1 undeclared value is missing, in row 2\n" in done.stderr


@pytest.mark.parametrize("index", [4_194_305, 99_999_999])
def test_an_index_does_not_make_millions_of_attributes(index, tmp_path):
    (tmp_path / "x.svm").write_text(f"1 1:1\n-1 {index}:2\n")
    for form, message in (
        ("libsvm", f"x.svm: there is an index of {index} or more; "),
        ("libsvm:features=3", "2: "),
    ):
        with pytest.raises(FilterkitError, match=message):
            filterkit.read(tmp_path / "x.svm", format=form)


@pytest.mark.parametrize(
    ("columns", "weights", "message"),
    [
        ({"a": ["x", "y"]}, None, "LIBSVM holds only numbers, but attribute 'a' is "),
        ({"a": [1, 2], "class": ["no", "yes"]}, [1, 2], "cannot hold the weights of rows"),
        ({"a": [1, 2], "class": ["no", None]}, None, "cannot hold a missing class, as in row 2"),
    ],
)
def test_what_it_cannot_hold_is_said(columns, weights, message, tmp_path):
    with pytest.raises(FilterkitError, match=message):
        filterkit.write(rows(columns, weights=weights), tmp_path / "x.svm")


@pytest.mark.parametrize("row", ["1 1:2 2:9007199254740993", "9007199254740993 1:2"])
def test_whole_numbers_that_would_be_rounded_are_refused(row, tmp_path):
    path = tmp_path / "x.svm"
    path.write_text(f"1 1:{2**60}\n{row}\n")
    with pytest.raises(FilterkitError, match=r"svm:2: 9007199254740993 has more digits .*; write 9007199254740993\.0"):
        filterkit.read(path)
    path.write_text(f"1 1:{2**60}\n{row}\n".replace("993", "993.0"))
    assert len(filterkit.read(path)) == 2


@pytest.mark.parametrize(
    ("labels", "written", "told"),
    [
        (["u", "v"], ["0", "1"], "'u' is 0, 'v' is 1"),
        (["007", "8"], ["007", "8"], "'007' is 7"),
        (["1", "1.0"], ["0", "1"], "'1' is 0, '1.0' is 1"),
        (["3", "1"], ["3", "1"], ""),
    ],
)
def test_labels_that_are_not_their_numbers_are_told(labels, written, told, tmp_path, capsys):
    filterkit.write(rows({"a": [1, 1], "class": labels}), tmp_path / "x.svm")
    assert [line.split()[0] for line in (tmp_path / "x.svm").read_text().splitlines()] == written
    expected = f"LIBSVM holds numbers instead of the labels of the class 'class': {told}\n" if told else ""
    said = capsys.readouterr().err
    assert said.endswith(expected) and bool(said) == bool(told)
