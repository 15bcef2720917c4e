"""Overview: the numbers of numpy and pandas, for any size of blocks and number of jobs."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from agreement import sample

import filterkit
from filterkit.arff.form import Arff
from filterkit.counts.overview import Overview, describe_attributes
from filterkit.counts.record import RecordMerger
from filterkit.data.batch import Batch
from filterkit.data.schema import Attribute, Schema
from filterkit.engines.local import LocalEngine
from filterkit.formats.reader import Reader

SAMPLES = ["mixed", "mixed-sparse", "empty"]


def frame_of(name):
    batch = sample(name, class_="none")
    return batch.schema, pd.DataFrame(batch.in_form(False).X, columns=[a.name for a in batch.schema.features])


def overview_of(name, block_size=None, jobs=1):
    with Reader(Arff(), f"arff_samples/{name}.arff", "none", block_size=block_size) as reader:
        merger = RecordMerger(Overview.of, reader.schema)
        for overview in reader.map(merger.compute, LocalEngine(jobs)):
            merger.add(overview)
        return merger.merge()


@pytest.mark.parametrize("name", SAMPLES)
def test_numbers_agree_with_pandas(name):
    schema, frame = frame_of(name)
    found = {each["name"]: each for each in describe_attributes(Overview.of(sample(name, class_="none")))}
    for attribute, column in zip(schema.features, frame):
        values, each = frame[column], found[attribute.name]
        assert each["missing"] == values.isna().sum()
        assert each["distinct"] == values.nunique()
        if attribute.kind == "nominal":
            counts = values.value_counts()
            assert list(each["labels"].values()) == [counts.get(code, 0) for code in range(len(attribute.values))]
            continue
        assert each["zeros"] == (values == 0).sum()
        asked = (values.min(), values.max(), values.mean(), values.std())
        got = (each["least"], each["largest"], each["mean"], each["deviation"])
        for one, other in zip(got, asked):
            assert (one is None and np.isnan(other)) or one == pytest.approx(other, rel=1e-12)


@pytest.mark.parametrize("name", ["mixed", "mixed-sparse"])
def test_blocks_and_jobs_make_no_difference(name):
    whole = overview_of(name)
    found = overview_of(name, 1_001, 2)
    assert list(describe_attributes(found)) == list(describe_attributes(whole))
    assert found.find_equal_columns() == whole.find_equal_columns()


def test_distinct_values_are_at_most_as_many_as_values_and_exact_for_labels():
    """Hashes of these numbers make an estimate above 2,000."""
    values = np.arange(2_000) * 0.37 + 1
    labels = tuple(map(str, range(2_500)))
    schema = Schema("r", [Attribute("number"), Attribute("label", "nominal", labels), Attribute("text", "string")])
    texts = pa.table({"text": [f"s{n}" for n in range(2_000)]})
    batch = Batch(schema, np.stack([values, np.arange(2_000.0)], axis=1), passthrough=texts)
    overview = Overview.of(batch)
    assert overview.distinct.counts[0] > 2_000 and overview.texts.counts[0] > 2_000
    assert [each["distinct"] for each in describe_attributes(overview)] == [2_000] * 3
    holey = batch.replace(X=np.where(np.arange(2_000)[:, None] < 1_990, batch.X, np.nan))
    assert [each["distinct"] for each in describe_attributes(Overview.of(holey))][:2] == [1_990] * 2


def test_texts_dates_and_bags_are_describe_attributes():
    found = {each["name"]: each for each in describe_attributes(overview_of("mixed"))}
    table = filterkit.read("arff_samples/mixed.arff").passthrough
    notes = [text for text in table.column("note").to_pylist() if text is not None]
    assert found["note"] == {
        "number": 5, "name": "note", "kind": "string", "missing": 40 - len(notes), "distinct": len(set(notes)),
        "shortest": min(map(len, notes)), "longest": max(map(len, notes)),
    }  # fmt: skip
    days = [day for day in table.column("received").to_pylist() if day is not None]
    assert (found["received"]["least"], found["received"]["largest"]) == (str(min(days).date()), str(max(days).date()))
    assert found["received"]["distinct"] == len(set(days))
    assert set(found["parts"]) == {"number", "name", "kind", "missing", "distinct", "shortest", "longest"}


def test_weights_are_told_and_do_not_count():
    schema = Schema("r", [Attribute("a", weight=2.0)])
    overview = Overview.of(Batch(schema, np.array([[1.0], [3.0]]), weights=np.array([0.5, 4.0])))
    assert (overview.least_weight, overview.largest_weight, overview.weight) == (0.5, 4, 4.5)
    (found,) = describe_attributes(overview)
    assert (found["mean"], found["weight"]) == (2, 2)


def test_the_sum_of_weights_does_not_depend_on_the_batches():
    weights = np.random.default_rng(0).random(1000) * 10.0 ** np.arange(-300, 300, 0.6)
    batch = Batch(Schema("r", [Attribute("a")]), np.zeros((1000, 1)), weights=weights)
    several = [Overview.of(batch.rows(i, i + 7)) for i in range(0, 1000, 7)]
    assert float(Overview.merge(several).weight) == math.fsum(weights) == float(Overview.of(batch).weight)
    assert Overview.of(batch.replace(weights=np.full(1000, np.inf))).weight == np.inf


@pytest.mark.parametrize("sparse", [False, True])
def test_infinite_values_are_told_apart(sparse):
    X = np.array([[1.0, np.inf], [np.inf, np.nan], [3.0, -np.inf], [0.0, 0.0]])
    batch = Batch(Schema("r", [Attribute("a"), Attribute("b")]), X).in_form(sparse)
    a, b = describe_attributes(Overview.of(batch))
    assert (a["infinite"], a["missing"], a["zeros"], a["least"], a["largest"], a["distinct"]) == (1, 0, 1, 0, 3, 3)
    assert (b["infinite"], b["missing"], b["zeros"], b["least"]) == (2, 1, 1, 0)


def test_equal_columns_are_found_also_in_several_batches():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (90, 5)).astype(float)
    X[:, 3] = X[:, 0]
    attributes = [*(Attribute(f"a{i}") for i in range(4)), Attribute("n", "nominal", ("x", "y"))]
    X[:, 4] = X[:, 0]
    batches = [Batch(Schema("r", attributes), X[i : i + 30]) for i in (0, 30, 60)]
    assert Overview.merge([*map(Overview.of, batches)]).find_equal_columns() == [
        [0, 3]
    ]  # the nominal one has labels instead
