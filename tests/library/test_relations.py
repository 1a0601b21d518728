"""Which signature covers or shadows which, and which can never match."""

import pytest

from triage.library.parse import parse
from triage.library.relations import Form, contradiction, covers, shadows
from triage.library.signature import Signature

HEAD = 'format: 1\nid: lab/{name}\ntitle: "Some"\ncause: "Because."\n'


def form(text: str, name: str = "some") -> Form:
    """The form of a signature of these lines."""
    parsed, problems = parse((HEAD.format(name=name) + text).encode(), "some.yaml")
    assert [str(one) for one in problems] == []
    return Form.of(Signature.from_record(parsed[0].record))


WIDER = [
    ("match: {message: 'out of memory'}", "match: {exception: RuntimeError, message: 'CUDA out of  memory'}"),
    ("match: {message_re: 'out of \\w+'}", "match: {message: 'CUDA out of memory'}"),
    ("match: {message: 'memory'}", "match: {message_re: 'out of memory: (?P<n>\\d+)'}"),
    ("match: {message_re: '^CUDA'}", "match: {message_is: 'CUDA error'}"),
    ("match: {exception: [KeyError, IndexError]}", "match: {exception: IndexError, frames: ['a.py:f']}"),
    ("match: {exception: OutOfMemoryError}", "match: {exception: torch.cuda.OutOfMemoryError}"),
    ("match: {frames: ['a.py:*']}", "match: {frames: ['x/a.py:f', 'b.py:g']}"),
    ("match: {frames: ['a.py:f', 'c.py:h']}", "match: {frames: ['a.py:f', 'b.py:g', 'c.py:h']}"),
    ("match: {any: [{message: 'memory'}, {exception: KeyError}]}", "match: {message: 'out of memory'}"),
    ("match: {message: 'memory'}", "match: {any: [{message: 'out of memory'}, {message: 'no memory'}]}"),
    ("match: {message: 'memory'}\nwhen: {pp_size: '>1'}", "match: {message: 'memory'}\nwhen: {pp_size: '>=4'}"),
    ("match: {message: 'memory'}\nwhen: {device: '!=cpu'}", "match: {message: 'memory'}\nwhen: {device: cuda}"),
    (
        "match: {message: 'memory'}\nreleases: {sglang: '<0.6'}",
        "match: {message: 'memory'}\nreleases: {sglang: '>=0.5.1,<0.5.3'}",
    ),
    ("match: {message: 'memory'}", "engine: vllm\nmatch: {message: 'memory'}"),
    ("match: {kernel: {oom: true}}", "match: {kernel: {oom: memcg, process: python}}"),
    ("match: {unit: {result: [signal, exit-code]}}", "match: {unit: {result: signal, signal: SIGKILL}}"),
    ("match: {log: {line: 'pool is full'}}", "match: {log: {line: 'KV cache pool is full'}}"),
    (
        "match: {message: 'memory'}\nwith: [{match: {exception: KeyError}}]",
        "match: {message: 'memory'}\nwith: [{match: {exception: KeyError}, within: 5s, scope: rank}]",
    ),
    (
        "match: {message: 'memory'}\nwithout: [{match: {exception: KeyError}, within: 5s}]",
        "match: {message: 'memory'}\nwithout: [{match: {exception: KeyError}}]",
    ),
]


@pytest.mark.parametrize(("general", "special"), WIDER)
def test_general_case_covers_special_one(general, special):
    """And not the other way round."""
    assert covers(form(general), form(special))
    assert not covers(form(special), form(general))


