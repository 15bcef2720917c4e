"""`write`: the training rows at a place in the chain, in a file."""

import numpy as np
import pytest
from agreement import cut, make, sample

import filterkit
from filterkit import FilterkitError, UsageError, testing


@pytest.mark.parametrize(("name", "jobs"), [("mixed", 2), ("mixed-sparse", 1), ("empty", 2)])
def test_the_rows_at_that_place_are_written(name, jobs, tmp_path):
    batch = sample(name)
    chain = filterkit.chain(f"shape write {tmp_path}/middle.arff bns l2")
    fitted, out = chain.fit_transform(iter(cut(batch, 50)), jobs=jobs)
    filterkit.write(filterkit.chain("shape").fit_transform(batch)[1], tmp_path / "plain.arff")
    assert (tmp_path / "middle.arff").read_bytes() == (tmp_path / "plain.arff").read_bytes()
    without, expected = filterkit.chain("shape bns l2").fit_transform(batch)
    assert testing.same(out, expected) and fitted.schema == without.schema


def test_rows_can_be_written_at_several_places(tmp_path):
    chain = f"write {tmp_path}/a.arff shuffle write {tmp_path}/b.arff.gz head 5 write {tmp_path}/c.arff"
    filterkit.chain(chain).fit_transform(sample("iris"))
    assert [len(filterkit.read(tmp_path / name)) for name in ("a.arff", "b.arff.gz", "c.arff")] == [150, 150, 5]


def test_later_rows_are_not_written(tmp_path):
    filterkit.chain(f"write {tmp_path}/a.arff").fit(sample("iris")).transform(sample("iris"))
    assert not (tmp_path / "a.arff").exists()


def test_no_file_is_left_if_the_chain_fails(tmp_path):
    with pytest.raises(FilterkitError):
        filterkit.chain(f"write {tmp_path}/a.arff l2").fit_transform(make([[1.0], [np.inf]], [0, 1]))
    with pytest.raises(FilterkitError, match="no-such-folder"):
        filterkit.chain(f"write {tmp_path}/no-such-folder/a.arff").fit_transform(sample("iris"))
    assert not list(tmp_path.iterdir())


def test_two_stages_do_not_write_to_one_file(tmp_path):
    chain = filterkit.chain(f"write {tmp_path}/a head 5 write {tmp_path}/./a")
    with pytest.raises(UsageError, match=r"two stages write to '.*/a'; name another file for write"):
        chain.fit_transform(sample("iris"))
    assert not list(tmp_path.iterdir())
