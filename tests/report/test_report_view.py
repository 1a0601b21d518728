"""What is shown, and in which order."""

from dataclasses import replace

import pytest

from triage.model import Because, ChainLink, Evidence, Failure, Gap, Incident, Position
from triage.report import render
from triage.report.prepare import prepared
from triage.report.view import build


def sections(report, **options):
    """Make a dict of the first block's sections, each one's texts joined."""
    block = build(prepared(report), **options).blocks[0]
    found = {}
    for section in block.sections:
        text = " | ".join(f"{item.at}~{item.text}" if item.at else item.text for item in section.items)
        found[section.label] = f"{found[section.label]} | {text}" if section.label in found else text
    return found


def test_pp8(reports):
    """The seed failure shows where it raised and who called, what was matched, and what to do."""
    found = sections(reports["pp8-unit"]())
    assert found["run"] == "attempt 2 of 2, 2026-11-29 14:43:30 to 14:45:49 UTC (2 min 20 s)"
    assert (
        found["service"]
        == "sglang 0.5.6.post2 on gpu-node-07, pp_size=8, attention_backend=triton, device=cpu, model=/models/tiny64"
    )
    assert found["reached"] == "KV pool, never ready, killed by SIGKILL"
    assert found["raised in"] == "mem_cache/memory_pool.py:749 _get_value_buffer"
    assert found["called by"] == "layers/attention/triton_backend.py:102 __init__"
    assert found["evidence"].split(" | ")[1] == "14:45:49 PP5~IndexError: list index out of range"
    assert found["read on"] == "journalctl -u sglang-pp8.service --since=@1795963549"
    assert found["then"].split(" | ") == [
        "SIGQUIT from a child (a child process failed)",
        "main process got SIGKILL (the engine ends its own process tree)",
        "KeyError: '/mp-5r1662vy' (Python cleans up after the processes are gone)",
        "restart scheduled",
    ]
    assert found["earlier"] == "1 attempt before this one, failed in the same way"


def test_ranks_that_fell_after_it_are_folded(reports):
    """Victims are told in one line a kind, with why they fell."""
    found = sections(reports["pp8-file"]())
    assert found["failed"] == "PP6 first of 2 ranks"
    assert found["then"].startswith("PP0-PP3, PP5, PP7~RuntimeError: ")
    assert found["then"].split(" | ")[0].endswith(" (a peer closed its connection)")
    assert found["read on"] == "less +278 logs/input.log"
    assert "inferred" in found["note"]


def test_what_is_not_sure_is_said(incidents):
    """Below `certain` what could not be checked is named, and the twin where something is missing."""
    incident = incidents.pp8_file()
    found = sections(incidents.report(incident))
    assert "likely" in found and "certain" not in found
    assert found["unchecked"] == "attention_backend is not in the log"
    assert found["release"].startswith("release unknown")
    assert found["not seen"].count(" | ") == 1


def test_what_is_possible_is_no_advice(incidents):
    """The candidates are named with what is missing to tell, no cause is told and no fix offered."""
    incident = incidents.pp8_file()
    best = incident.failures[1].diagnoses[0]
    best.confidence, best.missing = "possible", ["frame triton_backend.py:__init__ (the log has no traceback)"]
    best.unconfirmed = ["pp_size not in the log (wanted: >1)", "sglang release not in the log (wanted: <0.5.18)"]
    incident.failures[1].diagnoses += [replace(best, signature=f"sglang/other-{n}", missing=[]) for n in range(5)]
    report = incidents.report(incident)
    assert report.verdicts[0].summary.endswith("raised IndexError: list index out of range, cause not certain")
    found = sections(report)
    assert found["possible"].split(" | ") == [
        "No signature is sure; possible:",
        f"sglang/pp-triton-layer0-value-buffer: {best.title}",
        "to tell: frame triton_backend.py:__init__, pp_size >1, sglang <0.5.18",
        f"sglang/other-0: {best.title}",
        "to tell: pp_size >1, sglang <0.5.18",
        f"sglang/other-1: {best.title}",
        "to tell: pp_size >1, sglang <0.5.18",
        f"sglang/other-2: {best.title}",
        "to tell: pp_size >1, sglang <0.5.18",
        "2 more. `triage explain ID` tells what it means and how to mend it.",
    ]
    assert not {"cause", "fix 1", "or", "release", "more"} & set(found)
    for kind in ("text", "markdown", "html"):
        assert "flashinfer" not in render(report, kind)
    assert "flashinfer" in render(report, "json")


