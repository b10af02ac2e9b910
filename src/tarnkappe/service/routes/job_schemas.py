"""The documents of jobs in the OpenAPI document: what each kind of job may be asked."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from tarnkappe.schema.json_schema import schemas
from tarnkappe.service.work import KINDS

AT = "#/components/schemas/"


def describe_jobs(app: FastAPI) -> None:
    """Let an application tell, when it is first asked, what documents of jobs may say."""
    told = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            _add(told()["components"]["schemas"])
        document: dict[str, Any] = told()
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def _add(components: dict[str, Any]) -> None:
    documents = schemas({kind.document.__name__: kind.document for kind in KINDS}, at=AT)
    if shared := set(documents) & set(components):
        raise ValueError(f"two schemas share a name: {sorted(shared)}")
    components |= documents
    components["JobIn"] = {
        "title": "JobIn",
        "description": "What is asked for: a job file, in which tables are named by ids.",
        "oneOf": [_asked(kind.name, kind.document.__name__) for kind in KINDS],
    }
    preview = documents["RestHierarchyPreview"]["properties"]["hierarchy"]
    components["Preview"]["properties"]["hierarchy"] |= {"anyOf": [*preview["anyOf"], {"const": {}}]}
    proposed = documents["ProposalSection"]["properties"]["hierarchies"]
    components["ProposalIn"]["properties"]["hierarchies"] |= proposed


def _asked(kind: str, document: str) -> dict[str, Any]:
    return {
        "title": kind,
        "type": "object",
        "properties": {"kind": {"const": kind}, "document": {"$ref": f"{AT}{document}"}},
        "required": ["kind", "document"],
        "additionalProperties": False,
    }
