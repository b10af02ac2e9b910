"""`tarn exchange`: the cohorts that packages are made from."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from tarnkappe.cli.exchange_house import JsonOption, SiteOption, tell
from tarnkappe.errors import ParameterError
from tarnkappe.exchange.desk.renewal import CohortStatus, cohort_status, to_renew
from tarnkappe.exchange.desk.renewal import renew as renew_cohorts
from tarnkappe.exchange.site import ExchangeSite
from tarnkappe.state import Key, Signer

NONE_YET = "nobody is admitted yet: the first check does that, or tarn exchange prepare"


def prepare(
    site: SiteOption,
    want: Annotated[
        list[str] | None, typer.Option(help="An attribute whose detail matters; again for another.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Admit who waits, and make the groups of everything that may be asked for, before anybody asks.

    Otherwise the first request for a value decides what its groups are good at.
    """
    with ExchangeSite.load(site) as own:
        desk = own.desk()
        catalogue = desk.around.catalogue
        for name in want or ():
            if name not in catalogue:
                raise ParameterError(
                    "cli.not-in-catalogue", "--want {name}: this is not in the catalogue", name=name
                )
        made = desk.cohorts.prepare_all(want or [each.name for each in catalogue])
        _tell(as_json, cohort_status(desk), {"selections": made})


def renew(
    site: SiteOption,
    person: Annotated[list[str], typer.Option("--as", help="Who signs: two people, each with --key.")],
    key: Annotated[list[Path], typer.Option(help="The keys of these people, in the same order.")],
    as_json: JsonOption = False,
) -> None:
    """Make cohorts and groups anew; packages of before and after are not protected together."""
    if len(person) != len(key):
        raise ParameterError("cli.each-as-needs-key", "each --as needs a --key, in the same order")
    with ExchangeSite.load(site) as own:
        desk = own.desk()
        signed = [
            (name, Signer(Key.load(path)).sign(to_renew(desk, name)))
            for name, path in zip(person, key, strict=True)
        ]
        both = renew_cohorts(desk, own.staff(), signed)
        _tell(as_json, cohort_status(desk), {"in_both": both})


def status(site: SiteOption, as_json: JsonOption = False) -> None:
    """Show where the cohorts stand: who is in, who waits, who left, and when newcomers are admitted."""
    with ExchangeSite.load(site) as own:
        _tell(as_json, cohort_status(own.desk()), {})


def _tell(as_json: bool, found: CohortStatus | None, more: dict[str, int]) -> None:
    told = more if found is None else {**more, **dataclasses.asdict(found)}
    if found is None:
        tell(as_json, told, NONE_YET)
        return
    lines = [
        f"epoch {found.epoch}: {found.people:,} people in {found.cohorts:,} cohorts",
        f"{found.waiting:,} wait; the next wave is at {found.next_wave} at the latest",
        f"{found.held_out:,} are held out until a renewal, {found.retired:,} left with somebody or alone",
        f"{found.told:,} selections have groups; {found.ungrouped:,} of their rows are in none yet",
        f"a renewal is possible from {found.may_renew}",
    ]
    if "in_both" in more:
        lines.append(
            f"{more['in_both']:,} people are in the cohorts of before, too: "
            "what packages of before and after tell together is not protected"
        )
    tell(as_json, told, "\n".join(lines))


COMMANDS = (prepare, renew, status)
