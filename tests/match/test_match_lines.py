"""Log lines, sequences, and other events of the attempt."""

import pytest

from triage.match import diagnose
from triage.model import Gap


def test_line_in_the_text_of_any_kind_of_failure(library, fail, ids):
    """Also of exceptions: what belongs to them."""
    known = library(a='match: {log: {line: "pool is full"}}')
    assert ids(known, fail(text="KV cache pool  is\nfull. Retract")) == ["a"]
    assert ids(known, fail(text="x", evidence=["the pool is full"])) == ["a"]
    assert ids(known, fail("RuntimeError", "x", text="Traceback", evidence=["pool is full"])) == ["a"]
    assert ids(known, fail(kind="native", text="Fatal Python error", evidence=["pool is full"])) == ["a"]
    assert ids(known, fail(text="pool is empty")) == []


def test_regex_line_is_searched_line_by_line(library, fail, incident):
    """`^` and `$` are those of a line; named groups become captures."""
    known = library(a='match: {log: {line_re: "^setting (?P<what>\\\\w+): Invalid$"}}\ncause: "{what} is invalid"')
    failure = fail(text="first\nsetting membind: Invalid\nlast")
    diagnose(incident(failure), known)
    assert [d.cause for d in failure.diagnoses] == ["membind is invalid"]


SEQUENCE = 'match: {log: {sequence: ["first thing", {line_re: "second (?P<what>\\\\w+)"}, "third thing"]%s}}'


def test_sequence_needs_its_order(library, fail, ids):
    """The failure is the one with the last line."""
    known = library(a=SEQUENCE % "")
    one, two, three = (
        fail(text="first thing", level=None),
        fail(text="second thing", level=None),
        fail(text="third thing"),
    )
    assert ids(known, one, two, three) == ["a"]
    assert one.diagnoses == two.diagnoses == []
    assert ids(known, two, three) == []


def test_sequence_out_of_order_is_none(library, fail, ids):
    """What came later did not lead to it."""
    two, one, three = (
        fail(text="second thing", level=None),
        fail(text="first thing", level=None),
        fail(text="third thing"),
    )
    assert ids(library(a=SEQUENCE % ""), two, one, three) == []


def test_sequence_within_one_failure(library, fail, ids):
    """Lines that belong to it, in their order."""
    known = library(a=SEQUENCE % "")
    assert ids(known, fail(text="first thing\nsecond thing\nthird thing")) == ["a"]
    assert ids(known, fail(text="second thing\nfirst thing\nthird thing")) == []


def test_sequence_window(library, fail, ids):
    """From the first line to the last; not known without times."""
    known = library(a=SEQUENCE % ", window: 30s")

    def run(*times):
        words = ("first", "second", "third")
        return ids(
            known, *(fail(text=f"{word} thing", time=time, level=None) for word, time in zip(words, times, strict=True))
        )

    assert run(100.0, 110.0, 125.0) == ["a"]
    assert run(80.0, 110.0, 125.0) == []
    assert run(None, 110.0, 125.0) == []


@pytest.mark.parametrize(("scope", "fits"), [("run", True), ("host", True), ("rank", False)])
def test_sequence_scope(library, fail, ids, scope, fits):
    """Anywhere, on one host, or on one rank."""
    known = library(a=SEQUENCE % f", scope: {scope}")
    failures = [
        fail(text=f"{word} thing", rank=rank, host="h", level=None)
        for word, rank in (("first", "TP0"), ("second", "TP1"), ("third", "TP1"))
    ]
    assert (ids(known, *failures) == ["a"]) is fits


def with_(scope: str = "run", within: str = "", key: str = "with") -> str:
    """A signature that asks for an OOM kill elsewhere."""
    more = f", within: {within}" if within else ""
    return f'match: {{exception: E, message: "peer closed"}}\n{key}: [{{match: {{kernel: {{oom: true}}}}, scope: {scope}{more}}}]'


def kill(fail, **where):
    """An OOM kill that the kernel logged."""
    return fail(
        kind="kernel",
        text="Out of memory: Killed process 7",
        data={"oom": "global", "process": "sglang::schedul"},
        **where,
    )


def test_with_needs_another_event(library, fail, ids):
    """Before or after."""
    known = library(a=with_())
    assert ids(known, kill(fail), fail("E", "peer closed")) == ["a"]
    assert ids(known, fail("E", "peer closed")) == []


