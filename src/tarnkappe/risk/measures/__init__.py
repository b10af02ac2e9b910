"""Risk measures: one file each; `MEASURES` lists them all."""

from collections.abc import Sequence

from tarnkappe.privacy.exact import Exact
from tarnkappe.risk.measures.attribute_disclosure import AttributeDisclosure
from tarnkappe.risk.measures.contributions import Contributions
from tarnkappe.risk.measures.distinction import Distinction
from tarnkappe.risk.measures.measure import Chart, MeasureResult, RiskFigure, RiskMeasure
from tarnkappe.risk.measures.reidentification import ReidentificationRisk
from tarnkappe.risk.measures.special_uniques import SpecialUniques
from tarnkappe.risk.measures.survey_risk import SurveyRisk
from tarnkappe.risk.measures.uniqueness import Uniqueness
from tarnkappe.risk.measures.wildcards import Wildcards
from tarnkappe.schema import Family, fields_of

MEASURES: Family[RiskMeasure] = Family(
    "risk measure",
    ReidentificationRisk,
    Uniqueness,
    AttributeDisclosure,
    SpecialUniques,
    Contributions,
    Distinction,
    Wildcards,
    SurveyRisk,
)


def with_usual(
    measures: Sequence[RiskMeasure], sampling_fraction: Exact | None = None
) -> tuple[RiskMeasure, ...]:
    """The measures that every check takes and the given ones, which replace their namesakes.

    Args:
        measures: measures with their parameters.
        sampling_fraction: the share of the population that is in the table, for the usual measures.

    >>> [measure.name for measure in with_usual([SpecialUniques(2)])]
    ['reidentification', 'uniqueness', 'attribute-disclosure', 'special-uniques']
    """
    usual = [MEASURES.create(kind.name, _sampled(kind, sampling_fraction)) for kind in MEASURES if kind.usual]
    chosen = {measure.name: measure for measure in [*usual, *measures]}
    return tuple(chosen[name] for name in MEASURES.names if name in chosen)


def _sampled(kind: type[RiskMeasure], sampling_fraction: Exact | None) -> dict[str, Exact | None]:
    takes_fraction = any(field.name == "sampling_fraction" for field in fields_of(kind))
    return {"sampling_fraction": sampling_fraction} if takes_fraction else {}


__all__ = [
    "MEASURES",
    "AttributeDisclosure",
    "Chart",
    "Contributions",
    "Distinction",
    "MeasureResult",
    "ReidentificationRisk",
    "RiskFigure",
    "RiskMeasure",
    "SpecialUniques",
    "SurveyRisk",
    "Uniqueness",
    "Wildcards",
    "with_usual",
]
