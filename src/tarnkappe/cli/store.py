"""`tarn store`: which versions a store has, and what an earlier version has left in it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table as Grid

from tarnkappe.cli.console import output, print_json

if TYPE_CHECKING:
    from tarnkappe.state import Component

PlaceArgument = Annotated[str, typer.Argument(help="The store: a file, or the URL of a database.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

app = typer.Typer(
    name="store", help="Stores: which versions they have, and what may go.", no_args_is_help=True
)


@app.command()
def status(place: PlaceArgument, as_json: JsonOption = False) -> None:
    """Show the versions of what is in a store; it is only read."""
    from tarnkappe.state import tidying

    found = tidying.status(place, _components())
    backups = [str(path) for path in tidying.backups(place)]
    if as_json:
        print_json({"components": [dataclasses.asdict(each) for each in found], "backups": backups})
        return
    grid = Grid(box=None, pad_edge=False)
    for name in ("component", "version", "rows", "state"):
        grid.add_column(name, justify="right" if name == "rows" else "left")
    for each in found:
        version = f"{'?' if each.version is None else each.version} of {each.newest}"
        grid.add_row(each.component, version, f"{each.rows:,}", each.state)
    output.print(grid)
    for backup in backups:
        output.print(f"backup of an earlier version: {backup}", highlight=False, soft_wrap=True, markup=False)


@app.command()
def tidy(
    place: PlaceArgument,
    backups: Annotated[
        bool, typer.Option("--backups", help="Remove the backups of earlier versions, too; for good.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Drop the empty tables that an earlier version made and nobody uses."""
    from tarnkappe.state import tidying

    dropped = tidying.tidy(place, _components())
    removed = tidying.backups(place) if backups else []
    for path in removed:
        path.unlink()
    if as_json:
        print_json({"dropped": dropped, "removed": [str(path) for path in removed]})
        return
    for line in [
        *(f"dropped {name}, which was empty" for name in dropped),
        *(f"removed {p}" for p in removed),
    ]:
        output.print(line, highlight=False, soft_wrap=True, markup=False)
    if not dropped and not removed:
        output.print("there is nothing to tidy")


def _components() -> tuple[Component, ...]:
    """All that there are; they come with the parts that they belong to, which take a while to load."""
    from tarnkappe.exchange.desk.tables import COHORT_COMPONENT, EXCHANGE
    from tarnkappe.exchange.peer.tables import PEER
    from tarnkappe.exchange.peer.witness_tables import WITNESSES
    from tarnkappe.exchange.statistics.store import STATISTICS
    from tarnkappe.gate.history_store import GATE
    from tarnkappe.pseudonym.models.stored import MODELS
    from tarnkappe.pseudonym.vault.tables import VAULT
    from tarnkappe.service.tables import SERVICE
    from tarnkappe.state.budgets import BUDGETS_COMPONENT
    from tarnkappe.state.log_tables import AUDIT
    from tarnkappe.state.releases import RELEASES_COMPONENT

    exchange = (EXCHANGE, COHORT_COMPONENT, PEER, WITNESSES, STATISTICS)
    return (AUDIT, BUDGETS_COMPONENT, RELEASES_COMPONENT, GATE, VAULT, *exchange, MODELS, SERVICE)
