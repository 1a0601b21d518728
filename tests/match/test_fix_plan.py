"""Fixes as they apply here."""

import pytest

from triage.match import diagnose
from triage.model import Member


def fixes(library, incident, failure, *specs: str, unit=None, more: str = "", **facts):
    """The planned fixes of a signature with these."""
    known = library(a=f"match: {{exception: E}}\n{more}\nfixes:\n" + "\n".join(f"  - {{{spec}}}" for spec in specs))
    run = incident(failure, **facts)
    run.members = [Member(unit=unit)]
    diagnose(run, known)
    return failure.diagnoses[0].fixes


EDIT = 'kind: edit, title: "Patch it", file: sglang/srt/a.py, function: A.b, replace: "x(0)", with: "x(1)"'


def test_edit_is_a_command_of_triage(library, incident, fail):
    """On the unit's own interpreter, where the unit is known."""
    (fix,) = fixes(library, incident, fail("E", "x"), EDIT)
    assert fix.command is None
    assert "`triage patch lab/a --check --target DIR`" in fix.detail
    assert fix.detail.startswith("In sglang/srt/a.py, A.b: replace `x(0)` by `x(1)`. ")
    (fix,) = fixes(library, incident, fail("E", "x"), EDIT, unit="sglang@0.service")
    assert fix.command == ["triage", "patch", "lab/a", "--apply", "--unit", "sglang@0.service"]


@pytest.mark.parametrize("unit", ["--user", "a b.service", "x;rm.service", "$(x).service", "noend", "-x.service"])
def test_what_is_no_units_name_enters_no_command(library, incident, fail, unit):
    """Even where a log claims so."""
    (fix,) = fixes(library, incident, fail("E", "x"), EDIT, unit=unit)
    assert fix.command is None
    assert "--target DIR" in fix.detail
    assert unit not in fix.detail


@pytest.mark.parametrize(
    ("spec", "facts", "title", "detail"),
    [
        ('set: "--attention-backend=fa3"', {}, "Set --attention-backend=fa3", "In the launch command add --attention-backend fa3."),
        ('set: "--attention-backend=fa3"', {"attention_backend": "triton"}, None, "In the launch command set --attention-backend to fa3 (now triton)."),
        ('set: "--disable-cuda-graph"', {}, "Set --disable-cuda-graph", "In the launch command add --disable-cuda-graph."),
        ('remove: "--enable-torch-compile"', {"enable_torch_compile": True}, None, "In the launch command leave out --enable-torch-compile (now true)."),
        ('lower: "--mem-fraction-static"', {"mem_fraction_static": 0.9}, None, "In the launch command lower --mem-fraction-static (now 0.9), for instance to 0.85."),
        ('raise: "--mem-fraction-static"', {"mem_fraction_static": 0.8}, None, "In the launch command raise --mem-fraction-static (now 0.8), for instance to 0.85."),
        ('lower: "--max-running-requests"', {"max_running_requests": 256}, None, "In the launch command lower --max-running-requests (now 256), for instance to 128."),
        ('raise: "--tp"', {"tp_size": 4}, None, "In the launch command raise --tp (now 4), for instance to 8."),
        ('lower: "--mem-fraction-static"', {}, None, "In the launch command lower --mem-fraction-static."),
        ('lower: "--mem-fraction-static=0.8"', {"mem_fraction_static": 0.9}, None, "In the launch command lower --mem-fraction-static (now 0.9) to 0.8."),
        ('lower: "--cuda-graph-max-bs"', {"sglang": "0.5.23"}, "Lower --cuda-graph-max-bs-decode", None),
        ('lower: "--cuda-graph-max-bs"', {"sglang": "0.5.6.post2"}, "Lower --cuda-graph-max-bs", None),
        ('lower: "--cuda-graph-max-bs"', {}, None, "In the launch command lower --cuda-graph-max-bs (--cuda-graph-max-bs-decode for sglang >=0.5.14)."),
        ('set: "--disable-piecewise-cuda-graph"', {"sglang": "0.5.20"}, "Set --cuda-graph-backend-prefill=disabled", None),
        ('set: "--attention-backend=fa3"', {"attention_backend": "x; rm -rf /"}, None, "In the launch command add --attention-backend fa3."),
    ],
)  # fmt: skip
def test_flag(library, incident, fail, spec, facts, title, detail):
    """With the value it has now, and as the release spells it."""
    (fix,) = fixes(library, incident, fail("E", "x"), f"kind: flag, {spec}", **facts)
    assert fix.command is None
    assert fix.applies == "yes"
    assert title is None or fix.title == title
    assert detail is None or fix.detail == detail


