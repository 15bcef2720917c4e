"""Fitted chains in files: saved and loaded, described, and refused if they are damaged."""

import copy
import io
import json
import random
import zipfile

import cases
import numpy as np
import pytest
from agreement import SAMPLES, sample

import filterkit
from filterkit import FilterkitError, Fitted, Stage, testing
from filterkit.chains import saved
from filterkit.plugin import Ragged
from filterkit.plugin.registry import Registry

CHAINS = [
    ("mixed", "impute onehot shape --cross-fit 3 chi"),
    ("fortunes", "select --by bns --top 40 ordinal tfidf"),
    ("one-row", ""),
]


NAMES = ("shape", "metrics", "select", "row_norms")


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A saved chain, its bytes, and the rows that it was fitted on."""
    path = tmp_path_factory.mktemp("kept") / "chain"
    batch = sample("mixed-sparse")
    fitted = filterkit.chain("shape bns select --top 3 l2").fit(batch)
    saved.save(fitted, str(path))
    return path, path.read_bytes(), batch, fitted.transform(batch)


@pytest.mark.parametrize(("name", "chain"), CHAINS)
def test_a_loaded_chain_gives_the_same_output_and_file(name, chain, tmp_path):
    fitted = filterkit.chain(chain).fit(sample(name))
    path = tmp_path / "chain"
    saved.save(fitted, str(path))
    loaded, first = saved.load(str(path)), path.read_bytes()
    assert testing.same(loaded.transform(sample(name)), fitted.transform(sample(name)))
    assert (loaded.incoming, loaded.schema, str(loaded.chain)) == (fitted.incoming, fitted.schema, str(fitted.chain))
    saved.save(loaded, str(path))
    assert path.read_bytes() == first


def test_a_chain_saved_under_the_earlier_name_of_the_distribution_loads(kept, tmp_path):
    """Messages use the current name of the distribution."""
    _, data, batch, expected = kept
    earlier = {f"stages {number} plugin": f"{name} of filterkit 0.1.0" for number, name in enumerate(NAMES)}
    path = rewritten(data, earlier, tmp_path / "chain")
    assert testing.same(saved.load(path).transform(batch), expected)
    assert "select of arff-filterkit 0.1.0" in [
        stage["plugin"] for stage in saved.summarize_saved_chain(path)["stages"]
    ]
    path = rewritten(data, earlier | {"stages 0 words": ["stage-of-old"]}, tmp_path / "removed")
    with pytest.raises(FilterkitError, match=r"the stage 'stage-of-old'; install shape of arff-filterkit 0\.1\.0"):
        saved.load(path)


# ---- refused ---------------------------------------------------------------------------------------


def rewritten(data, changes, path):
    """The path of a copy of the archive `data` with other members, or with other values in its chain.json.

    Parameters
    ----------
    changes : the bytes of a member by its name, None to remove it; or a value by the words that lead to it.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    about = json.loads(members["chain.json"])
    for where, value in changes.items():
        if where.endswith((".npy", ".json")):
            members[where] = value
            continue
        place, *words, last = about, *where.split()
        for word in words:
            place = place[int(word) if word.isdigit() else word]
        place[int(last) if last.isdigit() else last] = value
    members["chain.json"] = changes.get("chain.json", json.dumps(about).encode())
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            if content is not None:
                archive.writestr(name, content)
    return str(path)


def header(shape, dtype="<f8"):
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": dtype, "fortran_order": False, "shape": shape})
    return out.getvalue()


def array(numbers):
    """A member of whole numbers."""
    return header((len(numbers),), "<i8") + np.array(numbers, np.int64).tobytes()


