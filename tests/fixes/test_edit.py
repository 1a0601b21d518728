"""What an edit meets in an installation, and the change that it makes."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from triage.fixes.edit import check, diff, plan_edits

FILE = "engine/layers/attention.py"
CODE = "class Backend:\n    def __init__(self, pool):\n        self.dim = pool.buffer(0).shape[-1]\n"
OLD, NEW = "pool.buffer(0)", "pool.buffer(pool.start)"


@pytest.fixture
def edit(make_edit):
    return make_edit(replace=OLD, replacement=NEW)


def test_an_edit_applies_to_known_code(site, make_edit):
    """The expression stands once in the function: the change is made there and nowhere else."""
    path = site.install()
    result = check(make_edit(), site.folder)
    assert (result.outcome, result.count, result.line, result.release) == ("applies", 1, 9, "1.5")
    assert result.spans == [(6, 9)]
    assert result.path == path
    assert result.why == "line 9, in Backend.__init__ (lines 6-9)"
    assert result.after == path.read_bytes().replace(
        b"dim = runner.pool.buffer(0)", b'dim = runner.pool.buffer(getattr(runner.pool, "start_layer", 0))'
    )


def test_the_new_code_is_already_there(site, edit):
    """A patched file is already fixed."""
    site.install(CODE.replace(OLD, NEW))
    assert check(edit, site.folder).outcome == "already-fixed"


def test_a_fix_of_another_shape_is_known_by_fixed_when(site, make_edit):
    """Where the expression is gone and the engine's own fix stands, there is nothing to do."""
    site.install(CODE.replace("0", "self.first"))
    fixed = make_edit(replace=OLD, replacement=NEW, fixed_when="pool.buffer(self.first)")
    assert check(fixed, site.folder).outcome == "already-fixed"
    other = make_edit(replace=OLD, replacement=NEW, fixed_when="pool.buffer(self.last)")
    assert check(other, site.folder).outcome == "other-code"


def test_fixed_when_says_nothing_while_the_defect_stands(site, make_edit):
    """An expression that is still there has to be replaced."""
    site.install(CODE + "        pool.buffer(self.first)\n")
    fixed = make_edit(replace=OLD, replacement=NEW, fixed_when="pool.buffer(self.first)")
    assert check(fixed, site.folder).outcome == "applies"


def test_a_short_replacement_proves_nothing(site, make_edit):
    """`self.dim` stands in many functions; finding it is no fix."""
    site.install("class Backend:\n    def __init__(self, pool):\n        return self.dim\n")
    assert check(make_edit(replace=OLD, replacement="self.dim"), site.folder).outcome == "other-code"


def test_a_replacement_that_contains_the_old_code_is_applied_once(site, make_edit):
    """f(x) -> g(f(x)): after it, the old code inside the new does not count."""
    site.install(CODE)
    edit = make_edit(replace=OLD, replacement=f"wrap({OLD}, default=None)")
    after = check(edit, site.folder).after
    site.install(after)
    assert check(edit, site.folder).outcome == "already-fixed"


def test_a_replacement_that_stands_in_the_old_code_is_applied_once(site, make_edit):
    """`from copy import copy` -> `import copy`, at the top of the module."""
    site.install("from copy import copy\nx = copy.deepcopy(1)\n")
    edit = make_edit(
        function="<module>", replace="from copy import copy", replacement="import copy", fixed_when="import copy"
    )
    result = check(edit, site.folder)
    assert result.outcome == "applies"
    assert result.after == b"import copy\nx = copy.deepcopy(1)\n"
    site.install(result.after)
    assert check(edit, site.folder).outcome == "already-fixed"


def test_an_expression_that_stands_twice_is_not_unique(site, edit):
    """Which one is meant cannot be known."""
    site.install(CODE + "        self.other = pool.buffer(0)\n")
    result = check(edit, site.folder)
    assert (result.outcome, result.count) == ("not-unique", 2)
    assert "2 times" in result.why
    assert "lines 3, 4" in result.why


