"""Attackers of the exchange."""

from tests.attackers.attacker import Stage, Trial
from tests.attackers.exchange import cohort_stages, member_stages, package_stages, writer_stages
from tests.attackers.exchange.member import Member
from tests.attackers.exchange.outsider import Insider, Outsider
from tests.attackers.exchange.splitter import Splitter
from tests.attackers.exchange.stars import StarReader
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

TRIALS += [
    Trial(
        Outsider(),
        (
            Stage("small hospitals", package_stages.histories),
            Stage("150 small hospitals", package_stages.many_histories, slow=True),
            Stage("only rows are compared", package_stages.without_what_was_told, unprotected=True),
            Stage("packages from cohorts", cohort_stages.histories),
            Stage("200 years of packages from cohorts", cohort_stages.many_histories, slow=True),
            Stage("any cohort is admitted", cohort_stages.everybody_is_admitted, unprotected=True),
        ),
    ),
    Trial(
        Insider(),
        (
            Stage("small hospitals", package_stages.histories),
            Stage("150 small hospitals", package_stages.many_histories, slow=True),
            Stage("no packages are compared", package_stages.without_comparing, unprotected=True),
            Stage("packages from cohorts", cohort_stages.histories),
            Stage("200 years of packages from cohorts", cohort_stages.many_histories, slow=True),
            Stage(
                "nobody is protected from insiders",
                cohort_stages.groups_need_not_be_diverse,
                unprotected=True,
            ),
        ),
    ),
    Trial(
        Splitter(),
        (
            Stage("a question by value", package_stages.split_by_value),
            Stage("a question in six parts", package_stages.split_in_many, slow=True),
            Stage("only rows are compared", package_stages.split_where_nobody_looks, unprotected=True),
        ),
    ),
    Trial(
        StarReader(),
        (
            Stage("hidden among others", package_stages.hidden_cells),
            Stage("nothing else hidden", package_stages.nothing_else_hidden, unprotected=True),
        ),
    ),
]
