"""Another host's systemd and journal, by way of a stand-in for ssh that runs the commands here."""

import threading

import pytest

from triage.model import TriageError
from triage.sources import feed, open_journal
from triage.sources.query import JournalQuery
from triage.sources.remote import Remote

ENTRY = "__CURSOR=s=1;i={0}\n__REALTIME_TIMESTAMP={1}\n_SYSTEMD_UNIT=x.service\nMESSAGE=line {0}\n\n"


def entries(*numbers):
    return "".join(ENTRY.format(n, 1_700_000_000_000_000 + n) for n in numbers)


def test_opening_looks_whether_the_journal_can_be_read(ssh):
    """Who is not in the group sees nothing of other users and the system: that is a gap."""
    ssh.program("journalctl", "echo 'Hint: You are currently not seeing messages from other users and the system.' >&2")
    with Remote("gpu-07") as there:
        assert [gap.kind for gap in there.gaps] == ["permission"]


def test_a_host_without_journalctl_is_refused(ssh):
    """In one line."""
    (ssh.programs / "journalctl").unlink()
    ssh.program("env", 'while case "$1" in *=*) true;; *) false;; esac; do shift; done; PATH=/nowhere exec "$@"')
    with pytest.raises(TriageError, match="gpu-07: there is no journalctl there"), Remote("gpu-07"):
        pass


def test_the_state_of_a_unit(ssh):
    """As systemctl shows it there."""
    ssh.program(
        "systemctl",
        'case "$*" in *show*) printf "LoadState=loaded\\nActiveState=failed\\nNRestarts=3\\n";; '
        "*) printf '[Service]\\nExecStart=/v/python -m sglang.launch_server --tp 2\\n';; esac",
    )
    with Remote("gpu-07") as there:
        state = there.unit_state("x")
        assert (state.unit, state.active_state, state.restarts) == ("x.service", "failed", 3)
        assert state.exec_start.endswith("--tp 2")
        with pytest.raises(TriageError, match="cannot be the name of a unit"):
            there.unit_state("x;id")


def test_a_query_reads_the_journal_there(ssh):
    """Through open_journal, as on this host; errors name the host."""
    ssh.program("journalctl", f"cat <<'E'\n{entries(1, 2)}E\n")
    with Remote("gpu-07") as there:
        source = open_journal(JournalQuery(units=["x"], remote=there))
        assert (source.name, source.reader) == ("journal ssh://gpu-07", "journalctl")
        assert [entry.fields["MESSAGE"] for entry in source.entries()][:2] == ["line 1", "line 2"]
        ssh.program("journalctl", "exit 0")
        ssh.program("systemctl", "exit 1")
        with pytest.raises(TriageError, match=r"^gpu-07: no unit y\.service in this journal"):
            open_journal(JournalQuery(units=["y"], remote=there))


@pytest.mark.parametrize("options", [{"directory": "/j"}, {"files": ["/f"]}, {"machine": "box"}])
def test_it_goes_with_no_other_journal(ssh, options):
    """Two places at once."""
    with pytest.raises(TriageError, match="-H reads another host's own journal"):
        JournalQuery(units=["x"], remote=Remote("gpu-07"), **options).check()


def test_following_goes_on_behind_the_last_entry(ssh, monkeypatch):
    """After the connection broke: said once, and once again when it is there."""
    monkeypatch.setattr(feed, "_FIRST_WAIT", 0.05)
    ssh.program(
        "journalctl",
        f'echo "$*" >> {ssh.folder}/asked\n'
        f'case "$*" in *after-cursor*) cat <<"E"\n{entries(3)}E\n exec sleep 60;; '
        f'*--follow*) cat <<"E"\n{entries(1, 2)}E\n rm {ssh.folder}/master; exit 255;; esac',
    )
    said, seen = [], []
    there = Remote("gpu-07")
    there.open()
    for batch in there.follow([(("_SYSTEMD_UNIT", "x.service"),)], say=said.append):
        seen += [entry.fields["MESSAGE"] for entry in batch]
        if "line 3" in seen:
            there.close()
            break
    assert seen == ["line 1", "line 2", "line 3"]
    assert [line.split(":")[0] for line in said] == ["gpu-07", "gpu-07"]
    assert "goes on behind the last entry" in said[0]
    assert "there again" in said[1]
    asked = (ssh.folder / "asked").read_text().splitlines()
    assert "--since=@" in asked[1]
    assert "--after-cursor=s=1;i=2" in asked[-1]


def test_following_waits_as_long_as_it_takes(ssh, monkeypatch):
    """Each wait is longer than the one before, up to a bound; a host that is gone is told of once."""
    waits = []
    monkeypatch.setattr(feed, "_LONGEST_WAIT", 4.0)
    ssh.program("journalctl", f'case "$*" in *--follow*) rm {ssh.folder}/master; exit 255;; esac')
    there = Remote("gpu-07")
    there.open()
    following = feed.JournalctlFeed([], [], connection=there.connection, say=(said := []).append)

    def wait(seconds):
        waits.append(seconds)
        ssh.refuse("ssh: connect to host gpu-07 port 22: Connection refused")
        if len(waits) == 5:
            following.close()

    monkeypatch.setattr(following._closed, "wait", wait)
    assert list(following.batches()) == []
    assert waits == [1.0, 2.0, 4.0, 4.0, 4.0]
    assert len(said) == 1


def test_a_host_that_became_another_one_ends_it(ssh, monkeypatch):
    """Its key has changed: trying again would be in vain, or worse."""
    monkeypatch.setattr(feed, "_FIRST_WAIT", 0.01)
    ssh.program("journalctl", f'case "$*" in *--follow*) rm {ssh.folder}/master; exit 255;; esac')
    there = Remote("gpu-07")
    there.open()
    ssh.refuse("REMOTE HOST IDENTIFICATION HAS CHANGED!")
    with pytest.raises(TriageError, match="not the one that is known here"):
        list(there.follow([]))


def test_closing_ends_it_from_another_thread(ssh):
    """While it waits for entries."""
    ssh.program("journalctl", f'case "$*" in *--follow*) cat <<"E"\n{entries(1)}E\n exec sleep 60;; esac')
    following = feed.JournalctlFeed([], [], connection=(there := Remote("gpu-07")).connection)
    there.open()
    batches = following.batches()
    assert len(next(batches)) == 1
    threading.Timer(0.2, following.close).start()
    assert list(batches) == []
    there.close()
