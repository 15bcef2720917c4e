"""The page of `filterkit report` in a browser: what it shows is the data, and it answers mouse and keyboard."""

import numpy as np
import pytest
from made_results import drawn, result, table

from filterkit.evaluation.comparison import rank_methods_on_each_task
from filterkit.evaluation.measure_names import OF_NUMBERS, TITLES
from filterkit.evaluation.report_page import make_report_page
from filterkit.evaluation.results import Results

pytestmark = pytest.mark.separate

SHARES = (0.1, 0.5, 0.9)
SHOWN = ["accuracy", "f1", "auc"]
CONFUSION = [["", ["yes", "no"], [[0, 0, 3.0], [0, 1, 1.0], [1, 1, 8.0]]]]
HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "line\nbreak\x00\x1b[31m\u202e",
    "日本語のとても長い名前",
    "long " * 40,
    "${window.hacked = 3}",
    "",
]


def measured(tasks=5, folds=2, chains=4, shares=SHARES):
    """Results whose measures differ, with classes."""
    rng = np.random.default_rng(1)
    rows = table(drawn(tasks, folds, chains, len(shares)), shares)
    changed = [row.values | {"f1": float(rng.random()), "log_loss": float(rng.random())} for row in rows]
    return Results(row._replace(values=values, confusion=CONFUSION) for row, values in zip(rows, changed))


def page_of(results, shown=SHOWN, facts=()):
    return make_report_page(results, shown, "filterkit report r.csv -o p.html", facts)


def column(page, section, number):
    """The texts of a column of the table of a section."""
    return page.locator(f"#{section} tbody td:nth-child({number})").all_inner_texts()


def choose(opened, label, option):
    opened.page.get_by_role("combobox", name=label, exact=True).select_option(label=option)
    opened.settle()


def test_the_page_shows_the_data_and_sorts(open_page):
    results = measured(chains=6)
    opened = open_page(page_of(results, facts=[("seed", "7")]))
    page = opened.page
    assert page.title() == "Evaluation of d0, d1, d2, …"
    heads = [
        page.locator(f"#{name} h2").inner_text() for name in ("means", "curves", "ranks", "pairs", "tests", "tasks")
    ]
    assert heads == ["Means", "Learning curves", "Ranks", "Wins, ties and losses", "Differences", "Tasks"]

    means = results.compute_means_and_standard_errors("accuracy")[:, 2]
    best_first = np.argsort(-means[:, 0])
    assert column(page, "means", 1) == [results.chains[i] for i in best_first]
    assert column(page, "means", 2) == [f"{means[i, 0]:.3f} ± {means[i, 1]:.3f}" for i in best_first]
    assert page.locator("#means td:nth-child(2) .best").all_inner_texts() == column(page, "means", 2)[:1]
    page.locator("#means th", has_text="chain").locator("button").click()
    opened.settle()
    assert column(page, "means", 1) == results.chains
    page.keyboard.press("Enter")  # the head keeps the focus
    opened.settle()
    assert column(page, "means", 1) == results.chains[::-1]

    values = results.compute_values_by_task_or_fold("accuracy")[..., 2]
    assert column(page, "tasks", 1) == [data for data, _ in results.tasks]
    assert column(page, "tasks", 3) == [f"{value:.3f}" for value in values[:, 0]]
    assert page.locator("#tasks .best").count() == len(results.tasks)
    found = dict(zip(*(page.locator(f".made {tag}").all_text_contents() for tag in ("dt", "dd"))))
    assert (found["folds"], found["tasks"], found["seed"]) == ("2", "5", "7")

    assert opened.is_within(360)
    page.emulate_media(color_scheme="dark")
    opened.settle()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 27)"


def test_a_measure_and_a_share_can_be_chosen(open_page):
    results = measured()
    opened = open_page(page_of(results))
    page = opened.page
    for measure, share in [("f1", 2), ("log_loss", 0)]:
        choose(opened, "Measure", TITLES[measure])
        choose(opened, "Trained on", f"{SHARES[share] * 100:.0f} %")
        values = results.compute_values_by_task_or_fold(measure)[..., share]
        assert column(page, "tasks", 4) == [f"{value:.3f}" for value in values[:, 1]]
        by_accuracy = np.argsort(
            -results.compute_means_and_standard_errors("accuracy")[:, share, 0]
        )  # the table goes on to be sorted by it
        assert column(page, "means", 1) == [results.chains[i] for i in by_accuracy]
        best = (values.argmin if measure == "log_loss" else values.argmax)(axis=1)
        assert page.locator("#tasks .best").all_inner_texts() == [f"{v[i]:.3f}" for v, i in zip(values, best)]
        sign = -1 if measure == "log_loss" else 1
        found = rank_methods_on_each_task(sign * results.compute_values_by_task_or_fold(measure)[..., share]).mean(
            axis=0
        )
        named = page.locator("#ranks .rank text").all_text_contents()
        assert sorted(named) == sorted(f"{name} {rank:.2f}" for name, rank in zip(results.chains, found))
        wins, ties = results.count_wins_and_ties(measure, share)
        cells = page.locator("#pairs tbody td").all_inner_texts()
        off = [(i, j) for i in range(4) for j in range(4)]
        assert cells == ["" if i == j else f"{wins[i, j]}–{ties[i, j]}–{wins[j, i]}" for i, j in off]
        pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
        differences = [results.compare_chains(measure, j, i, share)[0] for i, j in pairs]
        shown = sorted(float(text.replace("−", "-")) for text in column(page, "tests", 3))
        np.testing.assert_allclose(shown, sorted(differences), atol=0.0006)


