"""Additive noise: every number is moved by a random amount."""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
from msgspec import Meta

from tarnkappe.recoding.perturbation.perturbation import NumberPerturbation, Numbers
from tarnkappe.schema import param

NoiseShare = Annotated[int, Meta(gt=0, le=100)] | Annotated[float, Meta(gt=0, le=100)]


class AdditiveNoise(NumberPerturbation, kw_only=True):
    """To every number a normal one is added whose standard deviation is a share of that of the column.

    With `correlated`, the noise of several columns has the covariance of the columns, times the square of the
    share, so that correlations between them stay what they are (Kim 1986). Means stay on average, variances
    grow by the factor 1 + share². See Brand 2002, *Microdata protection through noise addition*,
    https://doi.org/10.1007/3-540-47804-3_8.
    """

    name = "noise"
    cites = ("kim1986",)

    share: Annotated[
        NoiseShare, param("the standard deviation of the noise / that of the column", start=0.1)
    ] = 0.1
    correlated: Annotated[bool, param("whether the noise of several columns is correlated as these are")] = (
        False
    )

    @classmethod
    def examples(cls, *columns: str) -> tuple[Self, ...]:
        """Instances for the common tests."""
        return (cls(columns=columns), cls(columns=columns, share=0.5, correlated=True))

    def change(self, values: Numbers, generator: np.random.Generator) -> Numbers:
        """Add the noise."""
        drawn = generator.standard_normal(values.shape)
        if not self.correlated:
            return np.asarray(values + self.share * np.nan_to_num(np.nanstd(values, axis=0)) * drawn)
        present = values[~np.isnan(values).any(axis=1)]
        if len(present) < 2:
            return values
        covariance = np.atleast_2d(np.cov(present, rowvar=False, bias=True))
        sizes, directions = np.linalg.eigh(covariance)
        root = directions * np.sqrt(np.maximum(sizes, 0.0))
        return np.asarray(values + self.share * drawn @ root.T)