SCORE, INDPTR = "1.state.score.npy", "0.state.knots.indptr.npy"
DEEP = []
for _ in range(102):
    DEEP = [["a", "relational", [], "", DEEP, 1, []]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "saved in format 2, and filterkit 0.1.0 reads 1; use the filterkit that saved it"),
        (
            {"stages 0 words": ["shpe"], "stages 0 plugin": "my of my-plugins 1.2"},
            "it needs the stage 'shpe'; install my of my-plugins 1.2",
        ),
        ({"stages 0 words": ["shape", "l2"]}, "is not one stage"),
        ({"0.state.base.npy": header((10**15, 10**6))}, "does not have the size that it declares"),
        ({SCORE: header((0, 10**12))}, "does not have the size that it declares"),
        ({SCORE: header((1,), "|O") + b"cos\nsystem\n(S'true'\ntR."}, "does not have the size that it declares"),
        ({INDPTR: array([0, 9, 1, 1, 1, 1, 10**12])}, "do not match"),
        ({INDPTR: array([1, 1, 2, 3, 4, 5, 6])}, "do not match"),
        ({SCORE: header((2,)) + bytes(16)}, "does not match its columns"),
        ({"1.source.npy": array([0, 1, 2, 3, 4, 99])}, "do not match its attributes"),
        ({SCORE: None}, SCORE),
        ({"outgoing attributes": [], "outgoing class": None}, "its stages make other attributes than its header"),
        (
            {"incoming attributes 0": ["a", "relational", [], "", [["b"]], 1, []]},
            "an attribute in the schema lacks a part, or has one of another type",
        ),
        ({"incoming attributes 0": DEEP[0]}, "an attribute in the schema is nested more than "),
        ({"chain.json": b'{"more": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"}, "its chain.json is nested too deep"),
        ({"stages 1 kept other": {"array": "1.state.score"}}, "two stages use the same array"),
    ],
)
def test_a_tampered_file_is_refused_with_one_line(kept, changes, message, tmp_path):
    path = rewritten(kept[1], changes, tmp_path / "chain")
    with pytest.raises(FilterkitError) as caught:
        saved.load(path)
    assert str(caught.value).startswith(path) and message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("chain", "name", "change"),
    [
        ("bins --method width --bins 2", "nominal", np.logical_not),  # numbers would pass for labels
        ("bns", "factor", lambda factor: factor * 2),  # the third of three labels would become a fifth
        ("standardize", "offset", lambda offset: offset - 0.5),
    ],
)
def test_a_changed_state_cannot_produce_undeclared_labels(chain, name, change, tmp_path):
    """The chain checks the labels of a few rows of each batch; those of later rows must be right, too."""
    fitted = filterkit.chain(chain).fit(sample("mixed"))
    saved.save(fitted, str(tmp_path / "chain"))
    out = io.BytesIO()
    with np.load(tmp_path / "chain") as arrays:
        np.save(out, change(arrays[f"0.state.{name}"]))
    changes = {f"0.state.{name}.npy": out.getvalue()}
    path = rewritten(saved.encode_chain(fitted), changes, tmp_path / "changed")
    with pytest.raises(FilterkitError, match=f"{chain.split()[0]} gives the nominal '.*' values that are not codes"):
        saved.load(path)


def test_members_that_overlap_are_refused(kept, tmp_path):
    """Many names in the archive directory point to one place in the file."""
    path = rewritten(kept[1], {}, tmp_path / "chain")
    with zipfile.ZipFile(path, "a") as archive:
        one = archive.getinfo("0.state.knots.values.npy")
        for number in range(100):
            archive.filelist.append(copy.copy(one))
            archive.filelist[-1].filename = f"{number}.npy"
        archive.writestr("more", b"")
    for way in (saved.load, saved.summarize_saved_chain):
        with pytest.raises(FilterkitError, match="its members are longer than the file"):
            way(path)


