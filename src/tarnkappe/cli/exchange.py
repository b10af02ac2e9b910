"""`tarn exchange`: ask other institutions for data, check what they ask, decide, and audit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from tarnkappe.cli.console import errors, output, print_json
from tarnkappe.errors import ParameterError
from tarnkappe.exchange import Anchor, Purpose, Request, Wanted
from tarnkappe.exchange.desk.packages import opened
from tarnkappe.exchange.reports import patient_report, physician_report, requester_report
from tarnkappe.exchange.signing import Signer
from tarnkappe.exchange.site import Site
from tarnkappe.exchange.statistics import import_file
from tarnkappe.state import AuditLog, Key
from tarnkappe.table import Table, write

SiteOption = Annotated[Path, typer.Option("--site", help="The file of your institution (TOML).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
DigestArgument = Annotated[str, typer.Argument(help="The request: its digest, or how it begins.")]
PersonOption = Annotated[str, typer.Option("--as", help="Who you are.")]

app = typer.Typer(
    name="exchange",
    help="May this package leave the house? Requests between institutions, checked and decided.",
    no_args_is_help=True,
)


@app.command()
def serve(site: SiteOption) -> None:
    """Take requests of other institutions and give them their answers; Ctrl-C ends it."""
    service = Site.load(site).service()
    host, port = service.address
    errors.print(f"listening at {host}:{port}", highlight=False, soft_wrap=True)
    service.serve_forever()


@app.command()
def request(
    site: SiteOption,
    to: Annotated[str, typer.Option(help="The institution that is asked.")],
    select: Annotated[str, typer.Option(help="Whose data: ATTRIBUTE=VALUE, such as medication=X.")],
    want: Annotated[list[str], typer.Option(help="An attribute; NAME:WEIGHT if it may be changed last.")],
    question: Annotated[str, typer.Option(help="What exactly the data are needed for.")],
    person: PersonOption,
    purpose: Annotated[Purpose, typer.Option(help="What kind of use it is.")] = Purpose.RESEARCH,
    reidentification: Annotated[bool, typer.Option(help="Somebody may have to be identified again.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Ask another institution for a package; if it cannot be reached, it gets the request later."""
    own = Site.load(site)
    attribute, equals, value = select.partition("=")
    if not equals:
        raise ParameterError("--select says whose data are wanted as ATTRIBUTE=VALUE")
    made = Request(
        id=uuid4().hex,
        requester=person,
        institution=own.name,
        purpose=purpose,
        question=question,
        anchor=Anchor(attribute, (value,)),
        wanted=tuple(_wanted(text) for text in want),
        reidentification=reidentification,
    )
    outbox = own.outbox()
    digest = outbox.add(made, to)
    outbox.work()
    [sent] = [each for each in outbox.all() if each.request.digest == digest]
    told = {"request": digest, "to": to, "state": sent.state}
    _tell(as_json, told, f"request {digest[:12]} to {to}: {sent.state}")


