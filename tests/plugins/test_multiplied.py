"""`--multiply`: every scorer multiplies values by its score, and a product of weights is what it says."""

import numpy as np
import pytest
from agreement import dense, sample, shared, sparsely

import filterkit
from filterkit.plugin.registry import registry
from filterkit.stages.metric_scaling import ScalingOptions

SCORERS = sorted(name for name, stage in registry().stages.items() if issubclass(stage, ScalingOptions))


def test_every_stage_that_scales_by_a_score_is_meant():
    assert sorted(name for name, stage in registry().stages.items() if stage.group == "Scale by a score") == SCORERS
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


def test_idf_counts_beside_the_score_only_with_multiply():
    """The weights of tfidf, by scikit-learn, times the score of the counts, which idf does not change."""
    from sklearn.feature_extraction.text import TfidfTransformer

    batch = shared("text/oh0.wc.arff.gz", positive="Ethics").rows(0, 100)
    weights = TfidfTransformer(norm=None).fit_transform(batch.X)
    scores = np.array([dict(a.scores)["bns"] for a in filterkit.chain("bns --score-only").fit(batch).schema.features])

    def out(text):
        return filterkit.chain(text).fit(batch).transform(batch).X

    product = out("tfidf bns --multiply")
    np.testing.assert_allclose(product.toarray(), weights.toarray() * scores, rtol=1e-12)
    assert abs(out("tfidf bns") - out("tfidf --idf none bns")).max() < 1e-12
    assert abs(product - out("tfidf --idf none bns --multiply")).max() > 1
