"""Temporary folders: they are removed, by the next run if need be, and their errors name the place."""

import os
import signal
import subprocess
import sys
import tempfile

import pytest

from filterkit import FilterkitError
from filterkit.temporary import TemporaryFolder, convert_temporary_file_errors, remove_own_folders

pytestmark = pytest.mark.posix

HOLD = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from filterkit.temporary import TemporaryFolder
folder = TemporaryFolder()
open(folder.path + "/more", "w").close()
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def other(place):
    """Another process, which has a temporary folder, and the path of that."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLD, place], stdin=pipe, stdout=pipe, text=True) as process:
        yield process, process.stdout.readline().strip()
        process.kill()


def test_a_folder_is_removed_with_what_is_in_it(place):
    folder = TemporaryFolder()
    open(os.path.join(folder.path, "more"), "w").close()
    folder.remove()
    folder.remove()
    assert not list(place.iterdir())


def test_a_command_that_a_signal_ends_removes_its_folders(place):
    """The signal may come while the folder is being removed, or just after it was made."""
    folder = TemporaryFolder()
    open(os.path.join(folder.path, "more"), "w").close()
    remove_own_folders()
    assert not list(place.iterdir())
    folder.remove()


def test_the_next_run_removes_the_folder_of_one_that_was_killed(place, other):
    process, path = other
    assert os.path.exists(os.path.join(path, "more"))
    TemporaryFolder().remove()
    assert os.path.isdir(path)  # the process lives
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=60)
    assert os.path.isdir(path)
    TemporaryFolder().remove()
    assert not list(place.iterdir())


def test_what_others_have_made_stays(place):
    name = os.path.basename((made := TemporaryFolder()).path)
    made.remove()
    (place / "filterkit-other").mkdir()
    (place / "filterkit-other" / "lock").touch()
    (place / f"{name}-file").touch()
    (place / f"{name}-beginning").mkdir()  # it has no lock yet
    (place / f"{name}-link").symlink_to(place / "filterkit-other")
    before = sorted(place.rglob("*"))
    TemporaryFolder().remove()
    assert sorted(place.rglob("*")) == before


def test_a_place_that_cannot_be_used_is_named(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/folder")
    with pytest.raises(FilterkitError, match=r"^temporary folder /no/such/folder: No such file or directory$"):
        TemporaryFolder()
    full = pytest.raises(FilterkitError, match=r"^temporary folder /no/such/folder: No space left")
    with full as caught, convert_temporary_file_errors():
        raise OSError(28, "No space left on device")
    assert isinstance(caught.value, OSError)
    with pytest.raises(FilterkitError, match=r"^other$"), convert_temporary_file_errors():
        raise FilterkitError("other")
