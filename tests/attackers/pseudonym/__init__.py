"""Attackers of pseudonyms."""

from tests.attackers.attacker import Trial

TRIALS: list[Trial] = []
