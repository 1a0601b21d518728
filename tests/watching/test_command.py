"""A command that triage runs, beside the same command without it."""

import os
import signal
import subprocess
import sys

import pytest

from triage.watching.command import Command, CommandError

TRIAGE = [sys.executable, "-m", "triage"]
BOTH = "import sys,os; os.write(1,b'out\\x00\\xff\\n'); os.write(2,b'err\\r50%\\r'); sys.exit(3)"


def run(*words, **options):
    return subprocess.run([*TRIAGE, "run", *words], capture_output=True, timeout=60, check=False, **options)


def python(code):
    return ["--", sys.executable, "-c", code]


def test_output_goes_where_it_would_go_unchanged():
    """Bytes stay as they are, standard output and standard error apart; what triage says comes after them."""
    done = run(*python(BOTH))
    assert done.stdout == b"out\x00\xff\n"
    assert done.stderr.startswith(b"err\r50%\r")


def test_nothing_is_said_of_a_command_that_ended_well():
    """Not a byte more than without triage."""
    done = run(*python("print('up')"))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"up\n", b"")


@pytest.mark.parametrize("code", [1, 2, 77, 255])
def test_the_exit_status_is_the_commands(code):
    """Whatever it is."""
    assert run(*python(f"raise SystemExit({code})")).returncode == code


def test_a_signal_gives_128_and_its_number():
    """As a shell says it."""
    assert run(*python("import os; os.kill(os.getpid(), 9)")).returncode == 137


def test_triage_status_is_asked_for():
    """1 or 3 for a failure, though the command says 77; 0 for one that ended well."""
    assert run("--triage-status", *python("raise SystemExit(77)")).returncode in (1, 3)
    assert run("--triage-status", *python("pass")).returncode == 0


@pytest.mark.parametrize(("word", "status"), [("/nowhere/x", 127), ("/etc/passwd", 126)])
def test_a_command_that_cannot_be_run(word, status):
    """One line, and the status that a shell gives."""
    done = run("--", word)
    assert done.returncode == status
    assert done.stderr.count(b"\n") == 1


def test_no_command_is_bad_usage():
    """Status 2 and one line."""
    assert run().returncode == 2
    assert run("--").returncode == 2


def test_options_of_the_command_are_its_own():
    """Whatever looks like an option of triage behind the command's name is not."""
    done = run("--", sys.executable, "-c", "import sys; print(sys.argv[1:])", "--save", "x", "--", "--health")
    assert done.stdout == b"['--save', 'x', '--', '--health']\n"


def test_an_exception_is_diagnosed_behind_the_output():
    """The traceback is passed on and named as the root."""
    done = run(*python("def load():\n raise KeyError('lm_head.weight')\nload()"))
    assert done.stderr.index(b"Traceback") < done.stderr.rindex(b"KeyError: 'lm_head.weight'")
    assert b"the command failed: KeyError" in done.stderr


def test_standard_input_is_the_commands():
    """What is piped in reaches it."""
    done = run(*python("print(input()[::-1])"), input=b"abc\n")
    assert done.stdout == b"cba\n"


def test_save_keeps_all_that_was_printed(tmp_path):
    """Both streams, every byte, also of a command that ended well."""
    done = run("--save", str(tmp_path / "x.log"), *python("import os; os.write(1, b'a\\n'); os.write(2, b'b\\xff')"))
    assert done.returncode == 0
    assert sorted((tmp_path / "x.log").read_bytes()) == sorted(b"a\nb\xff")


