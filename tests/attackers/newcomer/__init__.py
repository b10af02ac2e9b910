"""Attackers of the first hour: people who forget, repeat, misspell and write over."""

from tests.attackers.attacker import Trial

TRIALS: list[Trial] = []
