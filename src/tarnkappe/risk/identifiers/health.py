"""What cells show of health, whatever the header says: words of medicine, degrees, results, pressures."""

from __future__ import annotations

import re

from tarnkappe.risk.identifiers.view import ColumnView
from tarnkappe.risk.identifiers.words import folded

SOME = 0.3
DIFFERENT_WORDS = 2

_MEDICAL = re.compile(
    r"[a-z]{3,}(?:itis|osis|(?:thr|kr|ur|ler|ul|ych)ose|aemi[ae]|emi[ae]|path(?:y|ie|ia)|algi[ae]|algy|rrh(?:o?ea|oe)|plegi[ae]|"
    r"sclerosis|sklerose|ectom(?:y|ie|ia)|carcinoma|karzinom|sarcoma|lymphoma|melanoma|"
    r"sartan|statin[aeo]?|prazole?|prazolo?|olol|cillina?|cilline|formin[aeo]?|dipine?|dipino|azepam|oxetine?|"
    r"triptan|tinib|zumab|ximab|floxacina?|thyroxine?|profen|afil|gliptine?|gliflozine?)"
)
"""Ends of the Greek and Latin words for diseases, and of the international names of drugs."""
_SCALES = tuple(
    frozenset(words.split())
    for words in (
        "none mild moderate severe critical fatal serious minor",
        "keine leicht mittel mittelschwer schwer kritisch toedlich",
        "aucun aucune leger legere modere moderee severe grave",
        "ninguno ninguna leve moderado moderada grave severo severa critico",
        "nessuno nessuna lieve moderato moderata grave severo",
    )
)
_SEVERE = frozenset(
    ["severe", "schwer", "severo", "severa", "grave", "moderate", "moderado", "moderato", "modere"]
)
_FOUND = frozenset(
    ["pos", "positive", "positiv", "positif", "positivo", "reactive", "detected", "abnormal", "auffaellig"]
)
_NOT_FOUND = frozenset(
    [
        "neg",
        "negative",
        "negativ",
        "negatif",
        "negativo",
        "nonreactive",
        "undetected",
        "normal",
        "unauffaellig",
    ]
)
_UNCLEAR = frozenset(["indeterminate", "equivocal", "inconclusive", "unklar", "unknown", "pending"])
_PRESSURE = re.compile(r"(?P<systolic>[0-9]{2,3}) ?/ ?(?P<diastolic>[0-9]{2,3})")
MOSTLY = 0.8
LEAST_PRESSURE, MOST_PRESSURE = 60, 280


def has_words_of_medicine(column: ColumnView) -> bool:
    """Whether many cells have a word that ends as those for diseases and drugs do, and these differ."""
    found: set[str] = set()

    def is_medical(text: str) -> bool:
        words = {word for word in re.findall(r"[a-z]{6,}", folded(text).lower()) if _MEDICAL.fullmatch(word)}
        found.update(words)
        return bool(words)

    return column.share_of(is_medical, SOME) >= SOME and len(found) >= DIFFERENT_WORDS


def is_finding(column: ColumnView) -> bool:
    """Whether all values are degrees of severity, or results of a test."""
    values = {folded(text).lower().strip(" .-") for text in column.sample}
    if len(values) < DIFFERENT_WORDS:
        return False
    severe = bool(values & _SEVERE) and any(values <= scale for scale in _SCALES)
    return severe or (bool(values & _FOUND) and values <= _FOUND | _NOT_FOUND | _UNCLEAR)


def is_pressure(column: ColumnView) -> bool:
    """Whether cells are blood pressures: two numbers, of which the first is greater, unlike in codes."""

    def holds(text: str) -> bool:
        found = _PRESSURE.fullmatch(text)
        if found is None:
            return False
        systolic, diastolic = int(found["systolic"]), int(found["diastolic"])
        return LEAST_PRESSURE <= systolic <= MOST_PRESSURE and diastolic < systolic

    return column.cell_share(holds) >= MOSTLY and column.distinct >= DIFFERENT_WORDS
