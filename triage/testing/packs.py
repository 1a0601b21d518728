"""A pack of signatures and fixtures, tested together with triage's own signatures."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from triage.library.fixtures import Fixture, fixtures
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from triage.library import Library
    from triage.library.lint import Issue

__all__ = ["Fixture", "Pack"]


class Pack:
    """A folder with `signatures/` and `fixtures/`, tested together with triage's own signatures.

    What the host or the user has installed is left out, so that a test says the same everywhere.
    """

    def __init__(self, folder: str | os.PathLike[str], others: Sequence[Path] = ()) -> None:
        """Take the pack's folder, and packs that are loaded before it."""
        self.folder = Path(folder)
        self._others = list(others)

    @cached_property
    def fixtures(self) -> list[Fixture]:
        """Its fixtures, in order of their names: `str(fixture)` makes a readable test id."""
        return fixtures(self.folder)

    @cached_property
    def library(self) -> Library:
        """Its signatures and triage's own, loaded once. Raises `TriageError` where there is none in the folder."""
        from triage.authoring.select import home_pack
        from triage.library import load

        own = [] if self.folder.resolve() == home_pack().resolve() else [self.folder]
        return load([*self._others, *own], standing=False)

    def problems(self, fixture: Fixture) -> list[str]:
        """Diagnose a fixture; return in words what is not as it must be, [] if all is."""
        from triage.authoring.selftest import outcome

        return outcome(fixture, self.library).problems

    def issues(self) -> list[Issue]:
        """Lint its signatures; return the issues by file and line. `issue.severity` is `error` or `warning`."""
        from triage.library.lint import check

        return check([self.folder / "signatures"])
