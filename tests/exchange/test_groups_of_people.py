"""What the statistics say of an occupation, or of any group that the catalogue names, decides."""

from __future__ import annotations

from datetime import date

import pytest

from tarnkappe.exchange import AttributeCatalogue, CheckVerdict, Statistics, Wanted, check
from tarnkappe.exchange.checking.component import Recommendation
from tarnkappe.exchange.statistics import PopulationFigure
from tarnkappe.state import Store
from tests.exchange.scenes import FIXTURE, patients, request, surroundings

ROWS = [[f"P{i:02}", 40 + i % 2, "MW"[i % 2], 80, "AT", "Buero", f"D{i % 3}"] for i in range(24)]


def checked(group: str, value: str, share: float, *, conditions: bool) -> Recommendation:
    """The group must stay as it is; of its 1,000 people a share takes what the others were selected by."""
    attributes = {name: dict(said) for name, said in FIXTURE["catalogue"]["attributes"].items()}
    attributes[group]["conditions"] = conditions
    statistics = Statistics(Store.in_memory())
    facts = [
        PopulationFigure((group, value), {"medication": label}, part, 1000, "registry", date(2020, 1, 1))
        for label, part in (("X", share), ("other", 1 - share))
    ]
    statistics.add(facts, "registry", "0" * 64)
    catalogue = AttributeCatalogue.from_dict({"attributes": attributes})
    around = surroundings(patients(ROWS), catalogue=catalogue, statistics=statistics)
    return check(request(wanted=(Wanted(group, 0.0), Wanted("diagnosis"))), around)


@pytest.mark.parametrize(("group", "value"), [("occupation", "Buero"), ("origin", "AT")])
def test_a_verdict_changes_with_what_is_known_of_a_group(group: str, value: str) -> None:
    rare = checked(group, value, 0.001, conditions=True)
    usual = checked(group, value, 0.4, conditions=True)
    not_asked = checked(group, value, 0.001, conditions=False)
    assert rare.verdict is CheckVerdict.REFUSE
    assert usual.verdict is not_asked.verdict is CheckVerdict.RELEASE
    said = {step.name: step for step in rare.steps}
    assert f"within groups by {group}" in said["S4"].reply
    [flag] = [finding for finding in said["S5"].findings if finding.code == "rare combination"]
    assert f"only by what is known of groups by {group}" in flag.text
    assert "groups" not in next(step.reply for step in not_asked.steps if step.name == "S4")
