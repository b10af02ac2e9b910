"""`tarn reidentify`: who is behind a pseudonym, if two people agree; and the vaults that know it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table as Grid

from tarnkappe.cli.arguments import ColumnLists
from tarnkappe.cli.console import output, print_json, progress_bar, say_first_seen
from tarnkappe.cli.pseudonymize import PUBLIC_KEY
from tarnkappe.errors import InputError, ParameterError
from tarnkappe.pseudonym import (
    Approver,
    ReidentificationReason,
    Requester,
    Reversible,
    Vault,
    VaultMember,
    VaultRole,
)
from tarnkappe.pseudonym import reidentify as restore
from tarnkappe.pseudonym import vault as vaults
from tarnkappe.pseudonym.vault.dual_control import HOURS
from tarnkappe.state import AuditLog, Key, Store
from tarnkappe.table import read, write
from tarnkappe.table.files import format_of, writable

Words = list[str]
PlaceOption = Annotated[str, typer.Option("--vault", help="The file or database the vault is in.")]
ProjectOption = Annotated[str, typer.Option("--project", help="The project of the vault.")]
PersonOption = Annotated[str, typer.Option("--as", help="Who you are.")]
KeyOption = Annotated[Path, typer.Option("--key", help="Your key.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
NumberArgument = Annotated[int, typer.Argument(help="The number of the request.")]

app = typer.Typer(
    name="reidentify",
    help="Who is behind a pseudonym: one person asks, another agrees, every access is logged.",
    no_args_is_help=True,
)


@app.command("new-vault", cls=ColumnLists)
def new_vault(
    place: PlaceOption,
    project: ProjectOption,
    field: Annotated[Words, typer.Option(help="What says who somebody is: surname given born ...")],
    registrar: Annotated[Words, typer.Option(help="Who gives pseudonyms: NAME=PUBLIC_KEY_FILE.")],
    requester: Annotated[Words, typer.Option(help="Who may ask: NAME=PUBLIC_KEY_FILE.")],
    approver: Annotated[Words, typer.Option(help="Who may agree: NAME=PUBLIC_KEY_FILE.")],
    as_json: JsonOption = False,
) -> None:
    """Make a vault; every role needs somebody, and nobody has two."""
    roles = {VaultRole.REGISTRAR: registrar, VaultRole.REQUESTER: requester, VaultRole.APPROVER: approver}
    members = [_member(text, role) for role, texts in roles.items() for text in texts]
    with Store.open(place) as store:
        fingerprint = Vault.create(store, project, field, members).fingerprint
    told = {"vault": place, "project": project, "members": {one.person: str(one.role) for one in members}}
    told["fingerprint"] = fingerprint
    _tell(
        as_json,
        told,
        f"the vault '{project}' is in {place}\n"
        f"its fingerprint, for everybody who has a role in it: {fingerprint}",
    )


@app.command()
def appoint(
    role: Annotated[VaultRole, typer.Argument(help="The role, which is your own.")],
    member: Annotated[str, typer.Argument(help="NAME=PUBLIC_KEY_FILE")],
    place: PlaceOption,
    project: ProjectOption,
    person: PersonOption,
    key: KeyOption,
    as_json: JsonOption = False,
) -> None:
    """Take somebody into your role."""
    new = _member(member, role)
    with _opened(place, project) as opened:
        opened.appoint(person, Key.load(key), new)
    _tell(as_json, {"member": new.person, "role": str(role)}, f"'{new.person}' has the role {role} now")


@app.command()
def dismiss(
    member: Annotated[str, typer.Argument(help="The name of a colleague in your role.")],
    place: PlaceOption,
    project: ProjectOption,
    person: PersonOption,
    key: KeyOption,
    as_json: JsonOption = False,
) -> None:
    """Take away the role of a colleague; then change the keys with `rotate`."""
    with _opened(place, project) as opened:
        opened.dismiss(person, Key.load(key), member)
    _tell(as_json, {"dismissed": member}, f"'{member}' has no role any more; change the keys with rotate")


@app.command()
def request(
    pseudonyms: Annotated[Words, typer.Argument(help="The pseudonyms.")],
    place: PlaceOption,
    project: ProjectOption,
    person: PersonOption,
    key: KeyOption,
    reason: Annotated[str, typer.Option(help="One of: feedback, recruiting, consent, correction.")],
    hours: Annotated[float, typer.Option(help="How long the request is valid.")] = HOURS,
    as_json: JsonOption = False,
) -> None:
    """Ask who is behind pseudonyms; somebody else must approve."""
    why = ReidentificationReason.parse(reason)
    with _opened(place, project) as opened:
        number = Requester(opened, person, Key.load(key)).request(pseudonyms, why, hours)
    _tell(as_json, {"request": number, "state": "open"}, f"request {number} waits for an approver")


@app.command()
def approve(
    number: NumberArgument,
    place: PlaceOption,
    project: ProjectOption,
    person: PersonOption,
    key: KeyOption,
    refuse: Annotated[bool, typer.Option("--refuse", help="Refuse it instead, for good.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Agree to a request of somebody else, or refuse it; what was agreed to is printed."""
    with _opened(place, project) as opened:
        desk = Approver(opened, person, Key.load(key))
        decided = desk.refuse(number) if refuse else desk.approve(number)
    about = f"{decided.reason}: {', '.join(decided.pseudonyms)}"
    _tell(
        as_json, _request(decided), f"request {number} of '{decided.requester}' is {decided.state} ({about})"
    )


