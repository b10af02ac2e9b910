"""`tarn gate`: let people query freely without the answers adding up to a disclosure."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tarnkappe.cli.console import errors, near_path, output, print_json
from tarnkappe.cli.own_log import own_log
from tarnkappe.errors import ParameterError
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.server.settings import Settings, address
from tarnkappe.gate.server.users import Users

PASSWORD = "TARN_GATE_PASSWORD"  # noqa: S105 - the name of a variable
PUBLIC = "Could somebody who never saw the table have written this list?"
PolicyOption = Annotated[Path, typer.Option("--policy", help="The policy file, gate.toml.")]
SourceOption = Annotated[
    str | None, typer.Option("--source", help="The table or its database, in place of the policy's.")
]
UsersOption = Annotated[Path | None, typer.Option("--users", help="The users file; else the policy's.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
NameArgument = Annotated[str, typer.Argument(help="The name of the user.")]

app = typer.Typer(
    name="gate", help="Free queries; everybody in an answer keeps k possible values.", no_args_is_help=True
)
user_app = typer.Typer(name="user", help="Who may ask.", no_args_is_help=True)
app.add_typer(user_app)


@app.command()
def serve(
    policy: PolicyOption,
    source: SourceOption = None,
    listen: Annotated[str | None, typer.Option(help="HOST:PORT, in place of the policy's.")] = None,
    users: UsersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open a PostgreSQL port in front of the protected table; Ctrl-C closes it."""
    from tarnkappe.gate.monitor import QueryMonitor
    from tarnkappe.gate.noisy_figures import NoisyFigures
    from tarnkappe.gate.sql.view import TableView

    try:
        from tarnkappe.gate.server.service import GateServer
    except ModuleNotFoundError:
        raise ParameterError(
            "cli.serving-needs-wire-protocol",
            "serving needs the wire protocol: pip install 'tarnkappe[gate]'",
        ) from None

    chosen, settings = _policy(policy, source), _settings(policy, listen, users)
    with own_log():
        for warning in chosen.warnings:
            errors.print(f"warning: {warning}", style="yellow", highlight=False, soft_wrap=True, markup=False)
        Users(settings.users).names()  # nobody should wait for a history to be read to learn that this fails
        keeper = QueryMonitor.open(chosen)
        try:
            view = TableView.of(
                chosen,
                keeper.source.types,
                estimates=settings.aggregates == "estimate",
                post_processing=settings.computes,
            )
            noisy = None
            if settings.aggregates == "noisy":
                noisy = NoisyFigures(
                    chosen, keeper.source, keeper.store, settings.epsilon, settings.budget, settings.bounds
                )
            service = GateServer(keeper, view, chosen, settings, noisy)
            asyncio.run(serve_until_stopped(service, settings.host, as_json, "the gate"))
        finally:
            keeper.close()


@app.command()
def values(
    policy: Annotated[Path, typer.Argument(help="The policy file, gate.toml, which gets the lists.")],
    column: Annotated[str | None, typer.Option(help="One sensitive column; else all without a list.")] = None,
    holders: Annotated[
        int, typer.Option(min=1, help="List what at least so many people have; the rest becomes (other).")
    ] = 10,
    public: Annotated[
        bool, typer.Option("--public", help="The list is known without the table; it is asked whether it is.")
    ] = False,
) -> None:
    """Propose the list of values of a sensitive column, and write it into the policy."""
    from tarnkappe.gate.value_list import ValueList

    for proposed in ValueList.of(GatePolicy.load(policy), column, holders):
        for line in proposed.lines():
            output.print(line, highlight=False, soft_wrap=True, markup=False)
        if public and not typer.confirm(PUBLIC, default=False, err=True):
            raise typer.Exit(1)
        proposed.write(policy, public=public)
        output.print(proposed.told(public=public), highlight=False, soft_wrap=True, markup=False)


