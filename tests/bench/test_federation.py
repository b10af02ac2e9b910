"""The measurement of federations: it measures what it says, and its keys are stable."""

from __future__ import annotations

from tarnkappe.bench import federation


def test_federation_measures_what_it_is_held_to() -> None:
    measured = federation.run(rows=3000, operations=100)
    assert set(federation.LIMITS) <= set(measured)
    for key in (
        "adult_star_seconds",
        "adult_ring_seconds",
        "ihis_star_ratio",
        "commutative_operations_per_second",
    ):
        assert measured[key] > 0
    assert measured["adult_star_bytes"] < measured["adult_ring_bytes"]
