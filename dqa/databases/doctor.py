"""Report whether the connected role can write, and which limits the server does not set."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from dqa.core.database import Limits, Rows
from dqa.core.errors import StatementError
from dqa.core.session import Advice, Examination

if TYPE_CHECKING:
    from dqa.databases.mysql import Flavour

Ask: TypeAlias = Callable[[str], tuple[tuple[Any, ...], ...]]
"""A function that returns the rows of a statement. If the role or the version of the server cannot
run the statement, the function returns no rows."""

_READER = "dqa_reader"
"""The read-only role in docs/guard.md."""
_NO_TIME_LIMIT = "a statement may run forever after its client has disconnected"
_NO_DISK_LIMIT = "one query that sorts or joins may fill the server's disk"

_LIMITS = Limits(rows=10_000, bytes=4_000_000, seconds=30.0, cell=100_000)


def _advise_on_right(role: str, right: str | None) -> tuple[Advice, ...]:
    """Return the advice for a role with a right to write; empty if the role can only read."""
    if right is None:
        return ()
    why = "the guard and the read-only session prevent writing; a role that cannot write is safer"
    fix = f"Create {_READER} as in docs/guard.md, 'A role that may only read', and use this role."
    return (Advice("role", f"{role} can write: {right}", why, fix),)


def asker(run: Callable[[str, Limits], Rows]) -> Ask:
    """Return a function that runs statements, and raises errors only for outages and timeouts."""

    def ask(statement: str) -> tuple[tuple[Any, ...], ...]:
        try:
            return tuple(map(tuple, run(statement, _LIMITS).rows))
        except StatementError:  # this version or this role cannot run it
            return ()

    return ask


# PostgreSQL

_PG_ROLE = """
SELECT current_setting('server_version'), rolname::text, quote_ident(rolname)
FROM pg_roles WHERE rolname = current_user
"""
_PG_RIGHT = """
SELECT 'it is a superuser, which can also read files and the password hashes in pg_authid'
FROM pg_roles WHERE rolname = current_user AND rolsuper
UNION ALL
SELECT 'member of ' || quote_ident(rolname) FROM pg_roles
WHERE (rolsuper OR rolname IN
    ('pg_write_all_data', 'pg_write_server_files', 'pg_execute_server_program'))
  AND pg_has_role(current_user, oid, 'MEMBER')
UNION ALL
SELECT 'owns, or has a right to write, ' || n.nspname || '.' || c.relname
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_'
  AND n.nspname <> 'information_schema'
  AND (has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
    OR has_any_column_privilege(c.oid, 'INSERT, UPDATE'))
