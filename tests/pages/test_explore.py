"""The page of `explore` in a real browser."""

import re

import numpy as np
import pytest
from filterkit_plugins.metrics import score_by_rate_difference
from made_explore import (
    HOSTILE,
    hostile_names,
    many_classes,
    many_features,
    numeric_class,
    page_of,
    text_like,
    without_features,
)

pytestmark = pytest.mark.separate


def rows(opened):
    """The texts of the rows of the table of features that are in the document."""
    found = opened.page.locator("#features tbody tr[data-row]")
    return found.evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.textContent))")


def column(opened, label):
    """The texts of a column of that table."""
    heads = opened.page.locator("#features thead th").all_text_contents()
    return [row[heads.index(label)] for row in rows(opened)]


def ranking(data, metric="bns"):
    """The features, best first; ties in the order of the data."""
    scores = data["features"]["scores"][metric]
    return sorted((i for i, score in enumerate(scores) if score is not None), key=lambda i: (-scores[i], i))


def best_names(data, metric="bns", count=None):
    return [data["features"]["name"][i] for i in ranking(data, metric)[:count]]


def best_point(data, feature):
    """The number of the point that is best by the first metric."""
    return data["features"]["points"]["start"][feature] + data["features"]["point"]["bns"][feature]


def rates(data, feature):
    """(fpr, tpr) of a feature at its best test."""
    points, point = data["features"]["points"], best_point(data, feature)
    task = data["tasks"][points["task"][point]]
    return points["fp"][point] / task["neg"], points["tp"][point] / task["pos"]


def board_size(opened):
    """How wide and high the plane is, in pixels."""
    return opened.page.locator(".board").bounding_box()["width"]


def place(opened, fpr, tpr):
    """Where in the window a point of the plane is, in pixels."""
    board = opened.page.locator(".board")
    board.scroll_into_view_if_needed()
    box, size = board.bounding_box(), board_size(opened)
    return box["x"] + 50 + fpr * (size - 66), box["y"] + size - 42 - tpr * (size - 54)


def choose_metric(opened, name):
    opened.page.get_by_label("Metric", exact=False).first.select_option(name)
    opened.settle()


def search(opened, text):
    opened.page.get_by_role("searchbox").fill(text)
    opened.settle()


def test_overview_and_table_show_the_data(open_page):
    data = text_like()
    opened = open_page(page_of(data))
    page = opened.page
    text = page.locator("#overview").inner_text()
    assert all(part in text for part in ("400", "300 numeric, 1 nominal", "88.3 %", "wheat", "rest"))
    assert page.locator("header").inner_text().startswith("made.arff")
    bars = page.locator(".bars .fill").evaluate_all("bars => bars.map(bar => bar.offsetWidth)")
    sizes = sorted(data["overview"]["class"]["rows"], reverse=True)
    assert bars[1] / bars[0] == pytest.approx(sizes[1] / sizes[0], abs=0.02)
    features, best = data["features"], ranking(data)[0]
    row = dict(zip(page.locator("#features thead th").all_text_contents(), rows(opened)[0]))
    shown = {name: features["points"][name][best_point(data, best)] for name in ("threshold", "tp", "fp")}
    assert (row["Name"], row["Rank"], row["Test"]) == (features["name"][best], "1", f"≥ {shown['threshold']:g}")
    assert (float(row["tp"]), float(row["fp"])) == (shown["tp"], shown["fp"])
    assert float(row["bns"]) == pytest.approx(features["scores"]["bns"][best], rel=1e-3)
    assert float(row["Non-zero"]) == features["nonzero"][best]


