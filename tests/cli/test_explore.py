"""``filterkit explore``: the command, and the page where scripts do not run."""

import base64
import gzip
import json
import re

import pytest
from command import run, shell

IRIS = "arff_samples/iris.arff"


def page_of(path):
    """The text of a page, and its data."""
    text = path.read_text(encoding="utf-8")
    (packed,) = re.findall(r'<script id="data"[^>]*>([^<]*)</script>', text)
    return text, json.loads(gzip.decompress(base64.b64decode(packed)))


@pytest.mark.parametrize(
    "words",
    [("-o", "{}", IRIS, "shape", "bns"), (IRIS, "shape", "bns", "-o", "{}"), (IRIS, "-o", "{}", "shape", "bns")],
    ids=["first", "last", "between"],
)
def test_options_stand_before_the_stages_and_the_output_also_last(tmp_path, words):
    out = tmp_path / "page.html"
    done = run("explore", *(word.replace("{}", str(out)) for word in words))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    _, data = page_of(out)
    assert (data["chain"], data["overview"]["rows"], data["format"]) == ("shape bns", 150, "ARFF")
    assert data["made"]["command"] == f"filterkit explore {IRIS} shape bns -o {out}"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((IRIS,), "explore: missing option '-o' / '--output'"),
        ((IRIS, "-o", "x.png"), "explore: -o x.png: the page must have a name that ends in .html"),
        (("-o", "x.html", IRIS, "l2", "-o", "y.html"), "--output is given twice: "),
        (("-o", "x.html", IRIS, "l3"), "no stage 'l3'"),
        (("-o", "x.html", "--by", "bms", IRIS), "no metric 'bms'"),
        (("-o", "x.html", "--by", "ig", "--by", "ig", IRIS), "--by ig is given twice"),
        (("-o", IRIS, IRIS), "the page must have a name that ends in .html"),
    ],
)
def test_wrong_usage_is_refused(tmp_path, words, message):
    done = run("explore", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_a_stage_that_fails_leaves_no_page(tmp_path):
    out = tmp_path / "page.html"
    done = run("explore", "-o", out, "--class", "none", IRIS, "shape")
    assert done.returncode == 1
    assert "there is no class attribute" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_page_asks_nothing_of_the_network_and_says_what_it_shows_without_scripts(tmp_path):
    names = ["<img src=x onerror=alert(1)>", "a\u202eb"]
    rows = ["@relation '</script><b>'", *(f"@attribute '{name}' numeric" for name in names)]
    rows += ["@attribute class {'</script>',y}", "@data", "1,2,y", "2,2,'</script>'", "3,1,y"]
    source, out = tmp_path / "odd.arff", tmp_path / "page.html"
    source.write_text("\n".join(rows), encoding="utf-8")
    assert run("explore", source, "-o", out).returncode == 0
    text, data = page_of(out)
    assert "default-src 'none'" in text.replace("&#x27;", "'")
    assert not re.findall(r'(?:src|href)="(?!data:)', text)
    assert text.count("<script") == text.count("</script") == len(re.findall("<script>|<script id=", text))
    assert data["features"]["name"] == names
    plain = text.partition("<main")[2].partition("</main>")[0]
    assert "&lt;img src=x onerror=alert(1)&gt;" in plain
    assert "The 2 best of 2 features by bns" in plain


@pytest.mark.parametrize("name", ["empty", "one-row", "one-class", "unused-class-value", "mixed"])
def test_odd_tables_can_be_explored(tmp_path, name):
    out = tmp_path / "page.html"
    done = run("explore", f"arff_samples/{name}.arff", "bns", "l2", "-o", out)
    others = [line for line in done.stderr.splitlines() if "warning: bns: the score of" not in line]
    assert (done.returncode, others) == (0, [])


@pytest.mark.posix
def test_a_page_goes_through_pipes(tmp_path):
    for output in ("-", "/dev/stdout"):
        done = shell(f"cat {IRIS} | filterkit explore - l2 -o {output} | head -c 15", None)
        assert done.stdout == "<!DOCTYPE html>"