APART = [
    ("match: {message: 'CUDA out'}", "match: {message: 'out of memory'}"),
    ("match: {message_re: '^out'}", "match: {message: 'out of memory'}"),
    ("match: {frames: ['a.py:f', 'b.py:g']}", "match: {frames: ['b.py:g', 'a.py:f']}"),
    ("match: {frames: ['y/a.py:f']}", "match: {frames: ['x/a.py:f']}"),
    ("match: {exception: a.Error}", "match: {exception: Error}"),
    ("match: {message: 'memory'}\nwhen: {pp_size: '>4'}", "match: {message: 'memory'}\nwhen: {pp_size: '>=4'}"),
    ("match: {log: {sequence: ['aaaa', 'bbbb']}}", "match: {log: {line: 'aaaa'}}"),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_neighbours_do_not_cover_each_other(one, other):
    """What one log may show without the other is no special case of it."""
    assert not covers(form(one), form(other))


@pytest.mark.parametrize(
    ("general", "special"),
    [
        ("match: {message: 'out of memory'}", "match: {message: 'CUDA out of memory'}"),
        ("match: {message: 'out of memory'}", "match: {exception: RuntimeError, message: 'out of memory'}"),
        ("match: {frames: ['a.py:f']}", "match: {frames: ['a.py:f', 'b.py:g']}"),
        ("match: {message: 'memory'}", "match: {message: 'memory'}\nwhen: {pp_size: '>1'}"),
        ("match: {message: 'memory'}", "match: {message: 'memory'}\nwithout: [{match: {exception: KeyError}}]"),
        ("match: {message: 'memory'}", "match: {any: [{message: 'out of memory'}, {message_is: 'memory'}]}"),
    ],
)
def test_one_that_asks_for_more_is_not_shadowed(general, special):
    """It scores more."""
    assert covers(form(general), form(special))
    assert not shadows(form(general, "a"), form(special, "b"))


def test_narrower_fact_alone_does_not_lead():
    """A fact counts as one, however narrow it is: the id decides."""
    general, special = (f"match: {{message: 'memory'}}\nwhen: {{pp_size: '{value}'}}" for value in (">1", ">=4"))
    assert shadows(form(general, "a"), form(special, "b"))
    assert not shadows(form(general, "b"), form(special, "a"))


def test_equal_one_is_shadowed_by_the_first_id():
    """As in matching, where the id decides between equals."""
    text = "match: {exception: KeyError, message: 'some text'}"
    assert shadows(form(text, "a"), form(text, "b"))
    assert not shadows(form(text, "b"), form(text, "a"))


def test_what_scores_nothing_does_not_lead():
    """A negation makes it special, but adds nothing to its score."""
    general, special = "match: {message: 'memory'}", "match: {message: 'memory', not: {message: 'HIP'}}"
    assert shadows(form(general, "a"), form(special, "b"))
    assert not shadows(form(general, "b"), form(special, "a"))


def test_one_long_text_is_shadowed_by_two_short_ones():
    """Two conditions that it always fulfils count more than its one."""
    wider = "match: {all: [{message: 'CUDA error'}, {message: 'out of memory'}]}"
    assert shadows(form(wider), form("match: {message_is: 'CUDA error: out of memory'}", "b"))


NEVER = [
    "match: {exception: KeyError, kernel: {oom: true}}",
    "match: {exception: KeyError, all: [{exception: ValueError}]}",
    "match: {message: 'memory', not: {message: 'mem'}}",
    "match: {exception: KeyError, not: {exception: [KeyError, ValueError]}}",
    "match: {message_is: 'KV', all: [{message: 'pool'}]}",
    "match: {message_is: 'KV', all: [{message_re: '[0-9]+ of'}]}",
    "match: {any: [{unit: {result: signal}}, {kernel: {oom: true}}], silence: {}}",
    "match: {message: 'a b'}\nwith: [{match: {exception: KeyError, message: x}}]\nwithout: [{match: {exception: KeyError}}]",
]


@pytest.mark.parametrize("text", NEVER)
def test_contradiction_is_named(text):
    """Whatever the log."""
    assert contradiction(form(text))


@pytest.mark.parametrize(
    "text",
    [
        "match: {exception: KeyError, native: {signal: SIGABRT}}",
        "match: {message: 'mem', not: {message: 'memory'}}",
        "match: {any: [{exception: KeyError, kernel: {oom: true}}, {exception: KeyError}]}",
        "match: {unit: {result: signal}, native: {signal: SIGKILL}}",
        "match: {message: x}\nwith: [{match: {exception: KeyError}}]\nwithout: [{match: {exception: KeyError}, scope: rank}]",
    ],
)
def test_what_may_hold_is_no_contradiction(text):
    """Some log fulfils it."""
    assert contradiction(form(text)) == ""
