"""The report on a terminal and in a pipe."""

import io
import re

import pytest

from triage.model import Fix, TriageError
from triage.report import render, write
from triage.report.terminal import draws, encodable, width_of
from triage.report.text import columns

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


def test_reports_look_as_they_did(named_report, golden):
    """The first screen of each report is as it was approved; TRIAGE_BLESS=1 approves a new one."""
    name, report = named_report
    golden(f"{name}.txt", render(report, screen=True))


def test_what_goes_into_a_pipe_looks_as_it_did(reports, golden):
    """Nothing is left out of it for want of room."""
    golden("pp8-unit-pipe.txt", render(reports["pp8-unit"]()))


@pytest.mark.parametrize("width", [40, 60, 100, 160])
def test_other_widths_look_as_they_did(reports, golden, width):
    """Narrow terminals wrap, wide ones use their width."""
    golden(f"pp8-file-{width}.txt", render(reports["pp8-file"](), width=width, screen=True))


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
    text = render(reports["pp8-unit"](), screen=True)
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
    """What of a cause follows its second sentence, and what could not be checked, is cut; --all-failures shows all."""
    incident = incidents.pp8()
    found = incident.failures[1].diagnoses[0]
    found.cause = f"{'One ' * 60}end. {'Two ' * 60}end. {'Three ' * 200}end."
    found.unconfirmed = ["fact " * 80]
    report = incidents.report(incident)
    text = render(report, screen=True)
    assert (text.count("One"), text.count("Two"), text.count("Three")) == (60, 60, 0)
    assert "end. …\n" in text
    assert text.count("fact") < 40 and "fact …\n" in text
    for whole in (render(report), render(report, screen=True, all_failures=True)):
        assert whole.count("Three") == 200
        assert whole.count("fact") == 80


def test_an_ellipsis_takes_no_line_of_its_own(incidents):
    """Where the last sentence that is kept fills its line, the ellipsis stands for its full stop."""
    incident = incidents.pp8()
    for length in range(40, 120):
        incident.failures[1].diagnoses[0].cause = f"{'x' * length} Y. Z it was. Then {'more ' * 200}"
        lines = render(incidents.report(incident), screen=True).split("\n")
        assert "…" not in [line.strip() for line in lines]


def test_a_fix_is_never_cut(incidents):
    """Title, detail and command stand whole on the smallest screen."""
    incident = incidents.pp8()
    incident.failures[1].diagnoses[0].fixes = [
        Fix("config", "title " * 30, "detail " * 60, ["do", "it " * 40], applies="yes") for _ in range(1)
    ]
    text = render(incidents.report(incident), screen=True)
    assert (text.count("title"), text.count("detail")) == (30, 60)
    assert f"do '{'it ' * 40}'" in text


def test_a_pipe_gets_everything(named_report):
    """Only lines of a log are cut there."""
    _, report = named_report
    cut = [line for line in render(report).split("\n") if "…" in line]
    allowed = r"  (?:failed|evidence|chain|then|message|earlier|process)? +"
    assert all(re.match(allowed, line) or line.startswith("…") for line in cut), cut


def test_many_fixes_are_counted(incidents):
    """The fifth of six fixes waits for --all-failures."""
    incident = incidents.pp8()
    found = incident.failures[1].diagnoses[0]
    found.fixes = [Fix("config", f"Do thing {number}", applies="yes") for number in range(6)]
    text = render(incidents.report(incident), screen=True)
    assert "Do thing 3" in text and "Do thing 4" not in text
    assert "and 2 more fixes, see --all-failures" in text
    assert "Do thing 5" in render(incidents.report(incident), screen=True, all_failures=True)
    assert "Do thing 5" in render(incidents.report(incident))
    assert "Do thing 5" in render(incidents.report(incident), "markdown")


def test_a_long_message_is_cut_on_the_screen(incidents):
    """Two more lines of a long message are shown, from both ends, the others are counted."""
    incident = incidents.pp8()
    incident.failures[1].exception.message = "\n".join(["CUDA error", *(f"line {number}" for number in range(9))])
    text = render(incidents.report(incident), screen=True)
    assert "line 0\n" in text and "line 8\n" in text and "line 1" not in text
    assert "… 7 more lines" in text
    assert "line 5" in render(incidents.report(incident), "html")


