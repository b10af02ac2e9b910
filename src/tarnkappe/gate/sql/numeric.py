"""PostgreSQL's binary form of exact decimals: digits to the base of ten thousand."""

from __future__ import annotations

import struct
from decimal import Decimal

POSITIVE, NEGATIVE = 0x0000, 0x4000
MOST_DIGITS = 1000


def pack_numeric(value: Decimal | int) -> bytes:
    """An exact number as PostgreSQL sends it.

    >>> unpack_numeric(pack_numeric(Decimal("-12345.678")))
    Decimal('-12345.678')
    """
    number = Decimal(value)
    if not number.is_finite():
        raise ValueError("only finite numbers")
    text = format(abs(number), "f")
    whole, _, fraction = text.partition(".")
    padded = whole.rjust(-(-len(whole) // 4) * 4, "0") + fraction.ljust(-(-len(fraction) // 4) * 4, "0")
    digits = [int(padded[place : place + 4]) for place in range(0, len(padded), 4)]
    weight = -(-len(whole) // 4) - 1
    while digits and digits[0] == 0:
        digits.pop(0)
        weight -= 1
    while digits and digits[-1] == 0:
        digits.pop()
    sign = NEGATIVE if number < 0 else POSITIVE
    head = struct.pack("!HhHH", len(digits), weight if digits else 0, sign, len(fraction))
    return head + struct.pack(f"!{len(digits)}H", *digits)


def unpack_numeric(data: bytes) -> Decimal:
    """The number that such bytes stand for; numbers of absurd length are refused."""
    count, weight, sign, scale = struct.unpack_from("!HhHH", data)
    if (
        sign not in (POSITIVE, NEGATIVE)
        or count > MOST_DIGITS
        or abs(weight) > MOST_DIGITS
        or scale > MOST_DIGITS
    ):
        raise ValueError("no finite number of a sensible length")
    digits = struct.unpack_from(f"!{count}H", data, 8)
    if len(data) != 8 + 2 * count or any(digit > 9999 for digit in digits):
        raise ValueError("no number")
    total = 0
    for digit in digits:
        total = total * 10_000 + digit
    number = Decimal(total).scaleb(4 * (weight - count + 1)) if count else Decimal(0)
    text = format(number, "f")
    whole, _, fraction = text.partition(".")
    written = f"{whole}.{fraction[:scale].ljust(scale, '0')}" if scale else whole
    return Decimal(written) if sign == POSITIVE else -Decimal(written)
