"""Files that appear whole or not at all."""

import os
import threading

import pytest

from filterkit import FilterkitError
from filterkit.output import open_output


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "out.arff"
    with open_output(str(path)) as out:
        out.write(b"text")
        assert not path.exists()
    assert path.read_bytes() == b"text"
    assert os.listdir(tmp_path) == ["out.arff"]


def test_an_exception_leaves_the_earlier_file(tmp_path):
    path = tmp_path / "out.arff"
    path.write_bytes(b"earlier")

    def fail():
        with open_output(str(path)) as out:
            out.write(b"later")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert path.read_bytes() == b"earlier"
    assert os.listdir(tmp_path) == ["out.arff"]


def test_an_interrupt_as_soon_as_the_file_is_made_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_):
        assert len(os.listdir(tmp_path)) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr("filterkit.output._compress", interrupted)
    with pytest.raises(KeyboardInterrupt), open_output(str(tmp_path / "out.arff")):
        pass
    assert os.listdir(tmp_path) == []


def test_a_link_is_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "real.arff").write_bytes(b"")
    (tmp_path / "link.arff").symlink_to(tmp_path / "folder" / "real.arff")
    with open_output(str(tmp_path / "link.arff")) as out:
        out.write(b"text")
    assert (tmp_path / "link.arff").is_symlink()
    assert (tmp_path / "folder" / "real.arff").read_bytes() == b"text"


def test_a_new_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").write_bytes(b"")
    with open_output(str(tmp_path / "out.arff")) as out:
        out.write(b"text")
    assert (tmp_path / "out.arff").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_named_pipe_is_written_to_straight(tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(open(path, "rb").read()))
    reader.start()
    with open_output(path) as out:
        out.write(b"text")
    reader.join(60)
    assert read == [b"text"]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with (
        pytest.raises(FilterkitError, match=r"no/out.arff: No such file or directory"),
        open_output(str(tmp_path / "no" / "out.arff")),
    ):
        pass


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_compressed_output_is_the_same_each_time(ending, tmp_path):
    texts = []
    for name in ("one", "two"):
        with open_output(str(tmp_path / (name + ending))) as out:
            out.write(b"text" * 100)
        texts.append((tmp_path / (name + ending)).read_bytes())
    assert texts[0] == texts[1]
    assert len(texts[0]) < 400
