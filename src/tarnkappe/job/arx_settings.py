"""What an ARX project promises and minimizes, as a job file says it.

Criteria and quality models are read from the configuration of the project, a stream of Java objects. What has
no equal here is not guessed: a sentence says what was left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.job.arx_builders import NotCarriedOver
from tarnkappe.job.sections import create_loss, create_model
from tarnkappe.table.formats.java_stream import JavaEnum, JavaObject, java_list, java_mapping, unboxed

Entry = dict[str, Any]

REGIONS: Final = {
    "AFRICA": 1_100_000_000,
    "AUSTRALIA": 23_130_900,
    "EUROPE": 740_000_000,
    "NORTH_AMERICA": 565_265_000,
    "SOUTH_AMERICA": 385_742_554,
    "EUROPEAN_UNION": 507_420_000,
    "BRASIL": 202_656_788,
    "CANADA": 34_834_841,
    "CHINA": 1_366_040_000,
    "FRANCE": 65_820_916,
    "GERMANY": 80_767_000,
    "INDIA": 1_210_569_573,
    "UK": 63_705_000,
    "USA": 317_238_626,
}
"""The people of the regions that ARX knows, as it counts them."""


def privacy_entries(configuration: JavaObject) -> tuple[list[Entry], list[str]]:
    """The sections [[privacy]], and what could not be carried over."""
    entries: list[Entry] = []
    left: list[str] = []
    for criterion in java_list(configuration.fields.get("criteria")):
        if not isinstance(criterion, JavaObject):
            raise InputError(
                "job.configuration-project-criterion-cannot-read",
                "the configuration of the project has a criterion that cannot be read",
            )
        try:
            made = _criterion(criterion)
            for entry in made:
                create_model(entry)
            entries += made
        except NotCarriedOver as reason:
            left.append(f"the criterion {criterion.name}: {reason}")
        except InputError:
            raise
        except Exception as refusal:
            left.append(f"the criterion {criterion.name}: {refusal}")
    return sorted(entries, key=lambda entry: (entry["model"] != "k-anonymity", str(entry))), left


def needs_population(configuration: JavaObject) -> bool:
    """Whether a criterion compares the rows of a subset with all others."""
    compares = {"DPresence", "KMap", "ProfitabilityJournalist", "ProfitabilityJournalistNoAttack"}
    return any(
        isinstance(each, JavaObject)
        and each.name in compares
        and not isinstance(each.fields.get("estimator"), JavaEnum)
        for each in java_list(configuration.fields.get("criteria"))
    )


def _criterion(given: JavaObject) -> list[Entry]:
    """A criterion as models; some of ARX's are two here."""
    if given.name == "Inclusion":  # only says which rows are released
        return []
    if given.name == "EDDifferentialPrivacy":
        raise NotCarriedOver(
            "job.arx-private",
            "here it is the model differential-privacy, with a search_budget if levels are to be chosen, the "
            "loss precision and a suppression_limit of 1: write it into the job",
        )
    if given.name not in _CRITERIA:
        raise NotCarriedOver("job.no-model", "there is no such model here")
    name, make = _CRITERIA[given.name]
    made: list[Entry] = [{"model": name, **make(given)}]
    if given.name == "AverageReidentificationRisk" and unboxed(given.fields.get("recordsAtRisk")) is not None:
        at_risk = {
            "highest_risk": _number(given, "highestRisk"),
            "share": _number(given, "recordsAtRisk"),
        }
        made.append({"model": "records-at-risk", **at_risk})
    return made


def _number(given: JavaObject, *names: str) -> int | float:
    for name in names:
        value = unboxed(given.fields.get(name))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return int(value) if isinstance(value, float) and value.is_integer() else value
    raise NotCarriedOver("job.not-say", "it does not say {names}", names=names[0])


def _column(given: JavaObject) -> str:
    column = given.fields.get("attribute")
    if not isinstance(column, str):
        raise NotCarriedOver("job.names-no-column", "it names no column")
    return column


def _of_column(parameter: str, *names: str) -> Callable[[JavaObject], Entry]:
    return lambda given: {"column": _column(given), parameter: _number(given, *names)}


def _entropy(given: JavaObject) -> Entry:
    estimator = given.fields.get("estimator")
    if isinstance(estimator, JavaEnum) and estimator.constant == "GRASSBERGER":
        raise NotCarriedOver(
            "job.entropy-counted-here-not-estimated", "entropy is counted here, not estimated by Grassberger"
        )
    return {"column": _column(given), "l": _number(given, "l", "minSize")}


def _k_map(given: JavaObject) -> Entry:
    entry: Entry = {"k": _number(given, "k")}
    if isinstance(given.fields.get("estimator"), JavaEnum):
        raise NotCarriedOver(
            "job.k-map-estimate-significance",
            "k-map by an estimate of significance: add k-map with the sampling_fraction of the table and "
            "the significance",
        )
    return entry


