"""Makes a page: one HTML document with its data, its style, its scripts and the libraries that these draw with.

    data (JSON, compressed)  ─┐
    d3, Plot                 ─┼──> page.html
    common.js, common.css    ─┤
    NAME/*.js, NAME.js, .css ─┘

A content security policy in the page forbids every request, so an opened page cannot ask the network for anything. The
data is JSON, compressed by gzip and written in base64, whose characters mean nothing to HTML.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
import orjson

_FOLDER = files("filterkit.pages")
_LIBRARIES = ("vendor/d3.min.js", "vendor/plot.umd.min.js")
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="filterkit">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}</style>
</head>
<body data-page="{name}">
<main id="page">
{plain}</main>
<script id="data" type="application/gzip;base64">{data}</script>
{scripts}
</body>
</html>
"""


def make_page(name: str, title: str, data: Mapping[str, Any], plain: str) -> bytes:
    """Make a page: the bytes of an HTML document in UTF-8.

    Parameters
    ----------
    name : the name of the script and style that show the data, such as ``explore`` for ``explore.js`` and
        ``explore.css``. The scripts in a folder of this name, if there is one, run before it, sorted by name.
    title : any text.
    data : what the script shows: texts, numbers, NumPy arrays of numbers, None, and lists and dicts of these. NaN and
        infinity become null. An object that orjson cannot write raises TypeError.
    plain : HTML that shows the most important part of the data where scripts do not run; the script replaces it. It
        goes into the page as it is, so texts in it must be escaped.
    """
    packed = orjson.dumps(dict(data), _convert_for_orjson, option=orjson.OPT_SERIALIZE_NUMPY)
    folder = _FOLDER.joinpath(name)  # not every page has one
    parts = sorted(f"{name}/{part.name}" for part in folder.iterdir()) if folder.is_dir() else []
    scripts = [*_LIBRARIES, "common.js", *parts, f"{name}.js"]
    text = _PAGE.format(
        policy=escape(_POLICY),
        title=escape(title),
        style=_read_asset("common.css") + _read_asset(f"{name}.css"),
        name=escape(name),
        plain=plain,
        data=base64.b64encode(gzip.compress(packed, 6, mtime=0)).decode(),
        scripts="\n".join(f"<script>\n{_read_asset(script)}</script>" for script in scripts),
    )
    return text.encode("utf-8", "replace")


def _convert_for_orjson(value: Any) -> np.ndarray:
    """Convert an object that orjson refuses: return a contiguous copy of a strided array; else raise TypeError."""
    if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
        return np.ascontiguousarray(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _read_asset(path: str) -> str:
    """Return the text of a file in the folder of pages, with a line end at its end."""
    text = _FOLDER.joinpath(path).read_text("utf-8")
    return text if text.endswith("\n") else text + "\n"
