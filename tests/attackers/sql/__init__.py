"""Attackers of anonymization inside SQL."""

from tests.attackers.attacker import Stage, Trial
from tests.attackers.sql import policy_stages, stages
from tests.attackers.sql.compare_types import CompareTypes
from tests.attackers.sql.count_persons import CountPersons
from tests.attackers.sql.go_around import GoAround
from tests.attackers.sql.join_releases import JoinReleases
from tests.attackers.sql.null_everywhere import NullEverywhere
from tests.attackers.sql.recompute import FalseKeys, Recompute
from tests.attackers.sql.recount_models import RecountModels
from tests.attackers.sql.write_queries import WriteQueries

TRIALS: list[Trial] = [
    Trial(
        CountPersons(),
        (
            Stage("people are declared", stages.declared_people),
            Stage("nobody is declared", stages.undeclared_people, unprotected=True),
        ),
    ),
    Trial(
        NullEverywhere(),
        (
            Stage("proofs", stages.proofs),
            Stage("many proofs", stages.more_proofs, slow=True),
            Stage("proofs told that nothing is missing", stages.proofs_without_null, unprotected=True),
        ),
    ),
    Trial(
        Recompute(),
        (
            Stage("strict rewriting", stages.strict),
            Stage("strict rewriting of many tables", stages.strict_for_long, slow=True),
            Stage("an operator moved by hand", stages.by_hand, unprotected=True),
        ),
    ),
    Trial(
        FalseKeys(),
        (
            Stage("strict rewriting", stages.strict),
            Stage("rules asked for by name", stages.named_rule),
            Stage("an operator moved by hand", stages.by_hand, unprotected=True),
        ),
    ),
    Trial(
        RecountModels(),
        (
            Stage("diversity, closeness and suppression", stages.models),
            Stage("diversity in passes", stages.models_in_passes),
            Stage("k alone", stages.k_alone, unprotected=True),
        ),
    ),
    Trial(
        GoAround(),
        (
            Stage("the command line", stages.terminal),
            Stage("the files themselves", stages.raw_terminal, unprotected=True),
        ),
    ),
    Trial(
        WriteQueries(),
        (
            Stage("a policy", policy_stages.enforced),
            Stage("a policy that is asked 10,000 times", policy_stages.enforced_for_long, slow=True),
            Stage("the files themselves", policy_stages.unenforced, unprotected=True),
        ),
    ),
    Trial(
        JoinReleases(),
        (
            Stage("several people under one policy", policy_stages.one_policy),
            Stage("two policies for one table", policy_stages.two_policies, unprotected=True),
        ),
    ),
    Trial(
        CompareTypes(),
        (
            Stage("files of numbers and days", stages.shop),
            Stage("a column with a cell that is no number", stages.untidy_shop, unprotected=True),
        ),
    ),
]