def _presence(given: JavaObject) -> Entry:
    return {"minimum": _number(given, "dMin"), "maximum": _number(given, "dMax")}


def _population_uniqueness(given: JavaObject) -> Entry:
    estimators = {"DANKAR": "dankar", "DANKAR_WITHOUT_SNB": "dankar", "PITMAN": "pitman", "ZAYATZ": "zayatz"}
    stated = given.fields.get("statisticalModel")
    constant = stated.constant if isinstance(stated, JavaEnum) else ""
    estimator = {**estimators, "SNB": "snb"}.get(constant)
    if estimator is None:
        raise NotCarriedOver("job.names-no-estimator-known", "it names no estimator that is known here")
    entry: Entry = {"threshold": _number(given, "threshold"), "estimator": estimator}
    return {**entry, **_population(given.fields.get("populationModel"))}


def _population(given: Any) -> Entry:
    if not isinstance(given, JavaObject):
        raise NotCarriedOver("job.not-say-how-large", "it does not say how large the population is")
    region = given.fields.get("region")
    if isinstance(region, JavaEnum) and region.constant in REGIONS:
        return {"population_size": REGIONS[region.constant]}
    size = unboxed(given.fields.get("populationSize"))
    if isinstance(size, int | float) and size >= 1:
        return {"population_size": int(size)}
    return {"sampling_fraction": _number(given, "sampleFraction")}


_COSTS: Final = {
    "publisher_benefit": "publisherBenefit",
    "publisher_loss": "publisherLoss",
    "adversary_gain": "adversaryGain",
    "adversary_cost": "adversaryCost",
}


def _costs(*names: str) -> Callable[[JavaObject], Entry]:
    def make(given: JavaObject) -> Entry:
        stated = given.fields.get("config")
        if not isinstance(stated, JavaObject):
            raise NotCarriedOver("job.not-say-what-attack", "it does not say what an attack costs and gains")
        return {name: _number(stated, _COSTS[name]) for name in names}

    return make


_ADVERSARY: Final = ("adversary_gain", "adversary_cost")
_CRITERIA: Final[Mapping[str, tuple[str, Callable[[JavaObject], Entry]]]] = {
    "KAnonymity": ("k-anonymity", lambda given: {"k": _number(given, "k")}),
    "KMap": ("k-map", _k_map),
    "DistinctLDiversity": ("distinct-diversity", _of_column("l", "minSize", "l")),
    "EntropyLDiversity": ("entropy-diversity", _entropy),
    "RecursiveCLDiversity": (
        "recursive-diversity",
        lambda given: {
            "column": _column(given),
            "c": _number(given, "c"),
            "l": _number(given, "minSize", "l"),
        },
    ),
    "EqualDistanceTCloseness": ("equal-closeness", _of_column("t", "t")),
    "HierarchicalDistanceTCloseness": ("hierarchical-closeness", _of_column("t", "t")),
    "OrderedDistanceTCloseness": ("ordered-closeness", _of_column("t", "t")),
    "DDisclosurePrivacy": ("delta-disclosure", _of_column("delta", "d")),
    "BasicBLikeness": ("basic-beta-likeness", _of_column("beta", "b")),
    "EnhancedBLikeness": ("enhanced-beta-likeness", _of_column("beta", "b")),
    "DPresence": ("delta-presence", _presence),
    "AverageReidentificationRisk": ("average-risk", lambda given: {"threshold": _number(given, "threshold")}),
    "SampleUniqueness": ("sample-uniqueness", lambda given: {"threshold": _number(given, "threshold")}),
    "PopulationUniqueness": ("population-uniqueness", _population_uniqueness),
    "ProfitabilityProsecutor": ("prosecutor-profitability", _costs(*_COSTS)),
    "ProfitabilityJournalist": ("journalist-profitability", _costs(*_COSTS)),
    "ProfitabilityProsecutorNoAttack": ("prosecutor-no-attack", _costs(*_ADVERSARY)),
    "ProfitabilityJournalistNoAttack": ("journalist-no-attack", _costs(*_ADVERSARY)),
}


# ---------------------------------------------------------------- what is minimized


_AGGREGATES: Final = {
    "SUM": "sum",
    "MAXIMUM": "maximum",
    "ARITHMETIC_MEAN": "mean",
    "GEOMETRIC_MEAN": "geometric-mean",
    "RANK": "rank",
}
_BY_COLUMN: Final = {
    "MetricMDNMLoss": "loss",
    "MetricMDNUEntropy": "entropy",
    "MetricMDNUNMEntropy": "entropy-suppression-aware",
    "MetricMDNUNMNormalizedEntropy": "normalized-entropy",
    "MetricMDNMPrecision": "precision",
    "MetricMDPrecision": "precision-star",
    "MetricMDHeight": "height",
    "MetricMDStatic": "static",
}
_WHOLE: Final = {
    "MetricSDAECS": "aecs",
    "MetricSDDiscernability": "discernibility-star",
    "MetricSDNMDiscernability": "discernibility",
    "MetricSDNMAmbiguity": "ambiguity",
    "MetricSDNMKLDivergence": "kl-divergence",
    "MetricSDNMEntropyBasedInformationLoss": "entropy-based",
    "MetricSDNMPublisherPayout": "publisher-payout",
    "MetricSDClassification": "classification",
}
_SUFFIXES: Final = ("PotentiallyPrecomputed", "Precomputed")
_FACTORED: Final = frozenset(
    {"loss", "entropy-suppression-aware", "aecs", "entropy-based", "publisher-payout"}
)


