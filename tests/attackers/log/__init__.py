"""Attackers of the audit log and of signed statements."""

from tests.attackers.attacker import Stage, Trial
from tests.attackers.log import stages
from tests.attackers.log.key_holder import KeyHolder
from tests.attackers.log.rewriter import Rewriter, SealBreaker

NO_HEAD = Stage("a plain log, of which nobody kept a head", stages.no_head, unprotected=True)
TRIALS: list[Trial] = [
    Trial(Rewriter(), (Stage("a plain log, and a head that was kept elsewhere", stages.kept_head), NO_HEAD)),
    Trial(SealBreaker(), (Stage("a sealed log with its head file", stages.sealed), NO_HEAD)),
    Trial(
        KeyHolder(),
        (
            Stage("an institution that has seen a part of the log", stages.witnessed),
            Stage("an institution that keeps no heads", stages.forgetful, unprotected=True),
        ),
    ),
]
