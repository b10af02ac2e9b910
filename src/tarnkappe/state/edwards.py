"""Which byte strings are public Ed25519 keys: points of the curve of prime order (RFC 8032, section 5.1).

Libraries load any 32 bytes as a public key and find out when they verify. For points of small order,
though, signatures can be made without a private key, and two points that differ by such a one have the same
private key. So a file that lists public keys of people is checked with this. It is slow (about a
millisecond) and not of constant time: it looks at public things only.
"""

from __future__ import annotations

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)

Point = tuple[int, int, int, int]
NEUTRAL: Point = (0, 1, 1, 0)
"""In extended coordinates: x = X/Z, y = Y/Z, xy = T/Z."""


def is_of_prime_order(encoded: bytes) -> bool:
    """Whether 32 bytes are a point of prime order, written in the one right way."""
    point = _decoded(encoded)
    return point is not None and not _is_neutral(point) and _is_neutral(_times(ORDER, point))


def _decoded(encoded: bytes) -> Point | None:
    if len(encoded) != 32:
        return None
    number = int.from_bytes(encoded, "little")
    sign, y = number >> 255, number & (1 << 255) - 1
    if y >= P:
        return None
    squared = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(squared, (P + 3) // 8, P)
    if (x * x - squared) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - squared) % P or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


def _times(factor: int, point: Point) -> Point:
    found = NEUTRAL
    for bit in f"{factor:b}":
        found = _sum(found, found)
        if bit == "1":
            found = _sum(found, point)
    return found


def _sum(one: Point, other: Point) -> Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _is_neutral(point: Point) -> bool:
    return point[0] % P == 0 and (point[1] - point[2]) % P == 0
