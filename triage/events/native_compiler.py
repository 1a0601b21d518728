"""Errors of compilers that run while the service starts: GCC, Clang, NVCC, ptxas, ld, ninja, LLVM.

Triton, FlashInfer, DeepGEMM and torch.compile build kernels and launchers at run time; the Python exception that
follows often says only that a command failed.

>>> compiler_error("/tmp/tmpx/main.c:5:10: fatal error: Python.h: No such file or directory")
CompilerError(what='Python.h: No such file or directory', file='/tmp/tmpx/main.c', line=5)
>>> compiler_error("ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'").what
"Value 'sm_121a' is not defined for option 'gpu-name'"
>>> compiler_error("ERROR: the server is not ready") is None
True
"""

from __future__ import annotations

from triage.lazy import regex
from triage.records import dataclass

_CODE = r"(?:c|cc|cpp|cxx|cu|cuh|h|hpp|hip|inl|ptx|ll|s)"
_GCC = r"(?:(?:\S*/)?(?:cc1(?:plus)?|gcc|g\+\+|clang(?:\+\+)?|c\+\+|cc)|x86_64\S*-g\S+)(?:-\d+)?"
_TOOL = r"\S*(?:nvcc|gcc|g\+\+|c\+\+|cc|ninja|ptxas|cmake)\S*"
_ERROR = regex(
    "|".join(
        (
            rf"(?P<file>[^\s:][^:]{{0,300}}\.{_CODE}):(?P<line>\d{{1,7}}):(?:\d+:)? (?:fatal )?error: (?P<what>.*)",
            (
                rf"(?P<file2>[^\s(][^(]{{0,300}}\.{_CODE})\((?P<line2>\d{{1,7}})\): "
                r"(?:catastrophic |fatal )?error.{0,8}?: (?P<what2>.*)"
            ),
            r"(?:ptxas|nvcc|nvlink|cicc|fatbinary|cudafe\+\+) *(?:fatal|error|\S+, line \d+; error) *: (?P<what3>.*)",
            rf"{_GCC}: (?:fatal )?error: (?P<what4>.*)",
            r"collect2: (?:fatal )?error: (?P<what5>.*)",
            r"\S*\bld(?:\.\w+)?: (?P<what6>(?:cannot find|.*undefined reference|.*error|.*skipping incompatible).*)",
            r"(?P<what7>ninja: (?:build stopped|error|fatal).*)",
            r"(?P<what8>FAILED: (?:\[code=\d+\] )?\S.*\.o\b.*)",
            (
                rf"/bin/(?:ba)?sh: (?:line )?(?:\d+: )?"
                rf"(?P<what9>{_TOOL}: (?:not found|command not found|No such file or directory).*)"
            ),
            r"(?P<what10>LLVM ERROR: .*)",
        )
    )
)
_WORDS = (
    "error",
    "fatal",
    "FAILED: ",
    "ninja: ",
    "cannot find",
    "undefined ref",
    "not found",
    "No such file",
    "LLVM ERROR",
)
_CONTEXT = regex(
    r"\s+\d* ?\|(?: |$)|compilation terminated\.|In file included from |\s+from \S+:\d+[,:]|\d+ errors? detected in"
)


@dataclass(frozen=True, slots=True)
class CompilerError:
    """What a compiler complains of, and in which file and line, where it says so."""

    what: str
    file: str = ""
    line: int | None = None


def compiler_error(text: str) -> CompilerError | None:
    """Take a line's text (4,096 characters at most); return the compiler's error in it, None if it is none."""
    if not any(word in text for word in _WORDS):
        return None
    found = _ERROR.match(text)
    if found is None:
        return None
    groups = {name.rstrip("0123456789"): value for name, value in found.groupdict().items() if value is not None}
    return CompilerError(groups["what"], groups.get("file", ""), int(groups["line"]) if "line" in groups else None)


def is_context(text: str) -> bool:
    """Take a line's text; return whether it shows the source or the includes of an error, or counts the errors."""
    return _CONTEXT.match(text) is not None
