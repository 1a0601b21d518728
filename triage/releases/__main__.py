"""Reads SGLang's published releases into the table that ships with triage. For maintainers.

    python -m triage.releases [--list] [RELEASE...]

Without a release, all that the table lacks are read, one after the other: pip downloads a wheel by name, from where it
is set up to, its files are parsed and the wheel is removed again. The table is written after each release, so an
interrupted run goes on where it stopped. Needs a Python that the releases themselves support.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from triage.model import TriageError
from triage.releases.collect import wheels, write
from triage.releases.table import PLACE, Table
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triage.releases.collect.scopes import Scope


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the command line; return the exit status: 0, or 1 where a release could not be read."""
    parser = argparse.ArgumentParser(prog="python -m triage.releases", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("releases", nargs="*", metavar="RELEASE", help="read these; default: all that are missing")
    parser.add_argument("--list", action="store_true", help="only say which releases are there and which are missing")
    parser.add_argument("--since", default=wheels.OLDEST, metavar="RELEASE", help="the oldest to read (%(default)s)")
    parser.add_argument(
        "--table", type=Path, default=PLACE, metavar="FILE", help="the table (default: the packaged one)"
    )
    args = parser.parse_args(arguments)
    there = set(Table(args.table).releases) if args.table.exists() else set()
    try:
        wanted = args.releases or wheels.published(args.since)
    except TriageError as error:
        print(error, file=sys.stderr)
        return 1
    missing = [release for release in wanted if release not in there]
    print(f"{len(there)} releases are there, {len(missing)} are missing: {' '.join(missing) or 'none'}")
    return 0 if args.list else _read(missing, args.table)


def _read(missing: Sequence[str], table: Path) -> int:
    os.nice(10)
    cache: dict[bytes, list[Scope]] = {}
    failed = 0
    for release in missing:
        began = time.monotonic()
        try:
            with tempfile.TemporaryDirectory() as folder:
                found = wheels.read(wheels.download(release, Path(folder)), release, cache)
        except TriageError as error:
            print(error, file=sys.stderr)
            failed += 1
            continue
        write.add(table, found)
        kept = set(map(id, found.scopes.values()))
        cache = {source: scopes for source, scopes in cache.items() if id(scopes) in kept}
        seconds = time.monotonic() - began
        print(f"{release}: {len(found.scopes)} files, {len(found.options)} flags, {seconds:.0f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
