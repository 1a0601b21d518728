"""Failures and incidents made by hand, and libraries of a few signatures."""

from itertools import count

import pytest

from triage.library import packs
from triage.library.packs import load
from triage.match import diagnose
from triage.model import ChainLink, Evidence, ExceptionInfo, Failure, Frame, Incident, Position

HEAD = 'format: 1\nid: {id}\ntitle: "Title of {id}"\ncause: "Cause."\n'


@pytest.fixture(autouse=True)
def _own_places(tmp_path, monkeypatch):
    monkeypatch.setattr(packs, "SYSTEM", tmp_path / "etc")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def library(tmp_path):
    """Make a library of signatures given as the lines beside format, id, title and cause, by id."""

    def make(**signatures: str):
        place = tmp_path / "pack"
        place.mkdir(exist_ok=True)
        for name, text in signatures.items():
            keys = {line.partition(":")[0] for line in text.splitlines()}
            head = [one for one in HEAD.format(id=f"lab/{name}").splitlines() if one.partition(":")[0] not in keys]
            (place / f"{name}.yaml").write_text("\n".join(head) + "\n" + text + "\n", encoding="utf-8")
        found = load([place], packaged=False)
        assert [str(problem) for problem in found.problems] == []
        return found

    return make


def frames(*names: str) -> list[Frame]:
    """Frames from `path:function`."""
    return [
        Frame(f"/venv/lib/python3.11/site-packages/{path}", 1, function)
        for path, _, function in (n.rpartition(":") for n in names)
    ]


@pytest.fixture
def fail():
    """Make a failure; its kind is an exception if a type is given."""
    numbers = count(1)

    def make(
        type_=None, message="", stack=(), *, kind=None, text="", chain=(), time=100.0, rank=None, pid=None, host=None,
        level=0.0, evidence=(), data=None, native=(), assembly="exact", notes=(),
    ):  # fmt: skip
        number = next(numbers)
        at = Position(time=time, rank=rank, pid=pid, host=host, offset=number * 100)
        links = [ChainLink(t, m, "cause", frames(*f)) for t, m, f in chain]
        exception = ExceptionInfo(type_, message, frames(*stack), list(notes), links) if type_ is not None else None
        return Failure(
            id=f"f{number}",
            kind=kind or ("exception" if exception else "message"),
            rule="test",
            fingerprint=f"v1:{number}",
            first=at,
            last=at,
            level=level,
            ranks=[rank] if rank else [],
            exception=exception,
            frames=frames(*native),
            text=text,
            evidence=[Evidence(at, line) for line in evidence],
            data=dict(data or {}),
            assembly=assembly,
            order=number,
        )

    return make


@pytest.fixture
def incident():
    """Make an incident of failures and facts."""

    def make(*failures, gaps=(), **facts):
        return Incident("test", failures=list(failures), facts=facts, gaps=list(gaps))

    return make


@pytest.fixture
def ids(incident):
    """Diagnose an incident of failures; return the signatures of the last one."""

    def make(library, *failures, gaps=(), **facts):
        run = incident(*failures, gaps=gaps, **facts)
        diagnose(run, library)
        return [diagnosis.signature.removeprefix("lab/") for diagnosis in failures[-1].diagnoses]

    return make
