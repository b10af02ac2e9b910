"""`tarn party`: take part in federations with the data of this site."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tarnkappe.cli.console import errors, print_json
from tarnkappe.errors import ParameterError
from tarnkappe.federation import require_packages

if TYPE_CHECKING:
    from tarnkappe.federation.site import FederationSite

app = typer.Typer(name="party", help="Take part in federations of several sites.", no_args_is_help=True)

Config = Annotated[
    Path, typer.Option(help="The site: certificates, address, data, hierarchies, policy (TOML).")
]
Digest = Annotated[str, typer.Argument(help="The contract: at least 16 digits of its digest.")]
By = Annotated[str, typer.Option(help="Who decides; the user of this computer if not given.")]


@app.command()
def serve(config: Config) -> None:
    """Wait for contracts, and take part in the runs of those that people have accepted; Ctrl-C ends it."""
    require_packages()
    from tarnkappe.federation.service import PartyService

    site = _site(config)
    service = PartyService(
        site.credentials,
        site.address,
        site.build,
        site.confirm,
        site.keep,
        patience=site.patience,
        received=site.receive,
        failed=site.fail,
        log=_say,
        longest_run=site.longest_run,
    )
    host, port = service.address
    _say(f"'{service.name}' listens at {host}:{port}")
    if not site.accept:
        _say("contracts wait for people: tarn party pending, show, accept, reject")
    service.serve_forever()


@app.command()
def pending(
    config: Config,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the contracts that wait for people."""
    site = _site(config)
    from tarnkappe.federation.printable import printable_name

    waiting = site.ledger.pending()
    if as_json:
        print_json([{"digest": e.digest, "from": e.by, "received": e.time} for e in waiting])
        return
    for each in waiting:
        typer.echo(f"{each.digest[:16]}  from {printable_name(each.by)}  received {each.time}")
    if not waiting:
        _say("no contract waits")


@app.command()
def show(
    digest: Digest,
    config: Config,
    leakage: Annotated[
        bool,
        typer.Option("--leakage", help="Attack the rows of this site as others could, and show the numbers."),
    ] = False,
) -> None:
    """Show all of a contract that has arrived; with --leakage also what it exposes of the own rows."""
    typer.echo(_text(_site(config), digest, leakage=leakage))


@app.command()
def accept(
    digest: Digest,
    config: Config,
    by: By = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Agree to one contract, which is shown with what it exposes of the rows of this site."""
    site = _site(config)
    chosen = site.ledger.find(digest)
    typer.echo(_text(site, chosen, leakage=True))
    if not yes:
        typer.confirm(f"Do you agree to {chosen[:16]}?", abort=True, err=True)
    site.agree(chosen, by or getpass.getuser())
    _say(f"agreed to {chosen[:16]}")


@app.command()
def reject(
    digest: Digest,
    config: Config,
    by: By = "",
    reason: Annotated[str, typer.Option(help="Why; it stays in the ledger of this site.")] = "",
) -> None:
    """Reject a contract."""
    from tarnkappe.federation.ledger import LedgerEvent

    site = _site(config)
    chosen = site.ledger.find(digest)
    site.ledger.decide(chosen, LedgerEvent.REJECTED, by or getpass.getuser(), reason)
    _say(f"rejected {chosen[:16]}")


@app.command()
def certify(
    names: Annotated[list[str], typer.Argument(help="The parties, and the helper if there is one.")],
    out: Annotated[Path, typer.Option(help="The folder for the certificates.", writable=True)] = Path(
        "certificates"
    ),
) -> None:
    """Make certificates for a trial; in production they come from an authority that all trust."""
    require_packages()
    from tarnkappe.federation.certificates import Authority

    there = [f"{name}{suffix}" for name in names for suffix in (".pem", ".key")]
    there = [name for name in there if (out / name).exists()]
    if there:
        raise ParameterError(
            "cli.already-choose-another-folder",
            "{out} has {there} already: choose another folder with --out",
            out=out,
            there=", ".join(there),
        )
    authority = Authority(out)
    for name in names:
        authority.issue(name)
    _say(f"certificates of {', '.join(names)} are in {out}")


def _site(config: Path) -> FederationSite:
    require_packages()
    from tarnkappe.federation.site import FederationSite

    return FederationSite.from_file(config)


def _text(site: FederationSite, digits: str, *, leakage: bool) -> str:
    """A stored contract in words, with the numbers of this site and whether its policy allows it."""
    from tarnkappe.errors import TarnkappeError
    from tarnkappe.federation.wording import describe

    digest = site.ledger.find(digits)
    contract = site.ledger.contract(digest)
    lines = [describe(contract)]
    try:
        if leakage:
            lines += ["numbers of this site", *(f"  {line}" for line in site.exposure(contract).lines())]
        site.check(contract, site.ledger.history(digest)[0].by)
        site.check_data(contract)
        lines.append("The policy of this site allows it.")
    except TarnkappeError as error:
        lines.append(str(error))
    return "\n".join(lines)


def _say(text: str) -> None:
    errors.print(text, highlight=False, soft_wrap=True, markup=False)
