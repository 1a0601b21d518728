"""Opening the journal for a query, over a stand-in for libsystemd that reads real exports."""

from __future__ import annotations

import itertools

import pytest

from triage.model import TriageError
from triage.sources import open_journal
from triage.sources.query import JournalQuery
from triage.sources.source import journal_name

pytestmark = pytest.mark.usefixtures("no_systemd")


@pytest.fixture
def opened(journal_dir):
    def read(name, *units, **options):
        return open_journal(JournalQuery(units=units, directory=journal_dir(name), **options))

    return read


def messages(source):
    return [entry.fields.get("MESSAGE", "") for entry in source.entries()]


def kinds(source):
    return {gap.kind for gap in source.gaps}


def test_reads_output_and_systemd_in_order(opened, journal_dir):
    """A unit's own lines and systemd's come in the order of the journal, with running numbers and cursors."""
    source = opened("lab", "sg-exit1")
    entries = list(source.entries())
    texts = [entry.fields["MESSAGE"] for entry in entries]
    assert texts[0].startswith("Started sg-exit1.service")
    assert "sg-exit1.service: Main process exited, code=exited, status=1/FAILURE" in texts
    assert any(entry.fields.get("_SYSTEMD_UNIT") == "sg-exit1.service" for entry in entries)
    assert [entry.offset for entry in entries] == list(range(len(entries)))
    assert len({entry.cursor for entry in entries}) == len(entries)
    assert (source.reader, source.units) == ("systemd-python", ["sg-exit1.service"])
    assert source.name == f"journal {journal_dir('lab')}"


def test_the_exec_childs_lines_are_there(opened):
    """The line that says why a program was not started comes from a child without PID 1 and without the unit."""
    texts = messages(opened("lab", "sg-203exec"))
    assert any("Unable to locate executable" in text for text in texts)
    assert any("Failed at step EXEC" in text for text in texts)


def test_kernel_lines_of_the_same_time_are_there(opened):
    """The kernel's OOM kill is read with the unit, those of other times are not."""
    source = opened("lab", "sg-oomchild")
    kernel = [entry.fields["MESSAGE"] for entry in source.entries() if entry.fields["_TRANSPORT"] == "kernel"]
    assert any("task_memcg=/system.slice/sg-oomchild.service" in text for text in kernel)
    assert not any("/sg-oom.service" in text or "Xid" in text for text in kernel)
    assert kinds(source) == set()


def test_kernel_lines_can_be_left_out(opened):
    """--no-kernel leaves them out, and that is a gap like any other."""
    source = opened("lab", "sg-oomchild", kernel=False)
    assert not any(entry.fields["_TRANSPORT"] == "kernel" for entry in source.entries())
    assert kinds(source) == {"no-kernel"}


def test_a_journal_without_kernel_lines_has_a_gap(opened):
    """Where the kernel's lines are missing altogether, an OOM kill would not show."""
    assert "no-kernel" in kinds(opened("sglang", "sglang-nogpu"))


def test_core_dumps_and_suppressed_lines_belong_to_the_unit(opened):
    """systemd-coredump's and journald's own entries about a unit are read with it."""
    assert any(entry.fields.get("COREDUMP_SIGNAL_NAME") == "SIGSEGV" for entry in opened("lab", "sg-segv").entries())
    dropped = [entry.fields.get("N_DROPPED") for entry in opened("lab", "sg-flood").entries()]
    assert "2250" in dropped


def test_several_units_and_patterns(opened):
    """Names, with and without suffix, and patterns go together."""
    source = opened("lab", "sg-203*", "sg-exit1.service")
    assert source.units == ["sg-203exec.service", "sg-exit1.service"]
    assert {entry.fields.get("UNIT") for entry in source.entries()} >= set(source.units)


def test_user_units(opened):
    """--user reads the units of user managers; without it they are pointed out."""
    texts = messages(opened("user", "sg-203exec", user=True))
    assert any("Failed to locate executable" in text for text in texts)
    with pytest.raises(TriageError, match="add --user"):
        opened("user", "sg-203exec")


