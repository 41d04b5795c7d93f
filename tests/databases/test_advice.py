"""What is advised where no such server is at hand: MySQL 8 and Neo4j's Enterprise edition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dqa.core.examination import Examination
from dqa.databases.mysql import advice as mysql
from dqa.databases.mysql.server import MYSQL
from dqa.databases.neo4j import advice as neo4j

QUIET = {"max_execution_time": "60000", "local_infile": "OFF", "regexp_time_limit": "32"}


def of_mysql(*grants: str, **settings: str) -> Examination:
    """Examine a MySQL that says this."""

    def ask(statement: str) -> tuple[tuple[Any, ...], ...]:
        if statement == "SHOW GRANTS":
            return tuple((line,) for line in grants)
        if statement.startswith("SHOW GLOBAL VARIABLES"):
            return tuple((QUIET | settings).items())
        return (("8.4.6", "me@%", "shop"),)

    return mysql.examine(ask, MYSQL)


def of_neo4j(roles: Sequence[str] | None, user: str = "me", **settings: str) -> Examination:
    """Examine an Enterprise edition that says this, with underscores for dots."""
    told: dict[str, list[Mapping[str, Any]]] = {
        "CALL dbms.components": [{"versions": ["5.26.0"], "edition": "enterprise"}],
        "SHOW CURRENT USER": [{"user": user, "roles": roles}],
        "SHOW SETTINGS": [{"name": key, "value": value} for key, value in settings.items()],
        "SHOW PROCEDURES": [{"number": 3}],
    }
    return neo4j.examine(
        lambda statement: next((rows for key, rows in told.items() if key in statement), [])
    )


def test_a_reader_of_mysql_gets_no_advice() -> None:
    """USAGE and SELECT on its own database are all that it needs."""
    seen = of_mysql("GRANT USAGE ON *.* TO `me`@`%`", "GRANT SELECT ON `shop`.* TO `me`@`%`")
    assert (seen.version, seen.role, seen.may_write, seen.advice) == (
        "MySQL 8.4.6",
        "me@%",
        False,
        (),
    )


def test_mysqls_root_is_told_by_super_and_by_all() -> None:
    """MySQL 8 lists root's rights one by one."""
    for line in (
        "GRANT SELECT, INSERT, SHUTDOWN, SUPER ON *.* TO `root`@`localhost` WITH GRANT OPTION",
        "GRANT ALL PRIVILEGES ON *.* TO 'root'@'localhost' IDENTIFIED BY PASSWORD '*0F'",
    ):
        (advice,) = of_mysql(line).advice
        assert "password hashes" in advice.why


def test_rights_that_act_on_the_server_are_named_with_what_takes_them_away() -> None:
    """Also those of MySQL 8 that have a name for one thing, and lists of columns."""
    seen = of_mysql(
        "GRANT FILE ON *.* TO `me`@`%` WITH GRANT OPTION",
        "GRANT BACKUP_ADMIN,SYSTEM_VARIABLES_ADMIN ON *.* TO `me`@`%`",
        "GRANT SELECT (`a`, `b`), UPDATE (`a`, `b`) ON `shop`.`t` TO `me`@`%`",
        "GRANT `writer`@`%` TO `me`@`%`",
        secure_file_priv="",
    )
    assert seen.may_write
    assert [one.mend for one in seen.advice] == [
        "REVOKE FILE ON *.* FROM `me`@`%`;",
        "REVOKE GRANT OPTION ON *.* FROM `me`@`%`;",
        "REVOKE BACKUP_ADMIN ON *.* FROM `me`@`%`;",
        "REVOKE SYSTEM_VARIABLES_ADMIN ON *.* FROM `me`@`%`;",
        "REVOKE UPDATE ON `shop`.`t` FROM `me`@`%`;",
    ]
    assert "any folder" in seen.advice[0].why


def test_password_hashes_of_mysql_are_told_wherever_they_are_read() -> None:
    """In one table as in all, and not where MySQL 8 keeps a user from them."""
    for where in ("`mysql`.*", "`mysql`.`user`", "`mysql`.`global_priv`"):
        (advice,) = of_mysql(f"GRANT SELECT ON {where} TO `me`@`%`").advice
        assert "password hashes" in advice.why
        assert advice.mend == f"REVOKE SELECT ON {where} FROM `me`@`%`;"
    everywhere = "GRANT SELECT, SHOW VIEW ON *.* TO `me`@`%`"
    (advice,) = of_mysql(everywhere).advice
    assert "password hashes" in advice.why
    again = "GRANT SELECT, SHOW VIEW ON `shop`.* TO `me`@`%`;"
    assert advice.mend == f"REVOKE SELECT ON *.* FROM `me`@`%`; {again}"
    for rights in ("SELECT", "INSERT, SELECT", "ALL PRIVILEGES"):
        kept = of_mysql(everywhere, f"REVOKE {rights} ON `mysql`.* FROM `me`@`%`")
        (advice,) = kept.advice
        assert advice.why == "it reads every database but mysql"
    for line in ("REVOKE INSERT ON `mysql`.*", "REVOKE SELECT ON `sys`.*"):
        (advice,) = of_mysql(everywhere, f"{line} FROM `me`@`%`").advice
        assert "password hashes" in advice.why


def test_missing_limits_of_mysql_are_kept_over_a_restart() -> None:
    """SET PERSIST, which MariaDB does not know."""
    seen = of_mysql(
        *("GRANT SELECT ON `shop`.* TO `me`@`%`",),
        max_execution_time="0",
        connection_memory_limit="18446744073709551615",
        regexp_time_limit="0",
    )
    assert [one.mend for one in seen.advice] == [
        "SET PERSIST max_execution_time = 60000;",
        "SET PERSIST connection_memory_limit = 1073741824;",
        "SET PERSIST regexp_time_limit = 32;",
    ]
    assert {one.topic for one in seen.advice} == {"setting"}


def test_roles_of_neo4js_enterprise_edition() -> None:
    """A reader needs no advice; who may write is told the role."""
    reader = of_neo4j(["PUBLIC", "reader"])
    assert (reader.advice, reader.may_write) == ((), False)
    writer = of_neo4j(["PUBLIC", "admin"])
    assert writer.may_write
    (advice,) = writer.advice
    assert advice.mend.startswith("REVOKE ROLE admin FROM me;")
    (advice,) = of_neo4j(["editor"], user="ann@example.org").advice
    assert advice.mend.startswith("REVOKE ROLE editor FROM `ann@example.org`;")
