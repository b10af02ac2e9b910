"""Differential privacy by random sampling and generalization, without noise in any value."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Annotated

import numpy as np
import scipy  # its parts are loaded when they are used

from tarnkappe.privacy.exact import decimal
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.model import Direction, Measure, Model, Monotonicity
from tarnkappe.privacy.requiring import require
from tarnkappe.schema import ExactPositiveShare, NotNegative, Positive, Problem, param, rule
from tarnkappe.table import Classes, Tuples
from tarnkappe.table.classes import Mask

ROUNDING = 1e-9
"""More than the relative error of every number computed here; each is rounded to the side of more privacy."""

CHUNK = 1024


class DifferentialPrivacy(Model):
    """(epsilon,delta)-differential privacy of a sampled, generalized and k-anonymous release.

    Li, Qardaji and Su 2011; SafePub, Bild, Kuhn and Prasser 2018. Three things must be so:

    1. Each row of the input is drawn by itself at random, with probability `sampling_rate`, before
       anything else is done (`draw`), and nobody learns which rows were drawn.
    2. The levels were chosen without looking at the data, or by the private choice of
       `lattice/private_choice.py`, which gets the part `search_budget` of epsilon. A search for the best
       levels looks at the data, so it must not choose them. Hierarchies do not depend on the data either.
    3. All released columns are generalized quasi-identifiers.

    Then suppressing all classes with fewer than `k` of the drawn rows is (epsilon,delta)-differentially
    private, with k the smallest for which `tail_bound` is at most delta.

    The argument, for two inputs that differ by one row of a class, which has n rows in the larger one. With b
    the sampling rate, j rows of the class are drawn with probability f(j; n) from the larger input and
    f(j; n - 1) from the other, and f(j; n) / f(j; n - 1) = (1 - b) n / (n - j). This is at least 1 - b, that
    is at least e^-epsilon since b <= 1 - e^-epsilon, and it is at most e^epsilon unless j > g n, with
    g = 1 - (1 - b) e^-epsilon. What exceeds the factor is seen only if j >= k. If g n >= k, it has at most
    the probability a(n) = P(Binomial(n, b) > g n). If g n < k, it has the probability P(Binomial(n, b) >= k),
    which rises with n and is at most a(n) for the last such n. So delta is the largest a(n) over all n from
    that one on, those with g (n + 1) >= k.

    With a search budget, epsilon in this argument is what is left. The choice looks at all rows, and the rows
    to release are drawn afterwards by themselves, so the two compose: the second is private for whatever
    levels the first may choose. (A choice that looked at the drawn rows would share their randomness, and
    what is proven of the sample would not hold any more once its outcome is known.)

    As a condition on classes it is k-anonymity, which is monotone with suppression.
    """

    name = "differential-privacy"
    cites = ("bild2018",)
    direction = Direction.AT_LEAST
    looks_beyond_release = True

    epsilon: Annotated[
        Positive,
        param("how much one person may change the probability of a release, as a logarithm", start=1.0),
    ]
    delta: Annotated[
        ExactPositiveShare, param("the probability that epsilon does not hold", kind="share", start=1e-6)
    ]

    search_budget: Annotated[
        NotNegative,
        param("the part of epsilon that a private choice of the levels takes; 0 if they are fixed"),
    ] = 0.0
    search_steps: Annotated[
        int,
        param("how many combinations of levels the private choice goes through", ge=1, le=1_000),
    ] = 20

    def rules(self) -> Iterator[Problem]:
        if decimal(self.delta) >= 1:
            yield rule("differential-privacy.delta", "a delta below 1 is needed", "delta")
        if decimal(self.search_budget) >= decimal(self.epsilon):
            yield rule(
                "differential-privacy.search-budget",
                "the private choice of the levels takes a part of epsilon: less than {epsilon} is needed",
                "search_budget",
                epsilon=self.epsilon,
            )

    @classmethod
    def examples(cls) -> tuple[DifferentialPrivacy, ...]:
        return (cls(1, 0.4), cls(0.5, 0.2))

    @property
    def release_epsilon(self) -> float:
        """What is left of epsilon for the release itself."""
        return float(decimal(self.epsilon) - decimal(self.search_budget))

    @property
    def sampling_rate(self) -> float:
        """The probability with which each row is drawn: 1 - e^-epsilon of the release, rounded down."""
        return -math.expm1(-self.release_epsilon) * (1 - ROUNDING)

    @property
    def k(self) -> int:
        """How many drawn rows every released class has at least."""
        return least_class_size(self.release_epsilon, self.sampling_rate, float(decimal(self.delta)))

    @property
    def promise(self) -> str:
        factor = math.exp(min(self.epsilon, 700))  # the least that can be written of more
        chosen = (
            f"privately, with {self.search_budget:g} of this epsilon,"
            if self.search_budget
            else "without looking at the data,"
        )
        return (
            "Whether somebody is in the table makes no release more likely than by a factor of "
            f"{factor:.4g}, except with probability {self.delta}; provided that each row was "
            f"first drawn at random with probability {self.sampling_rate:.4g}, that the levels were chosen "
            f"{chosen} and that all released columns are generalized."
        )

    @property
    def bound(self) -> float:
        return self.k

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True,
            True,
            "Generalization only merges classes, so sizes never fall; but levels found by a search that "
            "looked at the data break the promise.",
        )

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return (KAnonymity(self.k),)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        for name in tuples.columns:
            require(
                name in quasi_identifiers,
                "privacy.column-would-released-make",
                "{model}: the column '{name}' would be released as it is: make it a quasi-identifier or "
                "drop it",
                model=self,
                name=name,
            )
        KAnonymity(self.k).check(tuples, quasi_identifiers)

    def draw(self, num_rows: int, seed: int | None = None) -> Mask:
        """Draw rows, each by itself with the sampling rate.

        Without a seed the operating system's randomness is used; a seed is for tests only.
        """
        raw = os.urandom(8 * num_rows) if seed is None else np.random.default_rng(seed).bytes(8 * num_rows)
        return np.frombuffer(raw, dtype=np.uint64) < np.uint64(math.floor(self.sampling_rate * 2.0**64))

    def measure(self, classes: Classes) -> Measure:
        return classes.sizes.astype(np.float64)

    def holds(self, classes: Classes) -> Mask:
        return classes.sizes >= self.k

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return f"SELECT class, size AS value, size >= {self.k} AS holds FROM classes"


@lru_cache(maxsize=256)
def least_class_size(epsilon: float, rate: float, delta: float) -> int:
    """The smallest k whose tail bound is at most delta.

    The bound is a maximum over fewer numbers the larger k is, so it never rises with k and can be bisected.
    """
    too_small, enough = 0, 1
    while tail_bound(epsilon, rate, enough) > delta:
        too_small, enough = enough, 2 * enough
    while enough - too_small > 1:
        tried = (too_small + enough) // 2
        if tail_bound(epsilon, rate, tried) > delta:
            too_small = tried
        else:
            enough = tried
    return enough


def tail_bound(epsilon: float, rate: float, k: int) -> float:
    """The largest of P(Binomial(n, rate) > g n) over all n with g (n + 1) >= k, rounded up.

    g = 1 - (1 - rate) e^-epsilon. It is enough to look at n until Chernoff's bound on all further terms,
    e^(-n (g ln(g / rate) - (g - rate))), which falls with n, is below the largest term found.
    """
    g = 1 - (1 - rate) * math.exp(-epsilon)
    exponent = (g * math.log(g / rate) - (g - rate)) * (1 - ROUNDING)
    first = max(1, math.ceil(k / (g * (1 + ROUNDING)) - 1))
    largest = 0.0
    while True:
        n = np.arange(first, first + CHUNK, dtype=np.float64)
        above = np.floor(n * g * (1 - ROUNDING))
        terms = scipy.special.betainc(
            above + 1, n - above, rate
        )  # P(Binomial(n, rate) > above), for above < n
        largest = max(largest, float(terms.max()) * (1 + ROUNDING))
        first += CHUNK
        if math.exp(-first * exponent) <= largest:
            return largest
