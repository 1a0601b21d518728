"""Beside the crash: what systemd starts when a unit has failed, and what that writes into the journal."""
