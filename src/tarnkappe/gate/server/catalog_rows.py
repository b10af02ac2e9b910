"""The rows of the made-up system catalog: what the policy lets clients know, in PostgreSQL's words."""

from __future__ import annotations

from typing import Any

from tarnkappe.gate.sql.catalog_reader import catalog_tables
from tarnkappe.gate.sql.types import TYPES
from tarnkappe.gate.sql.view import TableView

DATABASE = "tarnkappe"
TABLE_OID = 16_384
OWNER_OID = 10
ARRAY_IN = 750
"""The function by which clients recognize the types of arrays."""
RESERVED = """all analyse analyze and any array as asc asymmetric both case cast check collate column
constraint create current_catalog current_date current_role current_time current_timestamp current_user
default deferrable desc distinct do else end except false fetch for foreign from grant group having in
initially intersect into lateral leading limit localtime localtimestamp not null offset on only or order
placing primary references returning select session_user some symmetric table then to trailing true union
unique user using variadic when where window with"""


def namespaces() -> list[dict[str, Any]]:
    """The schemas."""
    names = {11: "pg_catalog", 2200: "public", 13_000: "information_schema"}
    return [{"oid": oid, "nspname": name, "nspowner": OWNER_OID} for oid, name in names.items()]


def database() -> dict[str, Any]:
    """The only database."""
    return {
        "oid": 5,
        "datname": DATABASE,
        "datdba": OWNER_OID,
        "encoding": 6,
        "datlocprovider": "c",
        "datistemplate": False,
        "datallowconn": True,
        "datconnlimit": -1,
        "dattablespace": 1663,
        "datcollate": "C",
        "datctype": "C",
    }


def keywords() -> list[dict[str, Any]]:
    """The words that are no names."""
    return [{"word": word, "catcode": "R", "catdesc": "reserved"} for word in RESERVED.split()]


def all_types() -> list[dict[str, Any]]:
    """The types, and those of their arrays."""
    found = []
    for kind in TYPES:
        found.append(_type(kind.oid, kind.short, kind.size, kind.category, array=kind.array))
        if kind.array:
            found.append(_type(kind.array, f"_{kind.short}", -1, "A", element=kind.oid))
    return found


def _type(
    oid: int, name: str, size: int, category: str, *, array: int = 0, element: int = 0
) -> dict[str, Any]:
    return {
        "oid": oid,
        "typname": name,
        "typnamespace": 11,
        "typowner": OWNER_OID,
        "typlen": size,
        "typbyval": 0 < size <= 8,
        "typtype": "b",
        "typcategory": category,
        "typispreferred": False,
        "typisdefined": True,
        "typdelim": ",",
        "typrelid": 0,
        "typelem": element,
        "typarray": array,
        "typnotnull": False,
        "typbasetype": 0,
        "typtypmod": -1,
        "typndims": 0,
        "typcollation": 100 if category == "S" else 0,
        "typinput": ARRAY_IN if element else 0,
        "typoutput": 0,
        "typreceive": 0,
        "typsend": 0,
    }


def relation(view: TableView) -> dict[str, Any]:
    """The only table."""
    return {
        "oid": TABLE_OID,
        "relname": view.table,
        "relnamespace": 2200,
        "reltype": 0,
        "reloftype": 0,
        "relowner": OWNER_OID,
        "relam": 2,
        "relfilenode": 0,
        "reltablespace": 0,
        "relpages": 0,
        "reltuples": -1,  # how many people there are is not told
        "relallvisible": 0,
        "reltoastrelid": 0,
        "relhasindex": False,
        "relisshared": False,
        "relpersistence": "p",
        "relkind": "r",
        "relnatts": len(view.columns),
        "relchecks": 0,
        "relhasrules": False,
        "relhastriggers": False,
        "relhassubclass": False,
        "relrowsecurity": False,
        "relforcerowsecurity": False,
        "relispopulated": True,
        "relreplident": "d",
        "relispartition": False,
        "relrewrite": 0,
    }


