"""Sphinx's settings for the documentation site. `python tools/build_docs.py` builds it."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT)]

from triage import __version__  # noqa: E402 - after the path is set

project = "triage"
version = release = __version__
extensions = ["myst_parser", "docs_site.extension"]
triage_pack = str(ROOT)

source_suffix = {".md": "markdown"}
root_doc = "index"
nitpicky = True
myst_heading_anchors = 3
smartquotes = False

html_theme = "furo"
html_title = "triage"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
# Summaries of search results are fetched, which a browser refuses on pages opened from files.
html_show_search_summary = False
html_theme_options = {"navigation_with_keys": False}
pygments_style = "default"
pygments_dark_style = "github-dark"
