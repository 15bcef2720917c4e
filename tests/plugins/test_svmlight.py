"""libsvm: the rows are those that scikit-learn reads, widths fit, and what it cannot hold is said."""

import numpy as np
import pytest
from agreement import make, sample
from command import run
from scipy.sparse import csr_array
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import filterkit
from filterkit import FilterkitError, testing

TEXT = "+1 1:0.5   3:-2e-3 # a comment\n\n-1 2:1 \n+1\n-1\t4:7\n"


def test_rows_are_those_of_scikit_learn(tmp_path):
    path = tmp_path / "x.libsvm"
    path.write_text(TEXT)
    data = filterkit.read(path)
    X, y = load_svmlight_file(str(path))
    assert (data.X.toarray() == X.toarray()).all() and data.schema.sparse
    assert data.schema.class_attribute.values == ("-1", "1") and data.y.tolist() == (y > 0).astype(int).tolist()
    assert [a.name for a in data.schema.attributes] == ["f1", "f2", "f3", "f4", "class"]
    for size in (10, 25):
        parts = filterkit.batches(path, block_size=size)
        assert testing.same(filterkit.plugin.concatenate(parts, data.schema), data)


@pytest.mark.parametrize("base", [0, 1])
def test_scikit_learn_reads_what_is_written(base, tmp_path):
    random = np.random.default_rng(1)
    X = random.random((40, 7)) * (random.random((40, 7)) < 0.4)
    y = random.integers(0, 3, 40).astype(float)
    dump_svmlight_file(csr_array(X), y, str(tmp_path / "x.svm"), zero_based=base == 0)
    form = f"libsvm:base={base},features=7"
    data = filterkit.read(tmp_path / "x.svm", format=form)
    assert np.allclose(data.X.toarray(), X, rtol=1e-15)
    filterkit.write(data, tmp_path / "y.svm", format=form)
    again, labels = load_svmlight_file(str(tmp_path / "y.svm"), n_features=7, zero_based=base == 0)
    assert (again.toarray() == data.X.toarray()).all() and (labels == y).all()
    assert testing.same(filterkit.read(tmp_path / "y.svm", format=form).replace(schema=data.schema), data)


def test_test_files_of_other_widths_fit(tmp_path):
    (tmp_path / "train.svm").write_text("1 1:1 4:2\n-1 2:1\n1 3:1\n-1 1:3\n")
    (tmp_path / "test.svm").write_text("1 1:2\n-1 9:1\n")
    done = run("--save", "m.chain", "--to", "csv", "--test", "test.svm", "o.csv", "train.svm", "max", cwd=tmp_path)
    assert done.stderr.startswith("filterkit: warning: CSV does not tell labels") and done.stderr.count("\n") == 1
    assert done.returncode == 0 and done.stdout.startswith("f1,f2,f3,f4,class\n0.5,0,0,1,1\n")
    assert (tmp_path / "o.csv").read_text() == "f1,f2,f3,f4,class\n1,0,0,0,1\n0,0,0,0,-1\n"
    pipe = ("--load", "m.chain", "--from", "libsvm", "--to", "csv", "-")
    assert run(*pipe, input="1 1:2\n-1 9:1\n", cwd=tmp_path).stdout == (tmp_path / "o.csv").read_text()
    piped = run("--from", "libsvm", "--to", "libsvm", "-", input=TEXT, cwd=tmp_path)
    assert (piped.returncode, piped.stdout) == (0, "1 1:0.5 3:-0.002\n-1 2:1\n1\n-1 4:7\n")


def test_a_header_names_the_attributes(tmp_path):
    (tmp_path / "h.arff").write_text(
        "@relation h\n@attribute one numeric\n@attribute two numeric\n@attribute kind {0,1}\n@data\n"
    )
    (tmp_path / "x.svm").write_text("0 2:5\n1 1:3\n")
    data = filterkit.read(tmp_path / "x.svm", format=f"libsvm:header={tmp_path}/h.arff")
    assert [a.name for a in data.schema.attributes] == ["one", "two", "kind"] and data.y.tolist() == [0, 1]
    assert data.X.toarray().tolist() == [[0, 5], [3, 0]]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("x 1:1", "'x' is not a number"),
        ("1 1", "'1' is not a pair of index:value"),
        ("1 1:y", "'y' is not a number"),
        ("1 1:inf 2:1e400", "'1e400' is too large: numbers end at 1.8e308; write Infinity if that is meant"),
        ("1 3:1 2:1", "the indices of a row do not ascend; sort them, and name each once"),
        ("1 0:1", "index 0; say --from libsvm:base=0"),
        ("1 qid:3 1:1", "query numbers"),
        ("1,2 1:1", "several labels, '1,2', are not supported"),
    ],
)
def test_rows_that_cannot_be_read(row, message, tmp_path):
    (tmp_path / "x.svm").write_text(f"1 1:1\n-1 2:1\n{row}\n1 3:1\n")
    done = run("x.svm", cwd=tmp_path)
    assert done.returncode == 1 and f"filterkit: x.svm:3: {message}" in done.stderr and done.stderr.count("\n") == 1
    done = run("--rejects", "r.txt", "x.svm", cwd=tmp_path)
    assert done.returncode == 0 and row in (tmp_path / "r.txt").read_text() and "% 3 rows" in done.stdout


