"""What `doctor` checks on PostgreSQL: rights beyond reading, and missing limits."""

from __future__ import annotations

from dqa.core.examination import Examination
from dqa.databases.examining import (
    DOCUMENTED,
    NO_DISK_LIMIT,
    NO_TIME_LIMIT,
    ONE_MORE_DEFENCE,
    READER,
    Ask,
    Check,
    run_checks,
)

_WHO = """
SELECT current_setting('server_version'), rolname::text, quote_ident(rolname), rolsuper
FROM pg_roles WHERE rolname = current_user
"""
_ATTRIBUTES = """
SELECT name, does FROM pg_roles CROSS JOIN LATERAL (VALUES
  ('CREATEDB', rolcreatedb, 'makes databases'),
  ('CREATEROLE', rolcreaterole, 'makes roles and gives them rights'),
  ('REPLICATION', rolreplication, 'reads all that is written on the server'),
  ('BYPASSRLS', rolbypassrls, 'reads rows that row security hides')) attribute (name, held, does)
WHERE rolname = current_user AND held
"""
_MEMBER = """
SELECT quote_ident(rolname) FROM pg_roles
WHERE (rolsuper OR rolname ~ '^pg_' AND rolname <> 'pg_database_owner')
  AND (rolsuper OR rolname = 'pg_write_all_data') = {}
  AND pg_has_role(current_user, oid, 'MEMBER') ORDER BY 1
"""
_WRITES = """
SELECT min(n.nspname || '.' || c.relname), string_agg(DISTINCT quote_ident(n.nspname), ', ')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_'
  AND n.nspname <> 'information_schema'
  AND (has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
    OR has_any_column_privilege(c.oid, 'INSERT, UPDATE'))
HAVING count(*) > 0
"""
_CREATES = """
SELECT 'SCHEMA', quote_ident(nspname) FROM pg_namespace
WHERE nspname !~ '^pg_' AND has_schema_privilege(oid, 'CREATE')
UNION ALL
SELECT 'DATABASE', quote_ident(current_database())
WHERE has_database_privilege(current_database(), 'CREATE')
"""
_SECRETS = """
SELECT 1 FROM pg_class WHERE oid IN ('pg_authid'::regclass, 'pg_shadow'::regclass)
  AND has_table_privilege(oid, 'SELECT') LIMIT 1
"""
# `reset_val` is what a session begins with.
_UNLIMITED = f"""
SELECT name, reset_val, wanted, why FROM pg_settings JOIN (VALUES
  ('statement_timeout', '0', '60s', '{NO_TIME_LIMIT}'),
  ('transaction_timeout', '0', '120s', 'an open transaction keeps the server from cleaning up'),
  ('idle_in_transaction_session_timeout', '0', '60s', 'a client that hangs keeps its locks'),
  ('lock_timeout', '0', '10s', 'a statement waits without an end for a locked table'),
  ('temp_file_limit', '-1', '2GB', '{NO_DISK_LIMIT.replace("'", "''")}')
) limits (name, unlimited, wanted, why) USING (name) WHERE reset_val = unlimited
"""  # noqa: S608
_MEMORY = """
SELECT pg_size_pretty(most::bigint) FROM (
  SELECT 1024 * m.reset_val::numeric * h.reset_val::numeric AS most
  FROM pg_settings m, pg_settings h
  WHERE m.name = 'work_mem' AND h.name = 'hash_mem_multiplier') per_operation
WHERE most > 256 * 1024 * 1024
"""

_SUPERUSER = Check(
    "role",
    "SELECT 1 FROM pg_roles WHERE rolname = current_user AND rolsuper",
    "{role} is a superuser",
    "it reads every database and the password hashes in pg_authid, reads and writes files, runs "
    "programs on the server's machine and lifts every limit",
    DOCUMENTED,
    writes=True,
)
_RIGHTS = (
    Check("role", _ATTRIBUTES, "{role} has {0}", "it {1}", "ALTER ROLE {role} NO{0};"),
    Check(
        *("role", _MEMBER.format(True), "{role} is a member of {0}"),
        "its members write every table, or become superusers",
        "REVOKE {0} FROM {role};",
        writes=True,
    ),
    Check(
        *("role", _MEMBER.format(False), "{role} is a member of {0}"),
        "its members have rights on the whole server",
        "REVOKE {0} FROM {role};",
    ),
    Check(
        *("role", _SECRETS, "{role} may read pg_authid or pg_shadow"),
        "they hold the password hashes of all roles",
        "REVOKE SELECT ON pg_authid, pg_shadow FROM {role}, PUBLIC;",
    ),
    Check(
        *("role", _WRITES, "{role} may write to {0}, as an owner or by a right"),
        ONE_MORE_DEFENCE,
        "REVOKE ALL ON ALL TABLES IN SCHEMA {1} FROM PUBLIC, {role}; "
        "GRANT SELECT ON ALL TABLES IN SCHEMA {1} TO {role};",
        writes=True,
    ),
    Check(
        *("role", _CREATES, "{role} has CREATE on {0} {1}"),
        "new tables take space, and may have the names of others",
        "REVOKE CREATE ON {0} {1} FROM {role}, PUBLIC;",
        writes=True,
    ),
    Check(
        "role",
        "SELECT quote_ident(current_database()) "
        "WHERE has_database_privilege(current_database(), 'TEMPORARY')",
        "{role} has TEMPORARY on DATABASE {0}",
        "temporary tables fill the server's disk",
        "REVOKE TEMPORARY ON DATABASE {0} FROM {role}, PUBLIC;",
    ),
)
_LIMITS = (
    Check(
        *("setting", _UNLIMITED, "{0} is {1}: there is no limit", "{3}"),
        "ALTER ROLE {role} SET {0} = '{2}';",
    ),
    Check(
        *("setting", _MEMORY, "work_mem times hash_mem_multiplier is {0}"),
        "every sort and hash table of a query may take as much memory, and a query has several",
        "ALTER ROLE {role} SET work_mem = '16MB';",
    ),
)


def examine(ask: Ask) -> Examination:
    """Ask for the server's version, the rights of the role, and its limits."""
    known = ask(_WHO)
    if not known:  # another server that understands PostgreSQL's protocol
        ((title, name),) = ask("SELECT version(), current_user::text")
        return Examination(title, name, may_write=True)
    ((version, name, role, is_super),) = known
    rights, may_write = run_checks(ask, (_SUPERUSER,) if is_super else _RIGHTS, role=role)
    limits, _ = run_checks(ask, _LIMITS, role=READER if is_super else role)
    return Examination(f"PostgreSQL {version}", name, may_write, (*rights, *limits))
