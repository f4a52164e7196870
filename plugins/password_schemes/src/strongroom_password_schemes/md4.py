"""MD4 (RFC 1320), which OpenSSL 3 no longer offers. Broken: it only reads what others have stored."""

import struct
from collections.abc import Callable, Sequence
from typing import Final

_MASK: Final = 0xFFFFFFFF

Mix = Callable[[int, int, int], int]

_ROUNDS: Final[Sequence[tuple[Mix, int, Sequence[int], Sequence[int]]]] = (
    # The function, the constant, the order of the words, and the shifts of each round.
    (lambda x, y, z: x & y | ~x & z, 0, range(16), (3, 7, 11, 19)),
    (
        lambda x, y, z: x & y | x & z | y & z,
        0x5A827999,
        (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
        (3, 5, 9, 13),
    ),
    (
        lambda x, y, z: x ^ y ^ z,
        0x6ED9EBA1,
        (0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15),
        (3, 9, 11, 15),
    ),
)


def md4(content: bytes) -> bytes:
    """Return the MD4 digest."""
    state: tuple[int, ...] = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
    padding = b"\x80" + bytes((55 - len(content)) % 64)
    padded = content + padding + struct.pack("<Q", 8 * len(content))
    for start in range(0, len(padded), 64):
        state = _compress(state, struct.unpack("<16I", padded[start : start + 64]))
    return struct.pack("<4I", *state)


def _compress(state: tuple[int, ...], words: Sequence[int]) -> tuple[int, ...]:
    a, b, c, d = state
    for mix, constant, order, shifts in _ROUNDS:
        for step, index in enumerate(order):
            value = (a + mix(b, c, d) + words[index] + constant) & _MASK
            shift = shifts[step % 4]
            a, b, c, d = d, (value << shift | value >> 32 - shift) & _MASK, b, c
    return tuple((old + new) & _MASK for old, new in zip(state, (a, b, c, d), strict=True))
