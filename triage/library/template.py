"""Texts of signatures with `{captures}` and `{facts}` in them.

Values come from the log, so they are hostile: in prose they lose control characters and are cut; in what a person may
paste into a shell or a unit file they must fit a strict pattern, else their place stays a placeholder.
"""

from __future__ import annotations

from triage.lazy import regex
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import re

    from triage.library.conditions import Situation

NAMES = regex(r"\{([A-Za-z_][\w.]{0,60})\}")
_CONTROL = regex(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_SHOWN = 200
# What may stand in a command or a setting: a number with its unit, a word, a release, a path, an address. No blanks,
# quotes, `$`, `;`, `%`, nothing that begins with a dash.
_STRICT = regex(r"(?!-)[A-Za-z0-9_./:@+,=-]{1,200}\Z")


def fill(text: str, situation: Situation) -> str:
    """Return prose with its names filled in; a name that is not known is named as such."""
    if "{" not in text:
        return text

    def value(found: re.Match[str]) -> str:
        known = situation.value(found[1])
        return f"({found[1]} not in the log)" if known is None else _CONTROL.sub(" ", str(known))[:_SHOWN].strip()

    return NAMES.sub(value, text)


def fill_strictly(text: str, situation: Situation) -> tuple[str, bool]:
    """Return a piece of a command with its names filled in, and whether all of them could be.

    A value that is not known, or does not fit the strict pattern, becomes its name in capitals.
    """
    whole = True

    def value(found: re.Match[str]) -> str:
        nonlocal whole
        known = situation.value(found[1])
        if isinstance(known, (str, int, float)) and not isinstance(known, bool) and _STRICT.match(str(known)):
            return str(known)
        whole = False
        return found[1].upper()

    return NAMES.sub(value, text), whole
