"""`tarn serve`: the REST API and the web application on one port."""

from __future__ import annotations

import dataclasses
import getpass
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tarnkappe.cli.console import errors, output, print_json
from tarnkappe.cli.own_log import own_log
from tarnkappe.errors import OutputError, ParameterError


def serve(
    settings: Annotated[Path | None, typer.Option(help="The settings of the service (TOML).")] = None,
    folder: Annotated[Path | None, typer.Option(help="Where uploads, results and state are kept.")] = None,
    host: Annotated[str | None, typer.Option(help="Where to listen; 127.0.0.1 if nothing is said.")] = None,
    port: Annotated[int | None, typer.Option(help="8080 if nothing is said; 0 takes a free one.")] = None,
    person: Annotated[str | None, typer.Option("--as", help="Who you are; else your login name.")] = None,
    web: Annotated[
        bool, typer.Option("--web/--no-web", help="With the web application, or REST alone.")
    ] = True,
    token_file: Annotated[
        Path | None,
        typer.Option(help="Write a token for --remote to this new file; it lasts a day.", writable=True),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the start.")] = False,
) -> None:
    """Start the REST API and the web application; Ctrl-C ends them.

    A link is printed that logs you in, once. Nobody but this machine reaches the service unless the settings
    say otherwise.
    """
    try:
        import uvicorn

        from tarnkappe.service.app import create_app
    except ModuleNotFoundError as error:
        raise ParameterError(
            "cli.service-needs-not-installed",
            "the service needs {error}, which is not installed: pip install 'tarnkappe[service]'",
            error=error.name,
        ) from None
    from tarnkappe.service.core import ServiceCore
    from tarnkappe.service.settings import ServiceSettings
    from tarnkappe.web import mount

    chosen = ServiceSettings() if settings is None else ServiceSettings.load(settings)
    said: dict[str, Any] = {"folder": folder, "host": host, "port": port}
    chosen = dataclasses.replace(chosen, **{key: value for key, value in said.items() if value is not None})
    house = ServiceCore(chosen)
    config = uvicorn.Config(
        create_app(house, mount if web else None),
        chosen.host,
        chosen.port,
        log_config=None,
        access_log=False,  # its lines have queries, in which links are
        server_header=False,
        timeout_graceful_shutdown=3,
        ssl_certfile=None if chosen.certificate is None else str(chosen.certificate),
        ssl_keyfile=None if chosen.key is None else str(chosen.key),
    )
    socket = _bound(config)
    who = house.first_person(person or getpass.getuser())
    if token_file is not None:
        _write_new(token_file, house.people.tokens.make(who, "tarn serve", days=1.0)[1])
    scheme = "https" if chosen.secure else "http"
    url = f"{scheme}://{chosen.hosts[0] if chosen.hosts else chosen.host}:{socket.getsockname()[1]}"
    link = f"{url}/login/link?secret={house.people.make_link(who.name)}"
    if as_json:
        print_json({"url": url, "link": link, "person": who.name, "folder": str(chosen.folder)})
    else:
        output.print(f"open this link, it works once:\n{link}", highlight=False, markup=False, soft_wrap=True)
        errors.print(f"everything is kept in {chosen.folder}; Ctrl-C ends the service", highlight=False)
    sys.stdout.flush()
    with own_log():
        uvicorn.Server(config).run(sockets=[socket])


def _bound(config: Any) -> Any:
    """The socket, before anything is promised about it; who comes early waits until the service is up."""
    import socket

    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    made = socket.socket(family)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((config.host, config.port))
        made.listen(config.backlog)
    except OSError as error:
        made.close()
        raise ParameterError(
            "cli.cannot-listen-choose-another-port",
            "{host}:{port}: cannot listen there ({strerror}): choose another --port",
            host=config.host,
            port=config.port,
            strerror=error.strerror,
        ) from None
    return made


def _write_new(path: Path, secret: str) -> None:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secret + "\n")
    except OSError as error:
        raise OutputError(
            "cli.token-cannot-written",
            "{path}: the token cannot be written: {strerror}",
            path=path,
            strerror=error.strerror,
        ) from None
