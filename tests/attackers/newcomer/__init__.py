"""Attackers of the first hour: what a newcomer forgets, repeats, misspells and writes over."""

from tests.attackers.attacker import Stage, Trial
from tests.attackers.newcomer import stages
from tests.attackers.newcomer.disguised import Disguised
from tests.attackers.newcomer.foreign import Foreign
from tests.attackers.newcomer.forgetful import Forgetful
from tests.attackers.newcomer.habit import Habit
from tests.attackers.newcomer.interval_ends import IntervalEnds
from tests.attackers.newcomer.overwriting import Overwriting
from tests.attackers.newcomer.repeating import Repeating
from tests.attackers.newcomer.wrong_types import WrongTypes

COMMAND = Stage("the command", stages.the_command)

TRIALS = [
    Trial(
        Forgetful(),
        (
            Stage("a job of flags", stages.flags),
            Stage("a job file for DuckDB", stages.job_file),
            Stage("unnamed columns are published", stages.published, unprotected=True),
        ),
    ),
    Trial(
        Overwriting(),
        (COMMAND, Stage("a program that looks at nothing", stages.careless_writer, unprotected=True)),
    ),
    Trial(
        Foreign(),
        (COMMAND, Stage("a program that looks at nothing", stages.careless_writer, unprotected=True)),
    ),
    Trial(
        Habit(),
        (
            Stage("columns published by habit", stages.asked_first),
            Stage("columns accepted for something else", stages.otherwise_accepted),
            Stage("columns accepted by name", stages.accepted, unprotected=True),
        ),
    ),
    Trial(
        Disguised(),
        (
            Stage("columns that name people in disguise", stages.in_disguise),
            Stage("the same, accepted by name", stages.disguise_accepted, unprotected=True),
        ),
    ),
    Trial(
        Repeating(),
        (COMMAND, Stage("the last flag counts", stages.last_word, unprotected=True)),
    ),
    Trial(
        WrongTypes(),
        (COMMAND, Stage("a program that stumbles", stages.stumbling, unprotected=True)),
    ),
    Trial(
        IntervalEnds(),
        (
            Stage("one command", stages.proposed),
            Stage("one command with dates of birth", stages.proposed_months),
            Stage("exact intervals", stages.exact_ends, unprotected=True),
        ),
    ),
]
