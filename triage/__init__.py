"""triage: reads the logs of a failing LLM inference service and says what broke, on which rank, why, and what to do."""

__version__ = "0.1.0"
