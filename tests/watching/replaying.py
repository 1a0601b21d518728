"""Real journals, played again as if they were written now: a host for a watch. Run as a script it is `triage watch`.

`replaying.py NAME UNIT INVOCATION PART [OPTIONS]`: of the journal NAME the lines of the unit's INVOCATIONth run, up to a
PART of them.
"""

import lzma
import sys
import threading
import time
from pathlib import Path

import triage.watching.host
import triage.watching.watch
from triage.cli import main
from triage.sources.export import parse_export
from triage.sources.query import JournalQuery
from triage.watching.origin import Origin

JOURNALS = Path(__file__).parent.parent / "data/journals"
_UNITS = ("_SYSTEMD_UNIT", "UNIT")
_INVOCATIONS = ("_SYSTEMD_INVOCATION_ID", "INVOCATION_ID")


def entries(name, unit, number=0):
    """The entries of a unit's run in a journal of tests/data, by its number from 0, its time beginning now."""
    with lzma.open(JOURNALS / f"{name}.export.xz") as file:
        found = [e for e in parse_export([file.read()]) if any(e.fields.get(field) == unit for field in _UNITS)]
    runs = list(dict.fromkeys(i for e in found for field in _INVOCATIONS if (i := e.fields.get(field))))
    found = [e for e in found if any(e.fields.get(field) == runs[number] for field in _INVOCATIONS)]
    return retimed(found)


def retimed(found, began=None):
    """The same entries, as if the first one were written now (or then)."""
    shift = int((time.time() if began is None else began) * 1e6) - found[0].realtime
    for entry in found:
        entry.realtime += shift
    return found


class Replay:
    """A host whose journal gives batches of entries, and then nothing more."""

    def __init__(self, *batches, state=None, controls=False):
        self.query = JournalQuery(directory="/nowhere")
        self.controls = controls
        self.state = state
        self.started = []
        self._batches = batches
        self._closed = threading.Event()

    def now(self):
        return time.time()

    def unit_state(self, unit):
        return self.state

    def glance(self, unit):
        return self.state

    def start(self, unit):
        self.started.append(unit)

    def feed(self, groups, since, say):
        return self

    def batches(self):
        yield from self._batches
        self._closed.wait()

    def close(self):
        self._closed.set()


def script(name, unit, number, part, *options):
    found = entries(name, unit, int(number))
    host = Replay(found[: int(len(found) * float(part))])
    triage.watching.host.LocalHost = lambda query: host
    triage.watching.watch.find_origin = lambda *_, **__: Origin(0, running=True)
    return main(["watch", unit, *options])


if __name__ == "__main__":
    sys.exit(script(*sys.argv[1:]))