def attributes(view: TableView) -> list[dict[str, Any]]:
    """Its columns."""
    return [
        {
            "attrelid": TABLE_OID,
            "attname": column.name,
            "atttypid": column.shown.oid,
            "attlen": column.shown.size,
            "attnum": place,
            "atttypmod": -1,
            "attndims": 0,
            "attbyval": False,
            "attalign": "i",
            "attstorage": "p",
            "attcompression": "",
            "attnotnull": False,
            "atthasdef": False,
            "atthasmissing": False,
            "attidentity": "",
            "attgenerated": "",
            "attisdropped": False,
            "attislocal": True,
            "attinhcount": 0,
            "attstattarget": -1,
            "attcollation": 100 if column.shown.category == "S" else 0,
        }
        for place, column in enumerate(view.columns, start=1)
    ]


def collation() -> dict[str, Any]:
    """The only collation."""
    return {
        "oid": 100,
        "collname": "default",
        "collnamespace": 11,
        "collowner": OWNER_OID,
        "collencoding": -1,
    }


def role() -> dict[str, Any]:
    """Who everything belongs to; users are not shown."""
    flags = ("rolsuper", "rolcreaterole", "rolcreatedb", "rolreplication", "rolbypassrls")
    return {
        "oid": OWNER_OID,
        "rolname": "gate",
        "rolcanlogin": False,
        "rolinherit": True,
        "rolconnlimit": -1,
    } | dict.fromkeys(flags, False)


def setting(name: str, value: str) -> dict[str, Any]:
    """A variable."""
    return {
        "name": name,
        "setting": value,
        "category": "Preset Options",
        "context": "internal",
        "vartype": "string",
    }


def schema() -> dict[str, Any]:
    """The schema of the table, in the words of the standard."""
    return {"catalog_name": DATABASE, "schema_name": "public", "schema_owner": "gate"}


def table(view: TableView) -> dict[str, Any]:
    """The table, in the words of the standard."""
    where = {"table_catalog": DATABASE, "table_schema": "public", "table_name": view.table}
    return where | {"table_type": "BASE TABLE", "is_insertable_into": "NO", "is_typed": "NO"}


def columns(view: TableView) -> list[dict[str, Any]]:
    """Its columns, in the words of the standard."""
    return [
        {
            "table_catalog": DATABASE,
            "table_schema": "public",
            "table_name": view.table,
            "column_name": column.name,
            "ordinal_position": place,
            "is_nullable": "YES",
            "data_type": column.shown.name,
            "udt_catalog": DATABASE,
            "udt_schema": "pg_catalog",
            "udt_name": column.shown.short,
            "is_updatable": "NO",
            "is_identity": "NO",
            "is_generated": "NEVER",
        }
        for place, column in enumerate(view.columns, start=1)
    ]


def own_relations() -> str:
    """The catalog's own tables by number: clients compare with those of `pg_class` and the like."""
    fixed = {"pg_type": 1247, "pg_attribute": 1249, "pg_proc": 1255, "pg_class": 1259, "pg_namespace": 2615}
    fixed |= {"pg_database": 1262, "pg_constraint": 2606, "pg_trigger": 2620, "pg_description": 2609}
    others = [name for schema, name in catalog_tables() if schema == "pg_catalog" and name not in fixed]
    numbered = [*fixed.items(), *((name, 12_000 + place) for place, name in enumerate(others))]
    return ", ".join(f"(CAST({oid} AS UINTEGER), '{name}')" for name, oid in numbered)


def formatted_types() -> list[tuple[int, str, str]]:
    """Number, short name and full name of every type."""
    plain = [(kind.oid, kind.short, kind.name) for kind in TYPES]
    return plain + [(kind.array, f"_{kind.short}", f"{kind.name}[]") for kind in TYPES if kind.array]
