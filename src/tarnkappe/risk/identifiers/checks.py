"""Check digits and other rules that tell a real number from one that merely looks like it."""

from __future__ import annotations

import datetime
import ipaddress
import re

_AUSTRIAN_WEIGHTS = (3, 7, 9, 0, 5, 8, 4, 2, 1, 6)


def digits_of(text: str) -> list[int]:
    """The digits in a text."""
    return [int(character) for character in text if character in "0123456789"]


def luhn(text: str) -> bool:
    """Whether the last digit is Luhn's check digit (payment cards, IMEI).

    >>> luhn("4539 1488 0343 6467"), luhn("4539 1488 0343 6468")
    (True, False)
    """
    digits = digits_of(text)[::-1]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return len(digits) > 1 and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def payment_card(text: str) -> bool:
    """Whether it is the number of a payment card: 13 to 19 digits that begin with 3 to 6."""
    digits = digits_of(text)
    amex = len(digits) == 15 and digits[0] == 3 and digits[1] in (4, 7)
    other = len(digits) in (13, 14, 16, 17, 18, 19) and digits[0] in (3, 4, 5, 6)
    return (amex or other) and luhn(text)


def imei(text: str) -> bool:
    """Whether it is the number of a mobile phone: 15 digits with a check digit."""
    digits = digits_of(text)
    return len(digits) == 15 and not payment_card(text) and luhn(text)


def iban(text: str) -> bool:
    """Whether it is an international bank account number.

    >>> iban("DE89 3704 0044 0532 0130 00"), iban("DE89 3704 0044 0532 0130 01")
    (True, False)
    """
    plain = re.sub(r"[ -]", "", text).upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", plain):
        return False
    return int("".join(str(int(character, 36)) for character in plain[4:] + plain[:4])) % 97 == 1


def us_social_security(text: str) -> bool:
    """Whether the Social Security Administration could have issued it.

    >>> us_social_security("078-05-1120"), us_social_security("666-05-1120")
    (True, False)
    """
    digits = re.sub(r"\D", "", text)
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return area not in ("000", "666") and area[0] != "9" and group != "00" and serial != "0000"


def austrian_insurance(text: str) -> bool:
    """Whether it is an Austrian social insurance number: a check digit fourth, a birthday last.

    >>> austrian_insurance("1237 010180")
    True
    """
    digits = digits_of(text)
    if len(digits) != 10 or digits[0] == 0:
        return False
    check = sum(w * d for w, d in zip(_AUSTRIAN_WEIGHTS, digits, strict=True)) % 11
    day, month = 10 * digits[4] + digits[5], 10 * digits[6] + digits[7]
    return check == digits[3] and 1 <= day <= 31 and 1 <= month <= 15


def swiss_insurance(text: str) -> bool:
    """Whether it is a Swiss social insurance number (13 digits that begin with 756).

    >>> swiss_insurance("756.9217.0769.85")
    True
    """
    digits = digits_of(text)
    if len(digits) != 13 or digits[:3] != [7, 5, 6]:
        return False
    return (sum(digits[:12:2]) + 3 * sum(digits[1:12:2]) + digits[12]) % 10 == 0


def social_security(text: str) -> bool:
    """Whether it is the social security number of one of the countries that are known here."""
    if re.fullmatch(r"\d{3}[- ]\d{2}[- ]\d{4}", text):
        return us_social_security(text)
    if re.fullmatch(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]", text):
        return True  # United Kingdom
    return austrian_insurance(text) or swiss_insurance(text)


def german_health_insurance(text: str) -> bool:
    """Whether it is a German health insurance number: a letter, eight digits and a check digit.

    >>> german_health_insurance("A123456780")
    True
    """
    if not re.fullmatch(r"[A-Z]\d{9,10}", text):
        return False
    digits = [*divmod(ord(text[0]) - ord("A") + 1, 10), *digits_of(text)]
    summed = sum(sum(divmod(digit * (1 + place % 2), 10)) for place, digit in enumerate(digits[:-1]))
    return summed % 10 == digits[-1]


def drug_enforcement(text: str) -> bool:
    """Whether it is the number of a registered prescriber (DEA): two letters, six digits, a check digit.

    >>> drug_enforcement("AB1234563")
    True
    """
    digits = digits_of(text)
    return (sum(digits[0:6:2]) + 2 * sum(digits[1:6:2])) % 10 == digits[6]


def provider(text: str) -> bool:
    """Whether it is a national provider identifier: ten digits, checked by Luhn's rule after 80840.

    >>> provider("1234567893")
    True
    """
    return text[0] in "12" and luhn("80840" + text)


def licence(text: str) -> bool:
    """Whether it is the number of a certificate or licence that can be told by itself."""
    if re.fullmatch(r"[A-Z]{2}\d{7}", text):
        return drug_enforcement(text)
    return not re.fullmatch(r"\d{10}", text) or provider(text)


def vehicle(text: str) -> bool:
    """Whether it is a vehicle identification number: 17 characters, letters and digits.

    Its check digit is mandatory in North America only, so it is not asked for everywhere.
    """
    return bool(re.search(r"\d{3}$", text) and re.search(r"[A-Z]", text))


def ip_address(text: str) -> bool:
    """Whether it is an IP address of either version.

    >>> ip_address("192.168.0.1"), ip_address("2001:db8::1"), ip_address("12:30:45")
    (True, True, False)
    """
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def telephone(text: str) -> bool:
    """Whether it has as many digits as a telephone number with its area has, and is no date."""
    return 7 <= len(digits_of(text)) <= 15 and not re.fullmatch(r"\d{3}-\d{2}-\d{4}", text)


def calendar_day(text: str) -> bool:
    """Whether eight digits are a day of the last two centuries, the year first or last."""
    for order in ("%Y%m%d", "%d%m%Y", "%m%d%Y"):
        try:
            day = datetime.datetime.strptime(text, order)
        except ValueError:
            continue
        if 1850 <= day.year <= 2100:
            return True
    return False
