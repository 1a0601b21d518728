"""JSON lines of docker and of structured loggers."""

import json

import pytest

from triage.lines import read_text
from triage.model import Line


def read(*records: object, banner: str = "") -> list[Line]:
    text = banner + "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records)
    return list(read_text([(0, text.encode())], "log"))


@pytest.mark.parametrize(
    "record",
    [
        {"message": "boom", "level": "ERROR", "timestamp": "2026-05-25T21:41:38Z", "process": 7},
        {"msg": "boom", "levelname": "error", "ts": 1779745298, "pid": 7},
        {"event": "boom", "severity": "ERROR", "time": 1779745298000, "process_id": "7"},
        {"textPayload": "boom", "severity": "ERROR", "timestamp": "2026-05-25T21:41:38Z", "pid": 7},
        {"jsonPayload": {"message": "boom"}, "severity": "ERROR", "timestamp": "2026-05-25T21:41:38Z", "pid": 7},
        {"@timestamp": "2026-05-25T21:41:38.000Z", "log.level": "error", "message": "boom", "pid": 7},
    ],
)
def test_keys_of_common_loggers(record: dict[str, object]) -> None:
    """Text, time, level and process are found under the names that loggers give them."""
    for line in read(record, record):
        assert (line.text, line.severity, line.time, line.zoned, line.pid) == ("boom", 3, 1779745298.0, True, 7)
        assert line.record


def test_a_traceback_in_a_key_of_its_own_follows_the_message() -> None:
    """`exc_info` and its like become lines after the message, of the same place."""
    record = {
        "message": "Scheduler hit",
        "level": "ERROR",
        "exc_info": "Traceback (most recent call last):\nValueError: x",
    }
    got = read(record, record)[:3]
    assert [line.text for line in got] == ["Scheduler hit", "Traceback (most recent call last):", "ValueError: x"]
    assert [line.record for line in got] == [True, False, False]
    assert {line.offset for line in got} == {0}


def test_docker_json_of_a_service_that_logs_json() -> None:
    """A logger's JSON inside docker's JSON is opened once more."""
    inner = json.dumps({"message": "[2026-05-25 21:41:38 TP1] boom", "level": "ERROR"})
    got = read(*[{"log": inner + "\n", "stream": "stderr", "time": "2026-05-25T21:41:39Z"}] * 3)
    assert {(line.text, line.rank, line.severity) for line in got} == {("boom", "TP1", 3)}


def test_pieces_of_docker_s_longest_line_are_joined() -> None:
    """Docker cuts lines at 16 KiB; only the last piece ends with a newline."""
    long = "x" * 16384
    got = read(
        {"log": long, "stream": "stderr", "time": "2026-05-25T21:41:39Z"},
        {"log": "between\n", "stream": "stdout", "time": "2026-05-25T21:41:39Z"},
        {"log": "end\n", "stream": "stderr", "time": "2026-05-25T21:41:39Z"},
    )
    assert [line.text for line in got] == ["between", long + "end"]


def test_streams_of_containers_and_of_stdout_are_told_apart() -> None:
    """Both pipes of both containers are streams of their own."""
    got = read(
        *({"log": "x\n", "stream": out, "time": "2026-05-25T21:41:39Z", "container_name": name}
          for out in ("stdout", "stderr") for name in ("a", "b"))
    )  # fmt: skip
    assert len({line.stream for line in got}) == 4
    assert [line.ident for line in got] == ["a", "b", "a", "b"]


def test_json_that_a_service_prints_among_text_stays_text() -> None:
    """One configuration printed as JSON is not a log in JSON."""
    config = '{"message": "hello", "model": "x"}'
    plain = [f"[2026-05-25 21:41:{n:02}] step" for n in range(20)]
    assert config in [line.text for line in read(*plain[:10], config, *plain[10:])]


def test_objects_without_a_message_stay_text() -> None:
    """What has no key that holds text is shown as it is."""
    assert [line.text for line in read('{"a": 1}', '{"message": {"nested": 1}}', "[1, 2]", '{"message": "x"')] == [
        '{"a": 1}',
        '{"message": {"nested": 1}}',
        "[1, 2]",
        '{"message": "x"',
    ]


def test_an_array_of_objects_is_read_object_by_object() -> None:
    """Cloud Logging exports one pretty-printed array."""
    records = [
        {"textPayload": f"step {n}", "timestamp": f"2026-05-25T21:41:{n:02}Z", "severity": "INFO"} for n in range(5)
    ]
    got = read(json.dumps(records, indent=2))
    assert [line.text for line in got if line.time] == [f"step {n}" for n in range(5)]


def test_journal_entries_without_their_long_messages_say_so() -> None:
    """`journalctl -o json` without --all writes null for long messages."""
    entry = {"__REALTIME_TIMESTAMP": "1795963257718341", "_PID": "7", "MESSAGE": None}
    (line,) = read(entry)
    assert "--all" in line.text
    assert line.pid == 7
