"""Every output format of journalctl gives the lines that the journal itself gives.

`data/*.export` are real entries (systemd 252 and 257); the other files are what journalctl 252 prints of them.
"""

import re
from pathlib import Path

import pytest

from triage.lines import read_entries, read_text
from triage.model import Line
from triage.sources.export import parse_export

DATA = Path(__file__).parent / "data"
FULL = ["export", "json", "json-seq", "json-sse", "json-pretty", "verbose"]
SHORT = [
    "short",
    "short-iso",
    "short-iso-precise",
    "short-precise",
    "short-full",
    "short-unix",
    "short-monotonic",
    "short-delta",
    "with-unit",
]
BLOB = re.compile(r"\[[\d.]+[BKM] blob data\]$")


def native(name: str) -> list[Line]:
    return list(read_entries(parse_export([(DATA / f"{name}.export").read_bytes()]), "journal"))


def text(name: str, output: str) -> list[Line]:
    return list(read_text([(0, (DATA / f"{name}.{output}").read_bytes())], "file"))


def full(line: Line) -> tuple[object, ...]:
    return (line.text, line.rank, line.record, line.origin, line.unit, line.invocation, line.pid, line.ident, line.host,
            line.severity, line.time, line.zoned, line.fields, line.cursor)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "output"),
    [("pp8", output) for output in FULL]
    + [(name, output) for name in ("lab", "user") for output in ("export", "json")],
)
def test_formats_with_all_fields_lose_nothing(name: str, output: str) -> None:
    """Formats that hold an entry's fields give the very lines of the journal, fields and cursors included."""
    got, want = text(name, output), native(name)
    if output == "json-sse":
        # Its events are separated by empty lines.
        got = [line for line in got if line.text]
    if output == "verbose":
        got, want = without_blobs(got, want)
    assert [full(line) for line in got] == [full(line) for line in want]


@pytest.mark.parametrize("output", SHORT)
def test_short_formats_keep_what_they_show(output: str) -> None:
    """Short formats show host, identifier, pid and time; text, speaker and unit of systemd's lines follow.

    The rank of a line without a label is known from `_CMDLINE` only, which they do not show.
    """
    got, want = without_blobs(text("pp8", output), native("pp8"))

    def shown(line: Line) -> tuple[object, ...]:
        unit = line.unit if line.origin == "manager" else None
        rank = line.rank if line.record else None
        return line.text, rank, line.record, line.origin, unit, line.pid, line.host

    assert [shown(line) for line in got] == [shown(line) for line in want]
    for one, other in zip(got, want, strict=True):
        assert one.time is not None
        assert other.time is not None
        assert abs(one.time - other.time) < 1.0


def test_cat_keeps_text_and_rank() -> None:
    """`-o cat` has neither time nor pid of its own, but all text."""
    got, want = text("pp8", "cat"), native("pp8")
    assert [(line.text, line.record) for line in got] == [(line.text, line.record) for line in want]
    assert [line.rank for line in got if line.record] == [line.rank for line in want if line.record]
    assert {line.origin for line in got} == {"service"}


@pytest.mark.parametrize("name", ["lab", "user"])
def test_with_unit_names_the_unit(name: str) -> None:
    """`-o with-unit` prints units for identifiers, user units behind their manager."""
    want = {line.text: line for line in native(name)}
    same = [(line, want[line.text]) for line in text(name, "with-unit") if line.text in want]
    # What systemd's child says before it runs the program is printed under the unit's name there.
    pairs = [(one, other) for one, other in same if not (other.ident or "").startswith(("(", "systemd-"))]
    assert len(pairs) > 8
    assert [(one.unit, one.origin) for one, _ in pairs] == [(other.unit, other.origin) for _, other in pairs]


def test_messages_of_several_lines_stay_together() -> None:
    """`-o short` indents the further lines of a message; they keep the entry's pid, host and stream."""
    lines = [line for line in text("lab", "short") if line.ident == "sglang-native"]
    assert [line.text for line in lines] == ["M14 native, first", "second line", "third bold"]
    assert {line.pid for line in lines} == {642}
    assert len({line.stream for line in lines}) == 1


@pytest.mark.parametrize("output", ["short", "json"])
def test_reversed_output_is_turned_round(output: str) -> None:
    """`journalctl -r` prints the newest entry first; the lines come oldest first all the same."""
    forward, backward = text("pp8", output), text("pp8", f"{output}-reversed")
    assert [line.text for line in backward] == [line.text for line in forward]
    assert backward[0].offset > backward[-1].offset


def without_blobs(got: list[Line], want: list[Line]) -> tuple[list[Line], list[Line]]:
    """Drop the lines whose text journalctl does not show: those with control characters, and blank ones."""
    assert len(got) == len([line for line in want if line.text])
    kept = [(a, b) for a, b in zip(got, (b for b in want if b.text), strict=True) if not BLOB.search(a.text)]
    return [a for a, _ in kept], [b for _, b in kept]
