"""The shapes of lines that native crashes print, told from the text of one line.

Sources: CPython 3.8 to 3.14 (`Modules/faulthandler.c`, `Python/traceback.c`), libstdc++ (`vterminate.cc`), glibc
(`malloc.c`, `assert.c`), PyTorch (`c10/util/Exception.cpp`, `Backtrace.cpp`), tvm-ffi (`backtrace.cc`), abseil and glog
(failure signal handlers), UCX (`debug.c`), Rust (`std::panicking`), py-spy (`dump.rs`), systemd-coredump.

>>> start_of("Fatal Python error: Segmentation fault")[0]
'fatal'
>>> start_of("thread 'main' panicked at src/router.rs:463:40:")[0]
'panic'
>>> start_of("free(): invalid pointer")[0]
'glibc'
>>> start_of("Decode batch, #running-req: 1") is None
True
"""

from __future__ import annotations

import re

from triage.lazy import regex

# A longer line is read up to here only; no line of a crash is longer, except a list of extension modules.
LONGEST = 4096

_TERMINATE = (
    r"terminate called (?:after throwing an instance of '(?P<type>.*)'|without an active exception|recursively)"
)
_STARTS: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
_BEGINNINGS: list[str] = []


def _start(beginnings: tuple[str, ...], kind: str, pattern: str) -> None:
    """Add a pattern of a line that opens a block, and how (without digits) any line begins that fits it."""
    _BEGINNINGS.extend(beginnings)
    for char in dict.fromkeys(beginning[0] for beginning in beginnings):
        _STARTS.setdefault(char, []).append((kind, regex(pattern)))


_start(("Fatal Python error: ",), "fatal", r"Fatal Python error: (?P<what>.*)")
_start(("Fatal glibc error: ",), "glibc", r"Fatal glibc error: (?P<what>.*)")
_start(("terminate called ",), "terminate", _TERMINATE)
_start(("thread '",), "panic", r"thread '(?P<thread>.*?)'(?: \(\d+\))? panicked at (?P<where>.*)")
_start(("thread '",), "overflow", r"thread '(?P<thread>.*?)'(?: \(\d+\))? has overflowed its stack")
_start(
    ("libc++abi: ",),
    "terminate",
    r"libc\+\+abi: terminating (?:due to|with) uncaught exception of type (?P<type>[^:]*(?:::[^:]+)*)",
)
_start(("!!!",), "handler", r"!{3,} .*[Ss]egfault.* !{3,}")
_start(("*** SIG",), "handler", r"\*\*\* (?P<signal>SIG[A-Z]+) .*(?:received|stack trace)")
_start(("*** Aborted", "*** Check"), "handler", r"\*\*\* (?:Aborted at \d+|Check failure stack trace)")
_start(("*** ",), "glibc", r"\*\*\* (?:Error in `|(?:stack smashing|buffer overflow) detected)")
_start(("[",), "handler", r"\[[\w.-]+:\d+ *:\d+:\d+\] Caught signal (?P<number>\d+) \(")
_start(
    ("free", "malloc", "realloc", "calloc", "munmap", "unlink", "sysmalloc", "_int_", "double free", "corrupted"),
    "glibc",
    r"(?:(?:free|malloc|realloc|calloc|munmap_chunk|malloc_consolidate|unlink_chunk|sysmalloc|_int_\w+)\(\): "
    r"|double free or corruption|corrupted (?:size vs\. prev_size|double-linked list))",
)
_start(("Process ",), "pyspy", r"Process (?P<pid>\d+): (?P<title>\S.*)")
_start(
    ("Process ",),
    "core",
    r"Process (?P<pid>\d+) \((?P<process>[^)]{1,32})\) of user \d+ (?:dumped core|terminated abn)",
)
_start(
    ("Thread ",),
    "pyspy-thread",
    r'Thread (?P<id>\d+|0x[0-9A-Fa-f]+) \((?P<state>[\w+ ]{1,24})\)(?:: "(?P<name>.*)")?$',
)
_start(
    ("Thread ", "Current thread "),
    "thread",
    r"(?P<current>Current thread|Thread) 0x0*(?P<id>[0-9a-f]+)(?: \[(?P<name>.*)\])? \(most recent call first\):",
)
_start(("Current thread's",), "c-stack", r"Current thread's C stack trace \(most recent call first\):")
_start(("Timeout (",), "timeout", r"Timeout \(\d+:\d\d:\d\d(?:\.\d+)?\)!$")
_MAY_BEGIN = tuple(_BEGINNINGS)

# assert(3) of a C program names program, file, line and function; a CUDA kernel's assertion names block and thread.
_ASSERT = regex(r"[\w./+:-]{1,200}: [^:]{1,300}:\d+: .{1,1500}: Assertion [`'].*' failed\.?\s*$")
# Another process wrote in the middle of a line: what stands there was glued on without a blank.
_GLUED = regex(r"(?<=[^\s\"'`:=(\[{])(?:terminate called (?:after throwing|without|recursively)|Fatal Python error: )")

Found = tuple[str, "re.Match[str] | None"]


