"""`tarn party`: take part in federations with the data of this site."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tarnkappe.cli.console import errors
from tarnkappe.errors import ParameterError
from tarnkappe.federation import require_packages

if TYPE_CHECKING:
    from tarnkappe.federation.contract import Contract

app = typer.Typer(name="party", help="Take part in federations of several sites.", no_args_is_help=True)


@app.command()
def serve(
    config: Annotated[Path, typer.Option(help="The site: certificates, address, data, hierarchies (TOML).")],
) -> None:
    """Wait for contracts, confirm them, and take part in their runs; Ctrl-C ends it."""
    require_packages()
    from tarnkappe.federation.service import PartyService
    from tarnkappe.federation.site import Site

    site = Site.from_file(config)

    def confirm(contract: Contract) -> None:
        site.confirm(contract, lambda text: typer.confirm(f"{text}\nDo you agree?", err=True))

    service = PartyService(
        site.credentials, site.address, site.build, confirm, site.keep, patience=site.patience
    )
    host, port = service.address
    errors.print(f"'{service.name}' listens at {host}:{port}", highlight=False, soft_wrap=True)
    service.serve_forever()


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

    there = [f"{name}{suffix}" for name in ("authority", *names) for suffix in (".pem", ".key")]
    there = [name for name in there if (out / name).exists()]
    if there:
        raise ParameterError(f"{out} has {', '.join(there)} already: choose another folder with --out")
    authority = Authority(out)
    for name in names:
        authority.issue(name)
    errors.print(f"certificates of {', '.join(names)} are in {out}", highlight=False, soft_wrap=True)
