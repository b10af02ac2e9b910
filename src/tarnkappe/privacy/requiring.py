"""Refusing parameters of models."""

from __future__ import annotations

from tarnkappe.errors import ParameterError, Reason


def require(condition: bool, code: str, template: str, /, **values: object) -> None:
    """Refuse a parameter."""
    if not condition:
        raise ParameterError.because(Reason(code, template, **values))


def require_whole(model: str, parameter: str, number: object, least: int = 1) -> None:
    """Refuse anything but a whole number of at least `least`."""
    good = isinstance(number, int) and not isinstance(number, bool) and number >= least
    require(
        good,
        "privacy.needs-whole-number",
        "{model} needs a whole number {parameter} of at least {least}, not {number!r}",
        model=model,
        parameter=parameter,
        least=least,
        number=number,
    )


def require_number(model: str, parameter: str, number: object, least: float) -> None:
    """Refuse anything but a finite number of at least `least`."""
    good = isinstance(number, int | float) and not isinstance(number, bool) and least <= number < float("inf")
    require(
        good,
        "privacy.needs-least",
        "{model} needs a {parameter} of at least {least:g}, not {number!r}",
        model=model,
        parameter=parameter,
        least=least,
        number=number,
    )
