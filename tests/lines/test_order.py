"""Newest-first logs are turned round, and only these."""

import json

import pytest

from triage.lines import order, read_text
from triage.model import Line

BODY = [f"[2026-05-25 21:41:{n // 3:02} PP{n % 3}] step {n}" for n in range(60)]


def read(lines: list[str]) -> list[Line]:
    return list(read_text([(0, ("\n".join(lines) + "\n").encode())], "log"))


def gcp(lines: list[str]) -> list[str]:
    return [f"ERROR 2026-05-25T21:41:{n // 3:02}.{n:09}Z {line}" for n, line in enumerate(lines)]


def docker(lines: list[str]) -> list[str]:
    return [
        json.dumps({"log": line + "\n", "stream": "stderr", "time": f"2026-05-25T21:41:{n // 3:02}.{n:09}Z"})
        for n, line in enumerate(lines)
    ]


def loki(lines: list[str]) -> list[str]:
    return [json.dumps({"line": line, "timestamp": f"{1_795_963_257 + n}000000000"}) for n, line in enumerate(lines)]


def short(lines: list[str]) -> list[str]:
    return [f"May 25 21:41:{n // 3:02} host sglang[7]: {line}" for n, line in enumerate(lines)]


@pytest.mark.parametrize("wrap", [gcp, docker, loki, short])
def test_newest_first_is_turned_round(wrap) -> None:
    """Falling stamps of the transport mean that the last line was written first."""
    forward = read(wrap(BODY))
    backward = read(wrap(BODY)[::-1])
    assert [(line.text, line.rank) for line in forward] == [(f"step {n}", f"PP{n % 3}") for n in range(60)]
    assert [(line.text, line.rank, line.time) for line in backward] == [
        (line.text, line.rank, line.time) for line in forward
    ]


def test_falling_stamps_of_the_service_itself_prove_nothing() -> None:
    """Ranks log out of order, clocks are set back: only the transport's stamps count."""
    lines = BODY[::-1]
    assert [line.text for line in read(lines)] == [line.partition("] ")[2] for line in lines]


def test_two_nodes_that_disagree_are_not_turned_round() -> None:
    """Collected from two hosts, stamps fall at every change of host and rise within."""
    lines = [f"2026-05-25T21:41:{n // 6 + n % 2 * 20:02}.{n:06}Z stdout F step {n}" for n in range(60)]
    assert [line.text for line in read(lines)] == [f"step {n}" for n in range(60)]


def test_a_message_of_several_lines_stays_in_order() -> None:
    """Of a JSON line that holds a whole traceback the lines are not turned round."""
    lines = docker([f"Traceback {n}\n  File\nError {n}" for n in range(12)])[::-1]
    assert [line.text for line in read(lines)][:4] == ["Traceback 0", "  File", "Error 0", "Traceback 1"]


def test_a_large_log_waits_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit of memory batches are stored, entries and physical lines alike, and come back whole."""
    monkeypatch.setattr(order, "_IN_MEMORY", 2000)
    body = [f"ü\udcff step {n}" for n in range(9000)]
    stamps = [f"2026-05-25T{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}.000000Z" for n in range(9000)]
    lines = [f"{stamp} stderr F {text}" for stamp, text in zip(stamps, body, strict=True)][::-1]
    data = "\n".join(lines).encode("utf-8", "surrogateescape")
    got = list(read_text([(0, data)], "log"))
    assert [line.text for line in got] == [text.replace("\udcff", "\ufffd") for text in body]
    entries = "".join(
        f"__CURSOR=s=1;i={n}\n__REALTIME_TIMESTAMP={1_795_963_257_000_000 + n}\n_HOSTNAME=h\nMESSAGE=step {n}\n\n"
        for n in reversed(range(3000))
    )
    got = list(read_text([(0, entries.encode())], "log"))
    assert [(line.text, line.host) for line in got] == [(f"step {n}", "h") for n in range(3000)]