def test_two_definitions_are_searched_together(site, edit):
    """A class that is defined in both branches counts as one function."""
    code = "if x:\n    class Backend:\n        def __init__(self): pass\nelse:\n" + "".join(
        f"    {line}\n" for line in CODE.splitlines()
    )
    site.install(code)
    result = check(edit, site.folder)
    assert (result.outcome, result.spans) == ("applies", [(3, 3), (6, 7)])
    site.install(code.replace("pass", "pool.buffer(0)"))
    assert check(edit, site.folder).outcome == "not-unique"


def test_other_code_names_what_is_near(site, edit):
    """The reason says which expression comes closest, and where."""
    site.install(CODE.replace("buffer(0)", "buffer(0, 1)"))
    result = check(edit, site.folder)
    assert (result.outcome, result.near) == ("other-code", (3, "pool.buffer(0, 1)"))
    assert "line 3: pool.buffer(0, 1)" in result.why


def test_a_missing_function_names_what_is_near(site, make_edit):
    """A renamed class is named."""
    site.install(CODE.replace("class Backend", "class Backends"))
    result = check(make_edit(), site.folder)
    assert (result.outcome, result.why) == (
        "other-code",
        "there is no function Backend.__init__; nearest is Backends.__init__",
    )


def test_code_in_a_larger_expression_is_other_code(site, make_edit):
    """A replacement that would change the meaning of what is around it does not apply."""
    site.install("class Backend:\n    def __init__(self, a, b, c):\n        return a + b * c\n")
    result = check(make_edit(replace="a + b", replacement="max(a, b)"), site.folder)
    assert result.outcome == "other-code"
    assert "larger expression" in result.why
    assert result.after is None


def test_a_missing_file_is_said(site, edit):
    """The package is there, the file is not."""
    site.install(file="engine/other.py")
    result = check(edit, site.folder)
    assert (result.outcome, result.release) == ("no-file", "1.5")


@pytest.mark.parametrize("code", [b"class Backend(:\n", b"\xff\xfe", b"class Backend: pass\0"])
def test_a_file_that_is_no_python_is_unreadable(site, edit, code):
    """What this Python cannot parse is not touched."""
    site.install(code)
    assert check(edit, site.folder).outcome == "unreadable"


def test_other_releases_are_let_be(site, make_edit):
    """The same code in a release that the edit is not for is harmless there."""
    site.install()
    edit = make_edit(releases={"engine": (">=1.6,<2",)})
    result = check(edit, site.folder)
    assert result.outcome == "other-release"
    assert result.why == "the edit is for engine >=1.6,<2; installed is 1.5"
    assert result.after is None
    assert check(make_edit(releases={"engine": ("<1", ">=1.5,<1.6")}), site.folder).outcome == "applies"


def test_a_fixed_release_is_said_to_be_fixed(site, make_edit):
    """The code says so, whatever the range."""
    site.install(CODE.replace(OLD, NEW), version="2.1")
    edit = make_edit(replace=OLD, replacement=NEW, releases={"engine": ("<2",)})
    assert check(edit, site.folder).outcome == "already-fixed"


@pytest.mark.parametrize("version", [None, "1.7.dev3+g1a2b3c4"])
def test_the_code_decides_where_the_release_is_unknown(site, make_edit, version):
    """Without metadata, or with a build near the boundary, the code at hand decides, and that is said."""
    site.install(version=version)
    result = check(make_edit(releases={"engine": (">=1.6,<2",)}), site.folder)
    assert result.outcome == "applies"
    assert "the code at hand decides" in result.why


def test_edits_of_the_same_releases_belong_together(site, make_edit):
    """Two edits of one file are one change; if one of them does not apply, neither is made."""
    site.install(
        "class Backend:\n    def __init__(self, a):\n        self.x = a.dim == 7\n        self.y = f(1, a.dim)\n"
    )
    releases = {"engine": ("<2",)}
    first = make_edit(replace="a.dim == 7", replacement="a.size == 7", releases=releases)
    second = make_edit(replace="1, a.dim", replacement="1, a.size", releases=releases)
    both = plan_edits([first, second], site.folder)
    assert both.ok
    assert [change.after.count(b"a.size") for change in both.changes] == [2]
    third = make_edit(replace="2, a.dim", replacement="2, a.size", releases=releases)
    broken = plan_edits([first, third], site.folder)
    assert not broken.ok
    assert broken.changes == []


