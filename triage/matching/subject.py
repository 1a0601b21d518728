"""What a failure offers to be matched: its exceptions, its text, its frames, folded once."""

from __future__ import annotations

from functools import cached_property

from triage.lazy import regex
from triage.library.expressions import TEXT_LIMIT
from triage.records import Record, dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import ChainLink, ExceptionInfo, Failure, Frame

MAX_LINKS = 16
MAX_FRAMES = 2000
MAX_LINES = 64

# SGLang borrowed layers and kernels of vLLM for long; these rooms only vLLM itself runs through.
_VLLM = regex(r"(?:^|/)vllm/(?:v1|engine|executor|worker|entrypoints|distributed/kv_transfer)/")


def fold(text: str) -> str:
    """Return a text with every run of white space and line ends as one blank."""
    return " ".join(text.split())


def clip(text: str, limit: int = TEXT_LIMIT) -> str:
    """Return a text, or its two ends where it is longer than `limit` characters."""
    return text if len(text) <= limit else f"{text[: limit // 2]}\n{text[-limit // 2 :]}"


@dataclass(slots=True)
class Link(Record):
    """One exception of a failure: 0 the exception itself, n the n-th of its chain. A failure without one has link 0."""

    number: int
    type: str = ""
    raw: str = ""
    message: str = ""
    frames: list[Frame] = field(default_factory=list)


class Subject:
    """A failure, prepared for matching."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure

    @cached_property
    def links(self) -> list[Link]:
        """Its exceptions; one empty link if it has none."""
        found = self.failure.exception
        if found is None:
            return [Link(0, frames=self.failure.frames[:MAX_FRAMES])]
        links = [_link(0, found)]
        links.extend(_link(number, one) for number, one in enumerate(found.chain[: MAX_LINKS - 1], 1))
        return links

    @cached_property
    def raw(self) -> str:
        """Everything that belongs to it: its text, its evidence, its exceptions' messages, each line once."""
        texts = [self.failure.text, *(one.text for one in self.failure.evidence[:MAX_LINES])]
        texts.extend(link.raw for link in self.links)
        lines = dict.fromkeys(line for text in texts for line in clip(text).splitlines() if line.strip())
        return clip("\n".join(lines))

    @cached_property
    def text(self) -> str:
        """The same, folded."""
        return fold(self.raw)

    @cached_property
    def attached(self) -> str:
        """What belongs to it beside its exceptions, folded: an assertion, `what()`, the output of a compiler."""
        messages = [fold(link.raw) for link in self.links if link.type]
        heads = [head for message in messages if len(head := message[:60]) >= 8]
        lines = (fold(line) for line in self.raw.splitlines())
        return "\n".join(
            line
            for line in lines
            if not any(line in message for message in messages) and not any(h in line for h in heads)
        )

    @cached_property
    def types(self) -> frozenset[str]:
        """The last parts of its exceptions' types."""
        return frozenset(link.type.rpartition(".")[2] for link in self.links if link.type)

    @cached_property
    def files(self) -> frozenset[str]:
        """The base names of the files of its frames."""
        return frozenset(frame.file.rpartition("/")[2] for link in self.links for frame in link.frames)

    @cached_property
    def engine(self) -> str | None:
        """The engine whose own code its frames run through; None where they show none, or both."""
        paths = [frame.file for link in self.links for frame in link.frames]
        sglang = any("sglang/srt/" in path for path in paths)
        vllm = any(_VLLM.search(path) for path in paths)
        return None if sglang == vllm else "sglang" if sglang else "vllm"

    @cached_property
    def whole(self) -> bool:
        """Say whether all of its stacks were read: none was cut, and no exception stands there without one."""
        return not self.partial and all(link.frames or not link.type for link in self.links)

    @property
    def partial(self) -> bool:
        """Say whether part of its traceback was not in what was read."""
        return self.failure.assembly == "partial"


def _link(number: int, one: ExceptionInfo | ChainLink) -> Link:
    raw = clip("\n".join([one.message, *one.notes]))
    return Link(number, one.type, raw, fold(raw), one.frames[:MAX_FRAMES])
