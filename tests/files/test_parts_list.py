"""The list of the parts of an output, and the journal of those that are there so far."""

import json
import os

import pytest

from filterkit import FilterkitError
from filterkit.files.part_names import parse_part_names
from filterkit.files.parts_list import ResumableParts, WrittenPartEntry

WORK = {"version": "1", "command": "in.arff l2"}


@pytest.fixture
def names(tmp_path):
    return parse_part_names(str(tmp_path / "part-*.arff"))


def add(parts, folder, number, text):
    """Let a part appear whose rows are the characters of a text."""
    path = os.path.join(folder, str(number))
    with open(path, "w") as file:
        file.write(text)
    parts.add_part(number, path, WrittenPartEntry(len(text), len(text), (number,)))


def begun(names, texts):
    """Parts of which some have appeared."""
    parts = ResumableParts(names)
    folder = parts.begin_writing(WORK)
    for number, text in enumerate(texts):
        add(parts, folder, number, text)
    return parts


def test_the_list_appears_when_all_parts_are_there(names, tmp_path):
    parts = begun(names, ["one", "four"])
    assert json.loads((tmp_path / names.journal_name).read_text().splitlines()[2])["name"] == "part-00001.arff"
    assert not (tmp_path / names.list_name).exists()
    parts.write_list()
    parts.close()
    assert sorted(os.listdir(tmp_path)) == [names.list_name, names.format_part_name(0), names.format_part_name(1)]
    about = json.loads((tmp_path / names.list_name).read_text())
    assert about["command"] == "in.arff l2" and about["rows"] == 7
    assert about["parts"][1] == {"name": "part-00001.arff", "rows": 4, "bytes": 4, "labels": [1]}
    again = ResumableParts(names)
    again.check_same_work(WORK)
    assert again.is_complete and again.done == {0: 3, 1: 4} and again.entries[1] == WrittenPartEntry(4, 4, (1,))


def test_the_journal_says_what_is_there(names, tmp_path):
    begun(names, ["one", "four"]).close()
    with open(tmp_path / names.journal_name, "ab") as journal:
        journal.write(b'{"name": "part-000')  # the end of a run that was killed
    parts = ResumableParts(names)
    assert not parts.is_complete and parts.done == {0: 3, 1: 4}
    add(parts, parts.begin_writing(WORK), 2, "seven")
    parts.close()
    assert ResumableParts(names).n_rows == 12


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_part_that_is_missing_or_of_another_size_is_not_done(names, tmp_path, is_listed):
    parts = begun(names, ["one", "four", "seven"])
    if is_listed:
        parts.write_list()
    parts.close()
    (tmp_path / names.format_part_name(0)).unlink()
    (tmp_path / names.format_part_name(2)).write_text("cut")
    parts = ResumableParts(names)
    assert parts.done == {1: 4} and not parts.is_complete
    folder = parts.begin_writing(WORK)
    assert not (tmp_path / names.list_name).exists()
    add(parts, folder, 0, "one")
    parts.close()
    assert ResumableParts(names).done == {0: 3, 1: 4}


def test_a_part_of_other_rows_than_before_is_refused(names, tmp_path):
    begun(names, ["one"]).close()
    (tmp_path / names.format_part_name(0)).unlink()
    parts = ResumableParts(names)
    with pytest.raises(
        FilterkitError, match=r"part-00000.arff: it had 3 rows and now has 4; remove .*part-\*.arff and"
    ):
        add(parts, parts.begin_writing(WORK), 0, "four")
    parts.close()


def test_parts_that_exist_are_refused_where_they_must_be_new(names, tmp_path):
    begun(names, ["one"]).close()
    with pytest.raises(FilterkitError, match="this output exists already"):
        ResumableParts(names, must_be_new=True)


@pytest.mark.posix
def test_the_folder_of_a_run_that_was_killed_is_removed_by_the_next(names, tmp_path):
    first = ResumableParts(names)
    left = first.begin_writing(WORK)
    open(os.path.join(left, "half"), "w").close()
    first._folder._unfinished._lock.close()  # as when the process ends
    first._folder._journal.close()
    second = ResumableParts(names)
    assert second.begin_writing(WORK) != left and not os.path.exists(left)
    second.close()
    assert os.listdir(tmp_path) == []


@pytest.mark.posix
def test_two_runs_at_once_are_refused(names):
    first = begun(names, ["one"])
    with pytest.raises(FilterkitError, match="another run is writing these parts"):
        ResumableParts(names)
    first.close()
    ResumableParts(names)
