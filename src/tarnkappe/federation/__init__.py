"""Several sites publish one anonymized table.

Three protocols, each for rows or columns that are distributed over any number of parties: `ring` (A),
`star` (B) and `masked` (C). The state machines in them know nothing of networks; `service` lets them talk
over mutual TLS.
"""

from importlib.util import find_spec

from tarnkappe.errors import ParameterError


def require_packages() -> None:
    """Say how to get the packages that federations need beside those of all other parts."""
    if find_spec("rbcl") is None:
        raise ParameterError(
            "federation.federations-need-rbcl-pip",
            "federations need rbcl: pip install 'tarnkappe[federation]'",
        )


__all__ = ["require_packages"]
