"""``filterkit explore``: the command, and the page where scripts do not run."""

import base64
import gzip
import json
import os
import re
from pathlib import Path

import pytest
from command import output, refusal, run, shell


def page_of(path):
    """The text of a page, and its data."""
    text = Path(path).read_text(encoding="utf-8")
    (packed,) = re.findall(r'<script id="data"[^>]*>([^<]*)</script>', text)
    return text, json.loads(gzip.decompress(base64.b64decode(packed)))


@pytest.mark.parametrize(
    "words",
    [
        "-o page.html ../iris.arff shape bns",
        "../iris.arff shape bns -o page.html",
        "../iris.arff -o page.html shape bns",
    ],
)
def test_options_stand_before_the_stages_and_the_output_also_last(words):
    assert output(f"explore {words}") == ""
    _, data = page_of("page.html")
    assert (data["chain"], data["overview"]["rows"], data["format"]) == ("shape bns", 150, "ARFF")
    assert data["made"]["command"] == "filterkit explore ../iris.arff shape bns -o page.html"


def test_the_page_says_what_the_defaults_file_gave():
    Path("my.toml").write_text("[stages.shape]\nneighbors = 3\n")
    output("--defaults my.toml explore ../iris.arff shape -o page.html")
    made = page_of("page.html")[1]["made"]
    assert made["command"] == "filterkit --no-defaults explore ../iris.arff shape --neighbors 3 -o page.html"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("../iris.arff", "explore: missing option '-o' / '--output'"),
        ("../iris.arff -o x.png", "explore: -o x.png: the page must have a name that ends in .html"),
        ("-o x.html ../iris.arff l2 -o y.html", "--output is given twice: "),
        ("-o x.html ../iris.arff l3", "no stage 'l3'"),
        ("-o x.html --by bms ../iris.arff", "no metric 'bms'"),
        ("-o x.html --by ig --by ig ../iris.arff", "--by ig is given twice"),
    ],
)
def test_wrong_usage_is_refused(words, message):
    assert message in refusal(f"explore {words}")


def test_a_stage_that_fails_leaves_no_page():
    message = refusal("explore -o page.html --class none ../iris.arff shape", status=1)
    assert "there is no class attribute" in message and not os.listdir()


ODD = """@relation '</script><b>'
@attribute '<img src=x onerror=alert(1)>' numeric
@attribute 'a\u202eb' numeric
@attribute class {'</script>',y}
@data
1,2,y
2,2,'</script>'
3,1,y
"""


def test_a_page_asks_nothing_of_the_network_and_says_what_it_shows_without_scripts():
    Path("odd.arff").write_text(ODD, encoding="utf-8")
    output("explore odd.arff -o page.html")
    text, data = page_of("page.html")
    assert "default-src 'none'" in text.replace("&#x27;", "'")
    assert not re.findall(r'(?:src|href)="(?!data:)', text)
    assert text.count("<script") == text.count("</script") == len(re.findall("<script>|<script id=", text))
    assert data["features"]["name"] == ["<img src=x onerror=alert(1)>", "a\u202eb"]
    plain = text.partition("<main")[2].partition("</main>")[0]
    assert "&lt;img src=x onerror=alert(1)&gt;" in plain
    assert "The 2 best of 2 features by bns" in plain


EMPTY = "filterkit: warning: ../empty.arff: there are no rows"


@pytest.mark.parametrize("name", ["empty", "one-row", "one-class", "unused-class-value", "mixed"])
def test_odd_tables_can_be_explored(name):
    done = run(f"explore ../{name}.arff bns l2 -o page.html")
    others = [line for line in done.stderr.splitlines() if "warning: bns: the score of" not in line]
    assert (done.returncode, others) == (0, [EMPTY] if name == "empty" else [])


@pytest.mark.posix
@pytest.mark.parametrize("output", ["-", "/dev/stdout"])
def test_a_page_goes_through_pipes(output):
    done = shell(f"cat ../iris.arff | filterkit explore - l2 -o {output} | head -c 15", ".")
    assert done.stdout == "<!DOCTYPE html>"
