"""The page of `explore` in a real browser."""

import re

import numpy as np
import pytest
from agreement import sample
from made_explore import (
    HOSTILE,
    hostile_names,
    many_classes,
    numeric_class,
    real_table,
    scored_without_class,
    text_like,
    thirty_thousand,
    without_class,
    without_features,
)

import filterkit


def ranking(data, metric="bns"):
    """The features, best first; ties in the order of the data."""
    scores = data["features"]["scores"][metric]
    return sorted((i for i, score in enumerate(scores) if score is not None), key=lambda i: (-scores[i], i))


def best_point(data, feature, metric="bns"):
    """The number of the point that is best by the metric."""
    return data["features"]["points"]["start"][feature] + data["features"]["point"][metric][feature]


def rates(data, feature, metric="bns"):
    """(fpr, tpr) of a feature at its best test."""
    points, point = data["features"]["points"], best_point(data, feature, metric)
    task = data["tasks"][points["task"][point]]
    return points["fp"][point] / task["neg"], points["tp"][point] / task["pos"]


def place(opened, feature, metric="bns"):
    """Where in the window the dot of a feature is, in pixels."""
    board = opened.page.locator(".board")
    board.scroll_into_view_if_needed()
    box = board.bounding_box()
    fpr, tpr = rates(opened.data, feature, metric)
    size = box["width"]
    return box["x"] + 50 + fpr * (size - 66), box["y"] + size - 42 - tpr * (size - 54)


def test_the_overview_says_what_was_read(open_page):
    opened = open_page(text_like)
    text = opened.page.locator("#overview").inner_text()
    assert all(part in text for part in ("400", "300 numeric, 1 nominal", "88.3 %", "wheat", "rest"))
    assert opened.page.locator("header").inner_text().startswith("made.arff")
    widths = opened.show("() => [...document.querySelectorAll('.bars .fill')].slice(0, 2).map(bar => bar.offsetWidth)")
    sizes = sorted(opened.data["overview"]["class"]["rows"], reverse=True)
    assert widths[1] / widths[0] == pytest.approx(sizes[1] / sizes[0], abs=0.02)


def test_the_plane_has_a_dot_for_each_feature(open_page):
    opened = open_page(text_like)
    data = opened.data
    board = opened.page.locator(".board")
    drawn = {key: int(board.get_attribute(f"data-{key}")) for key in ("dots", "features", "best")}
    size = board.bounding_box()["width"]
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
    assert min(opened.show(alpha, sorted(pixels))) > 0
    assert opened.show(alpha, [[size - 100, size / 2]]) == [0]


def test_isolines_pass_where_the_scores_are(open_page):
    """The bold line is where the metric has the score of the last of the best N."""
    from filterkit_plugins.metrics import acc2

    opened = open_page(text_like)
    opened.page.get_by_label("Metric", exact=False).first.select_option("acc2")
    opened.settle()
    data = opened.data
    level = data["features"]["scores"]["acc2"][ranking(data, "acc2")[74]]
    size = opened.page.locator(".board").bounding_box()["width"]
    path = opened.page.locator(".board .cut path").get_attribute("d")
    corners = [(float(x), float(y)) for x, y in re.findall(r"([-\d.]+),([-\d.]+)", path)]
    fpr, tpr = np.array([((x - 50) / (size - 66), (size - 42 - y) / (size - 54)) for x, y in corners]).T
    inside = (fpr > 0.02) & (fpr < 0.98) & (tpr > 0.02) & (tpr < 0.98)
    (task,) = data["tasks"]
    scores = acc2(tpr[inside] * task["pos"], fpr[inside] * task["neg"], task["pos"], task["neg"])
    assert inside.sum() > 20
    assert np.abs(scores - level).max() < 0.02
    assert opened.page.locator(".board .isolines path").count() >= 5
    # A metric that does not look at the plane has no lines, and the page says so.
    opened.page.get_by_label("Metric", exact=False).first.select_option("pr")
    opened.settle()
    assert opened.page.locator(".board path").count() == opened.page.locator(".board .grid path").count()
    assert "does not score points of the plane" in opened.page.locator("#plane figcaption").inner_text()


