"""pycanon: which guarantees a table has."""

from __future__ import annotations

import pandas as pd
from asked import answer, job, measured
from pycanon import anonymity

asked = job()
data = pd.read_csv(asked["table"], sep=";", dtype=str)
names, sensitive = asked["quasi_identifiers"], [asked["sensitive"]]


def work() -> dict[str, float]:
    """Every measure that both tools have."""
    c, l = anonymity.recursive_c_l_diversity(data, names, sensitive)  # noqa: E741
    return {
        "k": float(anonymity.k_anonymity(data, names)),
        "distinct_l": float(anonymity.l_diversity(data, names, sensitive)),
        "entropy_l": float(anonymity.entropy_l_diversity(data, names, sensitive)),
        "recursive_l": float(l),
        "recursive_c": float(c),
        "t_equal": float(anonymity.t_closeness(data, names, sensitive)),
    }


found, cost = measured(work)
answer("pycanon", found=found, **cost)
