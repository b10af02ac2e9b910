"""Attackers of published tables."""

from tests.attackers.attacker import Stage, Trial
from tests.attackers.publish import stages
from tests.attackers.publish.column_order import ColumnOrder
from tests.attackers.publish.false_cells import FalseCells
from tests.attackers.publish.further_column import FurtherColumn
from tests.attackers.publish.further_stages import STAGES as FURTHER
from tests.attackers.publish.method_stages import AVERAGE, METHODS, recounted, stage, two_orders
from tests.attackers.publish.names_and_codes import NamesAndCodes
from tests.attackers.publish.one_row_more import OneRowMore
from tests.attackers.publish.other_suppression import OtherSuppression
from tests.attackers.publish.other_worlds import OtherWorlds
from tests.attackers.publish.private_stages import PRIVATE
from tests.attackers.publish.recount import Recount
from tests.attackers.publish.risk_stages import ESTIMATES, NUMBERED, OPTIMA, SCANNED, SECOND_COLUMN
from tests.attackers.publish.row_order import RowOrder
from tests.attackers.publish.running_numbers import RunningNumbers
from tests.attackers.publish.second_column import SecondColumn
from tests.attackers.publish.sloppy_reader import SloppyReader
from tests.attackers.publish.spelling_stages import SPELLINGS
from tests.attackers.publish.two_reports import TwoReports
from tests.attackers.publish.unique_people import UniquePeople
from tests.attackers.publish.utility_stages import UTILITY
from tests.attackers.publish.world_stages import WORLDS

TRIALS = [
    Trial(
        Recount(),
        (
            Stage("a release", stages.release),
            *map(recounted, METHODS),
            Stage("the originals", stages.originals, unprotected=True),
        ),
    ),
    Trial(
        FalseCells(),
        (*map(stage, (*METHODS, *AVERAGE)), stage("mondrian", spoil=True, unprotected=True)),
    ),
    Trial(
        RowOrder(),
        (*map(stage, (*METHODS, *AVERAGE)), stage("mondrian", "--no-shuffle", unprotected=True)),
    ),
    Trial(
        ColumnOrder(),
        (
            *map(two_orders, ("levels", "regions", "mondrian", "datafly", "mu-argus")),
            two_orders("levels", fewer=40),
        ),
    ),
    Trial(UniquePeople(), ESTIMATES),
    Trial(OtherSuppression(), OPTIMA),
    Trial(SecondColumn(), SECOND_COLUMN),
    Trial(FurtherColumn(), FURTHER),
    Trial(SloppyReader(), SPELLINGS),
    Trial(NamesAndCodes(), SCANNED),
    Trial(OtherWorlds(), WORLDS),
    Trial(RunningNumbers(), NUMBERED),
    Trial(TwoReports(), UTILITY),
    Trial(OneRowMore(), PRIVATE),
]
