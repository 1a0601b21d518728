"""The hash by which journal files find their data. Source: Aumasson and Bernstein, SipHash, 2012."""

from __future__ import annotations

_WORD = (1 << 64) - 1


def siphash24(data: bytes, key: bytes) -> int:
    """Take bytes and a key of 16; return SipHash-2-4 of them."""
    low, high = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:16], "little")
    state = (
        low ^ 0x736F6D6570736575, high ^ 0x646F72616E646F6D, low ^ 0x6C7967656E657261, high ^ 0x7465646279746573,
    )  # fmt: skip
    whole = len(data) // 8 * 8
    last = data[whole:] + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for at in range(0, whole + 8, 8):
        word = int.from_bytes(data[at : at + 8] if at < whole else last, "little")
        a, b, c, d = state
        state = _round(*_round(a, b, c, d ^ word))
        state = (state[0] ^ word, *state[1:])
    a, b, c, d = state
    a, b, c, d = _round(*_round(*_round(*_round(a, b, c ^ 0xFF, d))))
    return a ^ b ^ c ^ d


def _round(a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    a = (a + b) & _WORD
    b = _turned(b, 13) ^ a
    a = _turned(a, 32)
    c = (c + d) & _WORD
    d = _turned(d, 16) ^ c
    a = (a + d) & _WORD
    d = _turned(d, 21) ^ a
    c = (c + b) & _WORD
    b = _turned(b, 17) ^ c
    return a, b, _turned(c, 32), d


def _turned(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & _WORD
