"""Attackers of the service and its pages."""

from tests.attackers.attacker import Stage, Trial
from tests.attackers.service import stages, web_stages
from tests.attackers.service.old_keys import OldKeys
from tests.attackers.service.other_hosts import OtherHosts
from tests.attackers.service.reborn import Reborn
from tests.attackers.service.scavenger import Scavenger
from tests.attackers.service.second_tab import SecondTab
from tests.attackers.service.vandal import Vandal
from tests.attackers.service.wrong_role import WrongRole

TRIALS = [
    Trial(
        Scavenger(),
        (
            Stage("an upload that was used and deleted", stages.deleted_upload),
            Stage("an upload that is kept", stages.kept_upload, unprotected=True),
        ),
    ),
    Trial(
        WrongRole(),
        (
            Stage("tokens for other work", stages.other_roles),
            Stage("the steward's token", stages.steward_role, unprotected=True),
        ),
    ),
    Trial(
        Reborn(),
        (
            Stage("a new person with an old name", stages.new_bob),
            Stage("the same person", stages.same_bob, unprotected=True),
        ),
    ),
    Trial(
        OldKeys(),
        (
            Stage("she chooses another password", web_stages.new_password),
            Stage("the admin resets her password", web_stages.reset_by_admin),
            Stage("only her roles are changed", web_stages.other_roles_only, unprotected=True),
        ),
    ),
    Trial(
        SecondTab(),
        (
            Stage("one key", stages.with_key),
            Stage("no key", stages.without_key, unprotected=True),
        ),
    ),
    Trial(
        OtherHosts(),
        (
            Stage("every page of the web application", web_stages.web_application),
            Stage(
                "pages with fonts, scripts and pictures of others",
                web_stages.careless_pages,
                unprotected=True,
            ),
        ),
    ),
    Trial(
        Vandal(),
        (
            Stage("the limits of a service", stages.with_limits),
            Stage("limits taken away", stages.without_limits, unprotected=True),
        ),
    ),
]