def test_plane_and_cards_show_the_data(open_page):
    data = text_like()
    opened = open_page(page_of(data))
    page = opened.page
    board, size = page.locator(".board"), board_size(opened)
    drawn = {key: int(board.get_attribute(f"data-{key}")) for key in ("dots", "features", "best")}
    varying = ranking(data)
    pixels = {
        (round(50 + fpr * (size - 66)), round(size - 42 - tpr * (size - 54)))
        for fpr, tpr in (rates(data, i) for i in varying)
    }
    assert drawn == {"dots": len(pixels), "features": len(varying), "best": 75}
    # On each pixel where a feature is there is paint, and far from all of them there is none.
    alpha = """places => {
        const shown = document.querySelector(".board canvas");
        const context = new OffscreenCanvas(shown.width, shown.height).getContext("2d", { willReadFrequently: true });
        context.drawImage(shown, 0, 0);
        const scale = shown.width / shown.clientWidth;
        return places.map(([x, y]) => context.getImageData(x * scale, y * scale, 1, 1).data[3]);
    }"""
    assert min(page.evaluate(alpha, sorted(pixels))) > 0
    assert page.evaluate(alpha, [[size - 100, size / 2]]) == [0]

    assert page.locator(".card").count() == len(data["details"])
    detail, card = data["details"][0], page.locator(".card").first
    assert card.locator("figure").count() == 3
    bars = card.locator("figure").first.locator("[aria-label=rect] rect")
    heights = [float(height) for height in bars.evaluate_all("bars => bars.map(bar => bar.getAttribute('height'))")]
    zero, counts = np.array(detail["before"]["zero"]), np.array(detail["before"]["counts"])
    shares = (counts / (counts.sum(1) + zero)[:, None])[::-1].ravel()
    assert np.corrcoef(heights, shares)[0, 1] > 0.999
    assert card.locator("circle").count() == len(detail["curves"][0]["value"])