@pytest.mark.parametrize(
    ("spec", "facts"),
    [
        ('set: "--attention-backend=fa3"', {"attention_backend": "fa3"}),
        ('set: "--disable-cuda-graph"', {"disable_cuda_graph": True}),
        ('remove: "--enable-torch-compile"', {"enable_torch_compile": False}),
        ('lower: "--mem-fraction-static=0.8"', {"mem_fraction_static": 0.7}),
        ('raise: "--watchdog-timeout=600"', {"watchdog_timeout": 900}),
    ],
)
def test_flag_that_is_already_so_does_not_apply(library, incident, fail, spec, facts):
    """And says why."""
    (fix,) = fixes(library, incident, fail("E", "x"), f"kind: flag, {spec}", **facts)
    assert fix.applies == "no"
    assert fix.why


def test_own_conditions_decide(library, incident, fail):
    """What does not apply is shown last, with the reason; the order is kept otherwise."""
    found = fixes(
        library, incident, fail("E", "x"),
        'kind: ask, title: "one", when: {pp_size: ">1"}',
        'kind: ask, title: "two", when: {tp_size: ">1"}',
        'kind: ask, title: "three", releases: {sglang: "<0.5"}',
        'kind: ask, title: "four", releases: {torch: ">=2"}',
        'kind: ask, title: "five"',
        pp_size=1, sglang="0.5.9",
    )  # fmt: skip
    assert [(fix.title, fix.applies, fix.why) for fix in found] == [
        ("two", "unknown", "tp_size not in the log (wanted: >1)"),
        ("four", "unknown", "for torch >=2; `pip show torch` tells which one runs"),
        ("five", "yes", ""),
        ("one", "no", "applies if pp_size were >1; this log shows 1"),
        ("three", "no", "for sglang <0.5; this is 0.5.9"),
    ]


def test_environment(library, incident, fail):
    """In a unit a directive, else an export."""
    spec = "kind: env, set: [NCCL_DEBUG=INFO, 'A=two words']"
    (fix,) = fixes(library, incident, fail("E", "x"), spec)
    assert (fix.title, fix.detail) == (
        "Set NCCL_DEBUG=INFO and A=two words",
        "export NCCL_DEBUG=INFO; export A='two words'",
    )
    (fix,) = fixes(library, incident, fail("E", "x"), spec, unit="s.service")
    assert (
        fix.detail
        == '`systemctl edit s.service`, under [Service]: Environment=NCCL_DEBUG=INFO; Environment="A=two words"'
    )
    (fix,) = fixes(library, incident, fail("E", "x"), "kind: env, set: NCCL_DEBUG=INFO", **{"env.NCCL_DEBUG": "INFO"})
    assert fix.applies == "no"
    (fix,) = fixes(library, incident, fail("E", "x"), "kind: env, remove: HF_HUB_OFFLINE")
    assert (fix.title, fix.detail) == ("Unset HF_HUB_OFFLINE", "unset HF_HUB_OFFLINE")


def test_unit_directives(library, incident, fail):
    """Under the section they belong to."""
    (fix,) = fixes(
        library, incident, fail("E", "x"), 'kind: unit, title: "t", set: LimitMEMLOCK=infinity', unit="s.service"
    )
    assert (fix.command, fix.detail) == (
        ["systemctl", "edit", "s.service"],
        "Under [Service] of the unit: LimitMEMLOCK=infinity",
    )
    (fix,) = fixes(library, incident, fail("E", "x"), 'kind: unit, title: "t", set: After=a.service')
    assert (fix.command, fix.detail) == (None, "Under [Unit] of the unit: After=a.service")


