"""The journal through `journalctl -o export`: without systemd-python, for containers and over ssh."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile

from triage.lazy import regex
from triage.model import Entry, TriageError
from triage.sources.export import FIELDS, parse_export
from triage.sources.files import journal_files
from triage.sources.reader import BLOCK, Around, large
from triage.typed import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from triage.sources.query import Group, JournalQuery
    from triage.sources.reader import Select

_PIPE = 256 * 1024
_FIELDS = f"--output-fields={','.join(sorted(FIELDS))}"
_FIRST = b"__CURSOR="
_BETWEEN = b"\n\n" + _FIRST
_NEAR = 500
_BOOT = regex(r"\s*-?\d+ ([0-9a-f]{32})\b")


class JournalctlReader:
    """See `triage.sources.reader.Reader`. Every value goes to journalctl as part of a long option, or behind `--`."""

    label: Final = "journalctl"

    def __init__(self, query: JournalQuery) -> None:
        """Take a query. Raises `TriageError` for a folder or file that can't be read."""
        self._query = query
        self.notes: list[str] = []
        self._where: list[str] = []
        self._run: Callable[[Sequence[str]], Iterator[bytes]] = _chunks if query.remote is None else query.remote.stream
        if query.files or (query.directory is not None and query.namespace is not None):
            # journalctl leaves the folders of namespaces out, so their files are named one by one.
            self._where += [f"--file={_literal(path)}" for path in journal_files(query)]
        elif query.directory is not None:
            self._where.append(f"--directory={query.directory}")
        elif query.machine is not None:
            self._where.append(f"--machine={query.machine}")
        elif query.namespace is not None:
            self._where.append(f"--namespace={query.namespace}")

    def unique(self, name: str) -> set[str]:
        return {line for line in self._text(f"--field={name}").splitlines() if line}

    def boots(self) -> list[str]:
        return [found[1] for line in self._text("--list-boots").splitlines() if (found := _BOOT.match(line))]

    def reads(self, path: Path) -> bool:
        arguments = ["--output=export", "--output-fields=MESSAGE", "--lines=1"]
        try:
            return any(_chunks(_command([f"--file={_literal(path)}"], arguments)))
        except TriageError:
            return False

    def read(
        self,
        groups: Sequence[Group],
        since: int | None = None,
        until: int | None = None,
        *,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> Iterator[Entry]:
        options = span(since, until)
        if newest_first:
            options.append("--reverse")
        if newest_first and limit is not None:
            options.append(f"--lines={limit}")
        for number, entry in enumerate(self.entries(groups, options)):
            if limit is not None and number >= limit:
                return
            yield Entry(entry.fields, entry.realtime, entry.cursor, number)

    def entries(self, groups: Sequence[Group], options: Sequence[str], fields: str = _FIELDS) -> Iterator[Entry]:
        """Take matches, options of journalctl that say where to read, and those for the fields; yield the entries."""
        arguments = ["--output=export", fields, *options, "--", *_matches(groups)]
        return parse_export(self._run(_command(self._where, arguments)))

    def scan(self, groups: Sequence[Group], since: int | None, until: int | None, select: Select) -> Iterator[Entry]:
        given: set[str | None] = set()
        if isinstance(select, Around) and (paths := large(self._query)):
            from triage.sources.journal_windows import windows
            from triage.sources.journalctl_place import JournalctlPlace

            place = JournalctlPlace(self, groups)
            walk = yield from windows(place, paths, groups, since, until, select, self.notes)
            if walk is None:
                return
            given, since = walk.given, since if walk.last is None else walk.last.realtime
        for entry in self._scan(groups, since, until, select):
            if entry.cursor not in given:
                yield entry

    def _scan(self, groups: Sequence[Group], since: int | None, until: int | None, select: Select) -> Iterator[Entry]:
        """First only messages come, which costs journalctl half; then whole entries where `select` wants some."""
        arguments = ["--output=export", "--output-fields=MESSAGE", *span(since, until), "--", *_matches(groups)]
        before = 0
        for block in _blocks(self._run(_command(self._where, arguments))):
            wanted = select([entry.partition(b"\nMESSAGE")[2] for entry in block])
            for first, last in _runs(wanted):
                numbers = {_cursor(block[index]): before + index for index in wanted if first <= index <= last}
                yield from self._whole(groups, _cursor(block[first]), numbers)
            before += len(block)

    def _whole(self, groups: Sequence[Group], first: str, numbers: Mapping[str, int]) -> Iterator[Entry]:
        """Yield the entries of these cursors, of which `first` is the oldest, with their running numbers."""
        left = len(numbers)
        for number, entry in enumerate(self.entries(groups, [f"--cursor={first}"])):
            running = numbers.get(entry.cursor or "")
            if running is not None:
                yield Entry(entry.fields, entry.realtime, entry.cursor, running)
                left -= 1
            if not left or number > 2 * BLOCK:
                return

    def _text(self, *arguments: str) -> str:
        return b"".join(self._run(_command(self._where, arguments))).decode("utf-8", "replace")


def _command(where: Sequence[str], arguments: Sequence[str]) -> list[str]:
    return ["journalctl", "--no-pager", "--quiet", *where, *arguments]


def _literal(path: Path) -> str:
    """Return a path for --file=, which takes patterns."""
    return re.sub(r"([\\*?\[])", r"\\\1", str(path))


def _time(micro: int) -> str:
    return f"@{micro // 1_000_000}.{micro % 1_000_000:06}"


def span(since: int | None, until: int | None) -> list[str]:
    """Return the options for a span of time, both ends included."""
    times = (("since", since), ("until", until))
    return [f"--{name}={_time(micro)}" for name, micro in times if micro is not None]


def _matches(groups: Sequence[Group]) -> list[str]:
    words: list[str] = []
    for index, group in enumerate(groups):
        words.extend((["+"] if index else []) + [f"{name}={value}" for name, value in group])
    return words


def _blocks(chunks: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Cut an export of messages into entries, by the cursor that each begins with; yield them by the thousand.

    A message can hold what looks like the begin of an entry. Then a piece of it is looked at as if it were one, and
    journalctl finds no entry of its cursor.
    """
    rest = b""
    size = 0
    waiting: list[bytes] = []
    block: list[bytes] = []
    for chunk in chunks:
        waiting.append(chunk)
        size += len(chunk)
        if size < _PIPE:
            continue
        *entries, rest = b"".join((rest, *waiting)).split(_BETWEEN)
        waiting, size = [], 0
        block += entries
        while len(block) >= BLOCK:
            yield block[:BLOCK]
            del block[:BLOCK]
    block += [entry for entry in b"".join((rest, *waiting)).split(_BETWEEN) if entry.strip()]
    for at in range(0, len(block), BLOCK):
        yield block[at : at + BLOCK]


def _cursor(entry: bytes) -> str:
    return entry.removeprefix(_FIRST).partition(b"\n")[0][:1024].decode("utf-8", "replace")


def _runs(wanted: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of indices that are near to each other: to pass over an entry costs little."""
    first = last = -1
    for index in wanted:
        if first >= 0 and index - last > _NEAR:
            yield first, last
            first = -1
        first, last = (index if first < 0 else first), index
    if first >= 0:
        yield first, last


def _chunks(command: Sequence[str]) -> Iterator[bytes]:
    """Run journalctl; yield what it prints. Raises `TriageError` with its own words where it fails without output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SYSTEMD_")}
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints, env=environment
            )
        except OSError:
            raise TriageError(
                "neither systemd-python nor journalctl is here: run triage on the host itself, or export the journal "
                "there with `journalctl -o export` and read that with `triage logs`"
            ) from None
        printed = False
        assert process.stdout is not None
        try:
            while chunk := os.read(process.stdout.fileno(), _PIPE):
                printed = True
                yield chunk
            if process.wait() and not printed:
                complaints.seek(0)
                said = complaints.read(2000).decode("utf-8", "replace").strip().splitlines()
                if said:
                    raise TriageError(f"journalctl: {said[0]}")
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
