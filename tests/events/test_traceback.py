"""The grammar of tracebacks, one trait at a time."""

from __future__ import annotations

import pytest

from triage.events.traceback import TracebackAssembler
from triage.model import Line

HEAD = "Traceback (most recent call last):"
FRAME = '  File "/app/main.py", line 3, in run'
SOURCE = "    start(config)"
BASIC = [HEAD, FRAME, SOURCE, "ValueError: bad value"]
CAUSE = "The above exception was the direct cause of the following exception:"
CONTEXT = "During handling of the above exception, another exception occurred:"


def lines_of(texts, stream="s", **more):
    return [text if isinstance(text, Line) else Line(text, stream, 100 * n, **more) for n, text in enumerate(texts)]


def record(text, rank=None, stream="s"):
    return Line(text, stream, 0, record=True, rank=rank)


def never(line):
    return False


def read(texts, ends=never):
    assembler = TracebackAssembler(ends)
    for line in lines_of(texts):
        assembler.feed(line)
    return list(assembler.close())


def one(texts, ends=never):
    events = read(texts, ends)
    assert len(events) == 1
    return events[0]


def test_plain_traceback():
    """Type, message, frame with its source, all exact."""
    event = one(BASIC)
    assert (event.kind, event.rule, event.assembly, event.level) == ("exception", "traceback", "exact", 0.0)
    assert (event.exception.type, event.exception.message) == ("ValueError", "bad value")
    (frame,) = event.exception.frames
    assert (frame.file, frame.line, frame.function, frame.text) == ("/app/main.py", 3, "run", "start(config)")
    assert event.text == "ValueError: bad value"


def test_answers():
    """Lines of the stack, lines of the message and lines of others are told apart."""
    assembler = TracebackAssembler(never)
    texts = ["ready", *BASIC, "  more of it", "", record("another record"), "later"]
    answers = [assembler.feed(line) for line in lines_of(texts)]
    assert answers == [None, *["stack"] * 4, "message", "message", None, None]


def test_order_counts_fed_lines_where_lines_have_no_numbers():
    """The first line's number, so that events sort with those of other readers."""
    assert one(["ready", "steady", *BASIC]).order == 2


def test_order_is_the_lines_own_number():
    """Numbers of the reader win."""
    lines = lines_of(BASIC)
    for number, line in enumerate(lines, 40):
        line.number = number
    assert one(lines).order == 40


def test_times_ranks_and_unit():
    """Taken from the first line, the end from the last."""
    lines = lines_of(BASIC, rank="TP3", unit="a.service", invocation="i1", host="h", pid=7)
    for second, line in enumerate(lines):
        line.time = 100.0 + second
    event = one(lines)
    assert (event.at.time, event.end, event.ranks, event.at.pid) == (100.0, 103.0, ["TP3"], 7)
    assert (event.unit, event.invocation, event.stream) == ("a.service", "i1", "s")


def test_glued_head():
    """Text before the head is its title, the record's label its rank."""
    event = one([record(f"Scheduler hit an exception: {HEAD}", rank="PP3 TP1"), *BASIC[1:]])
    assert event.data["intro"] == "Scheduler hit an exception"
    assert event.ranks == ["PP3 TP1"]


def test_title_on_the_line_before_gives_the_rank():
    """`logger.exception` prints a record, then a bare head."""
    event = one([record("Failed to load the model", rank="TP2"), *BASIC])
    assert event.data["intro"] == "Failed to load the model"
    assert event.ranks == ["TP2"]


def test_unrelated_line_before_is_no_title():
    """Neither chatter nor another traceback's exception announces anything."""
    assert "intro" not in one(["Loading weights: 100%", *BASIC]).data
    assert "intro" not in read([*BASIC, *BASIC])[1].data


