"""Attackers of the gate."""

from tests.attackers.attacker import Trial

TRIALS: list[Trial] = []
