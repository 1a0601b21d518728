"""The report as it leaves the house: a copy, bounded and masked, so that no renderer has to think of either."""

from __future__ import annotations

from triage.lazy import regex
from triage.model import Failure, Incident, Report
from triage.records import names_of
from triage.report.masking import Masker, secret_name
from triage.report.sentence import summary
from triage.report.text import clip
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TEXT = 2_000
# What is read of one text before it is masked. What lies beyond can't be masked, as its context is gone.
_READ, _MARGIN = 200_000, 5_000
_LONG = {"message": 4_000, "cause": 6_000, "detail": 4_000, "command": _READ}
_LISTS = {"frames": 400, "evidence": 50, "chain": 20, "notes": 100}
# triage's own words and the keys of others' data.
_OWN = frozenset(("id", "failure", "kind", "rule", "fingerprint", "role", "cursor", "invocation", "signature", "phase"))
_SURROGATES = regex(r"[\ud800-\udfff]")


def prepared(report: Report, mask: bool = True, share: bool = False) -> Report:
    """Take a report; return a copy with bounded texts and lists, without the failures that say nothing, masked.

    Left out are failures of no level and no role to which nothing refers. With `share` prompts, hosts and people are
    masked too, and journal cursors, which name a machine and a boot, are emptied. Verdicts that are the summary of
    their incident are made again from what was masked.
    """
    masker = Masker(share, _hosts(report) if share else ()) if mask else None
    said = [_own_summary(report, number) for number in range(len(report.verdicts))]
    shown: Report = _copy(report, "", masker)
    for verdict, own in zip(shown.verdicts, said, strict=True):
        if own:
            verdict.summary = summary(shown.incidents[verdict.incident - 1])
    return shown


def _own_summary(report: Report, number: int) -> bool:
    verdict = report.verdicts[number]
    if not 0 < verdict.incident <= len(report.incidents):
        return False
    return verdict.summary == summary(report.incidents[verdict.incident - 1])


def _telling(incident: Incident) -> list[Failure]:
    referred = {found.because.failure for found in incident.failures if found.because}
    return [
        found
        for found in incident.failures
        if found.role != "unrelated" or found.level is not None or found.id in referred
    ]


def _copy(value: Any, name: str, masker: Masker | None) -> Any:
    if isinstance(value, str):
        if name == "cursor" and masker and masker.share:
            return ""
        return _text(value, name, masker)
    if isinstance(value, Incident):
        kept = _telling(value)
        return Incident(
            **{
                name: _copy(kept if name == "failures" else getattr(value, name), name, masker)
                for name in names_of(value)
            }
        )
    if isinstance(value, list):
        bound = _LISTS.get(name, len(value))
        if len(value) > bound:
            value = value[: bound - bound // 2] + value[len(value) - bound // 2 :]
        return [_copy(item, name, masker) for item in value]
    if isinstance(value, dict):
        return _facts(value, masker, depth=0)
    names = names_of(value)
    return type(value)(**{name: _copy(getattr(value, name), name, masker) for name in names}) if names else value


def _facts(value: Any, masker: Masker | None, depth: int) -> Any:
    if isinstance(value, dict) and depth < 6:
        return {
            _text(str(name), "", None): masker.secret(str(found))
            if masker and found is not None and not isinstance(found, bool) and secret_name(str(name))
            else _facts(found, masker, depth + 1)
            for name, found in value.items()
        }
    if isinstance(value, (list, tuple, set, frozenset)) and depth < 6:
        return [_facts(item, masker, depth + 1) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return value if abs(value) < 1e300 else None
    return _text(str(value), "", masker)


def _text(text: str, name: str, masker: Masker | None) -> str:
    masked: Callable[[str], str] | None = None
    if masker is not None and name not in _OWN:
        masked = masker.host if name == "host" else masker.text
    if len(text) > _READ:
        text = (masked(text[:_READ]) if masked else text[:_READ])[:-_MARGIN] + "…"
    elif masked is not None:
        text = masked(text)
    if not text.isascii():
        text = _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)
    return clip(text, _LONG.get(name, TEXT))


def _hosts(report: Report) -> Iterator[str]:
    for incident in report.incidents:
        if there := incident.source.partition(" ssh://")[2]:  # a journal that was read over ssh
            yield there.rpartition("@")[2].partition(":")[0]
        yield from (member.host for member in incident.members if member.host)
        yield from (process.host for process in incident.processes if process.host)
        yield from (found.first.host for found in incident.failures if found.first.host)
        yield from (item.at.host for found in incident.failures for item in found.evidence if item.at.host)
