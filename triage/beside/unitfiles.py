"""The files of the hook: what they hold, where they lie, and how they are written and removed."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from triage.model import TriageError
from triage.records import dataclass, field
from triage.sources import DIAGNOSIS
from triage.sources.units import complete

MARK = "# Written by `triage install-hook`; `triage remove-hook` removes it."
TEMPLATE = "triage-diagnose@.service"
_DROP_IN = "50-triage.conf"
_LONGEST_UNIT = 255 - len(TEMPLATE)  # of a unit's name, which becomes the instance of the template
_SYSTEM = Path("/etc/systemd/system")
_CATALOG = Path("/usr/local/lib/systemd/catalog/triage.catalog")  # read by journalctl --update-catalog
_MADE = (Path("/run/triage"), Path("/var/cache/triage"))
_BIN = "/usr/bin:/bin:/usr/sbin:/sbin"

# `+` runs it as root whatever User= says, `-` and timeout keep it from failing or holding up the unit. `$$` stands for
# `$`. OnFailure= is for what fails before anything is run; while systemd restarts a unit it is skipped.
_HOOK = """\
{mark}
[Unit]
OnFailure=triage-diagnose@%n.service

[Service]
ExecStopPost=-{plus}{shell} -c '[ "$$SERVICE_RESULT" = success ] || exec {timeout} 5 {systemctl} {user}start --no-block -- "triage-diagnose@$$1.service"' sh %n
"""  # noqa: E501

_SERVICE = """\
{mark}
[Unit]
Description=Diagnosis of %i by triage
CollectMode=inactive-or-failed
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStart={command}
WorkingDirectory=/
SyslogIdentifier=triage
TimeoutStartSec=5min
Nice=10
CPUWeight=10
IOWeight=10
IOSchedulingClass=idle
MemoryMax=1G
MemorySwapMax=0
TasksMax=64
OOMScoreAdjust=900
RuntimeDirectory=triage
RuntimeDirectoryPreserve=yes
CacheDirectory=triage
Environment=XDG_CACHE_HOME=%C
{more}"""

_SANDBOX = """\
ProtectSystem=strict
ProtectHome=read-only
PrivateNetwork=yes
NoNewPrivileges=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictRealtime=yes
"""

_CATALOG_TEXT = """\
{mark}
-- {id}
Subject: Why @TRIAGE_UNIT@ failed
Defined-By: triage

@TRIAGE_TEXT@
"""


def _sandbox() -> str:
    """Return what the system's diagnosis is kept from; not from /tmp where triage itself lies there."""
    code = [Path(sys.executable), Path(sys.prefix), Path(__file__)]
    beside = any(path.is_relative_to(folder) for path in code for folder in ("/tmp", "/var/tmp"))  # noqa: S108
    return _SANDBOX if beside else f"{_SANDBOX}PrivateTmp=yes\n"


@dataclass(slots=True)
class Plan:
    """What is to be done: files to write with their text, files, whole folders and then empty ones to remove, and
    commands to run.
    """

    write: dict[Path, str] = field(default_factory=dict)
    remove: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    empty: list[Path] = field(default_factory=list)
    commands: list[list[str]] = field(default_factory=list)


@dataclass(slots=True)
class Place:
    """Where the files lie: for the system's manager, or with `user` for the calling user's.

    `made` are the folders that systemd makes for the service that diagnoses.
    """

    units: Path = _SYSTEM
    catalog: Path | None = _CATALOG
    made: tuple[Path, ...] = _MADE
    user: bool = False

    @classmethod
    def of(cls, *, user: bool) -> Place:
        """Return the place of the system's units, or of the calling user's (XDG base directory rules)."""
        if not user:
            return cls()
        home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
        login = os.environ.get("XDG_RUNTIME_DIR")
        made = (Path(login) / "triage",) if login else ()
        return cls(Path(home).expanduser() / "systemd/user", None, made, user=True)

    def drop_in(self, unit: str) -> Path:
        """Take a unit's full name; return the file of its hook."""
        return self.units / f"{unit}.d" / _DROP_IN

    @property
    def template(self) -> Path:
        """The file of the service that diagnoses."""
        return self.units / TEMPLATE

    def hooks(self) -> list[Path]:
        """Return the files of all hooks, sorted."""
        return sorted(path for path in self.units.glob(f"*.d/{_DROP_IN}") if is_ours(path))


