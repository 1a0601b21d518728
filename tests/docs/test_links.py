"""Pages are read in the repository too, where nothing is built."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#([^)\s]+))?\)")


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in sorted((ROOT / "docs").glob("*.md")))]
)
def test_a_link_leads_to_a_file_of_the_repository(page):
    """And to a heading in it."""
    for target, heading in _LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        if "://" in target:
            continue
        found = (ROOT / page).parent / target
        assert found.is_file(), target
        headings = re.findall(r"^#+ (.+)$", found.read_text(encoding="utf-8"), re.MULTILINE)
        assert not heading or heading in [re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in headings]
