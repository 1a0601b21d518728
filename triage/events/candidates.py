"""Which rows may hold in a line: those of which a literal is in it, found once for all lines that differ in numbers.

Most lines of a log are a few sentences with other numbers in them. Without digits, in lines and literals alike, a
literal that is in the line stays in it; so what is found for such a text holds for all lines that it stands for, and
only the few rows that it names need a closer look.
"""

from __future__ import annotations

from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_REMEMBERED = 4096
_LONGEST = 1000
_GRAM = 4
_MANY = 100
_EVERYBODY = -1
_DIGITS = b"0123456789"


class Candidates:
    """Rows by their literals."""

    def __init__(self, literals: Iterable[Sequence[str]]) -> None:
        """Take the literals of each row, of which a line must hold one."""
        rows: dict[bytes, list[int]] = {}
        for number, words in enumerate(literals):
            for word in words:
                rows.setdefault(_without_digits(word), []).append(number)
        self._all = list(rows.items())
        # Of many literals those come into question of which the first bytes are in a line: that is soon known, unless
        # the line is long.
        self._rows: dict[tuple[int, ...], list[tuple[bytes, list[int]]]] = {}
        self._always: list[tuple[bytes, list[int]]] = []
        for literal, numbers in self._all:
            few = len(rows) < _MANY or len(literal) < _GRAM
            same = self._always if few else self._rows.setdefault(tuple(literal[:_GRAM]), [])
            same.append((literal, numbers))
        self._seen: dict[bytes, tuple[int, ...]] = {}

    def of(self, text: str) -> tuple[int, ...]:
        """Take a text; return the numbers, rising, of the rows that may have a literal in it."""
        sentence = _without_digits(text)
        found = self._seen.get(sentence)
        if found is None:
            found = self.within(sentence)
            if len(sentence) <= _LONGEST:
                if len(self._seen) >= _REMEMBERED:
                    self._seen.clear()
                self._seen[sentence] = found
        return found

    def within(self, sentence: bytes) -> tuple[int, ...]:
        """Do as `of` for a text that has lost its digits."""
        rows = list(self._always if len(sentence) <= _LONGEST else self._all)
        if self._rows and len(sentence) <= _LONGEST:
            shifted = [sentence[at:] for at in range(_GRAM)]
            for gram in self._rows.keys() & set(zip(*shifted, strict=False)):
                rows += self._rows[gram]
        # `in` takes six times as long: it first tries whether the bytes are a number.
        find = sentence.find
        return tuple(sorted({number for word, numbers in rows if find(word) >= 0 for number in numbers}))


class Wanted:
    """Which readers a line may concern at all: most concern none, and to ask each costs more than what is then read."""

    def __init__(
        self, words: Sequence[tuple[int, Iterable[str]]], others: Sequence[tuple[int, Callable[[str], bool]]] = ()
    ) -> None:
        """Take the bits of readers, each with the words of which a line that it wants holds one; and of other readers,
        with what tells of a text whether they may want it (digits must not matter for that).
        """
        self._bits = [bit for bit, _ in words]
        self._candidates = Candidates(tuple(literals) for _, literals in words)
        self._others = others
        self._seen: dict[bytes, int] = {}

    def of(self, text: str) -> int:
        """Take a text; return the bits of the readers that may want it, added up: of a long one, of all readers."""
        sentence = text.encode("utf-8", "surrogatepass").translate(None, _DIGITS)
        found = self._seen.get(sentence)
        return self._judged(sentence) if found is None else found

    def _judged(self, sentence: bytes) -> int:
        if len(sentence) > _LONGEST:
            return _EVERYBODY
        if len(self._seen) >= _REMEMBERED:
            self._seen.clear()
        bare = sentence.decode("utf-8", "surrogatepass")
        found = sum(self._bits[number] for number in self._candidates.within(sentence))
        for bit, may_want in self._others:
            found |= bit * may_want(bare)
        self._seen[sentence] = found
        return found


def _without_digits(text: str) -> bytes:
    """Take a text; return it as UTF-8 and without digits. (Bytes lose them twenty times faster than text.)"""
    return text.encode("utf-8", "surrogatepass").translate(None, _DIGITS)


def may_be_copy(text: str) -> bool:
    """Take a text; return whether such a line may be a copy of what `kernel.parse_text` takes, whatever its digits."""
    return "illed process" in text or "oom-kill:" in text or "NVRM: Xid (" in text