def test_candidates_take_two_lines_each_on_a_screen(incidents):
    """Titles and what is missing are cut there."""
    incident = incidents.pp8_file()
    best = incident.failures[1].diagnoses[0]
    best.confidence, best.missing = "possible", ["frame mem_cache/memory_pool.py:*get_value_buffer"] * 3
    lines = render(incidents.report(incident), screen=True).split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith("  possible"))
    assert lines[start + 1].endswith("…") and lines[start + 2].endswith(" …")
    assert lines[start + 3].startswith("             `triage explain ID`")


def test_a_warnings_fixes_lead(reports):
    """The warning that explains the root gives the cause and the first fix; the root's own signature is the second."""
    found = sections(reports["because-of-a-warning"]())
    assert found["because"].startswith("Warning: Unable to resolve hostname")
    assert found["cause"].startswith("Gloo bound the loopback address")
    assert found["or"] == "gloo/full-mesh (possible): Gloo could not connect all ranks"
    assert found["fix 1"].startswith("Name the interface")
    assert found["chain"] == "in handling~KeyError: 'store'"
    assert found["called by"] == "model_executor/model_runner.py:233 init_torch_distributed"
    assert found["evidence"].startswith("18:11:40 rank0 :27~Warning")


def test_nothing_known_leads_on(reports):
    """Without a signature the next step is a command that exists."""
    found = sections(reports["unknown"]())
    assert "cause" not in found
    assert found["next"].endswith("triage journal moe.service --all-failures | triage signatures list")
    assert (
        found["earlier"]
        == "3 attempts before this one, not all failed in the same way: | TP0 raised AssertionError | killed by SIGKILL"
    )


def test_without_a_root_the_candidates_are_shown(reports):
    """The strongest candidate is first."""
    found = sections(reports["no-root"]())
    assert found["failed"].startswith("It could be one of these: | exit~sglang-quiet.service: Main process exited")


def test_a_healthy_run_says_only_what_could_change_that(incidents):
    """A healthy service is one sentence, unless something could not be read."""
    fine = incidents.healthy()
    assert build(prepared(incidents.report(fine))).blocks[0].sections == []
    fine.gaps = [Gap("suppressed", "journald dropped 4,000 lines")]
    assert sections(incidents.report(fine)) == {"not seen": "journald dropped 4,000 lines"}


def test_a_suspect_rank_is_named(incidents):
    """The silent rank stands with the failure."""
    incident = incidents.pp8()
    incident.failures.append(
        Failure("f9", "silence", "silence", "v1:9", Position(), "suspect", ranks=["PP7"], text="nothing since 14:21:00")
    )
    assert sections(incidents.report(incident))["suspect"] == "PP7: nothing since 14:21:00"


def test_fixes_that_do_not_apply_are_left_out(incidents):
    """A fix for another release is not offered while there is another one, and never hidden if it is the only one."""
    incident = incidents.pp8()
    fixes = incident.failures[1].diagnoses[0].fixes
    fixes[0].applies, fixes[0].why = "no", "fixed in your release"
    found = sections(incidents.report(incident))
    assert found["fix 1"].startswith("Start with --attention-backend=flashinfer")
    assert "fix 3" not in found
    incident.failures[1].diagnoses[0].fixes = fixes[:1]
    assert "Does not apply: fixed in your release" in sections(incidents.report(incident))["fix 1"]


def test_all_failures_say_why_they_have_their_role(reports):
    """Each failure with its role, its ranks and the failure that it follows from."""
    found = sections(reports["pp8-file"](), all_failures=True)
    assert found["f3"].startswith("consequence, PP0-PP3, PP5, PP7: RuntimeError: ")
    assert "because of f2 (IndexError: list index out of range): a peer closed its connection" in found["f3"]


def test_only_safe_names_enter_commands(incidents):
    """A unit's name that no systemd would take does not get into a command that is offered."""
    incident = incidents.unknown()
    incident.members[0].unit = "x; rm -rf ~"
    found = sections(incidents.report(incident))
    assert "read on" not in found
    assert found["next"].endswith("| triage signatures list")
    assert "rm -rf" not in found["next"]


