"""Versions and ranges of PEP 440: plain releases are compared here, everything else by `packaging`.

Nearly all releases are plain (`0.5.6.post2`, `2.9.1+cu128`), and `packaging` takes longer to load than a log to read.
"""

from __future__ import annotations

from triage.lazy import regex
from triage.records import Record, dataclass
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.version import Version

_NUMBER = r"(?:0|[1-9][0-9]{0,8})"
_RELEASE = rf"(?P<release>{_NUMBER}(?:\.{_NUMBER}){{0,9}})(?:\.post(?P<post>{_NUMBER}))?"
_PLAIN = regex(rf"{_RELEASE}(?:\+(?P<local>[a-z][a-z0-9]*(?:\.{_NUMBER})*))?\Z")
_BOUND = regex(rf" *(?P<operator>>=|<=|==|!=|<|>) *(?P<version>{_RELEASE}) *\Z")


class Plain:
    """A final or post-release; what it has in common with `packaging.version.Version` means the same."""

    __slots__ = ("_key", "local", "post", "public", "release")

    is_prerelease = False

    def __init__(self, release: str, post: str | None, local: str | None) -> None:
        self.release = tuple(map(int, release.split(".")))
        self.post = None if post is None else int(post)
        self.local = local
        self.public = release if post is None else f"{release}.post{post}"
        last = len(self.release)
        while last and not self.release[last - 1]:
            last -= 1
        self._key = self.release[:last], -1 if self.post is None else self.post

    @property
    def base_version(self) -> str:
        """The release as text, without `.post`."""
        return ".".join(map(str, self.release))

    @property
    def major(self) -> int:
        """The first number of the release."""
        return self.release[0]

    @property
    def minor(self) -> int:
        """The second number of the release, 0 without one."""
        return self.release[1] if len(self.release) > 1 else 0

    @property
    def micro(self) -> int:
        """The third number of the release, 0 without one."""
        return self.release[2] if len(self.release) > 2 else 0

    def __lt__(self, other: Plain | Version) -> bool:
        """Say whether it is older."""
        if isinstance(other, Plain) and (self._key != other._key or self.local == other.local):
            return self._key < other._key
        return self._full() < (other._full() if isinstance(other, Plain) else other)

    def __gt__(self, other: Plain | Version) -> bool:
        """Say whether it is newer."""
        if isinstance(other, Plain) and (self._key != other._key or self.local == other.local):
            return self._key > other._key
        return self._full() > (other._full() if isinstance(other, Plain) else other)

    def fits(self, operator: str, bound: Plain) -> bool:
        """Say whether it is within a bound, as PEP 440 has it; its local label does not count."""
        mine, other = self._key, bound._key
        if operator == ">":
            # A post-release is not newer than its release, unless a post-release is named.
            return mine > other and not (mine[0] == other[0] and bound.post is None)
        return {
            ">=": mine >= other,
            "<=": mine <= other,
            "==": mine == other,
            "!=": mine != other,
            "<": mine < other,
        }[operator]

    def _full(self) -> Version:
        from packaging.version import Version

        return Version(self.public if self.local is None else f"{self.public}+{self.local}")


def version(text: str) -> Plain | Version:
    """Take a version. Raises `ValueError` for what is none."""
    found = _PLAIN.match(text)
    if found is not None:
        return Plain(found["release"], found["post"], found["local"])
    from packaging.version import Version

    return Version(text)


@dataclass(slots=True)
class Bound(Record):
    """One clause of a range: `<` and `0.5.18`."""

    operator: str
    version: str


class Range:
    """A range such as `>=0.4.6.post5,<0.5.18`. Raises `ValueError` for what is none."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain: list[tuple[str, Plain]] | None = None
        clauses = [_BOUND.match(clause) for clause in text.split(",")]
        known = [clause for clause in clauses if clause is not None]
        # Of several clauses with one operator `packaging` knows the order.
        if len(known) == len(clauses) == len({clause["operator"] for clause in known}):
            self._plain = [(clause["operator"], Plain(clause["release"], clause["post"], None)) for clause in known]
            self._bounds = [Bound(clause["operator"], clause["version"]) for clause in known]
        else:
            from packaging.specifiers import SpecifierSet

            self._bounds = [Bound(one.operator, one.version) for one in SpecifierSet(text)]

    def __iter__(self) -> Iterator[Bound]:
        """Yield the clauses."""
        return iter(self._bounds)

    def contains(self, text: str) -> bool:
        """Say whether a version is in the range; pre-releases may be."""
        found = _PLAIN.match(text) if self._plain is not None else None
        if found is not None and self._plain is not None:
            one = Plain(found["release"], found["post"], None)
            return all(one.fits(operator, bound) for operator, bound in self._plain)
        from packaging.specifiers import SpecifierSet

        return SpecifierSet(self._text).contains(text, prereleases=True)
