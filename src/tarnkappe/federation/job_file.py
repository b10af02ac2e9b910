"""A federated job: the contract, where everybody is, and who asks. Read from a TOML file.

The contract is stored beside the job when it is first shown or proposed, so that its digest stays the same
until the job changes.
"""

from __future__ import annotations

import dataclasses
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.contract import Contract, Partitioning, Protocol, Reveal, SharedColumn
from tarnkappe.federation.oblivious.common_labels import CommonLabels
from tarnkappe.federation.support import refuse_unsupported
from tarnkappe.federation.toml_file import Address, parse_address, read_toml, refuse_unknown
from tarnkappe.hierarchy import read_hierarchy
from tarnkappe.lattice import SEARCHES, EvaluationSettings, Search
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import MODELS
from tarnkappe.schema import fields_of
from tarnkappe.table import Role

SECTIONS = ("federation", "identity", "addresses", "columns", "privacy", "search")
ELSEWHERE = ("columns", "models", "loss", "suppression_limit", "search")
"""Fields of a contract that have sections of their own."""
FEDERATION_KEYS = (*(f.name for f in dataclasses.fields(Contract) if f.name not in ELSEWHERE), "patience")
COMPUTED = ("labels", "hierarchy_digest")
"""Fields of a column that are made from the hierarchy that the job names."""
COLUMN_KEYS = (
    *(f.name for f in dataclasses.fields(SharedColumn) if f.name not in ("name", *COMPUTED)),
    "hierarchy",
)
SEARCH_KEYS = ("algorithm", "loss", "suppression_limit")
IDENTITY_KEYS = ("certificate", "key", "authority", "revoked")
LISTS = ("parties", "without_data", "person", "compute")
PATIENCE = 60.0


@dataclasses.dataclass(frozen=True, eq=False)
class FederatedJob:
    """What `tarn federate` needs to know: the contract, where everybody is, and who asks."""

    contract: Contract
    addresses: Mapping[str, Address]
    credentials: Credentials
    patience: float = PATIENCE

    @classmethod
    def from_file(cls, path: Path, *, new_run: bool = False) -> FederatedJob:
        """A job as its file describes it; what its run would have to refuse is refused now.

        Args:
            path: the job.
            new_run: whether to make another contract where one is stored.
        """
        content, folder = read_toml(path, SECTIONS, "federation", "the job of a federation"), path.parent
        try:
            federation, identity = content["federation"], content["identity"]
            refuse_unknown(federation, FEDERATION_KEYS, f"{path}: [federation] has no key")
            refuse_unknown(identity, IDENTITY_KEYS, f"{path}: [identity] has no key")
            contract = _contract(path, content)
            addresses = {name: parse_address(said) for name, said in content["addresses"].items()}
            credentials = Credentials(
                folder / identity["certificate"],
                folder / identity["key"],
                folder / identity["authority"],
                folder / identity["revoked"] if "revoked" in identity else None,
            )
            patience = float(federation.get("patience", PATIENCE))
        except KeyError as missing:
            raise JobError(
                f"{path}: {missing} is missing: is it the job of a federation? It has [federation], "
                "[addresses], [identity], [columns] and [[privacy]]"
            ) from None
        except (TypeError, ValueError, AttributeError) as error:
            raise JobError(f"{path}: the job cannot be understood: {error}") from None
        for party in contract.everybody:
            if party not in addresses:
                raise JobError(f"{path}: [addresses] does not say where '{party}' is: add host:port")
        refuse_unknown(addresses, contract.everybody, f"{path}: [addresses] names somebody who is no party,")
        refuse_unsupported(contract)
        if "run" not in federation:
            contract = _with_run(contract, None if new_run else _stored_run(path, contract))
        return cls(contract, addresses, credentials, patience)

    def store(self, path: Path) -> None:
        """Keep the contract beside the job, so that it is the same the next time."""
        place = contract_file(path)
        part = place.with_name(place.name + ".part")
        part.write_text(
            json.dumps(self.contract.as_document(), indent=1, ensure_ascii=False), encoding="utf-8"
        )
        part.replace(place)


