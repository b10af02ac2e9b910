"""Attackers of pseudonyms."""

from functools import partial

from tests.attackers.attacker import Stage, Trial
from tests.attackers.pseudonym import stages, vault_stages
from tests.attackers.pseudonym.family import Family
from tests.attackers.pseudonym.vault_insider import VaultInsider
from tests.attackers.pseudonym.vault_writer import VaultWriter

TRIALS: list[Trial] = [
    Trial(
        VaultInsider(),
        (
            *(
                Stage(f"the key of {name}", partial(vault_stages.vault, stolen=(name,)))
                for name in vault_stages.MEMBERS
            ),
            Stage(
                "the keys of requester and approver",
                partial(vault_stages.vault, stolen=("quinn", "ada")),
                unprotected=True,
            ),
        ),
    ),
    Trial(
        VaultWriter(),
        (
            Stage("a vault that its members know", vault_stages.vault),
            Stage("keys that have seen nothing", vault_stages.vault_nobody_remembers, unprotected=True),
        ),
    ),
]

TRIALS += [
    Trial(
        Family(),
        (
            Stage("linked tables", stages.vault),
            Stage("a person says that they are one", stages.decided_to_be_one, unprotected=True),
        ),
    ),
]
