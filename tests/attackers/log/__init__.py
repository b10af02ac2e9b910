"""Attackers of the audit log and of signed statements."""

from tests.attackers.attacker import Trial

TRIALS: list[Trial] = []
