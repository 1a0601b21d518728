"""The published JSON Schema of a signature, made from the same tables that the loader reads with."""

from __future__ import annotations

from triage.library.grammar import FORMAT, MATCH, REQUIRED, SIGNATURE
from triage.typed import Any


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of one signature, for editors and for packs made elsewhere.

    It cannot say all that the loader checks: whether a regex compiles, a release is PEP 440, a `where:` can be parsed.
    """
    schema = SIGNATURE.schema()
    schema["properties"]["format"] = {"const": FORMAT}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "triage signature",
        "description": f"A known failure of an LLM inference service, format {FORMAT}.",
        **schema,
        "if": {"properties": {"disabled": {"const": True}}, "required": ["disabled"]},
        "else": {"required": list(REQUIRED)},
        "$defs": {"match": MATCH.schema()},
    }
