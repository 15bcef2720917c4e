"""`vary`: columns that vary."""

import numpy as np
import pytest
from agreement import DATA, SAMPLES, dense, make
from weka import arff_of, declarations_and_rows, weka_filter

import filterkit

NAN = np.nan


def names(batch, chain):
    fitted, out = filterkit.chain(chain).fit_transform(batch)
    assert out.schema == fitted.schema
    kept = [[a.name for a in batch.schema.features].index(a.name) for a in out.schema.features]
    np.testing.assert_array_equal(dense(out), dense(batch)[:, kept])
    return [a.name for a in out.schema.features]


@pytest.mark.parametrize("sparse", [False, True])
def test_which_columns_stay(sparse):
    X = [
        [3, 0, NAN, 0, NAN, 1, 0, 0],
        [3, 0, NAN, 0, 2, 2, 1, 0],
        [3, 0, NAN, 0, 2, 3, 2, 1],
        [3, 0, NAN, 5, NAN, 4, 3, 1],
    ]
    batch = make(X, [0] * 4, nominal=[6, 7], sparse=sparse)
    assert names(batch, "vary") == ["a3", "a5", "a7"]
    assert names(batch, "vary --distinct 1") == ["a3", "a5", "a6", "a7"]
    assert names(batch, "vary --equal 0.75 --distinct 1") == ["a5", "a6", "a7"]
    assert names(batch, "vary --equal 0.5 --except a7") == ["a5", "a7"]


PATHS = [DATA / f"{name}.arff" for name in ("weka/labor", "weka/vote", "uci/credit-g", "uci/sonar", "uci/glass")]
PATHS += [SAMPLES / "iris.arff", SAMPLES / "wine.arff", SAMPLES / "digits.arff"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
@pytest.mark.parametrize("share", [99, 3])
def test_agreement_with_weka(path, share, weka36):
    if not path.exists():
        pytest.skip(f"needs {path}")
    declared, _ = weka_filter(weka36, "unsupervised.attribute.RemoveUseless", ["-M", str(share), "-c", "last"], path)
    out = filterkit.chain(f"vary --distinct {share / 100}").fit_transform(filterkit.read(str(path), class_="last"))[1]
    mine = [
        line.split("'")[1] if line[11] == "'" else line.split()[1] for line in declarations_and_rows(arff_of(out))[0]
    ]
    theirs = [line.split("'")[1] if line[11] == "'" else line.split()[1] for line in declared]
    assert mine == theirs
