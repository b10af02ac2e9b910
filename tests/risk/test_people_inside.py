"""Somebody in one cell of a column that is released: found by title, by a known name, by number or by address."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.errors import IdentifierFoundError
from tarnkappe.job import Job
from tarnkappe.risk.identifiers import IdentifierKind, find_alarms, propose_roles
from tarnkappe.table import Role, Table

TITLED = (
    "Mme Chloé Lefèvre",
    "voir Mme Lefèvre",
    "HIV (Mr. Balduin Quast)",
    "MR. QUAST",
    "mr smith",
    "Frau Prof. Dr. med. Quast",
    "Herr von Öttingen",
    "Dr.Quast",
    "dhr. van den Berg",
    "mevr. de Vries",
    "Sig.ra Bianchi",
    "il dott. Verdi",
    "sra. Pérez",
    "Sr. Fernandez",
    "M. Dupont",
    "Monsieur Élan",
    "prosi o kontakt z p. Źrebiec",
    "pani Kowalska",
    "fru Andersson",
    "г-н Иванов",
    "Ayşe Hanım",
    "王先生来电",
    "Mrs O'Neil",
    "Mr and Mrs Quast",
)
NAMED = (
    "patient Chloé Lefèvre",
    "reason 15: neighbour of Egon Wöll",
    "HIV; see Balduin Quast",
    "Anna Müller",
    "as told by Daniela Zwack",
    "Ehefrau Anna",
    "Miller, Anna called",
)
NUMBERED = (
    "rappeler au 06 12 34 56 78",
    "06.12.34.56.78",
    "tel. 601 234 567",
    "tel. do siostry 601 234 567",
    "seen 03/04/2019, phone 601 234 567",
    "0664/123 45 67",
    "ring 070-123 45 67",
    "call 5551234",
    "llamar al 612 345 678",
    "cell: 555 123 4567",
    "тел. 8 912 345 67 89",
    "phone no 020 7946 0958",
    "+33612345678",
)
ADDRESSED = (
    "habite 12 rue de la Paix, 75002 Paris",
    "3 bis avenue Foch",
    "wohnt Hauptstraße 5",
    "vive en Calle Mayor 12",
    "abita in Via Garibaldi 3",
    "via Roma, 12",
    "ul. Długa 5/7",
    "ул. Ленина 5",
    "Kerkstraat 12",
    "bor på Storgatan 5",
    "Váci utca 12",
    "Am Hang 12, 04103 Leipzig",
    "Dlouhá 12, 110 00 Praha",
    "Lindenweg 3, 8010 Graz",
    "Rua das Flores 21",
)
SOMEBODY = {
    **dict.fromkeys((*TITLED, *NAMED), IdentifierKind.NAME),
    **dict.fromkeys(NUMBERED, IdentifierKind.PHONE),
    **dict.fromkeys(ADDRESSED, IdentifierKind.PLACE),
}
NOBODY = (
    *(
        "M. Crohn",
        "M. Parkinson",
        "Morbus Parkinson",
        "Parkinson",
        "Patient Parkinson",
        "Charles Bonnet Syndrome",
    ),
    *("Sr. Developer", "Associate Professor Emeritus", "Dr. med. dent.", "Prof. Dr.", "Near Miss Incident"),
    *(
        "St. Mary's",
        "San Antonio Texas",
        "Thomas Jefferson University",
        "Pan European",
        "see Discharge Letter",
    ),
    *(
        "24 Hr Urine",
        "Fr. Vormittag",
        "MS Relapse",
        "MR Abdomen",
        "Patient Zustand Gut",
        "p. Apoplex",
        "X Ray Chest",
    ),
    *("患者様", "0.5 / 100 mg", "2023-05-01 10:33", "01/02/2023 - 05/06/2023", "1 234 567"),
    *("CD4 cell count 1500000", "white cell 120 000", "pH 7.35 / 7.40", "0,05 1000 2000", "07:00 - 19:00"),
    *("doses 0 10 20", "0.12 0.34 0.56 0.78", "mobile 30 minutes", "via Sonde 20 ml", "via Perfusor 50"),
    *("Heparin 5000, 10000 Units", "Arbeitsplatz 3", "Behandlungsweg 2", "route 66", "Grade 2, 12 months"),
)
OTHERS = ["grippe", "asthme", "goutte"]


def found(header: str, cells: list[str]) -> list[tuple[IdentifierKind, ...]]:
    [column] = propose_roles(Table(pa.table({header: cells})))
    return [each.kinds for each in column.findings if not each.whole]


@pytest.mark.parametrize("header", ["Diagnostic", "reason", "age", "x"])
@pytest.mark.parametrize("cell", SOMEBODY)
def test_somebody_in_one_cell_is_found(cell: str, header: str) -> None:
    cells = [*(OTHERS[n % 3] for n in range(150)), cell]
    assert any(SOMEBODY[cell] in kinds for kinds in found(header, cells))
    table = Table(pa.table({header: cells}))
    for role in (Role.SENSITIVE, Role.INSENSITIVE, Role.QUASI_IDENTIFIER):
        assert find_alarms(table.with_roles({header: role}), [header]), role


@pytest.mark.parametrize("cell", NOBODY)
def test_diseases_doses_and_days_are_nobody(cell: str) -> None:
    kinds = found("Diagnostic", [*(OTHERS[n % 3] for n in range(150)), cell])
    assert not any(IdentifierKind.DATE not in each for each in kinds)


@pytest.mark.parametrize(
    "others",
    [
        [str(5 + n % 7) for n in range(150)],
        [f"{4 + n % 5}.{n % 10}" for n in range(150)],
        [f"2023-05-{1 + n % 28:02}" for n in range(150)],
        ["Berlin", "Hamburg", "Wien", "Graz", "Paris"] * 30,
        ["10115", "80331", "20095", "50667", "60311", "01067"] * 30,
        ["A01.1", "E11.9", "J45.0", "I10.0"] * 30,
        ["male", "female"] * 60,
    ],
    ids=["numbers", "decimals", "days", "towns", "postcodes", "diagnoses", "sexes"],
)
@pytest.mark.parametrize("cell", ["call Mr. Quast", "voir Mme Lefèvre", "rappeler au 06 12 34 56 78"])
def test_whatever_the_other_cells_are(cell: str, others: list[str]) -> None:
    assert found("result", [*others, cell])


def test_places_and_goods_may_have_names_of_people() -> None:
    called = ["Jim Thorpe", "Doña Ana", "West Chelsea/Peter Cooper Village", "Albert Lea", "Charles Way"]
    places = [
        *called,
        "Graz",
        "Leeds",
        "Lower Lea",
        "Upper Bank",
        "Springs",
        "Hohenau",
        "Old Mill",
        "Seaside",
    ] * 9
    for header in ("city", "county", "pickup_zone", "college"):
        assert found(header, places) == []
        assert found(header, [*places, "next to Anna Müller"]) == [(IdentifierKind.NAME,)]


@pytest.mark.parametrize("cell", ["HIV (Mr. Balduin Quast)", "rappeler au 06 12 34 56 78"])
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_run_that_would_release_somebody_ends(engine: str, cell: str, tmp_path: Path) -> None:
    rows = [f"{'fm'[n % 2]};{OTHERS[n % 3]}" for n in range(60)]
    (tmp_path / "people.csv").write_text(
        "\n".join(["sex;diagnosis", *rows, f"f;{cell}", ""]), encoding="utf-8"
    )
    content = {
        "input": {"path": "people.csv", "engine": engine},
        "columns": {"sex": {"role": "quasi-identifier"}, "diagnosis": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"path": "release.csv"},
    }
    with pytest.raises(IdentifierFoundError, match="'diagnosis'") as refused:
        tarnkappe.run(Job.from_dict(content, tmp_path))
    assert cell not in str(refused.value)
    assert not (tmp_path / "release.csv").exists()


@pytest.mark.parametrize("rows", [3, 150, 3000])
@pytest.mark.parametrize("header", ["contact", "Ansprechpartner", "informant", "x", "wer", "Nachname"])
@pytest.mark.parametrize(
    "value",
    ["Balduin Quast", "Egon Wöll", "Ludwig van Bergen", "Quast-Meyer Balduin", "Mr. Quast", "Anna Müller"],
)
def test_one_name_and_blanks_are_no_mark(value: str, header: str, rows: int) -> None:
    table = Table(pa.table({header: [value if n % 3 == 0 else None for n in range(rows)]}))
    [column] = propose_roles(table)
    assert column.role is Role.IDENTIFIER
    assert value not in column.reason
    assert find_alarms(table.with_roles({header: Role.SENSITIVE}), [header])


@pytest.mark.parametrize("header", ["contact", "x", "consent", "marketing", "patient"])
@pytest.mark.parametrize(
    "value", ["Y", "yes", "X", "Yes", "Ja", "Opted Out", "Not Done", "Full Time", "present", "1"]
)
def test_one_value_and_blanks_are_a_mark(value: str, header: str) -> None:
    [column] = propose_roles(Table(pa.table({header: [value if n % 3 == 0 else None for n in range(150)]})))
    assert (column.role, "mark" in column.reason) == (Role.SENSITIVE, True)


def test_one_name_under_a_header_of_names_and_blanks_is_a_name() -> None:
    for header in ("Nachname", "Jméno", "surname"):
        assert found_role(header, ["Quast", "", ""]) is Role.IDENTIFIER


def found_role(header: str, cells: list[str]) -> Role:
    [column] = propose_roles(Table(pa.table({header: cells})))
    return column.role
