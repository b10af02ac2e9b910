"""Which models, losses and searches a protocol can do; what it cannot is refused before the start."""

from __future__ import annotations

import math

from tarnkappe.errors import ParameterError
from tarnkappe.federation.contract import Contract, Reveal
from tarnkappe.federation.remote_search import asking_search
from tarnkappe.lattice import AutoSearch
from tarnkappe.loss import AggregateFunction, Entropy, LeafLoss, Leaves, Loss
from tarnkappe.privacy import Model

BY_SIZE = {"k-anonymity", "average-risk", "sample-uniqueness"}
BY_VALUES = {
    "distinct-diversity",
    "entropy-diversity",
    "recursive-diversity",
    "equal-closeness",
    "hierarchical-closeness",
    "variational-closeness",
    "kullback-leibler-closeness",
    "delta-disclosure",
    "basic-beta-likeness",
    "enhanced-beta-likeness",
    "p-sensitive-k-anonymity",
    "alpha-k-anonymity",
}
BY_LABELS = {
    "subset-anonymity",
    "subset-confidence",
    "lkc-privacy",
    "x-y-anonymity",
    "x-y-linkability",
    "x-y-privacy",
    "positive-disclosure-recursive-diversity",
    "prosecutor-no-attack",
}
BY_POPULATION = {"delta-presence", "population-coverage", "k-map"}
"""Models that count people who are not released, which a column of the parties marks."""

COMPARED_WITH_TABLE = {
    "equal-closeness",
    "hierarchical-closeness",
    "variational-closeness",
    "kullback-leibler-closeness",
    "delta-disclosure",
    "basic-beta-likeness",
    "enhanced-beta-likeness",
}
"""Models that compare a class with the whole table: the holder of the key must recognize values again."""

LEVELS_ONLY = {"height", "precision-star"}
BY_CLASS_SIZE = {
    "precision",
    "aecs",
    "aecs-released",
    "normalized-class-size",
    "discernibility",
    "discernibility-star",
    "discernibility-star-released",
}
BY_VALUE_COUNTS = {"entropy", "entropy-uniform", "normalized-entropy"}
BY_CLASS_LABELS = {"entropy-suppression-aware", "loss", "loss-geometric-mean", "classification"}

NO_INSIDER_COLUMN = (
    "a federated release has no column that says whose row it is: say insiders = 1 in an oblivious run"
)
WHY_NOT = {
    "ordered-closeness": "it needs the order of sensitive values, and ciphertexts have none",
    "value-closeness": "it computes with sensitive numbers, and ciphertexts are none",
    "squared-error-diversity": "it computes with sensitive numbers, and ciphertexts are none",
    "value-range": "it computes with sensitive numbers, and ciphertexts are none",
    "k-e-anonymity": "it computes with sensitive numbers, and ciphertexts are none",
    "epsilon-m-anonymity": "it computes with sensitive numbers, and ciphertexts are none",
    "interval-loss": "it measures intervals of numbers, and ciphertexts are none",
    "confidence-bounding": "it names sensitive values, which ciphertexts hide",
    "personalized-anonymity": "it names sensitive values, which ciphertexts hide",
    "negative-disclosure-recursive-diversity": "it names sensitive values, which ciphertexts hide",
    "multi-relational-k-anonymity": "it counts people over several rows, whose keys are not integrated",
    "ambiguity": "how many values lie under every label would tell which ciphertext is which label",
    "precision-cells": "it measures cells at different levels, and sites choose one level for a column: use "
    "'precision', which is then the same",
    "kl-divergence": "how many values lie under every label would tell which ciphertext is which label",
    "m-privacy": NO_INSIDER_COLUMN,
    "m-private-diversity": NO_INSIDER_COLUMN,
    "differential-privacy": "it draws a sample of people, and no party may know who is in it",
}
NAMED_VALUES = ("values", "harmless")
SHARED_MODELS = {"k-anonymity", "distinct-diversity", "p-sensitive-k-anonymity"}
SHARED_LOSSES = {"height", "precision-star", "entropy"}
"""What circuits of shared bits decide and measure."""
MOST_SHARED_CELLS = 1 << 32
"""Beyond so many cells of all nodes together a run that tests them all would send gigabytes."""
ONE_COUNTER = "a row has one counter, which tells true rows from made-up ones, and no second one for members"