@app.command()
def fetch(
    site: SiteOption,
    out: Annotated[Path | None, typer.Option(help="The folder for packages.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Send what waits, look for answers, and write the packages that came."""
    outbox = Site.load(site).outbox()
    while outbox.work():
        pass
    told = []
    for each in outbox.all():
        state = {"request": each.request.digest, "to": each.receiver, "state": each.state, "file": None}
        if each.answer is not None:
            state["verdict"] = each.answer["verdict"]
        if each.package is not None and out is not None:
            out.mkdir(parents=True, exist_ok=True)
            path = out / f"{each.request.digest[:12]}.csv"
            write(Table(opened(each.package)), path)
            state["file"] = str(path)
        told.append(state)
        if not as_json:
            text = f"{each.request.digest[:12]} {each.state}"
            output.print(text if each.answer is None else f"{text}: {requester_report(each.answer).strip()}")
    if as_json:
        print_json({"requests": told})


@app.command()
def review(
    site: SiteOption,
    digest: Annotated[str | None, typer.Argument(help="The request; without it, all are listed.")] = None,
    steward: Annotated[str | None, typer.Option("--check-as", help="Check it now, as this steward.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List requests, or show one with the recommendation and its reasons."""
    desk = Site.load(site).desk()
    if digest is None:
        desk.expire()
        listed = [
            {**made.to_dict(), "digest": made.digest, "state": str(state)} for made, state in desk.requests()
        ]
        for each in [] if as_json else listed:
            output.print(
                f"{each['digest'][:12]} {each['state']}: {each['requester']} ({each['institution']})"
            )
        if as_json:
            print_json({"requests": listed})
        return
    whole = _whole(digest, [made.digest for made, _ in desk.requests()])
    if steward is not None:
        desk.check(whole, steward)
    found = desk.recommendation(whole)
    text = physician_report(found, desk.request(whole).to_dict())
    _tell(as_json, {**found, "state": str(desk.state(whole))}, text.rstrip())


@app.command()
def decide(
    site: SiteOption,
    digest: DigestArgument,
    person: PersonOption,
    key: Annotated[Path, typer.Option(help="Your key, with which the decision is signed.")],
    reason: Annotated[str, typer.Option(help="Why.")],
    accept: Annotated[bool, typer.Option("--accept/--reject", help="What you decide.")],
    as_json: JsonOption = False,
) -> None:
    """Decide about a request; a package leaves when all have agreed whom the policy asks."""
    desk = Site.load(site).desk()
    whole = _whole(digest, [made.digest for made, _ in desk.requests()])
    content = desk.to_decide(whole, person, accepts=accept, reason=reason)
    state = desk.decide(content, Signer(Key.load(key)).sign("decision", content))
    _tell(as_json, {"request": whole, "state": str(state)}, f"request {whole[:12]} is {state}")


@app.command()
def audit(
    site: SiteOption,
    head: Annotated[
        str | None, typer.Option(help="A head that was kept elsewhere; it must be there.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Verify the log and show it; exit code 1 if it was tampered with."""
    log = AuditLog(Site.load(site).store())
    number = log.verify(head)
    entries = [{"time": e.time, "event": e.event, **e.details} for e in log.entries()]
    for entry in [] if as_json else entries:
        rest = {key: value for key, value in entry.items() if key not in ("time", "event")}
        output.print(f"{entry['time'][:19]} {entry['event']} {rest}", highlight=False, soft_wrap=True)
    _tell(
        as_json,
        {"entries": entries, "number": number, "head": log.head},
        f"{number} entries, head {log.head}",
    )


@app.command()
def patient(
    site: SiteOption,
    who: Annotated[str, typer.Argument(help="The patient, as your database calls her.")],
    withdraw: Annotated[bool, typer.Option(help="She withdraws: no data about her leave any more.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Tell a patient who got data about her, or note that she withdraws."""
    desk = Site.load(site).desk()
    held = desk.withdraw_patient(who) if withdraw else []
    seen = desk.register.disclosures(who)
    told = {"disclosures": [vars(each) | {"columns": list(each.columns)} for each in seen], "held_back": held}
    _tell(as_json, told, patient_report(seen).rstrip())


@app.command()
def statistics(
    site: SiteOption,
    files: Annotated[list[Path], typer.Argument(help="Published statistics (.csv, .json).")],
    as_json: JsonOption = False,
) -> None:
    """Import statistics of the population, each file whole or not at all."""
    kept = Site.load(site).desk().around.statistics
    if kept is None:
        raise ParameterError("the site file names no 'statistics', the store for them")
    for path in files:
        import_file(kept, path)
    told = kept.imports()[-len(files) :]
    _tell(as_json, {"imports": told}, "\n".join(f"{one['origin']}: {one['facts']} figures" for one in told))


def _wanted(text: str) -> Wanted:
    name, colon, weight = text.partition(":")
    try:
        return Wanted(name, float(weight)) if colon else Wanted(name)
    except ValueError:
        raise ParameterError(f"'{text}' is no attribute: write NAME or NAME:WEIGHT") from None


def _whole(begin: str, digests: list[str]) -> str:
    found = [digest for digest in digests if digest.startswith(begin)]
    if len(found) != 1:
        raise ParameterError(f"{'no' if not found else 'more than one'} request begins with '{begin}'")
    return found[0]


def _tell(as_json: bool, told: Mapping[str, object], text: str) -> None:
    if as_json:
        print_json(told)
    else:
        output.print(text, highlight=False, soft_wrap=True, markup=False)
