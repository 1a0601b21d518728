"""What is known of SGLang's published releases: which of them a traceback comes from, their launch flags, their pins.

The table behind it ships with triage and is read in pieces when something is asked. `python -m triage.releases` writes
it. Flags and pins are in `triage.releases.flags`.
"""

from triage.releases.frames import ReleaseReading, releases_of
from triage.releases.table import Table, table

__all__ = ["ReleaseReading", "Table", "releases_of", "table"]