@pytest.mark.parametrize(("version", "changed"), [("1.5", b"first"), ("2.5", b"second"), (None, b"second")])
def test_edits_of_other_releases_are_alternatives(site, make_edit, version, changed):
    """The one whose release or, if that is unknown, whose code is at hand is taken."""
    site.install(CODE if version != "2.5" and version else CODE.replace("0", "layer"), version=version)
    first = make_edit(replace=OLD, replacement="pool.buffer(first)", releases={"engine": ("<2",)})
    second = make_edit(replace="pool.buffer(layer)", replacement="pool.buffer(second)", releases={"engine": (">=2",)})
    plan = plan_edits([first, second], site.folder)
    assert plan.ok
    assert changed in plan.changes[0].after


def test_an_edit_that_is_due_and_does_not_apply_stops_the_others(site, make_edit):
    """Nothing is half done."""
    site.install()
    fits = make_edit(releases={"engine": ("<3",)})
    due = make_edit(replace="nothing(1)", releases={"engine": ("<2",)})
    plan = plan_edits([fits, due], site.folder)
    assert not plan.ok
    assert plan.changes == []


def test_a_plan_for_fixed_code_has_nothing_to_change(site, edit):
    """It is fine as it is."""
    site.install(CODE.replace(OLD, NEW))
    plan = plan_edits([edit], site.folder)
    assert plan.ok
    assert plan.changes == []


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"file": "/etc/passwd.py"}, "file"),
        ({"file": "engine/../../x.py"}, "file"),
        ({"file": "engine\\x.py"}, "file"),
        ({"file": "x.py"}, "file"),
        ({"file": "engine/x.so"}, "file"),
        ({"file": "engine/x.py\n"}, "file"),
        ({"function": "a b"}, "function"),
        ({"function": "a..b"}, "function"),
        ({"function": ""}, "function"),
        ({"replace": "a b"}, "replace"),
        ({"replace": ""}, "replace"),
        ({"replacement": "a\nb"}, "with"),
        ({"replacement": "runner . pool.buffer( 0 )"}, "with"),
        ({"fixed_when": "("}, "fixed_when"),
    ],
)
def test_an_edit_that_can_apply_to_nothing_is_refused(make_edit, keys, message):
    """What is wrong is named by its key."""
    with pytest.raises(ValueError, match=f"^{message}:"):
        make_edit(**keys)


def test_the_diff_is_made_against_the_installed_file(site, make_edit):
    """It is unified, names the file below the package's parent, and has three lines of context."""
    site.install()
    change = plan_edits([make_edit()], site.folder).changes[0]
    lines = diff(change).splitlines()
    assert lines[:3] == ["--- a/engine/layers/attention.py", "+++ b/engine/layers/attention.py", "@@ -6,7 +6,7 @@"]
    assert lines[6] == "-        self.head_dim = runner.pool.buffer(0).shape[-1]"
    assert lines[7] == '+        self.head_dim = runner.pool.buffer(getattr(runner.pool, "start_layer", 0)).shape[-1]'
    assert diff(change, reverse=True).splitlines()[6][0] == "-"
    assert len(lines) == 11


@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the diff")
@pytest.mark.parametrize("code", [CODE, CODE.rstrip("\n"), CODE.replace("\n", "\r\n"), "x = '\x0c\x1c\u2028'\n" + CODE])
def test_the_diff_can_be_applied_by_others(site, edit, tmp_path, code):
    """`git apply` makes the same file of it, whatever the line ends."""
    path = site.install(code)
    change = plan_edits([edit], site.folder).changes[0]
    (tmp_path / "fix.diff").write_bytes(diff(change).encode())
    subprocess.run(
        ["git", "apply", str(tmp_path / "fix.diff")],
        cwd=site.folder,
        check=True,
        env={"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(tmp_path)},
    )
    assert path.read_bytes() == change.after
