-- Ways around the gate. Every statement of this file must be refused before anything is asked; the number is its
-- SQLSTATE. One statement ends at a line that has nothing but its number.

-- the table with itself
SELECT * FROM patients a, patients b
0A000
SELECT * FROM patients a JOIN patients b USING (age)
0A000
SELECT * FROM patients NATURAL JOIN patients
0A000
SELECT * FROM patients a, LATERAL (SELECT * FROM patients b WHERE b.age = a.age) c
0A000
SELECT * FROM patients CROSS JOIN pg_class
0A000

-- sets
SELECT age FROM patients UNION SELECT age FROM patients
0A000
SELECT age FROM patients EXCEPT ALL SELECT age FROM patients WHERE zip = '1'
0A000
SELECT age FROM patients INTERSECT SELECT age FROM patients
0A000
(SELECT age FROM patients)
0A000
VALUES ((SELECT max(age) FROM patients))
0A000

-- queries inside queries
SELECT * FROM (SELECT * FROM patients) p
0A000
SELECT age FROM patients WHERE age = (SELECT max(age) FROM patients)
0A000
SELECT age FROM patients WHERE EXISTS (SELECT 1 FROM patients WHERE disease = 'flu')
0A000
SELECT age FROM patients WHERE age IN (SELECT age FROM patients)
0A000
SELECT (SELECT disease FROM patients LIMIT 1)
0A000
WITH p AS (SELECT * FROM patients) SELECT * FROM p
0A000
WITH patients AS (SELECT 1 AS age) SELECT * FROM patients
0A000
WITH RECURSIVE p AS (SELECT age FROM patients) SELECT * FROM p
0A000

-- the sensitive column as a filter: whoever asks for the people with a value knows it of everybody returned
SELECT age FROM patients WHERE disease = 'flu'
42501
SELECT age FROM patients WHERE age > 3 AND NOT (zip = '1' OR disease IS NULL)
42501
SELECT age FROM patients WHERE 'flu' = disease
42501
SELECT age FROM patients WHERE zip = disease
42501
SELECT age FROM patients WHERE disease LIKE 'f%'
42501
SELECT age FROM patients WHERE disease IN ('flu')
42501
SELECT age FROM patients WHERE disease BETWEEN 'a' AND 'b'
42501
SELECT age, count(*) FROM patients GROUP BY age HAVING count(*) = 1
0A000

-- functions, arithmetic, conditions that fail for some rows only
SELECT pg_sleep(1) FROM patients
0A000
SELECT upper(disease) FROM patients
0A000
SELECT age + 1 FROM patients
0A000
SELECT 1 FROM patients
0A000
SELECT age || zip FROM patients
0A000
SELECT CASE WHEN age > 3 THEN 1 / 0 END FROM patients
0A000
SELECT age FROM patients WHERE 1 / (age - 34) > 0
0A000
SELECT age FROM patients WHERE length(zip) = 3
0A000
SELECT age FROM patients WHERE CAST(zip AS integer) > 3
0A000
SELECT age FROM patients WHERE zip::integer > 3
0A000
SELECT age FROM patients WHERE zip LIKE 'a\'
0A000
SELECT age FROM patients WHERE zip LIKE 'a!%' ESCAPE '!'
0A000
SELECT age FROM patients WHERE zip ~ '('
0A000
SELECT age FROM patients WHERE zip SIMILAR TO 'a'
0A000
SELECT age FROM patients WHERE CASE WHEN age > 1 THEN true ELSE false END
0A000
SELECT age FROM patients WHERE (age, zip) = (1, '2')
0A000
SELECT age FROM patients WHERE random() < 0.5
0A000
SELECT age FROM patients WHERE age = pg_backend_pid()
0A000
SELECT array_agg(disease) FROM patients
0A000
SELECT string_agg(disease, ',') FROM patients
0A000
SELECT count(*) FILTER (WHERE age > 3) FROM patients
0A000
SELECT count(*) OVER () FROM patients
0A000
SELECT row_number() OVER (ORDER BY disease) FROM patients
0A000
SELECT max(disease ORDER BY age) FROM patients
0A000
SELECT sum(zip) FROM patients
42883
SELECT patients FROM patients
42703
SELECT (patients).disease FROM patients
0A000
SELECT patients.ctid FROM patients
42703
SELECT xmin, tableoid FROM patients
42703
SELECT id FROM patients
42703
SELECT * FROM patients WHERE id = 'p1'
42703
SELECT * FROM patients ORDER BY id
42703
SELECT * FROM patients ORDER BY random()
0A000
SELECT * FROM patients ORDER BY CASE WHEN disease = 'flu' THEN 1 ELSE 2 END
0A000
SELECT * FROM patients ORDER BY age USING <
42601
SELECT DISTINCT ON (age) * FROM patients
0A000
SELECT * FROM patients GROUP BY GROUPING SETS ((age), ())
0A000
SELECT age FROM patients GROUP BY ROLLUP (age)
0A000
SELECT age FROM patients LIMIT (SELECT count(*) FROM patients)
0A000
SELECT age FROM patients LIMIT age
0A000
SELECT * FROM patients FOR UPDATE
0A000
SELECT * FROM patients TABLESAMPLE SYSTEM (10)
0A000
SELECT * INTO copied FROM patients
0A000
SELECT * FROM ONLY patients
0A000
SELECT * FROM patients WINDOW w AS (ORDER BY age)
0A000
SELECT * FROM patients FETCH FIRST 3 ROWS WITH TIES
0A000

