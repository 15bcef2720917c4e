"""Files that are evidently something else than their format: all formats, or those of text, say what they are."""

import pytest

import filterkit
from filterkit import FilterkitError

XRFF = (
    '<?xml version="1.0" encoding="utf-16"?><dataset name="ä"><header><attributes><attribute name="n" type="numeric"/>'
    "</attributes></header><body><instances><instance><value>1</value></instance></instances></body></dataset>"
)


@pytest.mark.parametrize("ending", ["arff", "csv", "jsonl", "libsvm", "xrff"])
@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\x1f\x8b\x08\x00", "compressed by gzip; give the file a name that ends in .gz"),
        (b"\x28\xb5\x2f\xfd\x04", "compressed by zstd"),
        (b"PK\x03\x04\x14\x00", "a zip archive: unpack it, save a table of Excel as CSV, or give"),
        ("a,b".encode("utf-16"), "text in UTF-16: say --encoding utf-16"),
        (b"PAR1", "Parquet: say --from parquet"),
        (b"ARROW1\0\0", "Arrow: say --from arrow"),
    ],
)
def test_a_file_with_the_wrong_ending_is_told(ending, content, what, tmp_path):
    (tmp_path / f"x.{ending}").write_bytes(content)
    with pytest.raises(FilterkitError) as error:
        filterkit.read(tmp_path / f"x.{ending}")
    assert f"x.{ending}: this is {what}" in str(error.value)


@pytest.mark.parametrize("ending", ["arff", "csv", "jsonl", "libsvm", "xrff", "parquet", "arrow"])
@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"<!DOCTYPE html>\n<html>", "a page of HTML, perhaps of an error"),
        (b"\xef\xbb\xbf\r\n <HTML>", "a page of HTML, perhaps of an error"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "a pointer of Git LFS to the data: run git lfs pull"),
    ],
)
def test_a_page_or_a_pointer_is_told(ending, content, what, tmp_path):
    test_a_file_with_the_wrong_ending_is_told(ending, content, what, tmp_path)


def test_xml_says_its_encoding_itself(tmp_path):
    (tmp_path / "x.xrff").write_bytes(XRFF.encode("utf-16"))
    data = filterkit.read(tmp_path / "x.xrff")
    assert data.schema.relation == "ä" and data.X.tolist() == [[1]]
