"""Attackers of the exchange."""

from tests.attackers.attacker import Stage, Trial
from tests.attackers.exchange import member_stages, writer_stages
from tests.attackers.exchange.member import Member
from tests.attackers.exchange.writer import OneKey, Writer

WRITER_STAGES = (
    Stage("a desk", writer_stages.house),
    Stage("a desk that believes its database", writer_stages.credulous, unprotected=True),
)

TRIALS: list[Trial] = [
    Trial(Writer(), WRITER_STAGES),
    Trial(OneKey(), WRITER_STAGES),
    Trial(
        Member(),
        (
            Stage("a desk that listens", member_stages.desk),
            Stage("a desk without limits", member_stages.trusting, unprotected=True),
        ),
    ),
]