-- other tables, files, the engine's own doors
SELECT * FROM secrets
42P01
SELECT * FROM other.patients
42P01
SELECT * FROM tarnkappe.public.patients
42P01
SELECT * FROM duckdb_tables()
42883
SELECT * FROM read_csv('/etc/passwd')
42883
SELECT * FROM '/etc/passwd'
42P01
SELECT * FROM "/etc/passwd"
42P01
SELECT * FROM sqlite_master
42P01
SELECT * FROM pg_catalog_.pg_class
42P01
SELECT * FROM pg_authid
42P01
SELECT * FROM pg_shadow
42P01
SELECT * FROM pg_statistic
42P01
SELECT pg_read_file('/etc/passwd')
42883
SELECT lo_import('/etc/passwd')
42883
SELECT getenv('HOME')
42883
SELECT current_setting_('x')
42883
SELECT dblink('x', 'y')
42883
SELECT pg_sleep(10)
42883
SELECT query_to_xml('SELECT * FROM patients', true, true, '')
42883
SELECT * FROM pg_ls_dir('.')
42883
SELECT main.version()
42883

-- other statements
EXPLAIN SELECT * FROM patients
0A000
EXPLAIN ANALYZE SELECT * FROM patients
0A000
ANALYZE patients
0A000
COPY patients TO STDOUT
0A000
COPY (SELECT * FROM patients) TO '/tmp/x'
0A000
CREATE TABLE t AS SELECT * FROM patients
0A000
CREATE VIEW v AS SELECT * FROM patients
0A000
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'
0A000
INSERT INTO patients VALUES (1)
0A000
UPDATE patients SET age = 1 RETURNING *
0A000
DELETE FROM patients
0A000
MERGE INTO patients USING patients p ON true WHEN MATCHED THEN DELETE
0A000
TRUNCATE patients
0A000
DROP TABLE patients
0A000
ALTER TABLE patients ADD COLUMN x int
0A000
GRANT SELECT ON patients TO bob
0A000
DO $$ BEGIN PERFORM 1; END $$
0A000
CALL f()
0A000
PREPARE p AS SELECT * FROM patients
0A000
EXECUTE p
0A000
LOCK TABLE patients
0A000
LISTEN x
0A000
NOTIFY x
0A000
VACUUM
0A000
CLUSTER patients
0A000
REFRESH MATERIALIZED VIEW v
0A000
TABLE patients
0A000
PRAGMA database_list
0A000
ATTACH '/tmp/x.db' AS x
0A000
INSTALL httpfs
0A000
LOAD 'x'
0A000
SET ROLE postgres
42501
SET SESSION AUTHORIZATION postgres
42501
SET session_authorization TO postgres
42501
DECLARE c CURSOR FOR DELETE FROM patients
0A000
DECLARE c CURSOR FOR SELECT * FROM patients UNION SELECT * FROM patients
0A000
WITH x AS (DELETE FROM patients RETURNING *) SELECT * FROM x
42601
WITH x AS (DELETE FROM pg_class RETURNING *) SELECT * FROM x
42601

-- comments, quotes
SELECT age FROM patients /*/**/*/ WHERE disease = 'flu'
42601
SELECT age FROM patients -- WHERE age = 1
WHERE disease = 'flu'
42501
SELECT age FROM patients WHERE zip = 'a' /* ' */ OR disease = 'flu' -- '
42501
SELECT age FROM patients WHERE zip = 'a'';' OR disease = 'flu'
42501
SELECT age FROM "patients; DROP TABLE x"
42P01
SELECT age FROM patients WHERE zip = 'abc
42601
SELECT age FROM patients WHERE
42601
SELECT FROM
42601
