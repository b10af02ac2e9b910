"""Which passwords are refused: those that are tried first."""

from __future__ import annotations

from tarnkappe.errors import ParameterError

LONGEST_PASSWORD = 1000
DIFFERENT = 5
"""So many different characters a password has at least: `aaaaaaaaaa` and `1212121212` are tried first."""


def require_password(password: str, name: str, least: int) -> None:
    """Refuse a password that is too short, too long, the user's own name, or the same few characters again.

    Length is what counts (NIST SP 800-63B), so no kind of character is asked for.

    >>> require_password("correct horse battery", "ann", 10)
    >>> require_password("aaaaaaaaaaaa", "ann", 10)
    Traceback (most recent call last):
    tarnkappe.errors.ParameterError: a password has at least 5 different characters: take a few words
    """
    if not least <= len(password) <= LONGEST_PASSWORD:
        raise ParameterError(
            "state.password-characters",
            "a password has {least} to {longest_password} characters",
            least=least,
            longest_password=LONGEST_PASSWORD,
        )
    if len(set(password.casefold())) < DIFFERENT:
        raise ParameterError(
            "state.password-least-different-characters",
            "a password has at least {different} different characters: take a few words",
            different=DIFFERENT,
        )
    if name and password.casefold().replace(name.casefold(), "").strip("0123456789 !.-_") == "":
        raise ParameterError(
            "state.password-not-user-name",
            "a password is not the user's name with digits around it: take a few words",
        )
