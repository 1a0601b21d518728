"""What systemd on this host says about a unit: its state, command line, environment, and where its output goes."""

from __future__ import annotations

import re

from triage.lazy import regex
from triage.records import dataclass, field
from triage.sources.units import complete
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_PROPERTIES = (
    "LoadState", "ActiveState", "SubState", "Result", "Type", "NRestarts", "MainPID", "InvocationID", "FragmentPath",
    "ExecStart", "Environment", "User", "WorkingDirectory", "RootDirectory",
    "LogNamespace", "StandardOutput", "StandardError",
)  # fmt: skip
_TIMEOUT = 10.0
_TO_FILE = ("file", "append", "truncate")
_ARGV = regex(r"argv\[\]=(.*?) ; (?:flags|ignore_errors|start_time)=", re.DOTALL)
_ASSIGNMENT = regex(r"[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(slots=True)
class UnitState:
    """A unit as systemd has it loaded.

    `exec_start` is the command line of ExecStart= (the last one of several) as it stands in the unit's files, with the
    specifiers that its name tells filled in. `output_files` are the files that StandardOutput= and StandardError= write
    to. `log_namespace` is empty where the unit logs to the default journal.
    """

    unit: str
    load_state: str = ""
    active_state: str = ""
    sub_state: str = ""
    result: str = ""
    type: str = ""
    restarts: int = 0
    main_pid: int = 0
    exec_start: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    user: str = ""
    working_directory: str = ""
    root_directory: str = ""
    fragment: str = ""
    invocation: str = ""
    log_namespace: str = ""
    standard_output: str = ""
    standard_error: str = ""
    output_files: list[str] = field(default_factory=list)

    @property
    def output_file(self) -> str | None:
        """The first of `output_files`."""
        return self.output_files[0] if self.output_files else None


def unit_state(
    unit: str, *, user: bool = False, machine: str | None = None, run: Callable[[list[str]], str | None] | None = None
) -> UnitState | None:
    """Take a unit's name; return what `systemctl show` says of it, None where systemd is not there or has no such unit.

    With `user` the calling user's manager is asked, with `machine` that of a local container; `run` runs the commands
    elsewhere (None where one fails). Raises `TriageError` for what cannot be a unit's name.
    """
    name = complete(unit)
    run = run or _run
    where = (["--user"] if user else []) + ([f"--machine={machine}"] if machine else [])
    shown = run(["systemctl", *where, "show", f"--property={','.join(_PROPERTIES)}", "--", name])
    if shown is None:
        return None
    state = parse_show(name, shown)
    if state is not None:
        add_files(state, run(["systemctl", *where, "cat", "--no-pager", "--", name]) or "")
    return state


def unit_files(unit: str, *, user: bool = False) -> str | None:
    """Take a unit's full name, or a template's; return its files as `systemctl cat` prints them, None without any."""
    return _run(["systemctl", *(["--user"] if user else []), "cat", "--no-pager", "--", unit])


def parse_show(unit: str, text: str) -> UnitState | None:
    """Take what `systemctl show` printed for a unit; return it, None if systemd has not loaded such a unit."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals and name in _PROPERTIES:
            values[name] = value  # of several ExecStart= of a oneshot the last one
    if values.get("LoadState") not in {"loaded", "masked", "bad-setting", "error"}:
        return None
    found = _ARGV.search(values.get("ExecStart", ""))
    return UnitState(
        unit=unit,
        load_state=values["LoadState"],
        active_state=values.get("ActiveState", ""),
        sub_state=values.get("SubState", ""),
        result=values.get("Result", ""),
        type=values.get("Type", ""),
        restarts=_number(values.get("NRestarts")),
        main_pid=_number(values.get("MainPID")),
        exec_start=found[1] if found else "",
        environment=_environment(values.get("Environment", "")),
        user=values.get("User", ""),
        working_directory=values.get("WorkingDirectory", ""),
        root_directory=values.get("RootDirectory", ""),
        fragment=values.get("FragmentPath", ""),
        invocation=values.get("InvocationID", ""),
        log_namespace=values.get("LogNamespace", ""),
        standard_output=values.get("StandardOutput", ""),
        standard_error=values.get("StandardError", ""),
    )


def add_files(state: UnitState, text: str) -> None:
    """Take a unit and what `systemctl cat` printed for it; add what `systemctl show` leaves out.

    That is the files that output goes to (show names only `file` or `append`) and the quotes of ExecStart=.
    """
    settings = service_settings(text)
    if commands := settings.get("ExecStart"):
        state.exec_start = _expand(state.unit, commands[-1])
    for name in ("StandardOutput", "StandardError"):
        kind, _, path = settings.get(name, [""])[-1].partition(":")
        path = _expand(state.unit, path)
        if kind in _TO_FILE and path.startswith("/") and "%" not in path and path not in state.output_files:
            state.output_files.append(path)


def service_settings(text: str) -> dict[str, list[str]]:
    """Take unit files as `systemctl cat` prints them, drop-ins last; return the values of each setting of [Service].

    An empty one forgets those before it.
    """
    settings: dict[str, list[str]] = {}
    section = ""
    lines = (line.strip() for line in text.splitlines())
    for line in lines:
        if line.startswith(("#", ";")):
            continue
        whole = line
        while whole.endswith("\\"):
            following = next(lines, "")
            if not following.startswith(("#", ";")):
                whole = f"{whole[:-1]} {following}"
        if whole.startswith("["):
            section = whole
        name, equals, value = whole.partition("=")
        if not equals or section != "[Service]":
            continue
        if value.strip():
            settings.setdefault(name.strip(), []).append(value.strip())
        else:
            settings.pop(name.strip(), None)
    return settings


def _expand(unit: str, text: str) -> str:
    """Fill in the specifiers of systemd.unit(5) that a unit's name and this host tell; others stay as they are."""
    if "%" not in text:
        return text
    import socket

    stem = unit.rpartition(".")[0]
    prefix, _, instance = stem.partition("@")
    host = socket.gethostname()
    values = {
        "%%": "%",
        "%n": unit,
        "%N": stem,
        "%p": prefix,
        "%P": _unescape(prefix),
        "%i": instance,
        "%I": _unescape(instance),
        "%H": host,
        "%l": host.partition(".")[0],
    }
    return re.sub(r"%.", lambda match: values.get(match[0], match[0]), text)


def _unescape(text: str) -> str:
    """Undo systemd-escape(1)."""
    return re.sub(r"\\x([0-9a-f]{2})", lambda match: chr(int(match[1], 16)), text.replace("-", "/"))


def _environment(text: str) -> dict[str, str]:
    """Take the value of Environment= as systemctl shows it: assignments, quoted where they hold blanks."""
    import shlex

    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    return dict(word.split("=", 1) for word in words if _ASSIGNMENT.match(word))


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() and len(text) < 12 else 0


def _run(command: list[str]) -> str | None:
    import os
    import subprocess

    environment = {**os.environ, "LC_ALL": "C.UTF-8", "SYSTEMD_COLORS": "0", "SYSTEMD_PAGER": ""}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
