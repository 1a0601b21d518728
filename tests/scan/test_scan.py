"""The fast skip: which bytes of a log are passed on."""

import builtins

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import triage._engine
from triage import scan
from triage._engine import by_stdlib, finder
from triage.scan import regions
from triage.sources.text import whole

WORDS = st.sampled_from([b"Traceback", b"healthy ", b"rror: ", b"\n", b"x" * 40, b"er", b"Err", b'"q"', b"\xff\0"])
LOGS = st.lists(WORDS, max_size=200).map(b"".join)
NEEDLES = st.lists(st.sampled_from([b"Traceback", b"Error: ", b"err", b"xx\n", b"\0", b"backhealthy"]), max_size=3)


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def joined(blocks) -> list[tuple[int, bytes]]:
    """Put blocks that follow each other together."""
    found: list[tuple[int, bytes]] = []
    for offset, block in blocks:
        if found and found[-1][0] + len(found[-1][1]) == offset:
            found[-1] = (found[-1][0], found[-1][1] + block)
        else:
            found.append((offset, block))
    return found


@given(LOGS, st.integers(1, 300))
def test_whole_passes_everything_on_in_lines(data: bytes, size: int) -> None:
    """Blocks add up to the input, and each but the last ends with a newline."""
    blocks = list(whole(cut(data, size)))
    assert b"".join(block for _, block in blocks) == data
    assert all(block.endswith(b"\n") for _, block in blocks[:-1])
    assert [offset for offset, _ in blocks] == [sum(len(b) for _, b in blocks[:n]) for n in range(len(blocks))]


def test_whole_passes_an_endless_line_on_in_pieces() -> None:
    """A line without end does not pile up in memory."""
    blocks = list(whole([b"x" * 300_000] * 20))
    assert max(len(block) for _, block in blocks) < 2_000_000
    assert joined(blocks) == [(0, b"x" * 6_000_000)]


@settings(max_examples=150)
@example(data=b"Traceback" * 30, needles=[b"Traceback"], head=0, tail=7, context=0, size=3)
@given(LOGS, NEEDLES, st.integers(0, 99), st.integers(0, 99), st.integers(0, 60), st.integers(1, 400))
def test_regions_hold_what_stands_around_the_needles(data, needles, head, tail, context, size) -> None:
    """Head, tail and every hit with its context are there, in whole lines, and chunks do not matter."""
    found = joined(regions(cut(data, size), needles, head=head, tail=tail, context=context))
    assert found == joined(regions([data], needles, head=head, tail=tail, context=context))
    inside = bytearray(len(data))
    for offset, block in found:
        assert data[offset : offset + len(block)] == block
        assert offset == 0 or data[offset - 1 : offset] == b"\n"
        assert block.endswith(b"\n") or offset + len(block) == len(data)
        inside[offset : offset + len(block)] = b"\1" * len(block)
    assert all(inside[:head])
    assert tail == 0 or all(inside[-tail:])
    for needle in needles:
        at = data.find(needle)
        while at >= 0:
            assert all(inside[max(0, at - context) : at + len(needle) + context])
            at = data.find(needle, at + 1)


def test_healthy_chatter_is_skipped() -> None:
    """Of a large healthy log little more than head and tail is passed on."""
    line = b"[2026-05-25 21:41:38 PP3] Decode batch. #running-req: 1\n"
    data = line * 100_000 + b"RuntimeError: boom\n" + line * 100_000
    found = joined(regions(cut(data, 1 << 19), [b"RuntimeError"], head=1000, tail=1000, context=500))
    assert len(found) == 3
    assert sum(len(block) for _, block in found) < 5000
    assert b"RuntimeError: boom" in found[1][1]


def test_a_needle_inside_an_endless_line_is_kept_in_bounds() -> None:
    """Where no line begins or ends near a hit, the region ends after 64 KiB."""
    data = b"x" * 3_000_000 + b"Traceback" + b"y" * 3_000_000
    found = joined(regions(cut(data, 1 << 19), [b"Traceback"], head=10, tail=10, context=100))
    assert b"Traceback" in found[1][1]
    assert sum(len(block) for _, block in found) < 500_000


def test_needles_are_found_as_json_writes_them() -> None:
    """Quotes are escaped in every JSON, and `<` and `>` in docker's."""
    escaped = [b'File \\"x.py\\"', b"\\u003clambda\\u003e"]
    for needle, written in zip([b'File "', b"<lambda>"], escaped, strict=True):
        data = b"x\n" * 100_000 + b'{"log":"' + written + b'"}\n' + b"x\n" * 100_000
        found = joined(regions([data], [needle], head=10, tail=10, context=0))
        assert [written in block for _, block in found] == [False, True, False]