@app.command()
def audit(
    policy: PolicyOption,
    head: Annotated[
        str | None, typer.Option(help="The head of the log that was kept elsewhere; the log must have it.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Prove offline that everything that was answered kept its promise."""
    from tarnkappe.gate.audit import audit as prove
    from tarnkappe.gate.history_store import store_to_look_at

    chosen = _policy(policy, None)

    def say(what: str) -> None:
        errors.print(f"proving {what}", style="dim", highlight=False, soft_wrap=True, markup=False)

    with store_to_look_at(chosen.store) as store:
        proven = prove(chosen, store, head, say)
    if as_json:
        print_json({"proven": [dataclasses.asdict(one) for one in proven]})
    elif not proven:
        output.print("nothing was answered yet")
    else:
        for one in proven:
            output.print(str(one), highlight=False, soft_wrap=True, markup=False)
    if not all(one.is_complete for one in proven):
        raise typer.Exit(1)


@app.command()
def possible(
    policy: PolicyOption,
    person: Annotated[
        str | None, typer.Option(help="The key of somebody in the table; else everybody is counted.")
    ] = None,
    value: Annotated[
        str | None, typer.Option(help="A value: show a table in which the person has it and that fits all.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show, for the owner, exactly which values all answers together leave to people; may take long."""
    from tarnkappe.gate.owner_report import reports

    if value is not None and person is None:
        raise ParameterError("cli.value-needs-person", "--value needs --person")
    chosen = _policy(policy, None)
    found = list(reports(chosen, person, value))
    if as_json:
        print_json({"histories": [dataclasses.asdict(one) for one in found]})
        return
    for one in found:
        for line in one.lines():
            output.print(line, highlight=False, soft_wrap=True, markup=False)
    if not found:
        output.print("nothing was answered yet")


@app.command()
def status(policy: PolicyOption, source: SourceOption = None, as_json: JsonOption = False) -> None:
    """Show what was answered so far, and what everybody keeps."""
    from tarnkappe.gate.monitor import QueryMonitor

    chosen = _policy(policy, source)
    keeper = QueryMonitor.to_look(chosen)
    told = keeper.status()
    keeper.close()
    if as_json:
        print_json(told)
        return
    lines = [f"table {told['table']}", *(f"warning: {warning}" for warning in told["warnings"])]
    left_out = told["left_out"]
    lines.append(
        f"in no answer: {left_out['changed']:,} people whose value changed after they were answered, "
        f"{left_out['held_back']:,} who are held back for a list of values"
    )
    lines += [
        f"{one['column']}, as seen by {one['history']}: {one['answers']:,} answers with "
        f"{one['people']:,} people, k = {one['k']}, least number of possible values {one['least_degree']}"
        for one in told["histories"]
    ]
    if not told["histories"]:
        lines.append("nothing was answered yet")
    for line in lines:
        output.print(line, highlight=False, soft_wrap=True, markup=False)


@user_app.command("add")
def add_user(name: NameArgument, policy: PolicyOption, users: UsersOption = None) -> None:
    """Add a user, or give one another password; it is asked for, or taken from TARN_GATE_PASSWORD."""
    file = Users(_settings(policy, None, users).users)
    password = os.environ.get(PASSWORD)
    if password is None:
        if not sys.stdin.isatty():
            raise ParameterError(
                "cli.nobody-ask-password-set",
                "there is nobody to ask for a password: set {password}",
                password=PASSWORD,
            )
        password = typer.prompt(f"password of {name}", hide_input=True, confirmation_prompt=True, err=True)
    file.put(name, password)
    output.print(f"{name} may log in ({near_path(file.path)})", highlight=False, soft_wrap=True, markup=False)


@user_app.command("remove")
def remove_user(name: NameArgument, policy: PolicyOption, users: UsersOption = None) -> None:
    """Take a user out; who is connected stays so until he leaves."""
    file = Users(_settings(policy, None, users).users)
    file.remove(name)
    output.print(f"{name} may not log in any more", highlight=False, soft_wrap=True, markup=False)


@user_app.command("list")
def list_users(policy: PolicyOption, users: UsersOption = None, as_json: JsonOption = False) -> None:
    """Show who may log in."""
    names = Users(_settings(policy, None, users).users).names()
    if as_json:
        print_json({"users": names})
        return
    for name in names:
        output.print(name, highlight=False, markup=False)


def _policy(path: Path, source: str | None) -> GatePolicy:
    chosen = GatePolicy.load(path)
    return chosen if source is None else dataclasses.replace(chosen, source=source)


def _settings(path: Path, listen: str | None, users: Path | None) -> Settings:
    try:
        settings = Settings.load(path)
        changes: dict[str, Any] = {} if users is None else {"users": str(users)}
        if listen is not None:
            changes |= dict(zip(("host", "port"), address(listen), strict=True))
        return dataclasses.replace(settings, **changes)
    except ParameterError as error:
        raise ParameterError("cli.path-error", "{path}: {error}", path=path, error=error) from None


async def serve_until_stopped(service: Any, host: str, as_json: bool, name: str) -> None:
    """Serve until Ctrl-C or the end is asked for; where it listens is printed when it does."""
    stop, ready = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    running = asyncio.ensure_future(service.run(stop, ready))
    listening = asyncio.ensure_future(ready.wait())
    await asyncio.wait({running, listening}, return_when=asyncio.FIRST_COMPLETED)
    if ready.is_set():
        if as_json:
            print_json({"host": host, "port": service.port})
        else:
            output.print(f"{name} listens on {host}:{service.port}", highlight=False, markup=False)
        sys.stdout.flush()
    listening.cancel()
    await running
