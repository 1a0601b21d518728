"""What triage found, as text for a terminal, JSON for programs, Markdown for an issue and HTML for a colleague."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Literal

from triage.model import TriageError

if TYPE_CHECKING:
    from triage.model import Incident, Report

__all__ = ["FORMATS", "render", "summary", "write"]

FORMATS = ("text", "json", "jsonl", "markdown", "html")


def render(
    report: Report,
    format: str = "text",  # noqa: A002  the option's own name
    *,
    color: bool = False,
    width: int = 80,
    all_failures: bool = False,
    mask: bool = True,
) -> str:
    """Take a report and one of `FORMATS`; return the whole text, which ends with a newline.

    `color` and `width` (columns) concern text only. With `all_failures` text, Markdown and HTML list every failure
    with its role. Tokens and keys are masked, in Markdown and HTML also prompts, hosts, addresses and users, unless
    `mask` is False. Raises `TriageError` for an unknown format.
    """
    if format in ("json", "jsonl"):
        from triage.report import json_report

        return json_report.to_json(report, mask) if format == "json" else json_report.to_jsonl(report, mask)
    if format not in FORMATS:
        raise TriageError(f"unknown format {format!r}: use one of {', '.join(FORMATS)}")
    from triage.report.prepare import prepared
    from triage.report.view import build

    share = format != "text"
    view = build(
        prepared(report, mask=mask, share=mask and share),
        all_failures,
        brief=not share and not all_failures,
        local=not share,
    )
    if format == "markdown":
        from triage.report import markdown

        return markdown.render(view)
    if format == "html":
        from triage.report import html

        return html.render(view)
    from triage.report import terminal

    return terminal.render(view, width, color)


def write(
    report: Report,
    stream: IO[str],
    format: str = "text",  # noqa: A002  the option's own name
    *,
    color: Literal["auto", "always", "never"] = "auto",
    width: int | None = None,
    all_failures: bool = False,
    mask: bool = True,
) -> None:
    """Take a report and a text stream; write the report to it, as its terminal, its width and its encoding allow.

    Raises `TriageError` for an unknown format; errors of the stream are the caller's.
    """
    from triage.report import terminal

    text = render(
        report,
        format,
        color=terminal.wants_color(color, stream),
        width=width or terminal.width_of(stream),
        all_failures=all_failures,
        mask=mask,
    )
    stream.write(terminal.encodable(text, stream))


def summary(incident: Incident) -> str:
    """Take an incident; return one sentence on what became of the service and why. See `triage.report.sentence`."""
    from triage.report.sentence import summary as said

    return said(incident)
