"""Every party asks again, in SQL, whether the release that came keeps what the contract promises.

Only then does it keep the release. Nothing here uses the encoded table, the ciphers or the search, so
that neither a mistake of ours nor a helper or master that cheats puts a weaker release into a file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import duckdb
import pyarrow as pa

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.contract import Contract
from tarnkappe.privacy import Model
from tarnkappe.privacy.verify import verify

WHOLE_TABLE = re.compile(r"\b(totals|input|input_size)\b")
"""What a query asks of the rows before suppression: a release without suppressed rows has them all."""
NOT_RELEASED = re.compile(r"\b(population|levels|leaves)\b")
"""What no release has: people who are not released, and the hierarchies of sensitive values."""


def require_promises(release: pa.Table, contract: Contract, suppressed: int) -> None:
    """Refuse a release that breaks a promise which can be seen in it."""
    asked = verifiable(contract, suppressed)
    with duckdb.connect(config={"temp_directory": ""}) as connection:  # nothing is spilled to disk
        connection.register("release", release)
        connection.register("input", release)
        for found in verify(connection, asked, contract.quasi_identifiers):
            if not found.holds:
                raise ProtocolError(
                    f"the release that came does not keep {found.model}: it is not kept, and the run ends"
                )


def verifiable(contract: Contract, suppressed: int) -> Sequence[Model]:
    """The promises that can be verified by whoever has the release and nothing else."""
    unknown = [NOT_RELEASED, WHOLE_TABLE] if suppressed else [NOT_RELEASED]
    return [
        part
        for model in contract.models
        for part in model.parts
        if not any(words.search(part.sql(contract.quasi_identifiers)) for words in unknown)
    ]
