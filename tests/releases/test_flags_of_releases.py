"""Launch flags and pins of releases."""

import pytest

from triage.releases.collect.arguments import options
from triage.releases.flags import flag_in, flag_range, releases_with


@pytest.mark.parametrize(
    ("release", "flag", "exists", "spelling"),
    [
        ("0.4.0", "--tp-size", True, "--tp-size"),
        ("0.4.0", "--tensor-parallel-size", True, "--tensor-parallel-size"),
        ("0.4.0", "--tp", True, "--tp"),
        ("0.4.0", "--depth", False, "--old-name"),
        ("0.4.1", "--old-name", True, ""),
        ("0.4.1", "--depth", False, ""),
        ("0.4.1.post1", "--old-name", False, "--depth"),
        ("0.4.1.post1", "--depth", True, "--depth"),
        ("0.4.0", "--nothing", False, ""),
        ("0.4.0", "--", False, ""),
        ("9.9", "--tp-size", None, "--tp-size"),
    ],
)
def test_spelling_in_a_release(made, release, flag, exists, spelling):
    """As it is, by abbreviation, by another name of the same value; one that only stops the launch is none."""
    reading = flag_in(release, flag, made)
    assert (reading.exists, reading.spelling) == (exists, spelling)


def test_refused_flag(made):
    """It is there, and using it is an error."""
    assert flag_in("0.4.1", "--old-name", made).refused


def test_values(made):
    """Where the release lists what it takes."""
    backend = flag_in("0.4.0", "--attention-backend", made)
    assert (backend.accepts("fa3"), backend.accepts("new"), backend.accepts("triton")) == (True, False, True)
    assert flag_in("0.4.1.post1", "--attention-backend", made).accepts("new")
    assert flag_in("0.4.0", "--tp-size", made).accepts("anything")


def test_ranges(made):
    """From the first release to the one before the first without it."""
    assert flag_range("--tp-size", made) == "of every release"
    assert flag_range("--depth", made) == ">=0.4.1.post1"
    assert flag_range("--old-name", made) == "<0.4.1.post1"
    assert flag_range("--nothing", made) == ""
    assert releases_with("--old-name", made) == ["0.4.0", "0.4.1"]


FIELDS = """
BACKENDS = ["a"] + ["b"]

class ServerArgs:
    model_path: A[str, Arg(help="Path.", aliases=["--model"])]
    host: A[str, "The host."] = "127.0.0.1"
    depth: Annotated[Optional[int], Arg(help="x", cli_name="--max-depth")] = None
    eager: A[bool, "Whether."] = False
    kind: A[Literal["x", "y"], Arg(help="h")] = "x"
    sizes: A[Optional[List[int]], "Sizes."] = None
    backend: A["str | None", Arg(help="h", choices=BACKENDS)] = None
    quiet: A[bool, Arg(help="h", action=argparse.BooleanOptionalAction)] = True
    hidden: A[str, Arg(help="h", no_cli=True)] = ""
    plain: int = 3
    marked: A[int, NS("x")] = 3
    text: "A[float, 'in quotes']" = 0.5
"""


def test_flags_from_annotated_fields():
    """As later releases declare most of them."""
    found = {one.dest: one for one in options({"sglang/srt/arg_groups/fields/model.py": FIELDS.encode()})}
    assert sorted(found) == ["backend", "depth", "eager", "host", "kind", "model_path", "quiet", "sizes", "text"]
    assert found["model_path"].names == ["--model-path", "--model"]
    assert (found["depth"].names, found["depth"].type) == (["--max-depth"], "int")
    assert found["eager"].type == "bool"
    assert found["kind"].choices == ["x", "y"]
    assert (found["sizes"].type, found["sizes"].nargs) == ("int", "+")
    assert (found["backend"].type, found["backend"].choices) == ("str", ["a", "b"])
    assert found["quiet"].names == ["--quiet", "--no-quiet"]
    assert found["text"].type == "float"


CALLS = """
class DeprecatedStoreTrueAction(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        print("deprecated")

def add(parser):
    parser.add_argument("--old", action=DeprecatedStoreTrueAction, new_flag="--new=1")
    parser.add_argument("--gone", action=DeprecatedAction, error_message="Use --new.")
    parser.add_argument("--lists", type=json.loads, nargs="*", choices=computed())
    parser.add_argument(f"--{name}")
    parser.add_argument("positional")
    parser.add_argument("--on", action="store_true")
    parser.add_argument("-s", "--short", type=int)
"""


def test_flags_from_calls():
    """Deprecated and refused ones are told apart, and what is not literal is left out."""
    found = {one.names[-1]: one for one in options({"sglang/srt/server_args.py": CALLS.encode()})}
    assert sorted(found) == ["--gone", "--lists", "--old", "--on", "--short"]
    assert (found["--old"].state, found["--old"].instead, found["--old"].type) == ("deprecated", "--new=1", "bool")
    assert found["--gone"].state == "refused"
    assert (found["--lists"].type, found["--lists"].nargs, found["--lists"].choices) == ("loads", "*", None)
    assert found["--on"].type == "bool"
    assert found["--short"].dest == "short"


def test_other_files_say_nothing():
    """Flags of benchmarks and of other servers of the package are none of the server's."""
    assert options({"sglang/bench_serving.py": CALLS.encode()}) == []
