"""The ciphers of the protocols: all from libraries but Paillier, which is a small module on gmpy2.

(And P-192, which no library offers with its first coordinates alone; it is there for comparison only.)
"""

from tarnkappe.federation.ciphers.agreement import Agreement, derive
from tarnkappe.federation.ciphers.column_key import ColumnKey, person_tokens
from tarnkappe.federation.ciphers.curve192 import Curve192
from tarnkappe.federation.ciphers.group import Group
from tarnkappe.federation.ciphers.paillier import PrivateKey, PublicKey
from tarnkappe.federation.ciphers.pohlig_hellman import (
    PohligHellman1536,
    PohligHellman2048,
    PohligHellman3072,
)
from tarnkappe.federation.ciphers.ristretto import Ristretto255
from tarnkappe.schema import Family

GROUPS: Family[Group] = Family(
    "group",
    Ristretto255,
    PohligHellman3072,
    PohligHellman2048,
    PohligHellman1536,
    Curve192,
)

__all__ = [
    "GROUPS",
    "Agreement",
    "ColumnKey",
    "Curve192",
    "Group",
    "PohligHellman1536",
    "PohligHellman2048",
    "PohligHellman3072",
    "PrivateKey",
    "PublicKey",
    "Ristretto255",
    "derive",
    "person_tokens",
]