def test_healthy_services_take_one_line_after_the_failed_ones(reports):
    """Of four services the failed one is first and the healthy ones don't take the screen."""
    lines = render(reports["services"]()).rstrip("\n").split("\n")
    assert lines[0].startswith("✗ sglang-pp8.service failed")
    assert lines[-2:] == [
        f"✓ sglang@{n}.service was stopped by the operator after serving for 4 h 8 min" for n in (0, 1)
    ]


@pytest.mark.parametrize("screen", [False, True])
@pytest.mark.parametrize("width", [40, 80, 120])
def test_what_rich_draws_is_the_plain_text_with_styles(named_report, width, screen):
    """Without its styles the drawn text is the plain one, byte for byte."""
    _, report = named_report
    drawn = render(report, color=True, width=width, screen=screen)
    assert "\x1b[" in drawn
    assert ESCAPE.sub("", drawn) == render(report, width=width, screen=screen)


def test_drawn_text_of_a_log_is_the_plain_one(hostile):
    """Neither markup nor emoji codes nor wide or combining characters of a log change the layout."""
    for text in (":smile: [bold]x[/bold]", "你好" * 40, "e\u0301" * 90, "🧪🚀👩 " * 30):
        hostile.incidents[0].failures[1].evidence[0].text = text
        assert ESCAPE.sub("", render(hostile, color=True)) == render(hostile)


def test_texts_of_a_log_are_not_styled(incidents):
    """Paths, numbers and quotes of a log are not highlighted, links are not made."""
    incident = incidents.unknown()
    incident.failures[0].evidence[0].text = "got 4711 at '/tmp/x' True https://x.y/z"
    line = next(line for line in render(incidents.report(incident), color=True).split("\n") if "4711" in line)
    assert line.endswith("got 4711 at '/tmp/x' True https://x.y/z")
    assert "\x1b]8" not in line


@pytest.mark.parametrize(
    ("choice", "stream", "drawn"),
    [
        ("auto", Terminal(), True),
        ("auto", io.StringIO(), False),
        ("always", io.StringIO(), True),
        ("never", Terminal(), False),
    ],
)
def test_when_to_draw(choice, stream, drawn):
    """Terminals are drawn on; --color is the last word."""
    assert draws(choice, stream) is drawn


def written(report, stream, **options):
    """Write a report to a stream; return what it got."""
    write(report, stream, **options)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("env", "color", "codes"),
    [
        ({"TERM": "xterm"}, "auto", {"1;31", "2", "1", "36", "4"}),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "auto", {"1;31", "2", "1", "36", "4"}),
        ({"TERM": "xterm", "NO_COLOR": "1"}, "auto", {"1", "2", "4"}),
        ({"TERM": "dumb"}, "auto", set()),
        ({"TERM": "xterm"}, "never", set()),
        ({"TERM": "dumb", "NO_COLOR": "1"}, "always", {"1;31", "2", "1", "36", "4"}),
    ],
)
def test_rich_decides_what_a_terminal_can_show(monkeypatch, reports, env, color, codes):
    """TERM and NO_COLOR are heeded, unless colours are asked for."""
    for name in ("TERM", "COLORTERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    text = written(reports["pp8-unit"](), Terminal(), color=color)
    assert set(re.findall(r"\x1b\[([1-9][0-9;]*)m", text)) == codes
    assert ESCAPE.sub("", text) == render(reports["pp8-unit"](), screen=True)


def test_a_closed_stream_is_no_terminal():
    """Asking a closed stream does not raise."""
    stream = io.StringIO()
    stream.close()
    assert draws("auto", stream) is False


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
    """In a pipe there are no styles, 80 columns and no limit of lines."""
    assert written(reports["unknown"](), io.StringIO()) == render(reports["unknown"]())
    drawn = written(reports["unknown"](), Terminal(), width=100)
    assert ESCAPE.sub("", drawn) == render(reports["unknown"](), width=100, screen=True)


def test_an_unknown_format_is_the_users_error(reports):
    """The message names the formats there are."""
    with pytest.raises(TriageError, match="unknown format 'xml': use one of text, json, jsonl, markdown, html"):
        render(reports["healthy"](), "xml")
