"""What a perturbation costs and how well it hides: computed from the true values, for the house alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are used

Numbers = npt.NDArray[np.float64]
CLOSE = 0.05
"""Standard deviations within which a value counts as told."""
NEARLY = 1e-9


@dataclasses.dataclass(frozen=True)
class PerturbationFigures:
    """Utility and risk of perturbed columns.

    Attributes:
        information_loss: for numbers, IL1s: the mean over all cells of |new - true| / (√2 x the standard
            deviation) (Mateo-Sanz, Sebé, Domingo-Ferrer 2004, https://doi.org/10.1007/978-3-540-25955-8_7);
            for categories, the mean over the columns of half the sum of differences of their shares.
        linked: the share of rows that somebody who has the true values and takes the nearest row finds, each
            weighted by 1 / the rows that are equally near because their true values are the same; for
            categories, the share of rows that are unchanged in all columns.
        told: the share of rows of which every value is within 0.05 standard deviations of the true one; for
            categories, the share of cells that are unchanged.
    """

    information_loss: float
    linked: float
    told: float

    def __str__(self) -> str:
        lost = f"information loss {self.information_loss:.3g}"
        return f"{lost}, {self.linked:.1%} linked, {self.told:.1%} nearly told"


def measured(before: Numbers, after: Numbers) -> PerturbationFigures:
    """The figures of columns of numbers; missing values count for nothing."""
    spread = np.nan_to_num(np.nanstd(before, axis=0)) if len(before) else np.zeros(before.shape[1])
    unit = np.where(spread > 0, spread, 1.0)
    away = np.abs(after - before) / unit
    lost = away[:, spread > 0] / np.sqrt(2)
    lost = lost[~np.isnan(lost)]
    whole = ~np.isnan(before).any(axis=1)
    if not whole.any():
        return PerturbationFigures(float(lost.mean()) if len(lost) else 0.0, 0.0, 0.0)
    told = (away[whole] <= CLOSE).all(axis=1)
    return PerturbationFigures(
        float(lost.mean()) if len(lost) else 0.0,
        _linked(before[whole] / unit, after[whole] / unit),
        float(told.mean()),
    )


def _linked(before: Numbers, after: Numbers) -> float:
    different, own, times = np.unique(before, axis=0, return_inverse=True, return_counts=True)
    nearest, _ = scipy.spatial.KDTree(different).query(after)
    distance = np.sqrt(((after - before) ** 2).sum(axis=1))
    found = distance <= nearest * (1 + NEARLY) + NEARLY
    return float((found / times[own.reshape(-1)]).mean())


def measured_categories(
    pairs: Sequence[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]],
) -> PerturbationFigures:
    """The figures of columns of categories, each as its codes before and after."""
    rows = len(pairs[0][0])
    if rows == 0:
        return PerturbationFigures(0.0, 0.0, 0.0)
    kept = np.array([before == after for before, after in pairs])
    differences = []
    for before, after in pairs:
        size = int(max(before.max(), after.max())) + 1
        moved = np.bincount(after, minlength=size) - np.bincount(before, minlength=size)
        differences.append(np.abs(moved).sum() / (2 * rows))
    return PerturbationFigures(
        float(np.mean(differences)), float(kept.all(axis=0).mean()), float(kept.mean())
    )
