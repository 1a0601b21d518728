"""Builds the documentation site into build/site/html, warnings as errors, and checks every link inside it.

    pip install -e '.[docs]' && python tools/build_docs.py

Needs no network. The pages of signatures are made from signatures/ and fixtures/ each time.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT)]
# What lies beside docs/ in the repository and is a page all the same.
_PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def stage(root: Path, source: Path) -> None:
    """Take a checkout and a folder; fill the folder with the sources of the site."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(root / "docs", source, ignore=shutil.ignore_patterns("conf.py", "_static", "__pycache__"))
    shutil.copytree(root / "signatures", source / "signatures")
    for name, page in _PAGES.items():
        shutil.copyfile(root / name, source / page)
    for path in source.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        for name, page in _PAGES.items():
            text = text.replace(f"](../{name}", f"]({page}")
        path.write_text(text, encoding="utf-8")


def build(root: Path, output: Path, settings: tuple[str, ...] = ()) -> int:
    """Take a checkout, a folder for the result and settings as `name=value`; return 0 where all is well."""
    from docs_site.links import dead
    from sphinx.cmd.build import main as sphinx

    source = output.parent / "source"
    stage(root, source)
    shutil.rmtree(output, ignore_errors=True)
    options = [
        "-q",
        "-W",
        "--keep-going",
        "-j",
        "auto",
        "-c",
        str(ROOT / "docs"),
        "-d",
        str(output.parent / "doctrees"),
    ]
    changed = [part for setting in settings for part in ("-D", setting)]
    status = sphinx([*options, "-E", "-a", *changed, "-b", "html", str(source), str(output)])
    if status:
        return int(status)
    found = dead(output)
    for link in found:
        print(f"dead link: {link}", file=sys.stderr)
    return 1 if found else 0


def main() -> int:
    """Build the site; return the exit status."""
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("--output", type=Path, default=ROOT / "build/site/html", help="default: build/site/html")
    args = parser.parse_args()
    status = build(ROOT, args.output.absolute())
    if not status:
        print(f"{sum(1 for _ in args.output.rglob('*.html'))} pages in {args.output}")
    return status


if __name__ == "__main__":
    sys.exit(main())
