"""From a source to what its lines say: the way of text, with the fast skip, and the way of a journal."""

from __future__ import annotations

from triage.records import Record, dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from triage.events import Extraction
    from triage.model import Entry, Gap, Position
    from triage.patterns import LinePattern
    from triage.repeats import Repeats
    from triage.sources.query import JournalQuery
    from triage.sources.rotated import RotatedSource
    from triage.sources.text import TextSource

# Text below this size is read line by line; above it only regions around what may matter are.
WHOLE_BYTES = 8 * 1024 * 1024
# Entries of a batch of which not all are read, of its first and last ones that are, and of the first large one.
_LARGE, _EDGE, _HEAD = 300, 48, 512
# An entry with one of these fields is systemd's or journald's.
_SAID_BY_OTHERS = frozenset({"MESSAGE_ID", "UNIT", "USER_UNIT", "OBJECT_SYSTEMD_UNIT", "COREDUMP_UNIT"})


@dataclass(slots=True)
class Reading(Record):
    """A source that was read: its name, what its lines say, what could not be read, and how it was read.

    `files` are those of a rotated log, oldest first.
    """

    name: str
    extraction: Extraction
    gaps: list[Gap] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def open_logs(names: Sequence[str | TextSource]) -> list[TextSource | RotatedSource]:
    """Take the names of log files (`-` is standard input), or sources; return sources, files of one rotated log as one.

    Raises `TriageError` for a file that can't be read.
    """
    from triage.sources.text import TextSource

    if len(names) == 1:
        return [TextSource(name) if isinstance(name, str) else name for name in names]
    from triage.sources.rotated import RotatedSource, sets

    given = [name for name in names if not isinstance(name, str)]
    found = [
        TextSource(paths[0]) if len(paths) == 1 else RotatedSource(paths)
        for paths in sets([name for name in names if isinstance(name, str)])
    ]
    return [*given, *found]


def read_log(source: TextSource | RotatedSource, patterns: Sequence[LinePattern], *, skip: bool = True) -> Reading:
    """Take a source of text and the log patterns of signatures; return what the lines say.

    With `skip` only regions around what may matter are read of a large text. Raises `TriageError` where there is
    nothing to read.
    """
    from triage.events import extract
    from triage.lines import read_text
    from triage.sources.text import TextSource, whole

    blocks, repeats = _blocks(source.chunks(), patterns) if skip else (whole(source.chunks()), None)
    extraction = extract(read_text(blocks, source.name), patterns, repeats)
    if isinstance(source, TextSource):
        return Reading(source.name, extraction, source.gaps)
    _relocate(extraction, source)
    note = f"{source.name} was read from {', '.join(source.files)}"
    return Reading(source.name, extraction, source.gaps, [note], source.files)


def read_journal(query: JournalQuery, patterns: Sequence[LinePattern], *, skip: bool = True) -> Reading:
    """Take a journal query and the log patterns of signatures; return what the entries say.

    Raises `TriageError` where the journal can't be read or the query names nothing.
    """
    from triage.events import extract
    from triage.lines import read_entries
    from triage.sources import open_journal

    source = open_journal(query)
    select: Callable[[Sequence[bytes]], Sequence[int]] | None = None
    if skip:
        from triage.needles import needles
        from triage.scan import selector

        select = selector(needles(patterns))
    extraction = extract(read_entries(source.entries(select), source.name), patterns)
    notes = [f"read {source.name} through {source.reader}", *source.notes, *source.told]
    return Reading(source.name, extraction, source.gaps, notes)


def skim(batches: Iterable[list[Entry]], patterns: Sequence[LinePattern]) -> Iterator[list[Entry]]:
    """Take batches of journal entries as they come, and the log patterns of signatures; yield what needs reading.

    Of a large batch, which comes when entries are written faster than they are read, that is what others say of the
    service, its first and last lines (a traceback may go on in the next batch), and those around a word that matters.
    """
    from triage.needles import needles
    from triage.scan import selector

    select = selector(needles(patterns), head=_HEAD, context=_EDGE, block=1)
    for batch in batches:
        if len(batch) < _LARGE:
            yield batch
            continue
        wanted = set(select([entry.fields.get("MESSAGE", "").encode() for entry in batch]))
        wanted.update(range(_EDGE), range(len(batch) - _EDGE, len(batch)))
        wanted.update(n for n, entry in enumerate(batch) if _by_others(entry.fields))
        yield [batch[n] for n in sorted(wanted)]


def _by_others(fields: dict[str, str]) -> bool:
    return fields.get("_TRANSPORT") == "kernel" or not _SAID_BY_OTHERS.isdisjoint(fields)


def _blocks(
    chunks: Iterable[bytes], patterns: Sequence[LinePattern]
) -> tuple[Iterable[tuple[int, bytes]], Repeats | None]:
    """What of a text is to be read, and the repeats that are left out of it."""
    from triage.sources.text import whole

    stream = iter(chunks)
    head: list[bytes] = []
    size = 0
    for chunk in stream:
        head.append(chunk)
        size += len(chunk)
        if size > WHOLE_BYTES:
            from triage.needles import needles
            from triage.repeats import Repeats
            from triage.scan import regions

            repeats = Repeats()
            return repeats.thin(regions(_chain(head, stream), needles(patterns))), repeats
    return whole(head), None


def _chain(head: list[bytes], rest: Iterator[bytes]) -> Iterator[bytes]:
    while head:
        yield head.pop(0)
    yield from rest


def _relocate(extraction: Extraction, source: RotatedSource) -> None:
    """Give every position the file and the offset where it stands, instead of its place in the whole."""
    done: set[int] = set()
    for at in positions(extraction):
        if id(at) in done:
            continue
        done.add(id(at))
        at.source, at.offset, first = source.place(at.offset)
        if not first:
            at.line = None


def positions(extraction: Extraction) -> Iterator[Position]:
    """Yield the positions of an extraction; one may come twice."""
    for event in extraction.events:
        yield event.at
        yield from (item.at for item in event.evidence)
    for track in extraction.tracks:
        yield track.last.at
        yield from (item.at for _, item in track.words)