def test_with_is_shown(library, fail, incident):
    """Among what matched."""
    failure = fail("E", "peer closed")
    diagnose(incident(kill(fail), failure), library(a=with_()))
    assert failure.diagnoses[0].matched == ["exception E", 'message "peer closed"', "with OOM kill"]
    assert failure.diagnoses[0].confidence == "certain"


@pytest.mark.parametrize(("time", "fits"), [(95.0, True), (104.9, True), (94.0, False), (106.0, False)])
def test_within(library, fail, ids, time, fits):
    """The time between the two, in either direction."""
    known = library(a=with_(within="5s"))
    assert (ids(known, kill(fail, time=time), fail("E", "peer closed", time=100.0)) == ["a"]) is fits


@pytest.mark.parametrize(("host", "fits"), [("a", True), ("b", False)])
def test_scope_host(library, fail, ids, host, fits):
    """Only on the same machine."""
    known = library(a=with_("host"))
    assert (ids(known, kill(fail, host=host), fail("E", "peer closed", host="a")) == ["a"]) is fits


def test_scope_rank_falls_back_on_the_process(library, fail, ids):
    """A line without a label may still be of the same process."""
    known = library(
        a='match: {exception: E, message: "peer closed"}\nwith: [{match: {log: {line: "some notice"}}, scope: rank}]'
    )
    assert ids(known, fail(text="some notice", pid=7, level=None), fail("E", "peer closed", pid=7)) == ["a"]
    assert ids(known, fail(text="some notice", pid=8, level=None), fail("E", "peer closed", pid=7)) == []
    assert ids(known, fail(text="some notice", rank="TP1", level=None), fail("E", "peer closed", rank="TP1")) == ["a"]


def test_with_line_that_belongs_to_the_failure_itself(library, fail, ids):
    """A line may have been attached to it."""
    known = library(a='match: {exception: E, message: "boom"}\nwith: [{match: {log: {line: "NCCL WARN"}}}]')
    assert ids(known, fail("E", "boom", evidence=["h:1:1 NCCL WARN x"])) == ["a"]


def test_with_where_lines_are_missing_is_possible(library, fail, incident):
    """It may have been there; what is missing is named."""
    failure = fail("E", "peer closed")
    diagnose(incident(failure, gaps=[Gap("suppressed", "90 lines")]), library(a=with_()))
    (found,) = failure.diagnoses
    assert (found.confidence, found.missing) == ("possible", ["with kernel (lines are missing from the log)"])


def test_without_rules_out(library, fail, ids):
    """Where the other event is there."""
    known = library(a=with_(key="without"))
    assert ids(known, fail("E", "peer closed")) == ["a"]
    assert ids(known, kill(fail), fail("E", "peer closed")) == []


@pytest.mark.parametrize("kind", ["truncated", "suppressed", "rotated"])
def test_without_over_unreadable_lines_is_unknown(library, fail, incident, kind):
    """Never absent."""
    failure = fail("E", "peer closed")
    diagnose(incident(failure, gaps=[Gap(kind, "x")]), library(a=with_(key="without")))
    (found,) = failure.diagnoses
    assert (found.confidence, found.unconfirmed) == ("likely", ["without kernel (lines are missing from the log)"])


def test_other_gaps_do_not_make_it_unknown(library, fail, incident):
    """A clock that jumps hides no line."""
    failure = fail("E", "peer closed", chain=[])
    diagnose(incident(failure, gaps=[Gap("clock", "x")]), library(a=with_(key="without")))
    assert failure.diagnoses[0].unconfirmed == []


def test_slow_regex_is_a_gap_not_a_miss(library, fail, incident):
    """It is tried once, reported, and what it would have told is missing."""
    slow = 'match: {exception: E, message: "some text", log: {line_re: "(?:a|aa)+c tail"}}'
    text = "a" * 60 + "d xc tail"
    failures = [fail("E", "some text", text=text), fail("E", "some text", text=text)]
    run = incident(*failures)
    diagnose(run, library(a=slow, b="match: {exception: E, log: {line_re: '(?:a|aa)+c tail'}}"))
    assert [[(d.signature, d.confidence) for d in failure.diagnoses] for failure in failures] == [
        [("lab/a", "possible")]
    ] * 2
    assert failures[0].diagnoses[0].missing == ['log line "*c tail"']
    assert [gap.kind for gap in run.gaps] == ["timeout"]


def test_gaps_are_left_alone_if_asked(library, fail, incident):
    """For a second look at an incident."""
    run = incident(fail("E", "x", text="a" * 60 + "d xc tail"))
    diagnose(run, library(a="match: {exception: E, log: {line_re: '(?:a|aa)+c tail'}}"), gaps=False)
    assert run.gaps == []