def loss_entry(
    configuration: JavaObject, weights: Mapping[str, float], targets: Sequence[str]
) -> tuple[Entry | None, list[str]]:
    """The loss of the section [search], and what could not be carried over.

    Args:
        configuration: that of the project.
        weights: of the quasi-identifiers.
        targets: the response variables.
    """
    metric = configuration.fields.get("metric")
    if not isinstance(metric, JavaObject):
        return None, ["the quality model: the project names none"]
    kind = metric.name
    for suffix in _SUFFIXES:
        kind = kind.removesuffix(suffix)
    name = _BY_COLUMN.get(kind) or _WHOLE.get(kind)
    if name is None:
        return None, [f"the quality model {metric.name}: there is no such loss here"]
    left: list[str] = []
    try:
        entry = {"name": name, **_parameters(name, metric, targets, left)}
        if kind in _BY_COLUMN:
            entry |= _aggregation(metric, weights)
        create_loss(entry)
    except (NotCarriedOver, ParameterError) as reason:  # ARX takes any loss of a level, infinite ones too
        return None, [f"the quality model {metric.name}: {reason}"]
    return entry, left


def _parameters(name: str, metric: JavaObject, targets: Sequence[str], left: list[str]) -> Entry:
    factor = unboxed(metric.fields.get("gsFactor"))
    has_factor = isinstance(factor, int | float) and 0 <= factor <= 1
    entry: Entry = {}
    if name == "precision" and has_factor and factor != 0.5:
        entry["coding_model"] = factor
    if name in _FACTORED and has_factor and factor != 0.5:
        entry["factor"] = factor
    if name == "classification":
        if not targets:
            raise NotCarriedOver("job.project-names-no-response", "the project names no response variable")
        left += [f"the response variable '{other}': one is classified here" for other in targets[1:]]
        entry["column"] = targets[0]
    if name == "publisher-payout":
        stated = metric.fields.get("config")
        if not isinstance(stated, JavaObject):
            raise NotCarriedOver("job.not-say-what-attack", "it does not say what an attack costs and gains")
        entry |= {ours: _number(stated, theirs) for ours, theirs in _COSTS.items()}
        entry["attacker"] = "journalist" if metric.fields.get("journalistAttackerModel") else "prosecutor"
    if name == "static":
        stated_losses = java_mapping(metric.fields.get("_infoloss"))
        entry["losses"] = {str(key): java_list(value) for key, value in stated_losses.items()}
    if name == "normalized-entropy" and has_factor:
        left.append("the charge of normalized entropy for suppressed rows: ours counts generalization alone")
    return entry


def _aggregation(metric: JavaObject, weights: Mapping[str, float]) -> Entry:
    stated = metric.fields.get("function")
    constant = stated.constant if isinstance(stated, JavaEnum) else ""
    entry: Entry = {}
    if constant in _AGGREGATES:
        entry["aggregate"] = _AGGREGATES[constant]
    if len(set(weights.values())) > 1:
        entry |= {"weights": dict(weights), "weighting": "factor"}
    return entry


# ---------------------------------------------------------------- rows and dates


DATE_LETTERS: Final = {
    "yyyy": "%Y",
    "yy": "%y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
}


def released_rows(given: Any) -> set[int] | None:
    """The numbers of the rows that are to be released; None if all are."""
    if not isinstance(given, JavaObject):
        return None
    length, size = given.fields.get("length"), given.fields.get("size")
    words = java_list(given.fields.get("array"))
    if not isinstance(length, int) or not all(isinstance(word, int) for word in words):
        raise InputError("job.subset-project-cannot-read", "the subset of the project cannot be read")
    if length == size:
        return None
    return {
        row
        for at, word in enumerate(words)
        if word
        for row in range(64 * at, min(64 * at + 64, length))
        if word >> (row - 64 * at) & 1
    }


def strptime_format(pattern: str) -> str | None:
    """The format of a date as strptime has it, from the letters of Java.

    >>> strptime_format("dd.MM.yyyy")
    '%d.%m.%Y'
    """
    parts = re.findall(r"([A-Za-z])(\1*)|([^A-Za-z%']+)", pattern)
    words = [letter + more or other for letter, more, other in parts]
    if "".join(words) != pattern or not pattern:
        return None
    known = [DATE_LETTERS.get(word, word) for word in words]
    return None if any(word[:1].isalpha() for word in known) else "".join(known)
