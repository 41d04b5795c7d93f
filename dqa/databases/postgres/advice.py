"""What `doctor` reports on PostgreSQL: rights beyond reading, and missing limits."""

from __future__ import annotations

from dqa.core.examination import Advice, Examination
from dqa.databases.examining import (
    NO_DISK_LIMIT,
    NO_TIME_LIMIT,
    READER,
    Ask,
    advise_on_rights,
)

_ROLE = """
SELECT current_setting('server_version'), rolname::text, quote_ident(rolname), rolsuper
FROM pg_roles WHERE rolname = current_user
"""
_RIGHTS = """
SELECT name FROM pg_roles CROSS JOIN LATERAL (VALUES ('CREATEDB', rolcreatedb),
  ('CREATEROLE', rolcreaterole), ('REPLICATION', rolreplication)) attribute (name, held)
WHERE rolname = current_user AND held
UNION ALL
SELECT 'member of ' || quote_ident(rolname) FROM pg_roles
WHERE (rolsuper OR rolname IN
    ('pg_write_all_data', 'pg_write_server_files', 'pg_execute_server_program'))
  AND pg_has_role(current_user, oid, 'MEMBER')
UNION ALL
SELECT 'owns, or has a right to write, ' || min(n.nspname || '.' || c.relname)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_'
  AND n.nspname <> 'information_schema'
  AND (has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
    OR has_any_column_privilege(c.oid, 'INSERT, UPDATE'))
HAVING count(*) > 0
UNION ALL
SELECT 'CREATE on SCHEMA ' || quote_ident(nspname) FROM pg_namespace
WHERE nspname !~ '^pg_' AND has_schema_privilege(oid, 'CREATE')
UNION ALL
SELECT held || ' on DATABASE ' || quote_ident(current_database())
FROM (VALUES ('CREATE'), ('TEMPORARY')) database (held)
WHERE has_database_privilege(current_database(), held)
"""
_TEMPORARY = "TEMPORARY on"
"""The beginning of a right that fills the disk but changes no data."""
# `reset_val` is what a session begins with.
_LIMITS = f"""
SELECT name, reset_val, wanted, why FROM pg_settings JOIN (VALUES
  ('statement_timeout', '0', '60s', '{NO_TIME_LIMIT}'),
  ('transaction_timeout', '0', '120s', 'an open transaction keeps the server from cleaning up'),
  ('idle_in_transaction_session_timeout', '0', '60s', 'a client that hangs keeps its locks'),
  ('lock_timeout', '0', '10s', 'a statement waits without an end for a locked table'),
  ('temp_file_limit', '-1', '2GB', '{NO_DISK_LIMIT.replace("'", "''")}')
) limits (name, unlimited, wanted, why) USING (name) WHERE reset_val = unlimited
UNION ALL
SELECT 'work_mem', pg_size_pretty(most::bigint), '16MB',
  'every sort and hash table of a query may take as much memory, and a query has several'
FROM (SELECT 1024 * m.reset_val::numeric * h.reset_val::numeric AS most
  FROM pg_settings m, pg_settings h
  WHERE m.name = 'work_mem' AND h.name = 'hash_mem_multiplier') per_operation
WHERE most > 256 * 1024 * 1024
"""  # noqa: S608


def examine(ask: Ask) -> Examination:
    """Ask for the server's version, the rights of the role, and its limits."""
    known = ask(_ROLE)
    if not known:  # another server that understands PostgreSQL's protocol
        ((title, name),) = ask("SELECT version(), current_user::text")
        return Examination(title, name, may_write=True)
    ((version, name, role, is_super),) = known
    held = ["it is a superuser, who also reads password hashes in pg_authid and files"]
    if not is_super:
        held = [right for (right,) in ask(_RIGHTS)]
    rights = advise_on_rights(role, held)
    may_write = not all(right.startswith(_TEMPORARY) for right in held)
    limited = READER if is_super else role
    limits = [
        Advice(
            "setting", f"{name} is {value}", why, f"ALTER ROLE {limited} SET {name} = '{wanted}';"
        )
        for name, value, wanted, why in ask(_LIMITS)
    ]
    return Examination(f"PostgreSQL {version}", name, may_write, (*rights, *limits))
