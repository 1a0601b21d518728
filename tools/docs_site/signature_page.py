"""The page of a signature, made of its YAML, its fixture and what other signatures say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

from docs_site import markup
from triage.report.signature import Part, Remedy, outline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from docs_site.excerpts import Excerpt
    from triage.library import Library
    from triage.library.signature import Signature

ENGINES = {"sglang": "SGLang", "vllm": "vLLM"}


def docname(signature: str) -> str:
    """Take a signature's id; return the name of its page."""
    return f"signatures/{signature}"


def engine(signature: Signature) -> str:
    """Return the engine that a signature is about, by the name that people use."""
    return ENGINES.get(signature.engine or "any", "any engine")


def build(signature: Signature, library: Library, excerpt: Excerpt | None) -> nodes.section:
    """Take a signature, all signatures and an excerpt of its fixture; return its page."""
    made = markup.section(signature.title, _where(signature), name=signature.id)
    parts = outline(signature)
    for part in parts:
        made += _section(part, library)
        if part.label == "Explains":
            made += _explained_by(signature, library)
    if not signature.explains:
        made += _explained_by(signature, library)
    made += markup.section("On the command line", markup.block(f"triage explain {signature.id}", "sh"))
    if excerpt is not None:
        made += markup.section("In a log", *_excerpt(excerpt))
    return made


def _where(signature: Signature) -> nodes.paragraph:
    area = signature.id.partition("/")[0]
    above = f"{'../' * (signature.id.count('/') + 1)}by-area.html#{nodes.make_id(area)}"
    return markup.paragraph(
        [nodes.reference(area, area, refuri=above, internal=True), nodes.Text(" · "), markup.code(signature.id)],
        f" · {engine(signature)} · role {signature.role}",
        classes=["where"],
    )


def _section(part: Part, library: Library) -> nodes.section:
    if part.prose:
        return markup.section(part.label, markup.paragraph(part.prose))
    if part.label == "Explains":
        return markup.section(part.label, markup.listed([_edge(one.words, library) for one in part.clauses]))
    if part.clauses:
        return markup.section(part.label, markup.clauses(part.clauses))
    if part.remedies:
        steps = nodes.enumerated_list(enumtype="arabic", prefix="", suffix=".")
        for remedy in part.remedies:
            item = nodes.list_item()
            item += _remedy(remedy)
            steps += item
        return markup.section(part.label, steps)
    return markup.section(part.label, markup.listed([markup.paragraph([markup.link(url)]) for url in part.links]))


def _edge(words: tuple[str, ...], library: Library) -> nodes.paragraph:
    other = library.get(words[0])
    if other is None:
        return markup.paragraph(markup.words(words))
    near = f", {' '.join(words[1:])}" if words[1:] else ""
    return markup.paragraph([markup.page(docname(other.id), other.title)], near)


def _explained_by(signature: Signature, library: Library) -> list[nodes.section]:
    names = {signature.id, *signature.aliases}
    above = [one for one in library.signatures if any(edge.id in names for edge in one.explains)]
    if not above:
        return []
    links = [markup.paragraph([markup.page(docname(one.id), one.title)]) for one in above]
    return [markup.section("Explained by", markup.listed(links))]


def _remedy(remedy: Remedy) -> list[nodes.Node]:
    title = nodes.strong()
    title += markup.inline(remedy.title)
    found: list[nodes.Node] = [markup.paragraph([title], f" ({remedy.risk})" if remedy.risk else "")]
    if remedy.detail:
        found.append(markup.paragraph(remedy.detail))
    found += [markup.paragraph("Only for ", markup.words(clause.words), ".") for clause in remedy.limits]
    found += _settings(remedy)
    if remedy.command:
        found.append(markup.block(remedy.command, "sh"))
    return found


def _settings(remedy: Remedy) -> Iterable[nodes.Node]:
    texts = dict(remedy.settings)
    if remedy.kind == "edit":
        yield markup.paragraph("In ", [markup.code(texts["file"])], ", ", [markup.code(texts["function"])], ":")
        lines = [f"-{line}" for line in texts["replace"].split("\n")] + [
            f"+{line}" for line in texts["with"].split("\n")
        ]
        yield markup.block("\n".join(lines), "diff")
        return
    if remedy.command and all(key == "to" for key, _ in remedy.settings):
        return
    for key, text in remedy.settings:
        yield markup.paragraph(f"{key.capitalize()} ", [markup.code(text)])


def _excerpt(excerpt: Excerpt) -> list[nodes.Node]:
    said = " The marked lines decided." if excerpt.marked else ""
    return [
        markup.paragraph("From ", [markup.code(f"fixtures/{excerpt.fixture}")], f", names and secrets masked.{said}"),
        markup.block("\n".join(excerpt.lines), "text", excerpt.marked, classes=["excerpt"]),
    ]
