"""How much text a signature's pattern is tried on, and for how long at most: for matching and for the linter."""

from __future__ import annotations

# Longer texts are matched in their first and last part: nothing decisive stands in the middle of megabytes.
TEXT_LIMIT = 32_768
REGEX_SECONDS = 0.25
