"""Learns a prefix that no row knows: what a mail, an editor, grep or a process manager put before every line of a log.

It shows where the log's own beginnings stand: heads of records, of tracebacks and of frames. What stands before them on
most lines, numbers and the width of blanks aside, is no part of the log.
"""

from __future__ import annotations

import re
from collections import Counter

from triage.lazy import regex
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_OWN = regex(
    r'  File "[^"\n]{1,400}", line \d|Traceback \(most recent call last\):|\[rank\d{1,5}\]:'
    r"|\[20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d[^\]\n]{0,80}\](?: |$)"
    r"|20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.\d]{0,10}Z? {1,2}(?:ERROR|WARN|INFO) "
    r"|(?:ERROR|WARNING|INFO):  |(?:ERROR|WARNING|INFO) \d\d-\d\d \d\d:\d\d:\d\d "
)
# A prefix of so many characters at most, in so many forms at most.
_LONGEST = 120
_FORMS = 4
# So many beginnings must show a form, and so many of the lines between the first and the last one have it.
_ENOUGH = 3
_SHARE = 0.6
_RUN = regex(r"\d+|[ \t]+|[:-]|.")


def foreign(
    texts: Sequence[str], peel: Callable[[str, int], int], others: Sequence[int] | None = None
) -> list[re.Pattern[str]]:
    """Take lines in order, and what says where the text after the prefixes that are known begins; return the
    patterns of a foreign prefix, none where there is none.

    `peel` takes a text and where to begin in it. `others` are the indexes of the lines with which no record is known to
    begin, all by default.
    """
    forms: Counter[str] = Counter()
    looked_at = texts if others is None else [texts[index] for index in others]
    own = len(texts) - len(looked_at)
    for text in looked_at:
        found = _OWN.search(text, 0, _LONGEST + 400)
        if found is None or found.start() > _LONGEST:
            continue
        own += 1
        begin = found.start()
        if not begin:
            continue
        # The bar before the lines of an exception group is its own.
        if text[:begin].strip() != "|" and peel(text, 0) < begin:
            forms[_form(text[: _outer(text, begin, peel)])] += 1
    common = [form for form, count in forms.most_common()[:_FORMS] if count >= _ENOUGH]
    if not common or sum(forms[form] for form in common) < _SHARE * own:
        return []
    matches = re.compile("|".join(common)).match
    having = [index for index, text in enumerate(texts) if matches(text)]
    if len(having) < _SHARE * (having[-1] - having[0] + 1):
        return []
    return [re.compile(form) for form in common]


def _outer(text: str, begin: int, peel: Callable[[str, int], int]) -> int:
    """Return where the known prefixes begin that stand between the foreign one and the log's own beginning."""
    for at in range(1, begin):
        if (text[at - 1].isspace() or not text[at].isalnum()) and not text[at].isspace() and peel(text, at) >= begin:
            return at
    return begin


def _form(prefix: str) -> str:
    """Write the regex of a prefix: any number for a number, grep's two marks for each other, blanks but the last."""
    body = prefix.rstrip(" \t")
    end = prefix[len(body) :]
    parts = []
    for run in _RUN.findall(body):
        if run[0].isdigit():
            parts.append(r"\d{1,20}")
        elif run[0] in " \t":
            parts.append(r"[ \t]{1,40}")
        else:
            parts.append("[:-]" if run in ":-" else re.escape(run))
    return "".join(parts) + (f"(?:{re.escape(end)}|$)" if end else "")
