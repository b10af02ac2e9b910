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

from tarnkappe.errors import JobError, TarnkappeError
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.common_hierarchy import CommonHierarchy
from tarnkappe.federation.contract import Contract, SharedColumn
from tarnkappe.federation.documents import (
    PATIENCE,
    Address,
    ContractColumn,
    ContractDocument,
    credentials_of,
    parse_address,
)
from tarnkappe.federation.oblivious.common_labels import CommonLabels
from tarnkappe.federation.protocols import Protocol
from tarnkappe.federation.support import refuse_unsupported
from tarnkappe.loss import LOSSES
from tarnkappe.schema import fields_of, hint_of, values_of
from tarnkappe.schema.documents import load

MANY_SITES = 3
"""From so many sites on a job that says nothing promises that none finds fewer rows of others than k. Of two
sites each knows that all other rows are of the other one."""


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
        said = load(ContractDocument, path, "federated job")
        try:
            contract = _contract(said)
            addresses = {name: parse_address(each) for name, each in said.addresses.items()}
            for party in contract.everybody:
                if party not in addresses:
                    raise JobError(
                        "federation.addresses-not-say-where-add",
                        "[addresses] does not say where '{party}' is: add host:port",
                        party=party,
                    )
            for name in addresses:
                if name not in contract.everybody:
                    hint = hint_of(name, contract.everybody)
                    raise JobError(
                        "federation.addresses-names-somebody-no-party",
                        "[addresses] names somebody who is no party, '{name}': {hint}",
                        name=name,
                        hint=hint,
                    )
            refuse_unsupported(contract)
        except TarnkappeError as error:
            raise error.within(path) from None
        if said.federation.run is None:
            contract = _with_run(contract, None if new_run else _stored_run(path, contract))
        return cls(contract, addresses, credentials_of(said.identity), float(said.federation.patience))

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
        raise JobError(
            "federation.cannot-read",
            "'{path}' cannot be read: {error}",
            path=contract_file(path),
            error=error,
        ) from None
    return stored.run if _with_run(contract, stored.run).digest == stored.digest else None


def _contract(said: ContractDocument) -> Contract:
    federation = values_of(said.federation)
    own = {name: value for name, value in federation.items() if name not in ("patience", "run")}
    loss = said.search.loss
    if own["insiders"] is None:
        many = len(said.federation.parties) >= MANY_SITES
        own["insiders"] = int(said.federation.protocol is Protocol.OBLIVIOUS and many)
    return Contract(
        **own | ({} if said.federation.run is None else {"run": said.federation.run}),
        columns=tuple(_column(name, plan) for name, plan in said.columns.items()),
        models=tuple(said.privacy),
        loss=LOSSES.create(loss, {}) if isinstance(loss, str) else loss,
        suppression_limit=float(said.search.suppression_limit),
        search=said.search.algorithm,
    )


def _column(name: str, plan: ContractColumn) -> SharedColumn:
    own = {field.name for field in fields_of(CommonHierarchy)}
    stated = {key: value for key, value in values_of(plan).items() if key not in own}
    rules = plan.common()
    if rules is not None:
        labels = CommonLabels.of(rules)
        stated |= {"height": rules.height, "labels": labels.sizes, "hierarchy_digest": labels.digest}
    return SharedColumn(name, **stated)
