"""The other parts of the house: gates, the exchange, federations, the audit log."""

from __future__ import annotations

import dataclasses
from importlib.metadata import version
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from tarnkappe.service.routes.access import PROBLEMS, TheHouse, Who
from tarnkappe.service.routes.models import DecisionIn, LogOut, Signed, StateOut
from tarnkappe.service.work import KINDS

router = APIRouter(responses={code: PROBLEMS[code] for code in (400, 401, 403, 404, 409, 413, 422)})
Strings = dict[str, str]


@router.get(
    "/health",
    tags=["service"],
    summary="Whether the service is there",
    responses={503: {"model": Strings, "description": "Jobs cannot be kept or run now."}},
)
def health(house: TheHouse, response: Response) -> Strings:
    """For those who watch services; needs no login. 503 and `failing` if jobs cannot be kept or run now."""
    told, failing = {"status": "ok", "version": version("tarnkappe")}, house.jobs.failing
    if failing:
        response.status_code = 503
        told |= {"status": "failing", "failing": ", ".join(failing)}
    return told


@router.get("/kinds", tags=["jobs"], summary="What jobs can do")
def list_kinds(who: Who) -> list[dict[str, Any]]:
    """Each kind, what its documents may say, and whether you may ask for it."""
    return [
        {
            "kind": kind.name,
            "summary": (kind.__doc__ or "").partition("\n")[0],
            "sections": list(kind.sections()),
            "allowed": who.may(kind.right),
        }
        for kind in KINDS
    ]


@router.get("/databases", tags=["files"], summary="Databases whose tables jobs may read")
def list_databases(house: TheHouse, who: Who) -> list[str]:
    """Their names; addresses stay in the settings."""
    del who
    return sorted(house.settings.databases)


@router.get("/log", tags=["audit"], summary="The audit log of the service")
def read_log(
    house: TheHouse,
    who: Who,
    after: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> LogOut:
    """Verified now: its number of entries, its head, and the entries after a number."""
    del who
    number = house.log.verify()
    later = (dataclasses.asdict(entry) for entry in house.log.entries() if entry.number > after)
    return LogOut(number=number, head=house.log.head, entries=list(islice(later, limit)))


@router.get("/gates", tags=["gate"], summary="The gates")
def list_gates(house: TheHouse, who: Who) -> list[str]:
    """Their names."""
    return house.gates.names(who)


@router.get("/gates/{name}", tags=["gate"], summary="What a gate has answered")
def gate_status(name: str, house: TheHouse, who: Who) -> dict[str, Any]:
    """What it protects, and per history the answers over time with their artificial values."""
    return house.gates.status(name, who)


@router.get("/gates/{name}/log", tags=["gate"], summary="The audit log of a gate")
def gate_log(name: str, house: TheHouse, who: Who) -> LogOut:
    """Verified now."""
    return LogOut(**house.gates.log(name, who))


@router.get("/sites", tags=["exchange"], summary="The sites of the exchange")
def list_sites(house: TheHouse, who: Who) -> list[str]:
    """Their names."""
    return house.exchange.names(who)


@router.get("/sites/{name}/requests", tags=["exchange"], summary="Requests at a site")
def list_requests(name: str, house: TheHouse, who: Who) -> list[dict[str, Any]]:
    """Who asks for what, and where it stands."""
    return house.exchange.requests(name, who)


@router.get("/sites/{name}/requests/{digest}", tags=["exchange"], summary="A request")
def get_request(name: str, digest: str, house: TheHouse, who: Who) -> dict[str, Any]:
    """With the recommendation, if it was checked (a job of the kind `request-check`)."""
    return house.exchange.request(name, digest, who)


@router.post(
    "/sites/{name}/requests/{digest}/decision", tags=["exchange"], summary="What a decision would say"
)
def to_decide(name: str, digest: str, given: DecisionIn, house: TheHouse, who: Who) -> dict[str, Any]:
    """The content that you have to sign with your key, which stays with you."""
    return house.exchange.to_decide(name, digest, who, accepts=given.accepts, reason=given.reason)


@router.post("/sites/{name}/decisions", tags=["exchange"], summary="Decide")
def decide(name: str, given: Signed, house: TheHouse, who: Who) -> StateOut:
    """A package leaves when all have agreed whom the policy asks."""
    return StateOut(state=house.exchange.decide(name, given.content, given.signature, who))


@router.get("/sites/{name}/log", tags=["exchange"], summary="The audit log of a site")
def site_log(name: str, house: TheHouse, who: Who) -> LogOut:
    """Verified now."""
    return LogOut(**house.exchange.log(name, who))


@router.get("/federations", tags=["federation"], summary="The federations")
def list_federations(house: TheHouse, who: Who) -> list[str]:
    """Their names."""
    return house.federations.names(who)


@router.get("/federations/{name}", tags=["federation"], summary="A contract")
def get_contract(name: str, house: TheHouse, who: Who) -> dict[str, Any]:
    """The contract of a federation, in words too, and what every party would learn."""
    return house.federations.contract(name, who)


@router.get("/federations/{name}/status", tags=["federation"], summary="How far a run is")
def federation_status(
    name: str,
    house: TheHouse,
    who: Who,
    run: Annotated[
        str | None, Query(min_length=1, max_length=64, description="As the job that started it named it.")
    ] = None,
) -> dict[str, Any]:
    """Asked of every party now."""
    return house.federations.status(name, who, run)
