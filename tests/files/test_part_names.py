"""The names of outputs in parts."""

import pytest

from filterkit import UsageError
from filterkit.files.part_names import parse_part_names


def test_a_star_in_the_last_component_stands_for_numbers():
    names = parse_part_names("some/folder/part-*.arff.gz")
    assert names.format_part_name(0) == "part-00000.arff.gz" and names.format_part_name(123456) == "part-123456.arff.gz"
    assert names.list_name == "_part-list.arff.gz.json" and names.journal_name == ".part-list.arff.gz.journal"
    assert (names.folder, names.format_part_name(7)) == ("some/folder", "part-00007.arff.gz")
    assert parse_part_names("out.arff") is parse_part_names("-") is parse_part_names("f*/out.arff") is None


def test_only_names_of_parts_have_a_number():
    names = parse_part_names("part-*.arff")
    assert names.parse_part_name("part-00012.arff") == 12 and names.parse_part_name("part-123456.arff") == 123456
    for name in ("part-12.arff", "part-000012.arff", "part-00012.arff.gz", "part-list.arff", "part-0001x.arff"):
        assert names.parse_part_name(name) is None


def test_a_file_that_a_part_may_overwrite_is_found_whatever_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    names = parse_part_names("out/part-*.arff")
    assert names.is_part_path(str(tmp_path / "out" / "part-00000.arff")) and names.is_part_path(
        "out/../out/part-00001.arff"
    )
    assert not names.is_part_path("part-00000.arff") and not names.is_part_path("out/part-0.arff")


def test_parts_may_be_at_a_url():
    names = parse_part_names("s3://bucket/out/part-*.arff")
    assert (names.folder, names.format_part_name(3)) == ("s3://bucket/out/", "part-00003.arff")
    assert names.is_part_path("s3://bucket/out/part-00003.arff") and not names.is_part_path(
        "s3://bucket/part-00003.arff"
    )
    assert parse_part_names("memory://part-*.arff").folder == "memory://"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "out/a*b*.arff",
            r"'out/a\*b\*.arff': write exactly one \*, .*, as in 'out/part-\*.arff'",
        ),
        ("*.json", r"the list of the parts, _list.json.json, would look like one of them; name them 'part-\*.json'"),
        ("out/*", "the list of the parts, _list.json, would look like one of them"),
        ("_*.json", "would look like one of them"),
    ],
)
def test_ambiguous_names_are_refused(path, message):
    with pytest.raises(UsageError, match=message):
        parse_part_names(path)