def test_pointer_and_keyboard_name_a_feature(open_page):
    opened = open_page(text_like)
    best = ranking(opened.data)
    lonely = next(i for i in best if [rates(opened.data, j) for j in best].count(rates(opened.data, i)) == 1)
    name = opened.data["features"]["name"][lonely]
    opened.page.mouse.move(*place(opened, lonely))
    assert name in opened.page.locator(".tooltip").inner_text()
    assert "tp " in opened.page.locator(".tooltip").inner_text()
    opened.page.mouse.move(5, 5)
    assert opened.page.locator(".tooltip").is_hidden()
    opened.page.locator(".board").focus()
    opened.page.keyboard.press("ArrowRight")
    opened.page.keyboard.press("ArrowRight")
    second = opened.data["features"]["name"][best[1]]
    assert second in opened.page.locator(".tooltip").inner_text()
    assert second in opened.page.locator("#voice").inner_text()
    opened.page.keyboard.press("Enter")
    assert opened.page.locator(".panel h3").inner_text() == second
    opened.page.keyboard.press("Escape")
    assert opened.page.locator(".tooltip").is_hidden()


def test_a_rectangle_filters_the_table(open_page):
    opened = open_page(text_like)
    board = opened.page.locator(".board").bounding_box()
    size = board["width"]
    left, top = board["x"] + 50, board["y"] + 12
    opened.page.mouse.move(left + 0.1 * (size - 66), top + 0.5 * (size - 54))
    opened.page.mouse.down()
    opened.page.mouse.move(left + 0.9 * (size - 66), top + 0.9 * (size - 54), steps=3)
    opened.page.mouse.up()
    opened.settle()
    inside = [
        i
        for i in ranking(opened.data)
        if 0.1 <= rates(opened.data, i)[0] <= 0.9 and 0.1 <= rates(opened.data, i)[1] <= 0.5
    ]
    assert inside
    assert opened.column("Name") == [opened.data["features"]["name"][i] for i in inside]
    opened.page.locator("fieldset").get_by_role("button", name="Clear").click()
    opened.settle()
    assert opened.page.locator("#features table").get_attribute("aria-rowcount") == "301"
    # The same without a pointer.
    opened.page.get_by_label("least fpr").fill("0.1")
    opened.page.get_by_label("least fpr").press("Enter")
    opened.page.get_by_label("least tpr").fill("0.1")
    opened.page.get_by_label("least tpr").press("Enter")
    opened.settle()
    inside = [i for i in ranking(opened.data) if min(rates(opened.data, i)) >= 0.1]
    assert opened.column("Name") == [opened.data["features"]["name"][i] for i in inside]


def test_search_and_sort(open_page):
    opened = open_page(text_like)
    names = opened.data["features"]["name"]
    opened.page.get_by_role("searchbox").fill("RD29")
    opened.settle()
    found = [i for i in ranking(opened.data) if "rd29" in names[i]]
    assert opened.column("Name") == [names[i] for i in found]
    assert f"{len(found)} of 300 features" in opened.page.locator("#features [role=status]").inner_text()
    header = opened.page.locator("#features th", has_text="Non-zero")
    header.get_by_role("button").click()
    opened.settle()
    nonzero = opened.data["features"]["nonzero"]
    assert header.get_attribute("aria-sort") == "descending"
    assert opened.column("Non-zero") == [str(nonzero[i]) for i in sorted(found, key=lambda i: (-nonzero[i], i))]
    opened.page.keyboard.press("Enter")  # the head of the column has the focus
    opened.settle()
    assert header.get_attribute("aria-sort") == "ascending"
    assert opened.column("Non-zero") == [str(nonzero[i]) for i in sorted(found, key=lambda i: (nonzero[i], i))]


