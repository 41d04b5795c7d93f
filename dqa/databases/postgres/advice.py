"""What PostgreSQL lets a role do beyond reading, and which limits it does not set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress

from dqa.core.examination import Advice, Examination
from dqa.databases.examining import DOCUMENTED, READER, Ask, Rows, shown_size

_WHO = """
SELECT current_setting('server_version'), rolname::text, quote_ident(rolname), rolsuper,
  rolcreatedb, rolcreaterole, rolreplication, rolbypassrls
FROM pg_roles WHERE rolname = current_user
"""
_ATTRIBUTES = {
    "CREATEDB": "makes databases",
    "CREATEROLE": "makes roles and gives them rights",
    "REPLICATION": "reads all that is written on the server, as its replicas do",
    "BYPASSRLS": "reads rows that the policies of a table hide from it",
}
"""What an attribute allows, in the order of `_WHO`."""
_MEMBER = """
WITH RECURSIVE held(given, role) AS (
  SELECT roleid, roleid FROM pg_auth_members JOIN pg_roles ON pg_roles.oid = member
  WHERE rolname = current_user
  UNION
  SELECT given, roleid FROM held JOIN pg_auth_members ON member = role
)
SELECT quote_ident(r.rolname), r.rolsuper,
  string_agg(quote_ident(g.rolname), ', ' ORDER BY quote_ident(g.rolname))
FROM held JOIN pg_roles r ON r.oid = role JOIN pg_roles g ON g.oid = given
GROUP BY 1, 2 ORDER BY 1
"""
"""Which roles it is a member of, and those that were given to it and bring that about."""
_GROUPS = {
    "pg_checkpoint": "makes the server write its memory to the disk",
    "pg_create_subscription": "connects the server to others",
    "pg_execute_server_program": "runs programs on the server's machine",
    "pg_maintain": "locks and rewrites tables",
    "pg_monitor": "sees what others ask, and the server's settings",
    "pg_read_all_data": "reads every schema, password hashes included",
    "pg_read_all_settings": "sees settings that hold paths and connections",
    "pg_read_all_stats": "sees what others ask",
    "pg_read_server_files": "reads any file of the server's user",
    "pg_signal_backend": "ends what others ask",
    "pg_stat_scan_tables": "locks tables while it counts",
    "pg_write_all_data": "writes every table",
    "pg_write_server_files": "writes any file of the server's user",
}
_READS_ALL = "pg_read_all_data"
_OTHER_GROUP = "has rights on the whole server"
_HELD = """
WITH held AS (
  SELECT oid, grantee, privilege_type FROM pg_class CROSS JOIN aclexplode(relacl)
  UNION ALL
  SELECT attrelid, grantee, privilege_type FROM pg_attribute CROSS JOIN aclexplode(attacl)
)
SELECT CASE h.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(h.grantee)) END,
  count(DISTINCT c.oid), min(n.nspname || '.' || c.relname),
  string_agg(DISTINCT quote_ident(n.nspname), ', ' ORDER BY quote_ident(n.nspname)),
  string_agg(DISTINCT h.privilege_type, ', ' ORDER BY h.privilege_type)
FROM held h JOIN pg_class c ON c.oid = h.oid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_'
  AND n.nspname <> 'information_schema' AND h.grantee <> c.relowner
  AND h.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER', 'MAINTAIN')
  AND (h.grantee = 0 OR pg_has_role(current_user, h.grantee, 'MEMBER'))
GROUP BY 1 ORDER BY 1
"""
_OWNED = """
SELECT quote_ident(pg_get_userbyid(c.relowner)), pg_get_userbyid(c.relowner) = current_user,
  count(*), min(n.nspname || '.' || c.relname)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_'
  AND n.nspname <> 'information_schema' AND pg_has_role(current_user, c.relowner, 'MEMBER')
GROUP BY 1, 2 ORDER BY 1
"""
_CREATING = """
SELECT kind, CASE held.grantee WHEN 0 THEN 'PUBLIC'
    ELSE quote_ident(pg_get_userbyid(held.grantee)) END,
  held.privilege_type, string_agg(quote_ident(name), ', ' ORDER BY quote_ident(name))
FROM (
  SELECT 'SCHEMA', nspname, coalesce(nspacl, acldefault('n', nspowner))
  FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
  UNION ALL
  SELECT 'DATABASE', datname, coalesce(datacl, acldefault('d', datdba))
  FROM pg_database WHERE datname = current_database()) placed (kind, name, acl)
CROSS JOIN LATERAL aclexplode(acl) held
WHERE held.privilege_type IN ('CREATE', 'TEMPORARY')
  AND (held.grantee = 0 OR pg_has_role(current_user, held.grantee, 'MEMBER'))
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
_SECRETS = """
SELECT count(*) FROM pg_class WHERE oid IN ('pg_authid'::regclass, 'pg_shadow'::regclass)
  AND has_table_privilege(oid, 'SELECT')
"""
_CREATES = {
    "CREATE": "what is made there takes space, and may have the name of what others look for",
    "TEMPORARY": "temporary tables fill the server's disk",
}
# What a session begins with, whatever this one has set since.
_SETTINGS = """
SELECT name, reset_val FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout',
  'transaction_timeout', 'idle_in_transaction_session_timeout', 'temp_file_limit', 'work_mem',
  'hash_mem_multiplier')
"""
_MISSING = {
    "statement_timeout": (
        "0",
        "60s",
        "a statement that was left behind, by a client that is gone, goes on without an end",
    ),
    "transaction_timeout": (
        "0",
        "120s",
        "a transaction that nobody ends keeps the server from clearing away old rows",
    ),
    "idle_in_transaction_session_timeout": (
        "0",
        "60s",
        "a client that hangs keeps its transaction, and its locks, for ever",
    ),
    "lock_timeout": ("0", "10s", "a statement waits without an end for what another has locked"),
    "temp_file_limit": ("-1", "2GB", "one query that sorts or joins may fill the server's disk"),
}
"""By setting: the value that means no limit, one that is a limit, and what its absence allows."""
_MOST_MEMORY = 256 << 20
"""Bytes that one sort or hash table may take without a word of advice; a query has several."""


