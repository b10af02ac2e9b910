-- What pgjdbc and DBeaver send in the extended protocol: on connecting, to look up types, and to describe a table.
-- Written from knowledge of them, not recorded. "-- values:" has the parameters of the statement after it, as JSON.
-- One statement ends with a line that has nothing but a semicolon.
SET extra_float_digits = 3
;
SET application_name = 'PostgreSQL JDBC Driver'
;
SET application_name = 'DBeaver 24.3.0 - Main <tarnkappe>'
;
SHOW TRANSACTION ISOLATION LEVEL
;
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED
;
SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY
;
SELECT current_schema(),session_user
;
SELECT pg_catalog.current_database()
;
SHOW search_path
;
SET search_path = public,"$user"
;
SELECT * FROM pg_catalog.pg_enum WHERE 1<>1 LIMIT 1
;
SELECT reltype FROM pg_catalog.pg_class WHERE 1<>1 LIMIT 1
;
-- values: ["tarnkappe"]
SELECT db.oid,db.* FROM pg_catalog.pg_database db WHERE datname=$1
;
-- values: ["standard_conforming_strings"]
select * from pg_catalog.pg_settings where name=$1
;
select string_agg(word, ',') from pg_catalog.pg_get_keywords() where word <> ALL ('{a,abs,absolute,all,where}'::text[])
;
SELECT a.oid,a.*,pd.description FROM pg_catalog.pg_roles a
left join pg_catalog.pg_shdescription pd on a.oid = pd.objoid ORDER BY a.rolname
;
-- values: [1043]
SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname
FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = $1
;
-- values: [1007]
SELECT e.oid, n.nspname = ANY(current_schemas(true)), n.nspname, e.typname
FROM pg_catalog.pg_type t JOIN pg_catalog.pg_type e ON t.typelem = e.oid
JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = $1
;
-- values: [1007]
SELECT e.typdelim FROM pg_catalog.pg_type t, pg_catalog.pg_type e WHERE t.oid = $1 and t.typelem = e.oid
;
-- values: [1007]
SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid FROM pg_catalog.pg_type
LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r from pg_namespace as ns join (
select s.r, (current_schemas(false))[s.r] as nspname
from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r using ( nspname ) ) as sp
ON sp.nspoid = typnamespace WHERE pg_type.oid = $1 ORDER BY sp.r, pg_type.oid DESC
;
-- values: ["varchar"]
SELECT pg_type.oid, typname FROM pg_catalog.pg_type
LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r from pg_namespace as ns join (
select s.r, (current_schemas(false))[s.r] as nspname
from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r using ( nspname ) ) as sp
ON sp.nspoid = typnamespace WHERE typname = $1 ORDER BY sp.r, pg_type.oid DESC LIMIT 1
;
-- values: [2200]
SELECT c.oid,c.*,d.description,pg_catalog.pg_get_expr(c.relpartbound, c.oid) as partition_expr,
pg_catalog.pg_get_partkeydef(c.oid) as partition_key
FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_class'::regclass
WHERE c.relnamespace=$1 AND c.relkind not in ('i','I','c')
;
-- values: [16384]
SELECT c.relname,a.*,pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) as def_value,dsc.description,dep.objid
FROM pg_catalog.pg_attribute a
INNER JOIN pg_catalog.pg_class c ON (a.attrelid=c.oid)
LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid=ad.adrelid AND a.attnum = ad.adnum)
LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid)
LEFT OUTER JOIN pg_depend dep on dep.refobjid = a.attrelid AND dep.deptype = 'i' and dep.refobjsubid = a.attnum
and dep.classid = dep.refclassid
WHERE NOT a.attisdropped AND c.oid=$1 ORDER BY a.attnum
;
-- values: [16384]
SELECT i.*,c.relnamespace FROM pg_catalog.pg_inherits i,pg_catalog.pg_class c
WHERE i.inhrelid=$1 AND c.oid=i.inhparent ORDER BY i.inhseqno
;
-- values: [16384]
SELECT x.oid,x.*,p.pronamespace as func_schema_id,d.description FROM pg_catalog.pg_trigger x
LEFT OUTER JOIN pg_catalog.pg_proc p ON p.oid=x.tgfoid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=x.oid AND d.objsubid=0 WHERE x.tgrelid=$1 AND NOT x.tgisinternal
;
SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull),
a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%'
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON (c.relnamespace = n.oid)
JOIN pg_catalog.pg_attribute a ON (c.oid = a.attrelid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid)
LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid = a.attrelid AND d.adnum = a.attnum)
JOIN (SELECT 16384 AS oid , 1 AS attnum UNION ALL SELECT 16384, 2) vals ON (c.oid = vals.oid AND a.attnum = vals.attnum)
;
