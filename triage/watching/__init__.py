"""A start as it happens: its phases, its readiness, and why it did not come up; and a command that triage runs."""
