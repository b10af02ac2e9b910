-- Queries of the kind that DBeaver, JDBC and ODBC drivers, pgAdmin and BI tools send before they show a table;
-- written from knowledge of them, not recorded from them.
-- One query ends with a line that has nothing but a semicolon; each must be answered without an error.
SELECT current_schema(), session_user
;
SELECT version()
;
SELECT current_database()
;
select * from pg_catalog.pg_settings where name='standard_conforming_strings'
;
SELECT db.oid,db.* FROM pg_catalog.pg_database db WHERE datname='tarnkappe'
;
SELECT n.oid,n.*,d.description FROM pg_catalog.pg_namespace n
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=n.oid AND d.objsubid=0 AND d.classoid='pg_namespace'::regclass
ORDER BY nspname
;
SELECT t.oid,t.*,c.relkind,format_type(nullif(t.typbasetype, 0), t.typtypmod) as base_type_name, d.description
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid=t.typrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid=d.objoid
WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c')
;
SELECT c.oid,c.*,d.description,pg_catalog.pg_get_expr(c.relpartbound, c.oid) as partition_expr,
pg_catalog.pg_get_partkeydef(c.oid) as partition_key
FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_class'::regclass
WHERE c.relnamespace=2200 AND c.relkind not in ('i','I','c')
;
SELECT c.relname,a.*,pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) as def_value,dsc.description,dep.objid
FROM pg_catalog.pg_attribute a
INNER JOIN pg_catalog.pg_class c ON (a.attrelid=c.oid)
LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid=ad.adrelid AND a.attnum = ad.adnum)
LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid)
LEFT OUTER JOIN pg_depend dep on dep.refobjid = a.attrelid AND dep.deptype = 'i' and dep.refobjsubid = a.attnum
and dep.classid = dep.refclassid
WHERE NOT a.attisdropped AND c.oid=16384 ORDER BY a.attnum
;
SELECT c.oid,c.*,t.relname as tabrelname,rt.relnamespace as refnamespace,d.description,
null as consrc_copy
FROM pg_catalog.pg_constraint c
INNER JOIN pg_catalog.pg_class t ON t.oid=c.conrelid
LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid=c.confrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_constraint'::regclass
WHERE c.conrelid=16384
ORDER BY c.oid
;
SELECT i.*,i.indkey as keys,c.relname,c.relnamespace,c.relam,c.reltablespace,tc.relname as tabrelname,dsc.description
FROM pg_catalog.pg_index i
INNER JOIN pg_catalog.pg_class c ON c.oid=i.indexrelid
INNER JOIN pg_catalog.pg_class tc ON tc.oid=i.indrelid
LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid=dsc.objoid
WHERE i.indrelid=16384
ORDER BY tabrelname, c.relname
;
SELECT nspname AS TABLE_SCHEM, NULL AS TABLE_CATALOG FROM pg_catalog.pg_namespace
WHERE nspname <> 'pg_toast' AND (nspname !~ '^pg_temp_' OR nspname = 'pg_catalog') ORDER BY TABLE_SCHEM
;
SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM, c.relname AS TABLE_NAME,
CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema'
WHEN true THEN CASE WHEN n.nspname = 'pg_catalog' THEN 'SYSTEM TABLE' ELSE 'SYSTEM VIEW' END
WHEN false THEN CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'v' THEN 'VIEW' ELSE NULL END ELSE NULL END AS TABLE_TYPE,
d.description AS REMARKS
FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c
LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0 and d.classoid = 'pg_class'::regclass)
WHERE c.relnamespace = n.oid AND (false OR (c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'))
ORDER BY TABLE_TYPE,TABLE_SCHEM,TABLE_NAME
;
SELECT * FROM (SELECT n.nspname,c.relname,a.attname,a.atttypid,
a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) AS attnotnull,a.atttypmod,a.attlen,t.typtypmod,
row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum,
nullif(a.attidentity, '') as attidentity,nullif(a.attgenerated, '') as attgenerated,
pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS adsrc,dsc.description,t.typbasetype,t.typtype
FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid)
JOIN pg_catalog.pg_attribute a ON (a.attrelid=c.oid)
JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid)
LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid=def.adrelid AND a.attnum = def.adnum)
LEFT JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid)
WHERE c.relkind in ('r','p','v','f','m') and a.attnum > 0 AND NOT a.attisdropped AND c.relname LIKE 'patients') c
WHERE true ORDER BY nspname,c.relname,attnum
;
SELECT table_schema, table_name, table_type FROM information_schema.tables
WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1, 2
;
SELECT column_name, ordinal_position, is_nullable, data_type, character_maximum_length, numeric_precision
FROM INFORMATION_SCHEMA.COLUMNS WHERE table_schema = 'public' AND table_name = 'patients' ORDER BY ordinal_position
;
SELECT kcu.column_name FROM information_schema.table_constraints tc
JOIN information_schema.key_column_usage kcu ON tc.constraint_name = kcu.constraint_name
WHERE tc.constraint_type = 'PRIMARY KEY' AND tc.table_name = 'patients'
;
SELECT set_config('bytea_output','hex',false)
;
SELECT oid, pg_encoding_to_char(encoding) AS encoding, datlastsysoid_ IS NULL AS x
FROM (SELECT oid, encoding, NULL AS datlastsysoid_ FROM pg_database WHERE datname = current_database()) d
;
SELECT pg_catalog.pg_backend_pid(), pg_is_in_recovery(), current_setting('server_version_num')
;
SELECT c.relname, c.relkind, pg_get_userbyid(c.relowner), obj_description(c.oid, 'pg_class'), pg_total_relation_size(c.oid)
FROM pg_class c WHERE c.relkind = ANY (ARRAY['r', 'v', 'm', 'f', 'p']) AND has_table_privilege(c.oid, 'SELECT')
;
SELECT t.typname, t.oid, t.typarray, t.oid::regtype::text AS regtype, t.typdelim FROM pg_type t WHERE t.oid = to_regtype('text')
;
SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid FROM (
SELECT typ.oid, typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull, typ.typelem AS elemtypoid
FROM pg_type AS typ LEFT JOIN pg_class AS cls ON (cls.oid = typ.typrelid)
) AS t JOIN pg_namespace AS ns ON (ns.oid = t.typnamespace) WHERE t.typtype IN ('b', 'r', 'm', 'e', 'd') ORDER BY 1, 3
;
SELECT 1 AS one, 'x'::text AS two, NULL AS three, true AS four, 1.5 AS five
;
SHOW transaction_isolation
;
SHOW ALL
;