@pytest.mark.parametrize(
    ("source", "line", "wanted"),
    [
        ("a.log", 7, "less +7 a.log"),
        ("a.log", None, "less +99P a.log"),
        ("my logs/a.log", 7, "less +7 'my logs/a.log'"),
        ("a.log.gz", 7, None),
        ("-", 7, None),
        ("", 7, None),
        ("stdin", 7, None),
    ],
)
def test_how_to_read_on(incidents, source, line, wanted):
    """A file is opened at the decisive line, or at its byte where lines were not counted."""
    root = Failure("f1", "message", "r", "v1:1", Position(source=source, offset=99, line=line), "root", text="boom")
    incident = Incident(source, outcome="failed", failures=[root])
    assert sections(incidents.report(incident)).get("read on") == wanted


def test_a_failure_may_name_a_warning_that_is_gone(incidents):
    """A reason that is not in the report is no reason to fail."""
    incident = incidents.pp8()
    incident.failures[1].because = Because("f99", "gone")
    assert "because" not in sections(incidents.report(incident))


def test_without_verdicts_every_incident_is_shown(incidents):
    """A report that nobody has judged yet still shows what it holds."""
    report = incidents.report(incidents.pp8(), incidents.healthy())
    report.verdicts = []
    assert [block.outcome for block in build(prepared(report)).blocks] == ["failed", "healthy"]


def test_earlier_incidents_have_no_block(incidents):
    """Only the diagnosed incident of a service is shown."""
    report = incidents.report(incidents.pp8(), incidents.pp8())
    del report.verdicts[0]
    assert len(build(prepared(report)).blocks) == 1


def test_the_chain_is_told_from_the_exception_that_is_shown(incidents):
    """What was printed before it and what came after it are told apart."""
    incident = incidents.gloo()
    exception = incident.failures[1].exception
    exception.chain.append(ChainLink("ValueError", "late", "context"))
    assert sections(incidents.report(incident))["chain"] == "in handling~KeyError: 'store' | then came~ValueError: late"


def test_a_restart_too_young_to_judge_is_told(incidents):
    """The diagnosed attempt is not the last one that was started."""
    incident = incidents.pp8()
    incident.attempts.restarted = 1795963553.0
    assert (
        sections(incidents.report(incident))["later"]
        == "started again at 2026-11-29 14:45:53 UTC, too short a time ago to tell"
    )


def test_the_evidence_of_a_traceback_is_its_head_and_its_exception(incidents):
    """Frames are shown as places, not as evidence; blank lines show nothing."""
    incident = incidents.pp8()
    root = incident.failures[1]
    head, last = root.evidence
    frames = [Evidence(head.at, f'  File "a.py", line {number}, in IndexError') for number in range(9)]
    root.evidence = [head, *frames, last, Evidence(head.at, " ")]
    assert [part.partition("~")[2] for part in sections(incidents.report(incident))["evidence"].split(" | ")] == [
        head.text,
        last.text,
    ]


def test_other_evidence_is_shown_from_both_ends(incidents):
    """Of many lines the first and the last ones are shown."""
    incident = incidents.host_oom()
    root = incident.failures[0]
    root.evidence = [Evidence(Position(line=number), f"line {number}") for number in range(20)]
    assert [part.rpartition(" ")[2] for part in sections(incidents.report(incident))["evidence"].split(" | ")] == [
        "0",
        "1",
        "18",
        "19",
    ]


def test_commands_read_where_the_report_was_read(incidents):
    """Of a journal in a directory the commands that are offered name the directory."""
    incident = incidents.unknown()
    incident.source = "journal /var/tmp/their journal"
    found = sections(incidents.report(incident))
    assert found["read on"] == "journalctl -D '/var/tmp/their journal' -u moe.service --since=@1783131047"
    assert "triage journal moe.service -D '/var/tmp/their journal' --all-failures" in found["next"]
    assert found["source"] == "journal /var/tmp/their journal"


def test_where_it_ran_is_told_without_an_engine(incidents):
    """A unit that never ran its program has a host all the same."""
    incident = incidents.unknown()
    incident.facts = {}
    found = sections(incidents.report(incident))
    assert found["where"] == "on gpu7"
    assert "service" not in found


def test_a_healthy_service_is_not_doubted_for_want_of_kernel_lines(incidents):
    """What could not hide a failure of a service that served is not worth a line."""
    fine = incidents.healthy()
    fine.gaps = [Gap("no-kernel", "no kernel lines"), Gap("clock", "clocks differ")]
    assert sections(incidents.report(fine)) == {}
