"""One request on its way through the check: what every step finds and the next one needs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Protocol

import numpy as np
import pyarrow as pa

from tarnkappe.exchange.catalogue import AttributeCatalogue, Reclassification
from tarnkappe.exchange.checking.actions import Actions
from tarnkappe.exchange.checking.history import RequestHistory
from tarnkappe.exchange.checking.rarity import Flagger, KnownAttribute
from tarnkappe.exchange.checking.told import Told
from tarnkappe.exchange.checking.unverified_package import UnverifiedPackage
from tarnkappe.exchange.checking.verify import Verified
from tarnkappe.exchange.cohorts.joint import ToldTables
from tarnkappe.exchange.cohorts.packages import GroupedRows, GroupLabels
from tarnkappe.exchange.cohorts.plan import CohortPlan
from tarnkappe.exchange.facts import ExpertDetermination
from tarnkappe.exchange.findings import Action, AttributeTreatment
from tarnkappe.exchange.institution import Institution
from tarnkappe.exchange.network import Network
from tarnkappe.exchange.policy import SitePolicy, Thresholds
from tarnkappe.exchange.request import DataRequest, Wanted
from tarnkappe.exchange.rules import Ruling
from tarnkappe.exchange.statistics import PopulationProfile, Statistics
from tarnkappe.state import Key
from tarnkappe.table import Column, Role, Table
from tarnkappe.table.classes import Mask


class PatientLookup(Protocol):
    """Knows which patients may be in a package."""

    def may_be_released(self, patients: pa.Array, request: DataRequest) -> Mask:
        """Who has not withdrawn, and where it needs consent, has given it."""


class Earlier(Protocol):
    """Knows what was released before."""

    def objection(
        self,
        release: Table,
        patients: Sequence[str],
        limits: Thresholds,
        recipient: str,
        told: Told | ToldTables,
    ) -> str:
        """Why a package must not follow the earlier ones; nothing if it may."""


class CohortSource(Protocol):
    """Knows the cohorts of an institution."""

    def plan(self) -> CohortPlan | None:
        """All cohorts, with groups of everything that was asked for; None before anybody is admitted."""


class Requests(Protocol):
    """Knows what was asked before."""

    def history(self, request: DataRequest) -> RequestHistory:
        """Earlier requests that have to do with one."""


@dataclasses.dataclass(frozen=True, eq=False)
class Surroundings:
    """What the checking component of an institution works with.

    Attributes:
        institution: its own database.
        catalogue: what its columns are.
        policy: what it wants.
        network: who it knows.
        statistics: the global statistics, if they can be reached.
        patients: who has withdrawn or consented; without it nobody has withdrawn, and nobody consented.
        earlier: what was released before.
        suspicions: what was asked before.
        key: what people and values are marked with; a new one if there is none.
        cohorts: the cohorts of all patients, from which packages are made where the policy wants that.
    """

    institution: Institution
    catalogue: AttributeCatalogue
    policy: SitePolicy
    network: Network
    statistics: Statistics | None = None
    patients: PatientLookup | None = None
    earlier: Earlier | None = None
    suspicions: Requests | None = None
    key: Key = dataclasses.field(default_factory=Key.new)
    cohorts: CohortSource | None = None


@dataclasses.dataclass(eq=False)
class Case:
    """A request and everything that is found out about it."""

    request: DataRequest
    around: Surroundings
    catalogue: AttributeCatalogue
    expert: ExpertDetermination | None = None
    seed: int | None = None
    today: date = dataclasses.field(default_factory=date.today)
    wanted: dict[str, Wanted] = dataclasses.field(default_factory=dict)
    treatments: dict[str, AttributeTreatment] = dataclasses.field(default_factory=dict)
    rulings: tuple[Ruling, ...] = ()
    history: RequestHistory = dataclasses.field(default_factory=RequestHistory)
    reclassified: tuple[Reclassification, ...] = ()
    base: pa.Table | None = None
    originals: dict[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    everybody: pa.Table | None = None
    everybodys: dict[str, Column] = dataclasses.field(default_factory=dict)
    known: list[KnownAttribute] = dataclasses.field(default_factory=list)
    profile: PopulationProfile | None = None
    flagger: Flagger | None = None
    actions: Actions | None = None
    draft: UnverifiedPackage | None = None
    package: Verified | None = None
    told: Told | ToldTables | None = None
    rows: Sequence[GroupedRows] = ()
    labels: dict[str, GroupLabels] = dataclasses.field(default_factory=dict)
    metrics: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def policy(self) -> SitePolicy:
        """The policy."""
        return self.around.policy

    @property
    def limits(self) -> Thresholds:
        """What a package for this purpose must keep; cohorts are only where somebody keeps them."""
        limits = self.policy.thresholds_for(self.request.purpose)
        without = limits.method == "cohorts" and self.around.cohorts is None
        return dataclasses.replace(limits, method="mondrian") if without else limits

    @property
    def least(self) -> int:
        """How many people the selection must have."""
        return self.policy.least_base(self.request.anchor, self.request.purpose)

    @property
    def patient(self) -> str:
        """The column that tells who a row is about."""
        return self.around.institution.patient

    def role(self, name: str) -> Role:
        """The class of an attribute in this request.

        What everybody was selected by is the same for all: it tells nobody apart and hides nothing.
        """
        anchor = self.request.anchor
        if name == anchor.attribute and len(anchor.values) == 1:
            return Role.INSENSITIVE
        return self.catalogue[name].role

    def names(self, role: Role) -> list[str]:
        """The attributes of one class that are still to be released."""
        return [name for name in self.wanted if self.role(name) is role]

    @property
    def sensitive(self) -> list[str]:
        """The sensitive attributes that are still to be released, the most harmful first."""
        return sorted(self.names(Role.SENSITIVE), key=lambda name: (-self.catalogue[name].damage, name))

    @property
    def conspicuous(self) -> list[str]:
        """The attributes with values that are hidden record by record."""
        known = Role.QUASI_IDENTIFIER
        return [n for n in self.wanted if self.catalogue[n].conspicuous and self.role(n) is not known]

    @property
    def damage(self) -> float:
        """How much harm the most harmful attribute that is still to be released can do."""
        return max((self.catalogue[name].damage for name in self.wanted), default=0.0)

    def drop(self, name: str, reason: str, action: Action = Action.DROP) -> None:
        """Leave an attribute out."""
        del self.wanted[name]
        self.treatments[name] = AttributeTreatment(name, action, 0, reason)

    def patients_of(self, package: Verified) -> list[str]:
        """Whose row each row of a package is."""
        assert self.base is not None
        rows = np.flatnonzero(self.live)[list(package.people)]
        return [str(who) for who in self.base.column(self.patient).take(pa.array(rows)).to_pylist()]

    @property
    def live(self) -> Mask:
        """The rows of the selection that are not deleted."""
        assert self.base is not None
        return np.ones(self.base.num_rows, dtype=bool) if self.actions is None else ~self.actions.deleted

    def roles(self) -> Mapping[str, Role]:
        """The attributes that are still to be released, with their classes."""
        return {name: self.role(name) for name in self.wanted}
