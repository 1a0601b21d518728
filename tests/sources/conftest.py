"""Journals as exports and as native files, and a stand-in for systemd-python's reader that reads the exports."""

from __future__ import annotations

import lzma
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parent.parent / "data" / "journals"


@cache
def _export(name: str) -> bytes:
    return lzma.decompress((DATA / f"{name}.export.xz").read_bytes())


@pytest.fixture(scope="session")
def export() -> Callable[[str], bytes]:
    """Return the text of `journalctl -o export` by the journal's name."""
    return _export


@pytest.fixture(scope="session")
def journal_dir(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a folder with the native journal file, and its export beside it, by the journal's name."""

    @cache
    def unpack(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        packed = (DATA / f"{name}.journal.xz").read_bytes()
        (folder / "system.journal").write_bytes(lzma.decompress(packed))
        (folder / "system.export").write_bytes(_export(name))
        return folder

    return unpack


@pytest.fixture
def stand_in() -> type[StandIn]:
    """Return the stand-in for systemd-python's reader."""
    return StandIn


@pytest.fixture
def no_systemd(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the stand-in where systemd-python's reader is looked for."""
    monkeypatch.setattr("triage.sources.journal.load", lambda: StandIn)


@cache
def _raw(path: Path) -> list[tuple[int, str, dict[str, list[bytes]]]]:
    """Read an export in the plainest way there is: time, cursor and fields of each entry."""
    entries = []
    data = path.read_bytes()
    fields: list[tuple[str, bytes]] = []
    position = 0
    while position < len(data):
        end = data.index(b"\n", position)
        line = data[position:end]
        position = end + 1
        if not line:
            named = dict(fields)
            entries.append((int(named["__REALTIME_TIMESTAMP"]), named["__CURSOR"].decode(), fields))
            fields = []
        elif b"=" in line:
            name, _, value = line.partition(b"=")
            fields.append((name.decode(), value))
        else:
            size = int.from_bytes(data[position : position + 8], "little")
            fields.append((line.decode(), data[position + 8 : position + 8 + size]))
            position += 8 + size + 1
    return [(time, cursor, _by_name(fields)) for time, cursor, fields in entries]


def _by_name(fields: list[tuple[str, bytes]]) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    for name, value in fields:
        if not name.startswith("__"):
            found.setdefault(name, []).append(value)
    return found


class StandIn:
    """What `systemd._reader._Reader` does, over `system.export` files beside the journal files."""

    def __init__(self, flags=1, path=None, files=None):
        found = Path(path).glob("*.journal") if path else map(Path, files or [])
        self._texts = tuple(sorted(file.with_suffix(".export") for file in found))
        self._groups: list[dict[str, set[bytes]]] = [{}]
        self._chosen = None
        self._at = -1
        self.data_threshold = 65536

    def add_match(self, match):
        name, _, value = match.partition("=")
        self._groups[-1].setdefault(name, set()).add(value.encode())

    def add_disjunction(self):
        self._groups.append({})

    def flush_matches(self):
        self._groups = [{}]
        self._chosen = None

    def get_usage(self):
        return sum(text.stat().st_size for text in self._texts if text.exists())

    @property
    def _rows(self):
        if self._chosen is None:
            self._chosen = _chosen(self._texts, tuple(map(_frozen, self._groups)))
        return self._chosen

    def seek_head(self):
        self._at = -1

    def seek_tail(self):
        self._at = len(self._rows)

    def seek_realtime(self, realtime):
        self._at = next((i for i, row in enumerate(self._rows) if row[0] >= realtime), len(self._rows))
        self._sought = True

    def seek_cursor(self, cursor):
        self._at = next((i for i, row in enumerate(self._rows) if row[1] == cursor), len(self._rows))
        self._sought = True

    _sought = False

    def _next(self, skip=1):
        step, self._sought = (skip - 1 if self._sought else skip), False
        return self._move(step)

    def _previous(self, skip=1):
        self._sought = False
        return self._move(-skip)

    def _move(self, step):
        if not 0 <= self._at + step < len(self._rows):
            return False
        self._at += step
        return True

    def _get_realtime(self):
        return self._rows[self._at][0]

    def _get_cursor(self):
        return self._rows[self._at][1]

    def _get_all(self):
        fields = self._rows[self._at][2]
        return {name: values if len(values) > 1 else values[0] for name, values in fields.items()}

    def _get(self, name):
        return self._rows[self._at][2][name][0]

    def query_unique(self, name):
        return {value for row in _chosen(self._texts, ((),)) for value in row[2].get(name, ())}


def _frozen(group):
    return tuple((name, frozenset(values)) for name, values in group.items())


@cache
def _chosen(texts, groups):
    rows = sorted((row for text in texts if text.exists() for row in _raw(text)), key=lambda row: row[0])
    return [row for row in rows if any(_holds(group, row[2]) for group in groups)]


def _holds(group, fields):
    return all(not values.isdisjoint(fields.get(name, ())) for name, values in group)


@pytest.fixture
def fake_program(tmp_path, monkeypatch):
    """Return what puts a program of a given name, a shell script, alone on the PATH beside the system's own."""

    def put(name: str, script: str) -> Path:
        folder = tmp_path / "programs"
        folder.mkdir(exist_ok=True)
        program = folder / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        return folder

    return put


@pytest.fixture
def ssh(tmp_path, monkeypatch):
    """A stand-in for ssh: it notes its arguments and runs the command here; `refuse` and `cut` make it fail."""
    return Ssh(tmp_path / "ssh", monkeypatch)


class Ssh:
    """See `ssh`."""

    def __init__(self, folder, monkeypatch):
        folder.mkdir()
        self.folder = folder
        self.programs = folder / "bin"
        self.programs.mkdir()
        (folder / "ssh").write_text(
            f"""#!/bin/sh
cd {folder}
for word; do printf '%s\\n' "$word" >> calls; done; echo >> calls
for last; do :; done
case " $* " in
  *" -O check "*) test -e master; exit ;;
  *" -O exit "*) rm -f master; exit ;;
  *" -M "*) test -e refuse && {{ cat refuse >&2; exit 255; }}; touch master; exit 0 ;;
esac
test -e master || {{ echo "Connection closed by remote host" >&2; exit 255; }}
PATH={self.programs}:/usr/bin:/bin exec sh -c "$last"
"""
        )
        (folder / "ssh").chmod(0o755)
        monkeypatch.setenv("SYSTEMD_SSH", str(folder / "ssh"))
        self.program("journalctl", "exit 0")

    def program(self, name, script):
        """Put a program on the other host."""
        (self.programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.programs / name).chmod(0o755)

    def refuse(self, said=None):
        """Let no connection be opened, with these words; or let it be opened again."""
        if said is None:
            (self.folder / "refuse").unlink()
        else:
            (self.folder / "refuse").write_text(said)

    def cut(self):
        """Break the connection that there is."""
        (self.folder / "master").unlink(missing_ok=True)

    def calls(self):
        """The argument lists of all calls."""
        text = (self.folder / "calls").read_text() if (self.folder / "calls").exists() else ""
        return [call.split("\n") for call in text.split("\n\n") if call]
