"""`--remote URL`: a command runs at a service, with the same output as here."""

from __future__ import annotations

from typing import Annotated

import typer

RemoteOption = Annotated[
    str | None,
    typer.Option("--remote", metavar="URL", help="Run it at this service; its token is in TARN_TOKEN."),
]