def refuse_unsupported(contract: Contract) -> None:
    """Refuse what a protocol cannot do, with the reason."""
    if contract.loss.has_ranks:
        raise ParameterError(
            "federation.rank-compares-columns",
            "{loss}: sites compare one number for each combination of levels, and 'rank' compares several: "
            "choose the aggregate 'maximum', which is the first of them",
            loss=contract.loss.name,
        )
    if contract.is_oblivious:
        _refuse_not_shared(contract)
        return
    masked = contract.protocol.is_masked
    models = BY_SIZE | BY_VALUES | (set() if masked else BY_LABELS | BY_POPULATION)
    for model in contract.models:
        if model.name not in models:
            raise _refusal(contract, str(model), model.name)
        _refuse_details(contract, model)
    losses = LEVELS_ONLY | BY_CLASS_SIZE | BY_VALUE_COUNTS | (set() if masked else BY_CLASS_LABELS)
    if contract.loss.name not in losses:
        raise _refusal(contract, str(contract.loss), contract.loss.name)
    if isinstance(contract.loss, LeafLoss) and contract.loss.leaves is not Leaves.DATA:
        raise ParameterError(
            "federation.how-many-values-whole",
            "{loss}: how many values of the whole hierarchy lie under every label would tell which "
            "ciphertext is which label: count those in the data (leaves = 'data')",
            loss=contract.loss.name,
        )
    if masked:
        asking_search(contract.search)
        if contract.member is not None:
            raise ParameterError(
                "federation.masked-run-cannot-tell",
                "a masked run cannot tell members from a population: {one_counter}. Choose the protocol "
                "'star' or 'ring'",
                one_counter=ONE_COUNTER,
            )


def _refuse_not_shared(contract: Contract) -> None:
    """Refuse what circuits of shared bits do not decide or measure."""
    asked = [(str(model), model.name, SHARED_MODELS) for model in contract.models]
    for what, name, known in [*asked, (str(contract.loss), contract.loss.name, SHARED_LOSSES)]:
        if name not in known:
            raise ParameterError(
                "federation.cannot-federation-protocol-oblivious",
                "{what} cannot be had in a federation by the protocol 'oblivious': its circuits are made "
                "for {known}",
                what=what,
                known=", ".join(sorted(known)),
            )
    for model in contract.models:
        _refuse_details(contract, model)
        if any(len(names) > 1 for names in model.distributions):
            raise ParameterError(
                "federation.oblivious-run-no-sensitive",
                "{model}: in an oblivious run no sensitive column can be given",
                model=model,
            )
    loss = contract.loss
    if isinstance(loss, Entropy) and (loss.weights or loss.aggregate is not AggregateFunction.SUM):
        raise ParameterError(
            "federation.entropy-oblivious-run-columns",
            "entropy: in an oblivious run columns have no weights, and their losses are added",
        )
    if not isinstance(contract.search, AutoSearch):
        raise ParameterError(
            "federation.oblivious-run-tests-nodes",
            "an oblivious run tests nodes in its own order: leave the search algorithm out",
        )
    lists = [*contract.quasi_identifiers, *(names[0] for m in contract.models for names in m.distributions)]
    for name in lists:
        if not contract.column(name).labels or contract.column(name).hierarchy_digest is None:
            raise ParameterError(
                "federation.oblivious-run-counts-all-possible",
                "an oblivious run counts all possible values of '{name}': name the hierarchy that all sites"
                " have (hierarchy = ... in the job)",
                name=name,
            )
    cells = math.prod(
        sum(c.labels[c.least_level :]) for c in map(contract.column, contract.quasi_identifiers)
    )
    if contract.reveal is Reveal.RESULT and cells > MOST_SHARED_CELLS:
        raise ParameterError(
            "federation.all-levels-together-make",
            "all levels together make {cells:,} cells, which is too much to test them all: say reveal = "
            "'tests', or name a higher least_level",
            cells=cells,
        )


def _refuse_details(contract: Contract, model: Model) -> None:
    if any(getattr(model, parameter, ()) for parameter in NAMED_VALUES):
        raise ParameterError(
            "federation.names-sensitive-values-ciphertexts",
            "{model} names sensitive values, which ciphertexts hide: leave them out",
            model=model,
        )
    if model.looks_beyond_release and contract.member is None:
        raise ParameterError(
            "federation.needs-know-released-name",
            "{model} needs to know who is to be released: name the column 'member'",
            model=model,
        )
    shared = {column.name for column in contract.columns}
    for name in (name for names in model.distributions for name in names):
        if name not in shared:
            raise ParameterError(
                "federation.contract-no-column",
                "{model}: the contract has no column '{name}'",
                model=model,
                name=name,
            )
    if contract.protocol.is_masked and any(len(names) > 1 for names in model.distributions):
        raise ParameterError(
            "federation.masked-run-no-sensitive",
            "{model}: in a masked run no sensitive column can be given",
            model=model,
        )


def _refusal(contract: Contract, what: str, name: str) -> ParameterError:
    if name in WHY_NOT:
        reason = WHY_NOT[name]
    elif name in BY_POPULATION:
        reason = ONE_COUNTER
    elif name in BY_LABELS | BY_CLASS_LABELS:
        reason = "it looks at the labels of classes, and who counts the true rows does not see them"
    else:
        reason = "it looks beyond the data of the parties"
    return ParameterError(
        "federation.cannot-federation-protocol",
        "{what} cannot be had in a federation by the protocol '{protocol}': {reason}",
        what=what,
        protocol=contract.protocol,
        reason=reason,
    )


def needs_value_counts(loss: Loss) -> bool:
    """Whether a loss depends on how often the values of quasi-identifiers occur."""
    return loss.name in BY_VALUE_COUNTS
