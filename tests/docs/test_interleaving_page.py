"""docs/interleaving.md: its example, exactly as written."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs/interleaving.md").read_text()


def test_the_example_runs():
    """It asserts for itself that nothing was lost."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert "assert" in code
    exec(code, {})


def test_every_option_is_told():
    """The table has all of them."""
    from dataclasses import fields

    from triage.testing import Weave

    for field in fields(Weave):
        assert f"`{field.name}`" in PAGE
