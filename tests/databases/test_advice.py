"""What is advised where no such server is at hand: MySQL 8 and Neo4j's Enterprise edition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dqa.core.session import Examination
from dqa.databases.doctor import examine_mysql, examine_neo4j
from dqa.databases.mysql import MYSQL


def of_mysql(grants: str = "", **settings: str) -> Examination:
    """Examine a MySQL with these settings, for a user without rights."""

    def ask(statement: str) -> tuple[tuple[Any, ...], ...]:
        if statement == "SHOW GRANTS":
            return ((grants,),)
        if statement == "SHOW GLOBAL VARIABLES":
            return tuple(settings.items())
        return (("8.4.6", "me@%"),) if statement.startswith("SELECT VERSION()") else ()

    return examine_mysql(ask, MYSQL)


def of_neo4j(roles: Sequence[str] | None, **settings: str) -> Examination:
    """Examine an Enterprise edition with these roles and settings."""

    def ask(statement: str) -> tuple[tuple[Any, ...], ...]:
        if statement.startswith("CALL dbms.components"):
            return (("5.26.0", "enterprise"),)
        if statement.startswith("SHOW CURRENT USER"):
            return (("me", roles),)
        if statement.startswith("SHOW SETTINGS"):
            return tuple(settings.items())
        return (("neo4j",),) if statement.startswith("CALL db.info()") else ()

    return examine_neo4j(ask)


def test_missing_limits_of_mysql_survive_a_restart() -> None:
    """SET PERSIST, which MariaDB does not know."""
    seen = of_mysql(
        max_execution_time="0",
        connection_memory_limit="18446744073709551615",
        regexp_time_limit="0",
    )
    assert (seen.version, seen.role, seen.may_write) == ("MySQL 8.4.6", "me@%", False)
    assert [one.fix for one in seen.advice] == [
        "SET PERSIST max_execution_time = 60000;",
        "SET PERSIST connection_memory_limit = 1073741824;",
        "SET PERSIST regexp_time_limit = 32;",
    ]


def test_a_time_limit_of_the_user_is_enough() -> None:
    """The server's own setting does not matter then."""
    own = "GRANT USAGE ON *.* TO `me`@`%` WITH MAX_STATEMENT_TIME 60.000000"
    assert of_mysql(own, max_statement_time="0").advice == ()
    assert len(of_mysql(max_statement_time="0").advice) == 1


def test_roles_of_neo4js_enterprise_edition() -> None:
    """A reader needs no advice; who may write is told the role."""
    reader = of_neo4j(["PUBLIC", "reader"])
    assert (reader.advice, reader.may_write) == ((), False)
    writer = of_neo4j(["PUBLIC", "admin"])
    assert writer.may_write
    (advice,) = writer.advice
    assert "admin" in advice.found
    assert advice.topic == "role"


def test_missing_limits_of_neo4j() -> None:
    """A memory limit ends the searches of paths that a time limit does not stop."""
    settings = {"db.memory.transaction.max": "0B", "db.transaction.timeout": "0s"}
    seen = of_neo4j(["reader"], **settings)
    assert [one.fix for one in seen.advice] == [
        "neo4j.conf: db.transaction.timeout=60s",
        "neo4j.conf: db.memory.transaction.max=512m",
    ]
    limited = {"db.memory.transaction.max": "512.00MiB", "db.transaction.timeout": "60s"}
    assert of_neo4j(["reader"], **limited).advice == ()
