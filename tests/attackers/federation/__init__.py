"""Attackers of the federation: each party on what it received."""

from tests.attackers.attacker import Trial

TRIALS: list[Trial] = []
