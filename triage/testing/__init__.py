"""For tests made elsewhere: packs of signatures against their fixtures, and one's own logs as several ranks print them.

`Pack` says what `triage signatures test` and `triage signatures check` say, for pytest:

    import pytest
    from triage.testing import Pack

    PACK = Pack("my-pack")

    @pytest.mark.parametrize("fixture", PACK.fixtures, ids=str)
    def test_fixture(fixture):
        assert PACK.problems(fixture) == []

    def test_signatures():
        assert [str(issue) for issue in PACK.issues()] == []

`interleave` mixes the logs of single ranks as they stand in a container's log, and `changes` says which failures or
root that cost. `python -m triage.testing LOG...` does both over many seeds.
"""

from triage.testing.answers import Answers, changes
from triage.testing.packs import Fixture, Pack
from triage.testing.weave import Weave, Woven, interleave

__all__ = ["Answers", "Fixture", "Pack", "Weave", "Woven", "changes", "interleave"]
