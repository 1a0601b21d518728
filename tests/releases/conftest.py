"""A small table, read from packages that are written here: three releases of a server with one function that moves."""

import zipfile

import pytest

from triage.model import Frame
from triage.releases.collect import wheels, write
from triage.releases.table import Table

ARGS = """
CHOICES = ["triton", "fa3"]

class Gone(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        raise ValueError(self.help)

class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--tensor-parallel-size", "--tp-size", type=int, default=1)
        parser.add_argument("--attention-backend", type=str, choices=CHOICES{more})
        {flags}

    @classmethod
    def from_cli_args(cls, args):
        args.tp_size = args.tensor_parallel_size
"""

# A function of some length, so that a line of it says something.
PAD = '        """' + "...\n        " * 20 + '"""\n'
LOOP = """\
from sglang.srt.pool import Pool


class Scheduler:
    def __init__(self, size):
{pad}{filler}        self.pool = Pool(size)
        self.limit = 7

    def loop(self):
{pad}        while True:
            self.{step}(
                self.limit,
            )

    def step(self, limit):
{pad}        return self.pool.take(limit)

    def advance(self, limit):
{pad}        return self.pool.take(int(limit))


def run(size):
    if size:
{pad}        scheduler = Scheduler(size)
        scheduler.loop()
"""
POOL = f"""\
class Pool:
    def __init__(self, size):
{PAD}        self.rows = [0] * size

    def take(self, limit):
{PAD}        return self.rows[limit]
"""
RELEASES = {
    "0.4.0": (LOOP.format(pad=PAD, filler="", step="step"), ARGS.format(more="", flags='parser.add_argument("--old-name", dest="depth", type=int)')),
    "0.4.1": (LOOP.format(pad=PAD, filler="        size = int(size)\n" * 4, step="step"), ARGS.format(more="", flags='parser.add_argument("--old-name", action=Gone, help="gone")')),
    "0.4.1.post1": (LOOP.format(pad=PAD, filler="        size = int(size)\n" * 4, step="advance"), ARGS.format(more=' + ["new"]', flags='parser.add_argument("--depth", type=int)')),
}  # fmt: skip


def wheel(folder, release, files, requires=()):
    """Write a package that pip could bring."""
    path = folder / f"sglang-{release}-py3-none-any.whl"
    metadata = "".join(f"Requires-Dist: {one}\n" for one in requires)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"sglang-{release}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: sglang\n{metadata}")
    return path


def line(release, text):
    """The number of the line of a release's files that holds a text."""
    for source in (RELEASES[release][0], POOL):
        for number, one in enumerate(source.splitlines(), 1):
            if text in one:
                return number
    raise AssertionError(text)


@pytest.fixture
def stack():
    """A function that makes the frames of a release: `file text function` each, with the line that holds the text."""

    def make(release, *frames, home="/opt/venv/lib/python3.12/site-packages/sglang/srt"):
        parts = [frame.split(" | ") for frame in frames]
        return [
            Frame(f"{home}/{file}", int(text) if text.isdigit() else line(release, text), function)
            for file, text, function in parts
        ]

    return make


@pytest.fixture
def package(tmp_path):
    """A function that writes one of the releases."""

    def write_one(release):
        loop, args = RELEASES[release]
        files = {
            "sglang/srt/loop.py": loop,
            "sglang/srt/pool.py": POOL,
            "sglang/srt/server_args.py": args,
            "sglang/test/x.py": "1",
        }
        return wheel(tmp_path, release, files, [f"torch=={release[2]}.1", 'vllm==9; extra == "other"'])

    return write_one


@pytest.fixture
def made(tmp_path, package):
    """The table of all of them."""
    path = tmp_path / "some.releases"
    for release in RELEASES:
        write.add(path, wheels.read(package(release), release))
    return Table(path)
