"""A real browser, and pages of `explore` that are open in it."""

import shutil
from dataclasses import dataclass, field

import made_explore
import pytest

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Opened:
    """A page in the browser: what it asked for and complained of since it was opened."""

    page: object
    data: dict
    requests: list = field(default_factory=list)
    complaints: list = field(default_factory=list)

    def show(self, script, *arguments):
        """The value of a JavaScript function, called with an argument."""
        return self.page.evaluate(script, *arguments)

    def rows(self):
        """The texts of the rows of the table of features that are in the document."""
        rows = self.page.locator("#features tbody tr[data-row]")
        return rows.evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.textContent))")

    def column(self, label):
        """The texts of a column of that table."""
        heads = self.page.locator("#features thead th").all_text_contents()
        return [row[heads.index(label)] for row in self.rows()]

    def settle(self):
        """Wait until the page has drawn what it was asked for, which takes three frames at most."""
        self.page.evaluate(
            """async () => {
                for (let frame = 0; frame < 4; frame++) await new Promise(requestAnimationFrame);
            }"""
        )


@pytest.fixture(scope="module")
def browser():
    """Chromium. While it runs, this thread has an event loop, so it ends with the module."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        launched = running.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Writes the page of one of the functions of made_explore, once: its path and its data."""
    folder, found = tmp_path_factory.mktemp("pages"), {}

    def write(made):
        if made not in found:
            path, data = folder / f"{made.__name__}.html", made()
            path.write_bytes(made_explore.page_of(data))
            found[made] = path, data
        return found[made]

    return write


@pytest.fixture
def open_page(browser, written):
    """Opens such a page; at the end it must not have asked for anything, nor complained."""
    context, opened = None, []

    def open_it(made, **options):
        nonlocal context
        path, data = written(made)
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        it = Opened(context.new_page(), data)
        opened.append(it)
        context.route(lambda url: url != path.as_uri(), lambda route: _refuse(it, route))
        it.page.on("console", lambda message: it.complaints.append(message.text))
        it.page.on("pageerror", lambda error: it.complaints.append(str(error)))
        it.page.goto(path.as_uri())
        if options.get("java_script_enabled", True):
            it.page.wait_for_selector("body.live")
            it.settle()
        return it

    yield open_it
    if context:
        context.close()
    for it in opened:
        assert (it.requests, it.complaints) == ([], [])


def _refuse(it, route):
    it.requests.append(route.request.url)
    route.abort()
