"""Digests of files by their sizes and times."""

import os

import pytest

from filterkit.files.digest import digest_sizes_and_times


def test_a_digest_changes_with_what_there_is(tmp_path):
    paths = [str(tmp_path / "a-*.arff"), str(tmp_path / "folder")]
    (tmp_path / "a-1.arff").write_text("one")
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    found = [digest_sizes_and_times(paths)]
    (tmp_path / "folder" / "inner" / "x").write_text("x")
    found.append(digest_sizes_and_times(paths))
    (tmp_path / "a-2.arff").write_text("two")
    found.append(digest_sizes_and_times(paths))
    os.utime(tmp_path / "a-1.arff", ns=(0, 5))
    found.append(digest_sizes_and_times(paths))
    assert len(set(found)) == 4
    assert digest_sizes_and_times(paths) == found[-1]


@pytest.mark.posix
def test_a_pipe_is_never_the_same(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    path = str(tmp_path / "pipe")
    assert digest_sizes_and_times([path]) != digest_sizes_and_times([path])


def test_urls_have_sizes_and_times(tmp_path):
    pytest.importorskip("fsspec")
    (tmp_path / "x").write_text("x")
    url = (tmp_path / "x").as_uri()
    before = digest_sizes_and_times([url])
    assert digest_sizes_and_times([url]) == before
    (tmp_path / "x").write_text("longer")
    assert digest_sizes_and_times([url]) != before
