"""What `systemctl show` and `systemctl cat` print, recorded from systemd 252."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.model import TriageError
from triage.sources.systemctl import add_files, parse_show, unit_state

SHOW = """\
Type=simple
MainPID=0
Result=exit-code
NRestarts=1
ExecStart={ path=/usr/bin/python3 ; argv[]=/usr/bin/python3 -m sglang.launch_server --model-path ${MODEL} --pp-size 8 --json-model-override-args {"a": "b c"} ; ignore_errors=no ; start_time=[Sun 2026-11-29 16:28:28 UTC] ; stop_time=[Sun 2026-11-29 16:28:28 UTC] ; pid=54 ; code=exited ; status=3 }
Environment="MODEL=/models/kimi k2" CUDA_VISIBLE_DEVICES=0,1 NCCL_DEBUG=WARN
WorkingDirectory=
RootDirectory=
StandardOutput=append
StandardError=inherit
LogNamespace=gpu
User=
LoadState=loaded
ActiveState=activating
SubState=auto-restart
FragmentPath=/etc/systemd/system/sglang-k26.service
InvocationID=37a550667b374aa0be55a4aab1249267
"""

CAT = """\
# /etc/systemd/system/sglang@.service
[Unit]
Description=SGLang
[Service]
; StandardOutput=file:/commented.log
ExecStart=/bin/false
ExecStart=
ExecStart=/opt/venv/bin/python -m sglang.launch_server \\
    --model-path "/models/%i" \\
# a comment inside
    --json-model-override-args '{"a": "b c"}'
StandardOutput=file:/var/log/%p-%i.log
StandardError=file:/var/log/%n.err

# /etc/systemd/system/sglang@7.service.d/o.conf
[Service]
StandardError=append:/var/log/err-%i.log
[Install]
StandardOutput=file:/nowhere.log
"""

NOT_FOUND = "Type=\nMainPID=0\nResult=success\nLoadState=not-found\nActiveState=inactive\nSubState=dead\n"


def test_reads_what_systemctl_show_prints():
    """State, restarts, command line, environment with quotes, and where the output goes."""
    state = parse_show("sglang-k26.service", SHOW)
    assert (state.load_state, state.active_state, state.sub_state) == ("loaded", "activating", "auto-restart")
    assert (state.restarts, state.result, state.type) == (1, "exit-code", "simple")
    assert state.exec_start.startswith("/usr/bin/python3 -m sglang.launch_server --model-path ${MODEL} --pp-size 8")
    assert state.exec_start.endswith('{"a": "b c"}')
    assert state.environment == {"MODEL": "/models/kimi k2", "CUDA_VISIBLE_DEVICES": "0,1", "NCCL_DEBUG": "WARN"}
    assert (state.log_namespace, state.standard_output) == ("gpu", "append")
    assert state.invocation == "37a550667b374aa0be55a4aab1249267"


def test_a_unit_that_is_not_there_is_none():
    """systemd prints properties of units that it has never heard of."""
    assert parse_show("nope.service", NOT_FOUND) is None
    assert parse_show("nope.service", "") is None


def test_unit_files_tell_paths_and_quotes():
    """The last setting counts, drop-ins come last, an empty one resets, specifiers of the name are filled in."""
    state = parse_show("sglang@7.service", SHOW)
    add_files(state, CAT)
    assert state.output_files == ["/var/log/sglang-7.log", "/var/log/err-7.log"]
    assert state.output_file == "/var/log/sglang-7.log"
    assert state.exec_start.startswith('/opt/venv/bin/python -m sglang.launch_server  --model-path "/models/7"')
    assert state.exec_start.endswith("""--json-model-override-args '{"a": "b c"}'""")


def test_paths_that_cannot_be_known_are_left_out():
    """A specifier that only systemd can fill in, or no path at all, is no file to read."""
    state = parse_show("a.service", SHOW)
    add_files(state, "[Service]\nStandardOutput=file:%h/log\nStandardError=journal\n")
    assert state.output_files == []
    assert state.output_file is None
    assert state.exec_start.startswith("/usr/bin/python3")


def test_asks_systemctl(fake_program, tmp_path):
    """The name stands behind `--`; --user and the container are passed on."""
    asked = tmp_path / "asked"
    (tmp_path / "show").write_text(SHOW)
    (tmp_path / "cat").write_text(CAT)
    fake_program(
        "systemctl", f'echo "$@" >> {asked}; case "$*" in *" cat "*) cat {tmp_path}/cat;; *) cat {tmp_path}/show;; esac'
    )
    state = unit_state("sglang@7", user=True, machine="box")
    assert state.output_files == ["/var/log/sglang-7.log", "/var/log/err-7.log"]
    show, cat = asked.read_text().splitlines()
    assert show.startswith("--user --machine=box show --property=")
    assert show.endswith("-- sglang@7.service")
    assert cat == "--user --machine=box cat --no-pager -- sglang@7.service"


def test_no_systemd_is_no_state(fake_program, monkeypatch, tmp_path):
    """Not booted with systemd, or no systemctl at all."""
    fake_program("systemctl", "echo 'System has not been booted with systemd' >&2; exit 1")
    assert unit_state("sglang") is None
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert unit_state("sglang") is None


def test_a_name_is_never_an_option():
    """What is no unit's name is refused before anything is run."""
    with pytest.raises(TriageError, match="cannot be the name of a unit"):
        unit_state("a --help")


@given(
    st.lists(
        st.sampled_from([*SHOW.splitlines(), *CAT.splitlines(), "\\", "ExecStart={ argv[]=", 'Environment="a', "%"])
    ),
    st.text(),
)
def test_any_text_is_survived(lines, tail):
    """Cut, shuffled and broken output never raises."""
    text = "\n".join(["LoadState=loaded", *lines, tail])
    state = parse_show("a@b.service", text)
    if state is not None:
        add_files(state, text)
