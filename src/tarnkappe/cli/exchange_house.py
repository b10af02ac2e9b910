"""`tarn exchange`, beside requests: statistics, patients, and people who must be identified again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from tarnkappe.cli.console import output, print_json
from tarnkappe.errors import ParameterError
from tarnkappe.exchange import DataRequest
from tarnkappe.exchange.desk import Ask, ReidentificationState, RequestWorkflow
from tarnkappe.exchange.desk.consents import ConsentFile, import_consents, patient_names
from tarnkappe.exchange.desk.figures import Figures
from tarnkappe.exchange.example import make
from tarnkappe.exchange.peer import Wishes
from tarnkappe.exchange.reports import patient_report
from tarnkappe.exchange.site import ExchangeSite
from tarnkappe.exchange.statistics import import_file
from tarnkappe.federation.transport import UnreachableError
from tarnkappe.pseudonym import ReidentificationReason, Requester
from tarnkappe.pseudonym.models.consent import Consent, ConsentScope
from tarnkappe.state import Key, Signer

SiteOption = Annotated[Path, typer.Option("--site", help="The file of your institution (TOML).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
PersonOption = Annotated[str, typer.Option("--as", help="Who you are.")]


def tell(as_json: bool, told: object, text: str) -> None:
    """Say what was done, as text or as one JSON object."""
    if as_json:
        print_json(told)
    else:
        output.print(text, highlight=False, soft_wrap=True, markup=False)


def whole(said: str, digests: Mapping[str, str], what: str = "request") -> str:
    """The digest that begins so, or belongs to this name."""
    found = [digest for digest, name in digests.items() if digest.startswith(said) or said == name]
    if len(found) != 1:
        if found:
            raise ParameterError(
                "cli.more-called", "more than one {what} is called '{said}'", what=what, said=said
            )
        raise ParameterError("cli.no-called", "no {what} is called '{said}'", what=what, said=said)
    return found[0]


def names(requests: Iterable[DataRequest]) -> dict[str, str]:
    """What requests are called, by their digests."""
    return {each.digest: each.id for each in requests}


def example(
    folder: Annotated[Path, typer.Argument(help="A new folder.", writable=True)],
    patients: Annotated[int, typer.Option(min=100, help="How many patients each institution has.")] = 3000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same patients.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Make two institutions with made-up patients, to try everything; nothing of it is for production."""
    sites = [str(path) for path in make(folder, patients, seed)]
    tell(as_json, {"sites": sites}, f"two institutions are in {folder}: {', '.join(sites)}")


def key(
    path: Annotated[Path, typer.Argument(help="The file of the key.", writable=True)],
    as_json: JsonOption = False,
) -> None:
    """Show the public part of a key, for the staff or network file; a new key if there is no file."""
    public = Signer(Key.load(path, create=True)).public
    tell(as_json, {"key": str(path), "public_key": public}, public)


