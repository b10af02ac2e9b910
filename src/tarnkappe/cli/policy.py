"""`tarn policy`: enforce what leaves: who may see which tables how, decided for every query."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from pathlib import Path
from typing import Annotated

import typer

from tarnkappe.algebra.numbers import read_number
from tarnkappe.cli.console import output, print_json
from tarnkappe.cli.gate import serve_until_stopped
from tarnkappe.cli.own_log import own_log
from tarnkappe.errors import AccessError, ParameterError
from tarnkappe.policy.enforcer import Enforcer
from tarnkappe.policy.grants import grant
from tarnkappe.policy.policy_file import AccessPolicy
from tarnkappe.state import Store
from tarnkappe.state.audit import AuditLog

FileArgument = Annotated[Path, typer.Argument(help="The policy file.")]
AsOption = Annotated[str, typer.Option("--as", help="Whose rights count.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

app = typer.Typer(name="policy", help="A policy decides what every query may see.", no_args_is_help=True)


@app.command()
def check(policy: FileArgument, as_json: JsonOption = False) -> None:
    """Read a policy, make and verify the protected releases, and say who may do what."""
    chosen = AccessPolicy.load(policy)
    with Enforcer(chosen) as enforcer:
        releases = {
            name: enforcer.releases[name].num_rows
            for name, table in chosen.tables.items()
            if table.form is not None
        }
    rights = [
        {
            "user": user,
            "table": name,
            "see": chosen.sight(user, name).name.lower(),
            "epsilon": float(chosen.epsilon(user, name)),
        }
        for user in sorted(chosen.users)
        for name in chosen.tables
    ]
    if as_json:
        print_json({"rights": rights, "releases": releases})
        return
    for name, rows in releases.items():
        form = chosen.tables[name].form
        assert form is not None
        _say(f"{name}: released with {rows:,} rows, at least {form.k} people in every class")
    for right in rights:
        _say(f"{right['user']} sees of {right['table']}: {right['see']}, epsilon {right['epsilon']:g}")


@app.command()
def explain(
    policy: FileArgument,
    query: Annotated[str, typer.Argument(help="The query.")],
    user: AsOption,
    as_json: JsonOption = False,
) -> None:
    """Say whether a query would be answered, and why; nothing is run. Ends with exit code 1 if not."""
    judged(policy, user, query, as_json)


@app.command()
def serve(
    policy: FileArgument,
    listen: Annotated[str | None, typer.Option(help="HOST:PORT, in place of the policy's.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Open a PostgreSQL port; users log in by password (`tarn gate user add`), and the policy decides."""
    from tarnkappe.gate.server.settings import Settings, address

    try:
        from tarnkappe.policy.server import PolicyService
    except ModuleNotFoundError:
        raise ParameterError(
            "cli.serving-needs-wire-protocol",
            "serving needs the wire protocol: pip install 'tarnkappe[gate]'",
        ) from None
    chosen, settings = AccessPolicy.load(policy), Settings.load(policy)
    if listen is not None:
        host, port = address(listen)
        settings = dataclasses.replace(settings, host=host, port=port)
    with own_log():
        service = PolicyService(chosen, settings)
        asyncio.run(serve_until_stopped(service, settings.host, as_json, "the policy"))


@app.command()
def log(policy: FileArgument, as_json: JsonOption = False) -> None:
    """Show what was asked, answered, refused, paid and granted; the log is verified first."""
    chosen = AccessPolicy.load(policy)
    path = chosen.state / "policy.db"
    if not path.exists():
        raise ParameterError(
            "cli.nothing-asked-under-policy", "{path}: nothing was asked under this policy yet", path=path
        )
    with Store.open(str(path)) as store:
        entries = AuditLog(store).verified()
    if as_json:
        print_json({"entries": [dataclasses.asdict(entry) for entry in entries]})
        return
    for entry in entries:
        details = ", ".join(f"{key} {value}" for key, value in entry.details.items())
        _say(f"{entry.number} {entry.time} {entry.event}: {details}")


@app.command("grant")
def grant_budget(
    policy: FileArgument,
    user: Annotated[str, typer.Option("--to", help="Who may spend more.")],
    table: Annotated[str, typer.Option(help="On which table.")],
    epsilon: Annotated[str, typer.Option(help="How much beyond the policy file, in all.")],
) -> None:
    """Let a user spend more on a table; only who is listed in `owners`, by the operating system, may."""
    owner = _who()
    grant(AccessPolicy.load(policy), owner, user, table, read_number(epsilon))
    _say(f"{user} may spend {epsilon} on {table} beyond what the policy file says, by {owner}")


def _who() -> str:
    """Who runs this, by the operating system: not by variables of the environment, which anybody sets."""
    try:
        import pwd
    except ModuleNotFoundError:  # Windows has none, and there the login is that of the process
        return _login()
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        raise _nobody() from None


def _login() -> str:
    try:
        return os.getlogin()
    except OSError:
        raise _nobody() from None


def _nobody() -> AccessError:
    return AccessError(
        "cli.system-not-say-who",
        "the operating system does not say who you are, so nothing is granted: log in as one of the owners",
    )


def judged(policy: Path, user: str, query: str, as_json: bool) -> None:
    """Print the verdict of a policy on a query."""
    with Enforcer(AccessPolicy.load(policy), judges_only=True) as enforcer:
        try:
            verdict = enforcer.judge(user, query)
        except AccessError as error:
            if as_json:
                print_json({"answered": False, "reason": str(error)})
            else:
                _say(str(error))
            raise typer.Exit(1) from None
    costs = {key: float(epsilon) for key, epsilon in verdict.costs.items()}
    if as_json:
        print_json({"answered": True, "how": verdict.how, "reason": verdict.told, "costs": costs})
    else:
        _say(verdict.told)


def _say(line: str) -> None:
    output.print(line, highlight=False, markup=False, soft_wrap=True)