def test_every_column_is_the_data(open_page):
    opened = open_page(text_like)
    features = opened.data["features"]
    best = ranking(opened.data)
    row = dict(zip(opened.page.locator("#features thead th").all_text_contents(), opened.rows()[0]))
    point = best_point(opened.data, best[0])
    assert row["Name"] == features["name"][best[0]]
    assert row["Rank"] == "1"
    assert row["Test"] == f"≥ {features['points']['threshold'][point]:g}"
    assert (row["tp"], row["fp"]) == (str(features["points"]["tp"][point]), str(features["points"]["fp"][point]))
    assert float(row["bns"]) == pytest.approx(features["scores"]["bns"][best[0]], rel=1e-3)
    assert row["Non-zero"] == str(features["nonzero"][best[0]])


def test_choosing_a_row_shows_the_feature_everywhere(open_page):
    opened = open_page(text_like)
    name = opened.data["features"]["name"][ranking(opened.data)[3]]
    row = opened.page.locator("#features tbody tr[data-row]").nth(0)
    row.focus()
    for _ in range(3):
        opened.page.keyboard.press("ArrowDown")
    opened.page.keyboard.press("Enter")
    opened.settle()
    assert opened.page.locator("#features tr[aria-current]").inner_text().split()[1] == name
    assert opened.page.locator(".panel h3").inner_text() == name
    assert opened.page.locator(".board .chosen circle").count() == 1
    assert opened.show("() => document.activeElement.querySelector('h3').textContent") == f"4. {name}table"


def test_the_slider_moves_the_cut_everywhere(open_page):
    opened = open_page(text_like)
    slider = opened.page.locator("#cut")
    slider.focus()
    opened.page.keyboard.press("Home")
    opened.settle()
    assert slider.get_attribute("aria-valuetext") == "1 feature"
    assert opened.page.locator(".board").get_attribute("data-best") == "1"
    opened.page.get_by_label("N, the number of best features").fill("50")
    opened.page.keyboard.press("Enter")
    opened.settle()
    assert opened.page.locator(".board").get_attribute("data-best") == "50"
    assert "best 50" in opened.page.locator(".board .cut text").text_content()
    best = set(ranking(opened.data)[:50]) & set(ranking(opened.data, "chi")[:50])
    shared = opened.page.locator("#rankings .heat").nth(1).locator("tbody tr").nth(0).locator("td").nth(1)
    assert shared.inner_text() == f"{100 * len(best) / 50:.0f}"
    nonzero = sum(opened.data["features"]["nonzero"][i] for i in ranking(opened.data)[:50]) / 400
    assert f"bns{nonzero:.4g}" in opened.page.locator(".ends li[aria-current]").text_content()
    assert "select --by bns --top 50" in opened.page.locator(".command").inner_text()


def test_the_names_of_the_best_are_saved(open_page):
    opened = open_page(text_like)
    with opened.page.expect_download() as saved:
        opened.page.get_by_role("button", name="Save the 75 names").click()
    names = [opened.data["features"]["name"][i] for i in ranking(opened.data)[:75]]
    assert saved.value.path().read_text("utf-8").splitlines() == names
    assert saved.value.suggested_filename == "best-75-by-bns.txt"


def test_another_metric_ranks_anew(open_page):
    opened = open_page(text_like)
    opened.page.get_by_label("Metric", exact=False).first.select_option("pr")
    opened.settle()
    names = [opened.data["features"]["name"][i] for i in ranking(opened.data, "pr")[:10]]
    assert opened.column("Name")[:10] == names
    assert "pr" in opened.page.locator("#features thead").inner_text()


def test_another_metric_is_in_the_plane_before_it_is_in_the_table(open_page):
    opened = open_page(text_like)
    at_once = opened.show(
        """() => {
            const choice = document.querySelector(".steering select");
            choice.value = "f1";
            choice.dispatchEvent(new Event("change"));
            const names = [...document.querySelectorAll("#features tbody tr[data-row]")].map((row) => row.cells[1]);
            return [document.querySelector("#plane figcaption"), ...names.slice(0, 10)].map((each) => each.textContent);
        }"""
    )
    assert "equal scores by f1" in at_once[0]
    first, chosen = (
        [opened.data["features"]["name"][i] for i in ranking(opened.data, name)[:10]] for name in ("bns", "f1")
    )
    assert at_once[1:] == first != chosen
    opened.settle()
    assert opened.column("Name")[:10] == chosen


