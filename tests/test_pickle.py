"""Pickles and copies of stages, chains before and after fitting, batches and their parts, also in another process."""

import copy
import copyreg
import io
import pickle

import joblib
import numpy as np
import pytest
from cases import rows
from command import run_python, stdout_of

import filterkit
from filterkit import Chain, FilterkitError, PluginError, RowStage, testing
from filterkit.counts.table import ContingencyTable
from filterkit.evaluation.folds import EvaluationDesign
from filterkit.evaluation.results import Results
from filterkit.evaluation.runner import Evaluator, evaluate_task_folds, parse_named_chain
from filterkit.plugin import Csr, Ragged
from filterkit.plugin.registry import get_registry
from filterkit.stages.options import get_option_values

# Chains of stages of each kind; tests of stages pickle what they fit by `fit` of cases.py.
CHAINS = [
    "",
    "impute",
    "words",
    "agree --chain 'onehot svm' --folds 2",
    "predict DecisionTreeClassifier --set max_depth=2",
    "sklearn --class sklearn.preprocessing.MaxAbsScaler",
    "svm --c 0.1,1 --calibrate --folds 2",
    "binary mp-boost --rounds 3",
    "shape --cross-fit 2 bns l2",
    "impute onehot ig --score-only select --top 2 svm",
]


def by_joblib(thing):
    stream = io.BytesIO()
    joblib.dump(thing, stream)
    stream.seek(0)
    return joblib.load(stream)


WAYS = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "oldest": lambda thing: pickle.loads(pickle.dumps(thing, 2)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "joblib": by_joblib,
}


@pytest.fixture(params=WAYS)
def again(request):
    """Each way to pickle or copy an object."""
    return WAYS[request.param]


@pytest.mark.parametrize("text", CHAINS)
def test_chains_are_pickled_and_copied(text):
    """Fitted on the first two samples that they take; chains of several stages in each way."""
    chain = filterkit.chain(text)
    ways = WAYS.values() if len(chain.stages) > 2 else (WAYS["pickle"], copy.deepcopy)
    fits = 0
    for data in map(testing.sample, testing.SAMPLES):
        try:
            fitted = chain.fit(data)
            expected = fitted.transform(data)
        except FilterkitError:
            continue
        for again in ways:
            copied = again(fitted)
            assert again(chain).stages == copied.chain.stages == chain.stages and copied.incoming == fitted.incoming
            assert testing.same(copied.transform(data), expected)
            assert [again(stage).schema for stage in fitted.stages] == [stage.schema for stage in fitted.stages]
        fits += 1
        if fits == 2:
            break
    assert fits


@pytest.mark.parametrize("text", ["select --by ig --top 1", "svm", "bns --score-only"])
def test_stages_of_plugins_are_pickled_as_their_name_and_options(text):
    (stage,) = filterkit.chain(text).stages
    _, parts = copyreg.dispatch_table[type(stage)](stage)
    assert parts[0] == stage.name and parts[2] == get_option_values(stage)


@pytest.mark.parametrize("name", ["all-kinds", "sparse-two-classes", "multi-label", "no-rows"])
def test_batches_and_their_parts_are_pickled_and_copied(name, again):
    data = testing.sample(name)
    assert testing.same(again(data), data)
    assert again(data.schema) == data.schema
    assert [again(a) for a in data.schema.attributes] == list(data.schema.attributes)
    with pytest.raises(AttributeError, match="not changed in place"):
        again(data).X = None
    scored = filterkit.chain("bns --score-only").fit(testing.sample("sparse-two-classes")).schema  # made when asked for
    assert again(scored) == scored


def test_tables_and_metrics_are_pickled_and_copied(again):
    data = testing.sample("sparse-two-classes")
    table = ContingencyTable.of(data, np.arange(data.schema.width), True, "test")
    counts = table.counts.copy()
    copied = again(table)
    assert np.array_equal(copied.counts, counts) and np.array_equal(copied.zeros, table.zeros)
    ragged = Ragged(np.array([0, 2, 3]), np.array([1.0, 2.0, 5.0]))
    ragged.search(np.array([0]), np.array([1.5]))
    assert again(ragged).search(np.array([0]), np.array([1.5])) == 1
    csr = Csr(np.ones(1), np.zeros(1, np.int32), np.array([0, 1], np.int32), 2)
    assert again(csr).toarray().tolist() == [[1, 0]]
    for metric in get_registry().metrics.values():
        assert again(metric) == metric


def test_results_of_an_evaluation_are_pickled_and_copied(again):
    data = testing.sample("dense-two-classes")
    evaluator = Evaluator(
        [("d", data)],
        EvaluationDesign((parse_named_chain("bns l2 svm"), parse_named_chain("select --by ig --top 1 svm")), 3),
    )
    results = Results(result for _, found in evaluate_task_folds(evaluator) for result in found)
    assert again(results).format_csv() == results.format_csv()
    assert again(evaluator).task_folds == evaluator.task_folds


class Mine(RowStage):
    """A stage of no plugin, which keeps more than its option."""

    name = "mine"
    by: float = filterkit.option(2.0, "What to divide by.")

    def __post_init__(self):
        super().__post_init__()
        self._half = lambda values: values / self.by

    def transform(self, batch):
        return batch.replace(X=self._half(batch.X))


def test_a_stage_of_no_plugin_is_pickled_as_its_class_and_options(again):
    data = rows({"a": [3]})
    fitted = Chain([Mine(by=4.0)]).fit(data)
    assert again(fitted).transform(data).X.tolist() == [[0.75]]
    with pytest.raises(PluginError, match="no plugin that is loaded offers the stage 'mine'; load the file"):
        filterkit.save(fitted, "/dev/null")


PLUGIN = '''
import filterkit

def quick(tp, fp, pos, neg):
    """A share."""
    return tp / pos

@filterkit.hookimpl
def filterkit_metrics():
    return [filterkit.Metric("quick", quick), filterkit.Metric("lambda", lambda tp, fp, pos, neg: tp)]
'''
PICKLES = """
import pickle, sys, filterkit
from filterkit.plugin.registry import get_registry
from filterkit.testing import sample
get_registry().load_plugin_file("my.py")
data = sample("dense-two-classes")
fitted = filterkit.chain(sys.argv[1]).fit(data)
with open("chain.pickle", "wb") as file:
    pickle.dump((fitted.transform(data), fitted.chain, fitted), file)
"""
UNPICKLES = """
import pickle, sys, filterkit
from filterkit.plugin.registry import get_registry
from filterkit.testing import same, sample
if sys.argv[1:]:
    get_registry().load_plugin_file(sys.argv[1])
with open("chain.pickle", "rb") as file:
    expected, chain, fitted = pickle.load(file)
assert same(fitted.transform(sample("dense-two-classes")), expected)
assert same(chain.fit(sample("dense-two-classes")).transform(sample("dense-two-classes")), expected)
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lambda l2", "PluginError: a pickle needs the stage 'lambda'; install or load the plugin my of my.py first"),
        ("select --by quick --top 2 bns", "UsageError: select: --by: no metric 'quick'; known: "),
    ],
)
def test_another_process_unpickles_a_chain_with_a_plugin_file(text, message, tmp_path):
    (tmp_path / "my.py").write_text(PLUGIN)
    for code, *arguments in ((PICKLES, text), (UNPICKLES, "my.py")):
        stdout_of(run_python(code, *arguments, cwd=tmp_path))
    done = run_python(UNPICKLES, cwd=tmp_path)
    assert done.stderr.splitlines()[-1].startswith(f"filterkit.errors.{message}")
