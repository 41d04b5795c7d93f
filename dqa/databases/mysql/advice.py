"""What `doctor` reports on MySQL and MariaDB: rights beyond reading, and missing limits."""

from __future__ import annotations

from collections.abc import Iterator

from dqa.core.examination import Advice, Examination
from dqa.databases.examining import (
    NO_DISK_LIMIT,
    NO_TIME_LIMIT,
    READER,
    Ask,
    advise_on_rights,
    bytes_of,
)
from dqa.databases.mysql.server import Flavour

_RIGHTS = """
SELECT GROUP_CONCAT(DISTINCT privilege_type ORDER BY privilege_type SEPARATOR ', '), place FROM (
  SELECT grantee, privilege_type, '*.*' AS place FROM information_schema.user_privileges
  UNION ALL SELECT grantee, privilege_type, CONCAT('`', table_schema, '`.*')
    FROM information_schema.schema_privileges
  UNION ALL SELECT grantee, privilege_type, CONCAT('`', table_schema, '`.`', table_name, '`')
    FROM information_schema.table_privileges
  UNION ALL SELECT grantee, privilege_type, CONCAT('`', table_schema, '`.`', table_name, '`')
    FROM information_schema.column_privileges
) held
WHERE grantee = CONCAT('''', SUBSTRING_INDEX(CURRENT_USER(), '@', 1), '''@''',
  SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''') AND privilege_type NOT IN
  ('SELECT', 'USAGE', 'SHOW VIEW', 'SHOW DATABASES', 'SHOW CREATE ROUTINE', 'PROCESS')
GROUP BY place ORDER BY place
"""
_ALL_MEMORY = "one query may take all of the server's memory"
_LARGE, _HUGE = 256 << 20, 8 << 30
_LIMITS: tuple[tuple[str, int, str, str], ...] = (
    ("max_statement_time", 0, "60", NO_TIME_LIMIT),
    ("max_execution_time", 0, "60000", NO_TIME_LIMIT),
    ("max_session_mem_used", _HUGE, "1073741824", _ALL_MEMORY),
    ("connection_memory_limit", _HUGE, "1073741824", _ALL_MEMORY),
    ("tmp_table_size", _LARGE, "67108864", "every temporary table may take as much memory"),
    ("max_allowed_packet", _LARGE, "67108864", "functions such as REPEAT make texts of that size"),
    ("max_tmp_session_space_usage", 0, "2147483648", NO_DISK_LIMIT),
    ("regexp_time_limit", 0, "32", NO_TIME_LIMIT),
)
"""Settings: the largest sensible value, or 0 if a zero is no limit; the advice; and why."""


def examine(ask: Ask, flavour: Flavour) -> Examination:
    """Ask for the server's version, the rights of the user, and its limits."""
    ((version, role),) = ask("SELECT VERSION(), CURRENT_USER()")
    held = [f"{rights} on {place}" for rights, place in ask(_RIGHTS)]
    if any("SUPER" in right for right in held):
        held = ["all privileges, or SUPER; it also reads password hashes in mysql.user and files"]
    rights = advise_on_rights(str(role), held)
    limits = tuple(_missing_limits(ask, flavour, READER if rights else str(role)))
    return Examination(f"{flavour.title} {version}", str(role), bool(rights), (*rights, *limits))


def _missing_limits(ask: Ask, flavour: Flavour, role: str) -> Iterator[Advice]:
    scope = "GLOBAL" if flavour.dialect == "mariadb" else "PERSIST"
    grants = " ".join(str(line) for (line,) in ask("SHOW GRANTS"))
    user, _, host = role.partition("@")
    for name, most, wanted, why in _LIMITS:
        is_time = name == "max_statement_time"
        if is_time and name in grants.casefold():
            continue  # the user's own limit
        fix = f"SET {scope} {name} = {wanted};"
        if is_time:
            fix = f"ALTER USER '{user}'@'{host or '%'}' WITH MAX_STATEMENT_TIME {wanted};"
        for _, value in ask(f"SHOW GLOBAL VARIABLES LIKE '{name}'"):
            if bytes_of(str(value)) > most if most else float(value) == 0:
                yield Advice("setting", f"{name} is {value}", why, fix)
