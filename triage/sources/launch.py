"""Facts out of the command line that starts an engine: ExecStart=, a process's arguments, a line typed in a shell."""

from __future__ import annotations

import re

from triage.data import knowledge
from triage.lazy import regex
from triage.sources.words import commands, resolve
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_ASSIGNMENT = regex(r"([A-Z_][A-Z0-9_]*)=(.*)", re.DOTALL)
_ENV_OPTION = regex(r"(?:--env=|-e)([A-Z_][A-Z0-9_]*=.*)", re.DOTALL)
_FLAG = regex(r"--[A-Za-z][A-Za-z0-9_.-]*")
_INT = regex(r"-?\d{1,18}")
_FLOAT = regex(r"-?(?:\d{1,18}\.\d{0,18}|\.\d{1,18})(?:[eE][+-]?\d{1,3})?")
_IMAGE = regex(r"[a-z0-9][a-z0-9._:/-]*/[a-z0-9._-]+(?::[\w.-]+)?(?:@sha256:[0-9a-f]+)?")
_CONTAINER_PROGRAMS = ("docker", "podman", "nerdctl")
_LONGEST = 1000


def facts_from_command(command: str | Sequence[str], environment: Mapping[str, str] | None = None) -> dict[str, object]:
    """Take a command line, as text or as an argument list, and the environment that it runs in, as far as it is known.

    Return the launch arguments of SGLang or vLLM by their names in SGLang's ServerArgs (`tp_size`, `model_path`, ...),
    numbers as numbers and switches as True, with `engine`, `env.NAME` for the variables that the line itself sets, and
    `container` for the image. Wrappers are looked through: env, numactl, `bash -c`, docker run, systemd's own prefixes.
    A value that holds an unknown variable is left out; a line that starts no engine gives its variables only. Nothing
    is raised on any text.
    """
    table = knowledge("launch")
    facts: dict[str, object] = {}
    known = dict(environment or {})
    for words in commands(command):
        start = _engine(words, table)
        before = words if start is None else words[: start[1]]
        for name, value in _variables(before):
            known[name] = value
            facts[f"env.{name}"] = value[:_LONGEST]
        if start is None:
            continue
        name, _, after = start
        facts["engine"] = name
        if any(word.rpartition("/")[2] in _CONTAINER_PROGRAMS for word in before):
            image = next((word for word in reversed(words[:after]) if _IMAGE.fullmatch(word)), None)
            if image is not None:
                facts["container"] = image
        for key, argument in _arguments(words[after:], table):
            resolved = _resolved(argument, known)
            if resolved is not None:
                facts[key] = resolved
        break
    return facts


def _engine(words: Sequence[str], table: Any) -> tuple[str, int, int] | None:
    """Find what starts an engine: its name, where the words for it begin, and where its arguments begin."""
    for index, word in enumerate(words):
        base = word.rpartition("/")[2]
        following = words[index + 1] if index + 1 < len(words) else ""
        for row in table["engines"]:
            if word == "-m" and following in row["modules"]:
                after = index + 2
                return row["name"], index, after + (after < len(words) and words[after] in _verbs(row))
            if base in row["scripts"]:
                return row["name"], index, index + 1
            if following in row["programs"].get(base, ()):
                return row["name"], index, index + 2
            if index and base.partition(":")[0] in row["images"]:
                return row["name"], index, index + 1
    return None


def _verbs(row: Any) -> set[str]:
    return {verb for verbs in row["programs"].values() for verb in verbs}


def _variables(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the variables that are set before a program: `NAME=value`, `env NAME=value`, `docker run -e NAME=value`."""
    for word in words:
        option = _ENV_OPTION.fullmatch(word)
        found = _ASSIGNMENT.fullmatch(option[1] if option else word)
        if found is not None:
            yield found[1], found[2]


def _arguments(words: Sequence[str], table: Any) -> Iterator[tuple[str, str | bool | list[str]]]:
    """Yield an engine's arguments; a positional one is the model."""
    aliases, switches = table["aliases"], set(table["switches"]["names"])
    prefixes, several = tuple(table["switches"]["prefixes"]), set(table["lists"])
    index = 0
    named_model = False
    positional: str | None = None
    while index < len(words):
        word = words[index]
        index += 1
        flag, equals, value = word.partition("=")
        if not (_FLAG.fullmatch(flag) or (flag in aliases and not equals)):
            positional = positional or word
            continue
        name = aliases.get(flag) or flag.lstrip("-").replace("-", "_")
        named_model = named_model or name == "model_path"
        if equals:
            yield name, value
            continue
        values = []
        while index < len(words) and not (_FLAG.match(words[index]) or words[index] in aliases):
            values.append(words[index])
            index += 1
        switch = name in switches or name.startswith(prefixes)
        if name.startswith("no_") and not values:
            yield name[3:], False
        elif not values or switch:
            yield name, True
            positional = positional or (values[0] if values else None)
        elif name in several:
            yield name, values if len(values) > 1 else values[0]
        elif values[0].startswith(("{", "[")):
            yield name, " ".join(values)  # systemctl show prints JSON without the quotes that held it together
        else:
            yield name, values[0]
            positional = positional or (values[1] if len(values) > 1 else None)
    if positional and not named_model:
        yield "model_path", positional


def _resolved(value: str | bool | list[str], known: Mapping[str, str]) -> object:
    """Fill in variables and make numbers of what spells one; None for what can't be known."""
    if isinstance(value, bool):
        return value
    if isinstance(value, list):
        values = [_resolved(item, known) for item in value]
        return None if None in values else values
    text = resolve(value, known)
    if text is None:
        return None
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return {"true": True, "false": False}.get(text.lower(), text[:_LONGEST])