def test_a_file_that_cannot_be_written_is_refused_before_the_command_runs(tmp_path):
    """Status 2, and nothing ran."""
    done = run("--save", str(tmp_path / "no/x.log"), *python("print('ran')"))
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_is_passed_on(number):
    """The command's own handler gets it; what it does then is no failure."""
    code = (
        f"import signal,sys,time; signal.signal({int(number)}, lambda *_: (print('got', flush=True), sys.exit(0)));"
        "print('ready', flush=True)\nwhile True: time.sleep(0.05)"
    )
    running = subprocess.Popen([*TRIAGE, "run", *python(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout.readline() == b"ready\n"
    running.send_signal(number)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (0, b"got\n", b"")


def test_a_command_that_is_told_to_end_has_not_failed():
    """Ended by SIGTERM: its status, and no diagnosis."""
    code = "import time; print('ready', flush=True); time.sleep(60)"
    running = subprocess.Popen([*TRIAGE, "run", *python(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout.readline() == b"ready\n"
    running.terminate()
    _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (128 + signal.SIGTERM, b"")


def test_a_reader_that_goes_away_ends_the_command_as_without_triage():
    """SIGPIPE reaches who prints, and that is no failure."""
    running = subprocess.Popen([*TRIAGE, "run", "--", "yes"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout.readline() == b"y\n"
    running.stdout.close()
    assert (running.wait(60), running.stderr.read()) == (128 + signal.SIGPIPE, b"")
    running.stderr.close()


def test_a_child_that_goes_on_does_not_hold_the_command():
    """The command has ended: its daemon keeps the output open, and is not waited for."""
    code = "import subprocess; print(subprocess.Popen(['sleep', '600']).pid)"
    done = run("--save", "/dev/null", *python(code))
    os.kill(int(done.stdout), signal.SIGKILL)
    assert done.returncode == 0


def test_a_child_that_prints_for_ever_does_not_hold_the_command(tmp_path):
    """It is cut off a while after the command has ended, and goes on behind it."""
    last = tmp_path / "last"
    loop = f"for i in $(seq 400); do echo x; sleep 0.05; done; touch {last}"
    code = f"import subprocess; subprocess.Popen(['sh', '-c', {loop!r}]); raise SystemExit(4)"
    assert run(*python(code)).returncode == 4
    assert not last.exists()


def test_its_own_signals_are_not_blocked():
    """The command gets the signal mask that triage had."""
    code = "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    assert run(*python(code)).stdout == b"set()\n"


def test_the_signal_mask_is_put_back():
    """Whoever uses the class goes on as before."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    ended = Command(["true"], lambda _: None).run()
    assert (ended.status, signal.pthread_sigmask(signal.SIG_BLOCK, [])) == (0, before)
    with pytest.raises(CommandError):
        Command(["/nowhere/x"], lambda _: None).run()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


def test_a_health_endpoint_is_told_of_once(endpoint):
    """When it answers for the first time."""
    endpoint.answer = (200, b"")
    done = run("--health", f"{endpoint.url}/health", *python("import time; time.sleep(1)"))
    assert done.stderr.count(b"answers after") == 1


def test_a_health_endpoint_that_never_answered_is_told_of_with_the_failure():
    """Beside the diagnosis."""
    url = "http://127.0.0.1:1/health?api_key=abcdef123456"
    done = run("--health", url, *python("import time; time.sleep(1); raise SystemExit(1)"))
    assert b"abcdef123456" not in done.stderr
    assert b"never answered: connection refused" in done.stderr


def test_the_diagnosis_is_for_programs_too():
    """JSON behind the output, on standard error or in a file."""
    import json

    done = run("--format", "jsonl", *python("raise SystemExit(4)"))
    assert json.loads(done.stderr)["incidents"][0]["exit"]["code"] == 4


# In a terminal


def test_a_terminal_stays_one(terminal):
    """Both streams are a terminal of the same size; the bytes are those that were written, but for the line ends."""
    code = "import os,sys; print(sys.stdout.isatty(), sys.stderr.isatty(), *os.get_terminal_size(2)); print('50%\\r', end='')"
    text, status = terminal(*TRIAGE, "run", *python(code), rows=33, columns=111).end()
    assert status == 0
    assert text == b"True True 111 33\r\n50%\r"


def test_a_new_size_reaches_the_command(terminal):
    """A window that is dragged."""
    code = (
        "import os,select,signal\n"
        "signal.signal(signal.SIGWINCH, lambda *_: print('now', *os.get_terminal_size(1), flush=True))\n"
        # A signal just before a call that waits is handled when that call ends.
        "print('ready', flush=True)\nwhile not select.select([0], [], [], 0.05)[0]: pass\n"
    )
    there = terminal(*TRIAGE, "run", *python(code))
    there.wait_for(b"ready")
    there.resize(40, 123)
    there.wait_for(b"now 123 40")
    there.type(b"\n")
    assert there.end()[1] == 0


def test_ctrl_c_reaches_the_command_once(terminal):
    """From the keyboard it comes to the whole process group: triage must not send it a second time."""
    code = (
        "import signal,time\ncount = 0\n"
        "def got(*_):\n global count; count += 1; print('interrupt', count, flush=True)\n"
        "signal.signal(signal.SIGINT, got); print('ready', flush=True)\n"
        "end = time.monotonic() + 1.5\nwhile time.monotonic() < end: time.sleep(0.1)\n"
        "print('count', count); raise SystemExit(130)"
    )
    there = terminal(*TRIAGE, "run", *python(code))
    there.wait_for(b"ready")
    there.type(b"\x03")
    text, status = there.end()
    assert b"count 1\r\n" in text
    assert status == 130
    assert b"failed" not in text


def test_only_standard_error_is_a_terminal(terminal):
    """A progress bar lives on standard error while the output goes into a pipe."""
    code = "import sys; print(sys.stdout.isatty(), sys.stderr.isatty())"
    words = " ".join(f"'{word}'" for word in [*TRIAGE, "run", *python(code)])
    text, _ = terminal("sh", "-c", f"{words} | cat").end()
    assert text == b"False True\r\n"
