"""What the desk keeps. Patients are marks under a key; nothing that was asked of a database is kept."""

from __future__ import annotations

import sqlalchemy as sa

from tarnkappe.state.component import Component

METADATA = sa.MetaData()
EXCHANGE = Component("exchange", METADATA, ("tarnkappe.exchange.desk.steps:to_sealed",))
COHORT_METADATA = sa.MetaData()
COHORT_COMPONENT = Component("cohorts", COHORT_METADATA)
COHORT_BOOK = sa.Table(
    "exchange_cohorts",
    COHORT_METADATA,
    sa.Column("institution", sa.String, primary_key=True),
    sa.Column("part", sa.String, primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
"""The cohorts of all patients with what was frozen of them, encrypted."""
REQUESTS = sa.Table(
    "exchange_requests",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("institution", sa.String, nullable=False),
    sa.Column("id", sa.String, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("state", sa.String, nullable=False),
    sa.Column("deadline", sa.String, nullable=False),
    sa.Column("checks", sa.Integer, nullable=False),
    sa.UniqueConstraint("institution", "id"),
)
RECOMMENDATIONS = sa.Table(
    "exchange_recommendations",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("package", sa.LargeBinary),
    sa.Column("package_digest", sa.String(64)),
)
PEOPLE = sa.Table(
    "exchange_people",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("row", sa.Integer, primary_key=True),
    sa.Column("mark", sa.LargeBinary(16), nullable=False, index=True),
)
"""Who is in the package of a recommendation, row by row."""
DECISIONS = sa.Table(
    "exchange_decisions",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("person", sa.String, primary_key=True),
    sa.Column("accepts", sa.Boolean, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("signature", sa.String(128), nullable=False),
)
ANSWERS = sa.Table(
    "exchange_answers",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("signature", sa.String(128), nullable=False),
    sa.Column("package", sa.LargeBinary),
)
RELEASE_LOG = sa.Table(
    "exchange_release_log",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("mark", sa.LargeBinary(16), nullable=False, index=True),
    sa.Column("digest", sa.String(64), nullable=False),
)
RELEASES = sa.Table(
    "exchange_releases",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("recipient", sa.String, nullable=False),
    sa.Column("purpose", sa.String, nullable=False),
    sa.Column("columns", sa.Text, nullable=False),
    sa.Column("time", sa.String, nullable=False),
)
TRAILS = sa.Table(
    "exchange_trails",
    METADATA,
    sa.Column("institution", sa.String, primary_key=True),
    sa.Column("recipient", sa.String, primary_key=True),
    sa.Column("trails", sa.LargeBinary, nullable=False),
)
"""The groups of all patients over all packages that have left, to one recipient or to all ('')."""
PENDING = sa.Table(
    "exchange_pending",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("institution", sa.String, nullable=False),
    sa.Column("recipient", sa.String, nullable=False),
    sa.Column("trails", sa.LargeBinary, nullable=False),
)
"""The same of each package that was accepted and has not left yet."""
TELLINGS = sa.Table(
    "exchange_tellings",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("told", sa.LargeBinary, nullable=False),
)
"""What the package of the last check of a request would tell of everybody."""
LEDGER = sa.Table(
    "exchange_ledger",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("institution", sa.String, nullable=False),
    sa.Column("recipient", sa.String, nullable=False),
    sa.Column("told", sa.LargeBinary, nullable=False),
)
"""The same of each package that was accepted, whether it has left or not."""
WITHDRAWALS = sa.Table(
    "exchange_withdrawals",
    METADATA,
    sa.Column("mark", sa.LargeBinary(16), primary_key=True),
    sa.Column("time", sa.String, nullable=False),
)
CONSENTS = sa.Table(
    "exchange_consents",
    METADATA,
    sa.Column("mark", sa.LargeBinary(16), primary_key=True),
    sa.Column("content", sa.Text, nullable=False),
)
REIDENTIFICATIONS = sa.Table(
    "exchange_reidentifications",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("state", sa.String, nullable=False),
)
"""Wishes that somebody in a package be identified again: pseudonyms of the package and a reason."""
SHARED = sa.Table(
    "exchange_shared",
    METADATA,
    sa.Column("institution", sa.String, primary_key=True),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("signature", sa.String(128), nullable=False),
    sa.Column("made", sa.String, nullable=False),
)
"""The noisy counts that each institution has shown last."""
