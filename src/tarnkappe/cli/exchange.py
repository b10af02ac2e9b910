"""`tarn exchange`: ask other institutions for data, check what they ask, decide, and audit."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Thread
from typing import Annotated
from uuid import uuid4

import typer

from tarnkappe.cli.console import errors, output, print_json
from tarnkappe.cli.exchange_house import COMMANDS, JsonOption, PersonOption, SiteOption, names, tell, whole
from tarnkappe.errors import ParameterError, TarnkappeError, VerificationError
from tarnkappe.exchange import Anchor, DataRequest, Purpose, Wanted
from tarnkappe.exchange.desk.decisions import decision_statement
from tarnkappe.exchange.desk.packages import opened
from tarnkappe.exchange.peer import Wishes
from tarnkappe.exchange.reports import physician_report, requester_report
from tarnkappe.exchange.site import ExchangeSite
from tarnkappe.state import AuditLog, Key, Signer
from tarnkappe.table import Table, write

DigestArgument = Annotated[str, typer.Argument(help="The request: its id, or how its digest begins.")]

app = typer.Typer(
    name="exchange",
    help="May this package leave the house? Requests between institutions, checked and decided.",
    no_args_is_help=True,
)


@app.command()
def serve(
    site: SiteOption,
    every: Annotated[
        float, typer.Option(min=0.1, help="After how many seconds to try again what waits.")
    ] = 60.0,
) -> None:
    """Take requests of others, give them their answers, and send what waits; Ctrl-C ends it."""
    own = ExchangeSite.load(site)
    with own:
        service = own.service()
        host, port = service.address
        errors.print(f"listening at {host}:{port}", highlight=False, soft_wrap=True)
        if "peers" in own.content:
            Thread(target=_send_what_waits, args=(ExchangeSite.load(site), every), daemon=True).start()
        service.serve_forever()


def _send_what_waits(own: ExchangeSite, every: float) -> None:
    with own:
        outbox = own.outbox()
        wishes = Wishes(outbox, own.caller())
        while True:
            try:
                while outbox.work():
                    pass
                wishes.work()
            except TarnkappeError as error:  # it is in the log; what waits may go better next time
                errors.print(str(error), highlight=False, soft_wrap=True, markup=False)
            time.sleep(every)


@app.command()
def request(
    site: SiteOption,
    to: Annotated[str, typer.Option(help="The institution that is asked.")],
    select: Annotated[
        list[str],
        typer.Option(
            help="Whose data: ATTRIBUTE=VALUE, such as medication=X; again for another value of it."
        ),
    ],
    want: Annotated[list[str], typer.Option(help="An attribute; NAME:WEIGHT if it may be changed last.")],
    question: Annotated[str, typer.Option(help="What exactly the data are needed for.")],
    person: PersonOption,
    purpose: Annotated[Purpose, typer.Option(help="What kind of use it is.")] = Purpose.RESEARCH,
    reidentification: Annotated[bool, typer.Option(help="Somebody may have to be identified again.")] = False,
    name: Annotated[
        str | None, typer.Option("--id", help="What you call it; a new number if not said.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask another institution for a package; if it cannot be reached, it gets the request later."""
    own = ExchangeSite.load(site)
    made = DataRequest(
        id=name or uuid4().hex,
        requester=person,
        institution=own.name,
        purpose=purpose,
        question=question,
        anchor=_anchor(select),
        wanted=tuple(_wanted(text) for text in want),
        reidentification=reidentification,
    )
    with own:
        outbox = own.outbox()
        digest = outbox.add(made, to)
        outbox.work()
        [sent] = [each for each in outbox.all() if each.request.digest == digest]
        told = {"request": digest, "to": to, "state": sent.state}
        tell(as_json, told, f"request {digest[:12]} to {to}: {sent.state}")


@app.command()
def fetch(
    site: SiteOption,
    out: Annotated[Path | None, typer.Option(help="The folder for packages.", writable=True)] = None,
    as_json: JsonOption = False,
) -> None:
    """Send what waits, look for answers, and write the packages that came."""
    with ExchangeSite.load(site) as own:
        outbox = own.outbox()
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
                write(Table(opened(each.package)), path, replace=True)  # again, from the same package
                state["file"] = str(path)
            told.append(state)
            if not as_json:
                text = f"{each.request.digest[:12]} {each.state}"
                output.print(
                    text if each.answer is None else f"{text}: {requester_report(each.answer).strip()}"
                )
        if as_json:
            print_json({"requests": told})


