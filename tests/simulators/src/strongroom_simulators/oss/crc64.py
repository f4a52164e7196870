"""CRC-64/ECMA-182 of bytes and of their concatenation.

Numbers represent polynomials over GF(2); the highest of the 64 bits is the constant term. Appending n
bytes multiplies the preceding checksum by x**(8n), modulo the generator polynomial.
"""

from collections.abc import Callable

import crcmod

REMAINDER = 0xC96C5795D7870F42
ONE, X = 1 << 63, 1 << 62

crc64: Callable[[bytes, int], int] = crcmod.mkCrcFun(
    0x142F0E1EBA9EA3693, initCrc=0, rev=True, xorOut=0xFFFFFFFFFFFFFFFF
)
"""Return the checksum of the first argument, continuing from the second."""


def join(first: int, second: int, size: int) -> int:
    """Return the checksum of a concatenation; the second operand has ``size`` bytes."""
    return _multiply(first, _power(8 * size)) ^ second


def _power(exponent: int) -> int:
    result, square = ONE, X
    while exponent:
        if exponent & 1:
            result = _multiply(result, square)
        square = _multiply(square, square)
        exponent >>= 1
    return result


def _multiply(left: int, right: int) -> int:
    product = 0
    for bit in range(63, -1, -1):
        if left >> bit & 1:
            product ^= right
        right = right >> 1 ^ (REMAINDER if right & 1 else 0)
    return product
