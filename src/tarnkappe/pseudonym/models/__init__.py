"""The five models of pseudonymization, as parties that see no more than they must.

1. one source, one use: `without_identity`
2. several sources, one use, no way back: `DataProvider`, `OneWayService`, `User`
3. the same with a way back in two stages: `ConsentingSource`, `PidService`, `PseudonymService`, `Physician`
4. a research database: `ResearchDatabase`, filled as in 3
5. a central clinical database: `ClinicalDatabase`, `AccessService`, `TreatingPhysician`

A reference list at one central service, the other form of model 3, is left out: it is a target.
"""

from tarnkappe.pseudonym.models.clinical import AccessService, ClinicalDatabase, TreatingPhysician
from tarnkappe.pseudonym.models.consent import Consent, ConsentScope
from tarnkappe.pseudonym.models.parcels import Parcel
from tarnkappe.pseudonym.models.research import ResearchDatabase
from tarnkappe.pseudonym.models.single_use import DataProvider, OneWayService, User, without_identity
from tarnkappe.pseudonym.models.two_stage import (
    ConsentingSource,
    Physician,
    PidService,
    PseudonymService,
    identify_again,
)

__all__ = [
    "AccessService",
    "ClinicalDatabase",
    "Consent",
    "ConsentScope",
    "ConsentingSource",
    "DataProvider",
    "OneWayService",
    "Parcel",
    "Physician",
    "PidService",
    "PseudonymService",
    "ResearchDatabase",
    "TreatingPhysician",
    "User",
    "identify_again",
    "without_identity",
]
