"""The maintainers' part: reads published packages into the table. Nothing of it is imported when triage runs."""
