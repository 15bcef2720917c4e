"""``filterkit info``."""

import json
from pathlib import Path

import pytest
from command import output, run


def told(line, **options):
    return output(f"info {line}", **options)


def test_a_table_tells_what_is_in_a_file():
    assert told("../iris.arff").splitlines() == [
        "../iris.arff: dense ARFF, relation 'iris'",
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
    found = json.loads(told("../iris.arff --json"))
    assert (found["rows"], found["class"]["name"], found["kinds"]) == (150, "class", {"numeric": 4, "nominal": 1})
    assert found["class"]["labels"] == {"setosa": 50, "versicolor": 50, "virginica": 50}
    assert found["attributes"][0]["mean"] == pytest.approx(5.843333333333334, rel=1e-15)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("--class 1", "class 'sepal length (cm)': numeric, 4.3 to 7.9, mean 5.843, deviation 0.8281"),
        ("--class none", "no class"),
    ],
)
def test_the_class_is_the_one_that_other_commands_assume(options, line):
    assert told(f"../iris.arff {options}").splitlines()[2] == line


def test_a_numeric_class_is_described():
    target = json.loads(told("../iris.arff --json --class 1"))["class"]
    assert target.pop("mean") == pytest.approx(5.8433333)
    assert target.pop("deviation") == pytest.approx(0.8280661)
    name = "sepal length (cm)"
    assert target == {"number": 1, "name": name, "kind": "numeric", "missing": 0, "least": 4.3, "largest": 7.9}


def test_correlations_with_a_numeric_class_stand_beside_the_values():
    path = Path("a.arff")
    path.write_text("@relation a\n@attribute x numeric\n@attribute y numeric\n@data\n1,2\n2,1\n3,3\n")
    assert told("a.arff --class last").splitlines()[-3:] == [
        "no  name  kind     missing  distinct  correlation  values",
        " 1  x     numeric        0         3       0.5000  1 to 3, mean 2, deviation 1",
        " 2  y     numeric        0         3               1 to 3, mean 2, deviation 1",
    ]
    first, second = json.loads(told("a.arff --json --class last"))["attributes"]
    assert (first["correlation"], "correlation" in second) == (pytest.approx(0.5), False)
    *others, last = told("- --class last", input=path.read_text()).splitlines()
    assert last == "no correlations with the class, because this input can be read only once; save it to a file"
    assert "correlation" not in " ".join(others)
    path.write_text(path.read_text() + "1e999,1\n")
    assert "no correlation with the class: " in run("info a.arff --class last").stdout.splitlines()[-1]


def test_a_numeric_last_attribute_is_no_class():
    Path("y.arff").write_text("@relation r\n@attribute a numeric\n@attribute y numeric\n@data\n1,0\n2,1\n")
    assert told("y.arff").splitlines()[2] == "no class; the last attribute is not nominal (--class names another)"


def test_labels_of_multi_label_data_are_named():
    text = "@relation 'r: -C 2'\n@attribute l1 {0,1}\n@attribute l2 {0,1}\n@attribute a numeric\n@data\n0,1,5\n"
    Path("m.arff").write_text(text)
    assert told("m.arff").splitlines()[2] == "2 labels: 'l1', 'l2'"


DULL = """@relation r
@attribute a numeric
@attribute b numeric
@attribute c numeric
@attribute e numeric
@attribute n {x,y,z}
@data
1,5,1,?,x
2,5,2,?,y
?,5,?,?,x
"""


def test_dull_attributes_are_noted():
    Path("d.arff").write_text(DULL)
    assert told("d.arff").splitlines()[-4:] == [
        "no values: 'e'",
        "the same value in all rows: 'b'",
        "equal: 'a' = 'c'",
        "labels that no row has: 'n' {z}",
    ]
    found = json.loads(told("d.arff --json"))
    assert (found["empty"], found["constant"], found["equal"]) == (["e"], ["b"], [["a", "c"]])


def test_only_the_first_attributes_are_shown():
    lines = told("../fortunes.arff --top 2").splitlines()
    assert [line.split()[:2] for line in lines[6:8]] == [["1", "able"], ["2", "about"]]
    assert lines[8] == "and 2,010 more attributes (--top 2012 or --json)"
    assert told("../wine.arff --top 0").splitlines()[5] == "and 14 attributes (--top 14 or --json)"