UNION ALL
SELECT 'CREATE on SCHEMA ' || quote_ident(nspname) FROM pg_namespace
WHERE nspname !~ '^pg_' AND has_schema_privilege(oid, 'CREATE')
UNION ALL
SELECT 'CREATE on DATABASE ' || quote_ident(current_database())
WHERE has_database_privilege(current_database(), 'CREATE')
UNION ALL
SELECT 'CREATEDB, CREATEROLE or REPLICATION' FROM pg_roles
WHERE rolname = current_user AND (rolcreatedb OR rolcreaterole OR rolreplication)
LIMIT 1
"""
# `reset_val` is the initial value in a session.
_PG_LIMITS = f"""
SELECT name, reset_val, wanted, why FROM pg_settings JOIN (VALUES
  ('statement_timeout', '0', '60s', '{_NO_TIME_LIMIT}'),
  ('temp_file_limit', '-1', '2GB', '{_NO_DISK_LIMIT.replace("'", "''")}')
) limits (name, unlimited, wanted, why) USING (name) WHERE reset_val = unlimited
"""  # noqa: S608


def examine_postgres(ask: Ask) -> Examination:
    """Return the server's version, the rights of the role, and advice about missing limits."""
    known = ask(_PG_ROLE)
    if not known:  # a different server with PostgreSQL's protocol
        ((title, name),) = ask("SELECT version(), current_user::text")
        return Examination(title, name, may_write=True)
    ((version, name, role),) = known
    rights = _advise_on_right(role, next((right for (right,) in ask(_PG_RIGHT)), None))
    change = f"ALTER ROLE {_READER if rights else role} SET"
    limits = [
        Advice("setting", f"{name} is {value}", why, f"{change} {name} = '{wanted}';")
        for name, value, wanted, why in ask(_PG_LIMITS)
    ]
    return Examination(f"PostgreSQL {version}", name, bool(rights), (*rights, *limits))


# MySQL and MariaDB

_GRANT = re.compile(r"GRANT (.+?) ON (.+?) TO ")
_COLUMNS = re.compile(r" \([^)]*\)")
_READING = {"SELECT", "USAGE", "SHOW VIEW", "SHOW DATABASES", "SHOW CREATE ROUTINE", "PROCESS"}
_ALL_MEMORY = "one query may take all of the server's memory"
_LARGE, _HUGE = 256 << 20, 8 << 30
_MYSQL_LIMITS: tuple[tuple[str, int, str, str], ...] = (
    ("max_statement_time", 0, "60", _NO_TIME_LIMIT),
    ("max_execution_time", 0, "60000", _NO_TIME_LIMIT),
    ("max_session_mem_used", _HUGE, "1073741824", _ALL_MEMORY),
    ("connection_memory_limit", _HUGE, "1073741824", _ALL_MEMORY),
    (
        "max_allowed_packet",
        _LARGE,
        "67108864",
        "functions such as REPEAT can create texts of this size",
    ),
    ("max_tmp_session_space_usage", 0, "2147483648", _NO_DISK_LIMIT),
    ("regexp_time_limit", 0, "32", _NO_TIME_LIMIT),
)
"""For each setting: its name, its largest acceptable value, a better value, and the reason. If the
largest acceptable value is 0, only the value 0 is wrong, because it means "no limit"."""


def examine_mysql(ask: Ask, flavour: Flavour) -> Examination:
    """Return the server's version, the rights of the user, and advice about missing limits."""
    ((version, role),) = ask("SELECT VERSION(), CURRENT_USER()")
    grants = [str(line) for (line,) in ask("SHOW GRANTS")]
    rights = _advise_on_right(str(role), next(_rights_to_write(grants), None))
    limits = _missing_limits(ask, flavour, _READER if rights else str(role), " ".join(grants))
    return Examination(f"{flavour.title} {version}", str(role), bool(rights), (*rights, *limits))


def _rights_to_write(grants: Iterable[str]) -> Iterator[str]:
    for grant in filter(None, map(_GRANT.match, grants)):
        for right in sorted({*_COLUMNS.sub("", grant[1]).split(", ")} - _READING):
            yield f"{right} on {grant[2]}"


def _missing_limits(ask: Ask, flavour: Flavour, role: str, grants: str) -> Iterator[Advice]:
    scope = "GLOBAL" if flavour.dialect == "mariadb" else "PERSIST"
    user, _, host = role.partition("@")
    settings: dict[str, Any] = dict(ask("SHOW GLOBAL VARIABLES"))
    for name, most, wanted, why in _MYSQL_LIMITS:
        is_time = name == "max_statement_time"
        if is_time and name in grants.casefold():
            continue  # this user has a time limit
        fix = f"SET {scope} {name} = {wanted};"
        if is_time:
            fix = f"ALTER USER '{user}'@'{host or '%'}' WITH MAX_STATEMENT_TIME {wanted};"
        value = float(settings.get(name, 1))
        if value > most if most else value == 0:
            yield Advice("setting", f"{name} is {settings[name]}", why, fix)


# Neo4j

_WRITERS = frozenset({"editor", "publisher", "architect", "admin"})


_NEO4J_SETTINGS = (
    ("dbms.security.auth_enabled", "false", "true", "everyone who connects may do everything"),
    ("db.transaction.timeout", "0s 0", "60s", _NO_TIME_LIMIT),
    (
        "db.memory.transaction.max",
        "0B 0",
        "512m",
        "without a limit, some searches for paths never end",
    ),
    ("dbms.memory.transaction.total.max", "0B 0", "1g", "queries may use all memory of the server"),
)
"""For each setting: its name, its wrong values, a better value, and the reason."""


def examine_neo4j(ask: Ask) -> Examination:
    """Return the server's version, the user, whether the user may write, and advice."""
    about = "CALL dbms.components() YIELD versions, edition RETURN versions[0], edition"
    version = " ".join(map(str, next(iter(ask(about)), ())))
    ((user, roles),) = ask("SHOW CURRENT USER YIELD user, roles RETURN user, roles") or (("", []),)
    ((database,),) = ask("CALL db.info() YIELD name RETURN name") or (("neo4j",),)
    settings: dict[str, Any] = dict(ask("SHOW SETTINGS YIELD name, value RETURN name, value"))
    read_only = str(settings.get("server.databases.read_only") or "").replace(" ", "").split(",")
    rights = () if database in read_only else _advise(user or "", roles, database)
    limits = [
        Advice("setting", f"{name} is {settings[name]}", why, f"neo4j.conf: {name}={wanted}")
        for name, wrong, wanted, why in _NEO4J_SETTINGS
        if (settings.get(name) or "") in wrong.split()
    ]
    return Examination(f"Neo4j {version}".strip(), user or "", bool(rights), (*rights, *limits))


def _advise(user: str, roles: Sequence[str] | None, database: str) -> tuple[Advice, ...]:
    if roles is not None:
        found = (f"it has the role {role}" for role in sorted(_WRITERS.intersection(roles)))
        return _advise_on_right(user, next(found, None))
    problem = "the Community edition has no roles: every user may do everything"
    why = "the guard, the transaction and the plan prevent writing; a read-only database is safer"
    fix = f"neo4j.conf: server.databases.read_only={database}"
    return (Advice("role", problem, why, fix),)
