"""How one signature is held against one failure. `triage.match` is the way in."""