@app.command()
def show(
    number: NumberArgument,
    place: PlaceOption,
    project: ProjectOption,
    person: PersonOption,
    key: KeyOption,
    as_json: JsonOption = False,
) -> None:
    """Show who is behind the pseudonyms of a request of yours that was approved."""
    with _opened(place, project) as opened:
        found = Requester(opened, person, Key.load(key)).show(number)
    if as_json:
        people = {
            name: [dict(zip(opened.fields, one, strict=True)) for one in some] for name, some in found.items()
        }
        print_json({"request": number, "people": people})
        return
    _print_grid(
        ["pseudonym", *opened.fields],
        [[name, *(value or "" for value in one)] for name, some in found.items() for one in some],
    )


@app.command("members")
def list_members(place: PlaceOption, project: ProjectOption, as_json: JsonOption = False) -> None:
    """List who has which role, with the beginning of each public key; it takes no key."""
    with _opened(place, project) as opened:
        found = [
            {"person": one.person, "role": str(one.role), "public_key": one.public.hex()[:16]}
            for one in opened.members().values()
        ]
    if as_json:
        print_json({"members": found})
        return
    _print_grid(["person", "role", "public key"], [list(one.values()) for one in found])


@app.command("requests")
def list_requests(place: PlaceOption, project: ProjectOption, as_json: JsonOption = False) -> None:
    """List all requests; it takes no key, since it tells pseudonyms only."""
    with _opened(place, project) as opened:
        found = [_request(one) for one in vaults.requests(opened)]
    if as_json:
        print_json({"requests": found})
        return
    _print_grid(
        ["request", "state", "requester", "reason", "approver", "expires", "pseudonyms"],
        [[str(cell) for cell in one.values()] for one in found],
    )


