"""Diagnoses of the hospital: a choice of ICD-10 codes in their blocks and chapters.

How frequent each is, at what age, for whom, in which season and for how long people stay is made up
to look plausible: it is no medical statistic.
"""

from __future__ import annotations

from typing import NamedTuple


class Diagnosis(NamedTuple):
    """A code and who has it.

    Attributes:
        code: the three-character code.
        weight: how frequent it is among those of the ages that it is typical for.
        ages: the name of its age profile.
        season: the name of its season.
        stay: the usual length of stay in days.
        women: the share of women among those who have it, as many women and men given.
    """

    code: str
    weight: float
    ages: str = "middle"
    season: str = "even"
    stay: float = 4.0
    women: float = 0.5


D = Diagnosis

AGE_BANDS = (0, 1, 6, 15, 25, 35, 45, 55, 65, 75, 85)
"""The first age of each band of the age profiles."""

AGE_PROFILES: dict[str, tuple[float, ...]] = {
    "every": (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
    "newborn": (40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    "infant": (12, 5, 1, 0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1),
    "child": (2, 7, 5, 1.5, 0.4, 0.1, 0.1, 0, 0, 0, 0),
    "young": (0.1, 0.8, 3, 6, 4, 2.5, 1.5, 1, 0.6, 0.3, 0.2),
    "youth": (0, 0, 0.3, 6, 4, 2.5, 1.5, 0.8, 0.3, 0.1, 0),
    "fertile": (0, 0, 0, 4, 16, 7, 0.05, 0, 0, 0, 0),
    "adult": (0, 0, 0, 2, 3.5, 4, 4.5, 3.5, 2, 1, 0.5),
    "middle": (0, 0, 0, 0.4, 1, 2, 3.5, 4.5, 4.5, 3.5, 2),
    "old": (0, 0, 0, 0.05, 0.1, 0.4, 1.2, 2.8, 5, 7, 8),
    "aged": (0, 0, 0, 0, 0, 0, 0.1, 0.4, 2, 7, 14),
    "falls": (1, 2.5, 3, 2.5, 1.2, 0.8, 0.9, 1.2, 1.8, 3.5, 8),
}

SEASONS: dict[str, tuple[float, ...]] = {
    "even": (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
    "influenza": (8, 10, 6, 1.5, 0.3, 0.1, 0.1, 0.1, 0.2, 0.4, 1, 3),
    "winter": (1.6, 1.6, 1.4, 1.1, 0.8, 0.6, 0.5, 0.5, 0.7, 1, 1.2, 1.5),
    "summer": (0.7, 0.7, 0.8, 1, 1.2, 1.4, 1.5, 1.4, 1.2, 0.9, 0.7, 0.7),
}
"""The weight of each month of the year."""

CHAPTERS: dict[str, dict[str, list[Diagnosis]]] = {
    "A00-B99 infections": {
        "A00-A09 of the gut": [D("A08", 4, "infant", "winter", 3), D("A09", 5, "every", "summer", 3)],
        "A30-A49 by bacteria": [D("A41", 4, "old", stay=10), D("A46", 3, "old", "summer", 7)],
        "B00-B09 of the skin by viruses": [D("B02", 2, "old", stay=6)],
        "B25-B34 other by viruses": [D("B34", 3, "child", "winter", 2)],
    },
    "C00-D48 neoplasms": {
        "C15-C26 digestive": [
            D("C16", 1.5, "old", stay=9),
            D("C18", 5, "old", stay=9),
            D("C25", 2, "old", stay=9),
        ],
        "C30-C39 chest": [D("C34", 6, "old", stay=7, women=0.4)],
        "C43-C44 skin": [D("C43", 1.5, stay=3), D("C44", 4, "aged", stay=3)],
        "C50 breast": [D("C50", 8, "old", stay=4, women=0.99)],
        "C51-C58 female organs": [D("C54", 2, "old", stay=6, women=1), D("C56", 2, "old", stay=8, women=1)],
        "C60-C63 male organs": [D("C61", 6, "old", stay=6, women=0), D("C62", 1, "adult", stay=3, women=0)],
        "C64-C68 urinary": [D("C67", 4, "old", stay=5, women=0.25)],
        "C81-C96 blood": [D("C83", 2, "old", stay=6), D("C91", 1, "child", stay=9)],
        "D10-D36 benign": [D("D12", 2, stay=2), D("D25", 4, "adult", stay=4, women=1)],
    },
    "D50-D90 blood and immunity": {
        "D50-D53 lack of iron and vitamins": [D("D50", 3, "old", stay=4, women=0.6)],
        "D60-D64 other anaemias": [D("D64", 1.5, "old", stay=4)],
    },
    "E00-E90 metabolism": {
        "E00-E07 thyroid": [D("E04", 3, "adult", stay=3, women=0.75)],
        "E10-E14 diabetes": [D("E10", 2, "young", stay=6), D("E11", 6, "old", stay=8, women=0.45)],
        "E65-E68 overweight": [D("E66", 1.5, "adult", stay=4, women=0.7)],
        "E70-E90 other": [D("E86", 4, "aged", "summer", 5), D("E87", 3, "aged", stay=5, women=0.6)],
    },
    "F00-F99 mind and behaviour": {
        "F00-F09 organic": [D("F03", 4, "aged", stay=13, women=0.6), D("F05", 3, "aged", stay=10)],
        "F10-F19 by substances": [
            D("F10", 12, "adult", stay=6, women=0.27),
            D("F12", 2, "youth", stay=8, women=0.25),
        ],
        "F20-F29 schizophrenia": [D("F20", 4, "adult", stay=20, women=0.45)],
        "F30-F39 mood": [
            D("F32", 6, "adult", "winter", 25, 0.6),
            D("F33", 5, "adult", "winter", 28, 0.65),
        ],
        "F40-F48 anxiety and stress": [D("F43", 4, "young", stay=10, women=0.62)],
        "F50-F59 eating": [D("F50", 1, "youth", stay=30, women=0.93)],
        "F60-F69 personality": [D("F60", 2, "youth", stay=20, women=0.7)],
        "F90-F98 of childhood": [D("F90", 1.5, "child", stay=24, women=0.25)],
    },
    "G00-G99 nerves": {
        "G20-G26 movement": [D("G20", 3, "old", stay=11, women=0.42)],
        "G30-G32 degenerative": [D("G30", 2, "aged", stay=14, women=0.62)],
        "G35-G37 demyelinating": [D("G35", 2, "adult", stay=5, women=0.7)],
        "G40-G47 attacks": [
            D("G40", 6, "every", stay=4),
            D("G43", 1, "young", stay=3, women=0.75),
            D("G45", 4, "old", stay=4),
            D("G47", 6, stay=2, women=0.25),
        ],
        "G50-G59 single nerves": [D("G56", 1.5, stay=2, women=0.65)],
    },
    "H00-H59 eyes": {
        "H25-H28 lens": [D("H25", 3, "aged", stay=2, women=0.58), D("H26", 1, "old", stay=2)],
        "H30-H36 retina": [D("H33", 1.5, stay=3, women=0.4), D("H35", 1.5, "aged", stay=2)],
        "H40-H42 glaucoma": [D("H40", 2, "old", stay=3)],
    },
    "H60-H95 ears": {
        "H65-H75 middle ear": [D("H65", 2, "child", "winter", 2), D("H66", 2, "child", "winter", 3)],
        "H80-H83 inner ear": [D("H81", 4, stay=3, women=0.6)],
        "H90-H95 hearing": [D("H91", 2, stay=4)],
    },
    "I00-I99 circulation": {
        "I10-I15 high pressure": [D("I10", 8, "old", "winter", 4, 0.66)],
        "I20-I25 heart vessels": [
            D("I20", 8, "old", stay=4, women=0.35),
            D("I21", 8, "old", "winter", 6, 0.35),
            D("I25", 7, "old", stay=4, women=0.25),
        ],
        "I26-I28 lung vessels": [D("I26", 2, "old", stay=7)],
        "I30-I52 other heart": [
            D("I35", 3, "old", stay=9),
            D("I48", 9, "old", stay=4),
            D("I50", 13, "aged", "winter", 9, 0.52),
        ],
        "I60-I69 brain vessels": [D("I61", 1.5, "old", stay=11), D("I63", 8, "old", stay=9)],
        "I70-I79 arteries": [D("I70", 6, "old", stay=8, women=0.35)],
        "I80-I89 veins": [D("I80", 2, stay=4), D("I83", 3, "adult", stay=2, women=0.65)],
    },
    "J00-J99 respiration": {
        "J00-J06 upper, acute": [D("J03", 2, "young", "winter", 4), D("J06", 3, "infant", "winter", 3)],
        "J09-J18 influenza and pneumonia": [
            D("J10", 6, "every", "influenza", 5),
            D("J15", 3, "old", "winter", 9, 0.42),
            D("J18", 9, "old", "winter", 8, 0.42),
        ],
        "J20-J22 lower, acute": [D("J20", 4, "infant", "winter", 4), D("J21", 4, "infant", "winter", 4)],
        "J30-J39 upper, other": [D("J34", 4, "young", stay=3, women=0.35), D("J35", 5, "child", stay=4)],
        "J40-J47 lower, chronic": [
            D("J44", 7, "old", "winter", 8, 0.45),
            D("J45", 1.5, "child", "summer", 4),
        ],
    },
    "K00-K93 digestion": {
        "K20-K31 stomach": [
            D("K21", 3, stay=4),
            D("K25", 2, "old", stay=6),
            D("K29", 5, "every", stay=3, women=0.58),
        ],
        "K35-K38 appendix": [D("K35", 6, "young", stay=4)],
        "K40-K46 hernias": [D("K40", 7, stay=2, women=0.12), D("K43", 2, stay=5)],
        "K50-K52 gut, inflamed": [D("K50", 2, "young", stay=5), D("K52", 4, "infant", stay=3)],
        "K55-K63 gut, other": [
            D("K56", 4, "old", stay=6),
            D("K57", 5, stay=6, women=0.55),
            D("K59", 2, "every", stay=3),
        ],
        "K70-K77 liver": [D("K70", 3, "adult", stay=8, women=0.3), D("K74", 1, stay=7)],
        "K80-K87 gall bladder and pancreas": [D("K80", 9, stay=5, women=0.62), D("K85", 3, stay=8)],
        "K90-K93 other": [D("K92", 4, "aged", stay=5)],
    },
    "L00-L99 skin": {
        "L00-L08 infections": [D("L02", 3, "adult", "summer", 3, 0.38), D("L03", 2, "every", "summer", 5)],
        "L20-L30 eczema": [D("L20", 1, "child", "winter", 6)],
        "L40-L45 psoriasis": [D("L40", 1, "adult", stay=9)],
        "L80-L99 other": [D("L89", 1, "aged", stay=15)],
    },
    "M00-M99 muscles and bones": {
        "M05-M14 inflamed joints": [D("M06", 1.5, stay=8, women=0.7), D("M10", 1, "old", stay=6, women=0.25)],
        "M15-M19 worn joints": [
            D("M16", 7, "old", stay=8, women=0.58),
            D("M17", 8, "old", stay=8, women=0.6),
        ],
        "M20-M25 other joints": [D("M20", 2, "adult", stay=3, women=0.85), D("M23", 3, "adult", stay=2)],
        "M45-M49 spine": [D("M48", 5, "old", stay=7)],
        "M50-M54 back": [D("M51", 6, "adult", stay=6), D("M54", 8, stay=6, women=0.6)],
        "M70-M79 soft parts": [D("M75", 6, stay=2, women=0.45)],
        "M80-M85 bone": [D("M80", 1, "aged", stay=10, women=0.85)],
    },
    "N00-N99 urinary and sexual organs": {
        "N10-N16 kidney": [D("N10", 2, "young", stay=4, women=0.8), D("N13", 5, stay=4)],
        "N17-N19 kidney failure": [D("N17", 3, "aged", stay=9), D("N18", 2, "old", stay=7)],
        "N20-N23 stones": [D("N20", 5, "adult", "summer", 3, 0.32)],
        "N30-N39 bladder": [D("N30", 1, "old", stay=4), D("N39", 6, "aged", stay=6, women=0.62)],
        "N40-N51 male organs": [D("N40", 5, "old", stay=5, women=0), D("N47", 1.5, "child", stay=1, women=0)],
        "N80-N98 female organs": [
            D("N81", 3, "old", stay=4, women=1),
            D("N83", 3, "adult", stay=3, women=1),
            D("N92", 2, "adult", stay=1, women=1),
        ],
    },
    "O00-O99 pregnancy and birth": {
        "O00-O08 ended early": [D("O03", 3, "fertile", stay=1, women=1)],
        "O20-O29 mother's illness": [D("O21", 2, "fertile", stay=4, women=1)],
        "O30-O48 child and waters": [
            D("O34", 5, "fertile", stay=5, women=1),
            D("O42", 7, "fertile", stay=4, women=1),
            D("O48", 4, "fertile", stay=4, women=1),
        ],
        "O60-O75 complications of birth": [
            D("O60", 3, "fertile", stay=6, women=1),
            D("O68", 5, "fertile", stay=4, women=1),
            D("O70", 6, "fertile", stay=3, women=1),
        ],
        "O80-O84 birth": [D("O80", 8, "fertile", stay=3, women=1), D("O82", 3, "fertile", stay=5, women=1)],
    },
    "P00-P96 around birth": {
        "P05-P08 early and small": [D("P07", 5, "newborn", stay=18)],
        "P20-P29 breathing": [D("P22", 3, "newborn", stay=6)],
        "P50-P61 blood": [D("P59", 3, "newborn", stay=3)],
    },
    "Q00-Q99 malformations": {
        "Q20-Q28 circulation": [D("Q21", 1, "infant", stay=6)],
        "Q65-Q79 muscles and bones": [D("Q66", 0.8, "child", stay=4)],
    },
    "R00-R99 symptoms": {
        "R00-R09 heart and breathing": [D("R04", 2, "old", "winter", 2), D("R07", 5, stay=2)],
        "R10-R19 belly": [D("R10", 6, "young", stay=2, women=0.62)],
        "R50-R69 general": [D("R55", 5, "falls", stay=2), D("R56", 2, "infant", stay=2)],
    },
    "S00-T98 injuries": {
        "S00-S09 head": [
            D("S00", 2, "falls", stay=1),
            D("S02", 2, "young", stay=3, women=0.3),
            D("S06", 11, "falls", stay=2, women=0.45),
        ],
        "S20-S29 chest": [D("S22", 3, "old", stay=6)],
        "S30-S39 hip and back": [D("S32", 4, "aged", stay=8, women=0.65)],
        "S40-S49 upper arm": [D("S42", 5, "falls", stay=4, women=0.55)],
        "S50-S59 lower arm": [D("S52", 6, "falls", "winter", 3, 0.6)],
        "S60-S69 hand": [D("S62", 3, "young", "summer", 2, 0.25)],
        "S70-S79 thigh": [D("S72", 6, "aged", "winter", 13, 0.7)],
        "S80-S89 lower leg": [D("S82", 7, "young", "winter", 5), D("S83", 4, "young", "winter", 2, 0.4)],
        "T36-T50 poisoning": [D("T42", 1, "youth", stay=2, women=0.6)],
        "T80-T88 after treatment": [D("T81", 4, stay=6), D("T84", 3, "old", stay=10)],
    },
    "Z00-Z99 other reasons": {
        "Z00-Z13 examination": [D("Z03", 3, "every", stay=2)],
        "Z30-Z39 reproduction": [D("Z38", 22, "newborn", stay=3)],
    },
}
