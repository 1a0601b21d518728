"""The documentation site: a Sphinx extension that makes pages of signatures, knowledge and parsers.

`tools/build_docs.py` lays out the sources; `docs/conf.py` loads this. A signature's YAML file is the source of its
page: Sphinx reads it with `SignatureParser`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.parsers import Parser

from docs_site import state
from docs_site.commands import CommandLine
from docs_site.indexes import SignatureList, Symptoms
from docs_site.report_example import DemoReport
from docs_site.signature_page import build

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class SignatureParser(Parser):
    """Makes the page of the signature that a file holds."""

    supported = ("signature",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Take the text of the file; put the page into the document."""
        name = document.settings.env.docname.partition("/")[2]
        there = state.known()
        signature = there.library.get(name)
        if signature is None:
            raise ValueError(f"{name}: {len(inputstring)} characters, but no signature")
        # Hundreds of pages stay out of the navigation; the indexes lead to them.
        document += nodes.docinfo("", nodes.field("", nodes.field_name("", "orphan"), nodes.field_body("")))
        document += build(signature, there.library, there.excerpts.get(name))


def _load(app: Sphinx) -> None:
    state.load(Path(app.config.triage_pack), tuple(map(Path, app.config.triage_packs)))


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the parser and the directives."""
    app.add_config_value("triage_pack", "", "env", str)
    app.add_config_value("triage_packs", [], "env", list)
    app.add_source_suffix(".yaml", "signature")
    app.add_source_parser(SignatureParser)
    app.add_directive("signature-list", SignatureList)
    app.add_directive("symptoms", Symptoms)
    app.add_directive("command-line", CommandLine)
    app.add_directive("demo-report", DemoReport)
    app.connect("builder-inited", _load)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
