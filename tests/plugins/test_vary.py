"""`vary`: columns that vary."""

import pytest
from agreement import DATA
from cases import run
from weka import arff_of, declarations_and_rows, weka_filter

import filterkit

COLUMNS = {
    "constant": [3, 3, 3, 3],
    "zeros": [0, 0, 0, 0],
    "empty": [None] * 4,
    "rare": [0, 0, 0, 5],
    "one": [None, 2, 2, None],
    "number": [1, 2, 3, 4],
    "names": ["a", "b", "c", "d"],
    "label": ["a", "a", "b", "b"],
}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("options", "names"),
    [
        ("", ["rare", "number", "label"]),
        ("--distinct 1", ["rare", "number", "names", "label"]),
        ("--equal 0.75 --distinct 1", ["number", "names", "label"]),
        ("--equal 0.5 --except label", ["number", "label"]),
    ],
)
def test_which_columns_stay(options, names, sparse):
    assert run(f"vary {options}", COLUMNS, sparse=sparse) == {name: COLUMNS[name] for name in names}


@pytest.mark.parametrize("name", ["weka/labor", "uci/sonar"])
@pytest.mark.parametrize("share", [99, 3])
def test_agreement_with_weka(name, share, weka36):
    path = DATA / f"{name}.arff"
    if not path.exists():
        pytest.skip(f"needs {path}")
    declared, _ = weka_filter(weka36, "unsupervised.attribute.RemoveUseless", ["-M", str(share), "-c", "last"], path)
    out = filterkit.chain(f"vary --distinct {share / 100}").fit_transform(filterkit.read(str(path), class_="last"))[1]
    mine, theirs = (
        [line.split("'")[1] if line[11] == "'" else line.split()[1] for line in lines]
        for lines in (declarations_and_rows(arff_of(out))[0], declared)
    )
    assert mine == theirs
