"""What is known of a request and of the package for it, by the names that rules use."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.exchange.catalogue import AttributeCatalogue
from tarnkappe.exchange.network import Network
from tarnkappe.exchange.policy import SitePolicy
from tarnkappe.exchange.request import DataRequest, Purpose
from tarnkappe.exchange.rules import LegalFact
from tarnkappe.exchange.sections import built, read_toml
from tarnkappe.table import Role

STATED = {
    "lawfully_collected": "that its data were collected lawfully",
    "own_competence": "that the data belong to its own tasks",
    "correctable": "that wrong data are corrected and unlawful ones deleted",
    "public_data": "that the data are public",
    "operation_covered": "that its agreements cover the use that is asked for",
}
"""What only the institution itself can state, in its policy."""

HUMAN = {
    "consent_impracticable": "whether asking everybody would be impossible or disproportionate",
    "public_interest": "whether there is a public interest in the study",
    "important_public_interest": "whether the public interest is an important one",
}
"""What only a human can judge."""


@dataclasses.dataclass(frozen=True)
class ExpertDetermination:
    """The finding of an expert that the risk of a package is very small, as HIPAA's second way asks for.

    Attributes:
        expert: who found it.
        qualification: why she can judge it.
        method: how she found it.
        request: the digest of the request that it is about.
        decided: when.
        valid_until: until when it holds.
    """

    expert: str
    qualification: str
    method: str
    request: str
    decided: date
    valid_until: date

    @classmethod
    def load(cls, path: str | Path) -> ExpertDetermination:
        """Read the file of a finding, with these keys; days are written 2026-01-31."""
        return cls.from_dict(read_toml(path, "finding of an expert"), str(path))

    @classmethod
    def from_dict(
        cls, said: Mapping[str, Any], where: str = "the finding of an expert"
    ) -> ExpertDetermination:
        """From plain data; days may be texts."""
        values = dict(said)
        for name in ("decided", "valid_until"):
            try:
                values[name] = date.fromisoformat(str(values.get(name)))
            except ValueError:
                raise JobError(
                    "exchange.decided-valid-until-days",
                    "{where}: decided and valid_until are days, such as 2026-01-31",
                    where=where,
                ) from None
        return built(cls, values, where)

    def covers(self, request: DataRequest, today: date) -> bool:
        """Whether it is about this request and holds today."""
        said = all(text.strip() for text in (self.expert, self.qualification, self.method))
        return said and self.request == request.digest and self.decided <= today < self.valid_until


@dataclasses.dataclass(frozen=True)
class PackageFacts:
    """What verification found of a package; everything is unknown before it.

    Attributes:
        indirectly_personal: whether nobody can be singled out.
        sensitive: whether sensitive values are in protected groups.
        identity_removed: whether no primary identifier is left.
        mildest: whether no more detail is left than was asked for.
        safe_harbor: whether none of HIPAA's 18 identifiers is left.
    """

    indirectly_personal: bool | None = None
    sensitive: bool | None = None
    identity_removed: bool | None = None
    mildest: bool | None = None
    safe_harbor: bool | None = None


def gather(
    request: DataRequest,
    catalogue: AttributeCatalogue,
    policy: SitePolicy,
    network: Network,
    *,
    consent: bool | None = None,
    expert: ExpertDetermination | None = None,
    package: PackageFacts | None = None,
    today: date | None = None,
) -> dict[str, LegalFact]:
    """Everything that rules may ask for."""
    return {
        **_of_request(request, catalogue),
        **_of_recipient(request, network),
        **_of_policy(request, policy),
        **_of_package(package or PackageFacts()),
        "consent": _consent(request, consent),
        "expert_determination": _expert(request, expert, today or date.today()),
        "release_log": LegalFact(True, "every release is logged for every patient in it"),
        **{name: LegalFact(None, f"a human has to judge {what}") for name, what in HUMAN.items()},
    }


def _of_request(request: DataRequest, catalogue: AttributeCatalogue) -> dict[str, LegalFact]:
    known = [catalogue[name] for name in request.names if name in catalogue]
    sensitive = any(each.role is Role.SENSITIVE or each.special_category for each in known)
    claimed = "approval" in request.legal_basis
    stated = bool(request.question.strip())
    return {
        "purpose_stated": LegalFact(stated, "a purpose is given" if stated else "no purpose is given"),
        "only_essential": LegalFact(True, "attributes that the purpose does not need are dropped"),
        "research": LegalFact(request.purpose is Purpose.RESEARCH, f"the purpose is {request.purpose}"),
        "anonymized": LegalFact(
            not request.reidentification,
            "somebody may have to be identified again"
            if request.reidentification
            else "nobody has to be identified again",
        ),
        "sensitive_requested": LegalFact(
            sensitive, "sensitive data are asked for" if sensitive else "no sensitive data are asked for"
        ),
        "approval_claimed": LegalFact(
            claimed, f"{'an' if claimed else 'no'} approval by the authority is claimed"
        ),
    }


def _of_recipient(request: DataRequest, network: Network) -> dict[str, LegalFact]:
    member = network.find(request.institution)
    competent = member is not None and request.purpose in member.purposes
    shown = "has" if competent else "has not"
    return {
        "recipient_in_network": LegalFact(
            member is not None,
            "the institution belongs to the network" if member else "the institution is not in the network",
        ),
        "recipient_competent": LegalFact(
            competent, f"the institution {shown} shown competence for the purpose"
        ),
        "purpose_lawful": LegalFact(competent, f"the institution {shown} been admitted for the purpose"),
        "bound_to_secrecy": LegalFact(
            None if member is None else member.bound_to_secrecy, "what the network says of secrecy there"
        ),
    }


def _of_policy(request: DataRequest, policy: SitePolicy) -> dict[str, LegalFact]:
    facts = {
        name: LegalFact(
            policy.statements.get(name),
            f"the institution {_states(policy.statements.get(name))} {what}",
        )
        for name, what in STATED.items()
    }
    approval = request.legal_basis.get("approval")
    looked_up = approval is not None and approval in policy.approvals
    facts["approval"] = LegalFact(
        True if looked_up else False if approval is None else None,
        "the approval was looked up"
        if looked_up
        else "no approval is claimed"
        if approval is None
        else "a human has to look up the approval",
    )
    law = "special_law" in request.legal_basis
    facts["special_law"] = LegalFact(
        None if law else False, f"{'a human has to look up the' if law else 'no'} special law that is claimed"
    )
    return facts


def _states(said: bool | None) -> str:
    return "has not stated" if said is None else "states" if said else "denies"


def _of_package(package: PackageFacts) -> dict[str, LegalFact]:
    told: Mapping[str, tuple[bool | None, str, str]] = {
        "indirectly_personal": (
            package.indirectly_personal,
            "nobody can be singled out in the package",
            "somebody can be singled out",
        ),
        "sensitive_protected": (
            package.sensitive,
            "sensitive values are in protected groups",
            "a group gives a sensitive value away",
        ),
        "identity_removed": (
            package.identity_removed,
            "no primary identifier is in the package",
            "a primary identifier is left",
        ),
        "mildest_means": (
            package.mildest,
            "no more detail is left than was asked for",
            "more detail is left than was asked for",
        ),
        "safe_harbor": (
            package.safe_harbor,
            "none of the 18 identifiers was found in the package",
            "some of the 18 identifiers were found",
        ),
    }
    return {
        name: LegalFact(
            value, "that shows when the package is made" if value is None else yes if value else no
        )
        for name, (value, yes, no) in told.items()
    }


def _consent(request: DataRequest, covered: bool | None) -> LegalFact:
    if not request.reidentification:
        return LegalFact(False, "consent is not what this request rests on")
    words = {
        None: "nobody has looked yet whose consent covers the use",
        True: "only people whose consent covers the use are in the package",
        False: "consent does not cover the use",
    }
    return LegalFact(covered, words[covered])


def _expert(request: DataRequest, expert: ExpertDetermination | None, today: date) -> LegalFact:
    if expert is None:
        return LegalFact(False, "no expert has judged the package")
    holds = expert.covers(request, today)
    return LegalFact(
        holds, f"the finding of an expert {'covers' if holds else 'does not cover'} this request"
    )
