"""Where log lines come from: the journal, files, standard input, and what surrounds a unit on this host."""

from __future__ import annotations

from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.sources.parts import JournalSource
    from triage.sources.query import JournalQuery

DIAGNOSIS = "ba138b7c315a4231aa2e29100924f290"
"""MESSAGE_ID of what triage itself writes into the journal; it is no part of any log."""


def open_journal(query: JournalQuery) -> JournalSource:
    """Take a query; return the journal's entries that it is about. See `triage.sources.source.open_journal`."""
    from triage.sources.source import open_journal as opened

    return opened(query)