def test_an_unknown_unit_is_an_error_with_near_names(opened):
    """There is no such unit, and these are near."""
    with pytest.raises(
        TriageError, match=r"no unit sglang-pp9.service in this journal; did you mean sglang-pp8.service"
    ):
        opened("sglang", "sglang-pp9")


def test_only_the_last_invocations_are_read(opened):
    """With more invocations than wanted the older ones are left out, and a note says how many."""
    whole = opened("sglang", "sglang-badarg", invocation="all")
    assert whole.notes == []
    last = opened("sglang", "sglang-badarg", attempts=1)
    (note,) = last.notes
    assert note == "2 earlier invocations of sglang-badarg.service not read (--invocation all reads them)"
    ids = {entry.fields.get("_SYSTEMD_INVOCATION_ID") for entry in last.entries()}
    own = [entry.fields.get("_SYSTEMD_INVOCATION_ID") for entry in whole.entries() if "UNIT" not in entry.fields]
    assert own[-1] in ids
    assert own[0] not in ids
    assert len(messages(last)) < len(messages(whole))


def test_units_with_different_spans_keep_to_their_own(opened):
    """One unit's old lines are not read because another one's reach further back."""
    entries = list(opened("sglang", "sglang-ok", "sglang-nogpu", attempts=1).entries())
    alone = list(opened("sglang", "sglang-ok", attempts=1).entries())
    mine = [
        entry.cursor
        for entry in entries
        if "sglang-ok.service" in (entry.fields.get("UNIT"), entry.fields["_SYSTEMD_UNIT"])
    ]
    assert mine == [entry.cursor for entry in alone]


def test_invocations_by_number_and_id(opened):
    """0 is the last, -1 the one before, 1 the first, and an id is itself."""

    def ids(invocation, *units):
        entries = opened("sglang", *units, invocation=invocation).entries()
        return {entry.fields.get("INVOCATION_ID") or entry.fields["_SYSTEMD_INVOCATION_ID"] for entry in entries}

    last, before, first = (ids(number, "sglang-badarg") for number in ("0", "-1", "1"))
    assert [len(found) for found in (last, before, first)] == [1, 1, 1]
    assert len(last | before | first) == 3
    assert ids("-2", "sglang-badarg") == first
    assert ids(next(iter(before)), "sglang-badarg") == before
    assert ids(next(iter(before))) == before
    with pytest.raises(TriageError, match=r"the journal knows 3 invocations of sglang-badarg.service"):
        ids("-3", "sglang-badarg")
    with pytest.raises(TriageError, match="neither an invocation id"):
        ids("latest", "sglang-badarg")
    with pytest.raises(TriageError, match="no line of it"):
        ids("0" * 32)


