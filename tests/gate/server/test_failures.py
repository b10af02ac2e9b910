"""A failure is logged so that it can be found in the program, and without anything of the data."""

from __future__ import annotations

from tarnkappe.gate.server.failures import told


def fail() -> None:
    try:
        raise KeyError("Ann has flu")
    except KeyError as first:
        raise ValueError("Bob has gout") from first


def test_the_log_says_what_failed_where_and_quotes_nothing() -> None:
    try:
        fail()
    except ValueError as failure:
        text = told(failure)
    assert text.startswith("ValueError at test_failures.py:")
    assert "fail" in text
    assert "after KeyError at test_failures.py:" in text
    assert "Ann" not in text
    assert "Bob" not in text
    assert "\n" not in text