def test_curves_and_confusion_tell_their_numbers_to_pointer_and_keyboard(open_page):
    results = measured()
    opened = open_page(page_of(results))
    page = opened.page
    marks = page.locator("#curves circle")
    assert marks.count() == 4 * len(SHARES)
    ends = page.locator("#curves .ends text")
    assert sorted(ends.evaluate_all("all => all.map((e) => e.firstChild.data)")) == [*"abcd"]
    boxes = ends.evaluate_all("all => all.map((e) => e.getBoundingClientRect().y)")
    assert np.diff(np.sort(boxes)).min() >= 13
    heights = marks.evaluate_all("all => all.map((e) => e.getBoundingClientRect().y)")
    means = results.compute_means_and_standard_errors("accuracy")[..., 0].ravel()
    assert np.corrcoef(heights, means)[0, 1] < -0.999999
    marks.nth(4).hover(force=True)
    opened.settle()
    mean, error = results.compute_means_and_standard_errors("accuracy")[1, 1]
    assert page.locator("#tooltip").inner_text() == f"b\ntrained on 50 %: {mean:.3f} ± {error:.3f}"
    page.keyboard.press("Escape")
    opened.settle()
    assert page.locator("#tooltip").is_hidden()
    page.mouse.move(0, 0)
    opened.settle()
    page.locator("#curves svg").first.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    opened.settle()
    assert page.locator("#tooltip").inner_text().endswith(f"50 %: {mean:.3f} ± {error:.3f}")

    cells = page.locator("#confusion tbody td")
    assert page.locator("#confusion tbody th").all_inner_texts() == ["yes", "no"]
    assert cells.all_inner_texts() == ["6", "2", "·", "16"]
    shares = cells.evaluate_all("all => all.map((e) => e.style.getPropertyValue('--share'))")
    assert shares == ["75%", "25%", "0%", "100%"]
    choose(opened, "Chain", "c")
    cells.first.focus()
    page.keyboard.press("ArrowRight")
    opened.settle()
    assert page.locator("#tooltip").inner_text() == "yes · no: 2"


def test_a_single_share_and_a_single_task_of_very_many_classes(open_page):
    """Of the classes the most frequent errors are listed."""
    names = [f"class {number}" for number in range(60)]
    cells = [[number, number, 5.0] for number in range(60)] + [[7, 9, 3.0], [8, 9, 1.0]]
    rows = measured(tasks=1, folds=3, chains=2, shares=(0.9,)).rows
    page = open_page(page_of(Results(row._replace(confusion=[["", names, cells]]) for row in rows))).page
    assert page.locator("#curves circle").count() == 2
    assert page.get_by_label("Trained on").count() == 0 and page.locator("#ranks").count() == 0
    assert column(page, "tasks", 1) == ["fold 1", "fold 2", "fold 3"]
    assert "corrected resampled t-test over 3 folds" in page.locator("#tests p").inner_text()
    assert column(page, "confusion", 1) == ["class 7", "class 8"]
    assert column(page, "confusion", 4) == ["37.5 %", "16.7 %"]


def test_predicted_numbers_are_drawn_against_true_ones_and_residuals(open_page):
    """Both drawings have a point for each row; another chain has other points."""
    points = {name: [["price", [1.0, 2.0, 4.0][: 3 - i], [1.5, 2.0, 3.0][: 3 - i]]] for i, name in enumerate("ab")}
    rows = [result(name, 0.5)._replace(points=points[name], values=dict.fromkeys(OF_NUMBERS, 1e-5)) for name in "ab"]
    opened = open_page(page_of(Results(rows), ["mae"]))
    page = opened.page
    assert page.locator("#points svg circle").count() == 6
    labels = page.locator("#points svg").evaluate_all("each => each.map((svg) => svg.getAttribute('aria-label'))")
    assert labels == ["d · t · price: predicted against true", "d · t · price: residual against predicted"]
    page.locator("#points select").select_option(label="b")
    opened.settle()
    assert page.locator("#points svg circle").count() == 4
    assert column(page, "means", 2)[0].startswith("0.0000100")
    assert "positive" not in page.locator("main").inner_text()


def test_hostile_names_are_mere_text(open_page):
    rows = [
        result(name, 0.5 + number / 50 + task / 9, data=data, task=HOSTILE[-1 - task], share=share)
        for number, name in enumerate(HOSTILE)
        for task, data in enumerate(HOSTILE[:2])
        for share in (0.1, 0.9)
    ]
    rows = [row._replace(confusion=[["", HOSTILE, [[0, 1, 1.0], [2, 2, 3.0]]]]) for row in rows]
    page = open_page(page_of(Results(rows), facts=[("chain", HOSTILE[0])])).page
    assert page.evaluate("window.hacked") is None
    scripts = page_of(measured()).count(b"</script>")
    assert page.locator("script").count() == scripts and page.locator("img").count() == 0
    assert page.locator("#means tbody tr").count() == len(HOSTILE)
    assert HOSTILE[0] in column(page, "means", 1) and "(empty)" in column(page, "means", 1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_scripts_the_lines_of_the_command_are_shown(open_page):
    content = make_report_page(measured(), SHOWN, "filterkit report r.csv", (), ["chain  <b>", "a\x1b\n"])
    page = open_page(content, has_scripts=False).page
    assert page.locator("pre").inner_text().rstrip() == "chain  <b>\na\\x1b\\n"


def test_values_that_are_all_undefined_are_shown_as_such(open_page):
    page = open_page(page_of(Results(table(np.full((2, 2, 3, 2), np.nan), (0.1, 0.9))))).page
    assert set(column(page, "means", 2)) == {"–"}
