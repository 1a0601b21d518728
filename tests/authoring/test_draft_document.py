"""The YAML of a draft: whatever its texts hold, it is read back as what was meant."""

from hypothesis import given, settings
from hypothesis import strategies as st

from triage.authoring.draft.document import CAUSE, asks, text_of
from triage.library.parse import parse

TEXT = st.text(min_size=1, max_size=80).filter(
    lambda text: text.strip() and not any("\ud800" <= c <= "\udfff" for c in text)
)


def record(**more):
    """A draft's record."""
    return {
        "id": "lab/some",
        "title": "Some",
        "match": {"exception": "KeyError", "message": "some text"},
        "cause": CAUSE,
        "fixes": asks("KeyError", {}, ""),
        **more,
    }


def read(text):
    """What the loader makes of it."""
    parsed, problems = parse(text.encode(), "some.yaml")
    assert [str(one) for one in problems] == []
    return parsed[0].record


@settings(deadline=None)
@given(TEXT, TEXT, TEXT)
def test_texts_are_read_as_they_were_meant(title, message, value):
    """Quotes, backslashes, `#`, control characters and all."""
    said = record(title=title, match={"message": message, "frames": ["a.py:f"]}, when={"model_path": value})
    found = read(text_of(said, "../schema.json"))
    assert found["title"] == title
    assert found["match"] == {"message": message, "frames": ["a.py:f"]}
    assert found["when"]["model_path"] == value


def test_keys_stand_in_the_usual_order():
    """As in the signatures that are there, the schema's address first."""
    said = record(engine="sglang", when={"pp_size": ">1"}, releases={"sglang": ">=0.5.6"})
    lines = text_of(said, "../schema.json", seen="sglang 0.5.6").splitlines()
    keys = [line.partition(":")[0] for line in lines if line[:1] not in (" ", "#")]
    assert lines[0] == "# yaml-language-server: $schema=../schema.json"
    assert keys == ["format", "id", "title", "engine", "match", "when", "releases", "cause", "fixes"]
    assert "# Seen with sglang 0.5.6 only: where the defect begins and ends is for you to measure." in lines


def test_fixes_ask_by_what_decides():
    """One question for each condition, then what always helps."""
    fixes = asks("KeyError", {"attention_backend": "triton", "enable_lora": True, "pp_size": ">1"}, "sglang 0.5.6")
    assert [fix["title"] for fix in fixes] == [
        "Does it go away with another --attention-backend?",
        "Does it go away without --enable-lora?",
        "Does it go away with --pp-size=1?",
        "Compare with a run that works: what differs?",
        "Look for it in the project's issues: KeyError",
    ]
    assert all(fix["kind"] == "ask" and fix["risk"] for fix in fixes)
