"""The journal through `journalctl -o export`: without systemd-python, for containers and over ssh."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from typing import TYPE_CHECKING, Final

from triage.lazy import regex
from triage.model import Entry, TriageError
from triage.sources.export import FIELDS, parse_export
from triage.sources.files import journal_files
from triage.sources.reader import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from triage.sources.query import Group, JournalQuery
    from triage.sources.reader import Select

_PIPE = 256 * 1024
_BOOT = regex(r"\s*-?\d+ ([0-9a-f]{32})\b")


class JournalctlReader:
    """See `triage.sources.reader.Reader`. Every value goes to journalctl as part of a long option, or behind `--`."""

    label: Final = "journalctl"

    def __init__(self, query: JournalQuery) -> None:
        """Take a query. Raises `TriageError` for a folder or file that can't be read."""
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
        arguments = ["--output=export", f"--output-fields={','.join(sorted(FIELDS))}"]
        if since is not None:
            arguments.append(f"--since={_time(since)}")
        if until is not None:
            arguments.append(f"--until={_time(until)}")
        if newest_first:
            arguments.append("--reverse")
        if newest_first and limit is not None:
            arguments.append(f"--lines={limit}")
        arguments.append("--")
        for index, group in enumerate(groups):
            arguments.extend((["+"] if index else []) + [f"{name}={value}" for name, value in group])
        for number, entry in enumerate(parse_export(self._run(_command(self._where, arguments)))):
            if limit is not None and number >= limit:
                return
            yield Entry(entry.fields, entry.realtime, entry.cursor, number)

    def scan(self, groups: Sequence[Group], since: int | None, until: int | None, select: Select) -> Iterator[Entry]:
        block: list[Entry] = []
        for entry in self.read(groups, since, until):
            block.append(entry)
            if len(block) == BLOCK:
                yield from _selected(block, select)
                block = []
        if block:
            yield from _selected(block, select)

    def _text(self, *arguments: str) -> str:
        return b"".join(self._run(_command(self._where, arguments))).decode("utf-8", "replace")


def _command(where: Sequence[str], arguments: Sequence[str]) -> list[str]:
    return ["journalctl", "--no-pager", "--quiet", *where, *arguments]


def _literal(path: Path) -> str:
    """Return a path for --file=, which takes patterns."""
    return re.sub(r"([\\*?\[])", r"\\\1", str(path))


def _time(micro: int) -> str:
    return f"@{micro // 1_000_000}.{micro % 1_000_000:06}"


def _selected(block: list[Entry], select: Select) -> Iterator[Entry]:
    messages = [entry.fields.get("MESSAGE", "").encode() for entry in block]
    for index in select(messages):
        yield block[index]


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
