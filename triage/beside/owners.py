"""Whether root may run this triage: who else could change its code."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from triage.model import TriageError


def check_owned_by_root() -> None:
    """Raise `TriageError` where somebody else than root can change the interpreter or triage: root would run that."""
    import triage

    for start in (Path(sys.executable), Path(os.path.realpath(sys.executable)), Path(triage.__file__).parent):
        for path in (start, *start.parents):
            found = path.stat()
            group = found.st_mode & stat.S_IWGRP and found.st_gid != 0
            shared = (group or found.st_mode & stat.S_IWOTH) and not found.st_mode & stat.S_ISVTX
            if found.st_uid != 0 or shared:
                raise TriageError(
                    f"{path} can be changed by others than root, and the hook would run it as root: install triage "
                    "where only root writes (python3 -m venv /opt/triage && /opt/triage/bin/pip install ...)"
                )