def test_cards_show_the_best_features(open_page):
    opened = open_page(text_like)
    opened.page.wait_for_function("() => !document.querySelector('.waiting')")
    data = opened.data
    assert opened.page.locator(".card").count() == len(data["details"])
    detail, card = data["details"][0], opened.page.locator(".card").first
    assert card.locator("figure").count() == 3
    bars = card.locator("figure").first.locator("[aria-label=rect] rect")
    assert bars.count() == np.size(detail["before"]["counts"])
    heights = [float(height) for height in bars.evaluate_all("bars => bars.map(bar => bar.getAttribute('height'))")]
    zero, counts = np.array(detail["before"]["zero"]), np.array(detail["before"]["counts"])
    shares = (counts / (counts.sum(1) + zero)[:, None])[::-1].ravel()  # the positive class is the second, and on top
    assert np.corrcoef(heights, shares)[0, 1] > 0.999
    assert card.locator("circle").count() == len(detail["curves"][0]["value"])


def test_many_classes_a_nominal_and_a_constant_attribute(open_page):
    opened = open_page(many_classes)
    data = opened.data
    assert "1 attributes are constant" in opened.page.locator(".warnings").inner_text()
    opened.page.get_by_role("searchbox").fill("measure 4")
    opened.settle()
    assert [opened.column(label) for label in ("Name", "Rank", "Test", "bns")] == [["measure 4"], ["–"], ["–"], ["–"]]
    opened.page.get_by_role("searchbox").fill("measure 5")
    opened.settle()
    assert opened.column("Test")[0].startswith("= ")
    opened.page.get_by_label("Class").first.select_option("3")
    opened.settle()
    points = data["features"]["points"]
    here = [i for i in ranking(data) if points["task"][best_point(data, i)] == 3]
    assert opened.page.locator(".board").get_attribute("data-features") == str(len(here))
    opened.page.get_by_label("Class").first.select_option("")
    opened.settle()
    assert opened.page.locator(".board").get_attribute("data-features") == "29"
    assert "Choose one class to see isolines" in opened.page.locator("#plane figcaption").inner_text()


def test_a_class_has_one_colour_everywhere(open_page):
    opened = open_page(many_classes)
    opened.page.wait_for_function("() => !document.querySelector('.waiting')")
    detail, card = opened.data["details"][0], opened.page.locator(".card").first
    lines, rects = card.locator("[aria-label=line] path"), card.locator("[aria-label=rect] rect")
    strokes = lines.evaluate_all("lines => lines.map(each => each.getAttribute('stroke'))")
    fills = rects.evaluate_all("rects => rects.map(each => each.getAttribute('fill'))")
    bins = len(detail["before"]["counts"][0])
    assert strokes == [f"var(--colour-{curve['task']})" for curve in detail["curves"]]
    assert fills[::bins] == [f"var(--colour-{number % 8})" for number in (0, 1, 2, 3, 4, 11)]  # the largest classes


def test_without_a_class_there_are_no_scores(open_page):
    opened = open_page(without_class)
    assert opened.page.locator("#plane, .steering").count() == 0
    assert opened.column("Name") == [f"x{i}" for i in range(8)]
    assert opened.page.locator("#cards .card").count() == 8


def test_scores_that_need_no_class(open_page):
    opened = open_page(scored_without_class)
    assert opened.page.locator("#plane").count() == 0
    assert opened.column("Name") == [f"x{i}" for i in reversed(range(8))]
    assert opened.page.locator(".card").count() == 8


def test_a_numeric_class_has_a_distribution_and_curves_of_its_mean(open_page):
    opened = open_page(numeric_class)
    assert opened.page.locator("#plane").count() == 0
    assert opened.page.get_by_label("Distribution of the class", exact=True).count() == 1
    assert opened.page.get_by_label("Mean of the class", exact=True).count() == 3
    heads = opened.page.locator("#features thead th").all_text_contents()
    assert {"correlation", "ftest", "mi"} <= set(heads) and not {"tp", "fp", "Test"} & set(heads)
    text = opened.page.inner_text("main")
    assert "positive" not in text and "Missing\n1 row" in text