@pytest.mark.parametrize(
    ("title", "intro", "thread"),
    [
        ("Exception in thread Thread-3 (worker):", "Exception in thread Thread-3 (worker)", "Thread-3 (worker)"),
        ("Exception ignored in: <function f at 0x1>", "Exception ignored in: <function f at 0x1>", None),
        ("ERROR:    Exception in ASGI application", "ERROR:    Exception in ASGI application", None),
        ("Process SpawnProcess-1:", "Process SpawnProcess-1", None),
    ],
)
def test_titles_that_end_a_message(title, intro, thread):
    """They belong to the traceback after them, not to the message before."""
    first, second = read([*BASIC, title, *BASIC])
    assert first.exception.message == "bad value"
    assert second.data["intro"] == intro
    assert second.data.get("thread") == thread


@pytest.mark.parametrize(
    ("line", "name", "message"),
    [
        ("KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("AssertionError", "AssertionError", ""),
        ("SystemExit: 1", "SystemExit", "1"),
        ("Exception: no", "Exception", "no"),
        ("OutOfResources: shared memory", "OutOfResources", "shared memory"),
        ("triton.runtime.errors.OutOfResources: x", "triton.runtime.errors.OutOfResources", "x"),
        ("queue.Empty", "queue.Empty", ""),
        ("Boom: odd name", "Boom", "odd name"),
        ("__main__.f.<locals>.Odd: local", "__main__.f.<locals>.Odd", "local"),
        ("ray.exceptions.RayTaskError(ValueError): x", "ray.exceptions.RayTaskError(ValueError)", "x"),
        ("ImportError:", "ImportError", ""),
    ],
)
def test_exception_lines(line, name, message):
    """Any name is taken where a stack waits for it."""
    event = one([HEAD, FRAME, SOURCE, line])
    assert (event.exception.type, event.exception.message, event.assembly) == (name, message, "exact")


@pytest.mark.parametrize("line", ["INFO: started", "Killed", "Loading shards: 3 of 4", "see https://x: y", "12: x"])
def test_lines_that_are_no_exception(line):
    """Others' lines between a stack and its exception."""
    assert one([HEAD, FRAME, SOURCE, line, "ValueError: bad value"]).exception.type == "ValueError"


def test_records_of_others_fall_inside_a_stack():
    """A new record ends a message, never a stack."""
    event = one(
        [HEAD, FRAME, record("Prefill batch", rank="TP0"), SOURCE, record("Error: x: y"), "ValueError: bad value"]
    )
    assert event.exception.message == "bad value"
    assert event.assembly == "exact"


def test_carets_and_repeats():
    """Carets, `~~~^^^`, `[Previous line repeated 9 more times]` and source over several lines (3.13)."""
    event = one(
        [
            HEAD,
            FRAME,
            "    x[0][1]",
            "    ~~~~^^^",
            '  File "/app/main.py", line 9, in recurse',
            "    recurse(",
            "    ~~~~~~~^",
            "        a,",
            "        ^^",
            "    ...<3 lines>...",
            "    )",
            "    ^",
            "  [Previous line repeated 9 more times]",
            "RecursionError: maximum recursion depth exceeded",
        ]
    )
    assert [frame.text for frame in event.exception.frames] == ["x[0][1]", "recurse("]
    assert event.exception.type == "RecursionError"


def test_frames_without_source():
    """Frames of frozen modules and of other hosts' code have none."""
    texts = [HEAD, '  File "<frozen runpy>", line 198, in _run_module_as_main', FRAME, "ValueError: bad value"]
    assert [frame.text for frame in one(texts).exception.frames] == [None, None]


def test_syntax_error():
    """Its last `File` names no function; source and caret follow."""
    event = one(
        [HEAD, FRAME, SOURCE, '  File "/app/bad.py", line 2', "    def (", "        ^", "SyntaxError: invalid syntax"]
    )
    last = event.exception.frames[-1]
    assert (last.file, last.line, last.function, last.text) == ("/app/bad.py", 2, "", "def (")
    assert event.exception.type == "SyntaxError"


def test_direct_cause():
    """The first is the reason."""
    event = one([*BASIC, "", CAUSE, "", HEAD, FRAME, SOURCE, "RuntimeError: could not start"])
    assert event.exception.type == "ValueError"
    assert [(link.type, link.relation) for link in event.exception.chain] == [("RuntimeError", "cause")]
    assert event.exception.place == 0


def test_during_handling():
    """The last is the reason; blank lines around the chain line may be gone."""
    event = one([*BASIC, CONTEXT, HEAD, FRAME, SOURCE, "RuntimeError: could not start"])
    assert event.exception.type == "RuntimeError"
    assert [(link.type, link.relation) for link in event.exception.chain] == [("ValueError", "context")]
    assert event.exception.place == 1


def test_log_that_ends_after_a_chain_line():
    """What was said stays, as partial."""
    event = one([*BASIC, "", CAUSE])
    assert event.exception.type == "ValueError"


def test_quoted_by_colon():
    """A subprocess's traceback in the message: the quoted one is the origin."""
    event = one([HEAD, FRAME, SOURCE, "RuntimeError: Error raised in subprocess:", *BASIC])
    assert event.exception.type == "ValueError"
    assert [(link.type, link.message, link.relation) for link in event.exception.chain] == [
        ("RuntimeError", "Error raised in subprocess:", "remote")
    ]


def test_remote_traceback_in_quotes():
    """multiprocessing and concurrent.futures put it between triple quotes and raise from it."""
    texts = [
        "concurrent.futures.process._RemoteTraceback:",
        '"""',
        *[HEAD, '  File "/app/remote.py", line 8, in far', "    work()", "ValueError: bad value"],
        '"""',
        "",
        CAUSE,
        "",
        *BASIC,
    ]
    event = one([HEAD, FRAME, SOURCE, *texts])
    assert event.exception.type == "ValueError"
    assert event.exception.frames[-1].function == "far"
    assert event.exception.message == "bad value"
    assert [link.relation for link in event.exception.chain] == ["remote", "cause"]


def test_ray_task_error():
    """Ray's message holds frames without a head, then the exception."""
    event = one(
        [
            *BASIC[:3],
            "ray.exceptions.RayTaskError(KeyError): ray::Worker.load() (pid=7, ip=10.0.0.1)",
            '  File "/app/worker.py", line 5, in load',
            "    table[name]",
            "KeyError: 'lm_head.weight'",
        ]
    )
    assert (event.exception.type, event.exception.message) == ("KeyError", "'lm_head.weight'")
    assert event.exception.frames[-1].function == "load"


def test_frames_in_a_message_stay_there():
    """Dynamo's `from user code:` is no traceback of its own."""
    event = one(
        [
            *BASIC[:3],
            "Unsupported: call",
            "",
            "from user code:",
            '   File "/app/m.py", line 5, in fn',
            "    g(x)",
            "",
            "Set X=1",
        ]
    )
    assert event.exception.message.splitlines()[-1] == "Set X=1"
    assert "in fn" in event.exception.message
    assert len(event.exception.frames) == 1


def test_traceback_in_one_line():
    r"""JSON and reprs hold `\n`; quotes around it end it."""
    text = r'{"level": "error", "error": "boom: Traceback (most recent call last):\n  File \"/app/main.py\", line 3, in run\n    start(config)\nValueError: bad \"value\"\n", "next": 1}'
    event = one([text])
    assert (event.exception.type, event.exception.message) == ("ValueError", 'bad "value"')
    assert event.exception.frames[0].text == "start(config)"
    assert event.assembly == "exact"
    assert "boom" in event.data["intro"]


def test_traceback_quoted_in_an_exception_line():
    r"""A repr with `\n` in the message names the origin."""
    line = r"RuntimeError: worker said 'Traceback (most recent call last):\n  File \"/app/w.py\", line 1, in far\n    x\nKeyError: 1'"
    event = one([*BASIC[:3], line])
    assert event.exception.type == "KeyError"
    assert [link.relation for link in event.exception.chain] == ["remote"]


def test_message_goes_on_until_a_record():
    """Blank lines, indented lines and lines that look like exceptions belong to it."""
    message = [
        "NCCL error, unhandled system error",
        "ncclSystemError: System call failed",
        "",
        "Last error:",
        "    deep",
        "Error: x",
    ]
    event = one([*BASIC[:3], f"RuntimeError: {message[0]}", *message[1:], "", record("next"), "not of it"])
    assert event.exception.message == "\n".join(message)


def test_message_ends_where_told():
    """Lines of systemd, the kernel or a crash end it."""
    event = one(
        [*BASIC, "more", "Fatal Python error: Aborted", "after"], ends=lambda line: line.text.startswith("Fatal")
    )
    assert event.exception.message == "bad value\nmore"


def test_message_is_bounded():
    """200 lines or 16 KB; the traceback is closed then."""
    assembler = TracebackAssembler(never)
    for line in lines_of([*BASIC, *["x"] * 500]):
        assembler.feed(line)
    (event,) = assembler.drain()
    assert len(event.exception.message.splitlines()) == 200
    event = one([*BASIC[:3], "ValueError: " + "x" * 1_000_000, "y"])
    assert len(event.exception.message) <= 16_384


def test_message_does_not_wait_for_ever():
    """What comes seconds later is something else."""
    lines = lines_of([*BASIC, "more", "much later"])
    for line, time in zip(lines, [1, 1, 1, 1, 2, 60], strict=True):
        line.time = float(time)
    assert one(lines).exception.message == "bad value\nmore"


def test_late_message_lines():
    """The rest of a message may come after the next rank's head."""
    first, second = read(
        [
            record(f"x: {HEAD}", rank="TP0"),
            *BASIC[1:],
            record(f"x: {HEAD}", rank="TP1"),
            "second line of TP0",
            *BASIC[1:],
            "second line of TP1",
        ]
    )
    assert first.exception.message == "bad value\nsecond line of TP0"
    assert second.exception.message == "bad value\nsecond line of TP1"


def test_head_lost():
    """Frames without a head: partial, with all that follows."""
    event = one(["    cut source", FRAME, SOURCE, "ValueError: bad value"])
    assert (event.exception.type, event.assembly, len(event.exception.frames)) == ("ValueError", "partial", 1)


def test_tail_lost():
    """Never dropped; without its exception line the type is not known."""
    event = one(BASIC[:3])
    assert (event.exception.type, event.exception.message, event.assembly, event.level) == ("", "", "partial", 0.0)
    assert event.exception.frames[0].function == "run"


def test_stack_without_head_and_exception_can_be_no_root():
    """Somebody printed a stack."""
    assert one([FRAME, SOURCE]).level is None


def test_logging_stack_info_is_no_traceback():
    """`stack_info=True` prints where a record was logged."""
    assert read(["Stack (most recent call last):", FRAME, SOURCE, FRAME, SOURCE, "done"]) == []


def test_bare_head_alone_is_nothing():
    """A sentence that quotes the words."""
    assert read([HEAD, record("next")]) == []


def test_lost_tail_is_closed_after_a_while():
    """It does not swallow an exception line that comes thousands of lines later."""
    events = read([*BASIC[:3], *["chatter of others"] * 600, "KeyError: 'late'"])
    assert [event.exception.type for event in events] == [""]


@pytest.mark.parametrize(
    "text",
    [
        '  File "/usr/lib/python3.12/threading.py", line 359 in wait',
        "    fn (file.py:123)",
        '  File "<unknown>", line 0, in __clone',
    ],
)
def test_frames_of_other_kinds(text):
    """faulthandler's, py-spy's and native frames begin no traceback."""
    assembler = TracebackAssembler(never)
    assert assembler.feed(Line(text, "s", 0)) is None
    assert list(assembler.close()) == []


def test_streams_are_apart():
    """Lines of two writers never mix."""
    mixed = []
    for a, b in zip(lines_of(BASIC, "a"), lines_of([*BASIC[:3], "KeyError: 1"], "b"), strict=True):
        mixed += [a, b]
    events = read(mixed)
    assert [(e.stream, e.exception.type, e.assembly) for e in events] == [
        ("a", "ValueError", "exact"),
        ("b", "KeyError", "exact"),
    ]


def test_drain_gives_what_is_finished_in_order_of_heads():
    """Each event once."""
    assembler = TracebackAssembler(never)
    for line in lines_of([*BASIC, record("next")]):
        assembler.feed(line)
    assert len(list(assembler.drain())) == 1
    assert list(assembler.drain()) == []
    assert list(assembler.close()) == []


def test_bounds_of_evidence_and_text():
    """Twelve pieces of 500 characters, 2,000 characters of text."""
    long = "x" * 3000
    chain = []
    for _ in range(10):
        chain += [HEAD, FRAME, SOURCE, f"ValueError: {long}", "second", "third", "fourth", "fifth", CONTEXT]
    event = one([*chain, *BASIC[:3], f"ValueError: {long}"])
    assert len(event.evidence) <= 12
    assert all(len(shown.text) <= 500 for shown in event.evidence)
    assert len(event.text) <= 2000
    assert len(event.exception.chain) == 10


def group(depth):
    lines = [
        "  + Exception Group Traceback (most recent call last):",
        '  |   File "/app/main.py", line 3, in run',
        "  | ExceptionGroup: top (1 sub-exception)",
    ]
    for level in range(depth):
        pad = " " * (2 * level + 2)
        lines += [
            f"{pad}+-+---------------- 1 ----------------",
            f"{pad}  | ExceptionGroup: level {level} (1 sub-exception)",
        ]
    pad = " " * (2 * depth + 2)
    return [
        *lines,
        f"{pad}+-+---------------- 1 ----------------",
        f"{pad}  | ValueError: leaf",
        f"{pad}  +------------------------------------",
    ]


@pytest.mark.parametrize("depth", [0, 3, 50])
def test_nested_groups(depth):
    """The group is the exception, everything in it its chain."""
    event = one(group(depth))
    assert (event.exception.type, event.exception.message) == ("ExceptionGroup", "top (1 sub-exception)")
    assert [link.type for link in event.exception.chain] == ["ExceptionGroup"] * depth + ["ValueError"]
    assert {link.relation for link in event.exception.chain} == {"group"}


def test_groups_a_thousand_deep():
    """No recursion; so many of them as are worth keeping."""
    event = one(group(1000))
    assert event.exception.message == "top (1 sub-exception)"
    assert len(event.exception.chain) < 100


def test_group_after_an_exception():
    """A group raised while another exception was handled, and text after it."""
    (event,) = read([*BASIC, "", CONTEXT, "", *group(0), "ready"])
    assert event.exception.type == "ExceptionGroup"
    assert [(link.type, link.relation) for link in event.exception.chain] == [
        ("ValueError", "context"),
        ("ValueError", "group"),
    ]


def test_group_with_title():
    """uvicorn's request errors."""
    event = one([record("ERROR:    Exception in ASGI application"), *group(1)])
    assert event.data["intro"] == "ERROR:    Exception in ASGI application"


def test_runaway_recursion_keeps_both_ends():
    """Outermost and innermost frames stay."""
    frames = [FRAME]
    for number in range(5000):
        frames += [f'  File "/app/main.py", line {number + 10}, in f', "    g()"]
    event = one([HEAD, *frames, "RecursionError: too deep"])
    assert event.assembly == "partial"
    assert event.exception.frames[0].function == "run"
    assert event.exception.frames[-1].line == 5009
    assert len(event.exception.frames) <= 400


def test_the_last_lines_of_a_logging_error_are_no_exception():
    """`Message:` and `Arguments:` stand below the stack of whoever logged."""
    event = one([FRAME, SOURCE, "Message: 'Received sigquit from a child proces.'", "Arguments: ()"])
    assert event.exception.type == ""