def test_pointer_keyboard_and_row_choose_a_feature(open_page):
    data = text_like()
    opened = open_page(page_of(data))
    page, tooltip, best = opened.page, opened.page.locator(".tooltip"), ranking(data)
    lonely = next(i for i in best if [rates(data, j) for j in best].count(rates(data, i)) == 1)
    page.mouse.move(*place(opened, *rates(data, lonely)))
    opened.settle()
    assert data["features"]["name"][lonely] in tooltip.inner_text() and "tp " in tooltip.inner_text()
    page.mouse.move(5, 5)
    opened.settle()
    assert tooltip.is_hidden()
    page.locator(".board").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    opened.settle()
    second = best_names(data)[1]
    assert second in tooltip.inner_text() and second in page.locator("#voice").inner_text()
    page.keyboard.press("Enter")
    opened.settle()
    assert page.locator(".panel h3").inner_text() == second
    page.keyboard.press("Escape")
    opened.settle()
    assert tooltip.is_hidden()

    page.locator("#features tbody tr[tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    opened.settle()
    fourth = best_names(data)[3]
    assert page.locator("#features tr[aria-current]").inner_text().split()[1] == fourth
    assert page.locator(".panel h3").inner_text() == fourth
    assert page.locator(".board .chosen circle").count() == 1
    assert page.evaluate("document.activeElement.querySelector('h3').textContent") == f"4. {fourth}table"


def test_rectangle_and_search_filter_the_table_which_sorts(open_page):
    data = text_like()
    opened = open_page(page_of(data))
    page = opened.page
    features = data["features"]
    page.mouse.move(*place(opened, 0.1, 0.5))
    page.mouse.down()
    page.mouse.move(*place(opened, 0.9, 0.1), steps=3)
    page.mouse.up()
    opened.settle()
    inside = [i for i in ranking(data) if 0.1 <= rates(data, i)[0] <= 0.9 and 0.1 <= rates(data, i)[1] <= 0.5]
    assert inside and column(opened, "Name") == [features["name"][i] for i in inside]
    page.locator("fieldset").get_by_role("button", name="Clear").click()
    opened.settle()
    assert page.locator("#features table").get_attribute("aria-rowcount") == "301"
    for label in ("least fpr", "least tpr"):  # the same without a pointer
        page.get_by_label(label).fill("0.1")
        page.get_by_label(label).press("Enter")
    opened.settle()
    inside = [i for i in ranking(data) if min(rates(data, i)) >= 0.1]
    assert column(opened, "Name") == [features["name"][i] for i in inside]
    page.locator("fieldset").get_by_role("button", name="Clear").click()

    search(opened, "A29")
    found = [i for i in ranking(data) if "a29" in features["name"][i]]
    assert column(opened, "Name") == [features["name"][i] for i in found]
    assert f"{len(found)} of 300 features" in page.locator("#features [role=status]").inner_text()
    header = page.locator("#features th", has_text="Non-zero")
    header.get_by_role("button").click()
    for order, sign in (("descending", -1), ("ascending", 1)):
        opened.settle()
        assert header.get_attribute("aria-sort") == order
        counts = sorted((features["nonzero"][i] for i in found), key=lambda count: sign * count)
        assert list(map(float, column(opened, "Non-zero"))) == counts
        page.keyboard.press("Enter")  # the head of the column has the focus


def test_the_number_of_best_features_moves_the_cut_everywhere(open_page):
    data = text_like()
    opened = open_page(page_of(data))
    page = opened.page
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the 75 names").click()
    assert saved.value.path().read_text("utf-8").splitlines() == best_names(data, count=75)
    assert saved.value.suggested_filename == "best-75-by-bns.txt"
    slider, board = page.locator("#cut"), page.locator(".board")
    slider.focus()
    page.keyboard.press("Home")
    opened.settle()
    assert slider.get_attribute("aria-valuetext") == "1 feature"
    assert board.get_attribute("data-best") == "1"
    page.get_by_label("N, the number of best features").fill("50")
    page.keyboard.press("Enter")
    opened.settle()
    assert board.get_attribute("data-best") == "50"
    assert "best 50" in board.locator(".cut text").text_content()
    both = set(ranking(data)[:50]) & set(ranking(data, "chi")[:50])
    shared = page.locator("#rankings .heat").nth(1).locator("tbody tr").nth(0).locator("td").nth(1)
    assert shared.inner_text() == f"{100 * len(both) / 50:.0f}"
    nonzero = sum(data["features"]["nonzero"][i] for i in ranking(data)[:50]) / 400
    assert f"bns{nonzero:.4g}" in page.locator(".ends li[aria-current]").text_content()
    assert "select --by bns --top 50" in page.locator(".command").inner_text()


def test_another_metric_is_in_the_plane_before_it_is_in_the_table(open_page):
    data = text_like()
    opened = open_page(page_of(data))
    page = opened.page
    caption = page.locator("#plane figcaption")
    at_once = page.evaluate(
        """() => {
            const choice = document.querySelector(".steering select");
            choice.value = "f1";
            choice.dispatchEvent(new Event("change"));
            const names = [...document.querySelectorAll("#features tbody tr[data-row]")].map((row) => row.cells[1]);
            return [document.querySelector("#plane figcaption"), ...names.slice(0, 10)].map((each) => each.textContent);
        }"""
    )
    assert "equal scores by f1" in at_once[0]
    assert at_once[1:] == best_names(data, "bns", 10) != best_names(data, "f1", 10)
    opened.settle()
    assert column(opened, "Name")[:10] == best_names(data, "f1", 10)
    # A metric that does not look at the plane has no lines, and the page says so.
    choose_metric(opened, "gainratio")
    assert column(opened, "Name")[:10] == best_names(data, "gainratio", 10)
    assert page.locator(".board path").count() == page.locator(".board .grid path").count()
    assert "does not score points of the plane" in caption.inner_text()


def test_isolines_pass_where_the_scores_are(open_page):
    """The bold line is where the metric has the score of the last of the best N."""
    data = text_like()
    opened = open_page(page_of(data))
    choose_metric(opened, "acc2")
    level = data["features"]["scores"]["acc2"][ranking(data, "acc2")[74]]
    size = board_size(opened)
    path = opened.page.locator(".board .cut path").get_attribute("d")
    corners = [(float(x), float(y)) for x, y in re.findall(r"([-\d.]+),([-\d.]+)", path)]
    fpr, tpr = np.array([((x - 50) / (size - 66), (size - 42 - y) / (size - 54)) for x, y in corners]).T
    inside = (fpr > 0.02) & (fpr < 0.98) & (tpr > 0.02) & (tpr < 0.98)
    (task,) = data["tasks"]
    scores = score_by_rate_difference(tpr[inside] * task["pos"], fpr[inside] * task["neg"], task["pos"], task["neg"])
    assert inside.sum() > 20
    assert np.abs(scores - level).max() < 0.02
    assert opened.page.locator(".board .isolines path").count() >= 5


def test_many_classes_a_nominal_and_a_constant_attribute(open_page):
    data = many_classes()
    opened = open_page(page_of(data))
    page = opened.page
    detail, card = data["details"][0], page.locator(".card").first
    lines, rects = card.locator("[aria-label=line] path"), card.locator("[aria-label=rect] rect")
    strokes = lines.evaluate_all("lines => lines.map(each => each.getAttribute('stroke'))")
    fills = rects.evaluate_all("rects => rects.map(each => each.getAttribute('fill'))")
    assert strokes == [f"var(--colour-{curve['task']})" for curve in detail["curves"]]
    assert fills[:: len(detail["before"]["counts"][0])] == [*(f"var(--colour-{n})" for n in range(5)), "var(--dot)"]

    assert "the same value in all rows: a4" in page.locator(".warnings").inner_text()
    search(opened, "a4")
    assert [column(opened, label) for label in ("Name", "Rank", "Test", "bns")] == [["a4"], ["–"], ["–"], ["–"]]
    search(opened, "a5")
    assert column(opened, "Test")[0].startswith("= ")
    board, points = page.locator(".board"), data["features"]["points"]
    here = [i for i in ranking(data) if points["task"][best_point(data, i)] == 3]
    for choice, count in (("3", len(here)), ("", 29)):
        page.get_by_label("Class").first.select_option(choice)
        opened.settle()
        assert board.get_attribute("data-features") == str(count)
    assert "Choose one class to see isolines" in page.locator("#plane figcaption").inner_text()

    assert opened.is_within(390)
    assert board_size(opened) <= 390
    ends = page.locator(".scroller").evaluate_all("all => all.map(it => it.getBoundingClientRect().right)")
    assert max(ends) <= 390  # only tables scroll


def test_a_numeric_class_has_a_distribution_and_curves_of_its_mean(open_page):
    opened = open_page(page_of(numeric_class()))
    page = opened.page
    assert page.locator("#plane").count() == 0
    assert page.get_by_label("Distribution of the class", exact=True).count() == 1
    assert page.get_by_label("Mean of the class", exact=True).count() == 3
    heads = page.locator("#features thead th").all_text_contents()
    assert {"correlation", "ftest", "mi"} <= set(heads) and not {"tp", "fp", "Test"} & set(heads)
    text = page.inner_text("main")
    assert "positive" not in text and "Missing\n1 row" in text


def test_hostile_names_are_harmless_and_visible(open_page):
    opened = open_page(page_of(hostile_names()))
    page = opened.page
    assert page.locator("main img, main script").count() == 0
    shown = column(opened, "Name")
    assert len(shown) == len(HOSTILE)
    assert {
        *("</script><script>window.hacked = 1</script>", "(empty)", "__proto__", "␣␣blanks at both ends␣␣"),
        *("line␊break␉tab␀null␛escape␡", "right⟨U+202E⟩to left⟨U+2066⟩isolate⟨U+200B⟩zero width"),
    } <= set(shown)
    page.locator(".board").focus()
    for _ in HOSTILE:
        page.keyboard.press("ArrowRight")
    opened.settle()
    assert page.evaluate("window.hacked") is None
    assert opened.is_within(1280) and opened.is_within(390)


def test_many_features_are_in_the_document_only_where_they_are_seen(open_page):
    content = page_of(many_features())
    assert len(content) < 1_500_000
    opened = open_page(content)
    page = opened.page
    assert page.locator("#features table").get_attribute("aria-rowcount") == "20001"
    assert page.locator("#features tbody tr").count() < 60
    page.locator("#features tbody tr[tabindex='0']").focus()
    page.keyboard.press("End")
    opened.settle()
    assert page.locator("#features tbody tr:focus").get_attribute("aria-rowindex") == "20001"
    search(opened, "a1999")
    assert sorted(column(opened, "Name")) == sorted(["a1999", *(f"a1999{digit}" for digit in range(10))])


def test_a_table_without_features(open_page):
    opened = open_page(page_of(without_features()))
    assert opened.page.locator("#features [role=status]").inner_text().startswith("0 features.")


def test_the_page_in_the_dark_and_on_paper(open_page):
    opened = open_page(page_of(text_like()))
    page = opened.page
    for scheme, colour in (("dark", "rgb(18, 22, 27)"), ("light", "rgb(255, 255, 255)")):
        page.emulate_media(color_scheme=scheme)
        opened.settle()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == colour
    page.emulate_media(media="print")
    opened.settle()
    assert page.locator(".steering").is_hidden()
    assert page.locator("#features tbody tr[data-row]").count() == 50
    assert "and 250 more rows" in page.locator("#features tbody").inner_text()
    assert page.locator(".board canvas").bounding_box()["width"] <= 460
    page.emulate_media(media="screen")
    opened.settle()
    assert len(re.findall(rb"/Type */Page\b", page.pdf(format="A4"))) < 12
    assert page.locator("#features tbody .spacer").count() == 1
