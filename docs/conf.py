"""How Sphinx makes a site of the Markdown pages: bash tools/build_site.

The source folder is the whole project. So links between pages work as they stand, also those that lead out of docs/. A
link to a file that is no page, such as LICENSE, becomes a download.
"""

from filterkit._version import __version__

project = "filterkit"
author = "The filterkit authors"
release = __version__

smartquotes = False  # quotes stay as they are typed
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["docs/**.md", "experiments/*.md", "**/README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
# docs/index.md includes the README. Sphinx need not look for pages in the other folders.
exclude_patterns = ["README.md", ".*", "build", "dist", "filterkit", "plugins", "site", "tests"]
myst_heading_anchors = 4  # links may lead to headings down to this level

html_theme = "furo"
html_title = f"filterkit {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_root"]  # index.html, which leads to docs/index.html
html_copy_source = False
html_use_index = False
html_show_copyright = False
html_show_search_summary = False  # a page opened from a disk can't fetch what the summaries are made of
