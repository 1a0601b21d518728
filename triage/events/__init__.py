"""Lines to events: one pass over the lines of every stream, in the order in which they were read."""

from triage.events.extract import Extraction, Extractor, extract
from triage.events.tracks import Track

__all__ = ["Extraction", "Extractor", "Track", "extract"]
