"""What `doctor` checks on MySQL and MariaDB: rights beyond reading, and missing limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dqa.core.examination import Examination
from dqa.databases.examining import (
    DOCUMENTED,
    NO_DISK_LIMIT,
    NO_TIME_LIMIT,
    ONE_MORE_DEFENCE,
    READER,
    Ask,
    Check,
    bytes_of,
    run_checks,
)
from dqa.databases.mysql.server import Flavour
from dqa.databases.tables import quote

_HELD = """
SELECT GROUP_CONCAT(DISTINCT privilege_type ORDER BY privilege_type SEPARATOR ', '), place FROM (
  SELECT grantee, privilege_type, '*.*' AS place FROM information_schema.user_privileges
  UNION ALL SELECT grantee, 'GRANT OPTION', '*.*' FROM information_schema.user_privileges
    WHERE is_grantable = 'YES'
  UNION ALL SELECT grantee, privilege_type, CONCAT('`', table_schema, '`.*')
    FROM information_schema.schema_privileges
  UNION ALL SELECT grantee, 'GRANT OPTION', CONCAT('`', table_schema, '`.*')
    FROM information_schema.schema_privileges WHERE is_grantable = 'YES'
  UNION ALL SELECT grantee, privilege_type, CONCAT('`', table_schema, '`.`', table_name, '`')
    FROM information_schema.table_privileges
  UNION ALL SELECT grantee, privilege_type, CONCAT('`', table_schema, '`.`', table_name, '`')
    FROM information_schema.column_privileges
) held
WHERE grantee = CONCAT('''', SUBSTRING_INDEX(CURRENT_USER(), '@', 1), '''@''',
  SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''') AND {}
