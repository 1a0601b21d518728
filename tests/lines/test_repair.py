"""Broken text: what is mended, and that nothing on earth makes reading fail."""

import json
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from triage.lines import read_text
from triage.lines.repair import LONGEST_TEXT, decode, physical
from triage.model import Line

HEAD = "[2026-05-25 21:41:38 PP3] "


def read(data: bytes | str, *, size: int | None = None) -> list[Line]:
    raw = data.encode() if isinstance(data, str) else data
    step = size or len(raw) or 1
    return list(read_text([(at, raw[at : at + step]) for at in range(0, len(raw), step)], "log"))


def texts(data: bytes | str) -> list[str]:
    return [line.text for line in read(data)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07end", ["red end"]),
        ("\x1b[?25l\x1b[2Kcleared\x1b(B", ["cleared"]),
        ("#033[32mrsyslog#033[0m", ["rsyslog"]),
        ("crlf\r\nnext\r\n", ["crlf", "next"]),
        ("a\0b", ["ab"]),
        ("trailing  \t\n", ["trailing"]),
        ("\ufeffbom", ["bom"]),
        ("tab\tinside", ["tab\tinside"]),
    ],
)
def test_escapes_and_ends(text: str, lines: list[str]) -> None:
    """Terminal codes, NUL bytes, carriage returns at the end and trailing blanks go; the text stays."""
    assert texts(text) == lines


def test_the_frame_of_a_terminals_pane() -> None:
    """Copied with the text, on one side or both."""
    framed = (
        '[10:00:00 TP7] Traceback (most recent call last):   │\n│   File "x.py", line 3, in f  │\n│ KeyError: 1\n│\n'
    )
    texts = [decode(line) for line in physical([(0, framed.encode())])]
    bare = ["[10:00:00 TP7] Traceback (most recent call last):", '  File "x.py", line 3, in f', "KeyError: 1", ""]
    assert texts == bare


@pytest.mark.parametrize(
    "line",
    [
        "  File &quot;x.py&quot;, line 3, in &lt;module&gt;",
        "  File “x.py”, line 3, in <module>",
        "\u00a0 File \u201cx.py\u201d, line\u00a03, in <module>",
        "  File &#34;x.py&#34;, line 3, in &lt;module&gt;",
    ],
)
def test_quotes_and_blanks_of_a_web_page(line: str) -> None:
    """And those that a chat made typographic."""
    (found,) = physical([(0, line.encode())])
    assert decode(found) == '  File "x.py", line 3, in <module>'


