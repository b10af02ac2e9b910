"""Attackers of the exchange."""

from tests.attackers.attacker import Trial

TRIALS: list[Trial] = []
