"""docs/first-signature.md: its commands, exactly as written, one after the other, in a checkout."""

from docs_site.pages import blocks

PAGE = blocks("first-signature.md")


def test_the_tutorial_does_what_it_says(checkout):
    """Every command succeeds, and what the page shows below it is what it prints."""
    printed = ""
    for _, language, text in PAGE:
        if language == "sh":
            printed = checkout.run(text)
        else:
            assert language == "text"
            assert text in printed


def test_the_tutorial_goes_all_the_way():
    """From a log over a draft, the linter and the fixtures to the diagnosis."""
    commands = "".join(text for _, language, text in PAGE if language == "sh")
    for step in ("triage logs", "signatures new", "confuser-", "signatures check", "signatures test", "triage explain"):
        assert step in commands