def test_since_and_until(opened):
    """Only lines of the span asked for are read; none at all is an error that names the span."""
    entries = list(opened("sglang", "sglang-ok", invocation="all").entries())
    middle = entries[len(entries) // 2].realtime
    stamp = f"@{middle // 10**6}.{middle % 10**6:06}"
    later = [entry.cursor for entry in opened("sglang", "sglang-ok", invocation="all", since=stamp).entries()]
    earlier = [entry.cursor for entry in opened("sglang", "sglang-ok", invocation="all", until=stamp).entries()]
    everything = [entry.cursor for entry in entries]
    assert later == [entry.cursor for entry in entries if entry.realtime >= middle]
    assert set(later) | set(earlier) == set(everything)
    with pytest.raises(TriageError, match=r"nothing of sglang-ok.service with --since 2038-01-01"):
        opened("sglang", "sglang-ok", since="2038-01-01")
    with pytest.raises(TriageError, match="later than --until"):
        opened("sglang", "sglang-ok", since="2026-02-01", until="2026-01-01")


def test_boots(opened):
    """A boot is named by offset or id; one that is not there is an error."""
    everything = messages(opened("sglang", "sglang-nogpu"))
    assert messages(opened("sglang", "sglang-nogpu", boot="0")) == everything
    assert messages(opened("sglang", "sglang-nogpu", boot="1")) == everything
    assert messages(opened("sglang", "sglang-nogpu", boot="all")) == everything
    boot = next(opened("sglang", "sglang-nogpu").entries()).fields["_BOOT_ID"]
    assert messages(opened("sglang", "sglang-nogpu", boot=boot)) == everything
    with pytest.raises(TriageError, match="no such boot, the journal holds 1"):
        opened("sglang", "sglang-nogpu", boot="-1")
    with pytest.raises(TriageError, match="neither a boot's id nor an offset"):
        opened("sglang", "sglang-nogpu", boot="last")


def test_matches_alone_and_with_a_unit(opened):
    """FIELD=VALUE narrows a unit's lines, or stands alone."""
    alone = list(opened("sglang", matches=["_PID=1", "UNIT=sglang-ok.service"]).entries())
    assert alone
    assert {entry.fields["_PID"] for entry in alone} == {"1"}
    narrowed = list(opened("sglang", "sglang-ok", matches=["_PID=1"], invocation="all").entries())
    assert [entry.cursor for entry in narrowed] == [entry.cursor for entry in alone]
    with pytest.raises(TriageError, match="no entry can match"):
        opened("sglang", "sglang-ok", matches=["_SYSTEMD_UNIT=a", "_UID=5", "MESSAGE_ID=b"])


def test_output_that_goes_elsewhere_is_a_gap(opened):
    """Of a unit that logs to a file the journal has systemd's lines only."""
    source = opened("lab", "sg-file")
    assert messages(source)
    assert kinds(source) == {"output-elsewhere"}
    assert "output-elsewhere" not in kinds(opened("lab", "sg-203exec"))


def test_output_in_a_namespace_is_a_gap(tmp_path, journal_dir):
    """LogNamespace=: where the output is and how to read it."""
    machine = "1b701acae5e64de18bde3f75499a566f"
    lab = journal_dir("lab")
    plain, other = tmp_path / machine, tmp_path / f"{machine}.gpu"
    export = (lab / "system.export").read_bytes()
    for folder, cut in ((plain, b"_SYSTEMD_UNIT=sg-exit1.service\n"), (other, b"UNIT=sg-exit1.service\n")):
        folder.mkdir()
        (folder / "system.journal").write_bytes((lab / "system.journal").read_bytes())
        gone = b"_SYSTEMD_UNIT=elsewhere.service\n" if folder is plain else b"TID=1\n"
        (folder / "system.export").write_bytes(export.replace(b"\n" + cut, b"\n" + gone))
    (tmp_path / "system.journal").write_bytes((plain / "system.journal").read_bytes())
    (tmp_path / "system.export").write_bytes((plain / "system.export").read_bytes())
    source = open_journal(JournalQuery(units=["sg-exit1"], directory=tmp_path))
    (gap,) = [gap for gap in source.gaps if gap.kind == "namespace"]
    assert "add --namespace=+gpu" in gap.detail
    alone = open_journal(JournalQuery(units=["sg-exit1"], directory=tmp_path, namespace="gpu"))
    assert {entry.fields["_SYSTEMD_UNIT"] for entry in alone.entries()} >= {"sg-exit1.service"}


def test_a_start_that_is_gone_is_a_gap(tmp_path, journal_dir):
    """Where the journal begins in the middle of the last run, that is said."""
    export = (journal_dir("sglang") / "system.export").read_bytes()
    marker = export.rindex(b"MESSAGE_ID=39f53479d3a045ac8e11786248231fbf")
    (tmp_path / "system.journal").write_bytes((journal_dir("sglang") / "system.journal").read_bytes())
    begin = export.index(b"\n\n", marker) + 2
    (tmp_path / "system.export").write_bytes(export[begin:])
    unit = next(
        line.partition(b"=")[2].decode()
        for line in export[begin:].splitlines()
        if line.startswith(b"_SYSTEMD_UNIT=sglang")
    )
    assert "rotated" in kinds(open_journal(JournalQuery(units=[unit], directory=tmp_path)))


def test_selecting_by_message_gives_the_same_entries(opened):
    """With `select` the same entries come in the same order, those of the service only where it picks them."""
    for units in (("sg-flood",), ("sg-pp8",), ("sg-oomchild", "sg-segv"), ("sg-203exec",)):
        source = opened("lab", *units)
        whole = list(source.entries())
        assert list(source.entries(lambda block: range(len(block)))) == whole
        picked = source.entries(lambda block: [i for i, text in enumerate(block) if b"Traceback" in text])
        others = [entry for entry in whole if entry.fields.get("_SYSTEMD_UNIT") not in source.units]
        tracebacks = [entry for entry in whole if "Traceback" in entry.fields["MESSAGE"] and entry not in others]
        expected = {entry.cursor for entry in [*others, *tracebacks]}
        assert {entry.cursor for entry in picked} >= expected


def test_select_sees_blocks_and_picks_across_them(opened, monkeypatch):
    """Blocks end anywhere; what is picked in them is the same."""
    monkeypatch.setattr("triage.sources.journal.BLOCK", 7)
    source = opened("lab", "sg-pp8")
    sizes = []

    def every_third(block):
        sizes.append(len(block))
        return range(0, len(block), 3)

    picked = [entry.cursor for entry in source.entries(every_third)]
    assert max(sizes) == 7
    whole = [entry.cursor for entry in source.entries()]
    assert picked == [cursor for cursor in whole if cursor in set(picked)]
    assert len(picked) > len(whole) // 3


def test_everything_without_a_unit(opened, export):
    """Neither unit nor match: the whole journal."""
    assert len(list(opened("lab").entries())) == export("lab").count(b"__CURSOR=")


def test_two_journals_are_one(journal_dir):
    """Several files are read together, in the order of time."""
    paths = [journal_dir(name) / "system.journal" for name in ("sglang", "lab")]
    source = open_journal(JournalQuery(units=["sglang-nogpu", "sg-exit1"], files=paths, kernel=False))
    times = [entry.realtime for entry in source.entries()]
    assert times == sorted(times)
    assert source.name == f"journal {paths[0]}, {paths[1]}"


def test_a_host_without_a_journal_is_an_error(monkeypatch, tmp_path):
    """No files in /var/log/journal and /run/log/journal."""
    monkeypatch.setattr("triage.sources.files._LIVE", (str(tmp_path),))
    with pytest.raises(TriageError, match="this host keeps no journal"):
        open_journal(JournalQuery(units=["a"]))


def test_a_unit_that_systemd_knows_but_the_journal_does_not(monkeypatch, journal_dir, stand_in, fake_program):
    """On this host itself: the unit is there, it just never said anything."""
    folder = journal_dir("lab")
    monkeypatch.setattr("triage.sources.files._LIVE", (str(folder),))
    monkeypatch.setattr("triage.sources.journal.load", lambda: lambda **_: stand_in(path=folder))
    fake_program(
        "systemctl",
        'case "$*" in *new.service) echo LoadState=loaded; echo ActiveState=inactive; echo SubState=dead;; *) exit 1;; esac',
    )
    with pytest.raises(
        TriageError, match=r"new.service is known to systemd \(inactive, dead\), but the journal has no line"
    ):
        open_journal(JournalQuery(units=["new"]))
    with pytest.raises(TriageError, match=r"no unit sg-exit2.service in this journal; did you mean sg-exit1.service"):
        open_journal(JournalQuery(units=["sg-exit2"]))
    source = open_journal(JournalQuery(units=["sg-exit1"]))
    assert source.name == "journal"
    assert list(itertools.islice(source.entries(), 1))


@pytest.mark.parametrize(
    ("query", "name"),
    [
        (JournalQuery(), "journal"),
        (JournalQuery(user=True), "journal --user"),
        (JournalQuery(machine="box"), "journal box"),
        (JournalQuery(directory="j", user=True), "journal --user ./j"),
        (JournalQuery(files=["a.journal", "/b.journal"]), "journal ./a.journal, /b.journal"),
    ],
)
def test_a_journals_name_says_whose_it_is(query, name):
    """A folder can't be taken for a container."""
    assert journal_name(query) == name