def test_compressed_files_and_other_files_are_refused(kept, tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("chain.json", json.dumps({"format": saved.FORMAT}) + " " * 10**7)
    (tmp_path / "empty").touch()
    (tmp_path / "half").write_bytes(kept[1][: len(kept[1]) // 2])
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    for name in ("bomb", "empty", "half", "other.npz", str(SAMPLES / "iris.arff")):
        for read in (saved.load, saved.summarize_saved_chain):
            with pytest.raises(FilterkitError, match="is not a chain that --save wrote, or it is damaged"):
                read(str(tmp_path / name))


def test_mutated_files_load_to_a_working_chain_or_are_refused(kept, tmp_path):
    """Bits are flipped, and pieces cut, doubled or overwritten; `benchmarks/stress.py` does more of this."""
    rng = random.Random(0)
    path = tmp_path / "chain"
    refusals = []
    for _ in range(100):
        path.write_bytes(mutant(kept[1], rng))
        try:
            loaded = saved.load(str(path))
        except FilterkitError as error:
            refusals.append(str(error))
        else:
            assert testing.same(loaded.transform(kept[2]), kept[3])
    assert len(refusals) > 60 and "\n" not in "".join(refusals)


def mutant(data, rng):
    """`data` with a random small change."""
    data = bytearray(data)
    at, to = sorted(rng.sample(range(len(data)), 2))
    piece = slice(at, at + rng.randint(1, 50))
    change = rng.randrange(4)
    if change == 0:
        data[at] ^= 1 << rng.randrange(8)
    elif change == 1:
        del data[piece]
    elif change == 2:
        data[at:at] = data[to : to + rng.randint(1, 200)]
    else:
        data[piece] = rng.randbytes(len(data[piece]))
    return bytes(data)


# ---- stages that cannot be kept -------------------------------------------------------------------


class Forgetful(Stage):
    """Subtract the mean, and save nothing."""

    name = "forgetful"

    def fit(self, rows, schema):
        return FittedForgetful(schema, sum(batch.X.sum() for batch in rows()))


class FittedForgetful(Fitted):
    def __init__(self, schema, mean):
        self.schema, self.mean = schema, mean

    def transform(self, batch):
        return batch.replace(X=batch.X - self.mean)


def test_a_stage_without_a_state_cannot_be_saved(tmp_path):
    fitted = filterkit.Chain([Forgetful()]).fit(sample("iris"))
    with pytest.raises(FilterkitError, match="the stage forgetful cannot be saved: FittedForgetful must define state"):
        saved.save(fitted, str(tmp_path / "chain"))
    assert not list(tmp_path.iterdir())


class Mindful(Forgetful):
    """Subtract the mean, and save it."""

    name = "mindful"

    def fit(self, rows, schema):
        return FittedMindful(schema, sum(batch.X.sum() for batch in rows()))

    def from_state(self, kept, schema):
        assert kept["names"] == ["a"] and kept["whole"] == 3
        return FittedMindful(schema, kept["mean"])


class FittedMindful(FittedForgetful):
    def get_state(self):
        rows = Ragged(np.array([0, 1]), np.array([1.0]))
        return {"mean": float(self.mean), "rows": rows, "flags": np.array([True]), "names": ["a"], "whole": np.int64(3)}


KNOWN = Registry()
KNOWN.add_stage(Mindful)


def test_a_chain_that_fails_at_the_last_of_two_labels_is_refused(tmp_path, monkeypatch):
    def look_up(self, batch):
        """Look up each label of the first attribute in a table of `mean` entries."""
        np.zeros(int(self.mean))[np.nan_to_num(batch.X[:, 0]).astype(int)]
        return batch

    monkeypatch.setattr(FittedMindful, "transform", look_up)
    batch = cases.rows({"a": ["y", "y"]}, labels={"a": ("x", "y")})
    fitted = filterkit.Chain([Mindful()]).fit(batch)
    path = str(tmp_path / "chain")
    saved.save(fitted, path, KNOWN)
    assert len(saved.load(path, KNOWN).transform(batch)) == 2
    fitted.stages[0].mean = 1
    saved.save(fitted, path, KNOWN)
    with pytest.raises(FilterkitError, match="out of bounds"):
        saved.load(path, KNOWN)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"mean": np.array(["a"])}, "its state has an array of <U1"),
        ({"tree": {1}}, "the 'tree' of its state cannot be saved .Object of type set .*; use arrays of float64"),
        ([1], "its state is a list; make it a dict of arrays of float64"),
        ({1: 2}, "its state is a dict; make it a dict of arrays .*, by names"),
    ],
)
def test_a_state_that_cannot_be_saved_is_named(state, said, monkeypatch):
    monkeypatch.setattr(FittedMindful, "get_state", lambda self: state)
    with pytest.raises(FilterkitError, match=f"the stage mindful cannot be saved: {said}"):
        saved.encode_chain(filterkit.Chain([Mindful()]).fit(sample("iris")), KNOWN)


def test_a_saved_words_stage_does_not_need_its_stop_list_file(tmp_path):
    (tmp_path / "stop.txt").write_text("the\nof\n")
    batch = sample("mixed")
    fitted = filterkit.chain(f"words --stop {tmp_path}/stop.txt").fit(batch)
    saved.save(fitted, str(tmp_path / "chain"))
    (tmp_path / "stop.txt").unlink()
    assert testing.same(saved.load(str(tmp_path / "chain")).transform(batch), fitted.transform(batch))