def may_start(text: str) -> bool:
    """Take a line's text; return whether it may open a native block or hold the start of one, whatever its digits."""
    return (
        text.startswith(_MAY_BEGIN)
        or "Assertion " in text
        or "terminate called" in text
        or "Fatal Python error" in text
    )


def start_of(text: str) -> Found | None:
    """Take a line's text; return the kind of native block that it opens and the match, None if it opens none."""
    rows = _STARTS.get(text[:1])
    if rows is not None:
        if len(text) > LONGEST:
            text = text[:LONGEST]
        for kind, pattern in rows:
            found = pattern.match(text)
            if found is not None:
                return kind, found
    if "Assertion " in text and "block: [" not in text and _ASSERT.match(text[:LONGEST]):
        return "assert", None
    return None


def glued_at(text: str) -> int | None:
    """Take a line's text; return where a crash of another process was glued into it, None where none was."""
    if "terminate called" not in text and "Fatal Python error" not in text:
        return None
    found = _GLUED.search(text[:LONGEST])
    return found.start() if found else None


# What only stands inside of a block.
_INNER: list[tuple[str, str, re.Pattern[str]]] = []


def _inner(kind: str, literal: str, pattern: str) -> None:
    _INNER.append((kind, literal, regex(pattern, re.DOTALL)))


_inner("what", "what():", r"\s{0,8}what\(\):\s*(?P<what>.*)")
_inner(
    "c10",
    "frame #",
    r"frame #(?P<n>\d+): (?P<symbol>.*?)(?: \+ 0x[0-9a-f]+)? \(0x0*(?P<address>[0-9a-f]+) in (?P<file>.*?)\)",
)
_inner("c10", "frame #", r"frame #(?P<n>\d+): (?P<symbol>.*)")
_inner(
    "raised",
    "Exception raised from",
    r"Exception raised from (?P<function>.{1,300}?) at (?P<file>[^\s:]{1,400}):(?P<line>\d+)\b",
)
_inner("pyframe", 'File "', r'\s*File "(?P<file>[^"]*)", line (?P<line>\d+|\?+) in (?P<function>.+)')
_inner("nframe", 'File "', r'\s*File "(?P<file>[^"]*)", line (?P<line>\d+), in (?P<function>.+)')
_inner("torn", 'File "', r'\s*File "(?P<file>[^"]*)", line (?P<line>\d+)\s*$')
_inner(
    "binary",
    "Binary file",
    r'\s*Binary file "(?P<file>[^"]*)", at (?P<function>.*?)(?:\+0x[0-9a-f]+)? ?\[0x0*(?P<address>[0-9a-f]+)\]',
)
_inner("at", "@ ", r"\s*(?:PC: )?@ +0x[0-9a-f]+ +(?:\(unknown\)|\d+)? *(?P<function>\S.*)?")
_inner("ucx", "0x", r"\s*\d+ +(?P<file>/\S+?)\((?P<function>[^)]*?)(?:\+0x[0-9a-f]+)?\) ?\[0x0*[0-9a-f]+\]")
_inner("ucx", "0x", r"\s*\d+ +0x[0-9a-f]+ (?P<function>\S.*?)\(\) +(?P<file>\S+?):\d+")
_inner("extensions", "Extension modules:", r"Extension modules: ")

_FILLER = regex(
    r"\s*(?:<no Python frame>|<\w[\w ]* freed>|Garbage-collecting|\.\.\.|Python runtime state: .*|==== backtrace .*|=+"
    r"|<cannot get .*>|\[failure_signal_handler.*|PC: @ .*)\s*$"
)
_CONTINUED = regex(
    r"(?:CUDA kernel errors might|For debugging consider|Compile with `|Search for `cuda|Device-side assertion"
    r"|nccl\w+Error:|Last error:|\s+\S|C\+\+ CapturedTraceback|Traceback of)"
)


def inner_of(text: str) -> Found | None:
    """Take a line's text; return which part of a crash's block it can be, None if it can be none."""
    if not text or text.isspace():
        return "blank", None
    if len(text) > LONGEST:
        text = text[:LONGEST]
    for kind, literal, pattern in _INNER:
        if literal in text:
            found = pattern.match(text)
            if found is not None:
                return kind, found
    if _FILLER.match(text):
        return "filler", None
    if text.startswith(" in "):
        return "torn-end", None
    if _CONTINUED.match(text):
        return "continued", None
    return None


SIGNALS = {
    "Segmentation fault": "SIGSEGV",
    "Aborted": "SIGABRT",
    "Bus error": "SIGBUS",
    "Illegal instruction": "SIGILL",
    "Floating point exception": "SIGFPE",
    "Floating-point exception": "SIGFPE",
}
NUMBERS = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM"}

_RANK = regex(r"\b[Rr]ank (\d{1,6})\b")


def rank_in(text: str) -> str | None:
    """Take a text that torch wrote; return the rank label that it names (`[Rank 5]` is `rank5`)."""
    found = _RANK.search(text[:LONGEST])
    return f"rank{found[1]}" if found else None
