"""Lines to events: one pass over the lines of every stream, in the order in which they were read."""

from triage.events.extract import Extraction, Track, extract

__all__ = ["Extraction", "Track", "extract"]