def patient(
    site: SiteOption,
    who: Annotated[str, typer.Argument(help="The patient, as your database calls her.")],
    withdraw: Annotated[bool, typer.Option(help="She withdraws: no data about her leave any more.")] = False,
    consent_until: Annotated[
        datetime | None, typer.Option(help="She agrees to be identified again, until this day.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Tell a patient who got data about her, or note that she withdraws, or consents."""
    with ExchangeSite.load(site) as own:
        desk = own.desk()
        if consent_until is not None:
            desk.register.consent(who, Consent(ConsentScope.THIS_STUDY, consent_until.replace(tzinfo=UTC)))
        held = desk.withdraw_patient(who) if withdraw else []
        seen = desk.register.disclosures(who)
        told = {
            "disclosures": [vars(each) | {"columns": list(each.columns)} for each in seen],
            "held_back": held,
        }
        tell(as_json, told, patient_report(seen).rstrip())


class PatientsAct(StrEnum):
    """What can be done for many patients at once."""

    IMPORT = "import"


def patients(
    act: Annotated[PatientsAct, typer.Argument(help="import: take consents and withdrawals from a file.")],
    site: SiteOption,
    file: Annotated[Path, typer.Argument(help="CSV: patient;kind;until;signed_on;reference.")],
    person: PersonOption,
    key: Annotated[Path, typer.Option(help="Your key, of a steward, which signs it.")],
    as_json: JsonOption = False,
) -> None:
    """Take the consents and withdrawals of many patients from a file: all of them or nothing."""
    with ExchangeSite.load(site) as own:
        desk = own.desk()
        read = ConsentFile.read(file, patient_names(desk))
        signature = Signer(Key.load(key)).sign(read.statement(person))
        numbers = import_consents(desk, own.staff(), read, person, signature)
        text = "\n".join(f"{number:,} {kind}" for kind, number in numbers.items())
        tell(as_json, {str(act): numbers, "file": read.sha256}, text)


def statistics(
    site: SiteOption,
    files: Annotated[list[Path], typer.Argument(help="Published statistics (.csv, .json).")],
    as_json: JsonOption = False,
) -> None:
    """Import statistics of the population, each file whole or not at all."""
    with ExchangeSite.load(site) as own:
        kept = own.desk().around.statistics
        if kept is None:
            raise ParameterError(
                "cli.site-file-names-no-statistics", "the site file names no 'statistics', the store for them"
            )
        for path in files:
            import_file(kept, path)
        told = kept.imports()[-len(files) :]
        tell(
            as_json, {"imports": told}, "\n".join(f"{one['origin']}: {one['facts']} figures" for one in told)
        )


def share(
    site: SiteOption,
    epsilon: Annotated[str, typer.Option(help="How much of the policy's statistics_budget to spend.")],
    person: PersonOption,
    as_json: JsonOption = False,
) -> None:
    """Count your patients by the common plan, with noise, for the other institutions to see."""
    with ExchangeSite.load(site) as own:
        _, figures = _figures(own)
        try:
            amount = Fraction(epsilon)
        except (ValueError, ZeroDivisionError):
            raise ParameterError("cli.epsilon-number-0-5", "--epsilon is a number, such as 0.5") from None
        shown = figures.share(amount, person)
        cells = sum(map(len, shown.counts))
        told = {"epsilon": float(amount), "tables": len(shown.counts), "cells": cells}
        tell(as_json, told, f"{cells} noisy counts are shared, for an epsilon of {float(amount):g}")


def gather(site: SiteOption, as_json: JsonOption = False) -> None:
    """Ask the other institutions for their noisy counts, and add up all of them for the check."""
    own = ExchangeSite.load(site)
    with own:
        desk, figures = _figures(own)
        kept = desk.around.statistics
        if kept is None:
            raise ParameterError(
                "cli.site-file-names-no-statistics", "the site file names no 'statistics', the store for them"
            )
        caller, asked = own.caller(), {}
        for name in own.peers():
            try:
                asked[name] = "new" if figures.take(name, caller.call(name, "/statistics")) else "known"
            except UnreachableError:
                asked[name] = "offline"
        number = figures.combine(kept)
        text = "\n".join(f"{name}: {state}" for name, state in asked.items())
        tell(
            as_json,
            {"institutions": asked, "figures": number},
            f"{text}\n{number} figures are in use".strip(),
        )


def _figures(own: ExchangeSite) -> tuple[RequestWorkflow, Figures]:
    desk = own.desk()
    figures = own.figures(desk)
    if figures is None:
        raise ParameterError(
            "cli.site-file-names-no-counted",
            "the site file names no 'counted', the plan of what all institutions count",
        )
    return desk, figures


class Act(StrEnum):
    """What can be done about people who must be identified again."""

    ASK = "ask"
    LIST = "list"
    FORWARD = "forward"
    REFUSE = "refuse"


def reidentify(
    act: Annotated[
        Act, typer.Argument(help="Ask for it; or, where the data are from: list, forward, refuse.")
    ],
    site: SiteOption,
    about: Annotated[str, typer.Argument(help="ask: the request; forward, refuse: the wish.")] = "",
    pseudonym: Annotated[list[str] | None, typer.Option(help="ask: who, as in the package.")] = None,
    reason: Annotated[str, typer.Option(help=f"ask: one of {', '.join(ReidentificationReason)}.")] = "",
    person: Annotated[str, typer.Option("--as", help="Who you are.")] = "",
    key: Annotated[Path | None, typer.Option(help="forward: your key, of a requester of the vault.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Let somebody of a package be identified again: the vault of who has the patients decides, not who asks.

    What was forwarded is approved and shown with `tarn reidentify`, by two people; who asked is told no name.
    """
    own = ExchangeSite.load(site)
    with own:
        if act is Act.ASK:
            outbox = own.outbox()
            request = whole(about, names(each.request for each in outbox.all()))
            wishes = Wishes(outbox, own.caller())
            digest = wishes.add(
                Ask(request, tuple(pseudonym or ()), ReidentificationReason.parse(reason), person)
            )
            wishes.work()
            [state] = [state for wish, state in wishes.all() if wish.digest == digest]
            tell(as_json, {"wish": digest, "state": state}, f"wish {digest[:12]}: {state}")
            return
        asked = own.desk().reidentifications
        if act is Act.LIST:
            listed = [
                {**wish.to_dict(), "wish": wish.digest, "state": str(state)} for wish, state in asked.all()
            ]
            lines = [
                f"{each['wish'][:12]} {each['state']}: {each['reason']}, {each['person']}" for each in listed
            ]
            tell(as_json, {"wishes": listed}, "\n".join(lines) or "nobody asked for anybody")
            return
        digest = whole(about, {wish.digest: wish.request for wish, _ in asked.all()}, "wish")
        if act is Act.REFUSE:
            asked.refuse(digest, person)
            tell(
                as_json,
                {"wish": digest, "state": str(ReidentificationState.REFUSED)},
                f"wish {digest[:12]} is refused",
            )
            return
        if key is None:
            raise ParameterError(
                "cli.key-names-key-ask", "--key names your key: you ask the vault in your own name"
            )
        number = asked.forward(digest, person, Requester(own.vault(), person, Key.load(key)))
        text = f"request {number} of the vault: an approver has to agree (tarn reidentify approve {number})"
        tell(
            as_json,
            {"wish": digest, "state": str(ReidentificationState.FORWARDED), "vault_request": number},
            text,
        )


COMMANDS = (example, key, patient, patients, statistics, share, gather, reidentify)
