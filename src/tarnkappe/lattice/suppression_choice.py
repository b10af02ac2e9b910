"""Which classes of one node are suppressed at best, where models look at the table as a whole.

Such a model is repaired by suppressing the smallest classes, which keeps the most rows. It need not lose
least: a class of two rows that tell nothing may cost less than one row that tells everything. Here the
classes are chosen by a whole-number program: each class is kept or not, the losses of suppressed ones add up,
and every condition is a sum over the kept ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from tarnkappe.errors import ParameterError, VerificationError
from tarnkappe.lattice.problem import SearchProblem
from tarnkappe.loss.measure import Charges
from tarnkappe.privacy.evaluate import keep_all
from tarnkappe.privacy.model import Model, ModelScope
from tarnkappe.privacy.table_model import TableModel, smallest_first
from tarnkappe.table import Classes
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts

MOST_WEIGHT = 10_000_000
"""Solvers of whole-number programs work with rounded numbers: larger ones would not be told apart."""
DIGITS = 12
"""Charges that agree in so many digits are equal."""


def require_choosable(problem: SearchProblem) -> None:
    """Refuse a problem whose best choice of classes is no sum.

    Raises:
        ParameterError: with the model or the loss that is none.
    """
    for part in _parts(problem):
        sums = isinstance(part, TableModel) and part.size_weights(np.ones(1, np.int64)) is not None
        if part.scope is not ModelScope.CLASS and not sums:
            raise ParameterError(
                "lattice.choice-of-classes-model",
                "which classes are best suppressed for {model} is not known: take 'auto', which suppresses "
                "by a rule",
                model=part.name,
            )
    if problem.loss.charges(problem.classes(problem.lattice.top)) is None:
        raise ParameterError(
            "lattice.choice-of-classes-loss",
            "what {loss} loses does not add up over classes: take loss or interval-loss with the sum or the "
            "mean of the columns, or discernibility",
            loss=problem.loss,
        )


def best_choice(problem: SearchProblem, classes: Classes) -> Mask | None:
    """The classes of a node to keep, so that the promises hold and least is lost; None if nothing keeps them.

    Classes that a model on classes forbids are suppressed, and to drop others never harms these models.
    """
    parts = _parts(problem)
    allowed = keep_all(classes, classes.released, [p for p in parts if p.scope is ModelScope.CLASS])
    rules = [part for part in parts if isinstance(part, TableModel)]
    weights = [_weights(rule, classes.sizes) for rule in rules]
    if not _enough(problem, classes, allowed):
        return None
    if all(int(each[allowed].sum()) <= 0 for each in weights):
        return allowed
    charges = problem.loss.charges(classes)
    assert charges is not None, "the loss was looked at before"
    harms = np.asarray(np.any([each > 0 for each in weights], axis=0) & allowed)
    kept: Mask = np.asarray(allowed & ~harms)
    chosen = _solve(problem, classes, charges, weights, kept, smallest_first(classes, harms))
    if chosen is None:
        return None
    kept[chosen] = True
    holds = all(int(each[kept].sum()) <= 0 for each in weights) and _enough(problem, classes, kept)
    if not holds:
        raise VerificationError(
            "lattice.choice-of-classes-denied",
            "whole numbers deny the choice of classes that the solver found: nothing was chosen; please "
            "report this, it is a fault of Tarnkappe",
        )
    return kept


def _parts(problem: SearchProblem) -> list[Model]:
    return [part for model in problem.models for part in model.parts]


def _weights(rule: TableModel, sizes: Counts) -> Counts:
    weights = rule.size_weights(sizes)
    assert weights is not None, "the model was looked at before"
    if max(map(abs, weights), default=0) > MOST_WEIGHT:
        raise ParameterError(
            "lattice.choice-of-classes-fraction",
            "{model}: write the threshold as a fraction of small numbers, such as '1/20', so that whole "
            "numbers decide",
            model=rule.name,
        )
    return np.array(weights, dtype=np.int64)


def _enough(problem: SearchProblem, classes: Classes, kept: Mask) -> bool:
    return classes.num_rows - int(classes.sizes[kept].sum()) <= problem.limit


def _solve(
    problem: SearchProblem,
    classes: Classes,
    charges: Charges,
    weights: Sequence[Counts],
    kept: Mask,
    ordered: Counts,
) -> Counts | None:
    """Of the classes in this order, which to keep beside those that are kept anyway.

    Classes of one size and charge are alike, so the program only says how many of them are kept: the last in
    the order. A second program keeps the most rows among equally good choices.
    """
    scale = max(float(charges[ordered].max()), np.finfo(float).tiny)
    rounded = np.round(charges[ordered] / scale, DIGITS)
    sizes = classes.sizes[ordered]
    kinds, kind_of, counts = np.unique(
        np.stack([sizes, rounded]), axis=1, return_inverse=True, return_counts=True
    )
    first = np.array([np.flatnonzero(kind_of == kind)[0] for kind in range(len(counts))])
    own_sizes, worth = sizes[first].astype(np.float64), kinds[1]
    least_rows = classes.num_rows - problem.limit - int(classes.sizes[kept].sum())
    rows = [own_sizes, *(each[ordered][first].astype(np.float64) for each in weights)]
    low = [float(least_rows), *([-np.inf] * len(weights))]
    high = [np.inf, *(-float(each[kept].sum()) for each in weights)]
    found = _program(worth, rows, low, high, counts)
    if found is None:
        return None
    most = float(worth @ found)
    slack = 10.0**-DIGITS * max(1.0, most) * len(worth)
    again = _program(own_sizes, [*rows, worth], [*low, most - slack], [*high, np.inf], counts)
    number = found if again is None else again
    suppressed = (counts - number).tolist()
    return np.concatenate([ordered[kind_of == kind][gone:] for kind, gone in enumerate(suppressed)])


def _program(
    worth: Charges, rows: Sequence[Charges], low: Sequence[float], high: Sequence[float], most: Counts
) -> Counts | None:
    """Whole numbers from 0 to `most` with the greatest worth, every row of sums within its bounds."""
    answer = scipy.optimize.milp(
        -worth,
        integrality=np.ones(len(worth), dtype=np.int64),
        bounds=scipy.optimize.Bounds(np.zeros(len(worth)), most),
        constraints=scipy.optimize.LinearConstraint(np.stack(rows), low, high),
        options={"mip_rel_gap": 0.0},
    )
    return None if answer.x is None else np.round(answer.x).astype(np.int64)
