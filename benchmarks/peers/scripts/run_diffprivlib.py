"""diffprivlib: counts with noise."""

from __future__ import annotations

import numpy as np
from asked import answer, job, measured
from diffprivlib import tools

asked = job()
ones = np.ones(asked["rows"], dtype=bool)
found, cost = measured(
    lambda: [float(tools.count_nonzero(ones, epsilon=asked["epsilon"])) for _ in range(asked["times"])]
)
answer("diffprivlib", found=found, **cost)
