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
_HELD = """
WITH RECURSIVE held (given, role) AS (
  SELECT roleid, roleid FROM pg_auth_members JOIN pg_roles ON pg_roles.oid = member
  WHERE rolname = current_user
  UNION
  SELECT given, roleid FROM held JOIN pg_auth_members ON member = role
)
"""
"""The roles that the role is a member of, each with the granted role that leads to it."""
_MEMBER = f"""
{_HELD}
SELECT quote_ident(r.rolname), string_agg(quote_ident(g.rolname), ', ' ORDER BY g.rolname)
FROM held JOIN pg_roles r ON r.oid = role JOIN pg_roles g ON g.oid = given
WHERE (r.rolsuper OR r.rolname ~ '^pg_' AND r.rolname <> 'pg_database_owner')
  AND (r.rolsuper OR r.rolname = 'pg_write_all_data') = {{}}
GROUP BY 1 ORDER BY 1
"""  # noqa: S608
_OWN_TABLE = """
c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_'
AND n.nspname <> 'information_schema'
"""
_LISTED = """
min(n.nspname || '.' || c.relname) || CASE count(DISTINCT c.oid) WHEN 1 THEN ''
  ELSE format(' and %s more', count(DISTINCT c.oid) - 1) END
"""
_OWNS = f"""
SELECT {_LISTED} FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE {_OWN_TABLE} AND c.relowner = current_user::regrole HAVING count(*) > 0
"""  # noqa: S608
_GROUP_OWNS = f"""
{_HELD}
SELECT role::regrole::text, string_agg(DISTINCT given::regrole::text, ', '), {_LISTED}
FROM held JOIN pg_class c ON c.relowner = role JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE {_OWN_TABLE} GROUP BY role ORDER BY 1
"""  # noqa: S608
_WRITES = f"""
WITH rights AS (
  SELECT oid, grantee, privilege_type FROM pg_class CROSS JOIN aclexplode(relacl)
  UNION ALL
  SELECT attrelid, grantee, privilege_type FROM pg_attribute CROSS JOIN aclexplode(attacl)
)
SELECT CASE h.grantee WHEN 0 THEN 'PUBLIC' ELSE h.grantee::regrole::text END, {_LISTED},
  string_agg(DISTINCT quote_ident(n.nspname), ', '), string_agg(DISTINCT h.privilege_type, ', ')
FROM rights h JOIN pg_class c ON c.oid = h.oid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE {_OWN_TABLE} AND h.grantee <> c.relowner
  AND h.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER', 'MAINTAIN')
  AND (h.grantee = 0 OR pg_has_role(current_user, h.grantee, 'MEMBER'))
GROUP BY h.grantee ORDER BY 1
"""  # noqa: S608
_CREATES = """
SELECT kind, CASE held.grantee WHEN 0 THEN 'PUBLIC' ELSE held.grantee::regrole::text END,
  held.privilege_type, string_agg(quote_ident(name), ', ' ORDER BY name)
FROM (
  SELECT 'SCHEMA', nspname, coalesce(nspacl, acldefault('n', nspowner))
  FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
  UNION ALL
  SELECT 'DATABASE', datname, coalesce(datacl, acldefault('d', datdba))
  FROM pg_database WHERE datname = current_database()) placed (kind, name, acl)
CROSS JOIN LATERAL aclexplode(acl) held
WHERE held.privilege_type = '{}'
  AND (held.grantee = 0 OR pg_has_role(current_user, held.grantee, 'MEMBER'))
GROUP BY 1, 2, 3 ORDER BY 1, 2
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
    *(
        Check(
            *("role", _MEMBER.format(writes), "{role} is a member of {0}, granted by {1}", why),
            *("REVOKE {1} FROM {role};",),
            writes=writes,
        )
        for writes, why in (
            (True, "its members write every table, or become superusers"),
            (False, "its members have rights on the whole server"),
        )
    ),
    Check(
        *("role", _SECRETS, "{role} may read pg_authid or pg_shadow"),
        "they hold the password hashes of all roles",
        "REVOKE SELECT ON pg_authid, pg_shadow FROM {role}, PUBLIC;",
    ),
    Check(
        *("role", _WRITES, "{0} may write to {1}", ONE_MORE_DEFENCE),
        "REVOKE {3} ON ALL TABLES IN SCHEMA {2} FROM {0};",
        writes=True,
    ),
    Check(
        *("role", _OWNS, "{role} owns {0}"),
        *("an owner writes to its tables and drops them", DOCUMENTED),
        writes=True,
    ),
    Check(
        *("role", _GROUP_OWNS, "{role} is a member of {0}, granted by {1}, which owns {2}"),
        *("an owner writes to its tables and drops them", "REVOKE {1} FROM {role};"),
        writes=True,
    ),
    *(
        Check(
            *("role", _CREATES.format(right), "{1} has {2} on {0} {3}", why),
            "REVOKE {2} ON {0} {3} FROM {1};",
            writes=right == "CREATE",
        )
        for right, why in (
            ("CREATE", "a new table takes space, and may have the name of another"),
            ("TEMPORARY", "temporary tables fill the server's disk"),
        )
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
