"""Attackers of published tables."""

from tests.attackers.attacker import Stage, Trial
from tests.attackers.publish import stages
from tests.attackers.publish.recount import Recount

TRIALS = [
    Trial(
        Recount(),
        (Stage("a release", stages.release), Stage("the originals", stages.originals, unprotected=True)),
    ),
]
