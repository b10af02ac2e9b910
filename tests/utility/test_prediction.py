"""What classifiers learn from releases: figures of scikit-learn, and nobody who is asked about was learned from."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.table.encoding import encode_column
from tarnkappe.utility import ColumnDomain, UtilityOptions, exact_view
from tarnkappe.utility.classifier import feature_groups, features_of
from tarnkappe.utility.prediction import EvaluationProtocol, Fold, predict, stratified_folds, taken

metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
RANDOM = np.random.default_rng(3)
COAST = RANDOM.random(400) < 0.5
JOB = np.where(RANDOM.random(400) < 0.8, np.where(COAST, "sailor", "farmer"), "smith")
PEOPLE = pa.table({"coast": COAST.astype(int), "age": RANDOM.integers(20, 60, 400), "job": JOB})
DOMAINS = {name: ColumnDomain(encode_column(name, PEOPLE.column(name))) for name in PEOPLE.column_names}
WHOLE = exact_view(DOMAINS, PEOPLE)


def exact_fold(train: np.ndarray, test: np.ndarray) -> Fold:
    learned, asked = taken(WHOLE, train), taken(WHOLE, test)
    return Fold(learned, learned, asked, asked)


def test_folds_hold_out_everybody_once_with_the_same_shares() -> None:
    truth = WHOLE.cells["job"].words
    folds = stratified_folds(truth, 5)
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(400))
    for train, test in folds:
        assert {*train.tolist()}.isdisjoint(test.tolist())
        shares = np.bincount(truth[test], minlength=3) / len(test)
        assert np.abs(shares - np.bincount(truth) / 400).max() < 0.02
    again = stratified_folds(truth, 5)
    assert all((a[1] == b[1]).all() for a, b in zip(folds, again, strict=True)), "a fixed seed"


def test_the_scores_are_those_of_scikit_learn() -> None:
    from sklearn.naive_bayes import MultinomialNB

    truth = WHOLE.cells["job"].words
    folds = stratified_folds(truth, 3)
    made = [lambda a=train, b=test: exact_fold(a, b) for train, test in folds]
    (found,) = predict(
        WHOLE, "job", ["coast", "age"], EvaluationProtocol.RELEASE_TO_PEOPLE, made, ["naive-bayes"]
    )
    grouped = {name: feature_groups(WHOLE, name) for name in ("coast", "age")}
    guesses, truths = [], []
    for train, test in folds:
        learned = MultinomialNB().fit(features_of(taken(WHOLE, train), grouped), truth[train])
        guesses.append(learned.predict_proba(features_of(taken(WHOLE, test), grouped)))
        truths.append(truth[test])
    probabilities, labels = np.concatenate(guesses), np.concatenate(truths)
    chosen = probabilities.argmax(axis=1)
    assert found.release.accuracy == metrics.accuracy_score(labels, chosen)
    assert found.release.balanced_accuracy == metrics.balanced_accuracy_score(labels, chosen)
    auc = metrics.roc_auc_score(labels, probabilities, multi_class="ovr", average="macro")
    assert found.release.auc == pytest.approx(auc)
    assert found.release.log_loss == pytest.approx(metrics.log_loss(labels, probabilities))
    exact = np.eye(3)[labels]
    assert found.release.brier == pytest.approx(((probabilities - exact) ** 2).sum(axis=1).mean())
    assert found.release.accuracy == found.original.accuracy, "an exact release teaches as much"
    assert found.release.brier_skill == pytest.approx(1 - found.release.brier / found.prior.brier)


def test_random_labels_cannot_be_predicted() -> None:
    random = np.random.default_rng(5)
    table = pa.table({"x": random.integers(0, 5, 1500), "label": random.choice(["a", "b"], 1500)})
    domains = {name: ColumnDomain(encode_column(name, table.column(name))) for name in table.column_names}
    whole = exact_view(domains, table)
    folds = stratified_folds(whole.cells["label"].words, 5)

    def fold(train: np.ndarray, test: np.ndarray) -> Fold:
        learned, asked = taken(whole, train), taken(whole, test)
        return Fold(learned, learned, asked, asked)

    made = [lambda a=train, b=test: fold(a, b) for train, test in folds]
    for found in predict(
        whole,
        "label",
        ["x"],
        EvaluationProtocol.RELEASE_TO_PEOPLE,
        made,
        ["logistic-regression", "naive-bayes"],
    ):
        assert found.release.auc == pytest.approx(0.5, abs=0.05)
        assert len(found.release.roc) <= 101
        assert found.release.roc[0] == (0.0, 0.0)
        assert found.release.roc[-1] == (1.0, 1.0)


def test_what_cannot_be_predicted_is_refused() -> None:
    with pytest.raises(ParameterError, match="one value only"):
        stratified_folds(np.zeros(10, dtype=np.int64), 2)
    with pytest.raises(ParameterError, match="folds"):
        UtilityOptions(folds=21)
    with pytest.raises(ParameterError, match="unknown classifier"):
        UtilityOptions(classifiers=("svm",))
    with pytest.raises(ParameterError, match="protocol"):
        UtilityOptions(protocol="people-to-release")
