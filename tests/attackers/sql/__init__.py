"""Attackers of anonymization inside SQL."""

from tests.attackers.attacker import Trial

TRIALS: list[Trial] = []
