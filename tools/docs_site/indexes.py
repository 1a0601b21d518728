"""Directives of the pages that list signatures: by area, by engine, by symptom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import Directive, directives

from docs_site import markup, symptoms
from docs_site.signature_page import docname, engine
from docs_site.state import known

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triage.library.signature import Signature

_HEADS = {
    "exception": "Exception",
    "message": "Text",
    "pattern": "Pattern",
    "frame": "File and function",
    "result": "Result",
    "exit-status": "Exit status",
    "step": "Step",
    "signal": "Signal",
    "symbol": "Symbol or library",
    "kernel": "The kernel says",
}


class SignatureList(Directive):
    """Every signature: a section for each area or engine, a table in it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        by_area = directives.choice(self.arguments[0], ("area", "engine")) == "area"
        groups: dict[str, list[Signature]] = {}
        for one in known().library.signatures:
            groups.setdefault(one.id.partition("/")[0] if by_area else engine(one), []).append(one)
        return [
            markup.section(f"{name} ({len(found)})", _signatures(found, by_area), name=name)
            for name, found in sorted(groups.items(), key=lambda group: group[0].lower())
        ]


def _signatures(found: Iterable[Signature], by_area: bool) -> nodes.table:
    rows = [
        (
            [markup.page(docname(one.id), one.title)],
            [markup.code(one.id)],
            [nodes.Text(engine(one).removesuffix(" engine") if by_area else one.role)],
        )
        for one in found
    ]
    return markup.table(("What happened", "Id", "Engine" if by_area else "Role"), rows, (54, 34, 12))


class Symptoms(Directive):
    """One kind of symptom: a table of the symptoms and the signatures that they may mean."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        kind = directives.choice(self.arguments[0], (*symptoms.KINDS, "phase"))
        there = known()
        if kind == "xid":
            return [_xids(symptoms.index(kind, there.library.signatures))]
        if kind == "phase":
            return [_phases(symptoms.by_phase(there.library.signatures, there.excerpts, _phase_order()))]
        found = symptoms.index(kind, there.library.signatures)
        rows = [([markup.code(symptom)], _links(meant)) for symptom, meant in found.items()]
        return [markup.table((_HEADS[kind], "May mean"), rows, (36, 64))]


def _links(found: Iterable[Signature]) -> list[nodes.Node]:
    links = [markup.paragraph([markup.page(docname(one.id), one.title)]) for one in found]
    return list(links) if len(links) < 2 else [markup.listed(links, classes=["tight"])]


def _xids(found: symptoms.Index) -> nodes.table:
    """Show all Xids that are known, also those that no signature is about."""
    from triage.data import knowledge

    rows = []
    for number, row in sorted(knowledge("xid")["xids"].items(), key=lambda entry: int(entry[0])):
        meant = found.get(str(number), [])
        said = [markup.paragraph(f"{row['means']} {row['first']}")]
        rows.append(([nodes.Text(str(number))], [nodes.Text(row["name"])], [*said, *(_links(meant) if meant else [])]))
    return markup.table(("Xid", "Name", "What it means, what to do first"), rows, (8, 24, 68))


def _phases(found: symptoms.Index) -> nodes.table:
    from triage.data import knowledge

    words = knowledge("phase_words")
    rows = [
        ([markup.code(phase)], [nodes.Text(words[phase]["after"] if phase in words else "")], _links(meant))
        for phase, meant in found.items()
    ]
    return markup.table(("Phase", "It failed", "May mean"), rows, (12, 28, 60))


def _phase_order() -> list[str]:
    from triage.data import knowledge

    order: list[str] = knowledge("phases")["order"]
    return [*order, *(name for name in knowledge("phase_words") if name not in order)]
