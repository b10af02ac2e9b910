"""The measurement of federations: it measures what it says, and its keys are stable."""

from __future__ import annotations

from tarnkappe_bench import federation


def test_federation_measures_what_it_is_held_to() -> None:
    measured = federation.run(rows=3000, operations=100, tested_rows=200, compared_rows=300, counter_bits=128)
    assert set(federation.LIMITS) <= set(measured)
    for key in (
        "adult_star_seconds",
        "adult_ring_seconds",
        "ihis_star_ratio",
        "commutative_operations_per_second",
    ):
        assert measured[key] > 0
    shares = [value for key, value in measured.items() if key.startswith("quality_")]
    assert len(shares) == 10
    assert all(share > 0 for share in shares)
    for key in ("k_anonymity_vertical_3", "k_anonymity_in_turns_3"):
        assert measured[f"quality_{key}"] <= 1, "the protocols lose less than parties at home"
    assert measured["masked_foretold_against_measured"] > 0
    assert measured["masked_ring_foretold_against_measured"] > 0
    assert measured["adult_star_bytes"] < measured["adult_ring_bytes"]