@app.command()
def rotate(
    place: PlaceOption,
    project: ProjectOption,
    requester: Annotated[str, typer.Option(help="NAME=KEY_FILE of a requester.")],
    approver: Annotated[str, typer.Option(help="NAME=KEY_FILE of an approver.")],
    trust_members: Annotated[
        bool,
        typer.Option("--trust-members", help="Sign the members of an older vault as they are."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Seal the whole vault with new keys, so that what was known before opens nothing; pseudonyms stay."""
    with progress_bar() as progress, _opened(place, project) as opened:
        count = vaults.rotate(
            opened,
            _secret("requester", requester),
            _secret("approver", approver),
            progress,
            trust_members=trust_members,
        )
    _tell(as_json, {"sealed": count}, f"{count:,} identities were sealed with new keys")


@app.command()
def log(
    place: PlaceOption,
    head: Annotated[str | None, typer.Option(help="A head that was kept; the log must contain it.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Verify the audit log and print it."""
    with vaults.existing_store(place) as store:
        audit = AuditLog(store)
        length, newest = audit.verify(head), audit.head
        entries = [{"time": one.time, "event": one.event, **one.details} for one in audit.entries()]
    if as_json:
        print_json({"entries": entries, "head": newest, "verified": True})
        return
    for one in entries:
        about = ", ".join(f"{name} {value}" for name, value in one.items() if name not in ("time", "event"))
        _print(f"{one['time'][:19]} {one['event']}: {about}")
    _print(f"{length} entries, none changed; head {newest}")


@app.command("table", cls=ColumnLists)
def table(
    data: Annotated[str, typer.Argument(help="A table with reversible pseudonyms.")],
    column: Annotated[Words, typer.Option(help="What to call the columns that come back.")],
    key: Annotated[Path, typer.Option(help="The key they were made with.")],
    project: Annotated[str, typer.Option(help="The project they were made for.")],
    out: Annotated[Path, typer.Option(help="Where to write the table.", writable=True)],
    pseudonym: Annotated[str, typer.Option(help="The column with the pseudonyms.")] = "pseudonym",
    as_json: JsonOption = False,
) -> None:
    """Put the identities back in the place of reversible pseudonyms, with the key alone."""
    format_of(writable(out))
    with progress_bar() as progress:
        source = read(data, progress=progress)
        result = restore(source, column, Reversible(Key.load(key), project), column=pseudonym)
        write(result, out, progress=progress)
    _tell(
        as_json, {"rows": result.num_rows, "output": str(out)}, f"{result.num_rows:,} rows written to {out}"
    )


def _opened(place: str, project: str) -> Vault:
    return Vault.open(place, project, say_first_seen)


def _member(text: str, role: VaultRole) -> VaultMember:
    name, file = _assignment(text, "PUBLIC_KEY_FILE")
    try:
        kind, _, digits = file.read_text(encoding="ascii").strip().partition(" ")
        public = bytes.fromhex(digits) if kind == PUBLIC_KEY else b""
    except OSError as error:
        raise InputError(
            "cli.public-key-cannot-read",
            "{file}: the public key cannot be read: {strerror}",
            file=file,
            strerror=error.strerror,
        ) from None
    except ValueError:
        public = b""
    if len(public) != 32:
        raise InputError(
            "cli.no-public-key-give",
            "{file}: this is no public key: give the .pub file that tarn pseudonymize --new-key has made",
            file=file,
        )
    return VaultMember(name, role, public)


def _secret(flag: str, text: str) -> tuple[str, Key]:
    name, file = _assignment(text, "KEY_FILE", f"--{flag} ")
    return name, Key.load(file)


def _assignment(text: str, what: str, flag: str = "") -> tuple[str, Path]:
    name, sign, file = text.partition("=")
    if not sign or not name or not file:
        raise ParameterError(
            "cli.write-name", "{flag}{text}: write NAME={what}", flag=flag, text=text, what=what
        )
    return name, Path(file)


def _request(found: vaults.ReidentificationRequest) -> dict[str, Any]:
    return {
        "request": found.number,
        "state": found.state,
        "requester": found.requester,
        "reason": str(found.reason),
        "approver": found.approver,
        "expires": found.expires.isoformat(timespec="minutes"),
        "pseudonyms": list(found.pseudonyms),
    }


def _tell(as_json: bool, told: dict[str, Any], line: str) -> None:
    if as_json:
        print_json(told)
    else:
        _print(line)


def _print(line: str) -> None:
    output.print(line, highlight=False, soft_wrap=True, markup=False)


def _print_grid(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    grid = Grid(box=None, padding=(0, 2, 0, 0))
    for heading in headings:
        grid.add_column(heading)
    for row in rows:
        grid.add_row(*row)
    output.print(grid)