def test_hostile_names_are_harmless_and_visible(open_page):
    opened = open_page(hostile_names)
    assert opened.show("() => window.hacked") is None
    assert opened.page.locator("main img, main script").count() == 0
    shown = opened.column("Name")
    assert len(shown) == len(HOSTILE)
    assert {"</script><script>window.hacked = 1</script>", "(empty)", "__proto__"} <= set(shown)
    assert "line␊break␉tab␀null␛escape␡" in shown
    assert "right⟨U+202E⟩to left⟨U+2066⟩isolate⟨U+200B⟩zero width" in shown
    assert "␣␣blanks at both ends␣␣" in shown
    assert opened.show("() => document.documentElement.scrollWidth") == 1280
    opened.page.locator(".board").focus()
    for _ in HOSTILE:
        opened.page.keyboard.press("ArrowRight")
    assert opened.show("() => window.hacked") is None


def test_thirty_thousand_features(open_page, written):
    path, _ = written(thirty_thousand)
    assert path.stat().st_size < 5_000_000
    opened = open_page(thirty_thousand)
    assert opened.page.locator("#features table").get_attribute("aria-rowcount") == "30001"
    assert opened.page.locator("#features tbody tr").count() < 60
    opened.page.locator("#features tbody tr[tabindex='0']").focus()
    opened.page.keyboard.press("End")
    opened.settle()
    last = opened.page.locator("#features tbody tr:focus")
    assert last.get_attribute("aria-rowindex") == "30001"
    opened.page.get_by_role("searchbox").fill("word2999")
    opened.settle()
    assert sorted(opened.column("Name")) == sorted(["word2999", *(f"word2999{digit}" for digit in range(10))])


def test_without_scripts_the_plain_page_stays(open_page):
    opened = open_page(text_like, java_script_enabled=False)
    assert opened.page.locator("main table td").inner_text() == "plain"


def test_a_table_without_features(open_page):
    opened = open_page(without_features)
    assert opened.page.locator("#features [role=status]").inner_text().startswith("0 features.")
    assert opened.page.locator(".board").get_attribute("data-dots") == "0"


def test_in_the_dark(open_page):
    opened = open_page(text_like, color_scheme="dark")
    assert opened.show("() => getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 27)"
    opened.page.emulate_media(color_scheme="light")
    assert opened.show("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_the_page_of_a_real_table_says_what_scores_says(open_page):
    opened = open_page(real_table)
    best = filterkit.scores(sample("fortunes", positive="food"), "bns").slice(0, 10).to_pydict()
    assert opened.column("Name")[:10] == best["attribute"]
    assert opened.column("tp")[:10] == [f"{tp:.0f}" for tp in best["tp"]]
    assert opened.page.locator(".card").count() == 50


@pytest.mark.parametrize("made", [many_classes, hostile_names])
def test_on_a_narrow_screen_only_tables_scroll(open_page, made):
    opened = open_page(made, viewport={"width": 390, "height": 800})
    opened.page.wait_for_function("() => !document.querySelector('.waiting')")
    assert opened.show("() => document.documentElement.scrollWidth") == 390
    assert opened.page.locator(".board").bounding_box()["width"] <= 390
    ends = opened.page.locator(".scroller").evaluate_all("all => all.map(it => it.getBoundingClientRect().right)")
    assert max(ends) <= 390


def test_on_paper_controls_go_and_the_table_is_whole(open_page):
    opened = open_page(text_like)
    opened.page.emulate_media(media="print")
    opened.settle()
    assert opened.page.locator(".steering").is_hidden()
    assert opened.page.locator("#features tbody tr[data-row]").count() == 50
    assert "and 250 more rows" in opened.page.locator("#features tbody").inner_text()
    assert opened.page.locator(".board canvas").bounding_box()["width"] <= 460
    opened.page.emulate_media(media="screen")
    opened.settle()
    assert len(re.findall(rb"/Type */Page\b", opened.page.pdf(format="A4"))) < 12
    assert opened.page.locator("#features tbody .spacer").count() == 1
