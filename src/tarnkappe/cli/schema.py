"""`tarn schema`: what a file may say, as a JSON Schema that editors read."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Annotated, Any

import typer

from tarnkappe.errors import ParameterError
from tarnkappe.schema import hint_of
from tarnkappe.schema.json_schema import json_schema

DOCUMENTS = {
    "job": "tarnkappe.job.document:JobDocument",
    "catalog": "tarnkappe.job.catalog_file:CatalogDocument",
    "gate": "tarnkappe.gate.policy_file:GateDocument",
    "service": "tarnkappe.service.settings:ServiceDocument",
    "site": "tarnkappe.federation.documents:SiteDocument",
    "contract": "tarnkappe.federation.documents:ContractDocument",
}
"""The kinds of files, and where each is declared; imported only when it is asked for."""


def document_kind(name: str) -> Any:
    """The class of a kind of file."""
    if name not in DOCUMENTS:
        raise ParameterError(
            "cli.no-kind-file",
            "there is no kind of file '{name}': {hint}",
            name=name,
            hint=hint_of(name, DOCUMENTS),
        )
    module, _, kind = DOCUMENTS[name].partition(":")
    return getattr(import_module(module), kind)


def schema(
    file: Annotated[str, typer.Argument(help=f"Which file: {', '.join(DOCUMENTS)}.")],
) -> None:
    """Print what a file may say as a JSON Schema, with which an editor completes and checks it."""
    json.dump(json_schema(document_kind(file)), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
