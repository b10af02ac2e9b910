"""What classifiers learn from a release, measured on rows that they did not learn from, fold by fold.

Two protocols, named in every result:

- `release-to-people`: each training part is anonymized anew, and the original rows of the part that was held
  out are predicted. This is what a release is good for: to say something about people.
- `release-to-release`: one release is divided into folds, and its own generalized rows are predicted.

Each is compared with a classifier that learned from the original, and with always saying how frequent the
values are. Features are those of `classifier.py`: a generalized cell is spread over the values that it stands
for.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from tarnkappe.errors import ParameterError
from tarnkappe.utility.classifier import drawn_values, feature_groups, features_of
from tarnkappe.utility.domain import Weights
from tarnkappe.utility.view import ReleaseReader

Rows = npt.NDArray[np.int64]
FOLDS = 10
TREES = 100
ROC_POINTS = 101
LOGISTIC = "logistic-regression"
FOREST = "random-forest"
BAYES = "naive-bayes"
CLASSIFIERS = (LOGISTIC, FOREST, BAYES)


class EvaluationProtocol(StrEnum):
    """What is learned from, and what is predicted."""

    RELEASE_TO_PEOPLE = "release-to-people"
    RELEASE_TO_RELEASE = "release-to-release"


@dataclasses.dataclass(frozen=True, eq=False)
class Scores:
    """How good predictions are.

    Attributes:
        accuracy: how often the likeliest value is right.
        balanced_accuracy: the mean over the values of how often it is right among their rows.
        auc: the area under the ROC curve, each value against all others, the mean over the values.
        brier: the mean squared difference of the probabilities from the truth, summed over the values.
        brier_skill: 1 - brier / that of always saying how frequent the values are.
        log_loss: the mean of -log of the probability of the truth.
        roc: for a target of two values, the curve as false and true positive rates.
    """

    accuracy: float
    balanced_accuracy: float
    auc: float | None
    brier: float
    brier_skill: float | None
    log_loss: float
    roc: tuple[tuple[float, float], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The figures by name, without the curve."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "roc"}


@dataclasses.dataclass(frozen=True, eq=False)
class Prediction:
    """What one classifier learned about one column.

    Attributes:
        target: the column that is predicted.
        classifier: its name.
        protocol: what was learned from and predicted.
        folds: how many parts were held out, one after the other.
        release: by a classifier that learned from releases.
        original: by one that learned from the original.
        prior: by always saying how frequent the values are.
        rows: how many rows were predicted.
        suppressed: how many rows were missing from the training releases, all folds together.
        rarest: how many people have the rarest value of the target.
    """

    target: str
    classifier: str
    protocol: EvaluationProtocol
    folds: int
    release: Scores
    original: Scores
    prior: Scores
    rows: int
    suppressed: int
    rarest: int

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON."""
        release, original, prior = self.release.to_dict(), self.original.to_dict(), self.prior.to_dict()
        return {
            "target": self.target,
            "classifier": self.classifier,
            "protocol": str(self.protocol),
            "folds": self.folds,
            "rows": self.rows,
            "suppressed": self.suppressed,
            **{
                name: {"release": release[name], "original": original[name], "prior": prior[name]}
                for name in release
            },
            "roc": {"release": self.release.roc, "original": self.original.roc},
        }


@dataclasses.dataclass(frozen=True, eq=False)
class Fold:
    """One part that is held out, and what is learned from the others.

    Attributes:
        original: the exact training rows.
        release: what a release says of them.
        original_test: the rows to be predicted after learning from the original.
        release_test: those to be predicted after learning from the release.
        suppressed: how many training rows the release lacks.
    """

    original: ReleaseReader
    release: ReleaseReader
    original_test: ReleaseReader
    release_test: ReleaseReader
    suppressed: int = 0


def stratified_folds(target: npt.NDArray[Any], folds: int, seed: int = 0) -> list[tuple[Rows, Rows]]:
    """The training rows and the held-out rows of each fold, with about the same shares of every value."""
    try:
        from sklearn.model_selection import StratifiedKFold
    except ImportError:
        raise _without_scikit() from None
    counts = np.bincount(target)
    if np.count_nonzero(counts) < 2:
        raise ParameterError(
            "utility.target-value-only-nothing-predict",
            "the target has one value only: there is nothing to predict",
        )
    if counts.max() < folds:
        raise ParameterError(
            "utility.no-value-target-occurs",
            "no value of the target occurs {folds} times: take fewer folds",
            folds=folds,
        )
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rare values are in some folds only
        return [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(target, target)]


