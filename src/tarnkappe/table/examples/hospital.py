"""A made-up hospital: one row per patient, with all that makes real tables hard to anonymize.

Ages follow a pyramid; occupations depend on age, sex and place, diagnoses on age and sex, days of
admission on the diagnosis, stays on diagnosis and age, names on sex, birth year and origin. Postcodes
and occupations may be missing.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from tarnkappe.table.examples.example import ExampleData, check_size
from tarnkappe.table.examples.patients import PatientGenerator, domains
from tarnkappe.table.table import Role, Table

BATCH_ROWS = 2**18

COLUMNS: dict[str, tuple[Role, str]] = {
    "name": (Role.IDENTIFIER, "first and family name; several patients may share one"),
    "insurance_number": (Role.IDENTIFIER, "a letter, nine digits and a check digit; no two alike"),
    "birth_date": (Role.QUASI_IDENTIFIER, "day of birth"),
    "age": (Role.QUASI_IDENTIFIER, "completed years at admission"),
    "sex": (Role.QUASI_IDENTIFIER, "female or male"),
    "postcode": (Role.QUASI_IDENTIFIER, "where the patient lives; sometimes missing"),
    "occupation": (Role.QUASI_IDENTIFIER, "what the patient does or is; sometimes missing"),
    "admission_date": (Role.QUASI_IDENTIFIER, "day of admission, in three years"),
    "diagnosis": (Role.SENSITIVE, "three-character ICD-10 code"),
    "length_of_stay": (Role.INSENSITIVE, "days in hospital"),
}


def hospital(rows: int = 10_000, seed: int = 0) -> ExampleData:
    """Made-up patients of a hospital, with roles and hierarchies.

    Insurance numbers are unique and have a valid check digit; `age` is the age at admission by the
    calendar; no man has a diagnosis of pregnancy. The same rows and seed give the same table on every
    platform. All names and numbers are invented.

    Args:
        rows: how many patients.
        seed: another seed gives other patients.

    >>> patients = hospital(rows=1000)
    >>> patients.table.identifiers, patients.table.sensitive
    (('name', 'insurance_number'), ('diagnosis',))
    >>> patients.hierarchies["occupation"][-1], patients.hierarchies["postcode"][0]
    (['', 'unknown', 'unknown', '*'], ['00203', '0020*', '002**', '00***', '0****', '*'])
    """
    data = pa.Table.from_batches(hospital_batches(rows, seed))
    hierarchies = {name: domain.hierarchy() for name, domain in domains().items()}
    return ExampleData(
        table=Table(data, {name: role for name, (role, _) in COLUMNS.items()}),
        hierarchies=hierarchies,
        description={
            "name": "hospital",
            "text": "made-up patients of a hospital, one row each",
            "rows": rows,
            "seed": seed,
            "columns": {
                name: {
                    "text": text,
                    "role": str(role),
                    "levels": len(hierarchies[name][0]) if name in hierarchies else 1,
                }
                for name, (role, text) in COLUMNS.items()
            },
        },
    )


def hospital_batches(rows: int, seed: int = 0, batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """The rows of `hospital` batch by batch, for tables that do not fit in memory.

    The rows do not depend on `batch_rows`.

    >>> sum(batch.num_rows for batch in hospital_batches(1000, batch_rows=300))
    1000
    """
    check_size(rows, seed, batch_rows)
    patients = PatientGenerator(seed)
    return (patients.batch(min(batch_rows, rows - start)) for start in range(0, rows, batch_rows))
