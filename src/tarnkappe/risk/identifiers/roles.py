"""What a column should be to the one who publishes it: ordered rules, of which the first that holds decides.

The rules use the header, shares of cells, and the rarefied share of different values (`view.py`): none of
them drifts as a table grows. A verdict says how certain it is and why, in a sentence that quotes no cell.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence

import numpy as np

from tarnkappe.risk.identifiers.detector import Certainty, IdentifierFinding, phrases
from tarnkappe.risk.identifiers.health import has_words_of_medicine, is_finding, is_pressure
from tarnkappe.risk.identifiers.view import CLOCK, ColumnView
from tarnkappe.risk.identifiers.words import REGIONS, WORD_LISTS
from tarnkappe.table import Role
from tarnkappe.table.spelling import SpellingKind

WEAK_WORDS = ("status", "type", "group", "class")
"""Words that decide nothing beside another one."""
MOSTLY = 0.6
NEARLY_ALL = 0.8
MONEY = 0.3
MANY_DECIMALS = 20
ROUND = 0.9
THOUSAND = 1000
SENTENCE = 5
"""Texts of so many words are told as free text."""
LEAST_INTERVALS = 5
"""Fewer intervals may have even steps by chance."""
ORGANISED = 0.2
VARIOUS = 0.8
KNOWN_REASON = "the header speaks of what neighbours and colleagues may know"

_ICD = re.compile(r"[A-TV-Z][0-9][0-9AB](?:\.[0-9A-TV-Z]{1,4})?")
_ICD_IN_CLAIMS = re.compile(r"[A-TV-Z][0-9][0-9AB](?:\.?[0-9A-TV-Z]{1,4})?")
"""Without the dot a code of a person may look the same: only under a header of diagnoses."""
_SEXES = frozenset(
    phrases(
        "m, f, w, d, x, u, male, female, man, woman, men, women, boy, girl, other, unknown, männlich, "
        "weiblich, divers, mann, frau, homme, femme, masculin, féminin, hombre, mujer, masculino, "
        "femenino, maschio, femmina, uomo, donna, feminino, homem, mulher, vrouw, kvinna, kvinde, kvinne, "
        "mies, nainen, kobieta, mężczyzna, erkek, kadın, muž, žena, h, v, k"
    )
)
_MONEY = re.compile(r"[$€£¥]|\b(?:eur|usd|chf|gbp)\b", re.IGNORECASE)
_AMOUNT = r"(?:[$€£]\s?)?[0-9][0-9.,' ]*\s?[kKmM%€]?"
_RANGE = re.compile(
    rf"(?:[0-9]{{1,2}}_)?(?:[\[(]?\s*{_AMOUNT}\s*(?:-|–|to|bis|,|à|a)\s*{_AMOUNT}\s*[\])\[]?|"
    rf"(?:<=?|>=?|≤|≥|under|over|up to|less than|more than|greater than|unter|über|bis|ab)\s*{_AMOUNT}|"
    rf"{_AMOUNT}\s*(?:\+|and over|and above|or more|and more|and under|or less|und mehr|und älter))"
    r"(?:\s*[a-zA-Z]{1,8})?",
    re.IGNORECASE,
)
_INTERVAL = re.compile(r"\[?(?P<low>-?[0-9]{1,15})(?:-|, )(?P<high>-?[0-9]{1,15})(?P<end>[\])]?)")
_CDISC = re.compile(r"[A-Z][A-Z0-9]{1,7}")


@dataclasses.dataclass(frozen=True)
class ProposedRole:
    """A role for a column, why, how certain that is, and what columns beside it may still decide."""

    role: Role
    reason: str
    certainty: Certainty
    is_open: bool = False
    is_organisation: bool = False


Rule = Callable[[ColumnView, Sequence[IdentifierFinding]], ProposedRole | None]


def propose_role(column: ColumnView, findings: Sequence[IdentifierFinding]) -> ProposedRole:
    """The role of a column by the first rule that holds.

    What nothing tells anything about is proposed as a quasi-identifier: if an attacker may know it, it must
    not single anybody out. Whatever the values are, identifiers inside some of them make it one.
    """
    inside = next((found for found in findings if not found.whole and found.role is Role.IDENTIFIER), None)
    proposed = next(role for rule in RULES if (role := rule(column, findings)) is not None)
    if inside is not None and proposed.role is not Role.IDENTIFIER:
        return ProposedRole(Role.IDENTIFIER, inside.reason, Certainty.SURE)
    return proposed


def is_explained(column: ColumnView) -> bool:
    """Whether the values themselves say what they are: sexes, regions, ranges, diagnoses.

    Detectors that look for whatever differs from row to row would see something else in them.
    """
    return any(rule(column) is not None for rule in (_sexes, _regions, _ranges, _diagnoses, _health))


def _sure(role: Role, reason: str) -> ProposedRole:
    return ProposedRole(role, reason, Certainty.SURE)


def _likely(role: Role, reason: str) -> ProposedRole:
    return ProposedRole(role, reason, Certainty.LIKELY)


def _guess(role: Role, reason: str) -> ProposedRole:
    return ProposedRole(role, reason, Certainty.GUESS)


def _unreadable(column: ColumnView) -> ProposedRole | None:
    """Bytes and nested values."""
    if column.is_binary:
        return _sure(Role.IDENTIFIER, "the column holds raw bytes, which may be pictures or recordings")
    if column.is_nested:
        return _sure(Role.IDENTIFIER, "the column is nested and cannot be protected cell by cell")
    return None


def _says_nothing(column: ColumnView, findings: Sequence[IdentifierFinding]) -> ProposedRole | None:
    """No value, or the same of everybody."""
    if not column.filled:
        return _sure(Role.INSENSITIVE, "the column is empty")
    if column.distinct == 1 and column.filled == column.rows and not findings:
        return _sure(Role.INSENSITIVE, "it says the same of everybody")
    return None


def _clinical_study(column: ColumnView, findings: Sequence[IdentifierFinding]) -> ProposedRole | None:
    """The headers that clinical studies agree on (CDISC): at most eight capitals with fixed ends."""
    name = column.name.strip()
    if not _CDISC.fullmatch(name) or len(name) < 5 or any(found.whole for found in findings):
        return None
    if name in ("STUDYID", "DOMAIN") or (name.endswith("SEQ") and len(name) == 5):
        return _likely(Role.INSENSITIVE, "the header is that of a part of the study (CDISC)")
    if name.endswith(("TERM", "DECOD", "BODSYS", "SEV", "OUT")):
        return _likely(Role.SENSITIVE, "the header is that of what happened to a person (CDISC)")
    if name.endswith("DTC"):
        return _likely(Role.QUASI_IDENTIFIER, "the header is that of dates (CDISC)")
    if name.endswith("FL") and column.distinct <= 3:
        return _likely(Role.SENSITIVE, _mark_text(column))
    return None


def _found(certainty: Certainty, *detectors: str) -> Rule:
    """A rule: what some detectors say of the whole column."""

    def rule(_: ColumnView, findings: Sequence[IdentifierFinding]) -> ProposedRole | None:
        found = next((each for each in findings if each.whole and each.detector in detectors), None)
        return None if found is None else ProposedRole(found.role, found.reason, certainty)

    return rule


def _code(column: ColumnView, findings: Sequence[IdentifierFinding]) -> ProposedRole | None:
    """Codes; but if nothing shows them except that they differ, a header of what others know decides."""
    found = next((each for each in findings if each.whole and each.detector == "unique-code"), None)
    if found is None:
        return None
    if found.by_variety and column.about("known", "date"):
        return _likely(Role.QUASI_IDENTIFIER, KNOWN_REASON)
    certainty = Certainty.GUESS if found.by_variety else Certainty.LIKELY
    return ProposedRole(found.role, found.reason, certainty)


def _by(rule: Callable[[ColumnView], ProposedRole | None]) -> Rule:
    """A rule that needs no detector."""
    return lambda column, _: rule(column)


def _mark(column: ColumnView, findings: Sequence[IdentifierFinding]) -> ProposedRole | None:
    """One value says the same of everybody only if everybody has it: where cells are empty it is a mark."""
    if column.distinct != 1 or any(found.whole for found in findings):
        return None
    role = Role.QUASI_IDENTIFIER if column.about("date") else Role.SENSITIVE
    return _guess(role, _mark_text(column))


def _mark_text(column: ColumnView) -> str:
    return f"a mark that {column.filled:,} of {column.rows:,} rows have: it tells them from the others"


def _sexes(column: ColumnView) -> ProposedRole | None:
    if not 1 <= column.distinct <= 6 or not {text.lower() for text in column.sample} <= _SEXES:
        return None
    return _sure(Role.QUASI_IDENTIFIER, "the values are sexes, which everybody can see")


def _times(column: ColumnView) -> ProposedRole | None:
    """Dates as the file spells them, and times of day."""
    if column.spelling is not None and column.spelling.kind is SpellingKind.DATE:
        return _sure(Role.QUASI_IDENTIFIER, "the values are dates")
    if column.cell_share(lambda text: bool(CLOCK.fullmatch(text))) > MOSTLY:
        return _sure(Role.QUASI_IDENTIFIER, "the values are times of day")
    return None


def _regions(column: ColumnView) -> ProposedRole | None:
    share = column.cell_share(lambda text: text.lower() in REGIONS)
    letters = sum(len(text) > 3 for text in column.sample)
    known = letters or column.about("place", "known", "group")
    if share <= NEARLY_ALL or column.distinct < 2 or not known:
        return None
    return _sure(Role.QUASI_IDENTIFIER, "the values are countries or states")


def _ranges(column: ColumnView) -> ProposedRole | None:
    if column.is_numeric:
        return None
    other = column.rarefied_share >= VARIOUS or column.about("id") or column.numbers_people
    if other and not _has_even_steps(column):
        return None
    if column.cell_share(lambda text: bool(_RANGE.fullmatch(text))) <= MOSTLY:
        return None
    money = column.cell_share(lambda text: bool(_MONEY.search(text))) > MONEY
    if money or (column.about("sensitive") and not column.about("known")):
        return _likely(Role.SENSITIVE, "the values are ranges of what people want to keep to themselves")
    return _likely(Role.QUASI_IDENTIFIER, "the values are ranges")


def _has_even_steps(column: ColumnView) -> bool:
    """Whether nearly all values are intervals of whole numbers that begin and end on one lattice.

    So does a release write them, also joined; codes of two numbers do not, however many there are.
    """
    found = [match for text in column.sample if (match := _INTERVAL.fullmatch(text))]
    if len(found) < max(LEAST_INTERVALS, ROUND * len(column.sample)):
        return False
    starts = np.array([int(match["low"]) for match in found])
    ends = np.array([int(match["high"]) + (match["end"] != ")") for match in found])
    step = int(np.gcd.reduce(ends - starts))
    return step > 1 and bool((ends > starts).all() and ((starts - starts[0]) % step == 0).all())


def _diagnoses(column: ColumnView) -> ProposedRole | None:
    shape = _ICD_IN_CLAIMS if column.about("sensitive") and not column.about("id", "name") else _ICD
    if column.distinct < 3 or column.share_of(lambda text: bool(shape.fullmatch(text))) < NEARLY_ALL:
        return None
    chapters = len({text[0] for text in column.sample})
    exact = column.share_of(lambda text: "." in text) > ORGANISED
    if chapters < 3 and not exact and not column.about("sensitive"):
        return None  # classes of age in sports, rooms, seats
    return _sure(Role.SENSITIVE, "the values look like codes of diagnoses (ICD-10)")


def _health(column: ColumnView) -> ProposedRole | None:
    """Diseases, drugs, degrees and results, whatever the header says; in sentences they are free text."""
    if column.is_numeric or column.about("known") or column.words >= SENTENCE:
        return None
    if is_pressure(column):
        return _likely(Role.SENSITIVE, "the values are blood pressures")
    if has_words_of_medicine(column):
        return _likely(Role.SENSITIVE, "many values are words for diseases or drugs")
    if is_finding(column):
        return _likely(Role.SENSITIVE, "the values are degrees of severity or results of tests")
    return None


def _organisation(column: ColumnView) -> ProposedRole | None:
    named = column.about("name") and (column.about("thing") or column.names_things)
    if not named or column.is_numeric or column.rarefied_share <= ORGANISED:
        return None
    reason = "the header speaks of names of things, not of people"
    if not column.about("thing"):
        reason = "the values are names of firms, offices or schools, not of people"
    return ProposedRole(Role.QUASI_IDENTIFIER, reason, Certainty.LIKELY, is_organisation=True)


def _group(column: ColumnView) -> ProposedRole | None:
    if not (column.about("id") and column.says(WORD_LISTS["group"].words)) or column.about("sensitive"):
        return None
    return _likely(Role.QUASI_IDENTIFIER, "the header speaks of the number of a group of people")


def _header(column: ColumnView) -> ProposedRole | None:
    """The later word decides: the status of a loan is sensitive, the year of a diagnosis is known."""
    kept, known = _last_word(column, "sensitive"), _last_word(column, "known")
    if not known and column.is_numeric and _MONEY.search(column.name):
        return _likely(Role.SENSITIVE, "the header names a currency: amounts of money")
    if kept and kept >= known:
        return _likely(Role.SENSITIVE, "the header speaks of what people want to keep to themselves")
    if known:
        return _likely(Role.QUASI_IDENTIFIER, "the header speaks of what neighbours and colleagues may know")
    return None


def _last_word(column: ColumnView, name: str) -> int:
    own = column.header_words
    strong = [word for word in own if word not in WEAK_WORDS] or own
    return WORD_LISTS[name].last_in(strong)


def _measured(column: ColumnView) -> ProposedRole | None:
    if not column.is_numeric or column.is_whole_number:
        return None
    if column.distinct <= MANY_DECIMALS and column.rarefied_share <= MOSTLY:
        return None
    return _guess(Role.SENSITIVE, "decimal numbers that nothing explains: they may be measured")


def _rounded(column: ColumnView) -> ProposedRole | None:
    """Whole numbers that people made round: prices, wages, debts. What is measured ends in any digit."""
    if not column.is_whole_number:
        return None
    if column.distinct <= MANY_DECIMALS and column.rarefied_share <= MOSTLY:
        return None
    numbers, counts = column.numbers, column.number_counts
    if numbers is None or not (some := numbers != 0).any() or np.abs(numbers).max() < THOUSAND:
        return None
    round_share = counts[some & (numbers % 10 == 0)].sum() / counts[some].sum()
    if round_share < ROUND:
        return None
    return _guess(Role.SENSITIVE, "large round numbers that nothing explains: they may be amounts of money")


def _unexplained(column: ColumnView) -> ProposedRole:
    reason = f"{column.distinct:,} different values that nothing explains: an attacker may know them"
    return ProposedRole(Role.QUASI_IDENTIFIER, reason, Certainty.GUESS, is_open=True)


CONTACTS_AND_NUMBERS = (
    "e-mail",
    "web-address",
    "ip-address",
    "social-security-number",
    "medical-record-number",
    "health-plan-number",
    "account-number",
    "vehicle-number",
    "licence-plate",
    "licence-number",
    "device-number",
    "photograph",
    "biometric",
    "telephone",
)

RULES: tuple[Rule, ...] = (
    _by(_unreadable),
    _says_nothing,
    _clinical_study,
    _found(Certainty.SURE, *CONTACTS_AND_NUMBERS),
    _mark,
    _by(_sexes),
    _found(Certainty.SURE, "date"),
    _by(_times),
    _found(Certainty.LIKELY, "coordinates"),
    _by(_regions),
    _by(_ranges),
    _by(_diagnoses),
    _by(_health),
    _found(Certainty.LIKELY, "name"),
    _by(_organisation),
    _found(Certainty.LIKELY, "street", "free-text"),
    _found(Certainty.LIKELY, "postcode", "town", "age-over-89"),
    _code,
    _by(_group),
    _by(_header),
    _by(_measured),
    _by(_rounded),
    _by(_unexplained),
)
"""In this order; the last one always holds."""
