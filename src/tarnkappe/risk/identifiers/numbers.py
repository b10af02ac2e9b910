"""Numbers that an institution gave to a person or a thing: told by format, check digit or a label."""

from __future__ import annotations

from tarnkappe.risk.identifiers.checks import (
    german_health_insurance,
    iban,
    imei,
    licence,
    payment_card,
    social_security,
    vehicle,
)
from tarnkappe.risk.identifiers.detector import Kind, Shape, phrases
from tarnkappe.risk.identifiers.national_numbers import INSIDE, NationalNumbers, national_number

CODE = r"(?![0-9]*\.[0-9]+$)[A-Za-z]{0,6}[ #:./-]?[A-Za-z0-9./-]*[0-9][A-Za-z0-9./-]*"
"""What may be a number of any institution; a decimal fraction is none."""
MOSTLY_DIFFERENT = 0.5


def labelled(labels: str, digits: int = 4) -> str:
    """A pattern of a label, such as `MRN`, and a number after it."""
    between = r"[ #:./-]*(?:\b(?:no|nr|id|number)\b\.?)?[ #:./-]*"
    return rf"(?i:(?:{labels}){between}[A-Z]{{0,3}}-?[0-9][0-9-]{{{digits - 1},15}}[A-Z0-9-]{{0,4}})"


def said(labels: str) -> str:
    """The same inside a text, where a space or another sign must separate the two."""
    return rf"(?i:\b(?:{labels})(?: ?(?:no|nr|id|number)\b\.?)?[ #:]{{1,3}}[A-Z]{{0,3}}-?[0-9][0-9-]{{3,15}})"


_LETTER = "[AC-HJKMNP-RT-Y]"
_ANY = "[AC-HJKMNP-RT-Y0-9]"
_MEDICARE = f"[1-9]{_LETTER}{_ANY}[0-9]-?{_LETTER}{_ANY}[0-9]-?{_LETTER}{{2}}[0-9]{{2}}"
_IBAN = r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?"
_MAC = r"(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"
_UNIQUE_DEVICE = r"\(01\)[0-9]{14}"

NUMBERS = (
    NationalNumbers(
        "social-security-number",
        (Kind.SOCIAL_SECURITY,),
        "social security numbers",
        phrases(
            "ssn, social security, svnr, sozialversicherung, sozialversicherungsnummer, ahv, nino, "
            "steuer id, dni, nie, codice fiscale, nir, pesel, personnummer, cnp, cpf, nhs number, bsn"
        ),
        shape=r"[0-9A-Z][0-9A-Z .-]{8,17}",
        valid=lambda text: social_security(text) or national_number(text),
        inside=rf"\b[0-9]{{3}}-[0-9]{{2}}-[0-9]{{4}}\b|{INSIDE}",
        plausible=r"[0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{4}|[0-9 .]{10,16}|[0-9]{8}[A-Z][0-9]{3}",
    ),
    Shape(
        "medical-record-number",
        (Kind.MEDICAL_RECORD,),
        "medical record numbers",
        phrases(
            "mrn, medical record, record number, patient id, patient no, patient number, patienten id, "
            "patientennummer, fallnummer, aktenzeichen, chart, case number, encounter"
        ),
        shape=labelled("mrn|mr|med ?rec|pat|patient|pid|chart|fall|case"),
        inside=said("mrn|medical record|med rec|chart|patient id|patienten-?nr|fall-?nr"),
        plausible=CODE,
        distinct=MOSTLY_DIFFERENT,
    ),
    Shape(
        "health-plan-number",
        (Kind.HEALTH_PLAN,),
        "health plan numbers",
        phrases(
            "insurance, health plan, beneficiary, member id, member number, medicare, medicaid, policy, "
            "kvnr, versicherung, versicherungsnummer, versichertennummer, krankenkasse, subscriber"
        ),
        shape=f"{_MEDICARE}|[A-Z][0-9]{{9,10}}|{labelled('hpbn|mbi|hic|member|plan|policy|subscriber')}",
        valid=lambda text: not text[1:].isdigit() or german_health_insurance(text),
        inside=said("member|beneficiary|policy|insurance"),
        plausible=CODE,
        distinct=MOSTLY_DIFFERENT,
    ),
    Shape(
        "account-number",
        (Kind.ACCOUNT,),
        "account or payment card numbers",
        phrases("account, acct, konto, kontonummer, iban, credit card, card number, bank, kreditkarte"),
        shape=f"{_IBAN}|[0-9][0-9 -]{{11,22}}|{labelled('acct|account|konto')}",
        valid=lambda text: text[:3].isalpha() or iban(text) or payment_card(text),
        inside=rf"\b{_IBAN}\b|\b[3-6][0-9]{{3}}(?:[ -]?[0-9]{{4}}){{3}}\b",
        plausible=CODE,
        distinct=MOSTLY_DIFFERENT,
    ),
    Shape(
        "vehicle-number",
        (Kind.VEHICLE,),
        "vehicle identification numbers",
        phrases("vin, vehicle, chassis, fahrgestell, fahrzeug"),
        shape=r"[A-HJ-NPR-Z0-9]{17}",
        valid=vehicle,
        inside=r"\b[A-HJ-NPR-Z0-9]{3}[A-HJ-NPR-Z][A-HJ-NPR-Z0-9]{9}[0-9]{4}\b",
        plausible=CODE,
        distinct=MOSTLY_DIFFERENT,
    ),
    Shape(
        "licence-plate",
        (Kind.VEHICLE,),
        "licence plates",
        phrases("plate, licence plate, license plate, kennzeichen, kfz"),
        shape=r"[A-ZÄÖÜ]{1,3}[- ][A-Z]{1,2}[- ]?[1-9][0-9]{0,3}[EH]?|[0-9][A-Z]{3}[0-9]{3}",
        plausible=r"[A-Z0-9ÄÖÜ][A-Z0-9ÄÖÜ -]{3,9}",
        distinct=MOSTLY_DIFFERENT,
    ),
    Shape(
        "licence-number",
        (Kind.LICENCE,),
        "certificate or licence numbers",
        phrases(
            "licence, license, certificate, cert, npi, dea, fuehrerschein, führerschein, passport, pass, "
            "driver, reisepass, ausweis, ausweisnummer, zertifikat, approbation"
        ),
        shape=r"[A-HJ-MPRSTUX][A-Z][0-9]{7}|[12][0-9]{9}|"
        + labelled("lic|licen[cs]e|cert|certificate|dl|npi|dea"),
        valid=licence,
        inside=said("licen[cs]e|certificate|passport"),
        plausible=CODE,
        distinct=MOSTLY_DIFFERENT,
    ),
    Shape(
        "device-number",
        (Kind.DEVICE,),
        "device identifiers",
        phrases("device, serial, imei, mac, udi, implant, pacemaker, seriennummer, geraet, gerät"),
        shape=f"{_MAC}|[0-9]{{2}}-?[0-9]{{6}}-?[0-9]{{6}}-?[0-9]|{_UNIQUE_DEVICE}.*|"
        + labelled("s/?n|serial|dev|device|imei|udi", 3),
        valid=lambda text: not text.replace("-", "").isdigit() or imei(text),
        inside=rf"\b{_MAC}\b|{_UNIQUE_DEVICE}|{said('serial|s/n')}",
        plausible=CODE,
        distinct=MOSTLY_DIFFERENT,
    ),
)
