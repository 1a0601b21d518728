"""A follower of several sources: the nodes of one run, and services that have nothing to do with each other."""

from triage.follow import Follower
from triage.library import load
from triage.lines.live import LiveText

ARGS = "[2026-05-25 21:41:{second:02}] server_args=ServerArgs(model_path='/m', dist_init_addr='10.0.0.1:5000', nnodes=2, node_rank={node}, tp_size=2)\n"
RAISED = """\
[2026-05-25 21:41:40 TP{rank}] Scheduler hit an exception: Traceback (most recent call last):
  File "/opt/a.py", line 3, in run
    x
ValueError: boom
"""


def _lines(text, name):
    live = LiveText(name)
    return [*live.feed(text.encode()), *live.finish()]


def follower():
    return Follower("node0", load(standing=False))


def feed(follower, source, text):
    follower.feed(_lines(text, source), source)
    follower.flush(source)


def test_the_nodes_of_a_run_are_one_incident():
    """As when their logs are read together, and again at each look."""
    follow = follower()
    feed(follow, "node0", ARGS.format(second=38, node=0) + RAISED.format(rank=0))
    feed(follow, "node1", ARGS.format(second=39, node=1) + RAISED.format(rank=1))
    (news,) = follow.look()
    assert news.kind == "incident"
    assert set(news.failure.ranks) == {"TP0", "TP1"}
    assert follow.look() == []
    (incident,) = follow.last.values()
    assert set(incident.failures[0].ranks) == {"TP0", "TP1"}


def test_looking_changes_nothing_that_was_read():
    """Joining gives lines other numbers and times: on copies."""
    follow = follower()
    feed(follow, "node0", ARGS.format(second=38, node=0) + RAISED.format(rank=0))
    feed(follow, "node1", ARGS.format(second=39, node=1) + RAISED.format(rank=1))
    orders = [[event.order for event in each.result().events] for each in follow._extractors.values()]
    for _ in range(3):
        follow.look()
    assert [[event.order for event in each.result().events] for each in follow._extractors.values()] == orders


def test_others_stay_apart():
    """Each has its last incident, by its source."""
    follow = follower()
    feed(follow, "node0", RAISED.format(rank=0))
    feed(follow, "node1", RAISED.format(rank=1).replace("ValueError", "KeyError"))
    assert {news.failure.exception.type for news in follow.look()} == {"ValueError", "KeyError"}
    assert len(follow.last) == 2


def test_a_source_of_which_nothing_came_says_nothing():
    """A host whose unit has not started yet."""
    follow = follower()
    follow._of("node1")
    feed(follow, "node0", RAISED.format(rank=0))
    assert [news.incident.source for news in follow.look()] == ["node0"]
