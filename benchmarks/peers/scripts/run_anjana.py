"""anjana: k-anonymity, or recursive diversity on top of it, by hierarchies."""

from __future__ import annotations

import pandas as pd
from anjana import anonymity
from asked import answer, job, measured

asked = job()
data = pd.read_csv(asked["table"], sep=";", dtype=str)
names = asked["quasi_identifiers"]
hierarchies = {
    name: dict(pd.read_csv(path, sep=";", header=None, dtype=str))
    for name, path in asked["hierarchies"].items()
}
percent = 100 * asked["suppression_limit"]


def work() -> pd.DataFrame:
    """What is asked for."""
    if "c" in asked:
        return anonymity.recursive_c_l_diversity(
            data, [], names, asked["sensitive"], asked["k"], asked["c"], asked["l"], percent, hierarchies
        )
    return anonymity.k_anonymity(data, [], names, asked["k"], percent, hierarchies)


release, cost = measured(work)
if len(release):
    release[["row", *names, asked["sensitive"]]].to_csv(asked["release"], sep=";", index=False)
answer("anjana", rows=len(release), **cost)
