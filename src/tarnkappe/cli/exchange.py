"""`tarn exchange`: ask other institutions for data, check what they ask, decide, and audit."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from threading import Thread
from typing import Annotated
from uuid import uuid4

import typer

from tarnkappe.cli.console import errors, output, print_json
from tarnkappe.cli.exchange_cohorts import COMMANDS as COHORT_COMMANDS
from tarnkappe.cli.exchange_house import COMMANDS, JsonOption, PersonOption, SiteOption, names, tell, whole
from tarnkappe.errors import ParameterError, TarnkappeError, VerificationError
from tarnkappe.exchange import Anchor, DataRequest, Purpose, Wanted
from tarnkappe.exchange.desk import RequestWorkflow
from tarnkappe.exchange.desk.decisions import decision_statement
from tarnkappe.exchange.desk.packages import opened
from tarnkappe.exchange.desk.preview import MOST_ROWS, preview
from tarnkappe.exchange.desk.states import OPEN
from tarnkappe.exchange.facts import ExpertDetermination
from tarnkappe.exchange.peer import Wishes
from tarnkappe.exchange.peer.witness_report import witness_report
from tarnkappe.exchange.preview_text import LANGUAGES, preview_text
from tarnkappe.exchange.reports import requester_report
from tarnkappe.exchange.request import Operation
from tarnkappe.exchange.site import ExchangeSite
from tarnkappe.state import AuditLog, Key, Signer
from tarnkappe.table import Role, Table, write

DigestArgument = Annotated[str, typer.Argument(help="The request: its id, or how its digest begins.")]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        "--lang", help=f"The language of what you read: {', '.join(LANGUAGES)}; the site file's if not said."
    ),
]

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
    operation: Annotated[Operation, typer.Option(help="What you do with the data.")] = Operation.PROCESS,
    legal_basis: Annotated[
        list[str] | None,
        typer.Option(help="What you claim beside consent: special_law=REFERENCE or approval=REFERENCE."),
    ] = None,
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
        operation=operation,
        legal_basis=dict(_pair(text, "--legal-basis", "NAME=REFERENCE") for text in legal_basis or ()),
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
    reclassify: Annotated[
        list[str] | None,
        typer.Option(help="--check-as: NAME=ROLE:REASON, another class of an attribute for this request."),
    ] = None,
    expert: Annotated[
        Path | None, typer.Option(help="--check-as: the finding of an expert (TOML), as HIPAA knows it.")
    ] = None,
    rows: Annotated[
        int, typer.Option(min=0, max=MOST_ROWS, help="How many rows of the package are shown.")
    ] = 10,
    language: LanguageOption = None,
    as_json: JsonOption = False,
) -> None:
    """List requests, or show one: what would leave, whom it could expose, and how that was found."""
    with ExchangeSite.load(site) as own:
        desk = own.desk()
        if digest is None:
            _list(desk, as_json)
            return
        digest = whole(digest, names(made for made, _ in desk.requests()))
        if steward is not None:
            if key is None:
                raise ParameterError(
                    "cli.check-needs-key-order",
                    "--check-as needs --key: the order to check is signed with it",
                )
            roles, reasons = _roles(reclassify or ())
            order = Signer(Key.load(key)).sign(desk.to_order(digest, steward, roles, reasons))
            found_by = None if expert is None else ExpertDetermination.load(expert)
            desk.check(digest, steward, roles, order, less_protected=reasons, expert=found_by)
        elif reclassify or expert is not None:
            raise ParameterError(
                "cli.reclassify-expert-belong-check",
                "--reclassify and --expert belong to --check-as: they are part of a check",
            )
        found, shown = desk.recommendation(digest), preview(desk, digest, rows)
        text = preview_text(shown, found, desk.request(digest).to_dict(), language or own.language)
        told = {**found, "state": str(desk.state(digest)), "preview": shown.to_dict()}
        tell(as_json, told, text.rstrip())


def _list(desk: RequestWorkflow, as_json: bool) -> None:
    """All requests by their names, those that wait first."""
    desk.expire()
    listed = [
        {**made.to_dict(), "digest": made.digest, "state": str(state)} for made, state in desk.requests()
    ]
    if as_json:
        print_json({"requests": listed})
        return
    waiting = {str(state) for state in OPEN}
    for each in sorted(listed, key=lambda each: (each["state"] not in waiting, each["received"])):
        since = each["received"][:16].replace("T", " ")
        text = f"{each['id']}  {each['state']}: {each['requester']} ({each['institution']}), since {since}"
        output.print(text, highlight=False, soft_wrap=True, markup=False)


@app.command()
def decide(
    site: SiteOption,
    digest: DigestArgument,
    person: PersonOption,
    key: Annotated[Path, typer.Option(help="Your key, with which the decision is signed.")],
    reason: Annotated[str, typer.Option(help="Why.")],
    accept: Annotated[bool, typer.Option("--accept/--reject", help="What you decide.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask again at the terminal.")] = False,
    language: LanguageOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decide about a request: shows what is signed, counted from the bytes, and then signs.

    A package leaves when all have agreed whom the policy asks.
    """
    with ExchangeSite.load(site) as own:
        desk = own.desk()
        digest = whole(digest, names(made for made, _ in desk.requests()))
        content = desk.to_decide(digest, person, accepts=accept, reason=reason)
        if not as_json:
            shown = preview(desk, digest)
            said = preview_text(
                shown, desk.recommendation(digest), desk.request(digest).to_dict(), language or own.language
            )
            output.print(said.rstrip(), highlight=False, soft_wrap=True, markup=False)
            if not yes and sys.stdin.isatty():
                typer.confirm("Sign?", abort=True, err=True)
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
    accept_log_of: Annotated[
        str | None,
        typer.Option(
            help="An institution whose log contradicts itself: take it as it is, and go on with it."
        ),
    ] = None,
    person: Annotated[str, typer.Option("--as", help="--accept-log-of: who you are, an auditor.")] = "",
    key: Annotated[Path | None, typer.Option(help="--accept-log-of: your key, which signs that.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Verify the log and everything that is kept against it, and say up to when others have witnessed it.

    Exit code 1 if anything was tampered with, or a log contradicts what was shown of it.
    """
    own = ExchangeSite.load(site)
    if accept_head:
        AuditLog(own.store(accept=True)).append("head accepted", {"file": own.head.name})
    with own:
        desk, witnesses = own.desk(), own.witnesses()
        if accept_log_of is not None:
            if key is None:
                raise ParameterError(
                    "cli.accept-log-needs-key",
                    "--accept-log-of needs --as and --key: who accepts a log signs that",
                )
            signature = Signer(Key.load(key)).sign(witnesses.to_accept(accept_log_of, person))
            witnesses.accept(accept_log_of, person, signature, own.staff())
        number, wrong = desk.log.verify(head), desk.audit()
        seen = witness_report(witnesses, desk.log)
        wrong = [*wrong, *seen.wrong]
        entries = [{"time": e.time, "event": e.event, **e.details} for e in desk.log.entries()]
        for entry in [] if as_json else entries:
            rest = {key: value for key, value in entry.items() if key not in ("time", "event")}
            output.print(f"{entry['time'][:19]} {entry['event']} {rest}", highlight=False, soft_wrap=True)
        told = {"entries": entries, "number": number, "head": desk.log.head, "wrong": wrong}
        told["witnessed"] = {name: {"entries": n, "time": time} for name, (n, time) in seen.seen.items()}
        tell(as_json, told, f"{number} entries, head {desk.log.head}\n{seen.text}".rstrip())
        if wrong:
            raise VerificationError(
                "cli.something-not-as-left",
                "something is not as it was left:\n{wrong}",
                wrong="\n".join(wrong),
            )


for command in (*COMMANDS, *COHORT_COMMANDS):
    app.command()(command)


def _pair(text: str, option: str, form: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise ParameterError(
            "cli.option-form-written", "{option} is written {form}", option=option, form=form
        )
    return name, value


def _roles(changes: Iterable[str]) -> tuple[dict[str, Role], dict[str, str]]:
    """Classes that are changed for a request, and why."""
    roles, reasons = {}, {}
    for text in changes:
        name, said = _pair(text, "--reclassify", "NAME=ROLE:REASON")
        role, _, reason = said.partition(":")
        roles[name] = Role.parse(role)
        if reason.strip():
            reasons[name] = reason.strip()
    return roles, reasons


def _anchor(selections: list[str]) -> Anchor:
    pairs = [text.partition("=") for text in selections]
    if not all(equals for _, equals, _ in pairs):
        raise ParameterError(
            "cli.select-says-data-wanted", "--select says whose data are wanted as ATTRIBUTE=VALUE"
        )
    if len({attribute for attribute, _, _ in pairs}) > 1:
        raise ParameterError(
            "cli.select-may-name-several",
            "--select may name several values of one attribute, and not several attributes",
        )
    return Anchor(pairs[0][0], tuple(value for _, _, value in pairs))


def _wanted(text: str) -> Wanted:
    name, colon, weight = text.partition(":")
    try:
        return Wanted(name, float(weight)) if colon else Wanted(name)
    except ValueError:
        raise ParameterError(
            "cli.no-attribute-write-name", "'{text}' is no attribute: write NAME or NAME:WEIGHT", text=text
        ) from None