def test_broken_utf8_is_replaced() -> None:
    """Bytes that are no UTF-8 become U+FFFD, and the rest of the line is read."""
    assert texts(b"caf\xe9 \xff\xfe [x]\nnext\n") == ["caf\ufffd \ufffd\ufffd [x]", "next"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_with_a_byte_order_mark(encoding: str) -> None:
    """PowerShell's `>` writes UTF-16; whoever hands it over undecoded still gets lines."""
    text = "\ufeff" + HEAD + "Scheduler hit\nnäxt\n"
    for size in (None, 1, 5):
        got = read(text.encode(encoding), size=size)
        assert [(line.text, line.rank) for line in got] == [("Scheduler hit", "PP3"), ("näxt", None)]


def test_progress_bars_redrawn_with_carriage_returns() -> None:
    """Of a bar that was redrawn only its last state is left, and the record behind it is a line of its own."""
    bar = "".join(f"\rLoading shards: {n * 10:3}%|{'#' * n} | {n}/10 [00:0{n}<00:09, 1.2it/s]" for n in range(10))
    got = read(f"{bar}\r{HEAD}done\n")
    assert [line.text for line in got] == ["Loading shards:  90%|######### | 9/10 [00:09<00:09, 1.2it/s]", "done"]
    assert [line.rank for line in got] == [None, "PP3"]


@pytest.mark.parametrize(
    "bar",
    [
        "Capturing batches (bs=128 avail_mem=12.70 GB):  12%|█▎        | 11/512 [00:10<05:00,  1.59s/it]",
        "Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:01<00:04,  1.59s/it]",
    ],
)
def test_a_bar_glued_before_a_record(bar: str) -> None:
    """A bar without a newline takes nothing of the record that follows on its line."""
    got = read(f"{bar}{HEAD}Scheduler hit\n")
    assert [(line.text, line.rank, line.record) for line in got] == [(bar, None, False), ("Scheduler hit", "PP3", True)]
    assert got[0].offset == got[1].offset == 0


def test_a_record_torn_into_another_line() -> None:
    """Pipes tear writes at 4,096 bytes: a whole head inside a line begins a line of its own."""
    got = read('  File "x.py", line 7[2026-05-25 21:41:38 PP3] Scheduler hit[2026-05-25 21:41:39] next\n')
    assert [(line.text, line.rank) for line in got] == [
        ('  File "x.py", line 7', None),
        ("Scheduler hit", "PP3"),
        ("next", None),
    ]


def test_a_head_quoted_in_a_message_stays_there() -> None:
    """A head without a rank, after a blank or a quote, is a quotation."""
    assert len(read(f"{HEAD}stderr was '[2026-05-25 21:41:39] x' and [2026-05-25 21:41:39] y\n")) == 1


def test_a_traceback_written_with_literal_newlines() -> None:
    """A traceback inside one line is opened; its lines keep the rank and the place of that line."""
    got = read(
        HEAD + 'failed: Traceback (most recent call last):\\n  File \\"x.py\\", line 1, in f\\nValueError: a\\tb\n'
    )
    assert [line.text for line in got] == [
        "failed: Traceback (most recent call last):",
        '  File "x.py", line 1, in f',
        "ValueError: a\tb",
    ]
    assert {(line.rank, line.offset, line.stream) for line in got} == {("PP3", 0, "log")}


def test_literal_newlines_elsewhere_are_text() -> None:
    """`\\n` in a request body or a Windows path opens nothing."""
    assert texts("prompt='a\\nb' path=C:\\new\n") == ["prompt='a\\nb' path=C:\\new"]


def test_offsets_and_numbers() -> None:
    """Offset and number are those of the physical line in the input, not of what was found in it."""
    got = read("one\n\nthree\r\nLoad: 5%|# | 1/2 [00:01<00:01, 1it/s]four\nfive")
    assert [(line.offset, line.line) for line in got] == [(0, 1), (4, 2), (5, 3), (12, 4), (12, 4), (54, 5)]


def test_a_gap_between_blocks_ends_a_line() -> None:
    """Behind a gap offsets go on and numbers do not."""
    got = list(read_text([(0, b"one\ntw"), (100, b"hundred\n")], "log"))
    assert [(line.text, line.offset, line.line) for line in got] == [
        ("one", 0, 1),
        ("tw", 4, 2),
        ("hundred", 100, None),
    ]


def test_a_line_of_megabytes() -> None:
    """Of an overlong line head and tail are kept, in bounded memory, and what follows has its right offset."""
    size = 20 << 20
    blocks = [(0, HEAD.encode())] + [(len(HEAD) + at, b"x" * (1 << 20)) for at in range(0, size, 1 << 20)]
    blocks.append((len(HEAD) + size, b"end of it\nnext\n"))
    got = list(read_text(blocks, "log"))
    assert len(got) == 2
    assert len(got[0].text) <= LONGEST_TEXT
    assert got[0].text.endswith("end of it")
    assert (got[0].rank, got[1].text, got[1].offset) == ("PP3", "next", len(HEAD) + size + 10)


@given(st.lists(st.binary(max_size=40), max_size=8), st.integers(1, 50))
def test_physical_lines_do_not_depend_on_blocks(lines: list[bytes], size: int) -> None:
    """However the bytes are cut, the same lines come out, and they add up to the input."""
    data = b"\n".join(lines)
    cut = [line[:4] for line in physical((at, data[at : at + size]) for at in range(0, len(data), size))]
    assert cut == [line[:4] for line in physical([(0, data)])]
    assert b"\n".join(line[2] for line in cut) == data.removesuffix(b"\n")


PIECES = st.sampled_from([
    "[2026-05-25 21:41:38 PP3] ", "Nov 29 14:40:57 h python[403]: ", '{"log":"', '{"MESSAGE":[1,2', "\\n", "\n", "\r", "\x1b[", "\0",
    "__CURSOR=s=1;i=2", "\n__REALTIME_TIMESTAMP=1\nMESSAGE\n", "Traceback (most recent call last):", '  File "', "100%|#| 1/1 [00:00<?, ?it/s]",
    "│ x │", "\u00a0", "&quot;", "  File “x”, line 1", "2026-01-02T00:00:00Z stderr P ", "-- Boot ", "    MESSAGE=", '{\n\t"__CURSOR" : ', "}", "(Worker pid=", "\ufeff", "ü", "[20", " ",
])  # fmt: skip


@settings(max_examples=200)
@example(["\xa0", "Nov 29 14:40:57 h python[403]: "], 1)
@given(st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=60), st.integers(1, 60))
def test_nothing_makes_reading_fail(parts: list[str], size: int) -> None:
    """Any mixture of what logs are made of is read, the same however it is cut into blocks, in ascending order."""
    data = "".join(parts).encode("utf-8", "surrogatepass")
    whole = read(data)
    assert read(data, size=size) == whole
    assert all(0 <= line.offset <= len(data) for line in whole)


@settings(max_examples=100)
@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    """Random bytes give lines without control sequences, never an exception."""
    for line in read(data):
        assert "\x1b[" not in line.text
        assert "\0" not in line.text


def test_truncating_a_log_anywhere_is_harmless() -> None:
    """Cut at either end, at any byte, every format is still read."""
    chance = random.Random(3)
    entry = json.dumps(
        {"__REALTIME_TIMESTAMP": "1795963257718341", "_PID": "7", "_HOSTNAME": "h", "MESSAGE": HEAD + "x"}
    )
    export = f"__CURSOR=s=1;i=1\n__REALTIME_TIMESTAMP=1795963257718341\n_PID=7\nMESSAGE={HEAD}x\n\n"
    for one in (f"Nov 29 14:40:57 h python[403]: {HEAD}x\n", entry + "\n", export):
        data = (one * 6).encode()
        for _ in range(40):
            start, stop = sorted((chance.randrange(len(data)), chance.randrange(len(data))))
            got = read(data[start:stop])
            if stop - start > 4 * len(one):
                assert "x" in [line.text for line in got]
