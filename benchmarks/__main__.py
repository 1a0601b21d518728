"""`python -m benchmarks`: make the inputs, measure all rows, write RESULTS.md and profile.txt."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.data import Sizes, make
from benchmarks.measure import Command, own_memory, pairs, run
from benchmarks.results import MEMORY, Result, profile, table
from benchmarks.rows import programs, rows

_SCRIPT = "import sys\nfrom triage.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
HERE = Path(__file__).resolve().parent
SMALL = Sizes(log=12_000_000, tracebacks=300_000, small=64 << 10, journal=3000, few=5, some=330, many=360, own=10)


def main(argv: list[str] | None = None) -> int:
    """Take the arguments; return 0, or with --strict 1 where a bound is missed."""
    args = _arguments(argv)
    sizes = SMALL if args.tiny else Sizes(log=args.log_bytes, journal=args.entries, tracebacks=args.traceback_bytes)
    folder, output = args.data.resolve(), args.output.resolve()
    make(folder, sizes)
    os.chdir(folder)  # the commands name their inputs by relative paths
    env = _environment(folder)
    for words in (f"{programs()} logs small.log --signatures packs/{name}" for name in ("some", "many")):
        run(Command(words, fine=(0, 1, 3)), folder, env)  # fills the caches and byte code
    results = []
    for row in rows(folder, sizes):
        if args.only and not any(word in row.name for word in args.only):
            continue
        found = pairs(row.ours, row.theirs, args.pairs * row.times, folder, env)
        results.append(Result(row, found, own_memory(row.ours, folder, env) if row.memory == "own" else None))
        if not args.quiet:
            print(f"{row.name}: {'  '.join(f'{one:.2f}' for one in results[-1].values)}", file=sys.stderr)
    output.write_text(table(results, sizes, args.pairs), encoding="utf-8")
    slowest = max(results, key=lambda one: one.excess, default=None)
    if slowest is not None and slowest.row.must is not None:
        text = profile(slowest, folder, env)
        output.with_name("profile.txt").write_text(text, encoding="utf-8")
    missed = [one for one in results if one.excess > 1 or (one.memory or 0) > MEMORY]
    return 1 if args.strict and missed else 0


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    default = Path(tempfile.gettempdir()) / f"triage-benchmarks-{os.getuid()}"
    parser.add_argument(
        "--data", type=Path, default=default, help="folder for the inputs, some 3 GB (default: %(default)s)"
    )
    parser.add_argument("--output", type=Path, default=HERE / "RESULTS.md", help="where the table goes")
    parser.add_argument("--pairs", type=int, default=5, help="runs of each command (default: 5; of short ones 25)")
    parser.add_argument("--log-bytes", type=int, default=Sizes().log, help="size of the large log (default: 1 GB)")
    parser.add_argument("--traceback-bytes", type=int, default=Sizes().tracebacks, help="of the log of tracebacks only")
    parser.add_argument("--entries", type=int, default=Sizes().journal, help="of the journal (default: 1,000,000)")
    parser.add_argument("--tiny", action="store_true", help="small inputs, to see that it works; says nothing of speed")
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="rows with WORD in their name")
    parser.add_argument("--strict", action="store_true", help="end with 1 where a bound is missed")
    parser.add_argument("--quiet", action="store_true")
    return parser.parse_args(argv)


def _environment(folder: Path) -> dict[str, str]:
    """Return a plain environment: caches of its own, byte code written, nothing of the caller's Python settings."""
    home = folder / "home"
    (home / "cache").mkdir(parents=True, exist_ok=True, mode=0o700)
    blocked = folder / "without-systemd" / "systemd"
    blocked.mkdir(parents=True, exist_ok=True)
    (blocked / "__init__.py").write_text("raise ImportError\n", encoding="ascii")
    (folder / "empty_console_script.py").write_text("def main():\n    return 0\n", encoding="ascii")
    script, installed = folder / "empty", Path(programs())
    # The installer writes the same script for every package, so triage's own with another module in it.
    text = installed.read_text(encoding="utf-8") if installed.is_file() else f"#!{sys.executable}\n{_SCRIPT}"
    script.write_text(text.replace("triage.cli", "empty_console_script"), encoding="utf-8")
    script.chmod(0o755)
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_DATA_HOME": str(home / "data"),
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
    }


if __name__ == "__main__":
    sys.exit(main())
