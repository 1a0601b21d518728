"""`python -m triage` is the command."""

from triage.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
