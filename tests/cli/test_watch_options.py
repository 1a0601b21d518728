"""What `triage watch` makes of its options before it watches."""


def test_an_empty_host_is_not_this_one(triage):
    """`-H "$NODE"` with the variable unset must not watch, or start, a unit here."""
    said = triage("watch", "-H", "", "sglang")
    assert (said.status, said.err) == (2, "triage: -H : not a host: write [USER@]HOST[:PORT]\n")