def contract_file(path: Path) -> Path:
    """Where the contract of a job is stored."""
    return path.with_suffix(".contract.json")


def _with_run(contract: Contract, run: str | None) -> Contract:
    return dataclasses.replace(contract, run=run or secrets.token_hex(16))


def _stored_run(path: Path, contract: Contract) -> str | None:
    """The name of the run in the stored contract, if that one says the same as the job."""
    try:
        stored = Contract.from_document(json.loads(contract_file(path).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise JobError(f"'{contract_file(path)}' cannot be read: {error}") from None
    return stored.run if _with_run(contract, stored.run).digest == stored.digest else None


def _contract(path: Path, content: Mapping[str, Any]) -> Contract:
    said = {name: value for name, value in content["federation"].items() if name != "patience"}
    search = dict(content.get("search", {}))
    for name in LISTS:
        if not isinstance(said.get(name, []), list):
            raise JobError(f"{path}: [federation] {name} is a list: write [...]")
    models = []
    for entry in content["privacy"]:
        if "model" not in entry:
            raise JobError(
                f"{path}: a [[privacy]] section names no model: known are {', '.join(MODELS.names)}"
            )
        models.append(MODELS.create(entry["model"], {k: v for k, v in entry.items() if k != "model"}))
    stated = {name: search.pop(name) for name in SEARCH_KEYS if name in search}
    limit = stated.get("suppression_limit", 0.0)
    if isinstance(limit, bool) or not isinstance(limit, int | float):
        raise JobError(f"{path}: [search] suppression_limit is a share of the rows from 0 to 1")
    return Contract(
        **{
            **said,
            **{name: tuple(said.get(name, ())) for name in LISTS},
            "protocol": Protocol(said["protocol"]),
            "distribution": Partitioning(said["distribution"]),
            "regions": tuple(map(tuple, said.get("regions", ()))),
            "reveal": Reveal(said.get("reveal", Reveal.RESULT)),
        },
        columns=tuple(_column(path, name, plan) for name, plan in content["columns"].items()),
        models=tuple(models),
        loss=_loss(path, stated.get("loss", "entropy")),
        suppression_limit=float(limit),
        search=_search(path, str(stated.get("algorithm", "auto")), search),
    )


def _column(path: Path, name: str, plan: Mapping[str, Any]) -> SharedColumn:
    refuse_unknown(plan, COLUMN_KEYS, f"{path}: [columns.{name}] has no key")
    if "role" not in plan:
        raise JobError(f"{path}: [columns.{name}] has no role: {', '.join(Role)}")
    stated = {key: value for key, value in plan.items() if key != "hierarchy"}
    if "hierarchy" in plan:
        rules = read_hierarchy(str(path.parent / str(plan["hierarchy"])))
        labels = CommonLabels.of(rules)
        stated |= {"height": rules.height, "labels": labels.sizes, "hierarchy_digest": labels.digest}
    role = Role.parse(plan["role"])
    return SharedColumn(name, **{**stated, "role": role, "owners": tuple(plan.get("owners", ()))})


def _loss(path: Path, said: str | Mapping[str, Any]) -> Loss:
    """A loss by name, or as a table with its name and parameters."""
    if isinstance(said, str):
        return LOSSES.create(said, {})
    if "name" not in said:
        raise JobError(f"{path}: [search] loss has no name: known are {', '.join(LOSSES.names)}")
    return LOSSES.create(said["name"], {name: value for name, value in said.items() if name != "name"})


def _search(path: Path, algorithm: str, said: Mapping[str, Any]) -> Search:
    """A search with its parameters and those of its `EvaluationSettings`."""
    own = [f.name for f in fields_of(SEARCHES[algorithm]) if f.name != "effort"]
    effort = [f.name for f in fields_of(EvaluationSettings)]
    refuse_unknown(said, [*SEARCH_KEYS, *own, *effort], f"{path}: [search] has no key")
    chosen = {name: value for name, value in said.items() if name in own}
    settings = {name: value for name, value in said.items() if name in effort}
    return SEARCHES.create(
        algorithm, chosen | ({"effort": EvaluationSettings(**settings)} if settings else {})
    )
