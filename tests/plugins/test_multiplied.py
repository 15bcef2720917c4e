"""`--multiply`: every scorer multiplies values by its score."""

import numpy as np
import pytest
from agreement import dense, sample, sparsely

import filterkit
from filterkit.plugin.registry import get_registry
from filterkit.stages.metric_scaling import ScalingOptions

SCORERS = sorted(name for name, stage in get_registry().stages.items() if issubclass(stage, ScalingOptions))


def test_every_stage_that_scales_by_a_score_is_meant():
    assert sorted(name for name, stage in get_registry().stages.items() if stage.group == "Scale by a score") == SCORERS
    assert len(SCORERS) > 20


@pytest.mark.parametrize("name", SCORERS)
def test_a_value_is_multiplied_by_the_score_of_its_column(name):
    batch = sample("iris").rows(30, 130)  # two of three classes vary in number
    batch = batch.replace(X=np.column_stack([batch.X[:, :3], np.full(len(batch), 2.0)]))
    for each in (batch, sparsely(batch)):
        fitted, divided = (filterkit.chain(f"{name} {option}").fit(each.rows(10, 90)) for option in ("--multiply", ""))
        scores = np.array([dict(a.scores)[name] for a in fitted.schema.features])
        assert scores.tolist() == [dict(a.scores)[name] for a in divided.schema.features]
        scores[3] = 0  # of a constant column
        np.testing.assert_allclose(dense(fitted.transform(each)), dense(each) * scores, rtol=1e-15)
        assert np.abs(dense(divided.transform(each)) - dense(each) * scores).max() > 1e-3
