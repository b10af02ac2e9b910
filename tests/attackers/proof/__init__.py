"""Attackers of certificates."""

from tests.attackers.attacker import Stage, Trial
from tests.attackers.proof.forger import FalseRows, Forger
from tests.attackers.proof.stages import LEVELS, auditor, beside, of_the_house
from tests.attackers.proof.subtractor import Subtractor

MONDRIAN = {"algorithm": "mondrian", "suppression_limit": 0.05}
BLIND = auditor("an auditor without the input", LEVELS, has_input=False)
TRIALS: list[Trial] = [
    Trial(Forger(), (auditor("an auditor with the input", LEVELS), BLIND)),
    Trial(FalseRows(), (auditor("mondrian, an auditor with the input", MONDRIAN), BLIND)),
    Trial(
        Subtractor(),
        (
            Stage("the certificate beside the release", beside),
            Stage("the certificate for auditors", of_the_house, unprotected=True),
        ),
    ),
]