def test_messages_that_cannot_be_scanned_are_read() -> None:
    """`journalctl -o json` writes messages with control characters as numbers."""
    data = b"x\n" * 100_000 + b'{"_PID":"7","MESSAGE":[84,114,97]}\n' + b"x\n" * 100_000
    assert len(joined(regions([data], [b"Traceback"], head=10, tail=10, context=0))) == 3


@pytest.mark.parametrize(
    "start",
    [
        b"__CURSOR=s=1;i=1\n__REALTIME_TIMESTAMP=1\nMESSAGE=x\n\n",
        b"Sun 2026-11-29 14:40:57.718100 UTC [s=37e2e7c4d5374d12817f59c6f1df5963;i=3cd;b=1]\n    MESSAGE=x\n",
        b'{\n\t"__CURSOR" : "s=1",\n\t"MESSAGE" : "x"\n}\n',
        "\ufeffhello\n".encode("utf-16-le"),
    ],
)
def test_what_cannot_be_cut_by_lines_is_passed_on_whole(start: bytes) -> None:
    """Entries over many lines, and encodings in which literals do not show, are never cut."""
    data = start * 30_000
    assert joined(regions(cut(data, 1 << 18), [b"Traceback"], head=10, tail=10)) == [(0, data)]


def test_one_object_printed_at_the_start_does_not_stop_the_skipping() -> None:
    """A configuration in pretty JSON before a plain log is no log in JSON."""
    data = b'{\n  "model": "x",\n  "tp": 8\n}\n' + b"[2026-05-25 21:41:38] Decode batch\n" * 50_000
    assert sum(len(block) for _, block in regions([data], [b"Traceback"], head=1000, tail=1000)) < 5000


@settings(max_examples=300)
@given(st.binary(max_size=80), st.lists(st.binary(max_size=7), max_size=12))
def test_both_engines_find_the_same(data: bytes, needles: list[bytes]) -> None:
    """hyperscan and the standard library report the same ends, each once, ascending."""
    want = sorted({at + len(n) for n in needles if n for at in range(len(data)) if data.startswith(n, at)})
    assert finder(needles)(data) == want
    assert by_stdlib([needle for needle in needles if needle])(data) == want


PARTS = st.sampled_from([b"Decode batch", b" failed", b"could not ", b"be", b"loaded", b"\xff", b"token", b" usage"])


@given(st.lists(PARTS, max_size=12).map(b"".join), st.lists(st.lists(PARTS, max_size=3).map(b"".join), max_size=8))
def test_literals_are_found_by_their_pieces(data: bytes, needles: list[bytes]) -> None:
    """Literals that are longer than what is scanned for, share it, overlap or lie in each other, are told exactly."""
    want = sorted({at + len(n) for n in needles if n for at in range(len(data)) if data.startswith(n, at)})
    assert finder(needles)(data) == want


def test_where_pieces_are_all_over_the_log_whole_literals_are_scanned_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found stays the same, and what is scanned for changes once."""
    pytest.importorskip("hyperscan")
    scanned: list[list[bytes]] = []
    real = triage._engine._scanner

    def noted(literals, hyperscan):
        scanned.append(list(literals))
        return real(literals, hyperscan)

    monkeypatch.setattr(triage._engine, "_scanner", noted)
    find = finder([b"Could not quickly", b"Xid"])
    data = b"Could not quickl, ould not quickly, Xid\n" * 30_000
    assert [len(find(data)) for _ in range(3)] == [30_000] * 3
    assert len(scanned) == 2
    assert scanned[1] == [b"Could not quickly", b"Xid"]


def test_without_hyperscan_the_standard_library_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the wheel does not exist the same regions come, only slower."""
    data = b"healthy\n" * 9000 + b"Traceback\n" + b"healthy\n" * 9000
    want = joined(regions([data], [b"Traceback"], head=10, tail=10, context=10))
    real = builtins.__import__

    def without(name: str, *args, **kwargs):
        if name == "hyperscan":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    assert joined(regions([data], [b"Traceback"], head=10, tail=10, context=10)) == want


def test_many_needles_of_one_word_cost_one_search() -> None:
    """The fallback looks for what literals share, so that their number hardly counts."""
    from triage._engine import _pieces

    assert len(_pieces([b"Error %d happened" % n for n in range(500)])) == 1


def test_the_limit_of_one_scan_is_kept() -> None:
    """A chunk of any size is scanned in pieces, and a needle across their edge is found."""
    data = b"x" * ((1 << 20) - 4) + b"Traceback\n" + b"y" * 100
    found = joined(scan.regions([data], [b"Traceback"], head=0, tail=0, context=0))
    assert b"Traceback" in found[0][1]
