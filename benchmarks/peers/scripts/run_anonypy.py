"""anonypy: Mondrian with k-anonymity, or with closeness on top of it."""

from __future__ import annotations

import anonypy
import pandas as pd
from asked import answer, job, measured

asked = job()
data = pd.read_csv(asked["table"], sep=";", dtype=str)
names, sensitive = asked["quasi_identifiers"], asked["sensitive"]
for name in names:
    data[name] = data[name].astype(int) if name in asked["numbers"] else data[name].astype("category")
data[sensitive] = data[sensitive].astype("category")


def work() -> list[dict[str, object]]:
    """What is asked for: one line for each group and sensitive value, with how many rows it stands for."""
    preserver = anonypy.Preserver(data, names, sensitive)
    if "t" in asked:
        return preserver.anonymize_t_closeness(asked["k"], asked["t"])
    return preserver.anonymize_k_anonymity(asked["k"])


lines, cost = measured(work)
frame = pd.DataFrame(lines)
for name in names:
    frame[name] = [cell[0] if isinstance(cell, list) else cell for cell in frame[name]]
release = frame.loc[frame.index.repeat(frame["count"])]
release[[*names, sensitive]].to_csv(asked["release"], sep=";", index=False)
answer("anonypy", rows=len(release), **cost)
