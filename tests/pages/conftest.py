"""A real browser, and pages that are open in it."""

import shutil
from dataclasses import dataclass

import pytest

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
    """A page in the browser, and what it complained of or asked for."""

    page: object
    complaints: list

    def settle(self):
        """Wait until the page has drawn what it was asked for: cards in idle moments, the rest within three frames."""
        self.page.wait_for_function("() => !document.querySelector('.waiting')")
        self.page.evaluate(
            """async () => {
                for (let frame = 0; frame < 4; frame++) await new Promise(requestAnimationFrame);
            }"""
        )

    def is_within(self, width):
        """Whether a window of this width has room for the page."""
        self.page.set_viewport_size(SIZE | {"width": width})
        self.settle()
        return self.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.fixture(scope="module")
def browser():
    """Chromium. While it runs, this thread has an event loop, so it ends with the module."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        launched = running.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield launched
        launched.close()


def new_page(browser, **options):
    """A page in a window of its own."""
    opened = Opened(browser.new_context(viewport=SIZE, **options).new_page(), [])
    opened.page.set_default_timeout(20_000)
    opened.page.on("console", lambda message: opened.complaints.append(message.text))
    opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    return opened


@pytest.fixture(scope="module")
def shared_page(browser):
    """The page in which tests take turns, because each new one would start a process."""
    return new_page(browser)


@pytest.fixture
def open_page(browser, shared_page, tmp_path):
    """Opens a page, given as bytes, once in a test; at the end it must not have asked for anything, nor complained."""
    path = tmp_path / "page.html"
    used = []

    def open_it(content, has_scripts=True):
        path.write_bytes(content)
        opened = shared_page if has_scripts else new_page(browser, java_script_enabled=False)
        used.append(opened)

        def refuse(route):
            opened.complaints.append(route.request.url)
            route.abort()

        opened.page.route(lambda url: url != path.as_uri(), refuse)
        opened.page.goto(path.as_uri())
        if has_scripts:
            opened.page.wait_for_selector("body.live")
            opened.settle()
        return opened

    yield open_it
    (opened,) = used
    assert opened.complaints == []
    if opened is shared_page:
        opened.page.unroute_all()
        opened.page.mouse.move(0, 0)
        opened.page.set_viewport_size(SIZE)
        opened.page.emulate_media(media="screen", color_scheme="light")
    else:
        opened.page.context.close()