def examine(ask: Ask) -> Examination:
    """Ask what the server is, what the role may do, and what limits it has."""
    known = ask(_WHO)
    if not known:  # a server that only speaks as PostgreSQL does
        ((title, name),) = ask("SELECT version(), current_user::text")
        return Examination(title, name, True)
    ((version, name, role, is_super, *attributes),) = known
    title = f"PostgreSQL {version}"
    if is_super:  # whatever else it has does not matter
        return Examination(title, name, True, (_superuser(role), *_limits(ask, READER)))
    given, rights = ask(_MEMBER), ask(_CREATING)
    groups = tuple(one for one in given if one[1] or _is_of_server(one[0]))
    writing = (*_granted(ask), *_owning(ask, role, given))
    may_write = (
        bool(writing)
        or any(right == "CREATE" for _, _, right, _ in rights)
        or any(is_super or group == "pg_write_all_data" for group, is_super, _ in groups)
    )
    advice = (
        *_attributes(role, attributes),
        *_member(groups, role),
        *_secrets(ask, role, groups),
        *writing,
        *_creating(rights),
        *_limits(ask, role),
    )
    return Examination(title, name, may_write, advice)


def _superuser(role: str) -> Advice:
    return Advice(
        "role",
        f"{role} is a superuser",
        "it reads every database and the password hashes in pg_authid, reads and writes files, "
        "runs programs on the server's machine and lifts every limit",
        DOCUMENTED,
    )


def _attributes(role: str, held: Sequence[bool]) -> Iterator[Advice]:
    for name, does in compress(_ATTRIBUTES.items(), held):
        yield Advice("role", f"{role} has {name}", f"it {does}", f"ALTER ROLE {role} NO{name};")


def _member(groups: Rows, role: str) -> Iterator[Advice]:
    for group, is_super, given in groups:
        does = "can become a superuser" if is_super else _GROUPS.get(group, _OTHER_GROUP)
        by = "" if given == group else f" by {given}"
        revoke = f"REVOKE {given} FROM {role};"
        yield Advice("role", f"{role} is a member of {group}{by}", f"it {does}", revoke)


def _is_of_server(group: str) -> bool:
    """Whether the server made a role for rights on all of it."""
    return group.startswith("pg_") and group != "pg_database_owner"


def _secrets(ask: Ask, role: str, groups: Rows) -> Iterator[Advice]:
    if not any(group == _READS_ALL for group, *_ in groups) and ask(_SECRETS) not in ((), ((0,),)):
        yield Advice(
            "role",
            f"{role} may read pg_authid or pg_shadow",
            "they hold the password hashes of all roles",
            f"REVOKE SELECT ON pg_authid, pg_shadow FROM {role}, PUBLIC;",  # noqa: S608
        )


def _granted(ask: Ask) -> Iterator[Advice]:
    for grantee, count, first, schemas, rights in ask(_HELD):
        yield Advice(
            "role",
            f"{grantee} may write to {_listed(first, count)}",
            "the guard and the read-only session keep it from that; without the right there is one "
            "more line of defence",
            f"REVOKE {rights} ON ALL TABLES IN SCHEMA {schemas} FROM {grantee};",
        )


def _owning(ask: Ask, role: str, given: Rows) -> Iterator[Advice]:
    by = {group: through for group, _, through in given}
    for owner, is_own, count, first in ask(_OWNED):
        through = by.get(owner, owner)
        named = owner if through == owner else f"{owner} by {through}"
        who = role if is_own else f"{role} is a member of {named}, which"
        yield Advice(
            "role",
            f"{who} owns {_listed(first, count)}",
            "an owner writes to its tables, drops them and gives others rights on them",
            DOCUMENTED if is_own else f"REVOKE {through} FROM {role};",
        )


def _creating(rights: Rows) -> Iterator[Advice]:
    for kind, grantee, right, names in rights:
        yield Advice(
            "role",
            f"{grantee} has {right} on {kind.lower()} {names}",
            _CREATES[right],
            f"REVOKE {right} ON {kind} {names} FROM {grantee};",
        )


def _listed(first: str, count: int) -> str:
    return f"{first} and {count - 1} more" if count > 1 else first


def _limits(ask: Ask, role: str) -> Iterator[Advice]:
    values: dict[str, str] = dict(ask(_SETTINGS))
    for name, (unlimited, limit, why) in _MISSING.items():
        if values.get(name) == unlimited:
            mend = f"ALTER ROLE {role} SET {name} = '{limit}';"
            yield Advice("setting", f"{name} is {unlimited}: there is no limit", why, mend)
    kilobytes = int(values.get("work_mem") or 0)
    times = float(values.get("hash_mem_multiplier") or 1)
    if (most := round(kilobytes * 1024 * times)) > _MOST_MEMORY:
        yield Advice(
            "setting",
            f"work_mem times hash_mem_multiplier is {shown_size(most)}",
            "every sort and hash table of a query may take as much memory, and a query has several",
            f"ALTER ROLE {role} SET work_mem = '16MB';",
        )
