"""What a classifier learns from a release, compared with what it learns from the original.

A naive Bayes classifier predicts one column from the quasi-identifiers. Each quasi-identifier becomes as many
features as it has values (or ranges of numbers), and a row has in them what its reader knows: a generalized
cell is spread over the values that it stands for. This classifier learns from sums of features, and sums of
spread cells are what is to be expected of the exact ones: no way to fill in generalized cells would serve it
better. What it learned from any release can be asked about exact rows that are not in it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tarnkappe.errors import ParameterError
from tarnkappe.utility.domain import ReleasedCells
from tarnkappe.utility.view import ReleaseReader

MOST_FEATURES = 20
"""A column gets so many features at most: ranges of numbers with about equally many rows, or its most
frequent
values and one for the others."""

Features = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Accuracy:
    """How often a prediction is right, on rows that nobody learned from.

    Attributes:
        target: the column that is predicted.
        original: by a classifier that learned from the original.
        release: by one that learned from the release.
        most_frequent: by always guessing the most frequent value.
        rows: how many rows were predicted.
    """

    target: str
    original: float
    release: float
    most_frequent: float
    rows: int

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return dataclasses.asdict(self)


def classifier_accuracy(
    original: ReleaseReader,
    release: ReleaseReader,
    held_out: ReleaseReader,
    target: str,
    features: Sequence[str],
    *,
    seed: int = 0,
) -> Accuracy:
    """Train on the original and on a release of the same rows, and predict rows that are in neither.

    Raises:
        ParameterError: if scikit-learn is missing, or there is only one value to predict.
    """
    groups = {name: feature_groups(original, name) for name in features if name != target}
    if not groups:
        raise ParameterError(
            "utility.nothing-predict-name-other-quasi",
            "there is nothing to predict '{target}' from: name other quasi-identifiers",
            target=target,
        )
    truth = held_out.cells[target].words
    classes = np.bincount(original.cells[target].words, minlength=original.domains[target].size)
    if np.count_nonzero(classes) < 2:
        raise ParameterError(
            "utility.value-only-nothing-predict",
            "'{target}' has one value only: there is nothing to predict",
            target=target,
        )
    rows = features_of(held_out, groups)
    guesses = [_learn(view, groups, target, seed)(rows) for view in (original, release)]
    ours, theirs = (float((guess == truth).mean()) for guess in guesses)
    return Accuracy(target, ours, theirs, float((truth == classes.argmax()).mean()), len(truth))


def _learn(
    view: ReleaseReader, groups: Mapping[str, Features], target: str, seed: int
) -> Callable[[Features], npt.NDArray[np.int64]]:
    """A function from features to predicted values."""
    try:
        from sklearn.naive_bayes import MultinomialNB
    except ImportError:
        raise ParameterError(
            "utility.classifier-needs-package-scikit",
            "a classifier needs the package scikit-learn (pip install 'tarnkappe[compare]')",
        ) from None
    labels = drawn_values(view.cells[target], np.random.default_rng(seed))
    learned = MultinomialNB().fit(features_of(view, groups), labels)
    return lambda rows: np.asarray(learned.predict(rows), dtype=np.int64)


def drawn_values(cells: ReleasedCells, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """A value for each row; where a release tells only how likely values are (Anatomy), one is drawn so."""
    ends, reached = cells.meanings.indptr, np.concatenate([[0.0], np.cumsum(cells.meanings.data)])
    first, last = reached[ends[cells.words]], reached[ends[cells.words + 1]]
    place = np.searchsorted(reached, first + random.random(len(first)) * (last - first), "right") - 1
    place = np.clip(place, ends[cells.words], ends[cells.words + 1] - 1)
    return np.asarray(cells.meanings.indices[place], dtype=np.int64)


def features_of(view: ReleaseReader, groups: Mapping[str, Features]) -> Features:
    """What is known of each row, feature by feature."""
    return np.hstack(
        [(view.cells[name].meanings @ group)[view.cells[name].words] for name, group in groups.items()]
    )


def feature_groups(original: ReleaseReader, name: str) -> Features:
    """Which feature of a column each value of its domain belongs to, as a matrix of ones."""
    domain = original.domains[name]
    counts = np.bincount(original.cells[name].words, minlength=domain.size)
    if domain.size <= MOST_FEATURES:
        place = np.arange(domain.size)
    elif domain.numbers is not None:
        place = (np.cumsum(counts) - counts) * MOST_FEATURES // max(int(counts.sum()), 1)
    else:
        place = np.minimum(np.argsort(np.argsort(-counts, kind="stable")), MOST_FEATURES - 1)
    group = np.zeros((domain.size, int(place.max()) + 1))
    group[np.arange(domain.size), np.minimum(place, MOST_FEATURES - 1)] = 1.0
    return group
