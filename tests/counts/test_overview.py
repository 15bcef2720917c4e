"""Overview: the numbers of numpy and pandas, for any size of blocks and number of jobs."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from agreement import cut, dense, make, sample

from filterkit.counts.overview import Overview, describe_attributes
from filterkit.counts.record import RecordMerger
from filterkit.data.batch import Batch
from filterkit.data.schema import Attribute, Schema


def described(batch):
    """What an overview says of each attribute, by name."""
    return {each["name"]: each for each in describe_attributes(Overview.of(batch))}


@pytest.mark.parametrize("name", ["mixed", "mixed-sparse", "empty"])
def test_numbers_agree_with_pandas(name):
    batch = sample(name, class_="none")
    found = described(batch)
    for attribute, column in zip(batch.schema.features, dense(batch).T):
        each, values = found[attribute.name], pd.Series(column)
        assert each["missing"] == values.isna().sum()
        assert each["distinct"] == values.nunique()
        if attribute.kind == "nominal":
            codes = pd.Categorical(values, categories=range(len(attribute.values)))
            assert list(each["labels"].values()) == codes.value_counts().tolist()
            continue
        assert each["zeros"] == (values == 0).sum()
        numbers = [np.nan if each[key] is None else each[key] for key in ("least", "largest", "mean", "deviation")]
        assert numbers == pytest.approx(values.agg(["min", "max", "mean", "std"]).tolist(), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", ["mixed", "mixed-sparse"])
def test_batches_make_no_difference(name):
    batch = sample(name, class_="none")
    merger = RecordMerger(Overview.of, batch.schema)
    for part in cut(batch, 3):
        merger.add(merger.compute(part))
    found, whole = merger.merge(), Overview.of(batch)
    assert list(describe_attributes(found)) == list(describe_attributes(whole))
    assert found.find_equal_columns() == whole.find_equal_columns()


def test_distinct_values_are_at_most_as_many_as_values_and_exact_for_labels():
    """Hashes of these numbers make an estimate above 2,000."""
    numbers, labels = np.arange(2_000.0), tuple(map(str, range(2_500)))
    schema = Schema("r", [Attribute("number"), Attribute("label", "nominal", labels), Attribute("text", "string")])
    texts = pa.table({"text": [f"s{n}" for n in range(2_000)]})
    batch = Batch(schema, np.stack([numbers * 0.37 + 1, numbers], axis=1), passthrough=texts)
    overview = Overview.of(batch)
    assert overview.distinct.counts[0] > 2_000 and overview.texts.counts[0] > 2_000
    assert [each["distinct"] for each in described(batch).values()] == [2_000] * 3


def test_texts_dates_and_bags_are_described():
    found = described(sample("mixed", class_="none"))
    notes = {"number": 5, "name": "note", "kind": "string", "missing": 2, "distinct": 15, "shortest": 0, "longest": 26}
    dates = {"kind": "date", "missing": 4, "distinct": 33, "least": "2023-11-27", "largest": "2025-03-06"}
    assert found["note"] == notes
    assert found["received"] == {"number": 6, "name": "received"} | dates
    assert found["parts"].keys() == notes.keys()


def test_weights_are_told_and_do_not_count():
    batch = make([[1], [3]], [0, 1], None, weights=[0.5, 4])
    overview = Overview.of(batch)
    assert (overview.least_weight, overview.largest_weight, overview.weight) == (0.5, 4, 4.5)
    assert next(describe_attributes(overview))["mean"] == 2


def test_the_sum_of_weights_does_not_depend_on_the_batches():
    weights = np.random.default_rng(0).random(1000) * 10.0 ** np.arange(-300, 300, 0.6)
    batch = make(np.zeros((1000, 1)), [0] * 1000, weights=weights)
    several = Overview.merge([*map(Overview.of, cut(batch, 7))])
    assert float(several.weight) == math.fsum(weights) == float(Overview.of(batch).weight)
    assert Overview.of(batch.replace(weights=weights + np.inf)).weight == np.inf


def test_infinite_values_are_told_apart(sparse):
    X = np.array([[1.0], [np.inf], [np.nan], [-np.inf], [3.0], [0.0]])
    (found,) = described(Batch(Schema("r", [Attribute("a")]), X).in_form(sparse)).values()
    numbers = {"missing": 1, "distinct": 3, "zeros": 1, "infinite": 2, "least": 0, "largest": 3}
    assert numbers.items() <= found.items()


def test_equal_columns_are_found_also_in_several_batches():
    X = np.random.default_rng(2).integers(0, 2, (90, 5)).astype(float)
    X[:, 3] = X[:, 4] = X[:, 0]
    batch = make(X, [0] * 90, nominal=[4])  # which has labels instead
    assert Overview.merge([*map(Overview.of, cut(batch, 30))]).find_equal_columns() == [[0, 3]]
