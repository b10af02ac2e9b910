"""Attackers of the federation: each party on what it received."""

from tarnkappe.federation.contract import Protocol
from tests.attackers.attacker import Stage, Trial
from tests.attackers.federation import stages
from tests.attackers.federation.cheaters import CheatingFirstParty, CheatingHelper, CheatingMaster
from tests.attackers.federation.computing_party import ComputingParty
from tests.attackers.federation.decoder import Decoder, NumbersAuditor
from tests.attackers.federation.error_reader import ErrorReader
from tests.attackers.federation.insider import Insider, Subtractor
from tests.attackers.federation.proposers import ConsentThief, NameForger, WeakProposer
from tests.attackers.federation.repeats import HospitalHopper, RepeatCounter
from tests.attackers.federation.rerunner import Rerunner

STAR, RING, MASKED = Protocol.STAR, Protocol.RING, Protocol.MASKED

TRIALS = [
    Trial(
        Decoder(),
        (
            Stage("the helper of a star, at sites as they come", stages.received_by(STAR, {})),
            Stage("the master of a ring, at sites as they come", stages.received_by(RING, {})),
            Stage("the helper of a star", stages.received_by(STAR, stages.OPEN), unprotected=True),
            Stage("the master of a ring", stages.received_by(RING, stages.OPEN), unprotected=True),
            Stage(
                "the helper among made-up rows",
                stages.received_by(MASKED, stages.OPEN),
                unprotected=True,
                slow=True,
            ),
        ),
    ),
    Trial(
        NumbersAuditor(),
        (
            Stage("a star whose sites are told", stages.received_by(STAR, stages.OPEN)),
            Stage("a ring whose sites are told", stages.received_by(RING, stages.OPEN)),
            Stage(
                "a star said to hide frequencies",
                stages.received_by(STAR, stages.OPEN, 0.2),
                unprotected=True,
            ),
        ),
    ),
    Trial(
        ComputingParty(),
        (
            *(
                Stage(f"a site that computes: {each}", stages.viewed_by("P1", each))
                for each in list(stages.WORLDS)[:2]
            ),
            Stage(
                "a helper that computes",
                stages.viewed_by(stages.HELPER, "which of the only two sites has which rows"),
            ),
            *(
                Stage(
                    f"key streams that everybody knows: {each}",
                    stages.viewed_by("P1", each, masked=False),
                    unprotected=True,
                )
                for each in list(stages.WORLDS)[:2]
            ),
        ),
    ),
    Trial(
        Insider(),
        (
            Stage("sites that are told a number", stages.told_of_insiders),
            Stage("sites that are told that k holds", stages.told_that_k_holds, unprotected=True),
        ),
    ),
    Trial(
        Subtractor(),
        (
            Stage("an oblivious run with insiders = 1", stages.published_obliviously(1)),
            Stage("an oblivious run with insiders = 0", stages.published_obliviously(0), unprotected=True),
        ),
    ),
    *(
        Trial(
            attacker,
            (
                Stage("parties that look for their rows", stages.cheating(where, checked=True)),
                Stage("parties that do not look", stages.cheating(where, checked=False), unprotected=True),
            ),
        )
        for attacker, where in (
            (CheatingHelper(), "helper"),
            (CheatingMaster(), "master"),
            (CheatingFirstParty(), "first party"),
        )
    ),
    Trial(
        ConsentThief(),
        (
            Stage("a person who accepts what was shown", stages.desk("")),
            Stage("a site that accepts everything", stages.desk("all"), unprotected=True),
        ),
    ),
    Trial(
        NameForger(),
        (
            Stage("contracts as they are shown", stages.desk("", at=stages.HELPER)),
            Stage("names as they are", stages.desk("", at=stages.HELPER, raw=True), unprotected=True),
        ),
    ),
    Trial(
        WeakProposer(),
        (
            Stage("a site with rules", stages.desk("all", stages.POLICY)),
            Stage("a site that gave its rules away", stages.desk("all", stages.ANYTHING), unprotected=True),
        ),
    ),
    Trial(
        ErrorReader(),
        (
            Stage("errors as others get them", stages.failures(leaky=False)),
            Stage("errors as they are", stages.failures(leaky=True), unprotected=True),
        ),
    ),
    Trial(
        RepeatCounter(),
        (
            Stage("a site as it comes", stages.repeats(stages.OPEN)),
            Stage(
                "a site that accepts repeated people",
                stages.repeats({**stages.OPEN, "accept_repeated_people": True}),
                unprotected=True,
            ),
        ),
    ),
    Trial(
        HospitalHopper(),
        (
            Stage("an oblivious run that says what tells people apart", stages.known_to_all(("name",))),
            Stage("an oblivious run that counts rows", stages.known_to_all(()), unprotected=True),
        ),
    ),
    Trial(
        Rerunner(),
        (
            Stage("sites with a ledger", stages.finished),
            Stage("sites that write over what they have", stages.forgetful, unprotected=True),
        ),
    ),
]
