"""Checks a folder of HTML pages: every link leads somewhere, and opening a page asks the network for nothing.

python tools/check_site.py site
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LINKS = {"a": "href", "area": "href"}  # what a reader may follow
_LOADED = {"link": "href", "object": "data"}  # what a browser loads; `src` of any other element, too
_NOT_LOADED = {"canonical", "next", "prev", "search", "index", "author", "license", "alternate"}  # as rel of <link>
_IN_STYLE = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s]+)""")


@dataclass
class Page(HTMLParser):
    """What a page refers to.

    Attributes
    ----------
    anchors : names that a fragment of a link may have.
    links : addresses that a reader may follow.
    loaded : addresses that the browser asks for when the page is opened.
    """

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses and the anchors of an element."""
        of = {name: value or "" for name, value in attrs}
        self.anchors |= {of[name] for name in ("id", "name") if name in of}
        if tag in _LINKS and _LINKS[tag] in of:
            self.links.append(of[_LINKS[tag]])
        elif tag in _LOADED and not _NOT_LOADED & set(of.get("rel", "").split()):
            self.loaded.append(of.get(_LOADED[tag], ""))
        self.loaded += [of[name] for name in ("src", "poster") if name in of]
        self.loaded += [part.split()[0] for part in of.get("srcset", "").split(",") if part.strip()]
        self.loaded += _IN_STYLE.findall(of.get("style", ""))


def mistakes(folder: Path) -> list[str]:
    """What is wrong with the pages and style sheets in a folder, one line each."""
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        pages[path.resolve()] = page = Page()
        page.feed(path.read_text(encoding="utf-8"))
    found = [] if pages else [f"{folder}: no pages"]
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        found += [f"{name}: {why}" for address in page.links if (why := _broken(path, address, pages))]
        found += [f"{name}: {why}" for address in page.loaded if (why := _asked_for(path, address))]
    for path in sorted(folder.rglob("*.css")):
        addresses = _IN_STYLE.findall(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(folder)}: {why}" for each in addresses if (why := _asked_for(path, each))]
    return found


def _broken(path: Path, address: str, pages: dict[Path, Page]) -> str:
    """Why a link of the page at `path` leads nowhere; empty if it does, or leads out of the site."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return f"the link to {address} leads to no file"
    anchor = unquote(parts.fragment)
    if anchor and (target not in pages or anchor not in pages[target].anchors):
        return f"the link to {address} leads to no such place in the page"
    return ""


def _asked_for(path: Path, address: str) -> str:
    """Why what the file at `path` loads is not beside it; empty if it is."""
    parts = urlsplit(address)
    if parts.scheme == "data" or (not parts.path and not parts.netloc):
        return ""
    if parts.scheme or parts.netloc:
        return f"{address} is loaded from the network"
    return "" if (path.parent / unquote(parts.path)).is_file() else f"{address} is loaded, and there is no such file"


if __name__ == "__main__":
    wrong = mistakes(Path(sys.argv[1]))
    print("\n".join(wrong) or "all links lead somewhere, and nothing is loaded from the network")
    sys.exit(bool(wrong))
