"""Incidents to verdicts: the outcome, the root failure, and what every other failure is to it."""

from triage.causes.roots import assign
from triage.causes.suspects import waits
from triage.causes.words import LAST_WORDS

__all__ = ["LAST_WORDS", "assign", "waits"]
