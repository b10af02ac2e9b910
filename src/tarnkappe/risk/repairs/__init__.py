"""Repairs: for each finding the smallest change that removes it, one file each; `REPAIRS` lists them all."""

from tarnkappe.risk.attacks import Attack, Target
from tarnkappe.risk.repairs.base_on_earlier import BaseOnEarlier
from tarnkappe.risk.repairs.generalize import Generalize
from tarnkappe.risk.repairs.repair import Repair, RepairProposal, stopped
from tarnkappe.risk.repairs.shuffle import Shuffle
from tarnkappe.risk.repairs.suppress import Suppress
from tarnkappe.schema import Family

REPAIRS: Family[Repair] = Family("repair", Shuffle, Suppress, Generalize, BaseOnEarlier)


def propose(attack: Attack, target: Target) -> list[RepairProposal]:
    """The smallest change of each kind that stops an attack, the smallest of all first.

    Changes are compared by how many cells they change, a removed row counting with all its cells. Every
    proposal has been applied to a copy of the release and attacked again. The list is empty if the attack
    finds nobody whom a change of the release could protect.
    """
    if stopped(attack.run(target)):
        return []
    found = [REPAIRS[name].propose(attack, target) for name in attack.repaired_by]
    return sorted((p for p in found if p is not None), key=lambda p: (p.changed_cells, p.repair))


__all__ = [
    "REPAIRS",
    "BaseOnEarlier",
    "Generalize",
    "Repair",
    "RepairProposal",
    "Shuffle",
    "Suppress",
    "propose",
]
