"""One connection to another host: what ssh is asked for, and what its refusals mean."""

import pytest

from triage.model import TriageError
from triage.sources.ssh import Connection, LostError


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("gpu-07", "gpu-07"),
        ("root@gpu_7.example.org:2222", "gpu_7.example.org"),
        ("a.b-c@10.0.0.1", "10.0.0.1"),
        ("root@[fe80::1%eth0]:22", "fe80::1%eth0"),
        ("[::1]", "::1"),
    ],
)
def test_hosts(host, name):
    """As systemctl -H takes them."""
    assert Connection(host).name == name


@pytest.mark.parametrize(
    "host",
    [
        "",
        "-oProxyCommand=id",
        "root@-x",
        "-l@x",
        "a b",
        "a;b",
        "$(id)",
        "a/b",
        "a@b@c",
        "::1",
        "x:y",
        "x\n",
        "x:123456",
    ],
)
def test_what_ssh_could_take_for_something_else_is_refused(host):
    """Before anything is run."""
    with pytest.raises(TriageError, match="not a host"):
        Connection(host)


def test_nothing_is_asked_and_no_key_is_skipped(ssh):
    """Every call has the same options, and the host stands behind `--`."""
    connection = Connection("root@gpu-07:2222")
    connection.run(["true"])
    connection.close()
    calls = ssh.calls()
    assert calls
    for call in calls:
        options = call[: call.index("--")]
        assert {"BatchMode=yes", "StrictHostKeyChecking=yes", "ConnectTimeout=10"} <= set(options)
        assert options[-1] != "-o"
        assert call[call.index("--") + 1] == "root@gpu-07"
        assert options[options.index("-p") + 1] == "2222"


def test_one_connection_carries_all(ssh):
    """It is opened once, and ended at the end."""
    connection = Connection("gpu-07")
    for _ in range(3):
        connection.run(["true"])
    connection.close()
    calls = ssh.calls()
    assert sum("-M" in call for call in calls) == 1
    assert calls[-1][-4:] == ["-O", "exit", "--", "gpu-07"]
    sockets = {word for call in calls for word in call if word.startswith("ControlPath=")}
    assert len(sockets) == 1
    with pytest.raises(LostError, match="was closed"):
        connection.open()


def test_words_reach_the_shell_quoted(ssh):
    """Whatever stands in them: the shell there sees one word each."""
    words = ["a b", "$(id)", "`id`", "'", '"', ";", "\\x2d", "*", "x=y", ""]
    status, out, _ = Connection("gpu-07").run(["printf", "%s\\n", *words])
    assert (status, out.split("\n")[:-1]) == (0, words)


@pytest.mark.parametrize(
    ("said", "meaning", "final"),
    [
        ("Host key verification failed.", "its host key is not known here: run `ssh gpu-07 true` once", True),
        ("No ED25519 host key is known for gpu-07 and you have requested strict checking.", "not known here", True),
        ("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.", "not the one", True),
        ("root@gpu-07: Permission denied (publickey).", "lets nobody in with the keys at hand", False),
        ("ssh: connect to host gpu-07 port 22: Connection refused", "refuses connections", False),
        ("ssh: connect to host gpu-07 port 22: Connection timed out", "does not answer", False),
        ("ssh: connect to host gpu-07 port 22: No route to host", "no way to it", False),
        ("ssh: Could not resolve hostname gpu-07: Name or service not known", "no host of this name", False),
        ("kex_exchange_identification: read: reset\nsomething new", "ssh: something new", False),
        ("", "the connection broke", False),
    ],
)
def test_refusals_are_one_line(ssh, said, meaning, final):
    """With what to do next."""
    ssh.refuse(said)
    with pytest.raises(LostError) as raised:
        Connection("gpu-07").open()
    assert str(raised.value).startswith("gpu-07: ")
    assert meaning in str(raised.value)
    assert "\n" not in str(raised.value)
    assert raised.value.final is final


def test_without_ssh_that_is_said(monkeypatch, tmp_path):
    """OpenSSH is not installed everywhere."""
    monkeypatch.setenv("SYSTEMD_SSH", str(tmp_path / "nothing"))
    with pytest.raises(LostError, match="-H needs ssh: no such file"):
        Connection("gpu-07").open()


def test_a_program_that_is_not_there_is_said(ssh):
    """A host without systemd."""
    with pytest.raises(TriageError, match="gpu-07: there is no nothing-of-the-kind there"):
        list(Connection("gpu-07").stream(["nothing-of-the-kind"]))


def test_what_a_command_complains_of_is_the_error(ssh):
    """Its first line, with the host."""
    ssh.program("journalctl", "echo 'Failed to add match' >&2; echo more >&2; exit 1")
    with pytest.raises(TriageError, match=r"^gpu-07: journalctl: Failed to add match$"):
        list(Connection("gpu-07").stream(["journalctl"]))


def test_a_command_that_never_ends_is_given_up(ssh):
    """And ended."""
    with pytest.raises(LostError, match="no answer within 0 s"):
        Connection("gpu-07").run(["sleep", "60"], timeout=0.2)
