"""What is wrong with a signature file, and where."""

from __future__ import annotations

from triage.records import FrozenRecord, dataclass


@dataclass(frozen=True, slots=True)
class Problem(FrozenRecord):
    """One thing to mend in a signature file.

    `line` and `column` count from 1, 0 where the place is not known. `field` is the path of keys to it
    (`fixes[1].set`), empty for the file as a whole. `hint` says what to write instead, where that is known.
    """

    file: str
    line: int
    field: str
    message: str
    hint: str = ""
    column: int = 0

    def __str__(self) -> str:
        """Return the problem as compilers print theirs: `file:line: field: message (hint)`."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        field = f" {self.field}:" if self.field else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{place}:{field} {self.message}{hint}"
