"""Compiles the knowledge and the signatures to JSON while a wheel is built, so that no run of it has to read YAML."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Compiled(BuildHookInterface):
    """Adds `triage/knowledge/*.json` and `triage/_packaged/signatures.jsonl` to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # there the files may change: what they hold is kept in the user's cache
            return
        root = Path(self.root)
        sys.path.insert(0, str(root))
        import yaml

        from triage.library.pack import Pack
        from triage.library.packs import compile_pack

        self._made = tempfile.TemporaryDirectory(prefix="triage-build-")
        made = Path(self._made.name)  # gone with this object
        for table in sorted((root / "triage" / "knowledge").glob("*.yaml")):
            value = yaml.safe_load(table.read_bytes())
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            self._add(build_data, made / f"{table.stem}.json", text.encode(), f"triage/knowledge/{table.stem}.json")
        compiled = compile_pack(root / "signatures", thorough=True)
        if problems := Pack(compiled, "").problems:
            raise ValueError(f"signatures that do not load: {problems}")
        self._add(build_data, made / "signatures.jsonl", compiled, "triage/_packaged/signatures.jsonl")

    @staticmethod
    def _add(build_data: dict[str, Any], place: Path, content: bytes, target: str) -> None:
        place.write_bytes(content)
        build_data["force_include"][str(place)] = target
