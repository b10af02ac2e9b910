"""Claims put to the test: a rule by its name, or two plans against each other, by exact enumeration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tarnkappe.algebra.abridged import abridged
from tarnkappe.algebra.calibration import calibrated
from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.equivalence import EquivalenceFinding, compare
from tarnkappe.algebra.json_document import read_json
from tarnkappe.algebra.nodes import SlicingNode
from tarnkappe.algebra.plan import Plan
from tarnkappe.algebra.proof import RuleFinding, check_rule
from tarnkappe.algebra.rules import ALL_RULES, TRANSFORMATIONS
from tarnkappe.algebra.space import small_spaces
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.algebra.xml_document import read_xml
from tarnkappe.errors import NoSolutionError, ParameterError

WORLDS = 4_000
"""More than for the examples of rules, so that relations of several columns have three rows, too."""

MOST_BUCKET = 2
"""Of slicing: larger buckets have too many permutations to enumerate."""


def prove(claim: Sequence[str], catalog: Catalog) -> RuleFinding | EquivalenceFinding:
    """Check a rule (one name) or compare two plans (two texts: SQL, or a plan as XML or JSON).

    No data are looked at: all small relations over small domains are enumerated, with exact probabilities.
    The catalog tells the columns of relations and which of them are never missing, which noise depends on
    the old value, and the bucket. All other columns are tried with NULL as well.

    >>> prove(["D12"], Catalog({})).is_confirmed
    True
    """
    if len(claim) == 1:
        return check_rule(
            TRANSFORMATIONS[claim[0]].rule if claim[0] in TRANSFORMATIONS else ALL_RULES[claim[0]]
        )
    if len(claim) != 2:
        raise ParameterError(
            "algebra.prove-rule-name-give", "prove one rule by its name, or give two plans to compare"
        )
    left, right, notes = abridged(*(read_plan(text, catalog) for text in claim))
    dynamic = [column for column, noise in catalog.noise.items() if not noise.is_static]
    bucket = min(catalog.bucket, MOST_BUCKET)
    if bucket < catalog.bucket and any(isinstance(n, SlicingNode) for p in (left, right) for n in p.walk()):
        notes += (f"a bucket of {catalog.bucket} rows is tried as {bucket}",)
    spaces = small_spaces(
        left, right, worlds=WORLDS, not_null=catalog.never_missing, dynamic=dynamic, bucket=bucket
    )
    found = compare(left, right, *spaces)
    if not found.worlds:
        raise NoSolutionError(
            "algebra.no-small-relation-enough",
            "no small relation has enough rows for both plans, so nothing can be said of them",
        )
    return replace(found, notes=notes)


def read_plan(text: str, catalog: Catalog) -> Plan:
    """A plan from SQL over the relations of the catalog, or from a document that declares its own."""
    begin = text.lstrip()[:1]
    if begin == "<":
        return read_xml(text)
    if begin == "{":
        return read_json(text)
    return read_sql(text, catalog.relations, probability_of=calibrated(catalog.noise)).plan