GROUP BY place, CASE WHEN {} THEN privilege_type END ORDER BY place
"""
"""The rights of the user by place, one row per right where the second condition holds."""
_READING = (*("'SELECT'", "'USAGE'", "'SHOW VIEW'", "'SHOW DATABASES'", "'SHOW CREATE ROUTINE'"),)
_WRITING = (
    *("'ALTER'", "'ALTER ROUTINE'", "'CREATE'", "'CREATE ROUTINE'", "'CREATE TEMPORARY TABLES'"),
    *("'CREATE VIEW'", "'DELETE'", "'DELETE HISTORY'", "'DROP'", "'EVENT'", "'INDEX'"),
    *("'INSERT'", "'LOCK TABLES'", "'REFERENCES'", "'TRIGGER'", "'UPDATE'"),
)
_ACTING = {
    "FILE": "it reads and writes files of the server's machine",
    "PROCESS": "it sees the statements of others, with the values in them",
    "CREATE USER": "it makes users and changes passwords",
    "EXECUTE": "it runs stored routines with the rights of their authors",
    "GRANT OPTION": "it gives others its rights",
}
_EVERYTHING = Check(
    "role",
    _HELD.format("privilege_type = 'SUPER'", "FALSE"),
    "{role} has all privileges, or SUPER, on the whole server",
    "it reads every database and the password hashes in mysql.user, reads and writes files, ends "
    "the statements of others and lifts every limit",
    DOCUMENTED,
    writes=True,
)


def _within(rights: tuple[str, ...]) -> str:
    return f"privilege_type IN ({', '.join(rights)})"


def _other_rights() -> Iterator[Check]:
    """Yield a check for each known right beyond reading and writing, and one for all others."""
    for right, why in _ACTING.items():
        yield _acting(f"privilege_type = '{right}'", why)
    known = (*_READING, *_WRITING, *(f"'{right}'" for right in _ACTING))
    yield _acting(f"NOT {_within(known)}", "it acts on the whole server", writes=True)


def _acting(condition: str, why: str, *, writes: bool = False) -> Check:
    statement = _HELD.format(condition, "TRUE")
    fix = "REVOKE {0} ON {1} FROM {user};"
    return Check("role", statement, "{user} has {0} on {1}", why, fix, writes=writes)


_SELECT = _HELD.format("privilege_type = 'SELECT'", "FALSE")
_ACCOUNTS = frozenset({"mysql.*", "mysql.user", "mysql.global_priv"})
_RIGHTS = (
    Check(
        *("role", _SELECT, "{user} has SELECT on {1}"),
        "it reads every database, unless a partial revoke excludes the password hashes in mysql",
        "REVOKE SELECT ON {1} FROM {user}; GRANT SELECT, SHOW VIEW ON {database}.* TO {user};",
        is_found=lambda _, place: place == "*.*",
    ),
    Check(
        *("role", _SELECT, "{user} has SELECT on {1}"),
        *("it reads the password hashes in mysql.user", "REVOKE SELECT ON {1} FROM {user};"),
        is_found=lambda _, place: place.replace("`", "") in _ACCOUNTS,
    ),
    Check(
        *("role", _HELD.format(_within(_WRITING), "FALSE"), "{user} has {0} on {1}"),
        *(ONE_MORE_DEFENCE, "REVOKE {0} ON {1} FROM {user};"),
        writes=True,
    ),
    *_other_rights(),
)


def _limit(
    name: str, is_found: Callable[[str], bool], why: str, value: str, fix: str | None = None
) -> Check:
    """Return the check of a setting, which is 0 for no limit or too large."""
    return Check(
        "setting",
        f"SHOW GLOBAL VARIABLES LIKE '{name}'",
        "{0} is {1}",
        why,
        fix or f"SET {{scope}} {{0}} = {value};",
        is_found=lambda _, found: is_found(str(found)),
    )


def _is_zero(value: str) -> bool:
    return float(value) == 0


def _is_above(most: int) -> Callable[[str], bool]:
    return lambda value: bytes_of(value) > most


_TIME = "max_statement_time"
_USER_LIMIT = "ALTER USER {user} WITH MAX_STATEMENT_TIME 60;"
_ALL_MEMORY = "one query may take all of the server's memory"
_LIMITS = (
    _limit(_TIME, _is_zero, NO_TIME_LIMIT, "60", _USER_LIMIT),
    _limit("max_execution_time", _is_zero, NO_TIME_LIMIT, "60000"),
    _limit("max_session_mem_used", _is_above(8 << 30), _ALL_MEMORY, "1073741824"),
    _limit("connection_memory_limit", _is_above(8 << 30), _ALL_MEMORY, "1073741824"),
    _limit(
        *("tmp_table_size", _is_above(256 << 20)),
        *("every temporary table of a query may take as much memory", "67108864"),
    ),
    _limit(
        *("max_allowed_packet", _is_above(64 << 20)),
        *("functions such as REPEAT make texts of that size", "67108864"),
    ),
    _limit("max_tmp_session_space_usage", _is_zero, NO_DISK_LIMIT, "2147483648"),
    _limit("regexp_time_limit", _is_zero, NO_TIME_LIMIT, "32"),
    _limit(
        *("regexp_stack_limit", _is_zero),
        *("a regular expression may take all of a thread's memory", "8000000"),
    ),
    _limit(
        *("local_infile", lambda value: value.upper() in {"ON", "1"}),
        *("the server may ask a client for its files", "OFF"),
    ),
)


def examine(ask: Ask, flavour: Flavour) -> Examination:
    """Ask for the server's version, the rights of the user, and its limits."""
    ((version, role, database),) = ask("SELECT VERSION(), CURRENT_USER(), DATABASE()")
    name, _, host = str(role).rpartition("@")
    user = f"'{name}'@'{host}'"
    names = {
        "role": str(role),
        "user": user,
        "database": quote("mysql", database) if database else "DATABASE",
        "scope": "GLOBAL" if flavour.dialect == "mariadb" else "PERSIST",
    }
    rights, may_write = run_checks(ask, (_EVERYTHING,), **names)
    if not rights:
        rights, may_write = run_checks(ask, _RIGHTS, **names)
    else:
        names["user"] = f"'{READER}'@'%'"
    grants = " ".join(str(line) for (line,) in ask("SHOW GRANTS"))
    own_limit = "MAX_STATEMENT_TIME" in grants
    limits, _ = run_checks(ask, _LIMITS[own_limit:], **names)
    return Examination(f"{flavour.title} {version}", str(role), may_write, (*rights, *limits))
