"""Attackers of the gate."""

from tests.attackers.attacker import Stage, Trial
from tests.attackers.gate import set_stages, stages
from tests.attackers.gate.believer import Believer
from tests.attackers.gate.bisector import Bisector, ListReader
from tests.attackers.gate.glutton import Glutton
from tests.attackers.gate.historian import Historian

TRIALS = [
    Trial(
        Bisector(),
        (
            Stage("100 people, one with a rare value", stages.SMALL.with_a_public_list),
            Stage("1,000 people, one with a rare value", stages.LARGE.with_a_public_list, slow=True),
            Stage(
                "a list that only claims to be public",
                stages.SMALL.with_a_list_that_only_claims_to_be_public,
                unprotected=True,
            ),
            Stage(
                "1,000 people, a list that only claims to be public",
                stages.LONG.with_a_list_that_only_claims_to_be_public,
                unprotected=True,
                slow=True,
            ),
        ),
    ),
    Trial(
        ListReader(),
        (
            Stage("a list that was read from the table", stages.RARE_IN_TABLE.with_a_list_from_the_table),
            Stage(
                "a list for which nobody is held back",
                stages.SMALL.with_a_list_for_which_nobody_is_held_back,
                unprotected=True,
            ),
        ),
    ),
    Trial(
        Historian(),
        (
            Stage("12 blocks of people who change", stages.Days(12)),
            Stage("200 blocks of people who change", stages.Days(200), slow=True),
            Stage(
                "people who are answered again after a change",
                stages.Days(60, days=6, most=2, others=0, serve_changes=True),
                unprotected=True,
            ),
        ),
    ),
    Trial(
        Believer(),
        (
            Stage("sets of labels that are drawn once", set_stages.drawn_once),
            Stage("sets that are drawn for each answer", set_stages.drawn_for_each_answer, unprotected=True),
        ),
    ),
    Trial(
        Glutton(),
        (
            Stage("a gate as it is started", stages.catalog),
            Stage("a catalog in the gate's own process", stages.unbounded_catalog, unprotected=True),
        ),
    ),
]
