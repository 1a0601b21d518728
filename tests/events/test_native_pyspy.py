"""py-spy's dumps, and the rank that is elsewhere than the others."""

from pathlib import Path

from triage.events.native import NativeAssembler
from triage.events.native_pyspy import odd_one_out, rank_of_title
from triage.lines import read_text
from triage.model import Event, Frame, Line, Position

DATA = Path(__file__).parents[1] / "data" / "native"


def dumps(name):
    assembler = NativeAssembler()
    left = [line for line in read_text([(0, (DATA / name).read_bytes())], name) if not assembler.feed(line)]
    return list(assembler.close()), left


def dump(rank, *functions, state="idle"):
    frames = [Frame("srt/x.py", 1, function) for function in functions]
    data = {"rank": rank, "state": state}
    return Event("native", "native/py-spy", Position(), "s", "", frames=frames, data=data, ranks=[rank])


def test_each_process_is_one_event_with_its_rank_and_main_thread():
    """The title names the rank, the frames are the main thread's, outermost first."""
    events, left = dumps("pyspy-eight-ranks.log")
    assert [event.ranks[0] for event in events] == ["TP0", "TP1", "TP2", "TP3", "TP4", "TP6", "TP7", "TP5"]
    five = events[-1]
    assert (five.rule, five.level, five.data["pid"], five.data["state"]) == ("native/py-spy", None, "616", "idle")
    assert [frame.function for frame in five.frames[:3]] == ["event_loop_overlap", "recv_requests", "broadcast_pyobj"]
    assert five.frames[1].file == "scheduler.py"
    assert five.frames[-1].function == "pthread_cond_wait"
    assert "subprocess.py:communicate" in five.data["threads"]
    assert all(line.record or not line.text or line.origin == "manager" for line in left)


def test_the_rank_that_differs_from_the_majority_is_odd():
    """Seven ranks wait in an all_reduce that the eighth never called."""
    event, reason = odd_one_out(dumps("pyspy-eight-ranks.log")[0])
    assert event.data["rank"] == "TP5"
    assert reason.startswith("TP5: recv_requests > broadcast_pyobj")
    assert "the other 7 ranks: get_next_batch_to_run > check_hicache_events > writing_check" in reason


def test_of_two_ranks_the_one_that_does_not_wait_to_receive_is_odd():
    """TP1 waits for a broadcast, TP0 spins inside NCCL."""
    event, reason = odd_one_out(dumps("pyspy-two-ranks.log")[0])
    assert event.data["rank"] == "TP0"
    assert "TP1 waits to receive" in reason


def test_ranks_that_are_all_in_one_place_have_no_odd_one():
    """Line numbers do not count."""
    assert odd_one_out([dump("TP0", "a", "b"), dump("TP1", "a", "b"), dump("TP2", "a", "b")]) is None
    assert odd_one_out([dump("TP0", "run", "broadcast"), dump("TP1", "run", "recv")]) is None
    assert odd_one_out([dump("TP0", "a")]) is None
    assert odd_one_out([]) is None


def test_no_majority_names_nobody():
    """Four ranks in two places tell nothing."""
    events = [dump("TP0", "a"), dump("TP1", "a"), dump("TP2", "b"), dump("TP3", "b")]
    assert odd_one_out(events) is None


def test_only_the_last_dump_of_a_rank_counts():
    """The watchdog may dump twice."""
    events = [dump("TP0", "b"), dump("TP0", "a"), dump("TP1", "a"), dump("TP2", "a")]
    assert odd_one_out(events) is None


def test_titles_name_ranks_of_any_shape():
    """Titles have underscores for blanks; other programs have no rank."""
    assert rank_of_title("sglang::scheduler_PP3_TP1") == "PP3 TP1"
    assert rank_of_title("sglang::scheduler_DP0_PP1_ATTN_CP0_MOE_DP1_TP2_EP3") == "DP0 PP1 ATTN_CP0 MOE_DP1 TP2 EP3"
    assert rank_of_title("sglang::detokenizer") is None
    assert rank_of_title("python -m sglang.launch_server --tp 8") is None


def test_a_thread_without_its_process_is_partial():
    """The head of the dump may be cut off."""
    assembler = NativeAssembler()
    texts = ['Thread 616 (idle): "MainThread"', "    poll (libc.so.6)", "    run (threading.py:1010)"]
    for number, text in enumerate(texts):
        assert assembler.feed(Line(text=text, stream="s", offset=number))
    (event,) = assembler.close()
    assert event.assembly == "partial"
    assert [frame.function for frame in event.frames] == ["run", "poll"]
