"""Positions and evidence of lines, in the one shape that every event has."""

from __future__ import annotations

from triage.model import Evidence, Line, Position

EVIDENCE_LIMIT = 500
TEXT_LIMIT = 2000


def position(line: Line) -> Position:
    """Take a line; return where and when it stands."""
    return Position(
        time=line.time,
        zoned=line.zoned,
        rank=line.rank,
        pid=line.pid,
        host=line.host,
        source=line.source,
        offset=line.offset,
        line=line.line,
        cursor=line.cursor,
        ident=line.ident,
        carrier=line.carrier,
        stamp=line.stamp,
    )


def evidence(line: Line) -> Evidence:
    """Take a line; return it as evidence, cut at 500 characters."""
    return Evidence(position(line), line.text[:EVIDENCE_LIMIT])
