"""The data of the page of a report; tests/pages/test_report.py looks at the page itself."""

import base64
import gzip
import json
import re

import numpy as np
from made_results import NAN, drawn, table

from filterkit.evaluation import report_page as module
from filterkit.evaluation.measure_names import OF_NUMBERS
from filterkit.evaluation.report_page import make_report_page
from filterkit.evaluation.results import Results
from filterkit.evaluation.runner import Result

CONFUSION = [["", ["x", "y"], [[0, 0, 3.0], [0, 1, 1.0]]]]


def made(tasks=4, shares=(0.1, 0.9)):
    rows = table(drawn(tasks, 2, 3, len(shares)), shares)
    return Results(row._replace(confusion=CONFUSION) for row in rows)


def data_of(results):
    text = make_report_page(results, ["f1"], "filterkit report r.csv").decode()
    packed = re.search(r'type="application/gzip;base64">([^<]*)<', text)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_the_data_is_that_of_the_results():
    """What tests/pages/test_report.py does not see."""
    results = Results(row._replace(values=row.values | {"brier": NAN}) for row in made().rows)
    data = data_of(results)
    assert "brier" not in [measure["name"] for measure in data["measures"]]  # nor others without a value
    np.testing.assert_allclose(data["values"]["auc"], results.compute_values_by_task_or_fold("auc"), atol=1e-6)
    for first, second, difference, p in data["tests"]["f1"][0]:
        expected, plain = results.compare_chains("f1", second, first, 0)
        np.testing.assert_allclose(difference, expected)
        assert p == min(1, 3 * plain) or p >= plain
    assert [each["share"] for each in data["confusions"]] == [1] * 12 + [0] * 12  # the largest share first
    assert data["notes"] == []


def test_predicted_numbers_are_in_the_data():
    values = dict.fromkeys(OF_NUMBERS, 0.25)
    points = [["price", [1.0, 2.0], [1.5, 2.5]]]
    row = Result("d", "price", 0, 0.9, "a", 9, 1, 0.1, values, points=points)
    data = data_of(Results([row, row._replace(fold=1)]))
    assert [each["name"] for each in data["measures"]] == list(OF_NUMBERS)
    numbers = {"numbers": [1, 2, 1, 2], "predicted": [1.5, 2.5, 1.5, 2.5]}
    assert data["points"] == [{"task": "d · price", "chain": 0, "share": 0} | numbers]
    assert data["confusions"] == [] and data_of(made())["points"] == []


def test_what_is_too_much_is_left_out_and_told(monkeypatch):
    monkeypatch.setattr(module, "_MOST_ROWS", 3)
    monkeypatch.setattr(module, "_MOST_CELLS", 20)
    data = data_of(made(tasks=5))
    assert len(data["rows"]) == len(data["values"]["f1"]) == 3 and data["units"] == 5
    assert len(data["confusions"]) == 10 and {each["share"] for each in data["confusions"]} == {1}
    assert data["notes"] == [
        "20 of 30 confusion matrices are left out.",
        "The table of tasks has the first 3 of 5 tasks.",
    ]