def hooked(unit: str) -> str:
    """Take a unit as the user named it; return its full name. Raises `TriageError` for one that can have no hook."""
    name = complete(unit)
    if not name.endswith(".service"):
        raise TriageError(f"{name} is no service: only services have an ExecStopPost=")
    if name == TEMPLATE or name.startswith("triage-diagnose@"):
        raise TriageError(f"{name} is the hook's own service")
    if len(name) > _LONGEST_UNIT:
        raise TriageError(f"the name of {name[:40]}... is too long for a hook: {_LONGEST_UNIT} characters at most")
    return name


def plan_install(unit: str, place: Place) -> Plan:
    """Take a unit's full name and the place; return what gives it the hook. Raises `TriageError` for foreign files."""
    programs = {name: shutil.which(name, path=_BIN) or f"/usr/bin/{name}" for name in ("sh", "timeout", "systemctl")}
    hook = _HOOK.format(
        mark=MARK, plus="" if place.user else "+", user="--user " if place.user else "", shell=programs["sh"],
        timeout=programs["timeout"], systemctl=programs["systemctl"],
    )  # fmt: skip
    # Without -I what is installed for this user alone is found too.
    command = [
        sys.executable,
        *([] if place.user else ["-I"]),
        "-m",
        "triage",
        "to-journal",
        *(["--user"] if place.user else []),
        "--hook",
        "--",
    ]
    service = _SERVICE.format(
        mark=MARK, command=f"{' '.join(_quoted(word) for word in command)} %i", more="" if place.user else _sandbox()
    )
    plan = Plan({place.drop_in(unit): hook, place.template: service})
    if place.catalog is not None:
        plan.write[place.catalog] = _CATALOG_TEXT.format(mark=MARK, id=DIAGNOSIS)
    for path in plan.write:
        if path.exists() and not is_ours(path):
            raise TriageError(f"{path} is there already and not triage's: move it away first")
    plan.commands = _reload(place)
    return plan


def plan_remove(unit: str, place: Place) -> Plan:
    """Take a unit's full name and the place; return what takes its hook away, with the last one the shared files.

    Raises `TriageError` where the unit has none.
    """
    mine = place.drop_in(unit)
    if not is_ours(mine):
        there = ", ".join(path.parent.name.removesuffix(".d") for path in place.hooks())
        raise TriageError(f"{unit} has no hook{f'; hooks there: {there}' if there else ''}")
    plan = Plan(remove=[mine], empty=[mine.parent], commands=_reload(place))
    if place.hooks() == [mine]:
        plan.remove.append(place.template)
        plan.folders = [path for path in place.made if path.is_dir()]
        if place.catalog is not None:
            plan.remove.append(place.catalog)
            plan.empty += [place.catalog.parent, place.catalog.parent.parent]
    plan.remove = [path for path in plan.remove if is_ours(path)]
    return plan


def is_ours(path: Path) -> bool:
    """Take a file; return whether triage wrote it."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline().rstrip("\n") == MARK
    except OSError:
        return False


def carry_out(plan: Plan) -> None:
    """Take a plan; write its files, each whole or not at all, and remove those that go. Raises `TriageError`."""
    path = Path()
    try:
        for path, text in plan.write.items():
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            _write(path, text)
        for path in plan.remove:
            path.unlink(missing_ok=True)
        for path in plan.folders:
            shutil.rmtree(path)
        for path in plan.empty:
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
    except OSError as error:
        hint = ": run this as root, or with --user for a unit of your own" if isinstance(error, PermissionError) else ""
        raise TriageError(f"{path}: {(error.strerror or str(error)).lower()}{hint}") from None


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(0o644)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _reload(place: Place) -> list[list[str]]:
    commands = [["systemctl", *(["--user"] if place.user else []), "daemon-reload"]]
    if place.catalog is not None:
        commands.append(["journalctl", "--update-catalog"])
    return commands


def _quoted(word: str) -> str:
    """Quote a word for ExecStart=: systemd's own specifiers and variables are no part of it."""
    word = word.replace("%", "%%").replace("$", "$$")
    return word if word == shlex.quote(word) else '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
