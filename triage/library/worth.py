"""How telling each condition of a signature is: what a score is made of, for matching and for the linter.

A frame says more than a message, a message more than a type. A fact that the log confirms says as much as a type, one
that it does not tell a quarter of it: of two signatures that fit, the one that asks for it is still the more specific.
"""

from __future__ import annotations

EXCEPTION = 1.0
DOTTED_EXCEPTION = 1.25
MESSAGE = 3.0
WHOLE_MESSAGE = 3.5
FRAME = 4.0
LINE = 3.0
SIGNAL = 1.0
NATIVE_TEXT = 3.0
SYMBOL = 4.0
LIBRARY = 3.0
UNIT_STATUS = 2.0
UNIT_RESULT = 1.0
KERNEL = 3.0
SEGFAULT_IN = 4.0
PROCESS = 1.0
SILENCE = 1.0
SILENCE_IN_PHASE = 2.0
WITH = 2.0
WITHOUT = 0.5
FACT = 1.0
UNKNOWN_FACT = 0.0

_LONG = 200


def length(characters: int) -> float:
    """Take the length of a text; return a small bonus for a longer one: of two that are there, the longer says more."""
    return min(characters, _LONG) / (2 * _LONG)
