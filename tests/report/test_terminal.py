"""The report on a terminal and in a pipe."""

import io
import re

import pytest

from triage.model import Fix, TriageError
from triage.report import render, write
from triage.report.terminal import encodable, wants_color, width_of
from triage.report.text import columns


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


def test_reports_look_as_they_did(named_report, golden):
    """The first screen of each report is as it was approved; TRIAGE_BLESS=1 approves a new one."""
    name, report = named_report
    golden(f"{name}.txt", render(report))


@pytest.mark.parametrize("width", [40, 60, 100, 160])
def test_other_widths_look_as_they_did(reports, golden, width):
    """Narrow terminals wrap, wide ones use their width."""
    golden(f"pp8-file-{width}.txt", render(reports["pp8-file"](), width=width))


def test_all_failures_look_as_they_did(reports, golden):
    """--all-failures adds every failure with its role and its reason."""
    golden("pp8-file-all-failures.txt", render(reports["pp8-file"](), all_failures=True))


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 160])
def test_only_what_is_to_be_copied_is_wider(named_report, width):
    """No line but commands and links passes the edge."""
    _, report = named_report
    for line in render(report, width=width, all_failures=True).split("\n"):
        copied = re.match(r" +(?:\w[\w ]{0,8} +)?(?:triage |/opt/|systemctl |journalctl |less |https://)", line)
        assert columns(line) <= width or copied, line


@pytest.mark.parametrize("width", [20, 60, 80, 160])
def test_commands_stand_whole_on_lines_of_their_own(reports, width):
    """A command can be copied at any width."""
    lines = [line.strip() for line in render(reports["pp8-unit"](), width=width).split("\n")]
    assert "triage patch sglang/pp-triton-layer0-value-buffer --apply --unit sglang-pp8.service" in lines
    assert "/opt/sglang/venv/bin/python -m pip install 'sglang>=0.5.18'" in lines


def test_the_first_screen_holds_the_essentials(reports):
    """What is needed first comes first, in at most 40 lines of 80 columns."""
    text = render(reports["pp8-unit"]())
    lines = text.rstrip("\n").split("\n")
    assert len(lines) <= 40
    order = [
        "PP5 raised IndexError",
        "attempt 2 of 2",
        "memory_pool.py:749",
        "\n  cause ",
        "\n  certain ",
        "fixed in 0.5.18",
        "\n  fix 1 ",
        "\n  fix 2 ",
        "\n  evidence ",
        "\n  then ",
        "\n  earlier ",
        "\n  more ",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_a_longer_report_is_cut_to_the_screen_where_it_can_be(incidents):
    """Of a screen that would be too long prose is cut, headlines and commands are not; --all-failures shows all."""
    incident = incidents.pp8()
    found = incident.failures[1].diagnoses[0]
    found.cause = "word " * 200
    found.unconfirmed = ["fact " * 40]
    text = render(incidents.report(incident))
    assert text.count("word") < 45
    assert "fact …" in text
    assert "triage patch sglang/pp-triton-layer0-value-buffer --apply" in text
    whole = render(incidents.report(incident), all_failures=True)
    assert whole.count("word") == 200
    assert whole.count("fact") >= 40


def test_many_fixes_are_counted(incidents):
    """The fifth of six fixes waits for --all-failures."""
    incident = incidents.pp8()
    found = incident.failures[1].diagnoses[0]
    found.fixes = [Fix("config", f"Do thing {number}", applies="yes") for number in range(6)]
    text = render(incidents.report(incident))
    assert "Do thing 3" in text and "Do thing 4" not in text
    assert "and 2 more fixes, see --all-failures" in text
    assert "Do thing 5" in render(incidents.report(incident), all_failures=True)
    assert "Do thing 5" in render(incidents.report(incident), "markdown")


def test_a_long_message_is_cut_on_the_screen(incidents):
    """Two more lines of a long message are shown, the rest is counted."""
    incident = incidents.pp8()
    incident.failures[1].exception.message = "\n".join(["CUDA error", *(f"line {number}" for number in range(9))])
    text = render(incidents.report(incident))
    assert "line 1\n" in text and "line 2" not in text
    assert "… 7 more lines" in text
    assert "line 8" in render(incidents.report(incident), "html")


def test_healthy_services_take_one_line_after_the_failed_ones(reports):
    """Of four services the failed one is first and the healthy ones don't take the screen."""
    lines = render(reports["services"]()).rstrip("\n").split("\n")
    assert lines[0].startswith("✗ sglang-pp8.service failed")
    assert lines[-2:] == [
        f"✓ sglang@{n}.service was stopped by the operator after serving for 4 h 8 min" for n in (0, 1)
    ]


def test_colours_only_repeat_what_words_say(named_report):
    """Without its colours the coloured text is the plain one."""
    _, report = named_report
    coloured = render(report, color=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(report)


@pytest.mark.parametrize(
    ("choice", "stream", "env", "wanted"),
    [
        ("auto", Terminal(), {}, True),
        ("auto", io.StringIO(), {}, False),
        ("auto", Terminal(), {"NO_COLOR": "1"}, False),
        ("auto", Terminal(), {"NO_COLOR": ""}, True),
        ("auto", Terminal(), {"TERM": "dumb"}, False),
        ("always", io.StringIO(), {"NO_COLOR": "1"}, True),
        ("never", Terminal(), {}, False),
    ],
)
def test_when_to_colour(monkeypatch, choice, stream, env, wanted):
    """Terminals are coloured unless NO_COLOR or a dumb terminal says otherwise; --color is the last word."""
    monkeypatch.setenv("TERM", "xterm")
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert wants_color(choice, stream) is wanted


def test_a_closed_stream_is_no_terminal():
    """Asking a closed stream does not raise."""
    stream = io.StringIO()
    stream.close()
    assert wants_color("auto", stream) is False


@pytest.mark.parametrize(("said", "width"), [("132", 132), ("", 80), ("0", 80), ("many", 80), ("99999999999", 80)])
def test_width(monkeypatch, said, width):
    """COLUMNS is believed where it is a width."""
    monkeypatch.setenv("COLUMNS", said)
    assert width_of(io.StringIO()) == width


def test_what_an_encoding_cannot_hold_is_written_as_ascii(reports):
    """A terminal without UTF-8 still shows the report."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    write(reports["pp8-unit"](), stream)
    stream.flush()
    assert raw.getvalue().startswith(b"x sglang-pp8.service failed")
    assert encodable("✓ 你", io.TextIOWrapper(io.BytesIO(), encoding="latin-1")) == "+ \\u4f60"
    assert encodable("✗", io.StringIO()) == "✗"


def test_write_to_a_pipe_is_plain(reports):
    """In a pipe there are no colours and 80 columns."""
    stream = io.StringIO()
    write(reports["unknown"](), stream)
    assert stream.getvalue() == render(reports["unknown"]())
    stream = Terminal()
    write(reports["unknown"](), stream, width=100)
    assert stream.getvalue() == render(reports["unknown"](), color=True, width=100)


def test_an_unknown_format_is_the_users_error(reports):
    """The message names the formats there are."""
    with pytest.raises(TriageError, match="unknown format 'xml': use one of text, json, jsonl, markdown, html"):
        render(reports["healthy"](), "xml")