def test_a_class_that_the_chain_does_not_know_is_missing_if_asked_for(tmp_path):
    (tmp_path / "t.svm").write_text("1 1:2\n-1 2:3\n")
    (tmp_path / "x.svm").write_text("1 1:2\n7 2:3\n")
    assert run("--save", "chain", "t.svm", cwd=tmp_path).returncode == 0
    done = run("--load", "chain", "x.svm", cwd=tmp_path)
    assert done.returncode == 1 and "x.svm:2: the class 7 is not among -1, 1; --unseen missing (in" in done.stderr
    done = run("--unseen", "missing", "--load", "chain", "--to", "csv", "x.svm", cwd=tmp_path)
    assert done.stdout == "f1,f2,class\n2,0,1\n0,3,\n"
    assert "x.svm: --unseen missing: attribute 'class': 1 undeclared value is missing, in row 2\n" in done.stderr


@pytest.mark.parametrize("index", [4_194_305, 99_999_999])
def test_an_index_does_not_make_millions_of_attributes(index, tmp_path):
    (tmp_path / "x.svm").write_text(f"1 1:1\n-1 {index}:2\n")
    done = run("x.svm", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"filterkit: x.svm: there is an index of {index} or more; if ")
    done = run("--from", "libsvm:features=3", "x.svm", cwd=tmp_path)
    assert done.returncode == 1 and "x.svm:2: " in done.stderr


def test_what_it_cannot_hold_is_said(tmp_path):
    with pytest.raises(FilterkitError, match=r"LIBSVM holds only numbers, but attribute '.*' is "):
        filterkit.write(sample("mixed"), tmp_path / "x.svm")
    with pytest.raises(FilterkitError, match="cannot hold the weights of rows"):
        filterkit.write(make([[1.0]], [0]).replace(weights=np.array([2.0])), tmp_path / "x.svm")
    with pytest.raises(FilterkitError, match="cannot hold a missing class, as in row 2"):
        filterkit.write(make([[1.0], [2.0]], [0, -1]), tmp_path / "x.svm")


@pytest.mark.parametrize("row", ["1 1:2 2:9007199254740993", "9007199254740993 1:2"])
def test_whole_numbers_that_would_be_rounded_are_refused(row, tmp_path):
    path = tmp_path / "x.svm"
    path.write_text(f"1 1:{2**60}\n{row}\n")
    with pytest.raises(
        FilterkitError, match=r"x.svm:2: 9007199254740993 has more digits .*; write 9007199254740993\.0"
    ):
        filterkit.read(path)
    path.write_text(f"1 1:{2**60}\n{row}\n".replace("993", "993.0"))
    assert len(filterkit.read(path)) == 2


def test_labels_that_are_not_their_numbers_are_told(tmp_path, capsys):
    for labels, written, told in [
        ("{u,v}", ["0", "1"], "'u' is 0, 'v' is 1"),
        ("{007,8}", ["007", "8"], "'007' is 7"),
        ("{1,1.0}", ["0", "1"], "'1' is 0, '1.0' is 1"),
        ("{3,1}", ["3", "1"], ""),
    ]:
        rows = "".join(f"1,{label}\n" for label in labels[1:-1].split(","))
        (tmp_path / "x.arff").write_text(f"@relation r\n@attribute a numeric\n@attribute y {labels}\n@data\n{rows}")
        filterkit.write(filterkit.read(tmp_path / "x.arff"), tmp_path / "x.svm")
        assert [line.split()[0] for line in (tmp_path / "x.svm").read_text().splitlines()] == written
        said = capsys.readouterr().err
        assert (
            said.endswith(f"LIBSVM holds numbers instead of the labels of the class 'y': {told}\n")
            if told
            else not said
        )
