"""How much detail does each promise cost? Run it with: .venv/bin/python examples/compare_promises.py"""

from __future__ import annotations

import tarnkappe
from tarnkappe import models

PROMISES = {
    "5-anonymity": [models.KAnonymity(5)],
    "and 3 diagnoses in every class": [models.KAnonymity(5), models.DistinctDiversity("diagnosis", 3)],
    "as uncertain as 5 diagnoses": [models.KAnonymity(5), models.EntropyDiversity("diagnosis", 5)],
}


def main() -> None:
    """Anonymize the same hospital under three promises and print what each one costs."""
    example = tarnkappe.examples.hospital(rows=3000, seed=1)
    patients = example.table.with_roles(
        identifiers=["name", "insurance_number", "birth_date", "admission_date"],
        quasi_identifiers=["age", "sex", "postcode", "occupation"],
        sensitive=["diagnosis"],
    )
    hierarchies = {
        name: tarnkappe.Hierarchy.from_rows(example.hierarchies[name]) for name in patients.quasi_identifiers
    }
    for title, promise in PROMISES.items():
        result = tarnkappe.anonymize(
            patients, privacy=promise, hierarchies=hierarchies, loss="loss", suppression_limit=0.02
        )
        levels = ", ".join(f"{name} {level}" for name, level in result.levels.items())
        print(f"{title:32} loss {result.loss:.3f}, {result.suppressed} rows suppressed ({levels})")


if __name__ == "__main__":
    main()
