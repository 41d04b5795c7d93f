CREATE FUNCTION evil(customer) RETURNS text LANGUAGE sql AS 'SELECT max(email) FROM customer';
CREATE FUNCTION evil(integer) RETURNS text LANGUAGE sql AS 'SELECT max(email) FROM customer';
CREATE FUNCTION evil(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT max(email) FROM customer); END';
CREATE FUNCTION varying(text) RETURNS text LANGUAGE sql AS 'SELECT max(email) FROM customer';
CREATE DOMAIN checked AS text CHECK (pg_sleep(0) IS NOT NULL);
CREATE DOMAIN checked_row AS customer;
CREATE FUNCTION of_domain(checked_row) RETURNS text LANGUAGE sql AS 'SELECT max(email) FROM customer';
CREATE FUNCTION of_rows(VARIADIC customer[]) RETURNS text LANGUAGE sql AS 'SELECT max(email) FROM customer';
CREATE TABLE quoted (id INT, "EVIL" INT);
CREATE FUNCTION money(customer) RETURNS text LANGUAGE sql AS 'SELECT max(email) FROM customer';
CREATE FUNCTION "symmetric"(anyelement) RETURNS text LANGUAGE sql AS 'SELECT max(email) FROM customer';
CREATE FUNCTION "using"(customer) RETURNS text LANGUAGE sql AS 'SELECT max(email) FROM customer';
CREATE TABLE high (id INT);
CREATE TABLE "HIGH" (id INT, evil INT);
CREATE TYPE secret_mood AS ENUM ('hidden label');
CREATE FUNCTION total(int, int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE TABLE pg_authid (rolname TEXT);
CREATE VIEW settings AS SELECT current_setting('server_version'), 1 AS evil;
-- PostgreSQL would call a function, or convert to a type, in each of these statements.
SELECT x.evil FROM customer AS x
SELECT (x).evil FROM customer AS x
SELECT x."evil" FROM customer AS x("EVIL")
SELECT ts_stat.ts_stat FROM json_array_elements_text('["SELECT to_tsvector(''simple'', email) FROM customer"]') AS ts_stat
SELECT pg_read_file.pg_read_file FROM json_array_elements_text('["/etc/hostname"]') AS pg_read_file
SELECT nextval.nextval FROM json_array_elements_text('["s"]') AS nextval
SELECT x.checked FROM json_array_elements_text('["s"]') AS x
SELECT x.regclass FROM json_array_elements_text('["customer"]') AS x
SELECT (SELECT unnest.ts_stat FROM unnest(ARRAY['SELECT to_tsvector(''simple'', email) FROM customer'])) FROM (SELECT 1 AS ts_stat) AS unnest
SELECT (SELECT btrim.pg_read_file FROM trim('/etc/hostname')) FROM (SELECT 1 AS pg_read_file) AS btrim
SELECT (SELECT position.pg_sleep FROM position('a' IN 'a')) FROM (SELECT 1 AS pg_sleep) AS position
SELECT ((SELECT 1 FROM unnest(ARRAY['/etc/hostname']) AS x) ORDER BY x.pg_read_file LIMIT 1) FROM (SELECT 1 AS pg_read_file) AS x
SELECT ((WITH w AS (SELECT 1 AS n) SELECT 1 FROM customer) ORDER BY (SELECT w.evil FROM w) LIMIT 1)
SELECT j.evil FROM customer a JOIN customer b USING (id) AS j, (SELECT 1 AS evil) p JOIN (SELECT 1 AS evil) q USING (evil)
SELECT (VALUES (1) ORDER BY "*VALUES*".evil LIMIT 1) FROM (SELECT 1 AS evil) AS "*VALUES*"
SELECT x.evil FROM (SELECT (z.*), 1 AS evil FROM (SELECT FROM customer) AS z) AS x(a)
SELECT (SELECT btrim.current_setting FROM trim('data_directory')) FROM (SELECT 1 AS current_setting) AS btrim
SELECT (SELECT btrim.to_regclass FROM trim('customer')) FROM (SELECT 1 AS to_regclass) AS btrim
SELECT (SELECT btrim._regclass FROM trim('{customer}')) FROM (SELECT 1 AS _regclass) AS btrim
SELECT (SELECT btrim._checked FROM trim('{x}')) FROM (SELECT 1 AS _checked) AS btrim
SELECT (SELECT btrim.varying FROM trim('x')) FROM (SELECT 1 AS varying) AS btrim
SELECT ('customer').regclasssend
SELECT ('customer').pg_partition_root
SELECT ('nobody=r/nobody').hash_aclitem
SELECT enum_range((NULL).secret_mood)
SELECT ('data_directory').current_setting
SELECT x.current_setting FROM unnest(ARRAY['data_directory']) AS x
SELECT (SELECT x.evil FROM generate_series(1, 2) AS x LIMIT 1) FROM settings AS x
SELECT x.evil FROM settings AS x(a, b)
SELECT (SELECT 'data_directory').current_setting
SELECT ('data_directory').current_setting, (SELECT 1) AS z
SELECT ('/etc/hostname').pg_read_file WHERE 1 IN (SELECT 1)
SELECT x.of_domain FROM customer AS x
SELECT x.of_rows FROM (SELECT * FROM customer) AS x
SELECT x.evil FROM quoted AS x
WITH "current_schema" AS (SELECT 1 AS n) SELECT x.pg_ls_dir FROM current_schema AS x
WITH "localtime" AS (SELECT 1 AS n) SELECT x.pg_sleep_for FROM localtime AS x
SELECT x.money FROM customer AS x
WITH RECURSIVE a AS (SELECT x.evil FROM settings AS x), settings AS (SELECT 1 AS n) SELECT * FROM a
SELECT x.evil FROM high AS x
SELECT x.symmetric id FROM customer AS x
SELECT x.using > 'A' FROM customer AS x
SELECT x.checked_row FROM customer AS x
SELECT public.citext 'a' FROM customer AS public
SELECT x.rolname FROM pg_authid AS x
