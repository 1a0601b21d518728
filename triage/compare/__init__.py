"""Two runs beside each other: what the one that failed has, and the one that went well has not."""

from triage.compare.runs import Comparison, Side, compare, open_side

__all__ = ["Comparison", "Side", "compare", "open_side"]
