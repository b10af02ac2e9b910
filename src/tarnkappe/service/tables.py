"""What the service keeps. No password and no token is in it: hashes are.

A person is her id. `service_people` has the names and roles of those who are there now; what belongs to
somebody names her id, in columns that were called `name` when names were all there was.
"""

from __future__ import annotations

import sqlalchemy as sa

from tarnkappe.state.component import Component

METADATA = sa.MetaData()
SERVICE = Component("service", METADATA, ("tarnkappe.service.steps:to_ids",))

PEOPLE = sa.Table(
    "service_people",
    METADATA,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("password", sa.String),
    sa.Column("roles", sa.String, nullable=False),
)
IDENTITIES = sa.Table(
    "service_identities",
    METADATA,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("since", sa.Float, nullable=False),
    sa.Column("ended", sa.Float),
)
"""Everybody who ever was here; an id is never given again, a name may be once its person has ended."""
SESSIONS = sa.Table(
    "service_sessions",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("name", sa.String, key="person", nullable=False),
    sa.Column("expires", sa.Float, nullable=False),
)
LINKS = sa.Table(
    "service_links",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("name", sa.String, key="person", nullable=False),
    sa.Column("expires", sa.Float, nullable=False),
)
TOKENS = sa.Table(
    "service_tokens",
    METADATA,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("digest", sa.String(64), nullable=False, unique=True),
    sa.Column("name", sa.String, key="person", nullable=False),
    sa.Column("label", sa.String, nullable=False),
    sa.Column("roles", sa.String, nullable=False),
    sa.Column("expires", sa.Float, nullable=False),
)
FAILURES = sa.Table(
    "service_failures",
    METADATA,
    sa.Column("subject", sa.String, primary_key=True),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("until", sa.Float, nullable=False),
)
FILES = sa.Table(
    "service_files",
    METADATA,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("suffix", sa.String, nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)
DRAFTS = sa.Table(
    "service_drafts",
    METADATA,
    sa.Column("file", sa.String(32), primary_key=True),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("changed", sa.Float, nullable=False),
)
JOBS = sa.Table(
    "service_jobs",
    METADATA,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("state", sa.String, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("started", sa.Float),
    sa.Column("finished", sa.Float),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("exit_code", sa.Integer),
    sa.Column("error", sa.Text, nullable=False),
)
LINEAGE = sa.Table(
    "service_lineage",
    METADATA,
    sa.Column("job", sa.String(32), primary_key=True),
    sa.Column("file", sa.String(32), primary_key=True),
)
REQUESTS = sa.Table(
    "service_requests",
    METADATA,
    sa.Column("owner", sa.String, primary_key=True),
    sa.Column("key", sa.String, primary_key=True),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("job", sa.String(32), nullable=False),
)
