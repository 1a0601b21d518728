"""What triage found, as text for a terminal, JSON for programs, Markdown for an issue and HTML for a colleague."""

from __future__ import annotations

from triage.model import TriageError
from triage.typed import IO, TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from triage.model import Incident, Report
    from triage.report.layout import Span

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
    screen: bool = False,
) -> str:
    """Take a report and one of `FORMATS`; return the whole text, which ends with a newline.

    `color`, `width` (columns) and `screen` concern text only: with `screen` it is made to fit one screen where that is
    possible, by leaving out what can be asked for. With `all_failures` text, Markdown and HTML list every failure with
    its role, and nothing is left out. Tokens and keys are masked, in Markdown and HTML also prompts, hosts, addresses
    and users, unless `mask` is False. Raises `TriageError` for an unknown format.
    """
    if format == "text":
        from triage.report.terminal import drawn, plain

        lines = _lines(report, width, all_failures, mask, screen)
        return drawn(lines, width) if color else plain(lines)
    if format in ("json", "jsonl"):
        from triage.report import json_report

        return json_report.to_json(report, mask) if format == "json" else json_report.to_jsonl(report, mask)
    if format not in FORMATS:
        raise TriageError(f"unknown format {format!r}: use one of {', '.join(FORMATS)}")
    from triage.report.prepare import prepared
    from triage.report.view import build

    view = build(prepared(report, mask=mask, share=mask), all_failures)
    if format == "markdown":
        from triage.report import markdown

        return markdown.render(view)
    from triage.report import html

    return html.render(view)


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

    On a terminal it is made to fit the screen; a pipe or a file gets all of it. Raises `TriageError` for an unknown
    format; errors of the stream are the caller's.
    """
    if format == "text":
        from triage.report import terminal

        width = width or terminal.width_of(stream)
        lines = _lines(report, width, all_failures, mask, terminal.is_terminal(stream))
        text = (
            terminal.drawn(lines, width, None if color == "always" else stream)
            if terminal.draws(color, stream)
            else terminal.plain(lines)
        )
    else:
        text = render(report, format, all_failures=all_failures, mask=mask)
    if not text.isascii():
        from triage.report.terminal import encodable

        text = encodable(text, stream)
    stream.write(text)


def _lines(report: Report, width: int, all_failures: bool, mask: bool, screen: bool) -> list[list[Span]]:
    from triage.report.layout import lay_out
    from triage.report.prepare import prepared
    from triage.report.view import build

    asked = any(found.near is not None for incident in report.incidents for found in incident.failures)
    screen = screen and not all_failures and not asked
    view = build(prepared(report, mask=mask), all_failures, screen=screen, local=True)
    return lay_out(view, width, screen)


def summary(incident: Incident) -> str:
    """Take an incident; return one sentence on what became of the service and why. See `triage.report.sentence`."""
    from triage.report.sentence import summary as said

    return said(incident)