def predict(
    whole: ReleaseReader,
    target: str,
    features: Sequence[str],
    protocol: EvaluationProtocol,
    folds: Sequence[Callable[[], Fold]],
    classifiers: Sequence[str] = CLASSIFIERS,
    *,
    seed: int = 0,
) -> list[Prediction]:
    """Learn from every fold and predict what it holds out.

    Args:
        whole: the original, whose values decide the features.
        target: the column to be predicted.
        features: the columns to predict it from.
        protocol: how the folds were made.
        folds: what makes each fold; they are made one after the other.
        classifiers: names of classifiers.
        seed: of what is drawn.
    """
    grouped = {name: feature_groups(whole, name) for name in features if name != target}
    if not grouped:
        raise ParameterError(
            "utility.nothing-predict-name-other-columns",
            "there is nothing to predict '{target}' from: name other columns",
            target=target,
        )
    size = whole.domains[target].size
    guesses: dict[tuple[str, str], list[Weights]] = {}
    truths: dict[str, list[Rows]] = {"release": [], "original": []}
    priors: list[Weights] = []
    suppressed = 0
    for make in folds:
        fold = make()
        suppressed += fold.suppressed
        for kind, train, test in (
            ("release", fold.release, fold.release_test),
            ("original", fold.original, fold.original_test),
        ):
            labels = drawn_values(train.cells[target], np.random.default_rng(seed))
            asked = features_of(test, grouped)
            truths[kind].append(drawn_values(test.cells[target], np.random.default_rng(seed)))
            if kind == "original":
                shares = np.bincount(labels, minlength=size) / max(len(labels), 1)
                priors.append(np.tile(shares, (len(asked), 1)))
            known = features_of(train, grouped)
            for name in classifiers:
                guesses.setdefault((kind, name), []).append(_learn(name, known, labels, asked, size, seed))
    counts = np.bincount(whole.cells[target].words, minlength=size)
    rarest = int(counts[counts > 0].min())
    truth = {kind: np.concatenate(parts) for kind, parts in truths.items()}
    base = _scores(np.concatenate(priors), truth["original"], None)
    found = []
    for name in classifiers:
        own = {
            kind: _scores(np.concatenate(guesses[kind, name]), truth[kind], base.brier)
            for kind in ("release", "original")
        }
        found.append(
            Prediction(
                target,
                name,
                protocol,
                len(folds),
                own["release"],
                own["original"],
                base,
                len(truth["release"]),
                suppressed,
                rarest,
            )
        )
    return found


def _learn(name: str, known: Weights, labels: Rows, asked: Weights, size: int, seed: int) -> Weights:
    """How likely each value is for every row that is asked about."""
    found = np.zeros((len(asked), size))
    values = np.unique(labels)
    if len(values) < 2:  # a release that tells nothing else
        found[:, values] = 1.0
        return found
    learned = _classifier(name, seed).fit(known, labels)
    found[:, learned.classes_] = learned.predict_proba(asked)
    return found


def _classifier(name: str, seed: int) -> Any:
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.naive_bayes import MultinomialNB
    except ImportError:
        raise _without_scikit() from None
    if name == LOGISTIC:
        return LogisticRegression(max_iter=1000)
    return RandomForestClassifier(TREES, random_state=seed) if name == FOREST else MultinomialNB()


def _scores(guesses: Weights, truth: Rows, base: float | None) -> Scores:
    from sklearn.metrics import balanced_accuracy_score, roc_auc_score, roc_curve

    occurring = np.unique(truth)
    chosen = guesses.argmax(axis=1)
    exact = np.zeros_like(guesses)
    exact[np.arange(len(truth)), truth] = 1.0
    brier = float(((guesses - exact) ** 2).sum(axis=1).mean())
    told = np.clip(guesses[np.arange(len(truth)), truth], 1e-15, 1.0)
    auc: float | None = None
    roc: tuple[tuple[float, float], ...] = ()
    if len(occurring) > 1:
        auc = float(np.mean([roc_auc_score(truth == value, guesses[:, value]) for value in occurring]))
        if len(occurring) == 2:
            false, true, _ = roc_curve(truth == occurring[1], guesses[:, occurring[1]])
            places = np.unique(np.linspace(0, len(false) - 1, ROC_POINTS).round().astype(np.int64))
            roc = tuple((float(false[i]), float(true[i])) for i in places)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a value that is predicted and does not occur
        balanced = float(balanced_accuracy_score(truth, chosen))
    return Scores(
        float((chosen == truth).mean()),
        balanced,
        auc,
        brier,
        None if not base else 1 - brier / base,
        float(-np.log(told).mean()),
        roc,
    )


def taken(view: ReleaseReader, rows: Rows) -> ReleaseReader:
    """Some rows of a view."""
    cells: Mapping[str, Any] = {
        name: dataclasses.replace(own, words=own.words[rows]) for name, own in view.cells.items()
    }
    return ReleaseReader(view.domains, cells, len(rows))


def _without_scikit() -> ParameterError:
    return ParameterError(
        "utility.classifier-needs-package-scikit",
        "a classifier needs the package scikit-learn (pip install 'tarnkappe[compare]')",
    )
