"""The OpenAPI document: complete, with examples; and a machine that sends everything it allows, and more."""

from __future__ import annotations

from typing import Any

import httpx
import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from tarnkappe.service.app import create_app
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.people import ServiceRole
from tarnkappe.service.routes.examples import JOB_EXAMPLES
from tarnkappe.service.security import API
from tarnkappe.service.work import KINDS
from tests.service.conftest import Running

STREAMS = "/events$"
"""Left out: a stream has no end that a machine could wait for."""


@pytest.fixture(scope="module")
def document(service: Running) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{service.url}{API}/openapi.json", timeout=60).json()
    return found


def test_every_operation_says_what_it_does_and_what_can_go_wrong(document: dict[str, Any]) -> None:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            where = f"{method} {path}"
            assert operation["summary"], where
            assert operation["description"], where
            assert operation["tags"], where
            assert {"401", "403", "422"} <= set(operation["responses"]), where
            if path not in (f"{API}/health", f"{API}/session"):
                assert operation["security"], where


def test_every_kind_of_job_is_in_the_document_with_an_example(document: dict[str, Any]) -> None:
    body = document["paths"][f"{API}/jobs"]["post"]["requestBody"]["content"]["application/json"]
    assert set(body["examples"]) == set(KINDS.names)


def test_every_kind_of_job_has_its_schema_which_takes_its_example(document: dict[str, Any]) -> None:
    asked = document["components"]["schemas"]["JobIn"]["oneOf"]
    assert {each["properties"]["kind"]["const"] for each in asked} == set(KINDS.names)
    schema = {"$ref": "#/components/schemas/JobIn", "components": document["components"]}
    validator = jsonschema_rs.validator_for(schema)
    for name in KINDS.names:
        example = JOB_EXAMPLES[name]["value"]
        validator.validate(example)
        assert not validator.is_valid({**example, "document": {**example["document"], "unheard": 1}})


def test_every_model_that_is_sent_has_examples(document: dict[str, Any]) -> None:
    for name in ("Login", "PersonIn", "TokenIn", "Preview", "ProposalIn", "DecisionIn"):
        properties = document["components"]["schemas"][name]["properties"]
        assert any("examples" in said or "default" in said for said in properties.values()), name


def test_the_document_names_no_other_host(document: dict[str, Any]) -> None:
    assert "://" not in str(document)


def search(service: Running, examples: int, *methods: str) -> None:
    """Send what the document allows, and what it does not, as somebody with all roles."""
    everybody = service.somebody("robot", *ServiceRole)
    _, secret = service.house.people.tokens.make(everybody, "robot")
    schema = schemathesis.openapi.from_url(f"{service.url}{API}/openapi.json", timeout=60).exclude(
        path_regex=STREAMS
    )

    for found in schema.get_all_operations():
        operation = found.ok()
        if not methods or operation.method in methods:
            _send_many(operation.as_strategy(), secret, examples)


def _send_many(strategy: Any, secret: str, examples: int) -> None:
    @given(case=strategy)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def send(case: schemathesis.Case) -> None:
        case.call_and_validate(
            headers={"Authorization": f"Bearer {secret}"},
            checks=(not_a_server_error, status_code_conformance, response_schema_conformance),
            timeout=120,
        )

    send()


def test_a_machine_finds_no_server_error(service: Running) -> None:
    search(service, 2, "post", "patch")


@pytest.mark.slow
def test_a_machine_that_tries_long_finds_no_server_error(service: Running) -> None:
    search(service, 60)


def test_an_application_without_pages_has_none(house: ServiceCore) -> None:
    app = create_app(house)
    assert all(route.path.startswith(API) for route in app.routes if hasattr(route, "path"))