def test_packages(library, incident, fail):
    """With the service's own interpreter where its path is a plain one."""
    (fix,) = fixes(library, incident, fail("E", "x"), 'kind: upgrade, to: {sglang: ">=0.5.18"}')
    assert (fix.title, fix.command, fix.applies) == (
        "Update to sglang>=0.5.18",
        ["pip", "install", "sglang>=0.5.18"],
        "yes",
    )
    facts = {"python": "/opt/venv/bin/python", "sglang": "0.5.6"}
    (fix,) = fixes(library, incident, fail("E", "x"), 'kind: upgrade, to: {sglang: ">=0.5.18"}', **facts)
    assert (fix.command[:3], fix.detail) == (["/opt/venv/bin/python", "-m", "pip"], "Now sglang 0.5.6.")
    (fix,) = fixes(library, incident, fail("E", "x"), 'kind: upgrade, to: {sglang: ">=0.5.18"}', sglang="0.5.19")
    assert (fix.applies, fix.why) == ("no", "sglang 0.5.19 is already there")
    (fix,) = fixes(library, incident, fail("E", "x"), "kind: install, to: {vllm: any}", python="/x; rm/python")
    assert fix.command == ["pip", "install", "vllm"]
    (fix,) = fixes(library, incident, fail("E", "x"), "kind: upgrade, to: {vllm: any}")
    assert fix.command == ["pip", "install", "--upgrade", "vllm"]


CAPTURE = 'match: {exception: E, message_re: "No module named (?P<module>.*)"}'


@pytest.mark.parametrize(
    ("module", "fits"),
    [
        ("vllm", True),
        ("a.b_c-1", True),
        ("--index-url=x", False),
        ("x; rm -rf /", False),
        ("$(id)", False),
        ("a b", False),
        ("`id`", False),
        ("a\nb", False),
    ],
)
def test_value_of_the_log_enters_a_command_only_if_it_is_plain(library, incident, fail, module, fits):
    """Else there is no command, and the text has a placeholder."""
    known = library(
        a=CAPTURE + '\nfixes: [{kind: install, title: "Install {module}", command: [pip, install, "{module}"]}]'
    )
    failure = fail("E", f"No module named {module}")
    diagnose(incident(failure), known)
    (fix,) = failure.diagnoses[0].fixes
    assert fix.command == (["pip", "install", module] if fits else None)
    assert fix.detail == "pip install " + (module if fits else "MODULE")


def test_value_of_the_log_enters_a_setting_only_if_it_is_plain(library, incident, fail):
    """A unit file is no place for a service's words."""
    known = library(a=CAPTURE + '\nfixes: [{kind: env, set: "NAME={module}"}, {kind: flag, set: "--x={module}"}]')
    failure = fail("E", 'No module named "\nExecStart=/bin/evil')
    diagnose(incident(failure), known)
    assert [fix.detail for fix in failure.diagnoses[0].fixes] == [
        "export NAME=MODULE",
        "In the launch command add --x MODULE.",
    ]


def test_prose_loses_control_characters(library, incident, fail):
    """And is cut."""
    known = library(a=CAPTURE + '\ncause: "The module {module} is missing"')
    failure = fail("E", "No module named \x1b[31mred\u202e" + "x" * 1000)
    diagnose(incident(failure), known)
    cause = failure.diagnoses[0].cause
    assert cause.startswith("The module [31mred x")
    assert len(cause) < 250


def test_words_only(library, incident, fail):
    """What a person has to do."""
    found = fixes(
        library,
        incident,
        fail("E", "x"),
        'kind: hardware, title: "Replace it", detail: "Soon.", risk: none',
        'kind: config, title: "Share", file: compose.yaml, set: "shm_size: 16g"',
    )
    assert [(fix.title, fix.detail, fix.command) for fix in found] == [
        ("Replace it", "Soon.", None),
        ("Share", "compose.yaml: shm_size: 16g.", None),
    ]
    assert found[0].risk == ["none"]
