"""A real browser, and pages of `explore` that are open in it."""

import shutil
from dataclasses import dataclass, field

import made_explore
import pytest

CHROMIUM = shutil.which("chromium")
SIZE = {"width": 1280, "height": 900}
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


def watched(context):
    """A new page of a context, and the list of what it will complain of."""
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return page, complaints


@pytest.fixture(scope="module")
def shared_page(browser):
    """The page in which tests take turns."""
    return watched(browser.new_context(viewport=SIZE))


@pytest.fixture
def new_page(browser, shared_page):
    """Gives a page and the list of its complaints.

    It is the shared one, because each new one would start a process, or, for options, one of its own.
    """
    contexts = []

    def give(**options):
        if not options:
            return shared_page
        contexts.append(browser.new_context(**{"viewport": SIZE} | options))
        return watched(contexts[-1])

    yield give
    for context in contexts:
        context.close()
    page, complaints = shared_page
    page.unroute_all()
    page.mouse.move(0, 0)
    complaints.clear()


@pytest.fixture
def open_page(new_page, written):
    """Opens such a page, once in a test; at the end it must not have asked for anything, nor complained."""
    opened = []

    def open_it(made, **options):
        path, data = written(made)
        page, complaints = new_page(**options)
        it = Opened(page, data, complaints=complaints)
        opened.append(it)
        page.route(lambda url: url != path.as_uri(), lambda route: _refuse(it, route))
        page.goto(path.as_uri())
        if options.get("java_script_enabled", True):
            page.wait_for_selector("body.live")
            it.settle()
        return it

    yield open_it
    for it in opened:
        assert (it.requests, it.complaints) == ([], [])


def _refuse(it, route):
    it.requests.append(route.request.url)
    route.abort()
