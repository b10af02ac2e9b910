"""Attackers of the service and its pages."""

from tests.attackers.attacker import Trial

TRIALS: list[Trial] = []