@app.command()
def withdraw(site: SiteOption, digest: DigestArgument, as_json: JsonOption = False) -> None:
    """Withdraw a request that you made, while it is not answered."""
    with ExchangeSite.load(site) as own:
        outbox = own.outbox()
        digest = whole(digest, names(each.request for each in outbox.all()))
        outbox.withdraw(digest)
        tell(as_json, {"request": digest, "state": "withdrawn"}, f"request {digest[:12]} is withdrawn")


@app.command()
def review(
    site: SiteOption,
    digest: Annotated[str | None, typer.Argument(help="The request; without it, all are listed.")] = None,
    steward: Annotated[str | None, typer.Option("--check-as", help="Check it now, as this steward.")] = None,
    key: Annotated[Path | None, typer.Option(help="--check-as: your key, which signs the order.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List requests, or show one with the recommendation and its reasons."""
    with ExchangeSite.load(site) as own:
        desk = own.desk()
        if digest is None:
            desk.expire()
            listed = [
                {**made.to_dict(), "digest": made.digest, "state": str(state)}
                for made, state in desk.requests()
            ]
            for each in [] if as_json else listed:
                output.print(
                    f"{each['digest'][:12]} {each['state']}: {each['requester']} ({each['institution']})"
                )
            if as_json:
                print_json({"requests": listed})
            return
        digest = whole(digest, names(made for made, _ in desk.requests()))
        if steward is not None:
            if key is None:
                raise ParameterError("--check-as needs --key: the order to check is signed with it")
            desk.check(digest, steward, order=Signer(Key.load(key)).sign(desk.to_order(digest, steward)))
        found = desk.recommendation(digest)
        text = physician_report(found, desk.request(digest).to_dict())
        tell(as_json, {**found, "state": str(desk.state(digest))}, text.rstrip())


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
    with ExchangeSite.load(site) as own:
        desk = own.desk()
        digest = whole(digest, names(made for made, _ in desk.requests()))
        content = desk.to_decide(digest, person, accepts=accept, reason=reason)
        state = desk.decide(content, Signer(Key.load(key)).sign(decision_statement(content)))
        tell(as_json, {"request": digest, "state": str(state)}, f"request {digest[:12]} is {state}")


@app.command()
def audit(
    site: SiteOption,
    head: Annotated[
        str | None, typer.Option(help="A head that was kept elsewhere; it must be there.")
    ] = None,
    accept_head: Annotated[
        bool,
        typer.Option(help="Take the log as it is for the right one, though the head file says otherwise."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Verify the log and everything that is kept against it; exit code 1 if anything was tampered with."""
    own = ExchangeSite.load(site)
    if accept_head:
        AuditLog(own.store(accept=True)).append("head accepted", {"file": own.head.name})
    with own:
        desk = own.desk()
        number, wrong = desk.log.verify(head), desk.audit()
        entries = [{"time": e.time, "event": e.event, **e.details} for e in desk.log.entries()]
        for entry in [] if as_json else entries:
            rest = {key: value for key, value in entry.items() if key not in ("time", "event")}
            output.print(f"{entry['time'][:19]} {entry['event']} {rest}", highlight=False, soft_wrap=True)
        told = {"entries": entries, "number": number, "head": desk.log.head, "wrong": wrong}
        tell(as_json, told, f"{number} entries, head {desk.log.head}")
        if wrong:
            raise VerificationError("the database is not as it was left:\n" + "\n".join(wrong))


for command in COMMANDS:
    app.command()(command)


def _anchor(selections: list[str]) -> Anchor:
    pairs = [text.partition("=") for text in selections]
    if not all(equals for _, equals, _ in pairs):
        raise ParameterError("--select says whose data are wanted as ATTRIBUTE=VALUE")
    if len({attribute for attribute, _, _ in pairs}) > 1:
        raise ParameterError("--select may name several values of one attribute, and not several attributes")
    return Anchor(pairs[0][0], tuple(value for _, _, value in pairs))


def _wanted(text: str) -> Wanted:
    name, colon, weight = text.partition(":")
    try:
        return Wanted(name, float(weight)) if colon else Wanted(name)
    except ValueError:
        raise ParameterError(f"'{text}' is no attribute: write NAME or NAME:WEIGHT") from None
