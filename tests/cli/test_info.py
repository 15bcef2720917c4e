"""``filterkit info``."""

import json

import pytest
from command import run

IRIS = "arff_samples/iris.arff"


def told(*arguments, **options):
    done = run("info", *arguments, **options)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_table_tells_what_is_in_a_file():
    assert told(IRIS).splitlines() == [
        "arff_samples/iris.arff: dense ARFF, relation 'iris'",
        "150 rows, 5 attributes: 4 numeric, 1 nominal",
        "class 'class', the last attribute: setosa 50, versicolor 50, virginica 50",
        "0 missing values; 0.0% of the numbers are zero",
        "",
        "no  name               kind     missing  distinct  values",
        " 1  sepal length (cm)  numeric        0        35  4.3 to 7.9, mean 5.843, deviation 0.8281",
        " 2  sepal width (cm)   numeric        0        23  2 to 4.4, mean 3.057, deviation 0.4359",
        " 3  petal length (cm)  numeric        0        43  1 to 6.9, mean 3.758, deviation 1.765",
        " 4  petal width (cm)   numeric        0        22  0.1 to 2.5, mean 1.199, deviation 0.7622",
        " 5  class              nominal        0         3  setosa 50, versicolor 50, virginica 50",
    ]


def test_json_has_everything():
    found = json.loads(told(IRIS, "--json"))
    assert (found["rows"], found["class"]["name"], found["kinds"]) == (150, "class", {"numeric": 4, "nominal": 1})
    assert found["class"]["labels"] == {"setosa": 50, "versicolor": 50, "virginica": 50}
    assert [each["name"] for each in found["attributes"]][4:] == ["class"]
    assert found["attributes"][0]["mean"] == pytest.approx(5.843333333333334, rel=1e-15)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ([], "class 'class', the last attribute: setosa 50, versicolor 50, virginica 50"),
        (["--class", "1"], "class 'sepal length (cm)': numeric, 4.3 to 7.9, mean 5.843, deviation 0.8281"),
        (["--class", "none"], "no class"),
    ],
)
def test_the_class_is_the_one_that_other_commands_assume(options, line):
    assert told(IRIS, *options).splitlines()[2] == line


def test_a_numeric_class_is_described():
    target = json.loads(told(IRIS, "--json", "--class", "1"))["class"]
    assert target.pop("mean") == pytest.approx(5.8433333)
    assert target.pop("deviation") == pytest.approx(0.8280661)
    name = "sepal length (cm)"
    assert target == {"number": 1, "name": name, "kind": "numeric", "missing": 0, "least": 4.3, "largest": 7.9}


def test_correlations_with_a_numeric_class_stand_beside_the_values(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text("@relation a\n@attribute x numeric\n@attribute y numeric\n@data\n1,2\n2,1\n3,3\n")
    assert told(path, "--class", "last").splitlines()[-3:] == [
        "no  name  kind     missing  distinct  correlation  values",
        " 1  x     numeric        0         3       0.5000  1 to 3, mean 2, deviation 1",
        " 2  y     numeric        0         3               1 to 3, mean 2, deviation 1",
    ]
    first, second = json.loads(told(path, "--json", "--class", "last"))["attributes"]
    assert (first["correlation"], "correlation" in second) == (pytest.approx(0.5), False)
    once = told("-", "--class", "last", input=path.read_text()).splitlines()
    assert once[-1] == "no correlations with the class, as this input can be read only once"
    assert "correlation" not in " ".join(once[:-1])
    path.write_text(path.read_text() + "1e999,1\n")
    done = run("info", path, "--class", "last")
    assert "no correlation with the class: " in done.stdout.splitlines()[-1]


def test_a_numeric_last_attribute_is_no_class(tmp_path):
    (tmp_path / "y.arff").write_text("@relation r\n@attribute a numeric\n@attribute y numeric\n@data\n1,0\n2,1\n")
    line = told("y.arff", cwd=tmp_path).splitlines()[2]
    assert line == "no class; the last attribute is not nominal (--class names another)"


def test_labels_of_multi_label_data_are_named(tmp_path):
    text = "@relation 'r: -C 2'\n@attribute l1 {0,1}\n@attribute l2 {0,1}\n@attribute a numeric\n@data\n0,1,5\n"
    (tmp_path / "m.arff").write_text(text)
    assert told("m.arff", cwd=tmp_path).splitlines()[2] == "2 labels: 'l1', 'l2'"


def test_dull_attributes_are_noted(tmp_path):
    lines = ["@relation r", "@attribute a numeric", "@attribute b numeric", "@attribute c numeric"]
    lines += ["@attribute e numeric", "@attribute n {x,y,z}", "@data", "1,5,1,?,x", "2,5,2,?,y", "?,5,?,?,x"]
    (tmp_path / "d.arff").write_text("\n".join(lines) + "\n")
    assert told("d.arff", cwd=tmp_path).splitlines()[-4:] == [
        "no values: 'e'",
        "the same value in all rows: 'b'",
        "equal: 'a' = 'c'",
        "labels that no row has: 'n' {z}",
    ]
    found = json.loads(told("d.arff", "--json", cwd=tmp_path))
    assert (found["empty"], found["constant"], found["equal"]) == (["e"], ["b"], [["a", "c"]])


def test_only_the_first_attributes_are_shown():
    lines = told("arff_samples/fortunes.arff", "--top", "2").splitlines()
    assert [line.split()[:2] for line in lines[6:8]] == [["1", "able"], ["2", "about"]]
    assert lines[8] == "and 2,010 more attributes (--top 2012 or --json)"
    assert told("arff_samples/fortunes.arff", "--top", "0").splitlines()[5] == (
        "and 2,012 attributes (--top 2012 or --json)"
    )


def test_a_pipe_is_read():
    with open(IRIS) as file:
        assert told("-", input=file.read()).splitlines()[1:] == told(IRIS).splitlines()[1:]


def test_control_characters_stay_out_of_the_terminal(tmp_path):
    text = "@relation 'r\\n'\n@attribute 'a\x1b[31m' {'x\x1b',y}\n@data\n'x\x1b'\n"
    (tmp_path / "c.arff").write_text(text)
    assert "\x1b" not in told("c.arff", cwd=tmp_path)
    json.loads(told("c.arff", "--json", cwd=tmp_path))


def test_bad_input_is_an_error_in_a_line(tmp_path):
    (tmp_path / "b.arff").write_text("@relation r\n@attribute a numeric\n@data\nx\n")
    done = run("info", "b.arff", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "filterkit: b.arff:4: attribute 'a': 'x' is not a number\n"
